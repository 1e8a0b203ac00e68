//! Sessions that the user took out of memory: following leaves them out, although the client's files are still there, until the
//! user takes them in again. A file of its own, so that no loss of the database brings them back.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::base_of;
use super::candidate::Candidate;
use crate::api::ingest::IngestReport;
use crate::engine::Engine;
use crate::error::Result;
use crate::home::{hold, read_or_set_aside, write_atomically};
use crate::ids::SessionId;

/// What was removed, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Removed {
    /// Ids that files are named by.
    sessions: BTreeSet<String>,
    /// Where their files were.
    places: BTreeSet<String>,
}

impl Removed {
    /// Reads it. What is not understood is set aside.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn load(engine: &Engine) -> Result<Self> {
        read_or_set_aside(&engine.home().removed())
    }

    /// Whether a file that is not in memory was taken out of it.
    pub(super) fn holds(&self, candidate: &Candidate) -> bool {
        candidate.named_session.as_ref().is_some_and(|session| self.sessions.contains(session))
            || self.places.contains(&candidate.path.display().to_string())
    }
}

/// Notes that a session is taken out, with the places of its files.
///
/// # Errors
/// When that cannot be written.
pub(super) fn note(engine: &Engine, session: &SessionId, places: Vec<String>) -> Result<()> {
    change(engine, |removed| {
        removed.sessions.insert(base_of(session).to_string());
        removed.places.extend(places);
    })
}

/// Forgets what the user has taken in again.
///
/// # Errors
/// When that cannot be written.
pub(super) fn forget(engine: &Engine, report: &IngestReport) -> Result<()> {
    if !engine.home().removed().exists() {
        return Ok(());
    }
    change(engine, |removed| {
        for session in &report.sessions {
            removed.sessions.remove(base_of(&session.session_id).as_str());
        }
        for file in report.files.iter().filter(|file| file.session_id.is_some()) {
            removed.places.remove(&file.path);
        }
    })
}

fn change(engine: &Engine, work: impl FnOnce(&mut Removed)) -> Result<()> {
    let _lock = hold(&engine.home().lock())?;
    let before = Removed::load(engine)?;
    let mut removed = before.clone();
    work(&mut removed);
    if removed != before {
        let mut bytes = serde_json::to_vec_pretty(&removed)?;
        bytes.push(b'\n');
        write_atomically(&engine.home().removed(), &bytes)?;
    }
    Ok(())
}
