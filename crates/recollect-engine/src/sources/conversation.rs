//! A conversation that is read as a whole: for formats whose messages are not one line each.

use super::claude_code::Record;
use crate::session::{Block, Issue, Message, MessageKind, Role};

/// What a file of such a format says.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// Its messages, and facts about it, in order of the file.
    pub records: Vec<Placed>,
    /// What was not understood or had to be mended, with where it begins.
    pub issues: Vec<(Issue, u64)>,
    /// Lines (from 1) that the client wrote for itself: banners, rules, how long it took.
    pub own: Vec<u64>,
}

/// A record with its place in the file.
#[derive(Debug, Clone)]
pub struct Placed {
    /// What it says.
    pub record: Record,
    /// Where it begins.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its lines, from 1; empty for formats without lines.
    pub lines: std::ops::Range<u64>,
}

impl Placed {
    /// A record of a format in which messages have no place of their own; it is as large as what it says.
    pub(super) fn without_place(record: Record) -> Self {
        let bytes = record.message.as_ref().map_or(0, |message| message.text().len() as u64);
        Self { record, start: 0, bytes, lines: 0..0 }
    }
}

impl Conversation {
    /// The messages, with their positions.
    pub fn messages(self) -> Vec<Message> {
        let messages = self.records.into_iter().filter_map(|placed| placed.record.message);
        messages.enumerate().map(|(at, message)| Message { index: index(at), ..message }).collect()
    }
}

/// A position as messages carry it.
pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A message of a format without uuids: it is named by its position, which stays when the conversation goes on.
pub(super) fn message(at: usize, role: Role, kind: MessageKind, blocks: Vec<Block>) -> Message {
    Message {
        index: index(at),
        uuid: format!("message-{}", at + 1),
        role,
        kind,
        timestamp: None,
        reply_id: None,
        model: None,
        agent_id: None,
        cut_lines: None,
        blocks,
    }
}
