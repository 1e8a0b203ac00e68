//! Transcripts as Claude Code writes them, made up for the tests.

use std::path::{Path, PathBuf};

use serde_json::json;

/// Writes a transcript of `turns` turns under the project folder of `cwd` in a Claude home, or beside it when `folder` says so.
pub(crate) fn write(folder: &Path, session_id: &str, cwd: &str, title: &str, turns: usize) -> PathBuf {
    let mut lines = vec![json!({"type": "custom-title", "customTitle": title, "sessionId": session_id}).to_string()];
    let mut parent = serde_json::Value::Null;
    for turn in 0..turns {
        for role in ["user", "assistant"] {
            let uuid = format!(
                "{:08x}-0000-4000-8000-{:012x}",
                turn * 2 + usize::from(role == "assistant"),
                checksum(session_id)
            );
            let text = match (role, turn) {
                ("user", 1) => {
                    "##keepit0.75## The lock lives in the session store, because a tab can be closed while it holds it."
                        .to_owned()
                }
                ("user", _) => format!(
                    "Question {turn} about {title}: which of the callers in module{turn}.ts skips the lock, and why does it?"
                ),
                _ => format!(
                    "Answer {turn}. The caller fetch_{turn} skips it. I looked at {} places. The error was E{turn:03} in module{turn}.ts, \
                     so the fix is to take the lock first. Afterwards the tests passed. We decided to keep version {turn} of the interface.",
                    turn + 3
                ),
            };
            let content = if role == "user" { json!(text) } else { json!([{"type": "text", "text": text}]) };
            let record = json!({
                "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": session_id, "cwd": cwd, "version": "2.1.0",
                "gitBranch": "main", "isSidechain": false, "userType": "external",
                "timestamp": format!("2026-01-20T10:{:02}:{:02}.000Z", turn / 2 % 60, turn % 2 * 30 + usize::from(role == "assistant") * 10),
                "message": {"role": role, "content": content},
            });
            parent = json!(uuid);
            lines.push(record.to_string());
        }
    }
    fs_err::create_dir_all(folder).expect("the folder of the transcript");
    let path = folder.join(format!("{session_id}.jsonl"));
    fs_err::write(&path, lines.join("\n") + "\n").expect("the transcript");
    path
}

fn checksum(text: &str) -> u64 {
    text.bytes().fold(7, |sum, byte| (sum * 31 + u64::from(byte)) % 0xffff_ffff_ffff)
}
