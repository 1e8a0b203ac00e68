//! Rows of compression versions.

use crate::api::compression::{CompressionSettings, KeepitStats, LeftOut};
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
