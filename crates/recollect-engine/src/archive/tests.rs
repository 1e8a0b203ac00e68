//! The archive on a real folder and database.

use std::path::Path;

use proptest::prelude::*;

use super::pack::{EXTENSION, read_index};
use super::*;
use crate::db::{FileRow, Part, ProjectRow, Rows, SessionRow};
use crate::engine::Cancel;
use crate::ids::{ProjectId, SessionId};
use crate::time::Time;

struct Store {
    folder: tempfile::TempDir,
    archive: Archive,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs_err::create_dir(folder.path().join("archive")).expect("a folder");
        let store = Self { archive: open(folder.path()), folder };
        store.write(|rows| {
            rows.put_project(&ProjectRow {
                project_id: ProjectId::new("p"),
                display_name: "p".to_owned(),
                original_path: "/home/dev/p".to_owned(),
                created_at: at(0),
                last_accessed: at(0),
            })
        });
        store
    }

    fn write<T>(&self, work: impl FnOnce(&Rows<'_>) -> Result<T>) -> T {
        self.archive.db.write(work).expect("the database can be written to")
    }

    /// Keeps a file of a session of its own; returns its id and the bytes that the archive grew by.
    fn keep(&self, name: &str, content: &[u8]) -> (i64, u64) {
        let batch = self.archive.batch();
        let mut archiver = Archiver::new(&batch, name, None);
        for part in content.chunks(700_000) {
            archiver.feed(part).expect("taken in");
        }
        let chunks = archiver.finish("/home/dev/p").expect("taken in");
        let grown = batch.finish().expect("written");
        let session = SessionId::new(name);
        let file_id = self.write(|rows| {
            rows.put_session(&session_row(&session))?;
            let file_id = rows.put_file(&file_row(&session))?;
            rows.put_file_chunks(file_id, 0, &chunks)?;
            Ok(file_id)
        });
        (file_id, grown)
    }

    /// Brings a kept file to what it has grown to, reading no more than its last piece and what is new.
    fn grow(&self, name: &str, file_id: i64, content: &[u8]) -> u64 {
        let mut last = self.read(|rows| rows.last_chunks(file_id, 2));
        last.pop();
        let kept = last.pop();
        let start = kept.as_ref().map_or(0, Chunk::end);
        let batch = self.archive.batch();
        let mut archiver = Archiver::new(&batch, name, kept.as_ref());
        archiver.feed(&content[start as usize..]).expect("taken in");
        let chunks = archiver.finish("/home/dev/p").expect("taken in");
        let grown = batch.finish().expect("written");
        self.write(|rows| rows.put_file_chunks(file_id, start, &chunks));
        grown
    }

    fn read<T>(&self, work: impl FnOnce(&Rows<'_>) -> Result<T>) -> T {
        self.archive.db.read(work).expect("the database can be read")
    }

    fn chunks(&self, file_id: i64) -> Vec<Chunk> {
        self.read(|rows| rows.file_chunks(file_id))
    }

    fn restored(&self, file_id: i64) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.archive.copy(&self.chunks(file_id), &mut out)?;
        Ok(out)
    }

    /// As another program would open it: nothing held in memory.
    fn reopened(self) -> Self {
        Self { archive: open(self.folder.path()), folder: self.folder }
    }

    fn packs(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = walkdir::WalkDir::new(self.folder.path().join("archive"))
            .into_iter()
            .map(|entry| entry.expect("listed").into_path())
            .filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION))
            .filter(|path| !path.to_string_lossy().contains("damaged"))
            .collect();
        found.sort();
        found
    }

    fn check(&self) -> Check {
        self.archive.verify(&Cancel::default(), |_, _| {}).expect("checked")
    }
}

fn open(folder: &Path) -> Archive {
    Archive::new(folder.join("archive"), Db::open(&folder.join("memory.db")).expect("a database"))
}

fn at(seconds: i64) -> Time {
    Time::from_millis(1_768_900_000_000 + 1000 * seconds)
}

fn session_row(session: &SessionId) -> SessionRow {
    SessionRow {
        session_id: session.clone(),
        project_id: ProjectId::new("p"),
        format: "claude-code".to_owned(),
        title: String::new(),
        user_title: None,
        messages: 0,
        tokens: 0,
        first_timestamp: None,
        last_timestamp: None,
        git_branch: None,
        client_versions: Vec::new(),
        models: Vec::new(),
        registered_at: at(0),
        last_accessed: at(0),
        distance_by_hand: None,
        paired_with: None,
    }
}

fn file_row(session: &SessionId) -> FileRow {
    FileRow::new(session.clone(), Part::Main, format!("{session}.jsonl"))
}

/// Numbers that look like chance, always the same for one seed.
fn chance(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// Lines as a client writes them.
fn lines(seed: u64, count: usize) -> Vec<u8> {
    let mut next = chance(seed);
    let mut out = String::new();
    let mut parent = uuid::Uuid::nil();
    for line in 0..count {
        let uuid = uuid::Uuid::from_u128((u128::from(next()) << 96) | (u128::from(next()) << 32) | u128::from(next()));
        let time = jiff::Timestamp::from_millisecond(1_768_900_000_000 + 977 * line as i64).expect("a time");
        let words: Vec<String> = (0..next() % 60).map(|_| format!("word{}", next() % 500)).collect();
        out += &format!(
            r#"{{"parentUuid":"{parent}","uuid":"{uuid}","timestamp":"{}","type":"user","message":{{"content":"{}"}}}}"#,
            time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"),
            words.join(" ")
        );
        out.push('\n');
        parent = uuid;
    }
    out.into_bytes()
}

fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut next = chance(seed);
    (0..bytes).map(|_| next() as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn what_was_kept_comes_back(seed in any::<u64>(), count in 0..1500_usize, bytes in 0..500_000_usize, cut in 0.0..1.0f64) {
        let store = Store::new();
        let mut content = lines(seed, count);
        content.extend(noise(seed, bytes));
        let (file_id, _) = store.keep("a", &content);
        let store = store.reopened();
        prop_assert!(store.restored(file_id).expect("readable") == content, "restore gives the bytes back");
        let from = (content.len() as f64 * cut) as usize;
        let stretch = store.archive.range(&store.chunks(file_id), from as u64, 5000).expect("a range");
        prop_assert!(stretch == content[from..content.len().min(from + 5000)]);
    }

    #[test]
    fn a_copy_stores_nothing_and_a_grown_file_only_what_is_new(seed in any::<u64>(), count in 1..2500_usize, cut in 0.0..1.0f64) {
        let store = Store::new();
        let whole = lines(seed, count);
        let part = &whole[..(whole.len() as f64 * cut) as usize];
        let (file_id, _) = store.keep("a", part);
        let (copy, grown) = store.keep("b", part);
        prop_assert_eq!(grown, 0, "the same bytes again cost nothing");
        let longest = 256 << 10;
        let before = store.chunks(file_id);
        store.grow("a", file_id, &whole);
        let after = store.chunks(file_id);
        let old = before.len().saturating_sub(1);
        prop_assert!(before[..old].iter().zip(&after).all(|(left, right)| left.hash == right.hash), "what was whole stays");
        let new: u64 = after[old..].iter().map(|chunk| chunk.bytes).sum();
        prop_assert!(new <= (whole.len() - part.len()) as u64 + longest, "only the last piece is stored again");
        prop_assert!(store.archive.is_beginning(&store.chunks(copy), &after).expect("comparable"), "and it is seen to be the beginning");
        prop_assert!(part.len() == whole.len() || !store.archive.is_beginning(&after, &store.chunks(copy)).expect("comparable"));
        prop_assert!(store.restored(file_id).expect("readable") == whole);
        prop_assert!(store.restored(copy).expect("readable") == part);
        let (_, again) = store.keep("c", &whole);
        prop_assert_eq!(again, 0, "a grown file has the pieces of the whole");
    }
}

#[test]
fn a_session_that_grows_line_by_line_leaves_few_packs() {
    let store = Store::new();
    let whole = lines(7, 400);
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', &whole).map(|at| at + 1).collect();
    let (file_id, _) = store.keep("a", &whole[..ends[0]]);
    for (line, end) in ends[1..].iter().enumerate() {
        store.grow("a", file_id, &whole[..*end]);
        store.archive.tidy(false, at(10 * line as i64), &Cancel::default()).expect("tidied");
        assert!(store.packs().len() < 40, "after {line} lines there are {} packs", store.packs().len());
    }
    assert!(store.restored(file_id).expect("readable") == whole);
    let stored: u64 = store.read(|rows| rows.packs()).iter().map(|pack| pack.bytes).sum();
    let (_, at_once) = Store::new().keep("a", &whole);
    assert!(stored < 40 * at_once, "{stored} bytes for what takes {at_once} at once");
    store.archive.tidy(true, at(10_000), &Cancel::default()).expect("tidied");
    store.archive.tidy(true, at(20_000), &Cancel::default()).expect("tidied");
    let packs = store.read(|rows| rows.packs());
    assert_eq!(packs.len(), 1, "all of it in one: {packs:?}");
    assert!(packs[0].bytes < at_once * 11 / 10, "{} bytes, {at_once} at once", packs[0].bytes);
    let check = store.check();
    assert!(check.damages.is_empty() && check.unknown.is_empty(), "{check:?}");
    assert!(store.reopened().restored(file_id).expect("readable") == whole);
}

#[test]
fn packs_alone_say_which_files_their_pieces_made() {
    let store = Store::new();
    let whole = lines(9, 3000);
    let (file_id, _) = store.keep("/client/a.jsonl", &whole[..400_000]);
    store.grow("/client/a.jsonl", file_id, &whole[..600_000]);
    store.grow("/client/a.jsonl", file_id, &whole);
    store.keep("/client/b.jsonl", &lines(10, 50));
    store.archive.tidy(true, at(0), &Cancel::default()).expect("tidied");
    store.archive.tidy(true, at(100), &Cancel::default()).expect("old packs go");
    let [pack] = store.packs().try_into().expect("one pack");
    let index = read_index(&pack).expect("sound");
    let told: Vec<_> = index.files.iter().map(|file| (file.path.as_str(), file.project.as_str(), file.start)).collect();
    assert_eq!(told, [("/client/a.jsonl", "/home/dev/p", 0), ("/client/b.jsonl", "/home/dev/p", 0)]);
    let pieces: Vec<[u8; 32]> = index.files[0].pieces.iter().map(|(hash, _)| hash.0).collect();
    let known: Vec<[u8; 32]> = store.chunks(file_id).iter().map(|chunk| chunk.hash).collect();
    assert_eq!(pieces, known, "the file is told as the database knows it");
    assert!(
        known.iter().all(|hash| index.pieces.iter().any(|piece| piece.sha256.0 == *hash)),
        "and all of it is there"
    );
}

#[test]
fn who_was_told_of_a_place_before_packs_were_joined_still_reads() {
    let store = Store::new();
    let (first, second) = (lines(1, 200), lines(2, 200));
    let (one, _) = store.keep("a", &first);
    let (two, _) = store.keep("b", &second);
    let reader = open(store.folder.path());
    let (told_one, told_two) = (store.chunks(one), store.chunks(two));
    assert_eq!(store.archive.tidy(true, at(0), &Cancel::default()).expect("tidied"), Tidied { joined: 2, written: 1 });
    let mut out = Vec::new();
    reader.copy(&told_one, &mut out).expect("the old pack is still there");
    assert!(out == first);
    store.archive.tidy(true, at(3600), &Cancel::default()).expect("tidied");
    assert_eq!(store.packs().len(), 1, "the old packs are gone");
    out.clear();
    reader.copy(&told_two, &mut out).expect("found where it is now");
    assert!(out == second);
}

#[test]
fn purged_bytes_are_on_disk_no_more_and_others_stay() {
    let store = Store::new();
    let (shared, own) = (noise(1, 300_000), noise(2, 300_000));
    let batch_of = |name: &str, content: &[u8]| store.keep(name, content).0;
    let kept = batch_of("kept", &shared);
    let gone = batch_of("gone", &[shared.clone(), own].concat());
    store.archive.tidy(true, at(0), &Cancel::default()).expect("in one pack");
    let hashes: Vec<[u8; 32]> = store.chunks(gone).iter().map(|chunk| chunk.hash).collect();
    store.write(|rows| {
        rows.remove_session(&SessionId::new("gone"))?;
        rows.purge_chunks(&hashes)
    });
    let freed = store.archive.purge(&["gone".to_owned()], &hashes, at(1)).expect("purged");
    assert!(freed > 250_000, "{freed} bytes");
    assert!(store.restored(kept).expect("readable") == shared);
    let packs = store.packs();
    let left: u64 = packs.iter().map(|pack| fs_err::metadata(pack).expect("there").len()).sum();
    assert!(left < 310_000, "its own bytes are gone from disk: {left}");
    assert!(packs.iter().all(|pack| read_index(pack).expect("sound").files.iter().all(|file| file.path == "kept")));
}

fn flip(pack: &Path) {
    let mut bytes = fs_err::read(pack).expect("a pack");
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x10;
    fs_err::write(pack, bytes).expect("written");
}

fn cut(pack: &Path) {
    let bytes = fs_err::read(pack).expect("a pack");
    fs_err::write(pack, &bytes[..bytes.len() / 2]).expect("written");
}

fn spoil_index(pack: &Path) {
    let mut bytes = fs_err::read(pack).expect("a pack");
    let place = bytes.len() - 60;
    bytes[place] ^= 0xff;
    fs_err::write(pack, bytes).expect("written");
}

fn remove(pack: &Path) {
    fs_err::remove_file(pack).expect("removed");
}

#[test]
fn damage_is_found_others_stay_whole_and_the_original_mends_it() {
    for (name, damage) in [("a flipped bit", flip as fn(&Path)), ("a cut pack", cut), ("a missing pack", remove)] {
        let store = Store::new();
        let (first, second) = (noise(3, 400_000), noise(4, 400_000));
        let (one, _) = store.keep("one", &first);
        let pack = store.packs().pop().expect("a pack");
        let (two, _) = store.keep("two", &second);
        assert!(store.check().damages.is_empty(), "sound before");
        damage(&pack);
        let store = store.reopened();
        let error = store.restored(one).expect_err("wrong bytes never pass");
        assert!(error.hint.is_some(), "{name}: {error}");
        assert!(store.restored(two).expect("readable") == second, "{name}: the other is whole");
        let check = store.check();
        assert_eq!(check.damages.len(), 1, "{name}: {check:?}");
        assert!(!check.damages[0].lost.is_empty(), "{name}");
        let mended = store.archive.mend(&check, at(0)).expect("mended");
        assert_eq!((mended.set_aside, mended.lost > 0), (1, true), "{name}: {mended:?}");
        let check = store.check();
        assert!(check.damages.is_empty() && check.lost > 0, "{name}: {check:?}");
        // Its original is read again, at whatever place.
        let (_, grown) = store.keep("one again", &first);
        assert!(grown > 0, "{name}: what was lost is stored again");
        assert!(store.restored(one).expect("readable") == first, "{name}: and both files have it");
        assert_eq!(store.check().lost, 0, "{name}");
    }
}

#[test]
fn a_pack_whose_index_is_damaged_loses_nothing() {
    let store = Store::new();
    let content = lines(5, 2000);
    let (file_id, _) = store.keep("one", &content);
    spoil_index(&store.packs()[0]);
    let check = store.check();
    assert!(check.damages[0].lost.is_empty() && check.damages[0].message.contains("index"), "{check:?}");
    store.archive.mend(&check, at(0)).expect("mended");
    assert!(store.check().damages.is_empty());
    assert!(store.reopened().restored(file_id).expect("readable") == content);
}

#[test]
fn a_pack_that_the_database_does_not_know_is_taken_in() {
    let store = Store::new();
    let content = lines(6, 500);
    store.keep("one", &content);
    let folder = store.folder;
    for file in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = fs_err::remove_file(folder.path().join(file));
    }
    let store = Store { archive: open(folder.path()), folder };
    let check = store.check();
    assert_eq!(check.unknown.len(), 1, "{check:?}");
    assert_eq!(store.archive.mend(&check, at(0)).expect("mended").adopted, 1);
    let batch = store.archive.batch();
    let mut archiver = Archiver::new(&batch, "one", None);
    archiver.feed(&content).expect("taken in");
    let chunks = archiver.finish("").expect("taken in");
    batch.finish().expect("written");
    let mut out = Vec::new();
    store.archive.copy(&chunks, &mut out).expect("readable");
    assert!(out == content);
    assert_eq!(store.read(|rows| rows.packs()).iter().filter(|pack| pack.original_bytes > 0).count(), 1, "stored once");
}

#[test]
fn a_pack_whose_writer_was_ended_is_taken_in_at_the_next_start() {
    let store = Store::new();
    let content = lines(6, 500);
    let (file_id, _) = store.keep("one", &content);
    let known = store.chunks(file_id);
    // As if the program had been ended before it could say what is in the pack, and another before its file had a name.
    let pack = PackId::of_path(&store.packs()[0]).expect("a pack");
    store.write(|rows| {
        rows.remove_session(&SessionId::new("one"))?;
        rows.purge_chunks(&known.iter().map(|chunk| chunk.hash).collect::<Vec<_>>())?;
        rows.drop_pack(pack)?;
        rows.announce_pack(pack)?;
        rows.announce_pack(PackId([7; 16]))
    });
    assert!(store.check().unknown.is_empty(), "it may be being written");
    store.archive.recover().expect("recovered");
    assert!(store.read(|rows| rows.announced_packs()).is_empty());
    let (again, grown) = store.keep("one", &content);
    assert!(grown < 1000, "its pieces are known: {grown} bytes for the file's name");
    assert!(store.reopened().restored(again).expect("readable") == content);
}

#[test]
fn many_writers_and_tidiers_at_once_lose_nothing() {
    let store = Store::new();
    let contents: Vec<Vec<u8>> = (0..6).map(|seed| lines(seed, 150)).collect();
    std::thread::scope(|scope| {
        for (writer, content) in contents.iter().enumerate() {
            let (contents, folder) = (&contents, store.folder.path());
            scope.spawn(move || {
                let archive = open(folder);
                for (name, content) in [(writer, content), (writer + 10, &contents[(writer + 1) % 6])] {
                    let batch = archive.batch();
                    let mut archiver = Archiver::new(&batch, &name.to_string(), None);
                    archiver.feed(content).expect("taken in");
                    let chunks = archiver.finish("").expect("taken in");
                    batch.finish().expect("written");
                    let session = SessionId::new(name.to_string());
                    archive
                        .db
                        .write(|rows| {
                            rows.put_session(&session_row(&session))?;
                            let file_id = rows.put_file(&file_row(&session))?;
                            rows.put_file_chunks(file_id, 0, &chunks)
                        })
                        .expect("made known");
                    archive.tidy(true, at(0), &Cancel::default()).expect("tidied");
                }
            });
        }
    });
    let check = store.check();
    assert!(check.damages.is_empty() && check.unknown.is_empty() && check.lost == 0, "{check:?}");
    for name in (0..6).chain(10..16) {
        let file = store.read(|rows| rows.main_file(&SessionId::new(name.to_string()))).expect("there");
        let content = &contents[if name < 10 { name } else { (name - 9) % 6 }];
        assert!(store.restored(file.file_id).expect("readable") == *content, "session {name}");
    }
}

#[cfg(unix)]
#[test]
fn packs_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let store = Store::new();
    store.keep("a", &lines(1, 10));
    let pack = &store.packs()[0];
    let mode = |path: &Path| fs_err::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(pack), mode(pack.parent().expect("a folder"))), (0o600, 0o700));
}
