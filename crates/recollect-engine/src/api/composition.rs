//! Compositions and resuming from them (4.3, 4.4, 5.3).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::api::compression::{CompressionSettings, LeftOut, VersionMessage};
use crate::compose;
use crate::engine::Call;
use crate::error::Result;
use crate::ids::{CompositionId, ProjectId, SessionId, VersionId};
use crate::time::Time;

/// Asks for a composition or its preview.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct CompositionRequest {
    /// Its name: letters, digits, `-`, `_`, `.` and spaces; it becomes a folder's name.
    pub name: String,
    /// The most tokens that it may have, all told.
    pub budget: u64,
    /// The sessions, in the order of the result.
    pub components: Vec<ComponentRequest>,
    /// How the budget is shared where a component does not say; by relevance if a task is given, else even.
    pub allocation: Option<Allocation>,
    /// What the context is for, in the user's words: by relevance, sessions that say more about it are given more.
    #[serde(default)]
    pub task: Option<String>,
    /// The order of the components in the result; as given if not said.
    #[serde(default)]
    pub order: Option<Order>,
    /// Which files to write; both if not given.
    pub format: Option<CompositionFormat>,
    /// Replace a composition of the same name.
    #[serde(default)]
    pub replace: bool,
}

/// A session in a composition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct ComponentRequest {
    /// The session.
    pub session: String,
    /// `auto` (4.3), `original`, a version's id, or `new` for a new compression; auto if not given.
    pub version: Option<String>,
    /// Tokens wished for it.
    pub tokens: Option<u64>,
    /// How to make the new compression; uniform at the ratio that its share asks for if not given.
    pub settings: Option<CompressionSettings>,
}

/// How a budget is shared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Allocation {
    /// The same for each.
    #[default]
    Even,
    /// By the tokens of the sessions.
    ByLength,
    /// More for the recent ones.
    ByRecency,
    /// By what the sessions say about the task of the request.
    ByRelevance,
    /// As each component says: all must.
    Manual,
}

/// The order of components.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, rename = "CompositionOrder")]
pub enum Order {
    /// As the request names them.
    #[default]
    Given,
    /// By the time of their first messages, the oldest first.
    ByTime,
}

/// Which files a composition has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CompositionFormat {
    /// `composed.md`.
    Markdown,
    /// `composed.jsonl`.
    Jsonl,
    /// Both.
    #[default]
    Both,
}

/// What a composition would be; nothing is written.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CompositionPreview {
    /// The budget asked for.
    pub budget: u64,
    /// Tokens of the whole, with headings.
    pub total_tokens: u64,
    /// Of these, for headings and preamble.
    pub overhead_tokens: u64,
    /// Messages of the whole.
    pub total_messages: u64,
    /// Tokens over the budget; 0 when it fits.
    pub over: u64,
    /// One for each component, in order.
    pub components: Vec<Component>,
    /// The messages, in order.
    pub messages: Vec<ComposedMessage>,
    /// What is not in it, by reason, over all components.
    pub left_out: Vec<LeftOut>,
    /// Messages that two components share and that stand once.
    pub shared_messages: u64,
}

/// A message of a composition.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ComposedMessage {
    /// Order of the component that it comes from.
    pub component: u32,
    /// The message.
    #[serde(flatten)]
    #[ts(flatten)]
    pub message: VersionMessage,
}

/// What a component gives (2.1.5 `CompositionComponent`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Component {
    /// Its session.
    pub session_id: SessionId,
    /// Title of the session.
    pub title: String,
    /// Time of the session's last message.
    pub last_timestamp: Option<Time>,
    /// Position, from 0.
    pub order: u32,
    /// The version taken: `original`, `v001`, …; `new` in a preview that would make one.
    pub version_id: VersionId,
    /// Why this one, in words: "v002: 92 % of its share, all keepits".
    pub reason: String,
    /// A new version was (or would be) made.
    pub created: bool,
    /// Tokens of its session's original.
    pub original_tokens: u64,
    /// Messages of its session's original.
    #[serde(default)]
    pub original_messages: u64,
    /// Tokens that it was given.
    pub share: u64,
    /// Why so many, in words: "62 % of the task's matches".
    #[serde(default)]
    pub share_reason: String,
    /// Tokens that it takes.
    pub token_contribution: u64,
    /// Messages that it gives.
    pub messages: u64,
    /// Keepits of the session that stand in it word for word.
    pub keepits_kept: u64,
    /// Keepits of the session.
    pub keepits_total: u64,
    /// What is not as wished, in words: a chosen version larger than its share.
    pub warning: Option<String>,
    /// A version that would mend the warning.
    pub fix: Option<VersionId>,
}

/// A composition (2.1.5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Composition {
    /// Its id.
    pub composition_id: CompositionId,
    /// Its name.
    pub name: String,
    /// The project that it is kept in: that of its last component.
    pub project_id: ProjectId,
    /// When it was made.
    pub created_at: Time,
    /// The budget asked for.
    pub budget: u64,
    /// How the budget was shared.
    pub allocation: Allocation,
    /// What it is for, where that was said.
    #[serde(default)]
    pub task: Option<String>,
    /// Its components, in order.
    pub components: Vec<Component>,
    /// Tokens of the whole, with headings.
    pub total_tokens: u64,
    /// Messages of the whole.
    pub total_messages: u64,
    /// Its files, whole paths.
    pub files: Vec<String>,
    /// Sessions that were started from it.
    pub used_in_sessions: Vec<String>,
    /// Sessions of it that have changed since: refreshing makes it anew.
    #[serde(default, skip_deserializing)]
    pub stale: Vec<Grown>,
}

/// A session that has changed since a composition took it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Grown {
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Messages that it has more.
    pub new_messages: u64,
    /// Tokens that it has more.
    pub new_tokens: u64,
}

/// Makes a composition anew, with what its sessions have become.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CompositionRefreshRequest {
    /// Its name or id.
    pub name: String,
    /// Only show what would come out.
    #[serde(default)]
    pub dry_run: bool,
}

/// What became of a composition. Where no session has changed, it stays as it is.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct CompositionRefreshed {
    /// The sessions that have changed.
    pub grown: Vec<Grown>,
    /// What would come out, of a dry run.
    pub preview: Option<CompositionPreview>,
    /// The composition as it is now; none of a dry run.
    pub composition: Option<Composition>,
}

/// Copies a composition.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CompositionDuplicateRequest {
    /// Its name or id.
    pub name: String,
    /// Name of the copy.
    pub new_name: String,
}

/// Asks for a text of a composition.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CompositionExportRequest {
    /// Its name or id.
    pub name: String,
    /// Which text.
    pub format: ExportFormat,
}

/// A text of a composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ExportFormat {
    /// As it is read.
    Markdown,
    /// A session of Claude Code, one record a line.
    Jsonl,
    /// Documents in tags, with what is known of each session as attributes; all content is escaped.
    Xml,
    /// Plain text that says who speaks.
    Prompt,
}

/// A composition as a text.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct CompositionExported {
    /// The composition.
    pub name: String,
    /// Which text.
    pub format: ExportFormat,
    /// The text.
    pub text: String,
    /// Its tokens; of a session's lines, of what is said in them.
    pub tokens: u64,
    /// The budget of the composition.
    pub budget: u64,
    /// Tokens over the budget: tags and escaping may take some.
    pub over: u64,
    /// The same in words, where it is over.
    pub note: Option<String>,
    /// `text/markdown`, `application/jsonl`, `application/xml` or `text/plain`.
    pub media_type: String,
}

/// A composition with its text.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CompositionDetail {
    /// The composition.
    pub composition: Composition,
    /// Its Markdown.
    pub markdown: String,
    /// The request that would make it again.
    pub request: CompositionRequest,
}

/// Asks for the compositions, newest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CompositionListRequest {}

/// Names a composition.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CompositionNameRequest {
    /// Its name or id.
    pub name: String,
}

/// Puts a composition where Claude Code finds it as a session.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct ResumeRequest {
    /// The composition.
    pub name: String,
    /// Folder in which the client will run; the composition's project if not given.
    pub cwd: Option<String>,
}

/// A session that Claude Code can resume.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Resumed {
    /// Its id.
    pub session_id: SessionId,
    /// The file that was written.
    pub file: String,
    /// Folder in which to start.
    pub cwd: String,
    /// What to start.
    pub command: String,
}

/// Shows what a composition would be, with exact figures; nothing is written.
pub fn preview(call: &Call<'_>, request: CompositionRequest) -> Result<CompositionPreview> {
    compose::preview(call, &request)
}

/// Makes a composition, with new versions where none suits.
pub fn create(call: &Call<'_>, request: CompositionRequest) -> Result<Composition> {
    compose::create(call, &request)
}

/// Lists the compositions, newest first.
pub fn list(call: &Call<'_>, _request: CompositionListRequest) -> Result<Vec<Composition>> {
    compose::list(call.engine)
}

/// Shows a composition with its text.
pub fn detail(call: &Call<'_>, request: CompositionNameRequest) -> Result<CompositionDetail> {
    compose::detail(call.engine, &request.name)
}

/// Removes a composition; its versions and the sessions that were started from it stay.
pub fn remove(call: &Call<'_>, request: CompositionNameRequest) -> Result<Composition> {
    compose::remove(call.engine, &request.name)
}

/// Makes a composition anew, with what its sessions have become.
pub fn refresh(call: &Call<'_>, request: CompositionRefreshRequest) -> Result<CompositionRefreshed> {
    compose::refresh(call, &request)
}

/// Copies a composition under another name.
pub fn duplicate(call: &Call<'_>, request: CompositionDuplicateRequest) -> Result<Composition> {
    compose::duplicate(call.engine, &request)
}

/// Gives a composition as a text.
pub fn export(call: &Call<'_>, request: CompositionExportRequest) -> Result<CompositionExported> {
    compose::export(call.engine, &request)
}

/// Writes a new session of Claude Code that goes on from a composition.
pub fn resume(call: &Call<'_>, request: ResumeRequest) -> Result<Resumed> {
    compose::resume(call.engine, &request)
}
