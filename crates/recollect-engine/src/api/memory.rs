//! The memory as a whole: overview, projects, figures.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::ids::ProjectId;
use crate::registry;
use crate::time::Time;

/// Asks for the overview.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct OverviewRequest {}

/// What the frame of the window shows: counts, places, and what is not in memory yet.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Overview {
    /// Folder of the memory.
    pub home: String,
    /// Folder in which Claude Code keeps its data.
    pub claude_home: String,
    /// Whether that folder exists.
    pub claude_home_present: bool,
    /// Version of this program.
    pub program_version: String,
    /// Projects in memory.
    pub projects: u64,
    /// Sessions in memory.
    pub sessions: u64,
    /// Compositions in memory.
    pub compositions: u64,
    /// When bytes were last archived.
    pub last_archived: Option<Time>,
    /// Transcripts under the Claude home that are not in memory.
    pub unregistered: Unregistered,
}

/// Transcripts that the client has and the memory has not.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Unregistered {
    /// Main session files.
    pub sessions: u64,
    /// Folders of projects that they are in.
    pub projects: u64,
    /// Their bytes, sub-agents included.
    pub bytes: u64,
}

/// Asks for the figures of storage.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct StatsRequest {}

/// Figures of storage and dedup.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Stats {
    /// Projects in memory.
    pub projects: u64,
    /// Sessions in memory; an export of a conversation whose transcript is there too counts with that.
    pub sessions: u64,
    /// Such exports: lists show them as sessions of their own.
    pub paired_exports: u64,
    /// Messages in all sessions, occurrences counted.
    pub messages: u64,
    /// Different messages, by the hash of their normalised text.
    pub unique_messages: u64,
    /// Tokens of all sessions.
    pub tokens: u64,
    /// Files that are archived: transcripts, sub-agents, tool results.
    pub files: u64,
    /// Bytes of the originals, each archived file once.
    pub original_bytes: u64,
    /// Bytes that the archive takes on disk.
    pub stored_bytes: u64,
    /// Share of messages that are repeats: 1 − unique / all.
    pub dedup_ratio: f64,
    /// Keepit markers.
    pub keepits: u64,
    /// Compression versions.
    pub versions: u64,
    /// Compositions.
    pub compositions: u64,
}

/// Asks for the projects.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ProjectListRequest {}

/// A project (2.1.1), most recent first in lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Project {
    /// Its id: the path with each character outside `[A-Za-z0-9]` as `-`.
    pub project_id: ProjectId,
    /// Its path, read from `cwd` of the records; empty when no record had one.
    pub original_path: String,
    /// The last part of the path.
    pub display_name: String,
    /// Sessions in it.
    pub sessions: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Time of its newest message.
    pub last_timestamp: Option<Time>,
}

/// Shows what the frame of the window needs.
pub fn overview(call: &Call<'_>, request: OverviewRequest) -> Result<Overview> {
    let OverviewRequest {} = request;
    registry::overview(call.engine)
}

/// Gives the figures of storage and dedup.
pub fn stats(call: &Call<'_>, request: StatsRequest) -> Result<Stats> {
    let StatsRequest {} = request;
    registry::stats(call.engine)
}

/// Lists the projects, most recent first.
pub fn projects(call: &Call<'_>, request: ProjectListRequest) -> Result<Vec<Project>> {
    let ProjectListRequest {} = request;
    registry::projects(call.engine)
}
