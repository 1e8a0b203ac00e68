//! Compositions (4.3, 4.4, 5.3): several sessions, each at the compression that suits it, as one context under a hard budget.
//!
//! `select`, `allocate`, `plan`, `join`, `render` and `name` are pure; `material` reads, `store` writes.

mod allocate;
mod draft;
mod join;
mod material;
mod name;
mod plan;
mod render;
mod select;
mod store;
mod tighten;
mod words;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::api::composition::{
    Composition, CompositionDetail, CompositionFormat, CompositionPreview, CompositionRequest, ResumeRequest, Resumed,
};
use crate::api::compression::VersionRemoveRequest;
use crate::db::CompositionRow;
use crate::document;
use crate::engine::{Call, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Progress};
use crate::ids::{CompositionId, SessionId, VersionId};
use crate::resume::{self, WorkingFolder};
use crate::transcript::{self, Frame, Saying};
use crate::versions;
use draft::Draft;
use render::{markdown, sayings};
use select::Pick;
use store::Placed;

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
    let materials = draft::materials(call, request)?;
    Ok(Draft::make(call, request, &materials)?.preview())
}

/// Makes a composition: new versions where none suits, then its files, then its row.
///
/// # Errors
/// As [`preview`]; `OverBudget` when it does not fit, with what each component needs; `Conflict` when the name is taken.
pub fn create(call: &Call<'_>, request: &CompositionRequest) -> Result<Composition> {
    let engine = call.engine;
    let name = name::checked(&request.name)?;
    // Said before minutes of compressing, and again when it is written.
    taken_by(engine, &name, request.replace)?;
    let materials = draft::materials(call, request)?;
    let mut draft = Draft::make(call, request, &materials)?;
    draft.check_budget()?;
    call.cancel.check()?;
    let made = make_versions(call, &mut draft)?;
    let written = write(call, &name, request, &draft);
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
        project_id: project_id.clone(),
        created_at: now,
        budget: request.budget,
        allocation: request.allocation.unwrap_or_default(),
        components: draft.components(),
        total_tokens: draft.total_tokens,
        total_messages: draft.total_messages(),
        files: files.iter().map(|(file, _)| (*file).to_owned()).chain([DOCUMENT.to_owned()]).collect(),
        used_in_sessions: Vec::new(),
    };
    let row = CompositionRow {
        record,
        request: CompositionRequest { name: name.to_owned(), replace: false, ..request.clone() },
    };
    let mut document = document_of(&row)?;
    document["leftOut"] = document::camel(serde_json::to_value(draft.left_out())?);
    document["sharedMessages"] = draft.shared_messages().into();
    files.push((DOCUMENT, pretty(&document)?));

    let lock = crate::home::hold(&engine.home().lock())?;
    let old = taken_by(engine, name, request.replace)?;
    let replaced = old.as_ref().map(|old| folder_of(engine, old));
    let placed = store::place(&engine.home().composed(&project_id), name, &files, replaced.as_deref())?;
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
    Ok(with_paths(engine, row.record))
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
    Ok(rows.into_iter().map(|row| with_paths(engine, row.record)).collect())
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
    Ok(CompositionDetail { composition: with_paths(engine, record), markdown, request })
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

/// Writes a new session of Claude Code that goes on from a composition.
///
/// # Errors
/// `NotFound` when there is no such composition, or no folder to run in.
pub fn resume(engine: &Engine, request: &ResumeRequest) -> Result<Resumed> {
    let row = find(engine, &request.name)?;
    let folder = working_folder(engine, &row, request.cwd.as_deref())?;
    let session_id = Uuid::new_v4();
    let lines = resume::readdressed(&session_lines(engine, &row)?, session_id, &folder, engine.now())?;
    // Known before it exists: whoever watches the client's folder never takes it for the user's own.
    let composition = &row.record.composition_id;
    let mut sessions = row.record.used_in_sessions.clone();
    sessions.push(session_id.to_string());
    set_sessions(engine, &row, &sessions)?;
    engine.db().write(|rows| rows.put_fact(&bytes_written(&session_id.to_string()), &lines.len().to_string()))?;
    let project = resume::project_folder(engine.claude_home(), &folder.path);
    let file = match resume::write_new(&project, session_id, &lines) {
        Ok(file) => file,
        Err(error) => {
            sessions.pop();
            engine.db().write(|rows| rows.set_sessions_of_composition(composition, &sessions))?;
            return Err(error);
        }
    };
    engine.mirror(std::slice::from_ref(&row.record.project_id))?;
    engine.emit(Event::CompositionsChanged);
    Ok(Resumed {
        session_id: SessionId::new(session_id.to_string()),
        file: file.display().to_string(),
        cwd: folder.path,
        command: format!("claude --resume {session_id}"),
    })
}

/// The fact that says how many bytes a session had that was started from a composition: more are the user's.
pub(crate) fn bytes_written(session: &str) -> String {
    format!("bytes_written {session}")
}

/// Notes the sessions that were started from a composition, in the database and in its document.
fn set_sessions(engine: &Engine, row: &CompositionRow, sessions: &[String]) -> Result<()> {
    engine.db().write(|rows| {
        rows.set_sessions_of_composition(&row.record.composition_id, sessions)?;
        rows.mark_dirty(&row.record.project_id)
    })?;
    let path = folder_of(engine, row).join(DOCUMENT);
    let before = fs_err::read(&path).ok().map(|bytes| serde_json::from_slice::<Value>(&bytes));
    let mut document = match before {
        Some(Ok(document)) if document.is_object() => document,
        // What is not understood is not written over.
        Some(_) => {
            crate::home::set_aside(&path)?;
            document_of(row)?
        }
        None => document_of(row)?,
    };
    document["usedInSessions"] = json!(sessions);
    crate::home::write_atomically(&path, pretty(&document)?.as_bytes())
}

/// The folder in which the client will run: the one asked for, else that of the composition's project.
fn working_folder(engine: &Engine, row: &CompositionRow, asked: Option<&str>) -> Result<WorkingFolder> {
    if let Some(asked) = asked {
        return WorkingFolder::resolve(Path::new(asked));
    }
    let project = engine.db().read(|rows| rows.project(&row.record.project_id))?;
    let path = project.map(|project| project.original_path).unwrap_or_default();
    if path.is_empty() {
        return Err(Error::not_found(format!("the folder of the project of `{}` is not known", row.record.name))
            .hint("name the folder in which Claude Code is to run: --cwd DIR"));
    }
    WorkingFolder::resolve(Path::new(&path)).map_err(|error| {
        Error { message: format!("the folder of its project is gone: {}", error.message), ..error }
            .hint("name the folder in which Claude Code is to run: --cwd DIR")
    })
}

/// The records of a composition. One that was written as Markdown only opens a session as its summary.
fn session_lines(engine: &Engine, row: &CompositionRow) -> Result<String> {
    let folder = folder_of(engine, row);
    if row.record.files.iter().any(|file| file == JSONL) {
        return read(&folder.join(JSONL));
    }
    let origin = json!({ "composition": row.record.composition_id });
    let opening = Saying { role: crate::session::Role::User, text: read(&folder.join(MARKDOWN))?, time: None, origin };
    let mut said = Vec::new();
    transcript::close(&mut said);
    let frame = Frame {
        session_id: Uuid::try_parse(row.record.composition_id.as_str()).unwrap_or_default(),
        title: &row.record.name,
        cwd: "",
        git_branch: "",
        client_version: CLIENT_VERSION,
        now: row.record.created_at,
        tokens_before: row.record.components.iter().map(|component| component.original_tokens).sum(),
    };
    Ok(transcript::lines(&frame, &opening, &said))
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
    Ok(document)
}

fn pretty(document: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

#[cfg(test)]
mod tests;
