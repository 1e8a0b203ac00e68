//! `MEMORY-CONTEXT` folders: reading what another installation wrote, and writing one (centralized-memory-context.md).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ingest::IngestReport;
use crate::engine::Call;
use crate::error::Result;
use crate::ids::ProjectId;
use crate::memory_context;

/// Which folder to take over.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct ContextImportRequest {
    /// The folder, or one that holds `MEMORY-CONTEXT`.
    pub path: String,
    /// Put its sessions into this project instead of the ones that they name.
    #[serde(default)]
    pub project: Option<ProjectId>,
}

/// What was taken over.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ContextImported {
    /// The folder that was read.
    pub path: String,
    /// What became of its exports and sessions.
    pub ingest: IngestReport,
    /// Hashes of messages that it knew.
    pub hashes: u64,
    /// Of these, hashes that the memory did not have.
    pub new_hashes: u64,
    /// Watermarks that it had.
    pub watermarks: u64,
    /// Sessions whose messages are all in memory already.
    pub known_sessions: u64,
    /// What could not be understood; all else was taken.
    pub issues: Vec<String>,
}

/// Which folder to write.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct ContextExportRequest {
    /// The folder; made when it is missing, added to when it is one already.
    pub path: String,
    /// Only this project's sessions.
    #[serde(default)]
    pub project: Option<ProjectId>,
}

/// What was written.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ContextExported {
    /// The folder.
    pub path: String,
    /// Sessions.
    pub sessions: u64,
    /// Messages in them.
    pub messages: u64,
    /// Hashes in `dedup_state/message_hashes.json`.
    pub hashes: u64,
    /// Sessions in `dedup_state/watermarks.json`.
    pub watermarks: u64,
    /// Original files in `exports-archive`.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Topics in `index/topics.json`.
    pub topics: u64,
    /// Entities in `index/entities.json`.
    pub entities: u64,
}

/// Takes a `MEMORY-CONTEXT` folder over: its exports and sessions, its hashes and watermarks.
///
/// # Errors
/// `NotFound` when the folder is none.
pub fn import(call: &Call<'_>, request: ContextImportRequest) -> Result<ContextImported> {
    memory_context::import(call, &request)
}

/// Writes the memory as a `MEMORY-CONTEXT` folder.
///
/// # Errors
/// `Conflict` when the folder holds a state that is not understood; then nothing was written.
pub fn export(call: &Call<'_>, request: ContextExportRequest) -> Result<ContextExported> {
    memory_context::export(call, &request)
}
