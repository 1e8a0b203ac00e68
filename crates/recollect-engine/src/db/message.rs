//! Rows of messages: where their lines stand, and what lists and sums need of them.

use rusqlite::{Row, params};

use super::{Rows, failed};
use crate::api::memory::Stats;
use crate::error::Result;
use crate::session::{MessageKind, Role};
use crate::time::Time;

/// A message's place and figures; its content is read from the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Position in the conversation, from 0.
    pub position: u32,
    /// Where its line begins in the file.
    pub line_start: u64,
    /// Bytes of the line, without the line feed.
    pub line_bytes: u64,
    /// Its uuid.
    pub uuid: String,
    /// Who speaks.
    pub role: Role,
    /// What it is.
    pub kind: MessageKind,
    /// When.
    pub timestamp: Option<Time>,
    /// Its tokens.
    pub tokens: u64,
    /// SHA-256 of its normalised text.
    pub hash: [u8; 32],
    /// The reply that it is a part of.
    pub reply_id: Option<String>,
    /// The side chain that it belongs to.
    pub agent_id: Option<String>,
    /// Tokens that the API counted for the reply: input with cached, output.
    pub usage: Option<(u64, u64)>,
    /// What the user or the assistant said in it, as a number that outlives wrapping and Markdown (`pairing`).
    pub spoken: Option<i64>,
}

const COLUMNS: &str = "position, line_start, line_bytes, uuid, role, kind, timestamp, tokens, hash, reply_id, agent_id, usage_input, usage_output, spoken";

fn role_text(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::System => "system",
    }
}

fn role_parse(text: &str) -> Role {
    match text {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::System,
    }
}

fn kind_text(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Turn => "turn",
        MessageKind::Meta => "meta",
        MessageKind::CompactBoundary => "compact_boundary",
        MessageKind::CompactSummary => "compact_summary",
        MessageKind::Notice => "notice",
    }
}

fn kind_parse(text: &str) -> MessageKind {
    match text {
        "turn" => MessageKind::Turn,
        "meta" => MessageKind::Meta,
        "compact_boundary" => MessageKind::CompactBoundary,
        "compact_summary" => MessageKind::CompactSummary,
        _ => MessageKind::Notice,
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    Ok(MessageRow {
        position: row.get(0)?,
        line_start: row.get(1)?,
        line_bytes: row.get(2)?,
        uuid: row.get(3)?,
        role: role_parse(&row.get::<_, String>(4)?),
        kind: kind_parse(&row.get::<_, String>(5)?),
        timestamp: row.get::<_, Option<i64>>(6)?.map(Time::from_millis),
        tokens: row.get(7)?,
        hash: row.get(8)?,
        reply_id: row.get(9)?,
        agent_id: row.get(10)?,
        usage: row.get::<_, Option<u64>>(11)?.zip(row.get::<_, Option<u64>>(12)?),
        spoken: row.get(13)?,
    })
}

impl Rows<'_> {
    /// A window of a file's messages, in order.
    pub fn messages(&self, file_id: i64, offset: u64, limit: Option<u64>) -> Result<Vec<MessageRow>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM message WHERE file_id = ?1 AND position >= ?2 ORDER BY position LIMIT ?3"
            ))
            .map_err(failed)?;
        let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = statement
            .query_map(params![file_id, i64::try_from(offset).unwrap_or(i64::MAX), limit], from_row)
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Messages of a file's main conversation after a position, and their tokens.
    pub fn messages_after(&self, file_id: i64, position: u32) -> Result<(u64, u64)> {
        self.connection
            .prepare_cached(
                "SELECT count(*), ifnull(sum(tokens), 0) FROM message
                 WHERE file_id = ?1 AND position > ?2 AND agent_id IS NULL",
            )
            .and_then(|mut statement| {
                statement.query_row(params![file_id, position], |row| Ok((row.get(0)?, row.get(1)?)))
            })
            .map_err(failed)
    }

    /// Messages of a file that carry `uuid`, in order; a uuid may stand twice.
    pub fn messages_by_uuid(&self, file_id: i64, uuid: &str) -> Result<Vec<MessageRow>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM message WHERE uuid = ?2 AND file_id = ?1 ORDER BY position"
            ))
            .map_err(failed)?;
        let rows = statement.query_map(params![file_id, uuid], from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Adds a message.
    pub fn put_message(&self, file_id: i64, message: &MessageRow) -> Result<()> {
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO message (file_id, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
            ))
            .and_then(|mut statement| {
                statement.execute(params![
                    file_id,
                    message.position,
                    message.line_start,
                    message.line_bytes,
                    message.uuid,
                    role_text(message.role),
                    kind_text(message.kind),
                    message.timestamp.map(Time::millis),
                    message.tokens,
                    message.hash,
                    message.reply_id,
                    message.agent_id,
                    message.usage.map(|usage| usage.0),
                    message.usage.map(|usage| usage.1),
                    message.spoken,
                ])
            })
            .map_err(failed)?;
        Ok(())
    }

    /// Whether any message has this content.
    pub fn has_content(&self, hash: &[u8; 32]) -> Result<bool> {
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE hash = ?1)")
            .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)))
            .map_err(failed)
    }

    /// Whether a record of this uuid with this content is kept. Records that carry none are named by their line: those never.
    pub fn has_record(&self, uuid: &str, hash: &[u8; 32]) -> Result<bool> {
        if uuid.starts_with("line-") {
            return Ok(false);
        }
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE uuid = ?1 AND hash = ?2)")
            .and_then(|mut statement| statement.query_row(params![uuid, hash], |row| row.get(0)))
            .map_err(failed)
    }

    /// Whether a part of this reply with this content is kept.
    pub fn has_reply(&self, reply_id: &str, hash: &[u8; 32]) -> Result<bool> {
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE hash = ?2 AND reply_id = ?1)")
            .and_then(|mut statement| statement.query_row(params![reply_id, hash], |row| row.get(0)))
            .map_err(failed)
    }

    /// Messages, and of how many different contents.
    pub fn message_counts(&self) -> Result<(u64, u64)> {
        self.connection
            .query_row("SELECT messages, unique_messages FROM tally", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(failed)
    }

    /// Tokens that the API counted in a file, each reply once, the last record of it winning: input with cached, output.
    pub fn usage(&self, file_id: i64) -> Result<(u64, u64)> {
        self.connection
            .prepare_cached(
                "SELECT ifnull(sum(usage_input), 0), ifnull(sum(usage_output), 0) FROM
                    (SELECT usage_input, usage_output, max(position) FROM message
                     WHERE file_id = ?1 AND usage_input IS NOT NULL GROUP BY ifnull(reply_id, uuid))",
            )
            .and_then(|mut statement| statement.query_row([file_id], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(failed)
    }

    /// The figures of storage and dedup.
    pub fn stats(&self) -> Result<Stats> {
        let mut stats = self
            .connection
            .query_row(
                "WITH twin AS (SELECT file_id FROM file JOIN session USING (session_id) WHERE paired_with IS NOT NULL)
                 SELECT (SELECT count(DISTINCT project_id) FROM session), (SELECT count(*) FROM session WHERE paired_with IS NULL),
                    (SELECT messages FROM tally) - (SELECT count(*) FROM message WHERE file_id IN twin),
                    (SELECT unique_messages FROM tally) - (SELECT count(DISTINCT hash) FROM message m WHERE file_id IN twin
                        AND NOT EXISTS (SELECT 1 FROM message o WHERE o.hash = m.hash AND o.file_id NOT IN twin)),
                    (SELECT ifnull(sum(tokens), 0) FROM session WHERE paired_with IS NULL), (SELECT count(*) FROM file),
                    (SELECT ifnull(sum(bytes), 0) FROM file), (SELECT ifnull(sum(bytes), 0) FROM pack),
                    (SELECT count(*) FROM keepit WHERE NOT removed), (SELECT count(*) FROM version), (SELECT count(*) FROM composition),
                    (SELECT count(*) FROM session WHERE paired_with IS NOT NULL)",
                [],
                |row| {
                    Ok(Stats {
                        projects: row.get(0)?,
                        sessions: row.get(1)?,
                        messages: row.get(2)?,
                        unique_messages: row.get(3)?,
                        tokens: row.get(4)?,
                        files: row.get(5)?,
                        original_bytes: row.get(6)?,
                        stored_bytes: row.get(7)?,
                        dedup_ratio: 0.0,
                        keepits: row.get(8)?,
                        versions: row.get(9)?,
                        compositions: row.get(10)?,
                        paired_exports: row.get(11)?,
                    })
                },
            )
            .map_err(failed)?;
        if stats.messages > 0 {
            stats.dedup_ratio = 1.0 - stats.unique_messages as f64 / stats.messages as f64;
        }
        Ok(stats)
    }
}
