//! Sessions and their messages.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::api::keepit::KeepitMarker;
use crate::engine::Call;
use crate::error::Result;
use crate::ids::{MarkerId, ProjectId, SessionId};
use crate::session::{Issue, Message};
use crate::time::Time;
use crate::{registry, search};

/// Names one session: its id, a unique prefix of it, or `latest`.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SessionRequest {
    /// The session.
    pub session: String,
}

/// Which sessions to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
#[ts(export, optional_fields = nullable)]
pub struct SessionListRequest {
    /// Only of this project.
    pub project: Option<ProjectId>,
    /// Only those whose title, branch or id holds this text, letter case ignored.
    pub filter: Option<String>,
    /// Order; newest first if not given.
    pub sort: Option<SessionSort>,
    /// How many to pass over.
    pub offset: Option<u64>,
    /// How many at most; all if not given.
    pub limit: Option<u64>,
}

/// Order of a list of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SessionSort {
    /// By the last message, newest first.
    #[default]
    Newest,
    /// By the last message, oldest first.
    Oldest,
    /// By tokens, largest first.
    Largest,
    /// By title.
    Title,
}

/// A part of the list of sessions.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionPage {
    /// The sessions asked for.
    pub sessions: Vec<SessionSummary>,
    /// How many there are in all.
    pub total: u64,
}

/// Asks for sessions whose transcripts the client deletes soon.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
#[ts(export, optional_fields = nullable)]
pub struct ExpiringRequest {
    /// Within so many days; 7 if not given.
    pub within_days: Option<u32>,
}

/// Sessions whose transcripts the client deletes soon.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Expiring {
    /// Days for which the client keeps transcripts: `cleanupPeriodDays` of its settings, 30 if not set.
    pub kept_days: f64,
    /// Days ahead that were looked at.
    pub within_days: u32,
    /// How many there are.
    pub total: u64,
    /// How many of them are not archived as they are now.
    pub unarchived: u64,
    /// Those that are not archived before those that are, the first to go first; some hundred at most.
    pub sessions: Vec<ExpiringSession>,
}

/// A session whose transcript the client deletes soon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct ExpiringSession {
    /// Its id in memory; none when nothing of it is.
    pub session_id: Option<SessionId>,
    /// Its title.
    pub title: String,
    /// Its project.
    pub project_id: ProjectId,
    /// The project's name.
    pub project: String,
    /// Where the transcript is.
    pub path: String,
    /// Days until it may be deleted; 0 when the next start of the client may delete it.
    pub days_left: u32,
    /// Bytes of the transcript.
    pub bytes: u64,
    /// It is in memory as it is now.
    pub archived: bool,
}

/// A session as a list shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct SessionSummary {
    /// Its id.
    pub session_id: SessionId,
    /// Its project.
    pub project_id: ProjectId,
    /// Custom title, the client's title or summary, else the first request; never empty.
    pub title: String,
    /// Messages of the main conversation.
    pub messages: u64,
    /// Tokens of the main conversation, as its model could read it.
    pub tokens: u64,
    /// Time of its first message.
    pub first_timestamp: Option<Time>,
    /// Time of its last message.
    pub last_timestamp: Option<Time>,
    /// Branch of its last record that names one.
    pub git_branch: Option<String>,
    /// Keepit markers.
    pub keepits: u64,
    /// Compression versions.
    pub versions: u64,
    /// Sub-agents that it ran.
    pub agents: u64,
    /// The original file still exists.
    pub original_present: bool,
    /// The original was written to within the last two minutes.
    pub live: bool,
    /// Recency rank in its project, 1 = most recent, or as set by hand.
    pub distance: u32,
    /// Lines of its files that were not understood.
    pub issues: u64,
    /// Format of its source: `claude-code`, `claude-export`, `plain-export`, `markdown-export`, `claude-ai`,
    /// `history` (only what the user typed), or `memory-context` (what a `MEMORY-CONTEXT` folder has of it).
    pub format: String,
    /// Of an export: the session whose transcript is in memory too and is preferred; the export is not counted then.
    pub paired_with: Option<SessionId>,
}

/// Everything about a session but its messages.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct SessionDetail {
    /// As in lists.
    pub summary: SessionSummary,
    /// Path of the project.
    pub project_path: String,
    /// Where the main file was found; the first is the one that is followed.
    pub places: Vec<String>,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Versions of the client that wrote it, in order.
    pub client_versions: Vec<String>,
    /// Models that answered, in order of first use.
    pub models: Vec<String>,
    /// Tokens that the API counted: input, with cached.
    pub usage_input_tokens: u64,
    /// Tokens that the API counted: output, once for each reply.
    pub usage_output_tokens: u64,
    /// Records in the files that are no messages, by type: `progress`, `file-history-snapshot`, …
    pub other_records: Vec<RecordCount>,
    /// Its sub-agents.
    pub agents: Vec<Agent>,
    /// Lines that were not understood.
    pub issues: Vec<Issue>,
    /// When it was registered.
    pub registered_at: Time,
    /// Whether `summary.distance` was set by hand.
    pub distance_by_hand: bool,
    /// Recency rank, whatever was set by hand.
    pub computed_distance: u32,
    /// Exports of it that are in memory, as sessions paired with it.
    pub exports: Vec<SessionId>,
}

/// Records of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RecordCount {
    /// The type, with its subtype after a slash.
    pub record: String,
    /// How many.
    pub count: u64,
}

/// A sub-agent's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Agent {
    /// Its id, as in `agent-<id>.jsonl`.
    pub agent_id: String,
    /// The tool call in the main conversation that started it, when it is known.
    pub tool_use_id: Option<String>,
    /// What it was for.
    pub title: String,
    /// Its messages.
    pub messages: u64,
    /// Its tokens.
    pub tokens: u64,
    /// First message.
    pub first_timestamp: Option<Time>,
    /// Last message.
    pub last_timestamp: Option<Time>,
}

/// Which messages to read.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct MessageListRequest {
    /// The session.
    pub session: String,
    /// Of this sub-agent instead of the main conversation.
    pub agent: Option<String>,
    /// Index of the first; 0 if not given.
    pub offset: Option<u64>,
    /// How many at most; all if not given.
    pub limit: Option<u64>,
    /// Cuts longer texts in a message to so many characters; whole if not given.
    #[serde(default)]
    #[ts(optional)]
    pub longest: Option<u32>,
}

/// A window of messages.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MessagePage {
    /// The messages, in file order.
    pub messages: Vec<MessageView>,
    /// How many there are in all.
    pub total: u64,
}

/// A message as faces show it.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MessageView {
    /// The message.
    #[serde(flatten)]
    #[ts(flatten)]
    pub message: Message,
    /// What it says as plain text: its blocks joined by a blank line. Keepit positions count characters of it.
    pub text: String,
    /// SHA-256 of the normalised text, in hex.
    pub hash: String,
    /// Its tokens.
    pub tokens: u64,
    /// Keepit markers in it; of a message that was cut, those before the cut.
    pub keepits: Vec<KeepitMarker>,
    /// Characters that `longest` left out.
    pub cut: u64,
}

/// Asks for a session's shape along its length.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SessionMapRequest {
    /// The session.
    pub session: String,
    /// Into how many buckets of equally many messages to cut it, 1 to 2000; fewer when it has fewer messages.
    pub buckets: u32,
}

/// A session's shape: tokens along its length, keepits and compactions.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionMap {
    /// Messages in all.
    pub messages: u64,
    /// The buckets, in order.
    pub buckets: Vec<MapBucket>,
    /// The keepits, in order.
    pub keepits: Vec<MapKeepit>,
    /// Indexes of compact boundaries.
    pub compactions: Vec<u32>,
}

/// A stretch of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MapBucket {
    /// Index of its first message.
    pub first: u32,
    /// Messages in it.
    pub messages: u32,
    /// Tokens in it.
    pub tokens: u64,
}

/// A keepit on the map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MapKeepit {
    /// The marker.
    pub marker_id: MarkerId,
    /// Index of its message.
    pub index: u32,
    /// Its weight.
    pub weight: f64,
}

/// Changes what the user may set on a session; what is not given stays.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct SessionUpdateRequest {
    /// The session.
    pub session: String,
    /// A title of the user's own; empty puts the computed one back.
    pub title: Option<String>,
    /// Distance by hand; 0 puts the computed one back.
    pub distance: Option<u32>,
}

/// Unregisters a session.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SessionRemoveRequest {
    /// The session.
    pub session: String,
    /// Also delete its archived bytes, where no other session needs them. The client's own file is never touched.
    #[serde(default)]
    pub purge: bool,
    /// Remove it although compositions use its versions.
    #[serde(default)]
    pub force: bool,
}

/// What unregistering did.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionRemoved {
    /// The session.
    pub session_id: SessionId,
    /// Whether its archived bytes are gone too.
    pub purged: bool,
    /// Bytes freed in the archive.
    pub bytes_freed: u64,
}

/// Gives original bytes back.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
#[ts(export, optional_fields = nullable)]
pub struct SessionRestoreRequest {
    /// The session; none with `all`.
    pub session: Option<String>,
    /// All sessions.
    pub all: bool,
    /// Write the main file here.
    pub output: Option<String>,
    /// Write the main file and its sub-agents here, laid out as the client does.
    pub tree: Option<String>,
    /// Write over files that exist with other content.
    pub force: bool,
}

/// What was written.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RestoreReport {
    /// The files.
    pub files: Vec<RestoredFile>,
}

/// A restored file.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RestoredFile {
    /// Where it was written.
    pub path: String,
    /// Its session.
    pub session_id: SessionId,
    /// Its bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
}

/// Lists sessions.
pub fn list(call: &Call<'_>, request: SessionListRequest) -> Result<SessionPage> {
    registry::page(call.engine, &request)
}

/// Tells which sessions the client deletes soon.
pub fn expiring(call: &Call<'_>, request: ExpiringRequest) -> Result<Expiring> {
    registry::expiring(call.engine, request.within_days)
}

/// Shows everything about a session but its messages.
pub fn detail(call: &Call<'_>, request: SessionRequest) -> Result<SessionDetail> {
    registry::detail(call.engine, &registry::resolve(call.engine, &request.session)?)
}

/// Shows a session's shape along its length.
pub fn map(call: &Call<'_>, request: SessionMapRequest) -> Result<SessionMap> {
    registry::map(call.engine, &request)
}

/// Changes what the user may set on a session.
pub fn update(call: &Call<'_>, request: SessionUpdateRequest) -> Result<SessionSummary> {
    registry::update(call.engine, &request)
}

/// Unregisters a session; the client's own file is never touched.
pub fn remove(call: &Call<'_>, request: SessionRemoveRequest) -> Result<SessionRemoved> {
    let removed = registry::remove(call.engine, &request)?;
    if removed.purged {
        search::purge(call)?;
    } else {
        search::follow(call);
    }
    Ok(removed)
}

/// Gives original bytes back.
pub fn restore(call: &Call<'_>, request: SessionRestoreRequest) -> Result<RestoreReport> {
    registry::restore(call, &request)
}

/// Writes the original bytes of a session's main file to a stream and gives their number; outside the table, for faces
/// that have a stream.
pub fn restore_to(call: &Call<'_>, request: SessionRequest, out: &mut dyn std::io::Write) -> Result<u64> {
    registry::restore_to(call.engine, &registry::resolve(call.engine, &request.session)?, out)
}

/// Reads a window of messages.
pub fn messages(call: &Call<'_>, request: MessageListRequest) -> Result<MessagePage> {
    registry::messages(call.engine, &request)
}
