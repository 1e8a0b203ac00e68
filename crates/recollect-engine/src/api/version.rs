//! What is done with versions once they are made: proven, pruned, compared (5.5).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::api::compression::Behind;
use crate::engine::Call;
use crate::error::Result;
use crate::ids::{MarkerId, SessionId, VersionId};
use crate::time::Time;
use crate::versions;

/// Asks whether a version is what its settings make of its session.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct VersionVerifyRequest {
    /// The session.
    pub session: String,
    /// The version.
    pub version: VersionId,
}

/// How a version was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum VerifiedBy {
    /// It was made again, and its bytes compared.
    Text,
    /// A language model would not say the same again: what it was made from is the same as it was, by hash, and its files are as
    /// they were written.
    Input,
}

/// The first line in which a version differs from what its settings make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct TextDifference {
    /// Its number in the version's Markdown, from 1.
    pub line: u64,
    /// As it is stored; null where a line is missing.
    pub stored: Option<String>,
    /// As it is made now; null where no line is made.
    pub made_again: Option<String>,
}

/// Whether a version is what its settings make of its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct VersionVerified {
    /// The session.
    pub session_id: SessionId,
    /// The version.
    pub version_id: VersionId,
    /// It is, as far as `by` can tell.
    pub identical: bool,
    /// How that was found out.
    pub by: VerifiedBy,
    /// Indexes of the first and last message that it tells of; null when it does not say.
    pub covers: Option<(u32, u32)>,
    /// Why it is not, in words; empty when it is.
    pub reasons: Vec<String>,
    /// Where it differs first.
    pub difference: Option<TextDifference>,
    /// What the session has beyond it, which was left out of the comparison.
    pub behind: Option<Behind>,
}

/// Deletes versions that are not worth keeping, by a rule.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct VersionPruneRequest {
    /// Only versions of this session; of all sessions if not given.
    pub session: Option<String>,
    /// What is kept: `all`, `used`, `last:N` (the newest N of each session) or `days:N` (made or used within so many days); by the
    /// setting `storage.compressionRetention` if not given. What compositions use is kept in any case.
    pub keep: Option<String>,
    /// Only say what would be deleted.
    #[serde(default)]
    pub dry_run: bool,
}

/// A version that was, or would be, deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct PrunedVersion {
    /// Its session.
    pub session_id: SessionId,
    /// Title of the session.
    pub title: String,
    /// The version.
    pub version_id: VersionId,
    /// Name of its files.
    pub file: String,
    /// When it was made.
    pub created_at: Time,
    /// When a composition last took it.
    pub last_used: Option<Time>,
    /// Its tokens.
    pub output_tokens: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Made by composing, not by hand.
    pub auto_created: bool,
    /// Made by a language model: making it again costs.
    pub by_model: bool,
    /// Why, in words; and what becomes of versions that were made from it.
    pub why: String,
}

/// A version that stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct KeptVersion {
    /// Its session.
    pub session_id: SessionId,
    /// The version.
    pub version: VersionId,
    /// Why, in words.
    pub why: String,
}

/// What pruning did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct VersionsPruned {
    /// The rule.
    pub keep: String,
    /// Nothing was deleted.
    pub dry_run: bool,
    /// What was deleted, oldest first.
    pub removed: Vec<PrunedVersion>,
    /// What stays.
    pub kept: Vec<KeptVersion>,
    /// Bytes of the files that were deleted.
    pub bytes: u64,
}

/// Compares two versions; `original` names the session itself.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct VersionDiffRequest {
    /// The session.
    pub session: String,
    /// One version.
    pub left: VersionId,
    /// The other.
    pub right: VersionId,
}

/// A comparison by lines, with words inside changed lines.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct VersionDiff {
    /// One version.
    pub left: VersionId,
    /// The other.
    pub right: VersionId,
    /// Tokens of the one.
    pub left_tokens: u64,
    /// Tokens of the other.
    pub right_tokens: u64,
    /// Lines in the other only.
    pub added: u64,
    /// Lines in the one only.
    pub removed: u64,
    /// The lines, in order; long equal stretches are folded to one `skipped` line.
    pub lines: Vec<DiffLine>,
    /// Which messages of the session each of them tells of.
    pub messages: DiffMessages,
    /// The marked passages of the session, and which of the two has them word for word.
    pub keepits: Vec<DiffKeepit>,
}

/// Messages of the session that two versions tell of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffMessages {
    /// How many both tell of.
    pub both: u64,
    /// How many the left one tells of alone.
    pub left_only: u64,
    /// How many the right one tells of alone.
    pub right_only: u64,
    /// Indexes of those of the left one alone: first and last of each stretch.
    pub left_ranges: Vec<(u32, u32)>,
    /// Of those of the right one alone.
    pub right_ranges: Vec<(u32, u32)>,
}

/// A marked passage, and where it is word for word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffKeepit {
    /// The marker.
    pub marker_id: MarkerId,
    /// Index of its message.
    pub message_index: u32,
    /// Its weight, 0 to 1.
    pub weight: f64,
    /// The marked words, or their beginning.
    pub content: String,
    /// The left one has it.
    pub left: bool,
    /// The right one has it.
    pub right: bool,
}

/// What a line of a comparison is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum DiffLineKind {
    /// In both.
    Equal,
    /// In the right one only.
    Added,
    /// In the left one only.
    Removed,
    /// Stands for equal lines that are not shown.
    Skipped,
}

/// A line of a comparison.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct DiffLine {
    /// What it is.
    pub kind: DiffLineKind,
    /// Its number in the left one.
    pub left_line: Option<u64>,
    /// Its number in the right one.
    pub right_line: Option<u64>,
    /// Its words: those that changed are emphasised.
    pub words: Vec<DiffWord>,
}

/// A piece of a line.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffWord {
    /// The text.
    pub text: String,
    /// It differs from the other side.
    pub changed: bool,
}

/// Makes a version again and compares it.
pub fn verify(call: &Call<'_>, request: VersionVerifyRequest) -> Result<VersionVerified> {
    versions::verify(call, &request)
}

/// Deletes versions by a rule, or says which it would.
pub fn prune(call: &Call<'_>, request: VersionPruneRequest) -> Result<VersionsPruned> {
    versions::prune(call, &request)
}

/// Compares two versions, or one with the original.
pub fn diff(call: &Call<'_>, request: VersionDiffRequest) -> Result<VersionDiff> {
    versions::diff(call.engine, &request)
}
