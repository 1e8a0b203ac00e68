//! Files as they should not be: each is taken as far as it can be or named with what is wrong, and all else goes on.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use recollect_engine::testing::Transcript;
use serde_json::Value;

use crate::environment::{Run, TestEnvironment};

/// Ingests the working directory.
fn ingest_all(environment: &TestEnvironment) -> Run {
    environment.recollect(["ingest", ".", "--json"])
}

/// What became of the file of this name.
#[track_caller]
fn file<'a>(report: &'a Value, name: &str) -> &'a Value {
    let files = report["files"].as_array().expect("files");
    let is_it = |file: &&Value| file["path"].as_str().is_some_and(|path| path.ends_with(name));
    files.iter().find(is_it).unwrap_or_else(|| panic!("{name} is not in the report: {report}"))
}

/// A sound transcript beside the bad file: it must be taken whatever the other is.
fn sound(environment: &TestEnvironment) -> Transcript {
    let transcript = Transcript::new("sound").user("Is all well?").assistant("All is well.");
    transcript.write_into(&environment.work()).expect("a written transcript");
    transcript
}

/// The sound transcript was taken and the bytes of both are given back.
#[track_caller]
fn all_is_given_back(environment: &TestEnvironment, files: &[(&str, &[u8])]) {
    for (session, bytes) in files {
        let restored = environment.recollect(["restore", session]).done();
        assert!(restored.bytes() == *bytes, "{session} comes back as it was, {} bytes", bytes.len());
    }
}

#[test]
fn torn_lines_are_named_and_kept_and_the_rest_is_read() {
    let environment = TestEnvironment::new();
    let torn = Transcript::new("torn").user("one").torn().assistant("two").line("{not json").user("three").unfinished();
    torn.write_into(&environment.work()).expect("a written transcript");
    let report = ingest_all(&environment).done().json();
    let found = file(&report, ".jsonl");
    let lines: Vec<_> =
        found["issues"].as_array().expect("issues").iter().map(|issue| issue["line"].as_u64()).collect();
    assert_eq!(lines, [Some(2), Some(4)], "the lines that were not understood: {found}");
    assert_eq!(report["sessions"][0]["messages"], 3, "the other lines are messages: {report}");
    all_is_given_back(&environment, &[(torn.session_id(), torn.bytes())]);
    let shown = environment.recollect(["-v", "ingest", "."]).done().stdout();
    assert!(shown.contains("unchanged"), "nothing is new: {shown}");
}

#[test]
fn a_last_line_that_is_still_written_is_read_when_it_is_whole() {
    let environment = TestEnvironment::new();
    let whole = Transcript::new("cut").user("one").assistant("two").assistant("three");
    let cut = whole.bytes().len() - 40;
    let path = environment.file(&format!("{}.jsonl", whole.session_id()), &whole.bytes()[..cut]);
    let report = ingest_all(&environment).done().json();
    assert_eq!(report["sessions"][0]["messages"], 2);
    assert_eq!(report["totals"]["issues"], 1, "the unfinished line is said to be unfinished: {report}");
    fs_err::write(&path, whole.bytes()).expect("a finished file");
    let report = ingest_all(&environment).done().json();
    assert_eq!(report["sessions"][0]["messages"], 3, "the line is read once it is whole");
    assert_eq!(report["sessions"][0]["status"], "updated");
    all_is_given_back(&environment, &[(whole.session_id(), whole.bytes())]);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_taken() {
    let environment = TestEnvironment::new();
    let data = "QUJD".repeat(25_000_000);
    let source = serde_json::json!({"type": "base64", "media_type": "image/png", "data": data});
    let content = serde_json::json!([{"type": "text", "text": "See this."}, {"type": "image", "source": source}]);
    let record = serde_json::json!({
        "type": "user", "uuid": "large", "parentUuid": null, "timestamp": "2026-01-20T12:00:00.000Z",
        "sessionId": "large", "cwd": "/home/dev/demo", "message": {"role": "user", "content": content}
    });
    let large = Transcript::new("large").user("before").line(&record.to_string()).assistant("after");
    large.write_into(&environment.work()).expect("a written transcript");
    let report = ingest_all(&environment).done().json();
    assert_eq!(report["sessions"][0]["messages"], 3, "{}", report["totals"]);
    assert_eq!(report["totals"]["issues"], 0);
    all_is_given_back(&environment, &[(large.session_id(), large.bytes())]);
    let listed = environment.json(["sessions"]);
    assert!(
        listed["sessions"][0]["tokens"].as_u64().is_some_and(|tokens| tokens < 10_000),
        "a picture is not its base64"
    );
}

#[test]
fn binary_junk_harms_nothing() {
    let environment = TestEnvironment::new();
    let sound = sound(&environment);
    let mut state: u32 = 1;
    let junk: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(300_000)
    .collect();
    environment.file("11111111-1111-4111-8111-111111111111.jsonl", &junk);
    let run = ingest_all(&environment);
    let report = run.clone().exits(1).json();
    let found = file(&report, "11111111-1111-4111-8111-111111111111.jsonl");
    assert_eq!(found["status"], "failed", "a file without one record is no transcript: {}", found["status"]);
    assert!(run.stderr().contains("no line of it could be read"), "and it is said why: {run}");
    assert_eq!(environment.json(["sessions"])["total"], 1, "nothing is made of junk");
    all_is_given_back(&environment, &[(sound.session_id(), sound.bytes())]);
}

#[test]
fn bytes_that_are_no_unicode_are_kept_and_shown_as_such() {
    let environment = TestEnvironment::new();
    let start = Transcript::new("latin").user("before");
    let record = br#"{"type":"user","uuid":"u1","timestamp":"2026-01-20T12:00:00.000Z","cwd":"/home/dev/demo","message":{"role":"user","content":"caf"#;
    let latin = start.raw(record).raw(b"\xe9 \xff").raw(br#""}}"#).raw(b"\n").assistant("after");
    latin.write_into(&environment.work()).expect("a written transcript");
    let report = ingest_all(&environment).done().json();
    assert!(report["sessions"][0]["messages"].as_u64().is_some_and(|messages| messages >= 2), "{report}");
    assert_eq!(report["totals"]["failed"], 0);
    all_is_given_back(&environment, &[(latin.session_id(), latin.bytes())]);
    let shown = environment.recollect(["show", latin.session_id()]).done();
    assert!(std::str::from_utf8(shown.bytes()).is_ok(), "what is shown is Unicode whatever stands in the file");
}

#[test]
fn an_empty_file_is_named_as_empty() {
    let environment = TestEnvironment::new();
    let sound = sound(&environment);
    environment.file("22222222-2222-4222-8222-222222222222.jsonl", b"");
    let report = ingest_all(&environment).done().json();
    let found = file(&report, "22222222-2222-4222-8222-222222222222.jsonl");
    assert_eq!(found["status"], "skipped", "{found}");
    assert!(found["note"].as_str().is_some_and(|note| note.contains("empty")), "{found}");
    all_is_given_back(&environment, &[(sound.session_id(), sound.bytes())]);
}

#[test]
fn a_folder_without_transcripts_is_an_error_that_says_so() {
    let environment = TestEnvironment::new();
    environment.file("notes/readme.md", b"# Notes");
    let run = environment.recollect(["ingest", "notes"]).exits(1);
    assert!(run.stderr().contains("holds no conversations"), "{run}");
    let run = environment.recollect(["ingest", "nowhere"]).exits(1);
    assert!(run.stderr().contains("nowhere") && run.stderr().contains("no such file"), "{run}");
    let run = environment.recollect(["ingest", "--all"]).exits(1);
    assert!(run.stderr().contains("hint:"), "without a Claude home it is said how to name one: {run}");
}

#[test]
fn a_file_that_may_not_be_read_is_named_and_the_others_are_taken() {
    let environment = TestEnvironment::new();
    let sound = sound(&environment);
    let secret = Transcript::new("secret").user("hidden");
    let path = secret.write_into(&environment.work()).expect("a written transcript");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("a mode");
    let run = as_nobody_special(&environment, &["ingest", ".", "--json"]);
    let report = run.clone().exits(1).json();
    let found = file(&report, &format!("{}.jsonl", secret.session_id()));
    assert_eq!((&found["status"], &report["totals"]["failed"]), (&"failed".into(), &1.into()), "{report}");
    assert!(run.stderr().contains("permission denied"), "{run}");
    let taken = report["sessions"]
        .as_array()
        .expect("sessions")
        .iter()
        .any(|session| session["session_id"] == sound.session_id() && session["status"] == "new");
    assert!(taken, "the other file is taken: {report}");
}

/// Runs the binary as a user whom permissions bind: the one of the test, or `nobody` when that one is root.
fn as_nobody_special(environment: &TestEnvironment, arguments: &[&str]) -> Run {
    let is_root = fs_err::metadata(environment.root()).expect("a folder").uid() == 0;
    if !is_root {
        return environment.run(environment.binary().args(arguments));
    }
    let program = environment.root().join("recollect");
    fs_err::copy(env!("CARGO_BIN_EXE_recollect"), &program).expect("a copy of the binary");
    for entry in walkdir::WalkDir::new(environment.root()) {
        std::os::unix::fs::lchown(entry.expect("an entry").path(), Some(65534), Some(65534)).expect("another owner");
    }
    let mut command = environment.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(arguments);
    environment.run(&mut command)
}

#[test]
fn a_memory_that_may_not_be_written_to_is_an_error_that_names_it() {
    let environment = TestEnvironment::new();
    sound(&environment);
    environment.file("memory", b"a file where the folder should be");
    let run = environment.recollect(["--home", "memory", "ingest", "."]).exits(1);
    assert!(run.stderr().contains("memory"), "{run}");
    fs_err::create_dir(environment.work().join("closed")).expect("a folder");
    fs_err::set_permissions(environment.work().join("closed"), std::fs::Permissions::from_mode(0o500)).expect("a mode");
    let run = as_nobody_special(&environment, &["--home", "closed/memory", "ingest", "."]).exits(1);
    assert!(run.stderr().to_lowercase().contains("permission denied") && run.stderr().contains("hint:"), "{run}");
}

#[test]
fn links_that_go_round_are_passed_over() {
    let environment = TestEnvironment::new();
    let sound = sound(&environment);
    symlink(".", environment.work().join("round")).expect("a link");
    symlink("itself.jsonl", environment.work().join("itself.jsonl")).expect("a link");
    symlink("nothing", environment.work().join("gone.jsonl")).expect("a link");
    let report = environment.run(environment.binary().args(["ingest", ".", "--json"])).json();
    assert_eq!(report["totals"]["new"], 1, "one session, found once: {report}");
    all_is_given_back(&environment, &[(sound.session_id(), sound.bytes())]);
    let run = environment.recollect(["ingest", "itself.jsonl"]).exits(1);
    assert!(run.stderr().contains("itself.jsonl"), "{run}");
}

#[test]
fn two_contents_under_one_id_are_two_sessions_and_nothing_is_lost() {
    let environment = TestEnvironment::new();
    let id = "33333333-3333-4333-8333-333333333333";
    let one = Transcript::with_id(id).user("The same start.").assistant("One way.");
    let other = Transcript::with_id(id).user("The same start.").assistant("The other way.").user("And on.");
    let beginning = Transcript::with_id(id).user("The same start.");
    for (folder, transcript) in [("a", &one), ("b", &other), ("c", &beginning), ("d", &one)] {
        transcript.write_into(&environment.work().join(folder)).expect("a written transcript");
    }
    let report = ingest_all(&environment).done().json();
    assert_eq!(report["totals"]["new"], 2, "two contents, a copy and a beginning: {}", report["sessions"]);
    assert!(report["files"].as_array().expect("files").iter().all(|file| file["status"] != "failed"), "{report}");
    let restored: Vec<Vec<u8>> = [id, &format!("{id}~2")]
        .iter()
        .map(|session| environment.recollect(["restore", session]).done().bytes().to_vec())
        .collect();
    assert!(restored.iter().any(|bytes| bytes == one.bytes()) && restored.iter().any(|bytes| bytes == other.bytes()));
    let again = ingest_all(&environment).done().json();
    assert_eq!((&again["totals"]["unchanged"], &again["totals"]["new"]), (&2.into(), &0.into()), "{again}");
}

#[test]
fn a_file_that_grows_while_it_is_read_is_whole_in_the_end() {
    let environment = TestEnvironment::new();
    let whole = Transcript::new("growing").work("growth", 120);
    let path = environment.file(&format!("{}.jsonl", whole.session_id()), b"");
    let is_written = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            append_slowly(&path, whole.bytes());
            is_written.store(true, Ordering::Release);
        });
        while !is_written.load(Ordering::Acquire) {
            let run = ingest_all(&environment);
            let report = run.clone().done().json();
            assert_eq!(report["totals"]["failed"], 0, "a file that grows is no fault: {run}");
        }
    });
    ingest_all(&environment).done();
    all_is_given_back(&environment, &[(whole.session_id(), whole.bytes())]);
    let lines = whole.bytes().iter().filter(|byte| **byte == b'\n').count();
    let listed = environment.json(["sessions"]);
    assert_eq!(listed["sessions"][0]["messages"], lines, "each message once, however often it was read");
}

/// Writes in pieces that end anywhere, each on disk before the next.
fn append_slowly(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    let mut file = fs_err::OpenOptions::new().append(true).open(path).expect("the file");
    for piece in bytes.chunks(997) {
        file.write_all(piece).expect("a written piece");
        file.sync_data().expect("a piece on disk");
    }
}

#[test]
fn a_file_that_vanishes_while_it_is_read_is_named_or_taken() {
    let environment = TestEnvironment::new();
    let sound = sound(&environment);
    let flickering = Transcript::new("flickering").work("flicker", 5);
    let path = flickering.write_into(&environment.work()).expect("a written transcript");
    let away = environment.root().join("away");
    let is_enough = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_enough.load(Ordering::Acquire) {
                fs_err::rename(&path, &away).expect("moved away");
                fs_err::rename(&away, &path).expect("moved back");
            }
        });
        for _ in 0..20 {
            let run = ingest_all(&environment);
            let report = run.json();
            for file in report["files"].as_array().expect("files").iter().filter(|file| file["status"] == "failed") {
                assert!(file["path"].as_str().is_some_and(|path| path.contains(flickering.session_id())), "{run}");
                assert!(run.stderr().contains("vanished"), "it is said what happened: {run}");
            }
        }
        is_enough.store(true, Ordering::Release);
    });
    ingest_all(&environment).done();
    all_is_given_back(
        &environment,
        &[(sound.session_id(), sound.bytes()), (flickering.session_id(), flickering.bytes())],
    );
}
