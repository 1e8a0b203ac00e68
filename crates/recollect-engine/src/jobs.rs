//! Long work beside calls: each job is a command on a thread of its own, which reports through events and can be cancelled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::api;
use crate::engine::{Call, Cancel, Engine};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::ids::JobId;

/// The jobs that run.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    running: Mutex<HashMap<JobId, Cancel>>,
    started: AtomicU64,
}

/// Starts a command on a thread of its own.
///
/// # Errors
/// When there is no such command, or the system gives no thread.
pub(crate) fn start(engine: &Engine, command: &str, request: Value) -> Result<JobId> {
    if !api::NAMES.contains(&command) || command.starts_with("job_") {
        return Err(Error::usage(format!("there is no command `{command}` that can run as a job")));
    }
    let number = engine.jobs().started.fetch_add(1, Ordering::Relaxed) + 1;
    let job_id = JobId::new(format!("job-{number}"));
    let cancel = Cancel::default();
    engine.jobs().running.lock().unwrap_or_else(PoisonError::into_inner).insert(job_id.clone(), cancel.clone());
    let thread = {
        let (engine, command, job_id) = (engine.clone(), command.to_owned(), job_id.clone());
        move || {
            let tell = |progress| engine.emit(Event::JobProgress { job_id: job_id.clone(), progress });
            let call = Call { engine: &engine, progress: &tell, cancel: &cancel };
            // A defect in a command must end its job, not leave it running for ever in the eyes of the user.
            let outcome =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| api::dispatch(&call, &command, request)))
                    .unwrap_or_else(|_| Err(Error::internal(format!("{command} stopped unexpectedly"))));
            engine.jobs().running.lock().unwrap_or_else(PoisonError::into_inner).remove(&job_id);
            engine.emit(match outcome {
                Ok(response) => Event::JobDone { job_id, response },
                Err(error) => Event::JobFailed { job_id, error: error.to_wire() },
            });
        }
    };
    std::thread::Builder::new().name(job_id.to_string()).spawn(thread)?;
    Ok(job_id)
}

/// Asks a job to stop; tells whether it was running.
pub(crate) fn cancel(engine: &Engine, job_id: &JobId) -> bool {
    let running = engine.jobs().running.lock().unwrap_or_else(PoisonError::into_inner);
    running.get(job_id).inspect(|cancel| cancel.cancel()).is_some()
}
