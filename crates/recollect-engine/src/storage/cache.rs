//! Keeps the cache within `storage.maxCacheSize`: what was not used for the longest time goes first.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::backup::STAGED;
use crate::engine::Engine;
use crate::error::Result;

/// What was used so lately is in use.
const IN_USE: Duration = Duration::from_secs(3600);

/// Answers of models were paid for: so long after the last use they stay in any case.
const PAID: Duration = Duration::from_secs(30 * 24 * 3600);

/// A file that can go.
struct Cached {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    /// An answer of a model.
    is_paid: bool,
}

/// Deletes cached files, the longest unused first, until the cache is within its bounds; returns the bytes that were freed.
/// The search index counts, but is its owner's, as are links of a backup that is being made; what was used within the last hour stays.
/// Answers of models go last, only once they were not used for a month, and never because the index is large.
///
/// # Errors
/// When the configuration or the folder cannot be read.
pub fn trim_cache(engine: &Engine) -> Result<u64> {
    let most = engine.config()?.max_cache_bytes;
    let cache = engine.home().cache();
    let search = engine.home().search();
    let answers = engine.home().all_answers();
    let (mut sum, mut index) = (0, 0);
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(&cache).into_iter().filter_map(Result::ok) {
        let Ok(metadata) = entry.metadata() else { continue };
        if !metadata.is_file() {
            continue;
        }
        sum += metadata.len();
        if entry.path().starts_with(&search) {
            index += metadata.len();
            continue;
        }
        if is_passing(entry.path(), &cache) {
            continue;
        }
        let is_paid = entry.path().starts_with(&answers);
        // Not every file system notes when a file is read.
        let times = [metadata.modified().ok(), metadata.accessed().ok()];
        if let Some(used) = times.into_iter().flatten().max() {
            files.push(Cached { path: entry.into_path(), bytes: metadata.len(), used, is_paid });
        }
    }
    if sum <= most {
        return Ok(0);
    }
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(engine.now().millis()).unwrap_or(0));
    let rest = |file: &Cached| if file.is_paid { PAID } else { IN_USE };
    files.retain(|file| now.duration_since(file.used).is_ok_and(|age| age >= rest(file)));
    files.sort_by(|left, right| (left.is_paid, left.used, &left.path).cmp(&(right.is_paid, right.used, &right.path)));
    let mut freed = 0;
    for file in files {
        let counted = if file.is_paid { sum - index } else { sum };
        if counted.saturating_sub(freed) <= most {
            break;
        }
        // Another program may have been quicker, or hold it open where that forbids deleting.
        if fs_err::remove_file(&file.path).is_ok() {
            freed += file.bytes;
        }
    }
    Ok(freed)
}

/// Locks, and what another program is writing.
fn is_passing(path: &Path, cache: &Path) -> bool {
    let below = path.strip_prefix(cache).unwrap_or(path);
    let is_staged = below.iter().next().is_some_and(|part| part.to_string_lossy().starts_with(STAGED));
    is_staged
        || below.iter().any(|part| part.to_string_lossy().starts_with('.'))
        || below.extension().is_some_and(|end| end == "lock")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::config::{ConfigSetRequest, set};
    use crate::testing::Memory;

    #[test]
    fn what_was_unused_for_the_longest_time_goes_first_and_only_as_much_as_needed() {
        let memory = Memory::new();
        let now = memory.engine.now().millis();
        let put = |name: &str, hours: i64| {
            let path = memory.engine.home().cache().join(name);
            fs_err::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs_err::write(&path, vec![b'x'; 400_000]).expect("written");
            let used = SystemTime::UNIX_EPOCH + Duration::from_millis((now - hours * 3_600_000) as u64);
            let times = std::fs::FileTimes::new().set_modified(used).set_accessed(used);
            fs_err::OpenOptions::new().write(true).open(&path).expect("open").file().set_times(times).expect("times");
            path
        };
        let old = put("partial/old", 48);
        let older = put("partial/older", 72);
        let new = put("partial/new", 2);
        let used = put("partial/used", 0);
        let index = put("search/one/segment", 500);
        let lock = put("partial/.lock", 500);
        let link = put("backup-x1/0", 500);
        let paid = put("answers/one", 24 * 29);
        let forgotten = put("answers/two", 24 * 31);
        let forgotten_later = put("answers/three", 24 * 30);
        assert_eq!(trim_cache(&memory.engine).expect("trimmed"), 0, "a gigabyte is enough for all");
        let size = |size: &str| {
            let request = ConfigSetRequest { key: "storage.maxCacheSize".to_owned(), value: json!(size) };
            memory.call(|call| set(call, request)).expect("set");
        };
        size("3.7MB");
        assert_eq!(trim_cache(&memory.engine).expect("trimmed"), 400_000);
        assert!(!older.exists() && old.exists(), "the oldest alone");
        size("2.5MB");
        assert_eq!(
            trim_cache(&memory.engine).expect("trimmed"),
            800_000,
            "the index takes room from what costs nothing"
        );
        assert!(!old.exists() && !new.exists());
        assert!(forgotten.exists(), "but not from what was paid for");
        size("2.1MB");
        assert_eq!(trim_cache(&memory.engine).expect("trimmed"), 400_000);
        assert!(!forgotten.exists() && forgotten_later.exists(), "the longest unused first");
        size("1KB");
        assert_eq!(trim_cache(&memory.engine).expect("trimmed"), 400_000);
        assert!(!forgotten_later.exists() && paid.exists(), "what was paid for stays for a month");
        assert!(used.exists() && index.exists() && lock.exists() && link.exists(), "never what is in use");
    }
}
