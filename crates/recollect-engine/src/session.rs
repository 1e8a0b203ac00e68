//! Session, message and block: the model that all features speak.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::time::Time;

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// Results of tools, which the client writes as `user` records.
    Tool,
    /// The client itself: compaction, local commands, errors of the API.
    System,
}

/// What a message is, beside who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum MessageKind {
    /// Something said, asked or returned.
    Turn,
    /// Text that the client put in for the model (`isMeta`), not written by the user.
    Meta,
    /// Where the client compacted its context.
    CompactBoundary,
    /// The client's summary that opens a compacted context.
    CompactSummary,
    /// A notice of the client: a local command, an error of the API, a recap.
    Notice,
}

/// One record of a conversation, in file order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Message {
    /// Position in the conversation, from 0.
    pub index: u32,
    /// The record's uuid; a made one (`line-<n>`) when it has none. Not always unique in a file.
    pub uuid: String,
    /// Who speaks.
    pub role: Role,
    /// What it is.
    pub kind: MessageKind,
    /// When; transcripts hold records without.
    pub timestamp: Option<Time>,
    /// The model's reply that this record is a part of: one reply is several records with one `message.id`.
    pub reply_id: Option<String>,
    /// The model that wrote it.
    pub model: Option<String>,
    /// The sub-agent that it belongs to, for the side chains that older clients wrote into the main file.
    pub agent_id: Option<String>,
    /// The source left lines of it out, as an `/export` does: how many, 0 when it only says that it did.
    pub cut_lines: Option<u32>,
    /// What it holds, in order.
    pub blocks: Vec<Block>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, optional_fields = nullable)]
pub enum Block {
    /// Prose, Markdown as a rule.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought; empty where the client kept only a signature.
    Thinking {
        /// The text.
        text: String,
    },
    /// A call of a tool.
    ToolUse {
        /// Names the call; its result carries the same id.
        id: String,
        /// The tool: `Bash`, `Read`, `mcp__…`.
        name: String,
        /// Its arguments.
        #[ts(type = "Record<string, unknown>")]
        input: Value,
    },
    /// What a tool returned.
    ToolResult {
        /// The call that it answers.
        tool_use_id: String,
        /// Text of the result; images in it become blocks of their own.
        text: String,
        /// The tool failed.
        is_error: bool,
    },
    /// An image or a document; its bytes stay in the archive.
    Attachment {
        /// `image/png`, `application/pdf`, …
        media_type: String,
        /// Bytes of the decoded content.
        bytes: u64,
    },
}

impl Message {
    /// What it says as plain text: its blocks joined by a blank line. Keepit positions count characters of it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (start, block) in self.block_texts() {
            debug_assert!(start >= text.len());
            if !text.is_empty() {
                text.push_str(BETWEEN_BLOCKS);
            }
            text.push_str(&block);
        }
        text
    }

    /// The text of each block that has one, with the byte at which it begins in [`Message::text`]; with its block.
    pub fn placed_blocks(&self) -> impl Iterator<Item = (usize, &Block)> {
        self.placed().map(|(start, block, _)| (start, block))
    }

    /// Cuts each text in it, arguments of tools too, to `longest` characters; returns how many characters that left out.
    pub fn shorten(&mut self, longest: usize) -> u64 {
        self.blocks.iter_mut().map(|block| block.shorten(longest)).sum()
    }

    fn block_texts(&self) -> impl Iterator<Item = (usize, std::borrow::Cow<'_, str>)> {
        self.placed().map(|(start, _, text)| (start, text))
    }

    fn placed(&self) -> impl Iterator<Item = (usize, &Block, std::borrow::Cow<'_, str>)> {
        let mut end = 0;
        self.blocks.iter().filter_map(move |block| {
            let text = block.text();
            if text.is_empty() {
                return None;
            }
            let start = if end == 0 { 0 } else { end + BETWEEN_BLOCKS.len() };
            end = start + text.len();
            Some((start, block, text))
        })
    }
}

/// Stands between the texts of two blocks.
const BETWEEN_BLOCKS: &str = "\n\n";

impl Block {
    fn shorten(&mut self, longest: usize) -> u64 {
        match self {
            Self::Text { text } | Self::Thinking { text } | Self::ToolResult { text, .. } => shorten(text, longest),
            Self::ToolUse { input, .. } => shorten_value(input, longest),
            Self::Attachment { .. } => 0,
        }
    }

    /// What the block says as plain text: what a model could read of it, without JSON's syntax.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Text { text } | Self::Thinking { text } | Self::ToolResult { text, .. } => text.into(),
            Self::ToolUse { name, input, .. } => call_text(name, input).into(),
            Self::Attachment { media_type, bytes: 0 } => format!("[{media_type}]").into(),
            Self::Attachment { media_type, bytes } => format!("[{media_type}, {bytes} bytes]").into(),
        }
    }
}

fn shorten(text: &mut String, longest: usize) -> u64 {
    // Bytes are at least as many as characters: most texts are not walked through.
    if text.len() <= longest {
        return 0;
    }
    let Some((end, _)) = text.char_indices().nth(longest) else { return 0 };
    let left_out = text[end..].chars().count();
    text.truncate(end);
    left_out as u64
}

fn shorten_value(value: &mut Value, longest: usize) -> u64 {
    match value {
        Value::String(text) => shorten(text, longest),
        Value::Array(values) => values.iter_mut().map(|value| shorten_value(value, longest)).sum(),
        Value::Object(values) => values.values_mut().map(|value| shorten_value(value, longest)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// A call of a tool: its name, then an argument a line.
fn call_text(name: &str, input: &Value) -> String {
    let mut text = name.to_owned();
    let Value::Object(arguments) = input else { return text };
    for (key, value) in arguments {
        text.push('\n');
        text.push_str(key);
        text.push_str(": ");
        match value {
            Value::String(value) => text.push_str(value),
            other => text.push_str(&other.to_string()),
        }
    }
    text
}

/// What reading found wrong with a line; the line itself is kept in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Issue {
    /// Line in the file, from 1.
    pub line: u64,
    /// What is wrong, in words.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_of_a_message_is_its_blocks_and_their_places_are_true() {
        let message = crate::testing::message(vec![
            Block::Thinking { text: String::new() },
            Block::Text { text: "Ü one".into() },
            Block::ToolUse { id: "t".into(), name: "Bash".into(), input: json!({"command": "ls", "timeout": 5}) },
        ]);
        let text = message.text();
        assert_eq!(text, "Ü one\n\nBash\ncommand: ls\ntimeout: 5");
        for (start, block) in message.placed_blocks() {
            assert!(text[start..].starts_with(block.text().as_ref()), "a block must stand where it is said to");
        }
    }
}
