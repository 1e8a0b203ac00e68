//! Conversations that are no transcripts: exports, text, claude.ai, the history of prompts.

use insta::assert_snapshot;
use recollect_engine::testing::Transcript;
use serde_json::json;

use crate::environment::TestEnvironment;

const EXPORT: &str = "
 ▐▛███▜▌   Claude Code v2.0.76
▝▜█████▛▘  Sonnet 4.5 · Claude Max
  ▘▘ ▝▝    /home/dev/demo

> Fix the login, please. ##keepit0.90##Tokens expire after one hour. 

● I look at the tests first.

● Bash(cargo test login)
  ⎿ \u{a0}running 2 tests
     … +10 lines (ctrl+o to expand)

● Fixed. Tests pass.

✻ Baked for 13s

> Thanks! 

● You are welcome.
";

#[test]
fn an_export_is_a_session_like_any_other() {
    let environment = TestEnvironment::new();
    environment.file("2026-01-20-fix-the-login.txt", EXPORT.as_bytes());
    let run = environment.recollect(["ingest", "2026-01-20-fix-the-login.txt"]).done();
    assert!(run.stdout().contains("7 messages processed: 7 new, 0 duplicates"), "{run}");
    assert_snapshot!(environment.recollect(["show", "latest"]).done(), @r##"
    Session  936a2142-a0fd-52f6-a53a-3ef4a4d9dfa4
    Title    Fix the login, please. ##keepit0.90##Tokens expire after one hour.
    Project  /home/dev/demo
    When     2026-01-20 00:00 to 2026-01-20 00:00
    Size     7 messages, 102 tokens
    Source   an /export of Claude Code: tools are shortened and times are missing
    Models   Sonnet 4.5
    Keepits  1

    #0 user - · 31 tokens
    Fix the login, please. ##keepit0.90##Tokens expire after one hour.
      keepit 0.90: Tokens expire after one hour.

    #1 assistant - · 12 tokens
    I look at the tests first.

    #2 assistant - · 13 tokens
      → Bash cargo test login

    #3 tool - · 26 tokens · 10 lines left out by the client
      │ running 2 tests
      │ … +10 lines (ctrl+o to expand)

    #4 assistant - · 9 tokens
    Fixed. Tests pass.

    #5 user - · 4 tokens
    Thanks!

    #6 assistant - · 7 tokens
    You are welcome.
    "##);
    assert!(environment.recollect(["restore", "latest"]).done().bytes() == EXPORT.as_bytes());
    let shown = environment.json(["show", "latest"]);
    assert_eq!((&shown["format"], &shown["paired_with"]), (&json!("claude-export"), &json!(null)));
    assert_eq!(shown["messages"][3]["cut_lines"], 10);
    assert_eq!(environment.json(["keepit", "list", "latest"])["keepits"].as_array().map(Vec::len), Some(1));
    let version = environment.json(["compress", "latest", "--ratio", "2"]);
    assert!(version["output_tokens"].as_u64() > Some(0), "{version}");
    let composed = environment.json(["compose", "one", "--budget", "500", "--session", "latest"]);
    assert_eq!(composed["components"].as_array().map(Vec::len), Some(1));
    let marker = environment.json(["keepit", "list", "latest"])["keepits"][0]["marker_id"].clone();
    let marker = marker.as_str().expect("an id");
    let run = environment.recollect(["keepit", "set", marker, "--weight", "0.5", "--write-transcript"]).exits(1);
    assert!(run.stderr().contains("not a transcript"), "{run}");
}

#[test]
fn an_export_and_its_transcript_are_shown_as_one_conversation() {
    let transcript = Transcript::new("login")
        .user("Fix the login, please. ##keepit0.90##Tokens expire after one hour.")
        .assistant("I look at the tests first.")
        .tool("Bash", json!({"command": "cargo test login"}), "running 2 tests")
        .assistant("**Fixed.** Tests pass.")
        .user("Thanks!")
        .assistant("You are welcome.");
    let environment = TestEnvironment::with(&[transcript]);
    environment.file("2026-01-20-fix-the-login.txt", EXPORT.as_bytes());
    environment.recollect(["ingest", "2026-01-20-fix-the-login.txt"]).done();
    let sessions = environment.json(["sessions"]);
    let listed = sessions["sessions"].as_array().expect("a list");
    let [export, original] = ["claude-export", "claude-code"]
        .map(|format| listed.iter().find(|session| session["format"] == format).expect("a session of the format"));
    assert_eq!(export["paired_with"], original["session_id"]);
    let stats = environment.json(["stats"]);
    assert_eq!(
        (&stats["sessions"], &stats["paired_exports"]),
        (&json!(1), &json!(1)),
        "one conversation is counted once"
    );
    assert!(environment.recollect(["stats"]).done().stdout().contains("1 (and 1 export of some of them)"));
    let id = original["session_id"].as_str().expect("an id");
    assert_eq!(environment.json(["show", id])["exports"], json!([export["session_id"]]));
    assert_snapshot!(environment.recollect(["sessions"]).done(), @r##"
    SESSION   LAST MESSAGE      MESSAGES  TOKENS  KEEPITS  VERSIONS  ORIGINAL  FORMAT              BRANCH  TITLE
    ff548f7e  2026-01-20 10:06         7      86        1         0  live      -                   main    Fix the login, please. ##keepit0.90##Tokens expire after one hour.
    936a2142  2026-01-20 10:06         7     102        1         0  there     export of ff548f7e  -       Fix the login, please. ##keepit0.90##Tokens expire after one hour.
    "##);
}

#[test]
fn conversations_of_claude_ai_are_taken_up_to_where_the_file_is_torn() {
    let environment = TestEnvironment::new();
    let conversation = |uuid: &str, name: &str| {
        json!({"uuid": uuid, "name": name, "created_at": "2026-01-20T10:00:00Z", "chat_messages": [
            {"uuid": format!("{uuid}-1"), "sender": "human", "text": "Where to?", "created_at": "2026-01-20T10:00:00Z"},
            {"uuid": format!("{uuid}-2"), "sender": "assistant", "created_at": "2026-01-20T10:01:00Z",
             "content": [{"type": "text", "text": "To Rome."}, {"type": "token_budget"}]},
        ]})
        .to_string()
    };
    let one = conversation("aaaaaaaa-0000-4000-8000-000000000001", "Trip");
    let two = conversation("aaaaaaaa-0000-4000-8000-000000000002", "Dinner");
    let list = format!("[{one},\n {two}, {}", &one[..40]);
    environment.file("data/conversations.json", list.as_bytes());
    let run = environment.recollect(["ingest", "data", "--verbose"]).done();
    assert!(run.stdout().contains("2 sessions (2 new) from 1 file"), "{run}");
    assert!(
        run.stdout().contains("the conversation at byte 836 is cut off; it was not taken, those before it were"),
        "{run}"
    );
    assert!(
        environment.recollect(["restore", "aaaaaaaa-0000-4000-8000-000000000002"]).done().bytes() == two.as_bytes()
    );
    let again = environment.json(["ingest", "data"]);
    assert_eq!((&again["totals"]["new"], &again["totals"]["unchanged"]), (&json!(0), &json!(2)));
}

#[test]
fn prompts_of_deleted_sessions_come_back_from_the_history() {
    let kept = Transcript::new("kept").user("Add a basket.").assistant("Added.");
    let id = kept.session_id().to_owned();
    let environment = TestEnvironment::with(&[kept]);
    let prompt = |session: &str, text: &str| {
        json!({"display": text, "pastedContents": {}, "timestamp": 1_768_903_200_000_u64, "project": "/home/dev/demo", "sessionId": session})
            .to_string()
    };
    let gone = "bbbbbbbb-0000-4000-8000-000000000001";
    let lines = [prompt(&id, "Add a basket."), prompt(gone, "Fix the login."), prompt(gone, "And the logout.")];
    environment.file("history.jsonl", (lines.join("\n") + "\n").as_bytes());
    let report = environment.json(["ingest", "history.jsonl"]);
    assert_eq!(report["totals"]["new"], 1, "what has its transcript is known: {report}");
    let shown = environment.json(["show", gone]);
    assert_eq!((&shown["format"], &shown["total"]), (&json!("history"), &json!(2)));
    assert_snapshot!(environment.recollect(["show", gone]).done(), @"
    Session  bbbbbbbb-0000-4000-8000-000000000001
    Title    Fix the login.
    Project  /home/dev/demo
    When     2026-01-20 10:00 to 2026-01-20 10:00
    Size     2 messages, 14 tokens
    Source   only what the user typed: Claude Code has deleted the rest

    #0 user 2026-01-20 10:00 · 7 tokens
    Fix the login.

    #1 user 2026-01-20 10:00 · 7 tokens
    And the logout.
    ");
}

#[test]
fn an_empty_export_is_explained_and_other_files_are_left_alone() {
    let environment = TestEnvironment::new();
    environment.file("2026-01-20-empty.txt", b"");
    let run = environment.recollect(["ingest", "2026-01-20-empty.txt"]).done();
    assert!(run.stdout().contains("known fault") && run.stdout().contains("ingest the transcript"), "{run}");
    environment.file("notes.txt", b"Some notes\n\n> with a quote\n");
    environment.file("photo.jpg", &[0xff, 0xd8, 0, 1, 2]);
    for name in ["notes.txt", "photo.jpg"] {
        let report = environment.json(["ingest", name]);
        assert_eq!(report["files"][0]["status"], "skipped", "{report}");
    }
}

#[test]
fn names_cannot_lead_out_of_the_folder_of_a_restored_tree() {
    let environment = TestEnvironment::new();
    let evil = json!([{"uuid": "../../../evil", "name": "x", "chat_messages": [{"uuid": "m", "sender": "human", "text": "hi"}]}]);
    environment.file("conversations.json", evil.to_string().as_bytes());
    environment.file("..\\..\\evil\u{1b}[31m.txt", EXPORT.as_bytes());
    environment.recollect(["ingest", "conversations.json", "..\\..\\evil\u{1b}[31m.txt"]).done();
    environment.recollect(["restore", "--all", "--tree", "out/tree"]).done();
    let mut written: Vec<String> = walkdir::WalkDir::new(environment.root())
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && entry.path().display().to_string().contains("evil"))
        .map(|entry| {
            entry.path().strip_prefix(environment.work()).expect("in the working directory").display().to_string()
        })
        .collect();
    written.sort();
    assert_eq!(
        written,
        [
            "..\\..\\evil\u{1b}[31m.txt".to_owned(),
            "out/tree/-home-dev-demo/exports-archive/_.._evil_[31m.txt".to_owned()
        ],
        "only the given file and its copy, under a harmless name"
    );
}

#[test]
fn a_memory_goes_to_another_through_a_memory_context_folder() {
    let one = Transcript::new("one")
        .user("Fix the login. ##keepit0.90##Never log tokens.##/keepit##")
        .tool("Bash", json!({"command": "git commit -m fix"}), "[main 1a2b3c4] Fix the login")
        .agent("a1b2c3", "Look around", |agent| agent.assistant("Looking."), "Found it.")
        .assistant("Fixed.");
    let environment = TestEnvironment::with(std::slice::from_ref(&one));
    environment.file("2026-01-21-talk.txt", b"Human: what is it\nAssistant: A talk.\n");
    environment.recollect(["ingest", "2026-01-21-talk.txt"]).done();
    let run = environment.recollect(["export", "MEMORY-CONTEXT"]).done();
    assert!(run.stdout().contains("2 sessions"), "{run}");
    let read = |name: &str| -> serde_json::Value {
        let bytes = fs_err::read(environment.work().join("MEMORY-CONTEXT").join(name)).expect("a file of the folder");
        serde_json::from_slice(&bytes).expect("JSON")
    };
    let hashes = read("dedup_state/message_hashes.json");
    assert_eq!(hashes["count"], hashes["hashes"].as_array().map_or(0, Vec::len));
    let id = one.session_id();
    assert!(read("dedup_state/watermarks.json")[id].as_u64() > Some(3));
    assert_eq!(read(&format!("sessions/{id}.json"))["extracted"]["git_changes"][0]["hash"], "1a2b3c4");
    let other = TestEnvironment::new();
    let folder = environment.work().display().to_string();
    let report = other.json(["import", &folder]);
    assert_eq!((&report["ingest"]["totals"]["new"], &report["hashes"]), (&json!(2), &hashes["count"]), "{report}");
    assert!(other.recollect(["restore", id]).done().bytes() == one.bytes(), "the original came along, byte for byte");
    let agent = |place: &TestEnvironment| place.json(["show", id, "--agent", "a1b2c3"])["total"].clone();
    assert_eq!(agent(&other), agent(&environment), "with its sub-agents");
    let again = other.json(["import", &folder]);
    assert_eq!((&again["new_hashes"], &again["ingest"]["totals"]["new"]), (&json!(0), &json!(0)));
    other.recollect(["import", "nowhere"]).exits(1);
}
