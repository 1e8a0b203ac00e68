//! A version as records of Claude Code's own shape, text only, so that it could be resumed; beside each, where it comes from.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::SessionHead;
use crate::api::compression::{VersionMessage, VersionMessageKind};
use crate::error::Result;
use crate::session::Role;
use crate::time::Time;

/// What a record says beside what the client reads.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trace {
    role: Role,
    kind: VersionMessageKind,
    tokens: u64,
    hash: String,
    sources: Vec<String>,
    source_indexes: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timestamp: Option<Time>,
}

/// Writes the messages, one record a line, in an unbroken chain. What tools returned is told by the assistant.
pub fn to_jsonl(session: &SessionHead, messages: &[VersionMessage]) -> Result<String> {
    let mut lines = String::new();
    let mut parent = Value::Null;
    let mut time = session.first.or(session.last).unwrap_or(Time::from_millis(0));
    for message in messages {
        // Every record needs an instant, and they may not go backwards for the client to find the last one.
        time = time.max(message.timestamp.unwrap_or(time));
        let user = message.role == Role::User;
        let mut record = Map::new();
        let mut put = |key: &str, value: Value| record.insert(key.to_owned(), value);
        put("parentUuid", parent);
        put("isSidechain", json!(false));
        put("userType", json!("external"));
        put("cwd", json!(session.project_path));
        put("sessionId", json!(session.id));
        put("version", json!("2.1.0"));
        put("gitBranch", json!(session.branch.as_deref().unwrap_or("")));
        put("type", json!(if user { "user" } else { "assistant" }));
        put(
            "message",
            if user {
                json!({"role": "user", "content": message.text})
            } else {
                json!({
                    "id": format!("msg_{}", message.uuid.replace('-', "")),
                    "type": "message",
                    "role": "assistant",
                    "model": "<synthetic>",
                    "content": [{"type": "text", "text": message.text}],
                    "stop_reason": "end_turn",
                    "stop_sequence": null,
                    "usage": {"input_tokens": 0, "output_tokens": message.tokens},
                })
            },
        );
        put("uuid", json!(message.uuid));
        put("timestamp", json!(time));
        put(
            "recollect",
            serde_json::to_value(Trace {
                role: message.role,
                kind: message.kind,
                tokens: message.tokens,
                hash: message.hash.clone(),
                sources: message.sources.clone(),
                source_indexes: message.source_indexes.clone(),
                timestamp: message.timestamp,
            })?,
        );
        parent = json!(message.uuid);
        lines.push_str(&serde_json::to_string(&record)?);
        lines.push('\n');
    }
    Ok(lines)
}

/// Reads them back.
///
/// # Errors
/// When a line is not a record of a version: the file was damaged.
pub fn from_jsonl(lines: &str) -> Result<Vec<VersionMessage>> {
    #[derive(Deserialize)]
    struct Record {
        uuid: String,
        message: Said,
        recollect: Trace,
    }
    #[derive(Deserialize)]
    struct Said {
        content: Value,
    }
    let mut messages = Vec::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let record: Record = serde_json::from_str(line)?;
        let text = match record.message.content {
            Value::String(text) => text,
            content => content.pointer("/0/text").and_then(Value::as_str).unwrap_or("").to_owned(),
        };
        messages.push(VersionMessage {
            index: messages.len() as u32,
            uuid: record.uuid,
            role: record.recollect.role,
            kind: record.recollect.kind,
            timestamp: record.recollect.timestamp,
            text,
            hash: record.recollect.hash,
            tokens: record.recollect.tokens,
            sources: record.recollect.sources,
            source_indexes: record.recollect.source_indexes,
        });
    }
    Ok(messages)
}
