//! Rows of compression versions.

use serde_json::{Value, json};

use super::{Rows, failed, from_json};
use crate::api::compression::{CompressionSettings, KeepitStats, LeftOut};
use crate::error::Result;
use crate::ids::{SessionId, VersionId};
use crate::time::Time;

/// A version as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionRow {
    /// Its session.
    pub session_id: SessionId,
    /// Its id.
    pub version_id: VersionId,
    /// The number in its id.
    pub number: u32,
    /// Name of its files, without extension.
    pub file: String,
    /// When it was made.
    pub created_at: Time,
    /// How.
    pub settings: CompressionSettings,
    /// The engine that made it.
    pub engine: String,
    /// Tokens of its source.
    pub original_tokens: u64,
    /// Its tokens.
    pub output_tokens: u64,
    /// Its messages.
    pub output_messages: u64,
    /// Keepits in it.
    pub keepit_stats: KeepitStats,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
    /// The version that it was made from.
    pub source_version: Option<VersionId>,
    /// When a composition last took it.
    pub last_used: Option<Time>,
    /// Bytes of its files.
    pub bytes: u64,
    /// Made by composing.
    pub auto_created: bool,
}

impl Rows<'_> {
    /// The versions of a session as its manifest holds them, oldest first.
    pub fn version_records(&self, session: &SessionId) -> Result<Vec<Value>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT version_id, file, created_at, settings, engine, original_tokens, output_tokens, output_messages, keepit_stats,
                    source_version, auto_created FROM version WHERE session_id = ?1 ORDER BY number",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([session.as_str()], |row| {
                let (original, output): (u64, u64) = (row.get(5)?, row.get(6)?);
                Ok(json!({
                    "versionId": row.get::<_, String>(0)?,
                    "file": row.get::<_, String>(1)?,
                    "createdAt": Time::from_millis(row.get(2)?),
                    "settings": from_json::<Value>(&row.get::<_, String>(3)?),
                    "engine": row.get::<_, String>(4)?,
                    "originalTokens": original,
                    "outputTokens": output,
                    "outputMessages": row.get::<_, u64>(7)?,
                    "compressionRatio": if output == 0 { 0.0 } else { original as f64 / output as f64 },
                    "keepitStats": from_json::<Value>(&row.get::<_, String>(8)?),
                    "sourceVersion": row.get::<_, Option<String>>(9)?,
                    "autoCreated": row.get::<_, bool>(10)?,
                }))
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
