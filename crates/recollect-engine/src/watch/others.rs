//! What other programs do to the same memory: seen on the files of the database, and told to the faces of this one.

use std::path::Path;
use std::sync::Arc;

use notify::event::EventKind;
use notify::{Config, Event as Seen, RecommendedWatcher, RecursiveMode, Watcher};

use super::changes::Pending;
use crate::db::Marks;
use crate::engine::Engine;
use crate::error::Result;
use crate::event::Event;

/// A watch on the memory itself.
pub(super) struct Others {
    _watcher: RecommendedWatcher,
    version: i64,
    marks: Marks,
}

impl Others {
    /// Begins to watch; `None` where the system does not.
    pub(super) fn open(engine: &Engine, pending: &Arc<Pending>) -> Option<Self> {
        let pending = Arc::clone(pending);
        let database = engine.home().database().file_name()?.to_string_lossy().into_owned();
        let configuration = engine.home().config().file_name()?.to_owned();
        let seen = move |event: notify::Result<Seen>| {
            let Ok(event) = event else { return pending.note(|changes| changes.database = true) };
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            for name in event.paths.iter().filter_map(|path| Path::file_name(path)) {
                if name == configuration {
                    pending.note(|changes| changes.configuration = true);
                } else if name.to_string_lossy().starts_with(&database) {
                    pending.note(|changes| changes.database = true);
                }
            }
        };
        let mut watcher = RecommendedWatcher::new(seen, Config::default()).ok()?;
        watcher.watch(engine.home().root(), RecursiveMode::NonRecursive).ok()?;
        let version = engine.db().version_of_others().ok()?;
        let marks = engine.db().read(|rows| rows.marks()).ok()?;
        Some(Self { _watcher: watcher, version, marks })
    }

    /// Tells what another program changed since the last look.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub(super) fn tell(&mut self, engine: &Engine) -> Result<()> {
        let version = engine.db().version_of_others()?;
        if version == self.version {
            return Ok(());
        }
        let since = self.marks.seen;
        let (marks, seen, pending) =
            engine.db().read(|rows| Ok((rows.marks()?, rows.seen_since(since)?, rows.search_backlog()?)))?;
        self.version = version;
        let before = std::mem::replace(&mut self.marks, marks);
        if self.marks.seen != before.seen || self.marks.sessions != before.sessions {
            let mut project_ids: Vec<_> = seen.iter().map(|(project, _)| project.clone()).collect();
            project_ids.sort();
            project_ids.dedup();
            let session_ids = seen.into_iter().map(|(_, session)| session).collect();
            engine.emit(Event::SessionsChanged { project_ids, session_ids });
        }
        if self.marks.compositions != before.compositions {
            engine.emit(Event::CompositionsChanged);
        }
        if self.marks.index != before.index {
            engine.emit(Event::IndexChanged { pending });
        }
        Ok(())
    }
}
