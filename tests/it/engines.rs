//! Compressing with a language model: the real binary and a stub of the API on this machine.

use std::process::{Child, Command, Stdio};

use recollect_engine::testing::Transcript;
use serde_json::Value;

use crate::environment::{TestEnvironment, refused};
use crate::messages_api::{Behaviour, MessagesApi};

const KEY: &str = "a-key-that-nobody-may-see-0123456789";
const PINNED: &str = "Never store passwords in plain text.";

/// A session of several chunks for the model `small`, and a stub for it.
fn prepared(api: &MessagesApi) -> (TestEnvironment, String) {
    let mut transcript = Transcript::new("login").user("Fix the login. DB_URL=postgres://app:hunter2@db/main");
    for turn in 0..12 {
        let reply =
            format!("It read file{turn}.toml each time, which I measured and cached in cache{turn}. ").repeat(30);
        transcript = transcript.user(&format!("Now look at part {turn}.")).assistant(&reply);
    }
    let transcript = transcript.assistant(&format!("##keepit1.00## {PINNED}"));
    let environment = TestEnvironment::with(std::slice::from_ref(&transcript));
    for (key, value) in [
        ("engines.anthropic.baseUrl", api.address()),
        ("engines.parallel", "1"),
        ("models.own", r#"[{"id": "small", "contextWindow": 8000, "inputPrice": 1, "outputPrice": 10}]"#),
    ] {
        environment.recollect(["config", "set", key, value]).done();
    }
    (environment, transcript.session_id().to_owned())
}

fn compress(environment: &TestEnvironment, session: &str) -> Command {
    let mut command = environment.binary();
    command.args(["--json", "compress", session, "--ratio", "6", "--engine", "anthropic", "--model", "small", "--yes"]);
    command.env("ANTHROPIC_API_KEY", KEY);
    command
}

fn started(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a program that starts")
}

/// A line for each message, with its number.
fn good(request: &Value) -> String {
    let prompt = request["messages"][0]["content"].as_str().unwrap_or_default();
    let record = prompt.split("<record>").nth(1).unwrap_or_default();
    let number = |line: &str| Some(line.strip_prefix('[')?.split_once(']')?.0.to_owned());
    record.lines().filter_map(number).map(|number| format!("- said in {number} [{number}]\n")).collect()
}

fn prompts(api: &MessagesApi) -> Vec<String> {
    let prompt = |request: &Value| request["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
    api.requests().iter().map(prompt).collect()
}

#[test]
fn what_leaves_is_shown_first_and_the_key_stays_out_of_sight() {
    let api = MessagesApi::scripted(|number, request| match number {
        0 => Behaviour::Refuses("529 Overloaded", 0),
        _ => Behaviour::Answers(good(request)),
    });
    let (environment, session) = prepared(&api);
    let arguments = ["compress", &session, "--ratio", "6", "--engine", "anthropic", "--model", "small"];
    let dry = environment.run(environment.binary().args(arguments).arg("--dry-run")).done();
    for words in ["small of anthropic", "leaves this machine, without 1 × password in a URL", "about $"] {
        assert!(dry.stdout().contains(words), "`{words}`: {dry}");
    }
    let with = |more: &[&'static str]| [&arguments[..], more].concat();
    refused(&environment, &with(&["--quiet"]), 2, &["--yes"]);
    let capped = with(&["--quiet", "--yes", "--max-cost", "0.001"]);
    refused(&environment, &capped, 1, &["the cap is $0.00", "--max-cost"]);
    assert!(api.requests().is_empty(), "nothing was asked so far");

    let run = environment.run(&mut compress(&environment, &session)).done();
    let version = run.json();
    assert!(version["output_tokens"].as_u64() <= version["preview"]["budget"].as_u64(), "{version}");
    assert_eq!(version["model_run"]["model"], "small");
    assert_eq!(version["keepit_stats"]["preserved"], 1);
    let id = version["version_id"].as_str().expect("an id");
    let shown = environment.json(["show", &session, "--version", id]).to_string();
    assert!(shown.contains(PINNED), "word for word");
    assert!(prompts(&api).iter().all(|prompt| !prompt.contains("hunter2")), "a password has left the machine");
    for entry in walkdir::WalkDir::new(environment.root()).into_iter().filter_map(Result::ok) {
        if entry.file_type().is_file() {
            let bytes = fs_err::read(entry.path()).expect("a file");
            let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "the key is in {}", entry.path().display());
        }
    }
    assert!(!format!("{run}").contains(KEY));
}

#[test]
fn killed_in_the_middle_only_what_is_missing_is_asked_again() {
    let api = MessagesApi::scripted(|number, request| match number {
        2 => Behaviour::Stalls,
        _ => Behaviour::Answers(good(request)),
    });
    let (environment, session) = prepared(&api);
    let mut child = started(&mut compress(&environment, &session));
    api.wait_for(3);
    child.kill().expect("a program that can be killed");
    child.wait().expect("a program that ended");
    api.wait_until_gone();
    assert_eq!(environment.json(["doctor"])["ok"], true, "the memory is sound");
    let before = prompts(&api);
    assert_eq!(before.len(), 3);
    let version = environment.run(&mut compress(&environment, &session)).done().json();
    let after = prompts(&api)[3..].to_vec();
    assert_eq!(after[0], before[2], "the one that was not answered");
    assert!(!after.contains(&before[0]) && !after.contains(&before[1]), "what was answered is paid for");
    assert_eq!(version["model_run"]["reused"], 2);
    assert_eq!(version["model_run"]["calls"].as_u64(), Some(after.len() as u64));
    assert_eq!(environment.json(["versions", &session])["versions"].as_array().map(Vec::len), Some(1));
}

#[cfg(unix)]
#[test]
fn stopped_in_a_stalled_stream_it_hangs_up_and_asks_nothing_else() {
    let api = MessagesApi::scripted(|number, request| match number {
        1 => Behaviour::Stalls,
        _ => Behaviour::Answers(good(request)),
    });
    let (environment, session) = prepared(&api);
    let mut child = started(&mut compress(&environment, &session));
    api.wait_for(2);
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(interrupted.success());
    api.wait_until_gone();
    assert_eq!(child.wait().expect("a program that ended").code(), Some(1), "cancelled");
    assert_eq!(api.requests().len(), 2, "nothing else was asked");
    assert_eq!(
        environment.json(["versions", &session])["versions"].as_array().map(Vec::len),
        Some(0),
        "no half version"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_dies_with_who_has_started_it_however_that_ends() {
    use std::os::unix::fs::PermissionsExt;
    let api = MessagesApi::start();
    let (environment, session) = prepared(&api);
    let client = environment.file("client", b"#!/bin/sh\necho $$ > ../pid; mv ../pid ../started; exec sleep 1000\n");
    fs_err::set_permissions(&client, std::fs::Permissions::from_mode(0o700)).expect("a program");
    let program = client.to_str().expect("a path in Unicode");
    environment.recollect(["config", "set", "engines.claude.program", program]).done();
    let mut command = environment.binary();
    command.args(["compress", &session, "--ratio", "6", "--engine", "claude", "--model", "small", "--yes"]);
    let mut child = started(&mut command);
    let started = environment.memory().join("cache/started");
    while !started.exists() {
        assert!(child.try_wait().expect("a program that can be asked").is_none(), "it waits for its client");
        std::thread::yield_now();
    }
    child.kill().expect("a program that can be killed");
    child.wait().expect("a program that ended");
    let client = fs_err::read_to_string(&started).expect("read").trim().to_owned();
    // Whoever inherits it may take a moment to bury it; it no longer runs.
    let state = || fs_err::read_to_string(format!("/proc/{client}/stat")).unwrap_or_default();
    while !(state().is_empty() || state().contains(") Z ")) {
        std::thread::yield_now();
    }
}

#[test]
fn without_a_keyring_it_is_said_what_to_do() {
    let environment = TestEnvironment::new();
    let engines = environment.json(["engines"]);
    let anthropic =
        engines["engines"].as_array().expect("engines").iter().find(|engine| engine["engine"] == "anthropic");
    let anthropic = anthropic.expect("the engine");
    assert_eq!((&anthropic["ready"], &anthropic["has_key"]), (&false.into(), &false.into()));
    let run = environment.recollect_reading(KEY.as_bytes(), ["engines", "key", "set", "anthropic"]).exits(1);
    for words in ["the keyring cannot be used", "ANTHROPIC_API_KEY"] {
        assert!(run.stderr().contains(words), "`{words}`: {run}");
    }
    assert!(!run.stderr().contains(KEY));
    let run = environment.recollect_reading(b"", ["engines", "key", "set", "anthropic"]).exits(2);
    assert!(run.stderr().contains("no key on standard input"), "{run}");
    refused(&environment, &["engines", "key", "rm", "openai"], 1, &["keyring"]);
}

#[test]
fn what_a_client_of_ours_starts_takes_nothing_in() {
    let environment = TestEnvironment::new();
    environment.write(&Transcript::new("any").work("any", 2));
    environment.run(environment.binary().args(["ingest", "--all"]).env("RECOLLECT_SPAWNED", "1")).done();
    assert_eq!(environment.json(["sessions"])["total"], 0, "a hook of that client would have started it");
    environment.recollect(["ingest", "--all"]).done();
    assert_eq!(environment.json(["sessions"])["total"], 1);
}
