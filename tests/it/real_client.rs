//! A composition resumed by the real Claude Code, which speaks to a stub of the Messages API on this machine.
//!
//! Installs the client from npm below the target folder, so these tests need npm, node and a registry.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;

use recollect_engine::testing::Transcript;
use serde_json::Value;

use crate::environment::TestEnvironment;
use crate::messages_api::{Behaviour, MessagesApi};

const PROBE: &str = "PROBE what do you know?";

#[test]
#[cfg_attr(not(feature = "real-client"), ignore = "installs Claude Code from npm: --features real-client")]
fn the_newest_client_resumes_a_composition_with_its_messages() {
    resumes("2.1");
}

#[test]
#[cfg_attr(not(feature = "real-client"), ignore = "installs Claude Code from npm: --features real-client")]
fn an_older_client_resumes_a_composition_with_its_messages() {
    resumes("2.0.76");
}

#[test]
#[cfg_attr(not(feature = "real-client"), ignore = "installs Claude Code from npm: --features real-client")]
fn the_newest_client_compresses_a_session() {
    compresses("2.1");
}

#[test]
#[cfg_attr(not(feature = "real-client"), ignore = "installs Claude Code from npm: --features real-client")]
fn an_older_client_compresses_a_session() {
    compresses("2.0.76");
}

/// Compresses a session with the engine `claude`, and looks at what the client sends and leaves behind.
fn compresses(version: &str) {
    let client = install(version);
    let api = MessagesApi::scripted(|_, _| Behaviour::Answers("- all that was done [1-9]".to_owned()));
    let environment = TestEnvironment::with(&[Transcript::new("first")
        .work("login", 30)
        .assistant("##keepit1.00## Keep this sentence.")]);
    let session = Transcript::new("first").session_id().to_owned();
    let program = client.to_str().expect("a path in Unicode");
    environment.recollect(["config", "set", "engines.claude.program", program]).done();
    let mut command = environment.binary();
    command
        .args(["--json", "compress", &session, "--ratio", "6", "--engine", "claude"])
        .args(["--model", "claude-sonnet-4-5-20250929", "--yes"])
        .env("PATH", path_with(&client))
        .env("ANTHROPIC_BASE_URL", api.address())
        .env("ANTHROPIC_API_KEY", "stub")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_ERROR_REPORTING", "1");
    let made = environment.run(&mut command).done().json();
    assert_eq!(made["model_run"]["engine"], "claude", "{made}");
    assert!(made["output_tokens"].as_u64() <= made["preview"]["budget"].as_u64(), "{made}");
    let requests = api.requests();
    let request = requests.iter().find(|request| request.to_string().contains("<record>")).expect("it is asked");
    assert!(request["system"].to_string().contains("condense records"), "by our own words: {}", request["system"]);
    assert!(request["tools"].as_array().is_none_or(Vec::is_empty), "no tools: {}", request["tools"]);
    let left: Vec<_> = walkdir::WalkDir::new(environment.claude_home().join("projects"))
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && !entry.path().display().to_string().contains(&session))
        .collect();
    assert!(left.is_empty(), "no session of its own is left: {left:?}");
    environment.recollect(["ingest", "--all"]).done();
    assert_eq!(environment.json(["sessions"])["total"], 1, "what was asked is no session");
}

/// Composes one session, three, and ten of two projects, and refreshes one; resumes each, and looks at what the client sends.
fn resumes(version: &str) {
    let client = install(version);
    let mut sessions = vec![
        Transcript::new("first").work("login", 12).assistant("##keepit1.00## Never store passwords in plain text."),
        Transcript::new("second").days_later(1).work("billing", 12).compaction("Billing is half done."),
        Transcript::new("third").days_later(2).work("search", 6).title("Search ranking"),
    ];
    for number in 3..10 {
        let name = format!("library {number}");
        sessions.push(Transcript::new(&name).cwd("/home/dev/library").days_later(number).work("library", 3));
    }
    let environment = TestEnvironment::with(&sessions);
    for (name, count, budget) in [("one", 1, "3000"), ("three", 3, "6000"), ("ten of two projects", 10, "9000")] {
        let mut command = environment.binary();
        command.args(["compose", name, "--budget", budget, "--by-time", "--json"]);
        command.args(sessions[..count].iter().flat_map(|session| ["--session", session.session_id()]));
        let composed = environment.run(&mut command).done().json();
        assert!(composed["total_tokens"].as_u64() <= budget.parse().ok(), "the budget is hard: {composed}");
        goes_on(&environment, &client, version, name, "Never store passwords");
    }
    let grown = sessions[2].clone().user("The newest wish is a ranking by age.").assistant("It is done.");
    environment.write(&grown);
    environment.recollect(["ingest", "--all"]).done();
    let refreshed = environment.json(["compositions", "refresh", "three"]);
    assert_eq!(refreshed["grown"].as_array().map(Vec::len), Some(1), "{refreshed}");
    goes_on(&environment, &client, version, "three", "The newest wish is a ranking by age.");
}

/// Resumes a composition: the client sends all of it, with `passage`; what it adds is all that is new in memory then.
fn goes_on(environment: &TestEnvironment, client: &Path, version: &str, name: &str, passage: &str) {
    let cwd = environment.work().join("project");
    fs_err::create_dir_all(&cwd).expect("a folder to work in");
    let cwd = cwd.to_str().expect("a path in Unicode");
    let resumed = environment.json(["resume", name, "--cwd", cwd]);
    let session_id = resumed["session_id"].as_str().expect("an id");
    let file = PathBuf::from(resumed["file"].as_str().expect("a file"));
    let before = fs_err::read(&file).expect("the session file");

    let api = MessagesApi::start();
    let mut command = environment.command(client);
    command
        .args(["--resume", session_id, "-p", PROBE, "--output-format", "json", "--model", "claude-sonnet-4-5-20250929"])
        .current_dir(cwd)
        .env("PATH", path_with(client))
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/bash")
        .env("ANTHROPIC_BASE_URL", api.address())
        .env("ANTHROPIC_API_KEY", "stub")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_ERROR_REPORTING", "1");
    let run = environment.run(&mut command).done();
    let answer = run.json();
    assert_eq!(answer["session_id"], session_id, "the client goes on in the same session: {answer}");
    assert_eq!(answer["is_error"], false, "the client is content: {answer}");

    let requests = api.requests();
    let request = requests
        .iter()
        .find(|request| request["messages"].to_string().contains(PROBE))
        .expect("the client asks the model the probe");
    let mut sent: VecDeque<String> = request["messages"].as_array().expect("messages").iter().map(words).collect();
    let after = fs_err::read(&file).expect("the session file");
    assert!(after.starts_with(&before), "the client appends to the session that was written");
    let written: Vec<Value> = before
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("a record"))
        .collect();
    let conversation: Vec<&Value> =
        written.iter().filter(|record| matches!(record["type"].as_str(), Some("user" | "assistant"))).collect();
    assert!(conversation.len() >= 4, "a composition gives more than {} messages", conversation.len());
    for record in conversation {
        let text = words(&record["message"]);
        // Messages of one role in a row are sent as one.
        while !sent.front().expect("every message of the composition is sent, in its order").contains(text.trim()) {
            sent.pop_front();
            assert!(!sent.is_empty(), "not in what {version} sent of `{name}`:\n{text}");
        }
    }
    assert!(request["messages"].to_string().contains(passage), "`{passage}` reaches the model");

    environment.run(environment.binary().arg("ingest").arg(&file)).done();
    let kept = environment.json(["show", session_id])["messages"].clone();
    let texts: Vec<&str> =
        kept.as_array().expect("messages").iter().filter_map(|message| message["text"].as_str()).collect();
    assert!(texts.iter().any(|text| text.contains(PROBE)), "what was gone on with is in memory: {texts:?}");
    assert!(!texts.iter().any(|text| text.contains(passage)), "and not once more what it was composed of: {texts:?}");
}

/// The text of a message.
fn words(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Installs a version (or the newest of a range) and gives its program.
fn install(version: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("claude-code-{version}"));
    fs_err::create_dir_all(&folder).expect("a folder for the client");
    fs_err::write(folder.join("package.json"), r#"{"name": "client", "private": true}"#).expect("a package file");
    let package = format!("@anthropic-ai/claude-code@{version}");
    // With the environment as it is: where npm finds its registry is the machine's own affair.
    let npm = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--no-save", &package])
        .current_dir(&folder)
        .output()
        .expect("npm, which this test needs");
    assert!(npm.status.success(), "npm install {package}: {}", String::from_utf8_lossy(&npm.stderr));
    let program = folder.join("node_modules/.bin/claude");
    assert!(program.exists(), "{package} has no program `claude`");
    program
}

/// The folders of the client, of node and of the system's programs.
#[expect(clippy::disallowed_methods, reason = "node may lie anywhere on the PATH of who runs the tests")]
fn path_with(client: &Path) -> String {
    let folder = client.parent().expect("a folder").display();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}
