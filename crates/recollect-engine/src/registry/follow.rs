//! Following: which files are not in memory as they are now, and taking just those in.
//!
//! One `stat` a file and one look into the index tell whether a file is behind; nothing that is as it was is opened.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::candidate::{self, Candidate};
use super::removed::Removed;
use super::report::tell;
use super::{Stat, recognise, take_in, tidy};
use crate::api::ingest::IngestReport;
use crate::db::{Part, Rows};
use crate::engine::{Call, Engine};
use crate::error::Result;

/// Bytes of files that are taken in before anything is told: the newest sessions are there first.
const BYTES_AT_ONCE: u64 = 64 << 20;

/// Where sessions come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    /// The folder of the client's transcripts, with all that is below it.
    pub(crate) transcripts: PathBuf,
    /// Folders of exports, without what is below them.
    pub(crate) exports: Vec<PathBuf>,
}

impl Followed {
    /// All of them.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        std::iter::once(&self.transcripts).chain(&self.exports).cloned().collect()
    }
}

/// A file that is not in memory as it is now.
#[derive(Debug, Clone)]
pub(crate) struct Behind {
    /// What `stat` said of it.
    pub(crate) stat: Stat,
    pub(super) candidate: Candidate,
}

impl Behind {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.candidate.path
    }

    /// What keeps the files of one session together.
    fn group(&self) -> String {
        self.candidate.named_session.clone().unwrap_or_else(|| self.candidate.path.display().to_string())
    }
}

/// Files at and below `places` that are not in memory as they are now. What is not there, or not followed, is passed over.
///
/// # Errors
/// When the index cannot be asked.
pub(crate) fn behind(engine: &Engine, places: &[PathBuf], followed: &Followed) -> Result<Vec<Behind>> {
    let mut candidates = Vec::new();
    for place in places {
        candidates_at(place, followed, &mut candidates);
    }
    candidates.sort_by(|left, right| left.path.cmp(&right.path));
    candidates.dedup_by(|left, right| left.path == right.path);
    let caused: HashSet<String> = engine.db().read(|rows| rows.caused_sessions())?.into_iter().collect();
    let removed = Removed::load(engine)?;
    let there = candidates.into_iter().filter_map(|candidate| Some((Stat::of(&candidate.path).ok()?, candidate)));
    let there: Vec<(Stat, Candidate)> = there.filter(|(stat, _)| stat.bytes > 0).collect();
    engine.db().read(|rows| {
        let mut behind = Vec::new();
        for (stat, candidate) in there {
            if is_only_ours(rows, &caused, &candidate, stat)? {
                continue;
            }
            let is_current = match rows.place(&candidate.path.display().to_string())? {
                Some(place) => stat.is(&place),
                // What the user took out stays out.
                None => removed.holds(&candidate),
            };
            if !is_current {
                behind.push(Behind { stat, candidate });
            }
        }
        Ok(behind)
    })
}

/// Whether a file is a session that was started from a composition and has not been gone on with. That many bytes were
/// written is a fact of the database; made anew, it does not have it, and the file's end tells.
fn is_only_ours(rows: &Rows<'_>, caused: &HashSet<String>, candidate: &Candidate, stat: Stat) -> Result<bool> {
    let Some(session) = candidate.named_session.as_ref().filter(|_| candidate.part == Part::Main) else {
        return Ok(false);
    };
    match rows.fact(&crate::compose::bytes_written(session))?.and_then(|bytes| bytes.parse::<u64>().ok()) {
        Some(written) => Ok(written == stat.bytes),
        None if caused.contains(session) => Ok(crate::resume::is_untouched(&candidate.path).unwrap_or(false)),
        None => Ok(false),
    }
}

fn candidates_at(place: &Path, followed: &Followed, candidates: &mut Vec<Candidate>) {
    let is_folder = place.is_dir();
    if place.starts_with(&followed.transcripts) {
        if is_folder {
            // A folder that cannot be read is tried again when something happens in it.
            candidate::walk(place, true, candidates, &mut Vec::new());
        } else {
            candidates.extend(candidate::classify(place, false));
        }
        return;
    }
    for folder in &followed.exports {
        if place == folder && is_folder {
            let Ok(entries) = fs_err::read_dir(folder) else { continue };
            let files = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file());
            candidates.extend(files.filter_map(|file| beside_others(&file)));
        } else if place.parent() == Some(folder) && !is_folder {
            candidates.extend(beside_others(place));
        }
    }
}

/// A file in a folder of anything: what it holds decides, unless its name is that of a transcript.
fn beside_others(path: &Path) -> Option<Candidate> {
    let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    match candidate::classify(path, false) {
        _ if is_hidden => None,
        Some(named) if named.named_session.is_some() && named.part == Part::Main => Some(named),
        Some(named) if named.part != Part::Main => None,
        _ => Some(candidate::unsure(path)),
    }
}

/// Takes files in, those of the newest sessions first, and reports some at a time. The files that mirror the index are left
/// to the caller: their projects are marked.
///
/// # Errors
/// When the memory itself cannot be written to; what was reported is kept.
pub(crate) fn follow(call: &Call<'_>, behind: Vec<Behind>, mut told: impl FnMut(&IngestReport)) -> Result<()> {
    for some in in_turns(behind) {
        call.cancel.check()?;
        let candidates = some.into_iter().map(|file| file.candidate).collect();
        let candidates = recognise::recognise(call.engine, candidates, call.cancel)?;
        if candidates.is_empty() {
            continue;
        }
        let (report, projects) = take_in(call, candidates, Vec::new(), None)?;
        tell(call.engine, &report, projects);
        told(&report);
        tidy(call)?;
    }
    Ok(())
}

/// Sessions, newest first, in turns of about [`BYTES_AT_ONCE`].
fn in_turns(behind: Vec<Behind>) -> Vec<Vec<Behind>> {
    let mut groups: BTreeMap<String, Vec<Behind>> = BTreeMap::new();
    for file in behind {
        groups.entry(file.group()).or_default().push(file);
    }
    let mut groups: Vec<Vec<Behind>> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.iter().map(|file| file.stat.modified).max()));
    let mut turns: Vec<Vec<Behind>> = Vec::new();
    let mut sum = u64::MAX;
    for group in groups {
        let bytes: u64 = group.iter().map(|file| file.stat.bytes).sum();
        match turns.last_mut() {
            Some(turn) if sum.saturating_add(bytes) <= BYTES_AT_ONCE => turn.extend(group),
            _ => {
                turns.push(group);
                sum = 0;
            }
        }
        sum += bytes;
    }
    turns
}
