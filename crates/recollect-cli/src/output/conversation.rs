//! Messages as people read them: who, when, how much, then the words; tool output is cut to its first lines.

use recollect_engine::api::compression::{VersionMessage, VersionMessageKind};
use recollect_engine::api::session::MessageView;
use recollect_engine::session::{Block, MessageKind, Role};
use serde_json::Value;

use super::units::{bytes, counted};
use super::{BAD, CLOSE, FAINT, GOOD, STRONG, Terminal, paint, text};

const LINES_OF_RESULT: usize = 12;
const LINES_OF_THOUGHT: usize = 6;
const WIDEST_ARGUMENT: usize = 160;

/// A message of a session.
pub(crate) fn message(terminal: &Terminal, view: &MessageView) -> String {
    let message = &view.message;
    let mut facts = vec![terminal.time(message.timestamp), counted(view.tokens, "token")];
    if let Some(kind) = kind(message.kind) {
        facts.push(kind.to_owned());
    }
    facts.extend(super::source::cut(message));
    let mut shown = heading(message.index, message.role, &facts);
    for block in &message.blocks {
        shown.push_str(&block_lines(terminal, block));
    }
    for keepit in &view.keepits {
        let words = format!("keepit {:.2}: {}", keepit.weight, text::line(&keepit.content));
        shown.push_str(&format!("  {}\n", paint(CLOSE, words)));
    }
    shown
}

/// A message of a version.
pub(crate) fn version_message(terminal: &Terminal, message: &VersionMessage) -> String {
    let sources: Vec<_> = message.source_indexes.iter().map(|index| format!("#{index}")).collect();
    let origin = if sources.is_empty() { String::new() } else { format!(" of {}", sources.join(" ")) };
    let how = match message.kind {
        VersionMessageKind::Verbatim => "verbatim",
        VersionMessageKind::Keepit => "keepit",
        VersionMessageKind::Elided => "shortened",
        VersionMessageKind::Summary => "summary",
    };
    let facts = [terminal.time(message.timestamp), counted(message.tokens, "token"), format!("{how}{origin}")];
    format!("{}{}\n", heading(message.index, message.role, &facts), text::lines(message.text.trim_end()))
}

fn heading(index: u32, role: Role, facts: &[String]) -> String {
    let (style, name) = match role {
        Role::User => (GOOD.bold(), "user"),
        Role::Assistant => (STRONG, "assistant"),
        Role::Tool => (FAINT, "tool"),
        Role::System => (FAINT, "system"),
    };
    format!("{} {}\n", paint(style, format!("#{index} {name}")), paint(FAINT, facts.join(" · ")))
}

fn kind(kind: MessageKind) -> Option<&'static str> {
    match kind {
        MessageKind::Turn => None,
        MessageKind::Meta => Some("put in by the client"),
        MessageKind::CompactBoundary => Some("the context was compacted here"),
        MessageKind::CompactSummary => Some("summary of the compacted context"),
        MessageKind::Notice => Some("notice of the client"),
    }
}

fn block_lines(terminal: &Terminal, block: &Block) -> String {
    match block {
        Block::Text { text } => format!("{}\n", text::lines(text.trim_end())),
        Block::Thinking { text } if text.trim().is_empty() => String::new(),
        Block::Thinking { text } => indented(terminal, "thinking", text, LINES_OF_THOUGHT),
        Block::ToolUse { name, input, .. } => {
            let called = paint(STRONG, text::line(name));
            format!("  → {called} {}\n", text::line(&arguments(terminal, input)))
        }
        Block::ToolResult { text, is_error, .. } => {
            let label = if *is_error { paint(BAD, "failed") } else { String::new() };
            indented(terminal, &label, text, LINES_OF_RESULT)
        }
        Block::Attachment { media_type, bytes: size } => {
            format!("  {}\n", paint(FAINT, format!("[{}, {}]", text::line(media_type), bytes(*size))))
        }
    }
}

fn indented(terminal: &Terminal, label: &str, content: &str, most: usize) -> String {
    let most = if terminal.verbose { usize::MAX - 1 } else { most };
    let (head, hidden) = text::head(content.trim_end(), most);
    let mut shown = String::new();
    if !label.is_empty() {
        shown.push_str(&format!("  {}\n", paint(FAINT, label)));
    }
    for line in text::lines(&head).lines() {
        shown.push_str(&format!("  {} {line}\n", paint(FAINT, "│")));
    }
    if hidden > 0 {
        shown.push_str(&format!("  {}\n", paint(FAINT, format!("└ {} more", counted(hidden as u64, "line")))));
    }
    shown
}

/// The arguments of a tool call on one line: a single one as it is, several by name.
fn arguments(terminal: &Terminal, input: &Value) -> String {
    let words = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let line = match input.as_object() {
        Some(fields) if fields.len() == 1 => fields.values().map(words).collect(),
        Some(fields) => {
            let named: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", words(value))).collect();
            named.join(" ")
        }
        None => words(input),
    };
    match line.char_indices().nth(WIDEST_ARGUMENT) {
        Some((cut, _)) if !terminal.verbose => format!("{}…", &line[..cut]),
        _ => line,
    }
}
