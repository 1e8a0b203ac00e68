//! Compositions (4.3, 4.4, 5.3): several sessions, each at the compression that suits it, as one context under a hard budget.
//!
//! `select`, `allocate`, `plan`, `join`, `render` and `name` are pure; `material` reads, `store` writes.

mod allocate;
mod dealing;
mod draft;
mod export;
mod figures;
mod join;
mod material;
mod models;
mod name;
mod plan;
mod portion;
mod prepared;
mod render;
mod renew;
mod select;
mod started;
mod states;
mod store;
mod tighten;
mod words;

use std::path::{Path, PathBuf};

use serde_json::Value;
use uuid::Uuid;

use crate::api::composition::{
    Composition, CompositionDetail, CompositionFormat, CompositionPreview, CompositionRequest,
};
use crate::api::compression::VersionRemoveRequest;
use crate::db::CompositionRow;
use crate::document;
use crate::engine::{Call, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Progress};
use crate::ids::{CompositionId, SessionId, VersionId};
use crate::transcript::{self, Frame};
use crate::versions;
use draft::{Draft, Freshness};

use render::{markdown, sayings};
use select::Pick;
use store::Placed;

pub use export::export;
pub(crate) use portion::{Wish, portions};
pub(crate) use prepared::Prepared;
pub use renew::{duplicate, refresh};
pub(crate) use started::bytes_written;
pub use started::resume;

/// The composition as Markdown.
const MARKDOWN: &str = "composed.md";

/// The composition as a session of the client.
const JSONL: &str = "composed.jsonl";

/// What was combined (2.1.5), enough to make the row of the database again.
const DOCUMENT: &str = "composition.json";

/// The client that records are written for, when no session names one.
const CLIENT_VERSION: &str = "2.0.76";

/// What a composition would be; nothing is written and no version is made, figures are exact.
///
/// # Errors
/// `Usage` when the request is wrong in itself, `NotFound` for a session or version that is not there, `OverBudget` when
/// keepits that must stay do not fit. A version that was asked for and is too large is no error here: see `over`.
pub fn preview(call: &Call<'_>, request: &CompositionRequest) -> Result<CompositionPreview> {
    let asked = draft::asked(call, request, Freshness::Any)?;
    Ok(Draft::make(call, &asked)?.preview())
}

/// Makes a composition: new versions where none suits, then its files, then its row.
///
/// # Errors
/// As [`preview`]; `OverBudget` when it does not fit, with what each component needs; `Conflict` when the name is taken.
pub fn create(call: &Call<'_>, request: &CompositionRequest) -> Result<Composition> {
    create_with(call, request, Freshness::Any)
}

/// The same, of versions that are fresh enough.
fn create_with(call: &Call<'_>, request: &CompositionRequest, freshness: Freshness) -> Result<Composition> {
    let engine = call.engine;
    let name = name::checked(&request.name)?;
    // Said before minutes of compressing, and again when it is written.
    taken_by(engine, &name, request.replace)?;
    let asked = draft::asked(call, request, freshness)?;
    let mut draft = Draft::make(call, &asked)?;
    draft.check_budget()?;
    call.cancel.check()?;
    models::ask(&mut draft)?;
    let made = make_versions(call, &mut draft)?;
    let written = write(call, &name, &asked.stored, &draft);
    if written.is_err() {
        // Versions that only this composition would have taken.
        for (session, version) in made {
            let request = VersionRemoveRequest { session: session.to_string(), versions: vec![version], force: true };
            let _ = versions::remove(engine, &request);
        }
    }
    let composition = written?;
    engine.emit(Event::CompositionsChanged);
    engine.emit(draft.sessions_changed());
    Ok(composition)
}

/// Stores the new compressions as versions and puts their ids into the draft.
fn make_versions(call: &Call<'_>, draft: &mut Draft<'_>) -> Result<Vec<(SessionId, VersionId)>> {
    let mut made = Vec::new();
    for seat in &mut draft.seats {
        let (Pick::New, Some(settings)) = (&seat.taken.pick, &seat.taken.settings) else { continue };
        (call.progress)(Progress {
            done: 0,
            total: 0,
            unit: "sessions".to_owned(),
            stage: format!("compressing {}", seat.material.title()),
        });
        let version = seat.material.save(settings)?;
        made.push((version.session_id, version.version_id.clone()));
        seat.version_id = version.version_id;
    }
    Ok(made)
}

/// Writes the files and the row; on failure all is as before.
fn write(call: &Call<'_>, name: &str, request: &CompositionRequest, draft: &Draft<'_>) -> Result<Composition> {
    let engine = call.engine;
    let last = draft.seats.last().ok_or_else(|| Error::internal("a composition without components"))?;
    let project_id = last.material.session.project_id.clone();
    let composition_id = CompositionId::new(Uuid::new_v4().to_string());
    let now = engine.now();
    let format = request.format.unwrap_or_default();
    let sheet = draft.sheet(name, &composition_id);
    let (opening, said) = sayings(&sheet);
    let mut files = Vec::new();
    if format != CompositionFormat::Jsonl {
        files.push((MARKDOWN, markdown(&sheet)));
    }
    if format != CompositionFormat::Markdown {
        let session_id = Uuid::try_parse(composition_id.as_str()).unwrap_or_default();
        let frame = Frame {
            session_id,
            title: name,
            cwd: &last.material.project_path,
            git_branch: last.material.session.git_branch.as_deref().unwrap_or_default(),
            client_version: last.material.session.client_versions.last().map_or(CLIENT_VERSION, String::as_str),
            now,
            tokens_before: draft.seats.iter().map(|seat| seat.material.session.tokens).sum(),
        };
        files.push((JSONL, transcript::lines(&frame, &opening, &said)));
    }
    let record = Composition {
        composition_id,
        name: name.to_owned(),
        project_id,
        created_at: now,
        budget: request.budget,
        allocation: dealing::allocation(request),
        task: request.task.clone(),
        components: draft.components(),
        total_tokens: draft.total_tokens,
        total_messages: draft.total_messages(),
        files: files.iter().map(|(file, _)| (*file).to_owned()).chain([DOCUMENT.to_owned()]).collect(),
        used_in_sessions: Vec::new(),
        stale: Vec::new(),
    };
    let row = CompositionRow {
        record,
        request: CompositionRequest { name: name.to_owned(), replace: false, ..request.clone() },
    };
    let mut document = document_of(&row)?;
    document["leftOut"] = document::camel(serde_json::to_value(draft.left_out())?);
    document["sharedMessages"] = draft.shared_messages().into();
    files.push((DOCUMENT, pretty(&document)?));
    keep(engine, row, files, request.replace)
}

/// Puts the files and the row of a composition in their places, all or none; its document comes last. What it replaces
/// goes, and the sessions that were started from that one are its own.
fn keep(
    engine: &Engine,
    mut row: CompositionRow,
    mut files: Vec<(&'static str, String)>,
    replace: bool,
) -> Result<Composition> {
    let (name, project_id) = (row.record.name.clone(), row.record.project_id.clone());
    let lock = crate::home::hold(&engine.home().lock())?;
    let old = taken_by(engine, &name, replace)?;
    if let Some(old) = old.as_ref().filter(|old| !old.record.used_in_sessions.is_empty()) {
        row.record.used_in_sessions.clone_from(&old.record.used_in_sessions);
        if let Some((_, document)) = files.last_mut().filter(|(file, _)| *file == DOCUMENT) {
            let mut with_sessions: Value = serde_json::from_str(document)?;
            with_sessions["usedInSessions"] = serde_json::json!(row.record.used_in_sessions);
            *document = pretty(&with_sessions)?;
        }
    }
    let replaced = old.as_ref().map(|old| folder_of(engine, old));
    let placed = store::place(&engine.home().composed(&project_id), &name, &files, replaced.as_deref())?;
    let stored = engine.db().write(|rows| {
        if let Some(old) = &old {
            rows.remove_composition(&old.record.composition_id)?;
            rows.mark_dirty(&old.record.project_id)?;
        }
        rows.add_composition(&row)?;
        rows.mark_dirty(&project_id)
    });
    match stored {
        Ok(()) => Placed::keep(placed)?,
        Err(error) => {
            placed.undo();
            return Err(error);
        }
    }
    drop(lock);
    engine.mirror_all()?;
    with_state(engine, row.record)
}

/// The composition that has a name already, when it may be replaced.
fn taken_by(engine: &Engine, name: &str, replace: bool) -> Result<Option<CompositionRow>> {
    let rows = engine.db().read(|rows| rows.compositions())?;
    let Some(old) = rows.into_iter().find(|row| name::folded(&row.record.name) == name::folded(name)) else {
        return Ok(None);
    };
    if !replace {
        let other = &old.record.name;
        let fault = if other == name {
            format!("there is a composition `{name}` already")
        } else {
            format!("the composition `{other}` has the same name but for letter case")
        };
        return Err(Error::conflict(fault).hint("choose another name, or replace it with --replace"));
    }
    Ok(Some(old))
}

/// All compositions, newest first.
pub fn list(engine: &Engine) -> Result<Vec<Composition>> {
    let rows = engine.db().read(|rows| rows.compositions())?;
    rows.into_iter().map(|row| with_state(engine, row.record)).collect()
}

/// A composition with its text.
pub fn detail(engine: &Engine, name: &str) -> Result<CompositionDetail> {
    let row = find(engine, name)?;
    let folder = folder_of(engine, &row);
    let markdown = if row.record.files.iter().any(|file| file == MARKDOWN) {
        read(&folder.join(MARKDOWN))?
    } else {
        transcript::as_markdown(&read(&folder.join(JSONL))?)
    };
    let CompositionRow { record, request } = row;
    Ok(CompositionDetail { composition: with_state(engine, record)?, markdown, request })
}

/// Removes a composition with its files; its versions are free then. Sessions that were started from it stay.
pub fn remove(engine: &Engine, name: &str) -> Result<Composition> {
    let row = find(engine, name)?;
    let project = row.record.project_id.clone();
    engine.db().write(|rows| {
        rows.remove_composition(&row.record.composition_id)?;
        rows.mark_dirty(&project)
    })?;
    let lock = crate::home::hold(&engine.home().lock())?;
    store::remove(&folder_of(engine, &row))?;
    drop(lock);
    engine.mirror(std::slice::from_ref(&project))?;
    engine.emit(Event::CompositionsChanged);
    Ok(with_paths(engine, row.record))
}

/// A composition by its name or id.
fn find(engine: &Engine, name: &str) -> Result<CompositionRow> {
    let rows = engine.db().read(|rows| rows.compositions())?;
    let wanted = name::folded(name.trim());
    rows.into_iter()
        .find(|row| name::folded(&row.record.name) == wanted || row.record.composition_id.as_str() == wanted)
        .ok_or_else(|| {
            Error::not_found(format!("there is no composition `{name}`")).hint("`recollect compositions` lists them")
        })
}

fn folder_of(engine: &Engine, row: &CompositionRow) -> PathBuf {
    engine.home().composed(&row.record.project_id).join(&row.record.name)
}

/// With what has become of its sessions, and its files by their whole paths.
fn with_state(engine: &Engine, mut record: Composition) -> Result<Composition> {
    record.stale = engine.db().read(|rows| renew::grown(rows, &record))?;
    Ok(with_paths(engine, record))
}

/// Files by their whole paths, wherever the memory is now.
fn with_paths(engine: &Engine, mut record: Composition) -> Composition {
    let folder = engine.home().composed(&record.project_id).join(&record.name);
    record.files = record.files.iter().map(|file| folder.join(file).display().to_string()).collect();
    record
}

fn read(path: &Path) -> Result<String> {
    fs_err::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidData => {
            Error::new(ErrorKind::Io, format!("the composition's file cannot be read: {error}"))
                .hint("compose it again with --replace")
                .because(error)
        }
        _ => error.into(),
    })
}

/// The document of 2.1.5: its members first, then ours, with the request that makes it again.
fn document_of(row: &CompositionRow) -> Result<Value> {
    let mut document = document::camel(serde_json::to_value(&row.record)?);
    let output = if row.record.files.iter().any(|file| file == MARKDOWN) { MARKDOWN } else { JSONL };
    document["outputFile"] = output.into();
    document["request"] = document::camel(serde_json::to_value(&row.request)?);
    // What its sessions have become since is told each time.
    document.as_object_mut().map(|members| members.remove("stale"));
    Ok(document)
}

fn pretty(document: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

#[cfg(test)]
mod tests;
