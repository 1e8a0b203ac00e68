//! Why messages that were read are nothing new (export-deduplication.md): file, then beginning, record, reply, text.
//!
//! Every occurrence is kept all the same: a repeated "continue" is a real message of its conversation.

use std::collections::HashSet;
use std::path::Path;

use super::scan::Scan;
use crate::api::ingest::Repeats;
use crate::db::{FileRow, MessageRow, Rows};
use crate::error::Result;

/// Messages that were read, and how many of them say something new.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sorted {
    pub messages: u64,
    pub new_unique: u64,
    pub repeats: Repeats,
}

impl Sorted {
    /// All that was read is kept already, byte for byte: as a whole file, or as the beginning of one.
    pub(super) fn known(scan: &Scan, file: &FileRow) -> Self {
        let messages = scan.messages.len() as u64;
        let repeats = if scan.bytes == file.bytes {
            Repeats { file: messages, ..Repeats::default() }
        } else {
            Repeats { beginning: messages, ..Repeats::default() }
        };
        Self { messages, new_unique: 0, repeats }
    }

    /// Sorts what a scan read for `file`, before anything of it is written.
    pub(super) fn of(rows: &Rows<'_>, file: &FileRow, scan: &Scan) -> Result<Self> {
        let mut sorted = Self { messages: scan.messages.len() as u64, ..Self::default() };
        let mut seen = HashSet::new();
        // Another installation names a session by its export.
        let stem = Path::new(&file.name).file_stem().unwrap_or_default().to_string_lossy();
        let watermark = |name: &str| Ok::<u64, crate::Error>(rows.watermark(name)?.unwrap_or(0));
        let seen_elsewhere = watermark(file.session_id.as_str())?.max(watermark(&stem)?);
        for message in &scan.messages {
            let repeats = &mut sorted.repeats;
            if message.line_start < file.parsed_bytes {
                repeats.beginning += 1;
            } else if seen.contains(&message.hash) {
                repeats.text += 1;
            } else if !rows.has_content(&message.hash)? {
                seen.insert(message.hash);
                if u64::from(message.position) < seen_elsewhere || rows.was_imported(&message.hash)? {
                    repeats.imported += 1;
                } else {
                    sorted.new_unique += 1;
                }
            } else {
                match cause(rows, message)? {
                    Cause::Record => repeats.record += 1,
                    Cause::Reply => repeats.reply += 1,
                    Cause::Text => repeats.text += 1,
                }
            }
        }
        Ok(sorted)
    }
}

enum Cause {
    Record,
    Reply,
    Text,
}

/// What makes a message of known content the same as one that is kept.
fn cause(rows: &Rows<'_>, message: &MessageRow) -> Result<Cause> {
    if rows.has_record(&message.uuid, &message.hash)? {
        return Ok(Cause::Record);
    }
    match &message.reply_id {
        Some(reply) if rows.has_reply(reply, &message.hash)? => Ok(Cause::Reply),
        _ => Ok(Cause::Text),
    }
}
