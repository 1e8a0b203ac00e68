//! Compositions used again: which of their sessions have grown, made anew from their requests, copied under another name.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::draft::{self, Draft, Freshness};
use super::export::spoken;
use super::{DOCUMENT, JSONL, MARKDOWN, find, folder_of, name, pretty, read, taken_by, with_state};
use crate::api::composition::{
    Composition, CompositionDuplicateRequest, CompositionRefreshRequest, CompositionRefreshed, CompositionRequest,
    Grown,
};
use crate::api::compression::CompressionSettings;
use crate::db::{CompositionRow, Rows};
use crate::engine::{Call, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::ids::CompositionId;

/// Sessions that have changed since a composition took them, in its order, each once. What is gone is not among them.
pub(super) fn grown(rows: &Rows<'_>, record: &Composition) -> Result<Vec<Grown>> {
    let mut grown: Vec<Grown> = Vec::new();
    for component in &record.components {
        if grown.iter().any(|known| known.session_id == component.session_id) {
            continue;
        }
        let Some(session) = rows.session(&component.session_id)? else { continue };
        let was = (component.original_messages, component.original_tokens);
        if was != (session.messages, session.tokens) {
            grown.push(Grown {
                session_id: component.session_id.clone(),
                title: session.user_title.unwrap_or(session.title),
                new_messages: session.messages.saturating_sub(was.0),
                new_tokens: session.tokens.saturating_sub(was.1),
            });
        }
    }
    Ok(grown)
}

/// Makes a composition anew from its request, with what its sessions have become. Where none has changed, it stays as it is.
/// No language model is asked, whatever the composition was made with: nobody has agreed to pay for it again. Who wants one asks
/// for the composition anew, with its engine.
///
/// # Errors
/// As `create`; `NotFound` when a session of it is gone.
pub fn refresh(call: &Call<'_>, request: &CompositionRefreshRequest) -> Result<CompositionRefreshed> {
    let engine = call.engine;
    let row = find(engine, &request.name)?;
    let grown = engine.db().read(|rows| grown(rows, &row.record))?;
    if grown.is_empty() {
        let composition = Some(with_state(engine, row.record)?);
        return Ok(CompositionRefreshed { grown, preview: None, composition });
    }
    let again = renewed(engine, &row, &grown)?;
    if request.dry_run {
        let asked = draft::asked(call, &again, Freshness::Whole)?;
        let preview = Draft::make(call, &asked)?.preview();
        return Ok(CompositionRefreshed { grown, preview: Some(preview), composition: None });
    }
    let composition = super::create_with(call, &again, Freshness::Whole)?;
    Ok(CompositionRefreshed { grown, preview: None, composition: Some(composition) })
}

/// The request of a composition, for what its sessions have become: where a version was asked for that a session has
/// outgrown, a new one with the same settings.
fn renewed(engine: &Engine, row: &CompositionRow, grown: &[Grown]) -> Result<CompositionRequest> {
    let mut request = CompositionRequest { replace: true, ..row.request.clone() };
    engine.db().read(|rows| {
        for component in &mut request.components {
            let session = crate::ids::SessionId::new(component.session.clone());
            if rows.session(&session)?.is_none() {
                return Err(Error::not_found(format!("session {session} of `{}` is not in memory", row.record.name))
                    .hint("compose it again without that session, under the same name with --replace"));
            }
            let Some(version) =
                component.version.clone().filter(|_| grown.iter().any(|grown| grown.session_id == session))
            else {
                continue;
            };
            if matches!(version.as_str(), "auto" | "new" | "original" | "") {
                continue;
            }
            let known = rows.versions(&session)?.into_iter().find(|known| known.version_id.as_str() == version);
            component.version = Some("new".to_owned());
            component.settings = known.map(|known| known.settings);
        }
        Ok(())
    })?;
    for settings in request.components.iter_mut().filter_map(|component| component.settings.as_mut()) {
        *settings = CompressionSettings { engine: None, model: None, max_cost: None, ..settings.clone() };
    }
    Ok(request)
}

/// Copies a composition under another name, as it is: its sessions may have changed since, or be gone.
///
/// # Errors
/// `NotFound` when there is no such composition, `Conflict` when the name is taken.
pub fn duplicate(engine: &Engine, request: &CompositionDuplicateRequest) -> Result<Composition> {
    let row = find(engine, &request.name)?;
    let new_name = name::checked(&request.new_name)?;
    taken_by(engine, &new_name, false)?;
    let folder = folder_of(engine, &row);
    let has = |file: &str| row.record.files.iter().any(|known| known == file);
    let composition_id = CompositionId::new(Uuid::new_v4().to_string());
    let markdown = if has(MARKDOWN) { Some(read(&folder.join(MARKDOWN))?) } else { None };
    let lines = if has(JSONL) { Some(read(&folder.join(JSONL))?) } else { None };
    let copied = |names: Option<(&str, &str)>| -> Result<(Option<String>, Option<String>, u64)> {
        let markdown = markdown.as_deref().map(|text| renamed(text, names));
        let lines = lines.as_deref().map(|lines| readdressed(lines, &composition_id, names)).transpose()?;
        let counter = engine.counter();
        let tokens = markdown.as_deref().map_or(0, |text| counter.count(text));
        let tokens = tokens.max(lines.as_deref().map_or(0, |lines| spoken(lines, counter)));
        Ok((markdown, lines, tokens))
    };
    // It says its name. A longer one that takes it over its budget is left to the folder.
    let mut copy = copied(Some((&row.record.name, &new_name)))?;
    if copy.2 > row.record.budget {
        copy = copied(None)?;
    }
    let (markdown, lines, total_tokens) = copy;
    let record = Composition {
        composition_id,
        name: new_name.clone(),
        created_at: engine.now(),
        total_tokens,
        used_in_sessions: Vec::new(),
        ..row.record.clone()
    };
    let copy = CompositionRow { record, request: CompositionRequest { name: new_name, ..row.request.clone() } };
    let mut files = Vec::new();
    files.extend(markdown.map(|text| (MARKDOWN, text)));
    files.extend(lines.map(|lines| (JSONL, lines)));
    let mut document = super::document_of(&copy)?;
    let old: Value =
        read(&folder.join(DOCUMENT)).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    for member in ["leftOut", "sharedMessages"] {
        if let Some(value) = old.get(member) {
            document[member] = value.clone();
        }
    }
    files.push((DOCUMENT, pretty(&document)?));
    let record = super::keep(engine, copy, files, false)?;
    engine.emit(Event::CompositionsChanged);
    Ok(record)
}

/// The Markdown with another name in its title and in its first paragraph; as it is when there is none.
fn renamed(markdown: &str, names: Option<(&str, &str)>) -> String {
    let Some((old, new)) = names else { return markdown.to_owned() };
    let Some(rest) = markdown.strip_prefix(&format!("# {old}\n")) else { return markdown.to_owned() };
    let end = rest.find("\n## ").unwrap_or(rest.len());
    format!("# {new}\n{}{}", in_quotes(&rest[..end], old, new), &rest[end..])
}

fn in_quotes(text: &str, old: &str, new: &str) -> String {
    text.replacen(&format!("\"{old}\""), &format!("\"{new}\""), 1)
}

/// A session's lines as those of another composition, with another name where they say it.
fn readdressed(lines: &str, composition: &CompositionId, names: Option<(&str, &str)>) -> Result<String> {
    let session = Uuid::try_parse(composition.as_str()).unwrap_or_default();
    let mut text = String::with_capacity(lines.len());
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let mut record: Map<String, Value> = serde_json::from_str(line).map_err(|error| {
            Error::new(ErrorKind::Io, format!("a line of the composition is damaged: {error}")).hint("compose it again")
        })?;
        for member in ["uuid", "parentUuid", "leafUuid"] {
            if let Some(Value::String(uuid)) = record.get_mut(member) {
                *uuid = Uuid::new_v5(&session, uuid.as_bytes()).to_string();
            }
        }
        if let Some(id) = record.get_mut("sessionId") {
            *id = session.to_string().into();
        }
        if let Some(Value::Object(origin)) = record.get_mut("recollect") {
            origin.insert("composition".to_owned(), composition.as_str().into());
        }
        if let Some((old, new)) = names {
            for member in ["summary", "customTitle"] {
                if let Some(title) = record.get_mut(member).filter(|title| title.as_str() == Some(old)) {
                    *title = new.into();
                }
            }
            if record.get("isCompactSummary") == Some(&Value::Bool(true))
                && let Some(Value::String(content)) =
                    record.get_mut("message").and_then(|message| message.get_mut("content"))
            {
                *content = in_quotes(content, old, new);
            }
        }
        text.push_str(&serde_json::to_string(&record)?);
        text.push('\n');
    }
    Ok(text)
}
