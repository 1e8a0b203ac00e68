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

/// What reading found wrong with a line; the line itself is kept in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Issue {
    /// Line in the file, from 1.
    pub line: u64,
    /// What is wrong, in words.
    pub message: String,
}
