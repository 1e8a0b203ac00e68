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

#[test]
fn a_composition_of_two_projects_is_refreshed_copied_and_exported() {
    let library = Transcript::new("library").cwd("/home/dev/library").days_later(3).work("library", 2).title("Library");
    let environment = TestEnvironment::with(&[billing(), library.clone()]);
    let (one, two) = (billing(), library.session_id().to_owned());
    let one = one.session_id();
    let arguments =
        ["compose", "go on", "--budget", "3000", "--task", "the library", "--session", &two, "--session", one];
    let made = environment.run(environment.binary().args(arguments).args(["--by-time", "--json"])).done().json();
    assert_eq!(made["components"][0]["session_id"], one, "the oldest first: {made}");
    assert!(made["components"][1]["share_reason"].as_str().is_some_and(|why| why.contains("task")), "{made}");
    let none = environment.recollect(["compositions", "refresh", "go on"]).done().stdout();
    assert!(none.starts_with("Nothing to refresh"), "{none}");

    environment.write(&library.user("Add the newest wish to it.").assistant("Added."));
    environment.recollect(["ingest", "--all"]).done();
    let stale = environment.json(["compositions"])["compositions"][0]["stale"].clone();
    assert_eq!((&stale[0]["session_id"], &stale[0]["new_messages"]), (&json!(two), &json!(2)), "{stale}");
    let dry = environment.json(["compositions", "refresh", "go on", "--dry-run"]);
    assert!(dry["composition"].is_null() && dry["preview"]["total_tokens"].as_u64() <= Some(3000), "{dry}");
    let refreshed = environment.json(["compositions", "refresh", "go on"]);
    assert_eq!(refreshed["composition"]["total_tokens"], dry["preview"]["total_tokens"]);
    assert_eq!(refreshed["composition"]["stale"], json!([]));

    environment.recollect(["compositions", "duplicate", "go on", "once more"]).done();
    environment.recollect(["compositions", "rm", "go on"]).done();
    let shown = environment.recollect(["compositions", "show", "once more"]).done().stdout();
    assert!(
        shown.contains("Add the newest wish to it.") && shown.contains("of the projects demo and library"),
        "{shown}"
    );
    for format in ["markdown", "jsonl", "xml", "prompt"] {
        let exported = environment.json(["compositions", "export", "once more", "--format", format]);
        has_fields(&exported, &["text", "tokens", "media_type", "budget", "over"]);
        let text = exported["text"].as_str().expect("the text");
        assert!(text.contains("Never charge a card twice."), "{format}: {text}");
        let printed = environment.recollect(["compositions", "export", "once more", "--format", format]).done();
        assert_eq!(printed.bytes(), text.as_bytes(), "{format}: the text and nothing else");
    }
    let path = environment.work().join("context.xml");
    let path = path.to_str().expect("a path");
    let export = ["compositions", "export", "once more", "--format", "xml", "-o", path];
    environment.recollect(export).done();
    refused(&environment, &export, 1, &["exists", "--force"]);
    assert!(fs_err::read_to_string(path).expect("the file").starts_with("<context name=\"once more\">"));
}

#[test]
fn budgets_may_be_shares_of_a_models_window() {
    let environment = TestEnvironment::with(&[billing()]);
    let models = [["compose", "x", "--budget", "20%", "--session", "latest"]];
    refused(&environment, &models[0], 2, &["--for-model"]);
    let id = "my-model";
    environment.recollect(["config", "set", "models.own", r#"[{"id": "my-model", "contextWindow": 20000}]"#]).done();
    let made = environment.json(["compose", "x", "--budget", "20%", "--for-model", id, "--session", "latest"]);
    assert_eq!(made["budget"], 4000, "{made}");
    refused(
        &environment,
        &["compose", "y", "--budget", "20k", "--for-model", "none", "--session", "latest"],
        2,
        &["none", id],
    );
    refused(
        &environment,
        &["compose", "y", "--budget", "21k", "--for-model", id, "--session", "latest"],
        2,
        &["20,000"],
    );
}

#[test]
fn suggestions_say_why_and_are_composed_at_once() {
    let environment = TestEnvironment::with(&[billing(), search()]);
    let found = environment.json(["suggest", "--task", "never charge a card twice", "--budget", "4000"]);
    has_fields(&found, &["suggestions", "total_tokens"]);
    let first = &found["suggestions"][0];
    has_fields(
        first,
        &["session_id", "title", "score", "parts", "version_id", "suggested_tokens", "reasons", "matched_files"],
    );
    assert_eq!(first["session_id"], billing().session_id(), "{found}");
    let said =
        environment.recollect(["suggest", "--task", "never charge a card twice", "--budget", "4000"]).done().stdout();
    assert!(said.starts_with("SCORE") && said.contains("says most of the task"), "{said}");
    let composed = environment.json(["suggest", "--cwd", "/home/dev/demo", "--budget", "3000", "--compose", "both"]);
    assert_eq!(composed["suggestions"].as_array().map(Vec::len), Some(2), "{composed}");
    assert!(composed["composition"]["total_tokens"].as_u64() <= Some(3000), "{composed}");
    assert_eq!(environment.json(["compositions"])["compositions"][0]["name"], "both");
    let none = environment.recollect(["suggest", "--cwd", "/nowhere", "--budget", "3000"]).done().stdout();
    assert!(none.starts_with("Nothing to suggest"), "{none}");
    refused(&environment, &["suggest", "--budget", "0"], 2, &["budget"]);
}
