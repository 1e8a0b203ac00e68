//! Database, manifests or index lost, each alone: what the commands answer is the same after.

use std::path::Path;

use recollect_engine::testing::Transcript;
use serde_json::Value;

use crate::environment::TestEnvironment;

/// A memory with marks, versions and a composition.
fn memory() -> (TestEnvironment, [Transcript; 2]) {
    let one = Transcript::new("one").work("one", 10).assistant("Done. ##keepit0.90## It expires after one hour.");
    let sessions = [one, Transcript::new("two").cwd("/home/dev/other").work("two", 10)];
    let environment = TestEnvironment::with(&sessions);
    let [one, two] = sessions.each_ref().map(Transcript::session_id);
    let marker = environment.json(["keepit", "list", one])["keepits"][0]["marker_id"].clone();
    environment.recollect(["keepit", "set", marker.as_str().expect("a marker"), "--weight", "0.35"]).done();
    environment.recollect(["compress", one, "--ratio", "5"]).done();
    environment.recollect(["compose", "both", "--budget", "3000", "--session", one, "--session", two]).done();
    environment.recollect(["checkpoints", "add", "before"]).done();
    (environment, sessions)
}

/// What the commands answer.
fn answers(environment: &TestEnvironment, sessions: &[Transcript; 2]) -> Vec<Value> {
    let mut answers: Vec<Value> =
        ["projects", "sessions", "compositions", "checkpoints"].map(|name| environment.json([name])).into();
    for session in sessions.each_ref().map(Transcript::session_id) {
        answers.extend([["show", session], ["versions", session]].map(|arguments| environment.json(arguments)));
        answers.push(environment.json(["keepit", "list", session]));
    }
    let difference = environment.json(["checkpoints", "diff", "before"]);
    assert_eq!(difference["changed"], Value::Array(Vec::new()), "nothing changed since the checkpoint: {difference:#}");
    let mut stats = environment.json(["stats"]);
    // A pack may be held twice, or be joined.
    stats["stored_bytes"].take();
    answers.push(stats);
    let hits = environment.json(["search", "expires after one hour"])["hits"].clone();
    // Two versions hold the same passage: which of two equal hits comes first is not promised.
    let mut found: Vec<String> =
        hits.as_array().expect("hits").iter().map(|hit| hit["message_uuid"].to_string()).collect();
    found.sort();
    answers.extend(found.into_iter().map(Value::from));
    answers
}

#[track_caller]
fn same(after: &[Value], before: &[Value], when: &str) {
    assert_eq!(after.len(), before.len(), "{when}");
    for (after, before) in after.iter().zip(before) {
        assert_eq!(after, before, "{when}");
    }
}

fn remove_database(memory: &Path) {
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = fs_err::remove_file(memory.join(name));
    }
}

#[test]
fn what_is_lost_alone_is_made_anew_with_equal_content() {
    let (environment, sessions) = memory();
    let memory = environment.memory();
    let before = answers(&environment, &sessions);
    remove_database(&memory);
    same(&answers(&environment, &sessions), &before, "without the database");
    for project in fs_err::read_dir(memory.join("projects")).expect("projects") {
        fs_err::remove_file(project.expect("a project").path().join("manifest.json")).expect("removed");
    }
    same(&answers(&environment, &sessions), &before, "without manifests");
    fs_err::remove_dir_all(memory.join("cache")).expect("removed");
    same(&answers(&environment, &sessions), &before, "without the index");
    environment.recollect(["doctor"]).done();
    for transcript in &sessions {
        let restored = environment.recollect(["restore", transcript.session_id()]).done();
        assert!(restored.bytes() == transcript.bytes(), "byte for byte");
    }
}

#[test]
fn a_damaged_database_names_the_command_that_makes_it_anew() {
    let (environment, sessions) = memory();
    let before = answers(&environment, &sessions);
    remove_database(&environment.memory());
    fs_err::write(environment.memory().join("memory.db"), "not a database at all, but longer than nothing")
        .expect("written");
    let run = environment.recollect(["sessions"]).exits(1);
    assert!(run.stderr().contains("recollect rebuild"), "{run}");
    let rebuilt = environment.json(["rebuild"]);
    assert_eq!(rebuilt["sessions"], 2, "{rebuilt:#}");
    let aside = rebuilt["set_aside"].as_str().expect("the old one is kept");
    assert!(fs_err::read_to_string(aside).expect("there").starts_with("not a database"));
    same(&answers(&environment, &sessions), &before, "after rebuild");
    environment.recollect(["doctor"]).done();
}

#[test]
fn a_backup_is_restored_into_another_home_and_never_over_one() {
    let (environment, sessions) = memory();
    let before = answers(&environment, &sessions);
    let made = environment.json(["backup", "safe"]);
    let file = made["path"].as_str().expect("a path").to_owned();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs_err::metadata(&file).expect("the backup").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "its owner's only");
    }
    let refused = environment.recollect(["restore-backup", &file]).exits(1);
    assert!(refused.stderr().contains("not empty") && refused.stderr().contains("hint:"), "{refused}");
    same(&answers(&environment, &sessions), &before, "it is as it was");
    fs_err::rename(environment.memory(), environment.root().join("gone")).expect("moved away");
    environment.recollect(["restore-backup", &file]).done();
    same(&answers(&environment, &sessions), &before, "in its own place");
    environment.recollect(["--home", "another", "restore-backup", &file]).done();
    environment.recollect(["--home", "another", "doctor"]).done();
    let listed = environment.json(["--home", "another", "sessions"]);
    assert_eq!(listed["total"], 2, "in another home");
    let bytes = fs_err::read(&file).expect("the backup");
    environment.file("cut.tar.zst", &bytes[..bytes.len() - 20]);
    environment.recollect(["--home", "half", "restore-backup", "cut.tar.zst"]).exits(1);
    assert!(!environment.work().join("half").exists(), "nothing half is left");
}
