//! Gives original bytes back, identical, whether the originals still exist or not.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::resolve;
use crate::api::session::{RestoreReport, RestoredFile, SessionListRequest, SessionRestoreRequest};
use crate::archive::hex;
use crate::db::FileRow;
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::event::Progress;
use crate::ids::SessionId;

/// Writes a session's main file, or whole sessions laid out as the client does.
///
/// # Errors
/// `Conflict` when a file with other content is in the way and `force` is not set.
pub fn restore(call: &Call<'_>, request: &SessionRestoreRequest) -> Result<RestoreReport> {
    let engine = call.engine;
    match (&request.session, request.all, &request.output, &request.tree) {
        (Some(session), false, Some(output), None) => {
            let session = resolve(engine, session)?;
            let file = main_file(engine, &session)?;
            Ok(RestoreReport { files: vec![write(engine, &file, Path::new(output), request.force)?] })
        }
        (Some(session), false, None, Some(tree)) => {
            let session = resolve(engine, session)?;
            tree_of(call, &[session], Path::new(tree), request.force)
        }
        (None, true, None, Some(tree)) => {
            let page = super::page(engine, &SessionListRequest::default())?;
            let sessions: Vec<SessionId> = page.sessions.into_iter().map(|session| session.session_id).collect();
            tree_of(call, &sessions, Path::new(tree), request.force)
        }
        (_, true, ..) => {
            Err(Error::usage("all sessions can only be restored into a folder").hint("name it with --tree DIR"))
        }
        _ => Err(Error::usage("it is not said what to restore, or where to")
            .hint("name a session, and either a file or --tree DIR")),
    }
}

/// Writes the original bytes of a session's main file to a stream.
pub fn restore_to(engine: &Engine, session: &SessionId, out: &mut dyn Write) -> Result<u64> {
    let file = main_file(engine, session)?;
    let chunks = engine.db().read(|rows| rows.file_chunks(file.file_id))?;
    Ok(engine.archive().copy(&chunks, out)?.0)
}

fn main_file(engine: &Engine, session: &SessionId) -> Result<FileRow> {
    engine.db().read(|rows| rows.main_file(session))?.ok_or_else(|| {
        Error::not_found(format!("of session {session} only sub-agents are in memory"))
            .hint("use --tree DIR to restore those")
    })
}

fn tree_of(call: &Call<'_>, sessions: &[SessionId], tree: &Path, force: bool) -> Result<RestoreReport> {
    let engine = call.engine;
    let mut report = RestoreReport { files: Vec::new() };
    let mut taken: HashSet<PathBuf> = HashSet::new();
    for (done, session) in sessions.iter().enumerate() {
        call.cancel.check()?;
        (call.progress)(Progress {
            done: done as u64,
            total: sessions.len() as u64,
            unit: "sessions".to_owned(),
            stage: "writing files".to_owned(),
        });
        let (project, files) = engine.db().read(|rows| {
            let row = rows
                .session(session)?
                .ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
            Ok((row.project_id, rows.files(session)?))
        })?;
        for file in files {
            let folder = tree.join(project.as_str());
            let mut path = folder.join(&file.name);
            if !taken.insert(path.clone()) {
                // Older clients put sub-agents beside their sessions, where two of one name can meet.
                path = folder.join(session.as_str()).join("subagents").join(&file.name);
                taken.insert(path.clone());
            }
            report.files.push(write(engine, &file, &path, force)?);
        }
    }
    Ok(report)
}

fn write(engine: &Engine, file: &FileRow, path: &Path, force: bool) -> Result<RestoredFile> {
    let chunks = engine.db().read(|rows| rows.file_chunks(file.file_id))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder)?;
    let mut temporary = tempfile::Builder::new().prefix(".restoring-").tempfile_in(folder)?;
    let (bytes, hash) = engine.archive().copy(&chunks, temporary.as_file_mut())?;
    temporary.as_file().sync_all()?;
    if path.exists() && !force && fs_err::read(path)? != fs_err::read(temporary.path())? {
        return Err(Error::conflict(format!("`{}` exists with other content", path.display()))
            .hint("choose another place, or use --force to write over it"));
    }
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(RestoredFile {
        path: path.display().to_string(),
        session_id: file.session_id.clone(),
        bytes,
        sha256: hex(&hash),
    })
}
