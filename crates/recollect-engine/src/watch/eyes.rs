//! What the system watches: the client's folder with all below it, the folders of exports, and what holds them, so that they
//! are found again when they are made anew.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::{EventKind, ModifyKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::changes::Pending;
use crate::registry::Followed;

/// A watch on folders; it ends when it is dropped.
pub(super) struct Eyes {
    watcher: RecommendedWatcher,
    /// Not all could be watched: the system's limit is reached, or it refused.
    pub(super) fault: Option<Fault>,
}

/// Why not all is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The user has no more watches.
    Crowded,
    /// The system said this.
    Refused(String),
}

impl Eyes {
    /// Begins to watch; what cannot be watched is a fault, not a failure.
    ///
    /// # Errors
    /// When the system watches nothing at all, in its words.
    pub(super) fn open(followed: &Followed, pending: &Arc<Pending>) -> Result<Self, Fault> {
        let seen = {
            let (followed, pending) = (followed.clone(), Arc::clone(pending));
            move |event: notify::Result<Event>| see(&followed, &pending, event)
        };
        let watcher = RecommendedWatcher::new(seen, Config::default()).map_err(|error| fault(&error))?;
        let mut eyes = Self { watcher, fault: None };
        // First what holds a folder, then the folder: whatever is made meanwhile is seen.
        for root in std::iter::once(&followed.transcripts).chain(&followed.exports) {
            if let Some(holder) = root.ancestors().skip(1).find(|folder| folder.is_dir()) {
                eyes.watch(holder, RecursiveMode::NonRecursive);
            }
        }
        eyes.watch(&followed.transcripts, RecursiveMode::Recursive);
        for folder in &followed.exports {
            eyes.watch(folder, RecursiveMode::NonRecursive);
        }
        Ok(eyes)
    }

    fn watch(&mut self, folder: &Path, mode: RecursiveMode) {
        if !folder.is_dir() {
            return;
        }
        match self.watcher.watch(folder, mode) {
            Ok(()) => {}
            // Gone meanwhile: what holds it is watched.
            Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => {}
            Err(error) => self.fault = Some(fault(&error)),
        }
    }

    /// Returns when folders that were told of are watched themselves: the thread that watches answers after what it was at.
    pub(super) fn settle(&mut self) {
        let _ = self.watcher.configure(Config::default());
    }
}

fn fault(error: &notify::Error) -> Fault {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => Fault::Crowded,
        // No more inotify instances.
        notify::ErrorKind::Io(io) if io.raw_os_error() == Some(24) => Fault::Crowded,
        _ => Fault::Refused(error.to_string()),
    }
}

/// Notes what an event is about.
fn see(followed: &Followed, pending: &Pending, event: notify::Result<Event>) {
    let event = match event {
        Ok(event) => event,
        Err(error) => {
            let is_crowded = fault(&error) == Fault::Crowded;
            return pending.note(|changes| {
                changes.everything = true;
                changes.crowded |= is_crowded;
            });
        }
    };
    if event.need_rescan() {
        return pending.note(|changes| changes.everything = true);
    }
    // That somebody read is no change; we are the first who do.
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    let comes_or_goes =
        matches!(event.kind, EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
    for path in event.paths {
        match kind_of(followed, &path) {
            Kind::Root if comes_or_goes => pending.note(|changes| changes.roots = true),
            Kind::Inside => pending.note(|changes| {
                changes.folders_made |= matches!(event.kind, EventKind::Create(_)) || comes_or_goes && path.is_dir();
                changes.paths.insert(path);
            }),
            Kind::Root | Kind::Other => {}
        }
    }
}

/// What a path is to what is followed.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// A followed folder, or one that holds it.
    Root,
    /// In a followed folder.
    Inside,
    Other,
}

fn kind_of(followed: &Followed, path: &PathBuf) -> Kind {
    if followed.transcripts.starts_with(path) || followed.exports.iter().any(|folder| folder.starts_with(path)) {
        Kind::Root
    } else if path.starts_with(&followed.transcripts)
        || followed.exports.iter().any(|folder| path.parent() == Some(folder))
    {
        Kind::Inside
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_apart_by_what_they_are_to_the_followed_folders() {
        let followed =
            Followed { transcripts: "/home/ada/.claude/projects".into(), exports: vec!["/home/ada/exports".into()] };
        for (path, kind) in [
            ("/home/ada/.claude/projects", Kind::Root),
            ("/home/ada/.claude", Kind::Root),
            ("/home/ada/exports", Kind::Root),
            ("/home/ada/.claude/projects/-p/x.jsonl", Kind::Inside),
            ("/home/ada/exports/talk.txt", Kind::Inside),
            ("/home/ada/exports/deep/talk.txt", Kind::Other),
            ("/home/ada/.claude/history.jsonl", Kind::Other),
        ] {
            assert_eq!(kind_of(&followed, &PathBuf::from(path)), kind, "{path}");
        }
    }
}
