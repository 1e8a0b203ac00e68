//! Folders of another installation, and our own, on real memories.

use super::*;
use crate::testing::Memory;

const ID: &str = "11111111-1111-4111-8111-111111111111";

impl Memory {
    fn import(&self, path: &Path) -> ContextImported {
        let request = ContextImportRequest { path: path.display().to_string(), project: None };
        self.call(|call| import(call, &request)).expect("a folder that can be taken over")
    }

    fn export(&self, path: &Path) -> ContextExported {
        let request = ContextExportRequest { path: path.display().to_string(), project: None };
        self.call(|call| export(call, &request)).expect("a folder that can be written")
    }
}

fn hash(text: &str) -> String {
    ContentHash::of(text).to_string()
}

fn value(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).expect("a file")).expect("JSON")
}

fn transcript() -> String {
    let record = |kind: &str, at: usize, content: Value| {
        json!({"type": kind, "uuid": format!("u{at}"), "sessionId": ID, "cwd": "/home/dev/my-app", "gitBranch": "main", "timestamp": format!("2026-01-20T10:00:{at:02}Z"),
               "message": {"role": kind, "content": content}})
        .to_string()
            + "\n"
    };
    record("user", 0, json!("fix the login"))
        + &record(
            "assistant",
            1,
            json!([{"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/home/dev/my-app/src/login.rs", "old_string": "a", "new_string": "b"}}]),
        )
        + &record("user", 2, json!([{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]))
        + &record("assistant", 3, json!([{"type": "text", "text": "Done."}]))
}

#[test]
fn what_another_installation_wrote_is_taken_over_with_hashes_and_watermarks() {
    let memory = Memory::new();
    let root = memory.folder.path().join("PROJECTS/MEMORY-CONTEXT");
    let put = |name: &str, content: &str| memory.put(&format!("PROJECTS/MEMORY-CONTEXT/{name}"), content);
    put("exports-archive/2025-11-18-app.txt", "Human: fix the login\nAssistant: Done.\n");
    let message = |index: u64, role: &str, content: &str| json!({"hash": hash(content), "role": role, "content": content, "index": index});
    let known =
        json!({"session_id": "2025-11-18-app", "project": "app", "messages": [message(0, "user", "fix the login")]});
    put("sessions/2025-11-18-app.json", &known.to_string());
    let only = json!({"session_id": "2025-11-17-gone", "project": "ERP", "messages": [message(3, "assistant", "Rome."), message(2, "user", "where to")]});
    put("sessions/2025-11-17-gone.json", &only.to_string());
    put(
        "dedup_state/message_hashes.json",
        &json!({"hashes": [hash("fix the login"), hash("never seen here"), "odd"], "count": 3}).to_string(),
    );
    put("dedup_state/watermarks.json", &json!({"2025-11-18-app": 2, "2025-11-16-other": 7}).to_string());
    put("dedup_state/checkpoints.json", &json!({"before": {"hashes": 1}}).to_string());
    let report = memory.import(root.parent().expect("a folder"));
    assert_eq!(
        (report.hashes, report.new_hashes, report.watermarks, report.known_sessions),
        (2, 1, 2, 1),
        "{report:?}"
    );
    assert_eq!(report.issues, ["message_hashes.json: 1 entries are no SHA-256"]);
    assert_eq!(memory.texts("2025-11-17-gone"), ["where to", "Rome."]);
    assert_eq!(report.ingest.totals.new, 2, "an export and a session that only its summary tells of");
    let fresh = memory.put("later.txt", "Human: never seen here\nAssistant: Really new.\n");
    let ingested = memory.ingest(&[&fresh]);
    assert_eq!((ingested.totals.new_unique, ingested.totals.duplicates), (1, 1), "an imported hash is no new message");
    let marked = memory.put("2025-11-16-other.txt", "Human: a\nAssistant: b\n");
    assert_eq!(memory.ingest(&[&marked]).totals.new_unique, 0, "what lies before a watermark was seen");
    let again = memory.import(&root);
    assert_eq!((again.new_hashes, again.ingest.totals.new, again.ingest.totals.updated), (0, 0, 0));
    let out = memory.folder.path().join("out");
    memory.export(&out);
    let state = value(&out.join("dedup_state/message_hashes.json"));
    let hashes = state["hashes"].as_array().expect("a list");
    assert!(hashes.contains(&json!(hash("never seen here"))), "what was taken over is given on");
    assert_eq!(state["count"], hashes.len());
    assert_eq!(value(&out.join("dedup_state/watermarks.json"))["2025-11-16-other"], 7);
    assert_eq!(value(&out.join("dedup_state/checkpoints.json"))["before"]["hashes"], 1);
    let back = fs_err::read_to_string(out.join("sessions/2025-11-17-gone.json")).expect("its session");
    assert_eq!(back, only.to_string(), "what came from a folder goes back as it was");
}

#[test]
fn what_we_write_we_can_read_and_it_has_the_documents_shape() {
    let memory = Memory::new();
    memory.ingest(&[&memory.put(&format!("p/{ID}.jsonl"), &transcript())]);
    memory.ingest(&[&memory.put("x/2026-01-19-talk.txt", "Human: what is it\nAssistant: A talk.\n")]);
    let out = memory.folder.path().join("out");
    let written = memory.export(&out);
    assert_eq!((written.sessions, written.messages, written.hashes, written.files), (2, 6, 6, 2));
    let session = value(&out.join(format!("sessions/{ID}.json")));
    assert_eq!((&session["session_id"], &session["project"]), (&json!(ID), &json!("my-app")));
    assert_eq!(session["messages"][0]["hash"], hash("fix the login"));
    assert_eq!(session["extracted"]["code_changes"][0]["path"], "/home/dev/my-app/src/login.rs");
    assert_eq!(value(&out.join("dedup_state/watermarks.json"))[ID], 4);
    assert_eq!(value(&out.join("index/entities.json"))["src/login.rs"], json!([ID]));
    let timeline = value(&out.join("index/timeline.json"));
    assert_eq!((&timeline[0]["date"], &timeline[1]["date"]), (&json!("2026-01-20"), &json!("2026-01-19")));
    assert_eq!(
        fs_err::read_to_string(out.join(format!("exports-archive/{ID}.jsonl"))).expect("the transcript"),
        transcript()
    );
    let markdown = fs_err::read_to_string(out.join(format!("sessions/{ID}.md"))).expect("its text");
    assert!(markdown.contains("## 👤 User") && markdown.contains("`/home/dev/my-app/src/login.rs`"), "{markdown}");
    let other = Memory::new();
    let report = other.import(&out);
    assert_eq!((report.ingest.totals.new, report.known_sessions, report.new_hashes), (2, 2, 0), "{report:?}");
    assert_eq!(other.texts(ID), memory.texts(ID));
    let before: Vec<_> =
        files_below(&out).into_iter().map(|path| (fs_err::read(&path).expect("a file"), path)).collect();
    other.export(&out);
    for (bytes, path) in before.iter().filter(|(_, path)| !path.to_string_lossy().contains("-archive")) {
        let after = fs_err::read(path).expect("still there");
        let same_but_uuid = path.extension().is_some_and(|ending| ending == "md" || ending == "json");
        assert!(&after == bytes || same_but_uuid, "{}", path.display());
    }
    assert_eq!(
        value(&out.join("dedup_state/message_hashes.json"))["hashes"].as_array().map(Vec::len),
        Some(6),
        "a round trip adds nothing"
    );
    assert_eq!(files_below(&out.join("exports-archive")).len(), 2);
}

#[test]
fn a_state_that_is_not_understood_is_never_written_over() {
    let memory = Memory::new();
    memory.ingest(&[&memory.put(&format!("p/{ID}.jsonl"), &transcript())]);
    let path = memory.put("out/dedup_state/message_hashes.json", "{\"hashes\": [torn");
    let request = ContextExportRequest { path: memory.folder.path().join("out").display().to_string(), project: None };
    let error = memory.call(|call| export(call, &request)).expect_err("refused");
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert_eq!(fs_err::read_to_string(&path).expect("there"), "{\"hashes\": [torn");
    assert!(!memory.folder.path().join("out/sessions").exists(), "nothing was written");
    let none = ContextImportRequest { path: memory.folder.path().join("p").display().to_string(), project: None };
    assert_eq!(memory.call(|call| import(call, &none)).expect_err("no such folder").kind, ErrorKind::NotFound);
}
