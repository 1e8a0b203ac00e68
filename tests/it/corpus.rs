//! A corpus of real transcripts: all of it is taken, comes back byte for byte, and is compressed within its budgets.
//!
//! `RECOLLECT_CORPUS` names its folder; `scripts/test` turns these tests on when it is set.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::environment::TestEnvironment;

/// One ratio in two memories; all others are tried in one (`compression_corpus`).
const RATIOS: [&str; 1] = ["10"];

/// The folder of the transcripts.
#[expect(clippy::disallowed_methods, reason = "who runs the tests says where the corpus lies")]
pub(crate) fn corpus() -> PathBuf {
    let folder = std::env::var_os("RECOLLECT_CORPUS").expect("RECOLLECT_CORPUS names the folder of the corpus");
    let transcripts = Path::new(&folder).join("transcripts");
    assert!(transcripts.is_dir(), "RECOLLECT_CORPUS is set, but there is no folder {}", transcripts.display());
    transcripts
}

/// All files below a folder, by their path in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).expect("a path below the folder").to_owned();
            (path, fs_err::read(entry.path()).expect("a readable file"))
        })
        .collect()
}

/// Copies the corpus into the test's place, so that its originals can be deleted.
fn copy(environment: &TestEnvironment) -> BTreeMap<PathBuf, Vec<u8>> {
    let originals = files(&corpus());
    assert!(originals.len() > 100, "a corpus of {} files is not the corpus", originals.len());
    for (path, bytes) in &originals {
        environment.file(&format!("corpus/{}", path.display()), bytes);
    }
    originals
}

fn array<'a>(document: &'a Value, field: &str) -> &'a Vec<Value> {
    document[field].as_array().unwrap_or_else(|| panic!("`{field}` is a list"))
}

fn text<'a>(document: &'a Value, field: &str) -> &'a str {
    document[field].as_str().unwrap_or_else(|| panic!("`{field}` is text in {document}"))
}

fn number(document: &Value, field: &str) -> u64 {
    document[field].as_u64().unwrap_or_else(|| panic!("`{field}` is a number in {document}"))
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn every_file_is_taken_and_comes_back_when_the_originals_are_gone() {
    let environment = TestEnvironment::new();
    let originals = copy(&environment);
    let report = environment.json(["ingest", "corpus"]);
    for file in array(&report, "files") {
        assert_ne!(file["status"], "failed", "no file fails for its content: {file}");
    }
    let again = environment.json(["ingest", "corpus"]);
    assert_eq!(number(&again["totals"], "bytes_read"), 0, "an unchanged file costs a look at it: {}", again["totals"]);
    for session in array(&again, "sessions") {
        assert_eq!(session["status"], "unchanged", "{session}");
    }
    fs_err::remove_dir_all(environment.work().join("corpus")).expect("the originals are deleted");

    let report = environment.json(["restore", "--all", "--tree", "tree"]);
    let tree = environment.work().join("tree");
    let restored = files(&tree);
    assert_eq!(array(&report, "files").len(), restored.len(), "what is reported is what is there");
    for (path, bytes) in &originals {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name in Unicode");
        let stem = name.trim_end_matches(".jsonl");
        // The same name where it has one of its own, `<id>~2` for another content under one id.
        let is_named_so = |place: &Path| {
            let place = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            place == name || (place.starts_with(stem) && place[stem.len()..].starts_with('~'))
        };
        let comes_back = restored.iter().any(|(place, copy)| {
            let is_there = copy.starts_with(bytes);
            is_there && (is_named_so(place) || name.len() < 36 || bytes.len() == copy.len())
        });
        assert!(comes_back, "{} ({} bytes) does not come back", path.display(), bytes.len());
    }
    for session in array(&environment.json(["sessions"]), "sessions") {
        let id = text(session, "session_id");
        let run = environment.recollect(["restore", id]);
        // Sub-agents whose parent is not in the corpus have no main file.
        if run.succeeded() {
            assert!(restored.values().any(|bytes| bytes == run.bytes()), "{id} comes back the same alone");
        } else {
            assert!(run.stderr().contains("only sub-agents"), "{run}");
        }
    }
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn every_session_can_be_shown() {
    let environment = TestEnvironment::new();
    let corpus = corpus();
    environment.recollect(["ingest", corpus.to_str().expect("a path in Unicode"), "-q"]).done();
    for session in array(&environment.json(["sessions"]), "sessions") {
        let id = text(session, "session_id");
        let shown = environment.json(["show", id]);
        assert_eq!(array(&shown, "messages").len() as u64, number(&shown, "total"), "all messages of {id}");
        let people = environment.recollect(["show", id]).done();
        assert!(!people.bytes().contains(&0x1b), "{id} shows no escape sequence");
    }
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn compressions_keep_their_budget_and_are_the_same_when_made_again() {
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(compress_all);
        (compress_all(), other.join().expect("the other memory"))
    });
    assert!(one.len() > 100, "{} compressions of the corpus", one.len());
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(bytes == &other[name], "{name} differs when it is made again in another memory");
    }
}

/// Compresses every session at every ratio; gives the files of all versions.
fn compress_all() -> BTreeMap<String, Vec<u8>> {
    let environment = TestEnvironment::new();
    let corpus = corpus();
    environment.recollect(["ingest", corpus.to_str().expect("a path in Unicode"), "-q"]).done();
    let mut made = BTreeMap::new();
    for session in array(&environment.json(["sessions"]), "sessions") {
        let id = text(session, "session_id");
        let tokens = number(session, "tokens");
        for ratio in RATIOS {
            let run = environment.recollect(["compress", id, "--ratio", ratio, "--json"]);
            let budget = tokens / ratio.parse::<u64>().expect("a number");
            if !run.succeeded() {
                assert!(
                    is_too_small(&environment, id, budget, &run.stderr()),
                    "{id} at {ratio}:1 ({tokens} tokens): {run}"
                );
                continue;
            }
            let version = run.json();
            let output = number(&version, "output_tokens");
            assert!(output <= budget, "{id} at {ratio}:1 has {output} tokens of {budget}");
            for path in array(&version, "paths") {
                let path = Path::new(path.as_str().expect("a path"));
                let ending = path.extension().and_then(|ending| ending.to_str()).expect("an ending");
                made.insert(format!("{id} {ratio} {ending}"), fs_err::read(path).expect("a file of the version"));
            }
        }
    }
    made
}

/// Whether it was right to refuse: there is nothing to say in so few tokens, or the pinned passages need more.
fn is_too_small(environment: &TestEnvironment, session: &str, budget: u64, error: &str) -> bool {
    let pinned = array(&environment.json(["keepit", "list", session]), "keepits").len();
    // The role and the time of one message take some tens of tokens.
    error.contains("hint:") && (budget < 60 || (pinned > 0 && error.contains("keepit")))
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn three_sessions_are_composed_within_sixteen_thousand_tokens() {
    let environment = TestEnvironment::new();
    let corpus = corpus();
    environment.recollect(["ingest", corpus.to_str().expect("a path in Unicode"), "-q"]).done();
    let largest = environment.json(["sessions", "--sort", "largest", "--limit", "3"]);
    let ids: Vec<_> = array(&largest, "sessions").iter().map(|session| text(session, "session_id")).collect();
    assert!(number(&largest["sessions"][2], "tokens") > 6000, "three sessions that do not fit as they are");
    let composed = environment.json([
        "compose",
        "three",
        "--budget",
        "16000",
        "--session",
        ids[0],
        "--session",
        ids[1],
        "--session",
        ids[2],
    ]);
    let total = number(&composed, "total_tokens");
    assert!((8000..=16_000).contains(&total), "{total} tokens: within the budget and using it");
    assert_eq!(array(&composed, "components").len(), 3);
    for component in array(&composed, "components") {
        assert!(number(component, "token_contribution") > 0, "each session has its part: {component}");
    }
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn the_database_of_all_is_made_anew_with_equal_content() {
    let environment = TestEnvironment::new();
    let folder = corpus();
    let folder = folder.parent().expect("the corpus").to_str().expect("a path in Unicode");
    environment.recollect(["ingest", folder]).done();
    environment.recollect(["checkpoints", "add", "before"]).done();
    let listed = || ["sessions", "projects"].map(|name| environment.json([name]));
    let before = listed();
    for ending in ["", "-wal", "-shm"] {
        let _ = fs_err::remove_file(environment.memory().join(format!("memory.db{ending}")));
    }
    assert!(listed() == before, "sessions and projects are listed as before");
    let difference = environment.json(["checkpoints", "diff", "before"]);
    for change in ["added", "changed", "removed"] {
        assert!(array(&difference, change).is_empty(), "{change}: {difference}");
    }
    environment.recollect(["doctor"]).done();
}

/// What storage and dedup count.
fn counted(environment: &TestEnvironment) -> [u64; 4] {
    let stats = environment.json(["stats"]);
    ["sessions", "messages", "unique_messages", "original_bytes"].map(|field| number(&stats, field))
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn what_is_known_already_stores_nothing_new_whatever_file_it_comes_in() {
    let environment = TestEnvironment::new();
    let originals = copy(&environment);
    environment.json(["ingest", "corpus"]);
    let before = counted(&environment);
    let again = environment.json(["ingest", "corpus"]);
    assert_eq!(number(&again["totals"], "bytes_stored"), 0, "{}", again["totals"]);
    assert_eq!(counted(&environment), before, "the same files again are the same");

    // What lies beside transcripts and holds no records is known by its place alone.
    let is_record = |line: &[u8]| {
        serde_json::from_slice::<Value>(line)
            .is_ok_and(|record| record["sessionId"].is_string() || record["type"] == "summary")
    };
    let transcripts = || originals.iter().filter(|(_, bytes)| bytes.split(|byte| *byte == b'\n').any(is_record));
    for (number, (_, bytes)) in transcripts().enumerate() {
        environment.file(&format!("copies/copy {number}.jsonl"), bytes);
    }
    let copies = environment.json(["ingest", "copies"]);
    assert_eq!(number(&copies["totals"], "new_unique"), 0, "{}", copies["totals"]);
    assert_eq!(counted(&environment), before, "copies under other names are further places of the same");

    let mut forks = 0;
    for (path, bytes) in transcripts() {
        let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let (Ok(text), true) = (std::str::from_utf8(bytes), id.len() == 36) else { continue };
        let own = format!("{forks:08x}-0000-4000-8000-000000000000");
        let fork = text.replace(&format!(r#""sessionId":"{id}""#), &format!(r#""sessionId":"{own}""#));
        if fork != text {
            environment.file(&format!("forks/{own}.jsonl"), fork.as_bytes());
            forks += 1;
        }
    }
    assert!(forks > 20, "the corpus holds more sessions than {forks}");
    let taken = environment.json(["ingest", "forks"]);
    assert_eq!(number(&taken["totals"], "new_unique"), 0, "{}", taken["totals"]);
    let [sessions, messages, unique, _] = counted(&environment);
    assert_eq!(unique, before[2], "a fork says nothing new");
    assert!(sessions > before[0] && messages > before[1], "and is a conversation of its own");
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn files_that_have_grown_are_what_they_would_be_at_once() {
    let (at_once, grown) = (TestEnvironment::new(), TestEnvironment::new());
    let originals = copy(&at_once);
    at_once.json(["ingest", "corpus"]);
    for half in [true, false] {
        for (path, bytes) in &originals {
            let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let kept = if half { lines.len() / 2 } else { lines.len() };
            grown.file(&format!("corpus/{}", path.display()), &lines[..kept].concat());
        }
        grown.json(["ingest", "corpus"]);
    }
    assert_eq!(counted(&grown), counted(&at_once));
    assert!(grown.json(["doctor"])["ok"].as_bool().unwrap_or(false), "and the memory is sound");
}
