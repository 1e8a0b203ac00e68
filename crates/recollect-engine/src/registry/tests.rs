//! The registry on a real memory in a temporary folder, with a fixed clock.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::api::keepit::KeepitAddRequest;
use crate::api::session::{MessageListRequest, SessionListRequest, SessionRemoveRequest, SessionRestoreRequest};
use crate::engine::EngineOptions;
use crate::keepit::Weight;
use crate::testing::Memory;
use crate::time::Time;

mod formats;
mod grown;
mod latest;

const ID: &str = "11111111-1111-4111-8111-111111111111";

impl Memory {
    fn ids(&self) -> Vec<String> {
        let page = page(&self.engine, &SessionListRequest::default()).expect("a list");
        let mut ids: Vec<String> = page.sessions.into_iter().map(|session| session.session_id.to_string()).collect();
        ids.sort();
        ids
    }

    fn restored(&self, session: &str) -> String {
        let mut out = Vec::new();
        restore_to(&self.engine, &SessionId::new(session), &mut out).expect("restored");
        String::from_utf8(out).expect("text")
    }
}

fn line(uuid: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{uuid}","sessionId":"{ID}","cwd":"/home/dev/my-app","timestamp":"2026-01-20T10:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

#[test]
fn a_session_is_kept_byte_for_byte_and_outlives_its_original() {
    let memory = Memory::new();
    let content = line("a", "first") + "torn\"}\n" + &line("b", "second") + r#"{"type":"user","uuid":"c""#;
    let path = memory.put(&format!("p/{ID}.jsonl"), &content);
    let report = memory.ingest(&[&path]);
    assert_eq!(report.sessions.len(), 1);
    assert_eq!((report.totals.messages, report.totals.new_unique, report.totals.issues), (2, 2, 2));
    assert_eq!(report.files[0].issues[0].line, 2, "issues name their line");
    assert_eq!(report.sessions[0].project_id.as_str(), "-home-dev-my-app", "the project is what cwd says");
    fs_err::remove_file(&path).expect("deleted");
    assert_eq!(memory.restored(ID), content, "restore needs no original");
    assert_eq!(memory.texts(ID), ["first", "second"]);
    assert!(!summary(&memory.engine, &SessionId::new(ID)).expect("a summary").original_present);
}

#[test]
fn what_is_nothing_new_is_told_by_its_cause_and_kept_in_its_conversation() {
    let reply = |uuid: &str, reply: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","message":{{"id":"{reply}","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        ) + "\n"
    };
    let copied = r#"{"type":"progress","data":{"type":"agent_progress","message":{}}}"#.to_owned() + "\n";
    let memory = Memory::new();
    let other = |last: u32| format!("{}{last:012}.jsonl", &ID[..24]);
    let first =
        line("a", "fix it") + &reply("b", "msg_1", "done") + &copied + &line("c", "continue") + &line("d", "continue");
    let path = memory.put(&format!("p/{ID}.jsonl"), &first);
    let totals = memory.ingest(&[&path]).totals;
    assert_eq!((totals.new_unique, totals.duplicates, totals.total_unique, totals.agent_copies), (3, 1, 3, 1));
    assert_eq!(totals.repeats, Repeats { text: 1, ..Repeats::default() }, "said twice, kept twice");
    assert_eq!(memory.texts(ID).len(), 4);

    let cases = [
        ("a copy", memory.put(&format!("backup/{ID}.jsonl"), &first), Repeats { file: 4, ..Repeats::default() }, 0),
        (
            "a shorter copy",
            memory.put(&format!("older/{ID}.jsonl"), &line("a", "fix it")),
            Repeats { beginning: 1, ..Repeats::default() },
            0,
        ),
        (
            "a longer copy",
            memory.put(&format!("newer/{ID}.jsonl"), &(first.clone() + &line("e", "and this"))),
            Repeats { beginning: 4, ..Repeats::default() },
            1,
        ),
        (
            "a fork",
            memory.put(&format!("p/{}", other(2)), &(line("a", "fix it") + &line("f", "another way"))),
            Repeats { record: 1, ..Repeats::default() },
            1,
        ),
        (
            "a resumed session",
            memory.put(&format!("p/{}", other(3)), &(reply("x", "msg_1", "done") + &line("y", "fix it"))),
            Repeats { reply: 1, text: 1, ..Repeats::default() },
            0,
        ),
    ];
    let mut unique = 3;
    for (what, path, repeats, new) in cases {
        let totals = memory.ingest(&[&path]).totals;
        unique += new;
        assert_eq!((totals.repeats, totals.new_unique), (repeats, new), "{what}");
        assert_eq!(totals.total_unique, unique, "{what}");
        assert_eq!(
            totals.duplicates,
            [repeats.file, repeats.beginning, repeats.record, repeats.reply, repeats.text].iter().sum::<u64>()
        );
    }
    memory
        .call(|call| remove(call.engine, &SessionRemoveRequest { session: ID.to_owned(), purge: true, force: false }))
        .expect("removed");
    let left = stats(&memory.engine).expect("figures");
    assert_eq!(
        (left.messages, left.unique_messages),
        (4, 3),
        "counts follow what is removed: fix it, another way, done"
    );
}

#[test]
fn a_huge_text_is_cut_for_whoever_asks_and_keeps_what_stands_before_the_cut() {
    let memory = Memory::new();
    let text = format!("##keepit0.9## né ##/keepit## {} ##keepit0.8## late", "ü".repeat(5_000));
    let path = memory.put(&format!("p/{ID}.jsonl"), &(line("a", &text) + &line("b", "short")));
    memory.ingest(&[&path]);
    let request =
        MessageListRequest { session: ID.to_owned(), agent: None, offset: None, limit: None, longest: Some(1_000) };
    let page = messages(&memory.engine, &request).expect("messages").messages;
    assert_eq!(page[0].text, text.chars().take(1_000).collect::<String>());
    assert_eq!(page[0].cut, text.chars().count() as u64 - 1_000, "what is missing is counted in characters");
    assert_eq!(page[0].keepits.len(), 1, "a marker behind the cut has no place in what is shown");
    assert_eq!((page[1].text.as_str(), page[1].cut), ("short", 0));
    assert_eq!(memory.texts(ID)[0], text, "whole for whoever does not ask");
}

#[test]
fn a_grown_file_is_read_on_from_its_last_whole_line() {
    let memory = Memory::new();
    let start = line("a", "first") + r#"{"type":"user","uuid":"b","message":{"content":"sec"#;
    let path = memory.put(&format!("p/{ID}.jsonl"), &start);
    assert_eq!(memory.ingest(&[&path]).totals.issues, 1, "the unfinished line is reported");
    let whole = start + "ond\"}}\n" + &line("c", "third");
    memory.put(&format!("p/{ID}.jsonl"), &whole);
    let report = memory.ingest(&[&path]);
    assert_eq!(report.sessions[0].status, IngestStatus::Updated);
    assert_eq!(report.files[0].messages, 2, "only what is new is read");
    assert_eq!(memory.texts(ID), ["first", "second", "third"]);
    assert_eq!(memory.restored(ID), whole);
    let detail = detail(&memory.engine, &SessionId::new(ID)).expect("a session");
    assert_eq!(detail.issues, [], "a line that was completed is no issue any more");
    let again = memory.ingest(&[&path]);
    assert_eq!(again.sessions[0].status, IngestStatus::Unchanged);
    assert_eq!(again.files[0].bytes_read, 0, "an unchanged file is not opened");
}

#[test]
fn copies_are_one_session_and_other_contents_are_kept_beside_it() {
    let memory = Memory::new();
    let long = line("a", "first") + &line("b", "second");
    let other = line("a", "edited") + &line("b", "second");
    let first = memory.put(&format!("p/{ID}.jsonl"), &long);
    let copy = memory.put(&format!("backup/{ID}.jsonl"), &long);
    let beginning = memory.put(&format!("old/{ID}.jsonl"), &line("a", "first"));
    let edited = memory.put(&format!("edited/{ID}.jsonl"), &other);
    for path in [&beginning, &first, &copy, &edited] {
        memory.ingest(&[path]);
    }
    assert_eq!(memory.ids(), [ID.to_owned(), format!("{ID}~2")]);
    assert_eq!(memory.restored(ID), long, "the longest is the session");
    assert_eq!(memory.restored(&format!("{ID}~2")), other, "another content is lost to nobody");
    let detail = detail(&memory.engine, &SessionId::new(ID)).expect("a session");
    assert_eq!(detail.places.len(), 3, "all places are remembered");
    let again = memory.ingest(&[memory.folder.path().join("p").as_path(), &copy, &beginning, &edited]);
    assert_eq!((again.totals.new, again.totals.updated), (0, 0), "taking the same in again changes nothing");
}

#[test]
fn sub_agents_belong_to_the_nearest_transcript_of_their_session() {
    let memory = Memory::new();
    let agent = line("x", "sub task")
        .replace("\"user\",\"uuid\"", "\"user\",\"isSidechain\":true,\"agentId\":\"ag1\",\"uuid\"");
    memory.put(&format!("p/{ID}.jsonl"), &line("a", "one"));
    memory.put("p/agent-ag1.jsonl", &agent);
    memory.put(&format!("q/{ID}.jsonl"), &line("a", "two"));
    memory.put(&format!("q/{ID}/subagents/agent-ag1.jsonl"), &agent.replace("sub task", "other task"));
    memory.put(&format!("q/{ID}/tool-results/out.txt"), "large output");
    let report = memory.ingest(&[memory.folder.path().join("p").as_path(), memory.folder.path().join("q").as_path()]);
    assert_eq!(report.totals.failed + report.totals.skipped, 0, "{report:?}");
    let tree = memory.folder.path().join("tree");
    let request =
        SessionRestoreRequest { all: true, tree: Some(tree.display().to_string()), ..SessionRestoreRequest::default() };
    let restored = memory.call(|call| restore(call, &request)).expect("restored");
    let mut names: Vec<String> = restored
        .files
        .iter()
        .map(|file| Path::new(&file.path).strip_prefix(&tree).expect("inside").display().to_string())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            format!("-home-dev-my-app/{ID}.jsonl"),
            format!("-home-dev-my-app/{ID}~2.jsonl"),
            format!("-home-dev-my-app/{ID}~2/subagents/agent-ag1.jsonl"),
            format!("-home-dev-my-app/{ID}~2/tool-results/out.txt"),
            "-home-dev-my-app/agent-ag1.jsonl".to_owned(),
        ]
    );
}

#[test]
fn purging_frees_only_what_no_other_session_needs_and_the_manifest_follows() {
    let memory = Memory::new();
    let path = memory.put(&format!("p/{ID}.jsonl"), &line("a", "one"));
    let other = memory.put("p/22222222-2222-4222-8222-222222222222.jsonl", &line("a", "one"));
    memory.ingest(&[&path, &other]);
    let manifest = memory.engine.home().manifest(&"-home-dev-my-app".into());
    let sessions = || -> usize {
        let manifest: serde_json::Value =
            serde_json::from_slice(&fs_err::read(&manifest).expect("a manifest")).expect("JSON");
        manifest["sessions"].as_object().expect("sessions").len()
    };
    assert_eq!(sessions(), 2);
    let purge = |session: &str| {
        let request = SessionRemoveRequest { session: session.to_owned(), purge: true, force: false };
        remove(&memory.engine, &request).expect("removed").bytes_freed
    };
    assert!(purge(ID) < 100, "the other session has the same bytes: only what was said of this one goes");
    assert_eq!(sessions(), 1);
    assert!(purge("22222222") > 300);
    assert!(path.exists() && other.exists(), "the client's files are never touched");
}

#[test]
fn keepits_are_found_weighed_added_and_removed_over_the_transcript() {
    let memory = Memory::new();
    let path = memory.put(
        &format!("p/{ID}.jsonl"),
        &(line("a", r"intro ##keepit0.50## Ünïcode \u201cdecision\u201d ##keepit1## pinned")
            + &line("b", "plain words here")),
    );
    memory.ingest(&[&path]);
    let session = SessionId::new(ID);
    let weights = || -> Vec<(u8, String)> {
        keepits(&memory.engine, &session)
            .expect("markers")
            .into_iter()
            .map(|keepit| (keepit.weight, keepit.content))
            .collect()
    };
    assert_eq!(weights(), [(50, "Ünïcode “decision”".to_owned()), (100, "pinned".to_owned())]);
    let first = keepits(&memory.engine, &session).expect("markers").remove(0);
    weigh_keepit(&memory.engine, &first.marker_id, Weight::from_hundredths(80)).expect("weighed");
    let added = add_keepit(
        &memory.engine,
        &KeepitAddRequest { session: ID.to_owned(), message: "b".to_owned(), start: 6, end: 11, weight: 0.9 },
    )
    .expect("added");
    assert_eq!(added.content, "words");
    memory.put(&format!("p/{ID}.jsonl"), &(fs_err::read_to_string(&path).expect("text") + &line("c", "more")));
    memory.ingest(&[&path]);
    assert_eq!(
        weights().iter().map(|(weight, _)| *weight).collect::<Vec<_>>(),
        [80, 100, 90],
        "what the user set outlives growth"
    );
    let pinned = keepits(&memory.engine, &session).expect("markers").remove(1);
    remove_keepit(&memory.engine, &pinned.marker_id).expect("removed");
    memory.ingest(&[
        &memory.put(&format!("q/{ID}.jsonl"), &(fs_err::read_to_string(&path).expect("text") + &line("d", "x")))
    ]);
    assert_eq!(weights().len(), 2, "a removed marker stays removed");
    weigh_keepit(&memory.engine, &pinned.marker_id, Weight::MAX).expect("weighed");
    assert_eq!(weights().len(), 3, "a weight brings it back");
    assert!(fs_err::read_to_string(&path).expect("text").contains("##keepit0.50##"), "the transcript stays as it is");
}

#[test]
fn a_weight_is_written_into_a_settled_transcript_only_and_changes_its_digits_alone() {
    let memory = Memory::new();
    let content =
        line("a", "`##keepit0.5##` is code, ##keepit0.5## one ##keepit0.5## two") + &line("b", "##keepit0.5## other");
    let path = memory.put(&format!("p/{ID}.jsonl"), &content);
    let settle = |seconds: u64| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs_err::OpenOptions::new().write(true).open(&path).expect("opened").set_modified(time).expect("set");
    };
    settle(1_768_899_999);
    memory.ingest(&[&path]);
    let session = SessionId::new(ID);
    let second = keepits(&memory.engine, &session).expect("markers").remove(1);
    let weigh = |weight| memory.call(|call| write_weight(call, &second.marker_id, Weight::from_hundredths(weight)));
    assert_eq!(
        weigh(75).expect_err("just written").kind,
        crate::ErrorKind::Conflict,
        "an open session is not written to"
    );
    settle(1_768_800_000);
    assert_eq!(
        weigh(75).expect_err("its time changed").kind,
        crate::ErrorKind::Conflict,
        "a file that changed is not written to"
    );
    memory.ingest(&[&path]);
    assert_eq!(weigh(75).expect("written").weight, 75);
    let expected = content.replacen("##keepit0.5## two", "##keepit0.75## two", 1);
    assert_eq!(fs_err::read_to_string(&path).expect("text"), expected, "only the marker's digits change");
    assert_eq!(memory.ids(), [ID], "the session stays the one that it is");
    assert_eq!(memory.restored(ID), expected);
    let backups: Vec<_> = fs_err::read_dir(memory.engine.home().backups()).expect("backups").collect();
    assert_eq!(backups.len(), 1, "a copy is kept first");
}

#[test]
fn counts_follow_the_model_that_is_set() {
    let memory = Memory::new();
    let path =
        memory.put(&format!("p/{ID}.jsonl"), &(line("a", "some words to count here") + &line("b", "and some more")));
    memory.ingest(&[&path]);
    let tokens = |engine: &Engine| summary(engine, &SessionId::new(ID)).expect("a summary").tokens;
    let before = tokens(&memory.engine);
    let reopen = |model: &str| {
        let config = memory.engine.home();
        crate::config::set(
            &config.config(),
            &config.lock(),
            "defaults.model",
            &serde_json::json!(model),
            memory.engine.now(),
        )
        .expect("set");
        Engine::open(EngineOptions {
            home: config.root().to_owned(),
            claude_home: memory.folder.path().join("claude"),
            clock: Arc::new(|| Time::from_millis(1_768_900_000_000)),
            sink: Arc::new(|_| {}),
            export_folders: Vec::new(),
            models: Arc::new(crate::language_model::NoModels),
        })
        .expect("opens")
    };
    let older = reopen("claude-sonnet-4-20250514");
    assert!(tokens(&older) < before, "an older model counts fewer tokens for the same text");
    let page = messages(
        &older,
        &MessageListRequest { session: ID.to_owned(), agent: None, offset: None, limit: None, longest: None },
    )
    .expect("messages");
    for message in page.messages {
        assert_eq!(message.tokens, older.counter().count(&message.text), "a count brought over is the count made anew");
    }
    assert_eq!(tokens(&reopen("opus")), before);
}
