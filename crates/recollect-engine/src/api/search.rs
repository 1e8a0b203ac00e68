//! Full-text search over everything that is in memory.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::ids::{MarkerId, ProjectId, SessionId, VersionId};
use crate::search;
use crate::session::Role;
use crate::time::Time;

pub use crate::search::Kind as SearchKind;

/// What to look for, and within what. Filters may stand in the query as well (`branch:main`, `-role:tool`, …).
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
#[ts(export, optional_fields = nullable)]
pub struct SearchRequest {
    /// Words, `"phrases"`, `begin*`, `+must`, `-not`, `field:value`. Without words all that the filters leave is found,
    /// newest first.
    pub query: String,
    /// Only of this project: its id, its folder or its name.
    pub project: Option<String>,
    /// Only of sessions on this branch; a `*` at its end stands for any ending.
    pub branch: Option<String>,
    /// Only what this role says.
    pub role: Option<Role>,
    /// Only what is about this file: a path, or the end of one.
    pub file: Option<String>,
    /// Only of sessions that are about this: their title names it, or it is spoken of several times.
    pub topic: Option<String>,
    /// Only of this session.
    pub session: Option<String>,
    /// Only these kinds.
    pub kinds: Option<Vec<SearchKind>>,
    /// Not before this date: `2026-01-20`, `7d`, `2 weeks ago`, `yesterday`, an instant.
    pub since: Option<String>,
    /// Not after this date; a day counts to its end.
    pub until: Option<String>,
    /// Only marked passages of at least this weight.
    pub keepit_min: Option<f64>,
    /// Hits at most, 1 to 1000; 20 if not given.
    pub limit: Option<u32>,
    /// Whether to search by meaning as well.
    pub semantic: Option<Semantic>,
    /// The last word is still being typed: it may be the beginning of a longer one.
    pub typing: bool,
    /// Answer at once with what is searchable already, when much is not; it becomes so in the background.
    pub at_once: bool,
    /// The time zone in which dates are meant, by its IANA name; UTC if not given.
    pub time_zone: Option<String>,
}

/// Whether to search by meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Semantic {
    /// When a model is there.
    #[default]
    Auto,
    /// Always; fails without a model.
    On,
    /// Never.
    Off,
}

/// What was found.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SearchAnswer {
    /// The hits, best first.
    pub hits: Vec<SearchHit>,
    /// Passages that have every word, or with `every_word` false, any.
    pub total: u64,
    /// Whether any passage has every word.
    pub every_word: bool,
    /// Words that nothing has, and what was looked for instead.
    pub corrections: Vec<SearchCorrection>,
    /// The filters that stood in the query.
    pub filters: Vec<SearchFilter>,
    /// What else the person should know, in words.
    pub notes: Vec<String>,
    /// Messages that are in memory and cannot be found yet.
    pub pending: u64,
    /// How long it took, in milliseconds.
    pub elapsed_ms: f64,
}

/// A passage that was found.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct SearchHit {
    /// Its session.
    pub session_id: SessionId,
    /// Title of the session.
    pub session_title: String,
    /// Its project.
    pub project_id: ProjectId,
    /// Name of the project.
    pub project: String,
    /// Branch of the session.
    pub git_branch: Option<String>,
    /// Its message; none for the title of a session.
    pub message_uuid: Option<String>,
    /// Index of the message in its conversation.
    pub index: Option<u32>,
    /// The sub-agent in whose conversation that is.
    pub agent_id: Option<String>,
    /// Index of the message of the main conversation that started the sub-agent.
    pub parent_index: Option<u32>,
    /// What it is.
    pub kind: SearchKind,
    /// Who says it.
    pub role: Option<Role>,
    /// When.
    pub timestamp: Option<Time>,
    /// How well it fits; comparable within one answer.
    pub score: f64,
    /// A line of it.
    pub snippet: String,
    /// Characters of the snippet that were looked for: first, and one past the last.
    pub highlights: Vec<(u32, u32)>,
    /// The keepit marker that it is.
    pub marker_id: Option<MarkerId>,
    /// Weight of the marker.
    pub weight: Option<f64>,
    /// The version that it is of.
    pub version_id: Option<VersionId>,
    /// Other sessions that hold the same record.
    pub copies: u32,
}

/// A misspelt word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SearchCorrection {
    /// As it was typed.
    pub typed: String,
    /// What was looked for instead.
    pub words: Vec<String>,
}

/// A filter that stood in the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SearchFilter {
    /// As it was typed: `branch:main`, `-role:tool`.
    pub typed: String,
}

/// Searches. A query that cannot be read as one is searched as plain words.
pub fn query(call: &Call<'_>, request: SearchRequest) -> Result<SearchAnswer> {
    search::query(call, &request)
}
