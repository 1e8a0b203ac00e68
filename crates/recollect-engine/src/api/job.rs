//! Long work: any command can run as a job, which reports through events and can be cancelled.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::ids::JobId;
use crate::jobs;

/// Starts a command as a job.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct JobStartRequest {
    /// Name of the command.
    pub command: String,
    /// Its request.
    #[ts(type = "unknown")]
    pub request: Value,
}

/// A job that runs.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct JobStarted {
    /// The job.
    pub job_id: JobId,
}

/// Asks a job to stop.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct JobCancelRequest {
    /// The job.
    pub job_id: JobId,
}

/// Whether there was a job to stop.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct JobCancelled {
    /// The job was running.
    pub was_running: bool,
}

/// Starts a command as a job.
pub fn start(call: &Call<'_>, request: JobStartRequest) -> Result<JobStarted> {
    Ok(JobStarted { job_id: jobs::start(call.engine, &request.command, request.request)? })
}

/// Asks a job to stop.
pub fn cancel(call: &Call<'_>, request: JobCancelRequest) -> Result<JobCancelled> {
    Ok(JobCancelled { was_running: jobs::cancel(call.engine, &request.job_id) })
}
