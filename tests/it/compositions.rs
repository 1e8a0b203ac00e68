//! Compositions: made within their budget, kept in their folder, continued in Claude Code.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use recollect_engine::testing::Transcript;
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, files, refused};

fn billing() -> Transcript {
    Transcript::new("billing")
        .user("Let us build the billing. ##keepit1.00##Never charge a card twice.##/keepit## Start with the ledger.")
        .work("billing", 8)
        .assistant("The ledger is done. ##keepit0.45##Amounts are integers of cents.##/keepit## Tests pass.")
        .title("Billing ledger")
}

fn search() -> Transcript {
    Transcript::new("search").days_later(1).work("search", 8).title("Search ranking")
}

#[track_caller]
fn has_fields(value: &Value, wanted: &[&str]) {
    for field in wanted {
        assert!(value.get(field).is_some(), "`{field}` is in the contract but not in {value}");
    }
}

#[test]
fn a_composition_is_made_listed_shown_and_deleted() {
    let environment = TestEnvironment::with(&[billing(), search()]);
    let (one, two) = (billing(), search());
    let (one, two) = (one.session_id(), two.session_id());
    let arguments = ["compose", "go on", "--budget", "1200", "--session", one, "--session", two];
    let mut dry = arguments.to_vec();
    dry.push("--dry-run");
    let preview = environment.run(environment.binary().args(dry)).done().stdout();
    assert!(preview.starts_with("Would compose (nothing is written):"), "{preview}");
    assert_eq!(environment.json(["compositions"]), json!({"compositions": []}));
    let made = environment.json(arguments);
    has_fields(&made, &["composition_id", "name", "components", "total_tokens", "total_messages", "files"]);
    assert!(made["total_tokens"].as_u64().is_some_and(|tokens| tokens <= 1200), "{made}");
    let run = environment.recollect(arguments).exits(1);
    assert!(run.stderr().contains("go on"), "a name is taken once: {run}");
    let mut again = arguments.to_vec();
    again.push("--replace");
    environment.run(environment.binary().args(again)).done();
    let listed = environment.recollect(["compositions"]).done().stdout();
    let (head, row) = listed.split_once('\n').expect("a head and a row");
    assert!(head.starts_with("COMPOSITION  MADE") && row.starts_with("go on        (now)"), "{listed}");
    let shown = environment.recollect(["compositions", "show", "go on"]).done().stdout();
    assert!(shown.contains("Never charge a card twice."), "{shown}");

    let version = environment.json(["versions", one])["versions"][0].clone();
    assert_eq!(version["used_in"], json!(["go on"]), "{version}");
    let id = version["version_id"].as_str().expect("an id");
    let run = environment.recollect(["versions", "rm", one, id]).exits(1);
    assert!(run.stderr().contains("go on") && run.stderr().contains("--force"), "{run}");
    environment.recollect(["compositions", "rm", "go on"]).done();
    environment.recollect(["versions", "rm", one, id]).done();
    assert_eq!(environment.json(["compositions"]), json!({"compositions": []}));
}

#[test]
fn resume_prints_the_command_and_writes_a_new_session() {
    let environment = TestEnvironment::with(&[billing()]);
    environment.recollect(["compose", "x", "--budget", "2000", "--session", "latest"]).done();
    let before = sessions_of_client(&environment);
    let run = environment.recollect(["resume", "x", "--cwd", "."]).done();
    assert!(run.stdout().contains("claude --resume "), "{run}");
    let resumed = environment.json(["resume", "x", "--cwd", "."]);
    has_fields(&resumed, &["session_id", "file", "command"]);
    assert!(Path::new(resumed["file"].as_str().expect("a path")).is_file());
    assert_eq!(sessions_of_client(&environment), before + 2, "a new file each time, no other touched");
    let run = environment.recollect(["resume", "x", "--cwd", "nowhere"]);
    assert!(!run.succeeded() && run.stderr().contains("nowhere"), "{run}");
}

#[test]
fn resume_starts_the_client_or_says_that_it_is_missing() {
    let environment = TestEnvironment::with(&[billing()]);
    environment.recollect(["compose", "x", "--budget", "2000", "--session", "latest"]).done();
    let run = environment.recollect(["resume", "x", "--cwd", ".", "--run"]).exits(1);
    assert!(run.stderr().contains("no `claude` on the PATH") && run.stderr().contains("hint:"), "{run}");
    let run = environment.recollect(["resume", "x", "--run", "--json"]).exits(2);
    assert!(run.stderr().contains("--run"), "{run}");
    let client = environment.file("bin/claude", b"#!/bin/sh\necho \"$@\"; pwd; echo \"$CLAUDE_CONFIG_DIR\"; exit 7\n");
    fs_err::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    fs_err::create_dir(environment.work().join("project")).expect("a folder");
    let mut command = environment.binary();
    command.args(["resume", "x", "--cwd", "project", "--run"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", client.parent().expect("a folder").display()));
    let run = environment.run(&mut command).exits(7);
    let lines: Vec<_> = run.stdout().lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("--resume "), "{run}");
    assert_eq!(
        lines[1..],
        ["$TEST/work/project", "$TEST/home/.claude"],
        "in its folder, with its home; its status is ours"
    );
}

fn sessions_of_client(environment: &TestEnvironment) -> usize {
    walkdir::WalkDir::new(environment.claude_home())
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .count()
}

#[test]
fn compositions_stay_in_their_folder() {
    let environment = TestEnvironment::with(&[billing()]);
    for name in ["../../x", "..", ".", "/etc/x", "a/b", "", "a\nb", " "] {
        let before = files(&environment);
        let run = environment.run(environment.binary().args([
            "compose",
            "--budget",
            "4000",
            "--session",
            "latest",
            "--",
            name,
        ]));
        assert_eq!(run.clone().exits(2).stdout(), "", "`{name}` is refused: {run}");
        assert!(run.stderr().contains("name"), "`{name}`: {run}");
        assert!(files(&environment) == before, "`{name}` wrote something");
    }
    refused(&environment, &["resume", "../../x"], 1, &["../../x"]);
    refused(&environment, &["compositions", "rm", "../../x"], 1, &["../../x"]);
}

#[test]
fn budgets_that_hold_nothing_are_refused() {
    let environment = TestEnvironment::with(&[billing()]);
    refused(&environment, &["compose", "x", "--budget", "0", "--session", "latest"], 2, &["budget"]);
    refused(&environment, &["compose", "x", "--budget", "12", "--session", "latest"], 1, &["token", "hint:"]);
    refused(&environment, &["compose", "x", "--budget", "4000", "--session", "nothing"], 1, &["nothing"]);
    refused(&environment, &["compose", "x", "--budget", "4000", "--session", "latest@v099"], 1, &["v099"]);
    assert_eq!(environment.json(["compositions"])["compositions"], serde_json::json!([]), "none was made");
    assert_eq!(environment.json(["versions", "latest"])["versions"], serde_json::json!([]), "nor a version on the way");
}
