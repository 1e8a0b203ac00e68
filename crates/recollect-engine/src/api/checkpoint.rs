//! Named states of the memory, to compare with (export-deduplication.md, `dedup_state/checkpoints.json`).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::checkpoint;
use crate::engine::Call;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::time::Time;

/// Asks for the checkpoints.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CheckpointListRequest {}

/// Names a checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CheckpointRequest {
    /// Its name: 1 to 100 characters on one line; letter case does not tell names apart.
    pub name: String,
}

/// Which states to compare.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct CheckpointDiffRequest {
    /// The earlier checkpoint.
    pub from: String,
    /// The later one; the memory as it is now if not given.
    #[serde(default)]
    pub to: Option<String>,
}

/// A named state of the memory: its sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Checkpoint {
    /// Its name; empty for the memory as it is now.
    pub name: String,
    /// When it was made.
    pub created_at: Time,
    /// Sessions in memory.
    pub sessions: u64,
    /// Their messages.
    pub messages: u64,
    /// Messages of different content.
    pub unique_messages: u64,
    /// Bytes of the sessions' files.
    pub bytes: u64,
}

/// What a session was at a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionState {
    /// The session.
    pub session_id: SessionId,
    /// Its project.
    pub project_id: ProjectId,
    /// Its title.
    pub title: String,
    /// Its messages.
    pub messages: u64,
    /// Bytes of its files, sub-agents included.
    pub bytes: u64,
    /// Its keepit markers.
    pub keepits: u64,
    /// Its compressed versions.
    pub versions: u64,
    /// SHA-256 over its archived bytes, in hex.
    pub content: String,
}

/// A session that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionChange {
    /// As it was.
    pub before: SessionState,
    /// As it is.
    pub after: SessionState,
}

/// What became of the memory between two states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CheckpointDiff {
    /// The earlier state.
    pub from: Checkpoint,
    /// The later state.
    pub to: Checkpoint,
    /// Sessions that were not there before.
    pub added: Vec<SessionState>,
    /// Sessions whose bytes, keepits or versions changed.
    pub changed: Vec<SessionChange>,
    /// Sessions that are there no more.
    pub removed: Vec<SessionState>,
}

/// Notes the state of the memory under a name.
pub fn create(call: &Call<'_>, request: CheckpointRequest) -> Result<Checkpoint> {
    checkpoint::create(call.engine, &request.name)
}

/// All checkpoints, newest first.
pub fn list(call: &Call<'_>, request: CheckpointListRequest) -> Result<Vec<Checkpoint>> {
    let CheckpointListRequest {} = request;
    checkpoint::list(call.engine)
}

/// Compares two states.
pub fn diff(call: &Call<'_>, request: CheckpointDiffRequest) -> Result<CheckpointDiff> {
    checkpoint::diff(call.engine, &request.from, request.to.as_deref())
}

/// Forgets a checkpoint; the memory itself does not change.
pub fn remove(call: &Call<'_>, request: CheckpointRequest) -> Result<Checkpoint> {
    checkpoint::remove(call.engine, &request.name)
}
