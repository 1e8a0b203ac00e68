//! What the engine tells its faces while it works.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::api::watch::WatchStatus;
use crate::error::WireError;
use crate::ids::{JobId, ProjectId, SessionId};

/// How far a long operation is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Progress {
    /// Units done.
    pub done: u64,
    /// Units in all; 0 while it is not known.
    pub total: u64,
    /// What a unit is: `files`, `bytes`, `messages`, `sessions`.
    pub unit: String,
    /// What is being worked on, in words ("selecting sentences", a file's name).
    pub stage: String,
}

/// Something that happened in the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "event", rename_all = "snake_case")]
#[ts(export)]
pub enum Event {
    /// A job went on.
    JobProgress {
        /// The job.
        job_id: JobId,
        /// How far it is.
        progress: Progress,
    },
    /// A job ended well.
    JobDone {
        /// The job.
        job_id: JobId,
        /// The response of the command that it ran.
        #[ts(type = "unknown")]
        response: serde_json::Value,
    },
    /// A job failed or was cancelled; nothing half-made was left.
    JobFailed {
        /// The job.
        job_id: JobId,
        /// Why.
        error: WireError,
    },
    /// Sessions were registered, grew, changed or went; lists should be read again.
    SessionsChanged {
        /// Projects whose lists changed.
        project_ids: Vec<ProjectId>,
        /// Sessions that changed.
        session_ids: Vec<SessionId>,
    },
    /// The full-text index has more, or less, than before: shown hits should be looked for again.
    IndexChanged {
        /// Messages that it still lacks.
        pending: u64,
    },
    /// Compositions were made or removed.
    CompositionsChanged,
    /// The configuration changed.
    ConfigChanged,
    /// Whoever follows the client began, paused, caught up or failed.
    WatchChanged {
        /// How it stands now.
        status: WatchStatus,
    },
}

/// Receives events; called from any thread, must return quickly.
pub type EventSink = std::sync::Arc<dyn Fn(Event) + Send + Sync>;
