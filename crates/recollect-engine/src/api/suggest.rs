//! Sessions that would make a good context for what somebody is about to do (7.1).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId, VersionId};
use crate::suggest;
use crate::time::Time;

pub use crate::suggest::Parts as SuggestionParts;

/// What is about to be done; all but the budget may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct SuggestRequest {
    /// The folder that is worked in; its branch counts too.
    #[serde(default)]
    pub folder: Option<String>,
    /// Files that are worked on, whole paths or below the folder.
    #[serde(default)]
    pub files: Vec<String>,
    /// Topics.
    #[serde(default)]
    pub topics: Vec<String>,
    /// What is to be done, in any words.
    #[serde(default)]
    pub task: Option<String>,
    /// The most tokens that all of them may have together.
    pub budget: u64,
    /// Sessions at most, 1 to 100; 8 if not given.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// Sessions, the best first.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Suggestions {
    /// The sessions.
    pub suggestions: Vec<Suggestion>,
    /// Tokens of all, with headings; at most the budget.
    pub total_tokens: u64,
    /// The budget asked for.
    pub budget: u64,
    /// Sessions that were looked at.
    pub considered: u64,
    /// Sessions that fit what is to be done, and for which there was no room or that were too many.
    pub more: u64,
}

/// A session that is suggested (7.1 `ContextSuggestion`).
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Suggestion {
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Its project.
    pub project_id: ProjectId,
    /// Name of the project.
    pub project: String,
    /// Time of its last message.
    pub last_timestamp: Option<Time>,
    /// Tokens of its original.
    pub original_tokens: u64,
    /// The version to take: `original`, `v001`, …, or `new` where one should be made.
    pub version_id: VersionId,
    /// Why this one, in words.
    pub version_reason: String,
    /// How well it fits, 0 to 1.
    pub score: f64,
    /// What the score is made of.
    pub parts: SuggestionParts,
    /// Topics of the request that it is about.
    pub matched_topics: Vec<String>,
    /// Files of the request that it touched.
    pub matched_files: Vec<String>,
    /// Tokens that it should have, so that the whole is within the budget.
    pub suggested_tokens: u64,
    /// Why it is suggested, in words, the weightiest first.
    pub reasons: Vec<String>,
}

/// Suggests sessions.
///
/// # Errors
/// `Usage` for a budget or a limit that means nothing.
pub fn context(call: &Call<'_>, request: SuggestRequest) -> Result<Suggestions> {
    suggest::suggest(call, &request)
}
