//! The newest export or transcript that is not in memory yet, in the folders where they come to be.

use std::path::{Path, PathBuf};

use super::follow::{self, Behind};
use super::report::tell;
use super::{Followed, behind, recognise, take_in, tidy};
use crate::api::ingest::{IngestReport, IngestStatus};
use crate::db::Part;
use crate::engine::{Call, Engine};
use crate::error::Result;
use crate::ids::ProjectId;

/// Takes in the newest conversation that is not in memory, with what lies beside it. Files that turn out to be known are noted,
/// and the next newest is looked at.
///
/// # Errors
/// When the memory cannot be asked or written to.
pub(super) fn take_latest(call: &Call<'_>, project: Option<&ProjectId>) -> Result<IngestReport> {
    let engine = call.engine;
    let followed = where_they_come(engine)?;
    let mut new = behind(engine, &followed.folders(), &followed)?;
    new.retain(|file| file.candidate.part == Part::Main && may_be_one(file.path()));
    new.sort_by_key(|file| std::cmp::Reverse(file.stat.modified));
    let mut known = IngestReport::default();
    for newest in new {
        call.cancel.check()?;
        let found = recognise::recognise(engine, with_its_own(engine, newest, &followed)?, call.cancel)?;
        if !found.iter().any(|candidate| candidate.part == Part::Main) {
            continue;
        }
        let (report, projects) = take_in(call, found, Vec::new(), project)?;
        engine.mirror_all()?;
        tidy(call)?;
        tell(engine, &report, projects);
        let is_news = |status| matches!(status, IngestStatus::New | IngestStatus::Updated | IngestStatus::Failed);
        if report.sessions.iter().any(|session| is_news(session.status)) {
            return Ok(report);
        }
        known.append(report);
    }
    // What was known is no news.
    Ok(IngestReport { files: Vec::new(), sessions: Vec::new(), ..known })
}

/// The client's folder; the folders of exports that are set, else those where people keep them: of their projects, and what the
/// face says.
fn where_they_come(engine: &Engine) -> Result<Followed> {
    let mut exports = engine.config()?.export_folders;
    if exports.is_empty() {
        let projects = engine.db().read(|rows| rows.projects())?;
        exports = projects.into_iter().map(|sums| PathBuf::from(sums.project.original_path)).collect();
        exports.extend(engine.export_folders().iter().cloned());
        exports.retain(|folder| folder.is_absolute());
        exports.sort();
        exports.dedup();
    }
    Ok(Followed { transcripts: engine.claude_home().join("projects"), exports })
}

/// Endings under which conversations are kept; among them, what a file holds decides.
fn may_be_one(path: &Path) -> bool {
    const ENDINGS: [&str; 6] = ["jsonl", "json", "txt", "md", "markdown", "log"];
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

/// A transcript with its sub-agents and tool results, as far as they are behind.
fn with_its_own(engine: &Engine, newest: Behind, followed: &Followed) -> Result<Vec<super::candidate::Candidate>> {
    let beside = newest.path().with_extension("");
    let own = if newest.candidate.named_session.is_some() && beside.is_dir() {
        follow::behind(engine, &[beside], followed)?
    } else {
        Vec::new()
    };
    Ok(std::iter::once(newest).chain(own).map(|file| file.candidate).collect())
}
