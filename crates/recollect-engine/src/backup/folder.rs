//! The folder of backups: how they are named, whose they are, and which go.

use std::path::{Path, PathBuf};

use super::{DAILY, ENDING, WRITING};
use crate::time::Time;

/// Stands in the name of a backup in which something is missing.
const INCOMPLETE: &str = "incomplete";

/// A backup that a memory made by itself.
#[derive(Debug)]
pub(super) struct Daily {
    pub path: PathBuf,
    /// The moment that its name tells.
    pub at: Time,
    /// Nothing was missing when it was made.
    pub is_whole: bool,
}

/// The name of a backup. `memory` says whose it is, when that is to be told; `number` counts those of one moment from 1.
pub(super) fn name(prefix: &str, at: Time, memory: Option<&str>, is_whole: bool, number: u32) -> String {
    let mut name: String = at.to_string().chars().take(19).filter(|one| *one != ':').collect();
    let number = (number > 1).then(|| number.to_string());
    let incomplete = (!is_whole).then_some(INCOMPLETE);
    for part in [memory, incomplete, number.as_deref()].into_iter().flatten() {
        name.push('-');
        name.push_str(part);
    }
    format!("{prefix}{name}{ENDING}")
}

/// Backups in a folder that a memory made by itself; those of others are not its to count or to delete.
pub(super) fn dailies(folder: &Path, memory: &str) -> Vec<Daily> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let (time, rest) =
                path.file_name()?.to_str()?.strip_prefix(DAILY)?.strip_suffix(ENDING)?.split_at_checked(17)?;
            let mut rest = rest.strip_prefix('-')?.split('-');
            if memory.is_empty() || rest.next()? != memory {
                return None;
            }
            let is_whole = rest.next() != Some(INCOMPLETE);
            let (date, clock) = time.split_once('T')?;
            let at = Time::parse(&format!("{date}T{}:{}:{}Z", clock.get(..2)?, clock.get(2..4)?, clock.get(4..6)?))?;
            Some(Daily { path, at, is_whole })
        })
        .collect()
}

/// Deletes backups that a memory made by itself, but for the newest `keep`, after one was made. When that one is not whole,
/// those that are stay, however many: they may hold what is missing. Names from a time to come are of a clock that was
/// wrong: they go first.
pub(super) fn forget_old(folder: &Path, memory: &str, keep: u32, now: Time, made_is_whole: bool) {
    let (whole, incomplete): (Vec<Daily>, Vec<Daily>) =
        dailies(folder, memory).into_iter().partition(|daily| daily.is_whole);
    for (mut backups, may_go) in [(whole, made_is_whole), (incomplete, true)] {
        if !may_go {
            continue;
        }
        backups.sort_by_key(|daily| (daily.at > now, std::cmp::Reverse(daily.at)));
        for Daily { path, .. } in backups.into_iter().skip(usize::try_from(keep.max(1)).unwrap_or(usize::MAX)) {
            // What cannot be deleted now can be the next time.
            let _ = fs_err::remove_file(path);
        }
    }
}

/// Deletes what programs left half-written in a folder that were killed.
pub(super) fn clear(folder: &Path) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.filter_map(std::result::Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(WRITING)
            && fs_err::File::open(entry.path()).is_ok_and(|file| file.file().try_lock().is_ok())
        {
            let _ = fs_err::remove_file(entry.path());
        }
    }
}
