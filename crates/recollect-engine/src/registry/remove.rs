//! Takes a session out of memory. The client's own files are never touched.

use super::{removed, resolve};
use crate::api::session::{SessionRemoveRequest, SessionRemoved};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::event::Event;

/// Unregisters a session; its archived bytes stay until they are purged.
///
/// # Errors
/// `Conflict` when compositions use its versions and `force` is not set.
pub fn remove(engine: &Engine, request: &SessionRemoveRequest) -> Result<SessionRemoved> {
    let session = resolve(engine, &request.session)?;
    let (project, places, hashes) = engine.db().write(|rows| {
        let row =
            rows.session(&session)?.ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
        let users = rows.compositions_of(&session)?;
        if !users.is_empty() && !request.force {
            return Err(Error::conflict(format!("session {session} is used in {}", users.join(", ")))
                .hint("compositions stay readable without it; use --force to remove it all the same"));
        }
        let (mut places, mut hashes) = (Vec::new(), Vec::new());
        for file in rows.files(&session)? {
            places.extend(rows.places(file.file_id)?.into_iter().map(|place| place.path));
            hashes.extend(rows.file_chunks(file.file_id)?.into_iter().map(|chunk| chunk.hash));
        }
        rows.remove_session(&session)?;
        rows.mark_dirty(&row.project_id)?;
        if request.purge {
            rows.purge_chunks(&hashes)?;
        }
        Ok((row.project_id, places, hashes))
    })?;
    removed::note(engine, &session, places.clone())?;
    let bytes_freed = if request.purge { engine.archive().purge(&places, &hashes, engine.now())? } else { 0 };
    for folder in [engine.home().summaries(&project, &session), engine.home().answers(&session)] {
        if folder.exists() {
            fs_err::remove_dir_all(folder)?;
        }
    }
    engine.mirror(std::slice::from_ref(&project))?;
    engine.emit(Event::SessionsChanged { project_ids: vec![project], session_ids: vec![session.clone()] });
    Ok(SessionRemoved { session_id: session, purged: request.purge, bytes_freed })
}
