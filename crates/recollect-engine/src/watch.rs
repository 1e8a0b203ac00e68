//! Following the client while it works: what it writes is in the list, in search and in the archive at once.
//!
//! One program at a time follows for a memory: the one that holds `watch.lock`. The others wait for that lock without doing
//! anything, and take over when its holder ends, however it ends. Between changes nothing runs: the system tells of changes, and a
//! look at everything (one `stat` a file) is taken at the start, after a sleep, after lost events, and every ten minutes.
//!
//! `notify` tells of changes. Its debouncers are not used: they wake many times a second for as long as they live, and read whole
//! trees to tell renames from removals, which is all the same here: what a path holds now is what counts.

mod changes;
mod eyes;
mod others;
#[cfg(test)]
mod tests;
mod worker;

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::api::ingest::IngestReport;
use crate::api::watch::{WatchState, WatchStatus};
use crate::engine::{Cancel, Engine};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::home::{Home, open_private};
use crate::registry::Followed;
use changes::Pending;
use worker::Worker;

/// Whether this program follows the client, and how that stands.
#[derive(Default)]
pub struct Watch {
    status: Mutex<WatchStatus>,
    running: Mutex<Option<Running>>,
}

struct Running {
    signals: Sender<Signal>,
    cancel: Cancel,
    thread: JoinHandle<()>,
}

/// How to follow.
pub struct Follow {
    /// Begin also when the memory holds nothing yet, and whatever the setting `watch.enabled` says: the user asked for it.
    pub at_once: bool,
    /// Hears what came in, as it comes.
    pub told: Arc<dyn Fn(Told<'_>) + Send + Sync>,
}

/// What following tells.
pub enum Told<'a> {
    /// How it stands changed.
    Status(&'a WatchStatus),
    /// Files were taken in.
    TookIn(&'a IngestReport),
}

/// What the worker is told.
enum Signal {
    /// Something changed on disk.
    Changed,
    /// The lock is ours.
    Locked(fs_err::File),
    /// The lock cannot be had.
    Unlockable(Error),
    /// Pause, or go on.
    Pause(bool),
    Stop,
}

impl Watch {
    /// How following stands in this program.
    pub fn status(&self) -> WatchStatus {
        locked(&self.status).clone()
    }

    /// Begins to follow on a thread of its own; that goes on until [`Watch::stop`]. Does nothing when it goes on already.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(&self, engine: &Engine, follow: Follow) -> Result<()> {
        let mut running = locked(&self.running);
        if running.is_some() {
            return Ok(());
        }
        let (signals, heard) = std::sync::mpsc::channel();
        let cancel = Cancel::default();
        let pending = Arc::new(Pending::new(signals.clone()));
        let worker = Worker::new(engine.clone(), follow, pending, signals.clone(), cancel.clone());
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(move || worker.run(&heard))?;
        *running = Some(Running { signals, cancel, thread });
        Ok(())
    }

    /// Pauses, or goes on.
    ///
    /// # Errors
    /// `Conflict` when this program does not follow.
    pub fn pause(&self, paused: bool) -> Result<WatchStatus> {
        let running = locked(&self.running);
        let Some(running) = running.as_ref() else {
            return Err(Error::conflict("this program does not follow Claude Code")
                .hint("use the desktop, or `recollect watch`"));
        };
        let mut status = self.status();
        if status.state == WatchState::Off {
            return Err(Error::conflict("following Claude Code is off").hint("turn on the setting `watch.enabled`"));
        }
        // What is under way is done first; what is shown says what was asked for.
        let _ = running.signals.send(Signal::Pause(paused));
        status.state = if paused { WatchState::Paused } else { WatchState::CatchingUp };
        Ok(status)
    }

    /// Stops, after what must not be left half-done; the files that mirror the index are written.
    pub fn stop(&self) {
        let Some(running) = locked(&self.running).take() else { return };
        running.cancel.cancel();
        let _ = running.signals.send(Signal::Stop);
        // A worker that panicked has nothing left to do.
        let _ = running.thread.join();
    }

    /// Sets how it stands; tells when that is another state than before.
    fn set(&self, engine: &Engine, follow: &Follow, status: WatchStatus) {
        {
            let mut known = locked(&self.status);
            if *known == status {
                return;
            }
            *known = status.clone();
        }
        (follow.told)(Told::Status(&status));
        engine.emit(Event::WatchChanged { status });
    }
}

/// Whether a program follows for a memory.
///
/// # Errors
/// When the lock cannot be looked at.
pub(crate) fn is_followed(home: &Home) -> Result<bool> {
    let path = home.watch_lock();
    if !path.exists() {
        return Ok(false);
    }
    let lock = open_private(&path)?;
    match lock.file().try_lock_shared() {
        Ok(()) => Ok(false),
        Err(std::fs::TryLockError::WouldBlock) => Ok(true),
        Err(std::fs::TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Folders that are followed as the settings stand.
pub(crate) fn followed(engine: &Engine) -> Result<Followed> {
    let exports: Vec<PathBuf> = engine.config()?.export_folders;
    Ok(Followed { transcripts: engine.claude_home().join("projects"), exports })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
