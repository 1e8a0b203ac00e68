//! A session as a `MEMORY-CONTEXT` folder keeps it (export-deduplication.md): JSON with the hash, role, content and index of
//! each message; another installation may have written only what was new to it.

use serde_json::{Map, Value};

use super::claude_code::Record;
use super::conversation::{Conversation, Placed, message};
use super::json;
use crate::dedup::ContentHash;
use crate::session::{Block, Issue, Message, MessageKind, Role};
use crate::time::Time;

/// Whether the beginning of a file is that of such a session.
pub(super) fn is_session(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    let named = |key: &[u8]| memchr::memmem::find(head, key).is_some();
    head.starts_with(b"{") && named(b"\"session_id\"") && named(b"\"messages\"") && named(b"\"hash\"")
}

/// Reads a session.
pub(super) fn read(bytes: &[u8]) -> Conversation {
    let mut conversation = Conversation::default();
    let mut issue = |at: usize, message: String| {
        conversation.issues.push((Issue { line: at as u64 + 1, message }, 0));
    };
    let value = match json::read_line(bytes) {
        Ok(read) => read.value,
        Err(message) => {
            issue(0, message);
            return conversation;
        }
    };
    let Value::Object(object) = &value else {
        issue(0, "is JSON, but not a session; kept as it is".to_owned());
        return conversation;
    };
    let list = |key: &str| {
        let items = object.get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let facts = Record {
        record: "session".to_owned(),
        session_id: owned(object, "session_id"),
        cwd: owned(object, "project_path").or_else(|| owned(object, "project")),
        git_branch: owned(object, "git_branch"),
        custom_title: owned(object, "title"),
        client_version: list("client_versions").pop(),
        ..Record::default()
    };
    let mut read: Vec<(u64, Message)> = Vec::new();
    let items = object.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (at, item) in items.iter().enumerate() {
        let Some((index, message, wrong)) = item.as_object().and_then(|item| one(item, at)) else {
            issue(at, format!("message {} is not one; kept as it is", at + 1));
            continue;
        };
        if wrong {
            issue(at, format!("message {}: its hash is not that of its content", at + 1));
        }
        read.push((index, message));
    }
    // The order is that of the conversation; what another installation left out had been said elsewhere.
    read.sort_by_key(|(index, _)| *index);
    conversation.records.push(Placed::without_place(facts));
    for (_, message) in read {
        let record = Record { record: "message".to_owned(), message: Some(message), ..Record::default() };
        conversation.records.push(Placed::without_place(record));
    }
    conversation
}

/// A message with its index in the conversation, and whether its hash is another's.
fn one(item: &Map<String, Value>, at: usize) -> Option<(u64, Message, bool)> {
    let content = item.get("content")?.as_str()?;
    let index = item.get("index").and_then(Value::as_u64).unwrap_or(at as u64);
    let (role, kind) = match text_of(item, "role") {
        "user" | "human" => (Role::User, MessageKind::Turn),
        "assistant" => (Role::Assistant, MessageKind::Turn),
        "tool" => (Role::Tool, MessageKind::Turn),
        _ => (Role::System, MessageKind::Notice),
    };
    let kind = match text_of(item, "kind") {
        "meta" => MessageKind::Meta,
        "compact_boundary" => MessageKind::CompactBoundary,
        "compact_summary" => MessageKind::CompactSummary,
        "notice" => MessageKind::Notice,
        _ => kind,
    };
    let position = usize::try_from(index).unwrap_or(at);
    let mut made = message(position, role, kind, vec![Block::Text { text: content.to_owned() }]);
    if let Some(uuid) = owned(item, "uuid") {
        made.uuid = uuid;
    }
    made.timestamp = Time::parse(text_of(item, "timestamp"));
    let hash = text_of(item, "hash");
    let wrong = !hash.is_empty() && !ContentHash::of(content).to_string().eq_ignore_ascii_case(hash);
    Some((index, made, wrong))
}

fn text_of<'v>(object: &'v Map<String, Value>, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or("")
}

fn owned(object: &Map<String, Value>, key: &str) -> Option<String> {
    let text = text_of(object, key).trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_come_in_the_order_of_the_conversation_and_hashes_are_checked() {
        let hash = ContentHash::of("second").to_string();
        let session = json!({
            "session_id": "2025-11-18-session-1", "project": "ERP", "title": "Login",
            "messages": [
                {"hash": hash, "role": "assistant", "content": "second", "index": 5},
                {"hash": "00", "role": "user", "content": "first", "index": 2},
                "odd",
            ],
        })
        .to_string();
        assert!(is_session(session.as_bytes()));
        let read = read(session.as_bytes());
        let issues: Vec<_> = read.issues.iter().map(|(issue, _)| issue.message.as_str()).collect();
        assert_eq!(issues, ["message 2: its hash is not that of its content", "message 3 is not one; kept as it is"]);
        assert_eq!(read.records[0].record.session_id.as_deref(), Some("2025-11-18-session-1"));
        let said: Vec<_> = read.messages().iter().map(|message| (message.uuid.clone(), message.text())).collect();
        assert_eq!(said, [("message-3".to_owned(), "first".to_owned()), ("message-6".to_owned(), "second".to_owned())]);
        assert!(!is_session(br#"{"messages": []}"#));
    }

    proptest! {
        #[test]
        fn odd_shapes_never_panic(body in "(null|1|-1|\"x\"|\\[\\]|\\[null,1,\\{\\}\\])") {
            read(format!(r#"{{"session_id":{body},"messages":[{body},{{"content":"x","index":{body},"role":{body},"hash":{body}}}]}}"#).as_bytes());
        }
    }
}
