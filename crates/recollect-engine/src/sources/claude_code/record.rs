//! One line: a message, a fact about the session, or a record of another kind.

use serde_json::{Map, Value};

use super::block::{blocks, text_of};
use crate::session::{Block, Message, MessageKind, Role};
use crate::sources::json;
use crate::time::Time;
use crate::transcript;

/// What a line says.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its message, if it is one; `index` is set when it is placed in its conversation.
    pub message: Option<Message>,
    /// Its type, with the subtype after a slash.
    pub record: String,
    /// The line is on a side chain (a sub-agent's).
    pub sidechain: bool,
    /// The session that it names.
    pub session_id: Option<String>,
    /// The sub-agent that it names.
    pub agent_id: Option<String>,
    /// The working directory that it names.
    pub cwd: Option<String>,
    /// The branch that it names.
    pub git_branch: Option<String>,
    /// The client that wrote it.
    pub client_version: Option<String>,
    /// A title that the user gave.
    pub custom_title: Option<String>,
    /// A title that the client made.
    pub ai_title: Option<String>,
    /// A summary that older clients made.
    pub summary: Option<String>,
    /// Tokens of the reply: input with cached, output.
    pub usage: Option<(u64, u64)>,
    /// The sub-agent whose run the tool result reports.
    pub reported_agent: Option<String>,
}

impl Record {
    /// Its type is one that the client is known to write.
    pub fn is_known(&self) -> bool {
        let kind = self.record.split('/').next().unwrap_or("");
        matches!(kind, "user" | "assistant") || OTHER_RECORDS.contains(&kind)
    }
}

/// A line that was read: what it says, and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// What it says; `None` when it could not be read at all.
    pub record: Option<Record>,
    /// What is wrong with it, in words.
    pub issue: Option<String>,
}

/// Types of records that hold no message and are understood to hold none.
const OTHER_RECORDS: &[&str] = &[
    "progress",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "cost-state",
    "bridge-session",
    "summary",
    "ai-title",
    "custom-title",
    "attachment",
    "system",
    "tool_use",
    "tool_result",
    "started",
    "result",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "worktree-state",
    "content-replacement",
    "attribution-snapshot",
    "speculation-accept",
    "task-summary",
    "relocated",
    "atis-latch",
    "tools-used",
];

/// Reads one line, never failing and never panicking. `line_number` names messages that carry no uuid.
pub fn read(line: &[u8], line_number: u64) -> Reading {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Reading::default();
    }
    let read = match json::read_line(line) {
        Ok(read) => read,
        Err(message) => return Reading { record: None, issue: Some(message) },
    };
    let mut issue = read.mended.map(str::to_owned);
    let Value::Object(object) = &read.value else {
        return Reading { record: None, issue: Some("is JSON, but not a record; kept as it is".to_owned()) };
    };
    let kind = text_of(object, "type");
    let mut record = Record {
        record: named(object, kind),
        sidechain: object.get("isSidechain").and_then(Value::as_bool).unwrap_or(false),
        session_id: owned(object, "sessionId"),
        agent_id: owned(object, "agentId"),
        cwd: owned(object, "cwd"),
        git_branch: owned(object, "gitBranch"),
        client_version: owned(object, "version"),
        ..Record::default()
    };
    let content = match kind {
        // The beginning of a session that goes on from a composition is in memory already, where it comes from; what
        // it opens with says so.
        "user" | "assistant" if transcript::is_composed(object) && !opens(object) => None,
        "user" => user(object),
        "assistant" => assistant(object, &mut record),
        "system" => system(object),
        "attachment" => queued_command(object),
        _ => None,
    };
    match kind {
        "custom-title" => record.custom_title = owned(object, "customTitle"),
        "ai-title" => record.ai_title = owned(object, "aiTitle"),
        "summary" => record.summary = owned(object, "summary"),
        "" => issue = issue.or_else(|| Some("has no type; kept as it is".to_owned())),
        "user" | "assistant" => {}
        _ if OTHER_RECORDS.contains(&kind) || kind.starts_with("api-request") => {}
        _ => {
            issue =
                issue.or_else(|| Some(format!("is of a kind that is not known, `{}`; kept as it is", cut(kind, 60))));
        }
    }
    if kind == "user"
        && let Some(Value::Object(result)) = object.get("toolUseResult")
    {
        record.reported_agent = owned(result, "agentId");
    }
    record.message = content.map(|(role, kind, blocks)| Message {
        index: 0,
        uuid: owned(object, "uuid").unwrap_or_else(|| format!("line-{line_number}")),
        role,
        kind,
        timestamp: object.get("timestamp").and_then(Value::as_str).and_then(Time::parse),
        reply_id: object.get("message").and_then(Value::as_object).and_then(|message| owned(message, "id")),
        model: object.get("message").and_then(Value::as_object).and_then(|message| owned(message, "model")),
        agent_id: None,
        cut_lines: None,
        blocks,
    });
    Reading { record: Some(record), issue }
}

/// Whether a record opens a conversation with the summary of another.
fn opens(object: &Map<String, Value>) -> bool {
    object.get("isCompactSummary").and_then(Value::as_bool).unwrap_or(false)
}

type Content = (Role, MessageKind, Vec<Block>);

fn user(object: &Map<String, Value>) -> Option<Content> {
    let blocks = match object.get("message") {
        Some(Value::Object(message)) => blocks(message.get("content").unwrap_or(&Value::Null)),
        Some(other) => blocks(other),
        None => blocks(object.get("content").unwrap_or(&Value::Null)),
    };
    if blocks.is_empty() {
        return None;
    }
    let flag = |key: &str| object.get(key).and_then(Value::as_bool).unwrap_or(false);
    let has_text = blocks.iter().any(|block| matches!(block, Block::Text { .. }));
    let has_result = blocks.iter().any(|block| matches!(block, Block::ToolResult { .. }));
    let role = if has_result && !has_text { Role::Tool } else { Role::User };
    let kind = if opens(object) {
        MessageKind::CompactSummary
    } else if flag("isMeta") || blocks.iter().all(is_injected) {
        MessageKind::Meta
    } else {
        MessageKind::Turn
    };
    Some((role, kind, blocks))
}

/// A text that the client put in the user's place: all of it is one element named after a hook, or a reminder.
fn is_injected(block: &Block) -> bool {
    let Block::Text { text } = block else { return false };
    let text = text.trim();
    let Some((name, _)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else { return false };
    (name.ends_with("-hook") || name == "system-reminder")
        && text.strip_suffix('>').and_then(|rest| rest.strip_suffix(name)).is_some_and(|rest| rest.ends_with("</"))
}

fn assistant(object: &Map<String, Value>, record: &mut Record) -> Option<Content> {
    let message = object.get("message")?;
    let content = match message {
        Value::Object(message) => {
            record.usage = message.get("usage").and_then(Value::as_object).map(usage);
            blocks(message.get("content").unwrap_or(&Value::Null))
        }
        other => blocks(other),
    };
    if content.is_empty() {
        return None;
    }
    let failed = object.get("isApiErrorMessage").and_then(Value::as_bool).unwrap_or(false);
    Some((Role::Assistant, if failed { MessageKind::Notice } else { MessageKind::Turn }, content))
}

fn usage(usage: &Map<String, Value>) -> (u64, u64) {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    let input = count("input_tokens")
        .saturating_add(count("cache_read_input_tokens"))
        .saturating_add(count("cache_creation_input_tokens"));
    // The database counts in signed 64 bits; no true figure comes near.
    (input.min(1 << 50), count("output_tokens").min(1 << 50))
}

fn system(object: &Map<String, Value>) -> Option<Content> {
    let text = match text_of(object, "subtype") {
        "compact_boundary" => return Some((Role::System, MessageKind::CompactBoundary, vec![compaction(object)])),
        "turn_duration" | "stop_hook_summary" | "bridge_status" => return None,
        "api_error" => api_error(object),
        _ => text_of(object, "content").to_owned(),
    };
    if text.trim().is_empty() {
        return None;
    }
    Some((Role::System, MessageKind::Notice, vec![Block::Text { text }]))
}

fn compaction(object: &Map<String, Value>) -> Block {
    let metadata = object.get("compactMetadata").and_then(Value::as_object);
    let count = |key: &str| metadata.and_then(|metadata| metadata.get(key)).and_then(Value::as_u64);
    let text = match (count("preTokens"), count("postTokens")) {
        (Some(before), Some(after)) => format!("Conversation compacted: {before} tokens before, {after} after"),
        (Some(before), None) => format!("Conversation compacted at {before} tokens"),
        _ => "Conversation compacted".to_owned(),
    };
    Block::Text { text }
}

fn api_error(object: &Map<String, Value>) -> String {
    let error = object.get("error").and_then(Value::as_object);
    let status = error.and_then(|error| error.get("status")).and_then(Value::as_u64);
    let message = error
        .and_then(|error| error.get("error")?.get("error")?.get("message")?.as_str())
        .or_else(|| error.and_then(|error| error.get("message")?.as_str()))
        .unwrap_or("the request failed");
    match status {
        Some(status) => format!("API error {status}: {message}"),
        None => format!("API error: {message}"),
    }
}

/// What the user typed while the model worked.
fn queued_command(object: &Map<String, Value>) -> Option<Content> {
    let attachment = object.get("attachment")?.as_object()?;
    if text_of(attachment, "type") != "queued_command" {
        return None;
    }
    let blocks = blocks(attachment.get("prompt")?);
    (!blocks.is_empty()).then_some((Role::User, MessageKind::Turn, blocks))
}

fn named(object: &Map<String, Value>, kind: &str) -> String {
    let inner = |key: &str| object.get(key).and_then(Value::as_object).map_or("", |inner| text_of(inner, "type"));
    let subtype = match kind {
        "system" => text_of(object, "subtype"),
        "progress" => inner("data"),
        "attachment" => inner("attachment"),
        "queue-operation" => text_of(object, "operation"),
        _ => "",
    };
    let kind = if kind.is_empty() { "(no type)" } else { kind };
    let name = if subtype.is_empty() { kind.to_owned() } else { format!("{kind}/{subtype}") };
    cut(&name, 80).to_owned()
}

fn owned(object: &Map<String, Value>, key: &str) -> Option<String> {
    let text = text_of(object, key);
    (!text.is_empty()).then(|| text.to_owned())
}

fn cut(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(line: &str) -> Message {
        let reading = read(line.as_bytes(), 7);
        assert_eq!(reading.issue, None, "{line}");
        reading.record.expect("a record").message.expect("a message")
    }

    #[test]
    fn roles_follow_what_is_said_and_not_the_record_type() {
        let typed = message(r#"{"type":"user","uuid":"u","message":{"role":"user","content":"hello"}}"#);
        assert_eq!((typed.role, typed.kind), (Role::User, MessageKind::Turn));
        let result = message(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"image","source":{"media_type":"image/png","data":"AAAA"}}],"is_error":true}]}}"#,
        );
        assert_eq!(result.role, Role::Tool);
        assert_eq!(result.uuid, "line-7", "a record without uuid is named by its line");
        assert_eq!(
            result.blocks,
            [
                Block::ToolResult { tool_use_id: "t".into(), text: "a".into(), is_error: true },
                Block::Attachment { media_type: "image/png".into(), bytes: 3 }
            ]
        );
        let queued =
            message(r#"{"type":"attachment","uuid":"q","attachment":{"type":"queued_command","prompt":"also this"}}"#);
        assert_eq!(queued.role, Role::User, "a queued command was typed by the user");
        let boundary =
            message(r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":5},"uuid":"b"}"#);
        assert_eq!(boundary.kind, MessageKind::CompactBoundary);
    }

    #[test]
    fn what_a_hook_says_is_no_request_of_the_user() {
        let kind =
            |text: &str| message(&serde_json::json!({"type": "user", "message": {"content": text}}).to_string()).kind;
        assert_eq!(kind("<session-start-hook>\nYou remember\n</session-start-hook>\n"), MessageKind::Meta);
        assert_eq!(kind("<system-reminder>be brief</system-reminder>"), MessageKind::Meta);
        for typed in ["<my-hook> is the tag that breaks", "<b>bold</b>", "<-hook>", "<a-hook>x</a-hook> why?", "</"] {
            assert_eq!(kind(typed), MessageKind::Turn, "`{typed}` was typed");
        }
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (line, part) in [
            (r#"{"type":"from-the-future"}"#, "not known"),
            (r#"{"silly":1}"#, "no type"),
            ("[1,2]", "not a record"),
            (r#"{"type":"user""#, "cut off"),
        ] {
            let issue = read(line.as_bytes(), 1).issue.unwrap_or_default();
            assert!(issue.contains(part), "`{line}`: `{issue}` should say `{part}`");
        }
        assert_eq!(read(b"  \r", 1).issue, None, "an empty line is nothing to report");
    }

    proptest! {
        #[test]
        fn reading_never_panics(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            read(&line, 1);
        }

        #[test]
        fn odd_shapes_never_panic(kind in "user|assistant|system|attachment|progress|summary", body in "(null|1|\"x\"|\\[\\]|\\[null,1,\\{\\}\\]|\\{\"content\":(null|7|\\[\\{\"type\":3\\}\\])\\})") {
            let line = format!(r#"{{"type":"{kind}","message":{body},"attachment":{body},"data":{body},"timestamp":{body},"uuid":{body}}}"#);
            let reading = read(line.as_bytes(), 1);
            prop_assert!(reading.record.is_some(), "a JSON record of a known type is always read: {line}");
        }
    }
}
