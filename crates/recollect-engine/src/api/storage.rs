//! What is kept and what it costs.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId, VersionId};
use crate::storage;
use crate::time::Time;

/// Asks what is kept and what it costs.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct StorageReportRequest {
    /// How many of the largest sessions to name; 10 if not given.
    pub largest: Option<u32>,
}

/// Bytes of sessions, in three steps: as they are, without what others have, compressed.
///
/// What several sessions have counts as unique for the one whose last message is the oldest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct StorageShare {
    /// Sessions.
    pub sessions: u64,
    /// Their messages, sub-agents included.
    pub messages: u64,
    /// Bytes of their files.
    pub original_bytes: u64,
    /// Bytes of the pieces that no session before them has.
    pub unique_bytes: u64,
    /// Bytes that those take in the archive.
    pub stored_bytes: u64,
}

/// A month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct MonthStorage {
    /// The month of the sessions' last messages in UTC, `2026-01`; none for sessions without a time.
    pub month: Option<String>,
    /// Its sessions.
    #[serde(flatten)]
    pub share: StorageShare,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProjectStorage {
    /// The project.
    pub project_id: ProjectId,
    /// Its name.
    pub display_name: String,
    /// Its path; empty when no record had one.
    pub original_path: String,
    /// Its sessions.
    #[serde(flatten)]
    pub share: StorageShare,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct SessionStorage {
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Its project.
    pub project_id: ProjectId,
    /// The project's name.
    pub project: String,
    /// Its last message.
    pub last_timestamp: Option<Time>,
    /// What it takes.
    #[serde(flatten)]
    pub share: StorageShare,
}

/// A compressed version that no composition ever took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct UnusedVersion {
    /// Its session.
    pub session_id: SessionId,
    /// The session's title.
    pub session_title: String,
    /// The version.
    pub version_id: VersionId,
    /// When it was made.
    pub created_at: Time,
    /// Its tokens.
    pub output_tokens: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

/// Bytes on disk, by what they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiskUse {
    /// The archive's packs: what the sessions take, and what none of them needs any more.
    pub archive: u64,
    /// Of those, bytes that no session in memory needs: of removed sessions, and of packs that others just replaced.
    pub archive_unneeded: u64,
    /// The database with its log.
    pub database: u64,
    /// The search index; made again when it is missing.
    pub index: u64,
    /// Compressed versions.
    pub versions: u64,
    /// What is kept against mishaps: backups.
    pub backups: u64,
}

/// What is kept and what it costs. The rows of each list add up to `total`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct StorageReport {
    /// When it was measured.
    pub measured_at: Time,
    /// All sessions.
    pub total: StorageShare,
    /// By month, oldest first; sessions without a time last.
    pub by_month: Vec<MonthStorage>,
    /// By project, largest first.
    pub by_project: Vec<ProjectStorage>,
    /// The largest sessions by the bytes of their files.
    pub largest: Vec<SessionStorage>,
    /// Versions that can be deleted without a loss, largest first.
    pub unused_versions: Vec<UnusedVersion>,
    /// What lies on the disk.
    pub disk: DiskUse,
}

/// Says what is kept and what it costs; reads no archived content.
pub fn report(call: &Call<'_>, request: StorageReportRequest) -> Result<StorageReport> {
    let StorageReportRequest { largest } = request;
    storage::report(call.engine, largest)
}
