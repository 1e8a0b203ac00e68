//! Sessions of Claude Code that go on from a composition.

use std::path::Path;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{CLIENT_VERSION, DOCUMENT, JSONL, MARKDOWN, document_of, find, folder_of, pretty, read};
use crate::api::composition::{ResumeRequest, Resumed};
use crate::db::CompositionRow;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::ids::{ProjectId, SessionId};
use crate::resume::{self, WorkingFolder};
use crate::transcript::{self, Frame, Saying};

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
    let folders = folders_of(engine, row)?;
    let hint = || {
        let others: Vec<&str> =
            folders.iter().map(String::as_str).filter(|folder| Path::new(folder).is_dir()).collect();
        match others.as_slice() {
            [] => "name the folder in which Claude Code is to run: --cwd DIR".to_owned(),
            some => format!("name the folder in which Claude Code is to run, such as --cwd {}", some.join(" or ")),
        }
    };
    match folders.first().filter(|folder| !folder.is_empty()) {
        None => {
            Err(Error::not_found(format!("the folder of the project of `{}` is not known", row.record.name))
                .hint(hint()))
        }
        Some(path) => WorkingFolder::resolve(Path::new(path)).map_err(|error| {
            Error { message: format!("the folder of its project is gone: {}", error.message), ..error }.hint(hint())
        }),
    }
}

/// The folders of the projects that it is made of: the one that it is kept in comes first, empty when it is not known.
fn folders_of(engine: &Engine, row: &CompositionRow) -> Result<Vec<String>> {
    engine.db().read(|rows| {
        let path = |project: &ProjectId| -> Result<String> {
            Ok(rows.project(project)?.map(|project| project.original_path).unwrap_or_default())
        };
        let mut folders = vec![path(&row.record.project_id)?];
        for component in row.record.components.iter().rev() {
            if let Some(session) = rows.session(&component.session_id)? {
                let folder = path(&session.project_id)?;
                if !folder.is_empty() && !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        Ok(folders)
    })
}

/// The records of a composition. One that was written as Markdown only opens a session as its summary.
pub(super) fn session_lines(engine: &Engine, row: &CompositionRow) -> Result<String> {
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
