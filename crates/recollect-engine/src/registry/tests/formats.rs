//! Formats beside the client's transcripts, through the same registry.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::*;

const BANNER: &str =
    " ▐▛███▜▌   Claude Code v2.0.76\n▝▜█████▛▘  Sonnet 4.5 · Claude Max\n  ▘▘ ▝▝    /home/dev/my-app\n\n";

fn export(turns: &[(&str, &str)]) -> String {
    turns.iter().fold(BANNER.to_owned(), |text, (user, assistant)| text + &format!("> {user} \n\n● {assistant}\n\n"))
}

fn transcript(turns: &[(&str, &str)]) -> String {
    let record = |kind: &str, at: usize, text: &str| {
        json!({"type": kind, "uuid": format!("{kind}{at}"), "sessionId": ID, "cwd": "/home/dev/my-app", "timestamp": format!("2026-01-20T10:00:{at:02}Z"),
               "message": {"role": kind, "content": [{"type": "text", "text": text}]}})
        .to_string()
            + "\n"
    };
    turns.iter().enumerate().fold(String::new(), |text, (at, (user, assistant))| {
        text + &record("user", at, user) + &record("assistant", at, assistant)
    })
}

fn only(memory: &Memory) -> crate::api::session::SessionSummary {
    let mut page = page(&memory.engine, &SessionListRequest::default()).expect("a list");
    assert_eq!(page.sessions.len(), 1, "{:?}", memory.ids());
    page.sessions.remove(0)
}

fn with_id(memory: &Memory, format: &str) -> crate::api::session::SessionSummary {
    let page = page(&memory.engine, &SessionListRequest::default()).expect("a list");
    page.sessions.into_iter().find(|session| session.format == format).expect("a session of the format")
}

#[test]
fn an_export_is_a_session_whatever_its_name_and_comes_back_byte_for_byte() {
    let memory = Memory::new();
    let text = export(&[("fix the login ##keepit0.90##never log tokens", "Done.")]);
    let path = memory.put("downloads/notes.bin", &text);
    let report = memory.ingest(&[&path]);
    let session = only(&memory);
    assert_eq!((session.format.as_str(), session.messages, session.keepits), ("claude-export", 2, 1), "{report:?}");
    assert_eq!(session.project_id.as_str(), "-home-dev-my-app", "the banner names the folder");
    assert_eq!(session.title, "fix the login ##keepit0.90##never log tokens");
    assert!(session.tokens > 0 && session.last_timestamp.is_some());
    let id = session.session_id.to_string();
    assert_eq!(memory.restored(&id), text);
    assert_eq!(memory.texts(&id), ["fix the login ##keepit0.90##never log tokens", "Done."]);
    let loaded = load(&memory.engine, &session.session_id).expect("loads");
    assert_eq!(loaded.messages.len(), 2);
    assert_eq!(memory.ingest(&[&path]).sessions[0].status, IngestStatus::Unchanged);
    let content = crate::archive::hex(&Sha256::digest(text.as_bytes()).into());
    let made = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, content.as_bytes());
    assert_eq!(id, made.to_string(), "its id follows from its bytes, however the archive cuts them");
    let copy = memory.put("elsewhere/copy.txt", &text);
    memory.ingest(&[&copy]);
    assert_eq!(memory.ids(), [id], "a copy is the same session");
}

#[test]
fn an_export_written_again_goes_on_with_its_session_and_the_earlier_one_is_kept() {
    let memory = Memory::new();
    let first = export(&[("fix the login", "Done."), ("thanks", "You are welcome.")]);
    let second = export(&[("fix the login", "Done."), ("thanks", "You are welcome."), ("and the logout", "Done too.")])
        .replace("v2.0.76", "v2.0.77");
    memory.ingest(&[&memory.put("a/2026-01-20-fix.txt", &first)]);
    let id = only(&memory).session_id.to_string();
    let report = memory.ingest(&[&memory.put("a/2026-01-21-fix.txt", &second)]);
    assert_eq!(report.sessions[0].status, IngestStatus::Updated);
    assert_eq!(memory.ids(), [id.as_str()]);
    assert_eq!((only(&memory).messages, memory.restored(&id)), (6, second));
    let tree = memory.folder.path().join("tree");
    let request = SessionRestoreRequest {
        session: Some(id.clone()),
        tree: Some(tree.display().to_string()),
        ..SessionRestoreRequest::default()
    };
    memory.call(|call| restore(call, &request)).expect("restored");
    let kept = tree.join("-home-dev-my-app/exports-archive/2026-01-20-fix.txt");
    assert_eq!(fs_err::read_to_string(kept).expect("the earlier export"), first);
    let old = memory.ingest(&[&memory.put("b/old.txt", &first)]);
    assert_eq!(old.sessions[0].status, IngestStatus::Unchanged, "an earlier export that is kept brings nothing");
    let wider = memory.put("b/wider.txt", &first.replace("v2.0.76", "v2.0.99"));
    assert_eq!(memory.ingest(&[&wider]).files[0].status, IngestStatus::Updated, "other bytes are kept");
    assert_eq!(memory.ingest(&[&wider]).files[0].status, IngestStatus::Unchanged);
    memory.ingest(&[&memory.put("c/wider.txt", &first.replace("v2.0.76", "v2.0.99"))]);
    let files = |id: &str| memory.engine.db().read(|rows| rows.files(&SessionId::new(id))).expect("files").len();
    assert_eq!((memory.ids().len(), only(&memory).messages, files(&id)), (1, 6, 3));
    memory.ingest(&[&memory.put("b/other.txt", &export(&[("fix the login", "No."), ("thanks", "Hm.")]))]);
    assert_eq!(memory.ids().len(), 2, "one greeting begins many conversations");
}

#[test]
fn an_export_and_its_transcript_are_one_conversation_whichever_comes_first() {
    let turns = [("fix the login", "Done **well**."), ("thanks", "You are welcome.")];
    let drawn = [("fix the login", "Done well."), ("thanks", "You are welcome.")];
    for transcript_first in [true, false] {
        let memory = Memory::new();
        let original = memory.put(&format!("p/{ID}.jsonl"), &transcript(&turns));
        let copy = memory.put("exports/2026-01-20-x.txt", &export(&drawn));
        let order: [&Path; 2] = if transcript_first { [&original, &copy] } else { [&copy, &original] };
        for path in order {
            memory.ingest(&[path]);
        }
        let copy = with_id(&memory, "claude-export");
        assert_eq!(copy.paired_with, Some(SessionId::new(ID)), "transcript first: {transcript_first}");
        let figures = stats(&memory.engine).expect("figures");
        assert_eq!((figures.sessions, figures.messages), (1, 4), "what was said is counted once");
        let original = summary(&memory.engine, &SessionId::new(ID)).expect("a session");
        assert_eq!((original.distance, original.paired_with), (1, None));
        assert_eq!(resolve(&memory.engine, "latest").expect("a session").as_str(), ID, "the transcript is preferred");
        let detail = detail(&memory.engine, &SessionId::new(ID)).expect("a session");
        assert_eq!(detail.exports, [copy.session_id]);
    }
}

#[test]
fn conversations_are_sessions_of_their_own_and_go_on_with_the_next_download() {
    let memory = Memory::new();
    let conversation = |uuid: &str, name: &str, said: &[&str]| {
        let said: Vec<_> = said
            .iter()
            .enumerate()
            .map(|(at, text)| json!({"uuid": format!("{uuid}-{at}"), "sender": if at % 2 == 0 { "human" } else { "assistant" }, "text": text, "created_at": "2026-01-20T10:00:00Z"}))
            .collect();
        json!({"uuid": uuid, "name": name, "chat_messages": said}).to_string()
    };
    const TRIP: &str = "aaaaaaaa-0000-4000-8000-000000000001";
    const FOOD: &str = "aaaaaaaa-0000-4000-8000-000000000002";
    let trip = conversation(TRIP, "Trip", &["where to", "Rome"]);
    let empty = conversation("aaaaaaaa-0000-4000-8000-000000000003", "", &[]);
    let path = memory.put(
        "data/conversations.json",
        &format!("[{trip}, {empty},\n{}]", conversation(FOOD, "Food", &["what", "soup"])),
    );
    let report = memory.ingest(&[&path]);
    assert_eq!(memory.ids(), [TRIP, FOOD]);
    assert_eq!((report.files.len(), report.totals.new, report.totals.failed), (1, 2, 0));
    assert_eq!(memory.restored(TRIP), trip, "a session's bytes are those of its element");
    assert_eq!(memory.texts(TRIP), ["where to", "Rome"]);
    let again = memory.ingest(&[&path]);
    assert_eq!((again.totals.unchanged, again.totals.bytes_read), (2, 0));
    let longer = conversation(TRIP, "Trip", &["where to", "Rome", "when", "May"]);
    let food = conversation(FOOD, "Soups", &["what", "soup"]);
    let report =
        memory.ingest(&[&memory.put("later/conversations.json", &format!("[{longer},{food},{{\"uuid\":\"torn"))]);
    assert_eq!((report.totals.updated, report.totals.issues), (2, 1), "{report:?}");
    assert_eq!(memory.ids(), [TRIP, FOOD], "the same conversations");
    assert_eq!(memory.restored(TRIP), longer);
    assert_eq!(summary(&memory.engine, &SessionId::new(FOOD)).expect("a session").title, "Soups");
    memory.ingest(&[&path]);
    assert_eq!(memory.texts(TRIP).len(), 4, "an earlier download takes nothing away");
}

#[test]
fn prompts_of_deleted_sessions_are_kept_until_their_transcript_comes() {
    let memory = Memory::new();
    let prompt = |session: Option<&str>, text: &str| {
        json!({"display": text, "pastedContents": {}, "timestamp": 1_768_903_200_000_u64, "project": "/home/dev/my-app", "sessionId": session}).to_string() + "\n"
    };
    const OTHER: &str = "22222222-2222-4222-8222-222222222222";
    let text = prompt(Some(ID), "fix the login")
        + &prompt(Some(OTHER), "and this")
        + &prompt(None, "long ago")
        + "torn\n"
        + &prompt(Some(ID), "thanks");
    let path = memory.put("claude/history.jsonl", &text);
    let report = memory.ingest(&[&path]);
    assert_eq!((report.totals.new, report.totals.issues), (3, 1), "{report:?}");
    assert_eq!(memory.texts(ID), ["fix the login", "thanks"]);
    assert_eq!(with_id(&memory, "history").project_id.as_str(), "-home-dev-my-app");
    let grown = memory.put("claude/history.jsonl", &(text + &prompt(Some(OTHER), "more")));
    memory.ingest(&[&grown]);
    assert_eq!(memory.texts(OTHER), ["and this", "more"]);
    let original = transcript(&[("fix the login", "Done."), ("thanks", "You are welcome.")]);
    memory.ingest(&[&memory.put(&format!("p/{ID}.jsonl"), &original)]);
    assert_eq!(memory.ids().len(), 3, "the transcript takes the place of its prompts");
    assert_eq!((memory.restored(ID), memory.texts(ID).len()), (original, 4));
    memory.put("claude/history.jsonl", &(fs_err::read_to_string(&grown).expect("text") + &prompt(Some(ID), "again")));
    memory.ingest(&[&grown]);
    assert_eq!(memory.texts(ID).len(), 4, "what has a transcript gets nothing from the history");
}

#[test]
fn what_is_no_conversation_is_left_alone_and_an_empty_export_is_explained() {
    let memory = Memory::new();
    memory.put("docs/readme.md", "# Read me\n\n> a quote\n\n## Users\n\ntext\n");
    memory.put("docs/photo.png", "\u{0}\u{1}PNG");
    memory.put("docs/node_modules/x.txt", &export(&[("hi", "ho")]));
    memory.put("docs/2026-01-20-empty.txt", "");
    memory.put("docs/chat.md", "## 👤 User\n\nfix it\n\n## 🤖 Claude\n\nDone.\n");
    memory.put("docs/plain", "Human: fix it\nAssistant: Done.\n");
    let report = memory.ingest(&[&memory.folder.path().join("docs")]);
    let mut formats: Vec<&str> = report.sessions.iter().map(|session| session.format.as_str()).collect();
    formats.sort_unstable();
    assert_eq!(formats, ["markdown-export", "plain-export"], "{report:?}");
    assert_eq!((report.totals.skipped, report.totals.failed), (1, 0));
    let note = report.files.iter().find_map(|file| file.note.clone().filter(|_| file.status == IngestStatus::Skipped));
    assert!(note.is_some_and(|note| note.contains("known fault") && note.contains("transcript")));
    let binary = memory.ingest(&[&memory.folder.path().join("docs/photo.png")]);
    assert_eq!(binary.totals.skipped, 1, "{binary:?}");
    let windows: Vec<u8> = std::iter::once(0xFEFF)
        .chain(export(&[("grüße", "Hallo.")]).replace('\n', "\r\n").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let path = memory.path("win/export.txt");
    fs_err::write(&path, &windows).expect("written");
    let report = memory.ingest(&[&path]);
    let id = report.sessions[0].session_id.to_string();
    assert_eq!(memory.texts(&id), ["grüße", "Hallo."]);
    let mut out = Vec::new();
    restore_to(&memory.engine, &SessionId::new(id), &mut out).expect("restored");
    assert_eq!(out, windows);
}
