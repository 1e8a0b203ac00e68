//! Messages that say nearly the same (export-deduplication.md, the layer after exact repeats): shown as groups, never merged.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::near_duplicates;
use crate::session::Role;
use crate::time::Time;

/// How alike, and where to look.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
#[ts(export, optional_fields = nullable)]
pub struct NearDuplicatesRequest {
    /// The least share of three-word stretches that two messages have in common, 0.5 to 1; 0.75 if not given.
    pub similarity: Option<f64>,
    /// Only messages of this project.
    pub project: Option<ProjectId>,
    /// Groups to leave out at the beginning.
    pub offset: Option<u32>,
    /// Groups at most, 1 to 1000; 50 if not given.
    pub limit: Option<u32>,
}

/// Groups of messages that say nearly the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct NearDuplicates {
    /// The largest groups first.
    pub groups: Vec<NearDuplicateGroup>,
    /// Groups in all.
    pub total: u64,
    /// Messages in all groups.
    pub messages: u64,
    /// Different messages that were compared: what people and models said in at least a dozen words.
    pub compared: u64,
}

/// Messages that say nearly the same as the first of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct NearDuplicateGroup {
    /// The earliest first.
    pub messages: Vec<NearDuplicate>,
}

/// A message of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct NearDuplicate {
    /// Its session.
    pub session_id: SessionId,
    /// Title of the session.
    pub session_title: String,
    /// Its project.
    pub project_id: ProjectId,
    /// Name of the project.
    pub project: String,
    /// The sub-agent that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Its position in the conversation.
    pub index: u32,
    /// Its uuid.
    pub message_uuid: String,
    /// Who says it.
    pub role: Role,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
    /// Share of three-word stretches that it has in common with the group's first, of those of both, 0 to 1.
    pub similarity: f64,
    /// Other places where the same stands word for word.
    pub copies: u32,
    /// What it says, its first 4000 characters.
    pub text: String,
    /// Characters of it that are left out.
    pub cut: u64,
    /// What only it says: stretches that the group's first lacks; of the first, those that the second lacks.
    pub only_here: Vec<String>,
}

/// Finds near-duplicates; reads all that was said, so that it is best run as a job.
pub fn find(call: &Call<'_>, request: NearDuplicatesRequest) -> Result<NearDuplicates> {
    near_duplicates::find(call, &request)
}
