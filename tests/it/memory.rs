//! What is in memory, shown to people and to scripts: ingest, projects, sessions, show, restore, remove, stats.

use insta::assert_snapshot;
use recollect_engine::testing::Transcript;
use serde_json::{Value, json};

use crate::environment::TestEnvironment;

fn login() -> Transcript {
    Transcript::new("login")
        .branch("feature/login")
        .user("Fix the login, please.\nIt fails since Monday.")
        .thinking("The token may have expired.")
        .tool(
            "Bash",
            json!({"command": "cargo test login"}),
            "running 2 tests\ntest result: FAILED. 1 passed; 1 failed",
        )
        .failing_tool("Read", json!({"file_path": "/home/dev/demo/src/login.rs", "limit": 20}), "File does not exist.")
        .agent("a1b2c3", "Find the token code", |agent| agent.assistant("Looking."), "It is in src/token.rs.")
        .picture("/home/dev/demo/screen.png")
        .compaction("The login is being fixed.")
        .assistant("Fixed. Decision: ##keepit0.80##tokens expire after one hour.")
        .title("Login fails since Monday")
}

fn other() -> Transcript {
    Transcript::new("other").cwd("/home/dev/shop").days_later(1).user("Add a basket.").assistant("Added.")
}

/// The names of an object's fields, which are the contract.
fn fields(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[track_caller]
fn has_fields(value: &Value, wanted: &[&str]) {
    let has = fields(value);
    for field in wanted {
        assert!(has.contains(field), "`{field}` is in the contract but not in {value}");
    }
}

#[test]
fn ingest_says_what_is_new_and_then_that_nothing_is() {
    let environment = TestEnvironment::new();
    environment.write(&login());
    environment.write(&other());
    // What is stored depends on the names of folders too, which are of chance here.
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[1-9][\d.]* k?B stored", "some stored");
    let _settings = settings.bind_to_scope();
    assert_snapshot!(environment.recollect(["ingest", "--all"]).done(), @r##"
    STATUS  SESSION                               MESSAGES  NEW  KEEPITS      SIZE  TITLE
    new     bed1bdd6-15f2-5987-8d5f-0bda6497504d         2    2        0     985 B  Add a basket.
    new     ff548f7e-30c8-58ca-9a0d-c9ed6afb23dd        13   15        1  10.39 kB  Login fails since Monday

    2 sessions (2 new) from 4 files; 11.37 kB read, some stored
    18 messages processed: 17 new, 1 duplicate; 17 different in memory
    Duplicates: 1 that say what another message says
    "##);
    assert_snapshot!(environment.recollect(["ingest", "--all"]).done(), @"2 sessions (2 unchanged) from 4 files; 0 B read, 0 B stored");
    let grown = other().user("And a checkout.").assistant("Done.");
    environment.write(&grown);
    assert_snapshot!(environment.recollect(["ingest", "--all"]).done(), @r##"
    STATUS   SESSION                               MESSAGES  NEW  KEEPITS     SIZE  TITLE
    updated  bed1bdd6-15f2-5987-8d5f-0bda6497504d         4    2        0  2.00 kB  Add a basket.

    2 sessions (1 updated, 1 unchanged) from 4 files; 2.00 kB read, some stored
    2 messages processed: 2 new, 0 duplicates; 19 different in memory
    "##);
}

#[test]
fn the_document_of_ingest_is_the_contract() {
    let environment = TestEnvironment::new();
    environment.write(&login());
    let report = environment.json(["ingest", "--all"]);
    let contract = [
        "session_id",
        "project_id",
        "format",
        "messages",
        "new_unique",
        "duplicates",
        "bytes",
        "keepits",
        "status",
        "error",
    ];
    has_fields(&report["sessions"][0], &contract);
    let sums = [
        "sessions",
        "messages",
        "new_unique",
        "duplicates",
        "bytes",
        "keepits",
        "new",
        "updated",
        "unchanged",
        "failed",
    ];
    has_fields(&report["totals"], &sums);
    assert_eq!(report["sessions"][0]["status"], "new");
    assert_eq!(report["sessions"][0]["session_id"], login().session_id());
}

#[test]
fn latest_is_the_newest_that_is_not_in_memory() {
    let environment = TestEnvironment::new();
    environment.write(&login());
    let report = environment.json(["ingest", "--latest"]);
    assert_eq!(report["sessions"][0]["session_id"], login().session_id());
    environment.write(&other());
    let report = environment.json(["ingest", "--latest"]);
    assert_eq!(report["sessions"][0]["session_id"], other().session_id());
    let report = environment.json(["ingest", "--latest"]);
    assert_eq!(report["sessions"], json!([]), "all is in memory");
    let run = environment.recollect(["ingest", "--latest"]).done();
    assert!(run.stdout().starts_with("Nothing new"), "{run}");
}

#[test]
fn projects_and_sessions_are_listed_newest_first() {
    let environment = TestEnvironment::with(&[login(), other()]);
    assert_snapshot!(environment.recollect(["projects"]).done(), @r##"
    PROJECT  SESSIONS  TOKENS  LAST MESSAGE      FOLDER
    shop            1      11  2026-01-21 10:01  /home/dev/shop
    demo            1     238  2026-01-20 10:12  /home/dev/demo
    "##);
    assert_snapshot!(environment.recollect(["sessions"]).done(), @r##"
    SESSION   LAST MESSAGE      MESSAGES  TOKENS  KEEPITS  VERSIONS  ORIGINAL  BRANCH         TITLE
    bed1bdd6  2026-01-21 10:01         2      11        0         0  live      main           Add a basket.
    ff548f7e  2026-01-20 10:12        13     238        1         0  live      feature/login  Login fails since Monday
    "##);
    assert_snapshot!(environment.recollect(["sessions", "--project", "shop"]).done(), @r##"
    SESSION   LAST MESSAGE      MESSAGES  TOKENS  KEEPITS  VERSIONS  ORIGINAL  BRANCH  TITLE
    bed1bdd6  2026-01-21 10:01         2      11        0         0  live      main    Add a basket.
    "##);
    has_fields(&environment.json(["projects"])["projects"][0], &["project_id", "original_path", "display_name"]);
    let contract = [
        "session_id",
        "messages",
        "tokens",
        "first_timestamp",
        "last_timestamp",
        "git_branch",
        "keepits",
        "versions",
        "original_present",
    ];
    has_fields(&environment.json(["sessions"])["sessions"][0], &contract);
    let run = environment.recollect(["sessions", "--project", "nothing"]).exits(1);
    assert!(run.stderr().contains("no project is called `nothing`"), "{run}");
}

#[test]
fn titles_and_distances_can_be_set_by_hand() {
    let environment = TestEnvironment::with(&[login(), other()]);
    let run = environment.recollect(["sessions", "set", "latest", "--title", "The basket", "--distance", "7"]).done();
    assert!(run.stdout().ends_with("The basket, distance 7\n"), "{run}");
    let listed = environment.json(["sessions", "--filter", "basket"]);
    assert_eq!(
        (&listed["sessions"][0]["title"], &listed["sessions"][0]["distance"]),
        (&"The basket".into(), &7.into())
    );
    let back = environment.json(["sessions", "set", "latest", "--title", "", "--distance", "0"]);
    assert_eq!((&back["title"], &back["distance"]), (&"Add a basket.".into(), &1.into()), "the computed ones are back");
    let run = environment.recollect(["sessions", "set", "latest"]).exits(2);
    assert!(run.stderr().contains("--title"), "{run}");
}

#[test]
fn an_empty_memory_says_how_to_begin() {
    let environment = TestEnvironment::new();
    for command in ["projects", "sessions"] {
        let run = environment.recollect([command]).done();
        assert!(run.stdout().contains("recollect ingest --all"), "{run}");
    }
    assert_eq!(environment.json(["projects"]), json!({"projects": []}));
    let run = environment.recollect(["show", "latest"]).exits(1);
    assert!(run.stderr().starts_with("error: "), "{run}");
}

#[test]
fn a_session_is_shown_as_people_read_it() {
    let environment = TestEnvironment::with(&[login()]);
    assert_snapshot!(environment.recollect(["show", "latest"]).done(), @r##"
    Session  ff548f7e-30c8-58ca-9a0d-c9ed6afb23dd
    Title    Login fails since Monday
    Project  /home/dev/demo
    When     2026-01-20 10:00 to 2026-01-20 10:12
    Size     13 messages, 238 tokens
    Branch   feature/login
    Models   claude-sonnet-4-5-20250929
    Keepits  1
    Sub-agent  a1b2c3  Find the token code (3 messages)

    #0 user 2026-01-20 10:00 · 18 tokens
    Fix the login, please.
    It fails since Monday.

    #1 assistant 2026-01-20 10:01 · 10 tokens
      thinking
      │ The token may have expired.

    #2 assistant 2026-01-20 10:02 · 13 tokens
      → Bash cargo test login

    #3 tool 2026-01-20 10:03 · 28 tokens
      │ running 2 tests
      │ test result: FAILED. 1 passed; 1 failed

    #4 assistant 2026-01-20 10:04 · 28 tokens
      → Read file_path=/home/dev/demo/src/login.rs limit=20

    #5 tool 2026-01-20 10:05 · 9 tokens
      failed
      │ File does not exist.

    #6 assistant 2026-01-20 10:06 · 36 tokens
      → Task description=Find the token code prompt=Find the token code subagent_type=general-purpose

    #7 tool 2026-01-20 10:07 · 12 tokens
      │ It is in src/token.rs.

    #8 assistant 2026-01-20 10:08 · 20 tokens
      → Read /home/dev/demo/screen.png

    #9 tool 2026-01-20 10:09 · 13 tokens
      [image/png, 72 B]

    #10 system 2026-01-20 10:10 · 13 tokens · the context was compacted here
    Conversation compacted at 155000 tokens

    #11 user 2026-01-20 10:11 · 10 tokens · summary of the compacted context
    The login is being fixed.

    #12 assistant 2026-01-20 10:12 · 28 tokens
    Fixed. Decision: ##keepit0.80##tokens expire after one hour.
      keepit 0.80: tokens expire after one hour.
    "##);
    let agent = environment.recollect(["show", "latest", "--agent", "a1b2c3"]).done().stdout();
    assert!(agent.starts_with("#0 user") && agent.contains("\nLooking.\n"), "{agent}");
    let shown = environment.json(["show", "latest", "--limit", "2"]);
    assert_eq!((shown["messages"].as_array().map(Vec::len), shown["total"].as_u64() > Some(2)), (Some(2), true));
    has_fields(&shown["messages"][0], &["index", "uuid", "role", "timestamp", "text", "hash", "tokens"]);
    let run = environment.recollect(["show", "latest", "--agent", "nobody"]).exits(1);
    assert!(run.stderr().contains("nobody"), "{run}");
}

#[test]
fn sessions_are_named_by_prefixes() {
    let environment = TestEnvironment::with(&[login(), other()]);
    let prefix = &login().session_id()[..8].to_owned();
    assert_eq!(environment.json(["show", prefix])["session_id"], login().session_id());
    assert_eq!(environment.json(["show", "latest"])["session_id"], other().session_id(), "the newest message decides");
    let run = environment.recollect(["show", "no-such-session"]).exits(1);
    assert!(run.stderr().contains("no-such-session") && run.stderr().contains("hint:"), "{run}");
}

#[test]
fn escape_sequences_of_a_transcript_do_not_reach_the_terminal() {
    let title = "\x1b]0;owned\x07 title";
    let evil = Transcript::new("evil")
        .user("\x1b[2J\x1b]52;c;cm0gLXJm\x07 look \u{202e}gpj")
        .tool("Bash", json!({"command": "printf '\x1b[31m'"}), "\x1b[31mred\x1b[0m")
        .title(title);
    let environment = TestEnvironment::with(&[evil]);
    for arguments in [vec!["show", "latest"], vec!["sessions"], vec!["ingest", "--all", "-v"]] {
        // Also where colours are wanted: what a pager passes on must be ours.
        for colour in ["0", "1"] {
            let mut command = environment.binary();
            let run = environment.run(command.args(&arguments).env("CLICOLOR_FORCE", colour)).done();
            let shown = String::from_utf8_lossy(run.bytes()).into_owned();
            for sequence in ["\x1b[2J", "\x1b]", "\x1b[31mred", "\x07", "\u{202e}"] {
                assert!(!shown.contains(sequence), "{arguments:?} lets {sequence:?} through: {shown:?}");
            }
        }
    }
}

#[test]
fn colour_is_for_terminals_and_those_who_ask() {
    let environment = TestEnvironment::with(&[login()]);
    let shown = |variables: &[(&str, &str)]| {
        let mut command = environment.binary();
        environment.run(command.args(["sessions"]).envs(variables.iter().copied())).done().bytes().contains(&0x1b)
    };
    assert!(!shown(&[]), "a pipe gets none");
    assert!(shown(&[("CLICOLOR_FORCE", "1")]), "unless it is asked for");
    assert!(!shown(&[("NO_COLOR", "1")]), "and never against NO_COLOR");
}

#[test]
fn restored_bytes_are_the_original_ones_also_when_that_is_gone() {
    let environment = TestEnvironment::new();
    let login = login().stored_result("big.txt", "a very long output\n");
    let main = environment.write(&login);
    environment.recollect(["ingest", "--all"]).done();
    fs_err::remove_dir_all(environment.claude_home()).expect("the originals are deleted");
    assert!(environment.recollect(["restore", "latest"]).done().bytes() == login.bytes());
    environment.recollect(["restore", "latest", "-o", "file.jsonl"]).done();
    assert!(fs_err::read(environment.work().join("file.jsonl")).expect("a restored file") == login.bytes());
    environment.file("file.jsonl", b"something else");
    let run = environment.recollect(["restore", "latest", "-o", "file.jsonl"]).exits(1);
    assert!(run.stderr().contains("exists with other content") && run.stderr().contains("--force"), "{run}");
    environment.recollect(["restore", "latest", "-o", "file.jsonl", "--force"]).done();
    let report = environment.json(["restore", "--all", "--tree", "tree"]);
    assert_eq!(report["files"].as_array().map(Vec::len), Some(4), "main, agent, its facts, a tool's result: {report}");
    let folder = environment.work().join("tree/-home-dev-demo");
    let own = folder.join(login.session_id());
    let main = folder.join(main.file_name().expect("a name"));
    assert!(fs_err::read(main).expect("the main file") == login.bytes());
    for file in ["subagents/agent-a1b2c3.jsonl", "subagents/agent-a1b2c3.meta.json", "tool-results/big.txt"] {
        assert!(own.join(file).is_file(), "{file} is laid out as the client does");
    }
    let listed = environment.json(["sessions"]);
    assert_eq!(listed["sessions"][0]["original_present"], false);
}

#[test]
fn a_removed_session_comes_back_and_a_purged_one_frees_its_bytes() {
    let environment = TestEnvironment::with(&[login(), other()]);
    let kept = environment.json(["remove", login().session_id()]);
    assert_eq!((&kept["session_id"], &kept["purged"]), (&login().session_id().into(), &false.into()));
    assert_eq!(environment.json(["sessions"])["total"], 1);
    assert_eq!(environment.json(["ingest", "--all"])["totals"]["new"], 1, "its file is still there");
    let purged = environment.json(["remove", login().session_id(), "--purge"]);
    assert!(purged["bytes_freed"].as_u64().is_some_and(|bytes| bytes > 0), "{purged}");
    assert!(environment.claude_home().join("projects/-home-dev-demo").is_dir(), "the client's files are never touched");
    let run = environment.recollect(["remove", login().session_id()]).exits(1);
    assert!(run.stderr().starts_with("error: "), "{run}");
}

#[test]
fn stats_count_what_is_there() {
    let environment = TestEnvironment::with(&[login(), other(), Transcript::new("copy").user("Add a basket.")]);
    let stats = environment.json(["stats"]);
    has_fields(&stats, &["sessions", "messages", "unique_messages", "original_bytes", "stored_bytes", "dedup_ratio"]);
    assert_eq!(stats["sessions"], 3);
    assert!(
        stats["unique_messages"].as_u64() < stats["messages"].as_u64(),
        "a repeated message is one message: {stats}"
    );
    let shown = environment.recollect(["stats"]).done().stdout();
    assert!(shown.contains("Sessions      3\n"), "{shown}");
}

#[test]
fn stats_by_project_and_by_month_add_up() {
    let elsewhere = Transcript::new("elsewhere").days_later(70).cwd("/home/dev/shop").user("Add a basket.");
    let environment = TestEnvironment::with(&[login(), other(), elsewhere]);
    let stats = environment.json(["stats"]);
    for (by, rows) in [("project", "projects"), ("month", "months")] {
        let shares = environment.json(["stats", "--by", by]);
        for figure in ["original_bytes", "stored_bytes", "messages", "sessions"] {
            assert_eq!(shares["total"][figure], stats[figure], "{figure} by {by} against plain stats");
            let sum: u64 = shares[rows].as_array().into_iter().flatten().filter_map(|row| row[figure].as_u64()).sum();
            assert_eq!(Some(sum), stats[figure].as_u64(), "{figure} of all {rows}");
        }
        assert!(shares[rows].as_array().is_some_and(|rows| rows.len() == 2), "{shares}");
    }
    let shown = environment.recollect(["stats", "--by", "project"]).done().stdout();
    assert!(shown.contains("/home/dev/shop"), "projects of one name are told apart: {shown}");
}

#[test]
fn homes_are_taken_from_flags_and_environment() {
    let environment = TestEnvironment::new();
    let elsewhere = environment.root().join("elsewhere");
    other().write(&elsewhere).expect("a written transcript");
    let mut command = environment.binary();
    command.args(["ingest", "--all", "-q"]).env("RECOLLECT_HOME", "memory").env("CLAUDE_CONFIG_DIR", &elsewhere);
    environment.run(&mut command).done();
    assert!(environment.work().join("memory/memory.db").is_file(), "RECOLLECT_HOME is the memory");
    assert!(!environment.memory().exists(), "and no other is made");
    assert_eq!(environment.json(["--home", "memory", "sessions"])["total"], 1);
    assert_eq!(environment.json(["sessions", "--home", "memory"])["total"], 1, "flags stand anywhere");
}
