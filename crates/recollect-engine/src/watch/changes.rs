//! What was seen to change and has not been looked at yet: a set, so that a storm of events is no more than what it is about.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

use super::Signal;

/// More paths than this are no longer told apart: everything is looked at.
const MANY: usize = 4096;

/// What changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Files and folders.
    pub(super) paths: BTreeSet<PathBuf>,
    /// Anything may have changed: events were lost.
    pub(super) everything: bool,
    /// A followed folder came or went: what is watched has to be chosen anew.
    pub(super) roots: bool,
    /// Folders were made, which may hold files that were not told of.
    pub(super) folders_made: bool,
    /// The system watches no more folders for this user.
    pub(super) crowded: bool,
    /// The database was written to, by whomever.
    pub(super) database: bool,
    /// The configuration was written to.
    pub(super) configuration: bool,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Changes as they are seen, with a call for whoever looks at them.
pub(super) struct Pending {
    changes: Mutex<Changes>,
    signals: Mutex<Sender<Signal>>,
}

impl Pending {
    pub(super) fn new(signals: Sender<Signal>) -> Self {
        Self { changes: Mutex::default(), signals: Mutex::new(signals) }
    }

    /// Notes something; the worker is called when nothing was pending before.
    pub(super) fn note(&self, note: impl FnOnce(&mut Changes)) {
        let is_first = {
            let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
            let was_empty = changes.is_empty();
            note(&mut changes);
            if changes.paths.len() > MANY {
                changes.paths.clear();
                changes.everything = true;
            }
            was_empty && !changes.is_empty()
        };
        if is_first {
            // Nobody listens when the worker has ended.
            let _ = self.signals.lock().unwrap_or_else(PoisonError::into_inner).send(Signal::Changed);
        }
    }

    /// Takes what is pending.
    pub(super) fn take(&self) -> Changes {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
