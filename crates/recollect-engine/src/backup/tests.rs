//! Backups of a real memory in a temporary folder.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::api::ingest::IngestRequest;
use crate::engine::{Cancel, EngineOptions, Work};
use crate::ids::SessionId;
use crate::registry;
use crate::testing::Transcript;

struct Memory {
    folder: tempfile::TempDir,
    engine: Engine,
    clock: Arc<AtomicI64>,
    transcript: Transcript,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let clock = Arc::new(AtomicI64::new(1_768_900_000_000));
        let engine = open(&folder.path().join("memory"), &clock);
        let transcript = Transcript::new("one").work("one", 20);
        let memory = Self { folder, engine, clock, transcript };
        memory.ingest(&memory.transcript);
        memory
    }

    fn ingest(&self, transcript: &Transcript) {
        transcript.write(&self.folder.path().join("claude")).expect("a written transcript");
        let paths = vec![self.folder.path().join("claude").display().to_string()];
        self.call(|call| registry::ingest(call, &IngestRequest { paths, ..IngestRequest::default() }))
            .expect("ingested");
    }

    fn call<T>(&self, work: impl FnOnce(&Call<'_>) -> T) -> T {
        work(&Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() })
    }

    fn backup(&self) -> PathBuf {
        let folder = self.folder.path().join("backups");
        PathBuf::from(self.call(|call| create(call, Some(&folder))).expect("a backup").backup.path)
    }

    fn restored(&self, backup: &Path, to: &str) -> Result<PathBuf> {
        let home = self.folder.path().join(to);
        restore(&Work { progress: &|_| {}, cancel: &Cancel::default() }, backup, &home).map(|_| home)
    }

    fn due(&self) -> Option<BackupCreated> {
        self.call(if_due).expect("looked")
    }

    /// A day later, with something new.
    fn next_day(&self, name: &str) {
        self.later(DAY);
        self.ingest(&Transcript::new(name).work(name, 2));
    }

    fn dailies(&self) -> Vec<Daily> {
        let memory = Last::load(&self.engine).expect("the record").memory;
        let mut dailies = folder::dailies(&configured(&self.engine).expect("a folder"), &memory);
        dailies.sort_by_key(|daily| daily.at);
        dailies
    }

    fn later(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::Relaxed);
    }
}

fn open(home: &Path, clock: &Arc<AtomicI64>) -> Engine {
    let clock = Arc::clone(clock);
    Engine::open(EngineOptions {
        home: home.to_owned(),
        claude_home: home.with_file_name("claude"),
        clock: Arc::new(move || Time::from_millis(clock.load(Ordering::Relaxed))),
        sink: Arc::new(|_| {}),
        export_folders: Vec::new(),
        models: Arc::new(crate::language_model::NoModels),
    })
    .expect("the memory opens")
}

#[test]
fn a_restored_backup_is_the_memory_of_its_moment() {
    let memory = Memory::new();
    let backup = memory.backup();
    memory.ingest(&Transcript::new("two").work("two", 5));
    let home = memory.restored(&backup, "again").expect("restored");
    let again = open(&home, &memory.clock);
    let call = Call { engine: &again, progress: &|_| {}, cancel: &Cancel::default() };
    let health = crate::health::check(&call).expect("checked");
    assert!(health.ok, "{health:?}");
    assert_eq!(again.db().read(|rows| rows.session_count()).expect("counted"), 1, "as it was then");
    let mut bytes = Vec::new();
    let session = SessionId::new(memory.transcript.session_id());
    registry::restore_to(&again, &session, &mut bytes).expect("restored");
    assert!(bytes == memory.transcript.bytes(), "byte for byte");
}

#[test]
fn a_folder_that_is_not_empty_is_left_alone() {
    let memory = Memory::new();
    let backup = memory.backup();
    fs_err::create_dir(memory.folder.path().join("empty")).expect("a folder");
    memory.restored(&backup, "empty").expect("an empty folder will do");
    for to in ["memory", "empty"] {
        let error = memory.restored(&backup, to).expect_err("it is not empty");
        assert_eq!(error.kind, ErrorKind::Conflict, "{}", error.message);
    }
}

#[test]
fn a_backup_that_is_cut_or_changed_anywhere_restores_nothing() {
    let memory = Memory::new();
    let bytes = fs_err::read(memory.backup()).expect("the backup");
    let damaged = memory.folder.path().join("damaged.tar.zst");
    let mut tried = 0;
    for part in 0..40 {
        let at = bytes.len() * part / 40;
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        for damage in [bytes[..at].to_vec(), flipped] {
            fs_err::write(&damaged, damage).expect("written");
            memory.restored(&damaged, "again").expect_err("damage is found");
            tried += 1;
            let left: Vec<_> = fs_err::read_dir(memory.folder.path())
                .expect("listed")
                .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
                .filter(|name| name == "again" || name.starts_with('.'))
                .collect();
            assert!(left.is_empty(), "nothing half is left: {left:?}");
        }
    }
    assert_eq!(tried, 80);
}

#[test]
fn a_backup_of_a_newer_program_is_refused() {
    let memory = Memory::new();
    let path = memory.folder.path().join("newer.tar.zst");
    let header = Header::new(memory.engine.now(), Db::newest_format() + 1, 0, String::new());
    let out = fs_err::File::create(&path).expect("a file");
    Writer::new(out, &header).and_then(Writer::finish).expect("written");
    let error = memory.restored(&path, "again").expect_err("it is newer");
    assert_eq!(error.kind, ErrorKind::NewerMemory, "{}", error.message);
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let memory = Memory::new();
    let path = memory.folder.path().join("tricky.tar.zst");
    for (name, kind) in [
        ("../outside", tar::EntryType::Regular),
        ("/tmp/outside", tar::EntryType::Regular),
        ("a/../../outside", tar::EntryType::Regular),
        ("link", tar::EntryType::Symlink),
        ("folder", tar::EntryType::Directory),
    ] {
        let out = zstd::Encoder::new(fs_err::File::create(&path).expect("a file"), 1).expect("an encoder");
        let mut tar = tar::Builder::new(out);
        let header = Header::new(memory.engine.now(), 1, 0, String::new());
        let header = serde_json::to_vec(&header).expect("a header");
        let mut entry = tar::Header::new_gnu();
        entry.set_size(header.len() as u64);
        tar.append_data(&mut entry, "recollect-backup.json", header.as_slice()).expect("a member");
        let mut entry = tar::Header::new_gnu();
        entry.set_entry_type(kind);
        entry.set_size(0);
        // Written as it is: the library would refuse to.
        entry.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        entry.set_cksum();
        tar.append(&entry, std::io::empty()).expect("a member");
        tar.into_inner().and_then(zstd::Encoder::finish).expect("written");
        let error = memory.restored(&path, "again").expect_err(name);
        assert!(error.message.contains("in it"), "{name}: {}", error.message);
        assert!(!memory.folder.path().join("outside").exists() && !memory.folder.path().join("again").exists());
    }
}

#[test]
fn the_backup_of_the_day_is_made_once_a_day_when_something_changed_and_the_oldest_go() {
    let memory = Memory::new();
    let due = || memory.due();
    let count = || memory.dailies().len();
    assert!(due().is_some_and(|made| made.backup.automatic), "the first");
    assert!(due().is_none(), "once a day");
    memory.later(DAY);
    assert!(due().is_none(), "nothing changed");
    for number in 0..5 {
        memory.ingest(&Transcript::new(&format!("day {number}")).work("more", 2));
        memory.later(DAY);
        assert!(due().is_some(), "day {number}");
    }
    assert_eq!(count(), 3, "as many as the settings say");
    let last = status(&memory.engine).expect("a status").last.expect("a backup");
    assert_eq!(last.at, memory.engine.now(), "the newest is shown");
    memory.restored(Path::new(&last.path), "again").expect("it can be restored");
}

#[test]
fn a_backup_of_the_day_that_fails_is_told_and_tried_again() {
    let memory = Memory::new();
    let home = memory.engine.home().clone();
    // A file is where the folder should be.
    fs_err::write(home.backups(), "in the way").expect("written");
    assert!(memory.call(if_due).expect("looked").is_none());
    let health = memory.call(crate::health::check).expect("checked");
    let finding = health.checks.iter().find(|check| check.name == "backup").expect("the check");
    assert!(!finding.ok && finding.remedy.is_some(), "{finding:?}");
    fs_err::remove_file(home.backups()).expect("removed");
    assert!(memory.call(if_due).expect("looked").is_none(), "not again at once");
    memory.later(AGAIN);
    assert!(memory.call(if_due).expect("looked").is_some());
    assert!(memory.call(crate::health::check).expect("checked").ok);
}

#[test]
fn a_cancelled_backup_leaves_nothing() {
    let memory = Memory::new();
    let folder = memory.folder.path().join("backups");
    for stage in ["taking the moment", WRITES, READS] {
        let cancel = Cancel::default();
        let stop = |progress: Progress| {
            if progress.stage == stage {
                cancel.cancel();
            }
        };
        let call = Call { engine: &memory.engine, progress: &stop, cancel: &cancel };
        let error = create(&call, Some(&folder)).expect_err("it was cancelled");
        assert_eq!(error.kind, ErrorKind::Cancelled, "{stage}: {}", error.message);
        let left = fs_err::read_dir(&folder).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{stage}: nothing is left");
        let staged = fs_err::read_dir(memory.engine.home().cache()).expect("the cache");
        let staged = staged.filter(|entry| {
            entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("backup-"))
        });
        assert_eq!(staged.count(), 0, "{stage}: neither links");
    }
}

#[test]
fn the_file_can_be_read_by_tar_and_zstd_alone() {
    let memory = Memory::new();
    let file = fs_err::File::open(memory.backup()).expect("the backup");
    let mut tar = tar::Archive::new(zstd::Decoder::new(file).expect("zstd"));
    let mut names = Vec::new();
    for entry in tar.entries().expect("tar") {
        let mut entry = entry.expect("a member");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("read");
        names.push(entry.path().expect("a path").display().to_string());
    }
    assert_eq!(names.first().map(String::as_str), Some("recollect-backup.json"));
    assert_eq!(names.last().map(String::as_str), Some("recollect-backup.checksums.json"));
    assert!(names.iter().any(|name| name == "memory.db") && names.iter().any(|name| name.ends_with(".pack")));
    assert!(!names.iter().any(|name| name.contains("cache/") || name.ends_with(".lock")), "{names:?}");
}

#[test]
fn what_is_whole_stays_while_something_is_missing_and_the_failure_is_told() {
    let memory = Memory::new();
    assert!(memory.due().is_some(), "the first");
    for day in ["two", "three"] {
        memory.next_day(day);
        assert!(memory.due().is_some_and(|made| made.missing.is_empty()), "{day}");
    }
    let whole: Vec<PathBuf> = memory.dailies().into_iter().map(|daily| daily.path).collect();
    assert_eq!(whole.len(), 3, "as many as are kept");
    let pack = walkdir::WalkDir::new(memory.engine.home().archive())
        .into_iter()
        .map(|entry| entry.expect("listed").into_path())
        .find(|path| path.extension().is_some_and(|ending| ending == "pack"))
        .expect("a pack");
    let bytes = fs_err::read(&pack).expect("the pack");
    fs_err::remove_file(&pack).expect("removed");
    for day in ["four", "five", "six", "seven"] {
        memory.next_day(day);
        assert!(memory.due().is_some_and(|made| !made.missing.is_empty()), "{day}: made, without the pack");
        assert!(whole.iter().all(|path| path.is_file()), "{day}: those that have it stay");
        let failure = status(&memory.engine).expect("a status").failure.expect("it is told");
        assert!(failure.message.contains("not whole") && failure.message.contains("missing"), "{failure:?}");
    }
    assert_eq!(memory.dailies().iter().filter(|daily| !daily.is_whole).count(), 3, "nor do the others fill the disk");
    fs_err::write(&pack, bytes).expect("it is back");
    memory.next_day("eight");
    assert!(memory.due().is_some_and(|made| made.missing.is_empty()), "whole again");
    assert_eq!(status(&memory.engine).expect("a status").failure, None);
    assert_eq!(memory.dailies().iter().filter(|daily| daily.is_whole).count(), 3, "the oldest went");
}

#[test]
fn memories_that_share_a_folder_count_and_delete_only_their_own() {
    let (one, other) = (Memory::new(), Memory::new());
    let shared = tempfile::tempdir().expect("a temporary folder");
    let value = serde_json::json!({"key": "backup.folder", "value": shared.path().display().to_string()});
    for memory in [&one, &other] {
        memory.call(|call| crate::api::dispatch(call, "config_set", value.clone())).expect("set");
    }
    assert!(one.due().is_some(), "the first of one");
    assert!(other.due().is_some(), "the first of the other, at the same moment");
    for day in ["two", "three", "four", "five"] {
        one.next_day(day);
        assert!(one.due().is_some(), "{day}");
    }
    assert_eq!((one.dailies().len(), other.dailies().len()), (3, 1), "each keeps its own");
    let last = status(&other.engine).expect("a status").last.expect("a backup");
    assert_eq!(last.at, other.engine.now(), "and shows its own");
}

#[test]
fn a_restored_memory_does_not_take_backups_of_the_first_for_its_own() {
    let memory = Memory::new();
    let made = memory.due().expect("a backup");
    let home = memory.restored(Path::new(&made.backup.path), "again").expect("restored");
    let again = open(&home, &memory.clock);
    let last = Last::load(&again).expect("the record");
    assert_eq!(last, Last::default(), "it has no name yet");
    assert!(folder::dailies(&configured(&memory.engine).expect("a folder"), &last.memory).is_empty());
}

#[test]
fn when_nothing_changed_the_database_is_not_copied() {
    let memory = Memory::new();
    memory.due().expect("the first");
    memory.later(DAY);
    let copied = AtomicBool::new(false);
    let hear = |progress: Progress| {
        if progress.stage.contains("copying") {
            copied.store(true, Ordering::Relaxed);
        }
    };
    let look = || {
        let call = Call { engine: &memory.engine, progress: &hear, cancel: &Cancel::default() };
        (if_due(&call).expect("looked").is_some(), copied.swap(false, Ordering::Relaxed))
    };
    assert_eq!(look(), (false, false), "nothing changed");
    memory.next_day("two");
    assert!(look().0, "something did");
}

#[test]
fn a_name_from_a_time_to_come_neither_counts_nor_stays() {
    let memory = Memory::new();
    // A clock that is years ahead, and is set right.
    memory.later(4000 * DAY);
    let ahead = memory.due().expect("made");
    memory.later(-4000 * DAY);
    for day in ["two", "three", "four", "five"] {
        memory.next_day(day);
        assert!(memory.due().is_some(), "{day}: it is due");
        assert!(memory.due().is_none(), "{day}: once");
        let last = status(&memory.engine).expect("a status").last.expect("a backup");
        assert_eq!(last.at, memory.engine.now(), "{day}: the newest is the one of today");
    }
    let left = memory.dailies();
    assert_eq!(left.len(), 3, "as many as are kept");
    assert!(left.iter().all(|daily| daily.at <= memory.engine.now()), "{left:?}");
    assert!(!Path::new(&ahead.backup.path).exists(), "it went first");
}

#[test]
fn a_backup_with_a_damaged_database_is_restored_from_the_rest() {
    let memory = Memory::new();
    let damaged = memory.folder.path().join("damaged.tar.zst");
    let source = fs_err::File::open(memory.backup()).expect("the backup");
    let mut members = Vec::new();
    let (header, _) = file::read(source, Db::newest_format(), |path, member| {
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes)?;
        members.push((path.to_owned(), bytes));
        Ok(())
    })
    .expect("read");
    let rewrite = |keep: &dyn Fn(&str) -> bool| {
        let out = fs_err::File::create(&damaged).expect("a file");
        let mut writer = Writer::new(out, &header).expect("begun");
        for (path, bytes) in members.iter().filter(|(path, _)| keep(path)) {
            // From the middle on it is something else.
            let mut bytes = bytes.clone();
            if path == "memory.db" {
                let half = bytes.len() / 2;
                bytes[half..].fill(0x55);
            }
            writer.add(path, bytes.len() as u64, &mut bytes.as_slice(), None).expect("added");
        }
        writer.finish().expect("written");
    };
    for (without, case) in [("nothing", "again"), ("memory.db", "anew")] {
        rewrite(&|path| path != without);
        let home = memory.folder.path().join(case);
        let work = Work { progress: &|_| {}, cancel: &Cancel::default() };
        let restored = restore(&work, &damaged, &home).expect("restored");
        let rebuilt = restored.rebuilt.expect("it says so");
        assert_eq!((rebuilt.sessions, rebuilt.issues), (1, Vec::new()), "{case}");
        let aside = rebuilt.set_aside.map(PathBuf::from);
        assert!(aside.iter().all(|path| path.starts_with(&home) && path.is_file()), "{aside:?}");
        assert_eq!(aside.is_some(), case == "again", "what there was is kept");
        let again = open(&home, &memory.clock);
        let mut bytes = Vec::new();
        let session = SessionId::new(memory.transcript.session_id());
        registry::restore_to(&again, &session, &mut bytes).expect("restored");
        assert!(bytes == memory.transcript.bytes(), "byte for byte");
        let call = Call { engine: &again, progress: &|_| {}, cancel: &Cancel::default() };
        let health = crate::health::check(&call).expect("checked");
        assert!(health.ok, "{health:?}");
    }
    rewrite(&|path| !path.ends_with("manifest.json"));
    let error = memory.restored(&damaged, "nowhere").expect_err("there is nothing to make it of");
    assert!(error.message.contains("manifest"), "{}", error.message);
    assert!(!memory.folder.path().join("nowhere").exists(), "nothing was written");
}

#[test]
fn a_damaged_copy_of_the_database_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("memory.db");
    drop(Db::open(&path).expect("made"));
    assert_eq!(Db::damage_at(&path), None);
    let mut bytes = fs_err::read(&path).expect("read");
    let half = bytes.len() / 2;
    bytes[half..].fill(0x55);
    fs_err::write(&path, bytes).expect("written");
    assert!(Db::damage_at(&path).is_some());
    assert!(Db::damage_at(&folder.path().join("none")).is_some());
}
