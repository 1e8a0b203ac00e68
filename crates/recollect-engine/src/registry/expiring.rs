//! Transcripts that the client will delete soon: it does so by itself, some time after they were last written to.

use std::path::{Path, PathBuf};

use super::candidate::{self, Candidate};
use super::removed::Removed;
use super::{Stat, base_of};
use crate::api::session::{Expiring, ExpiringSession};
use crate::db::{Part, Rows};
use crate::engine::Engine;
use crate::error::Result;
use crate::home::sanitize;
use crate::ids::{ProjectId, SessionId};
use crate::sources::claude_code::{Fold, read};
use crate::sources::lines::LineBatches;

/// Days after which the client deletes transcripts unless its settings say otherwise.
const USUAL_DAYS: f64 = 30.0;
/// Days ahead that are looked at unless asked otherwise.
pub(super) const SOON: u32 = 7;
/// Bytes of a transcript that are read for its title.
const FOR_TITLE: u64 = 256 << 10;
const DAY: f64 = 86_400_000.0;
/// Sessions that are listed.
const MOST: usize = 500;

/// Sessions whose transcripts the client deletes within some days, the first to go first; those that are not archived
/// stand before those that are.
///
/// # Errors
/// When the index cannot be asked.
pub fn expiring(engine: &Engine, within_days: Option<u32>) -> Result<Expiring> {
    let within_days = within_days.unwrap_or(SOON);
    let kept_days = kept_days(engine.claude_home());
    let mut found = files(engine, kept_days, within_days)?;
    found.sort_by_key(|file| (file.is_archived, file.stat.modified));
    let unarchived = found.iter().filter(|file| !file.is_archived).count() as u64;
    let total = found.len() as u64;
    found.truncate(MOST);
    let sessions = engine
        .db()
        .read(|rows| found.iter().map(|file| session_of(rows, file)).collect::<Result<Vec<ExpiringSession>>>())?;
    Ok(Expiring { kept_days, within_days, total, unarchived, sessions })
}

/// Transcripts that go soon and are not archived, with what lies beside them.
pub(super) fn unarchived(engine: &Engine) -> Result<Vec<PathBuf>> {
    let found = files(engine, kept_days(engine.claude_home()), SOON)?;
    let paths = found.into_iter().filter(|file| !file.is_archived).map(|file| file.candidate.path);
    Ok(paths.flat_map(|path| [path.with_extension(""), path]).filter(|path| path.exists()).collect())
}

/// How long the client keeps transcripts, by its own settings.
fn kept_days(claude_home: &Path) -> f64 {
    let settings = fs_err::read(claude_home.join("settings.json")).ok();
    let settings = settings.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let days = settings.and_then(|settings| settings.get("cleanupPeriodDays")?.as_f64());
    days.filter(|days| days.is_finite() && *days >= 0.0).unwrap_or(USUAL_DAYS)
}

struct ExpiringFile {
    candidate: Candidate,
    stat: Stat,
    days_left: u32,
    is_archived: bool,
}

/// One `stat` for each of the client's transcripts.
fn files(engine: &Engine, kept_days: f64, within_days: u32) -> Result<Vec<ExpiringFile>> {
    let transcripts = engine.claude_home().join("projects");
    if !transcripts.is_dir() {
        return Ok(Vec::new());
    }
    let mut candidates = Vec::new();
    candidate::walk(&transcripts, true, &mut candidates, &mut Vec::new());
    let removed = Removed::load(engine)?;
    let now = engine.now().millis() as f64;
    engine.db().read(|rows| {
        let mut found = Vec::new();
        for candidate in candidates.into_iter().filter(|candidate| candidate.part == Part::Main) {
            let Ok(stat) = Stat::of(&candidate.path) else { continue };
            let left = kept_days - (now - stat.modified as f64 / 1e6) / DAY;
            if stat.bytes == 0 || left > f64::from(within_days) {
                continue;
            }
            let place = rows.place(&candidate.path.display().to_string())?;
            if place.is_none() && removed.holds(&candidate) {
                continue;
            }
            let is_archived = place.is_some_and(|place| stat.is(&place));
            found.push(ExpiringFile { candidate, stat, days_left: left.ceil().max(0.0) as u32, is_archived });
        }
        Ok(found)
    })
}

/// What is known of a session, or what its first lines say.
fn session_of(rows: &Rows<'_>, file: &ExpiringFile) -> Result<ExpiringSession> {
    let path = file.candidate.path.display().to_string();
    let known = match rows.place(&path)? {
        Some(place) => rows.file(place.file_id)?.map(|file| file.session_id),
        None => None,
    };
    let row = match &known {
        Some(session) => rows.session(session)?,
        None => None,
    };
    let (title, project_id) = match row {
        Some(row) => (row.user_title.unwrap_or(row.title), row.project_id),
        None => {
            let fold = beginning(&file.candidate.path);
            let project = fold.cwd.as_deref().map_or_else(|| folder_of(&file.candidate.path), sanitize);
            let named = file.candidate.named_session.as_deref().unwrap_or("without an id");
            let short: String = base_of(&SessionId::new(named)).as_str().chars().take(8).collect();
            (fold.title().unwrap_or_else(|| format!("Session {short}")), ProjectId::new(project))
        }
    };
    let project = rows.project(&project_id)?.map(|project| project.display_name);
    Ok(ExpiringSession {
        session_id: known,
        title,
        project: project.unwrap_or_else(|| project_id.to_string()),
        project_id,
        path,
        days_left: file.days_left,
        bytes: file.stat.bytes,
        archived: file.is_archived,
    })
}

fn folder_of(path: &Path) -> String {
    path.parent().and_then(Path::file_name).map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// What the first lines of a transcript make known.
fn beginning(path: &Path) -> Fold {
    let mut fold = Fold::default();
    let Ok(file) = fs_err::File::open(path) else { return fold };
    let mut batches = LineBatches::new(std::io::Read::take(file, FOR_TITLE), 0);
    while let Ok(Some(batch)) = batches.next_batch() {
        for line in batch.lines() {
            fold.lines += 1;
            if let Some(mut record) = read(line.bytes, fold.lines).record {
                fold.take(&mut record);
            }
        }
    }
    fold
}
