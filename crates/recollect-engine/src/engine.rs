//! The engine: an open memory, and what one call into it carries.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::archive::Archive;
use crate::compose::Prepared;
use crate::config::Config;
use crate::db::{Db, Rows};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventSink, Progress};
use crate::home::Home;
use crate::ids::ProjectId;
use crate::imported;
use crate::jobs::Jobs;
use crate::keepit::Decay;
use crate::language_model::LanguageModels;
use crate::manifest;
use crate::rebuild;
use crate::search::Search;
use crate::time::{Clock, Time};
use crate::tokens::Counter;
use crate::watch::{self, Watch};

/// What a face gives the engine: places, the clock, and where events go.
#[derive(Clone)]
pub struct EngineOptions {
    /// Folder of the memory, `~/.claude-memory` as a rule; made when it is missing.
    pub home: PathBuf,
    /// Folder in which Claude Code keeps its data, `~/.claude` as a rule; only read, but for resumed sessions.
    pub claude_home: PathBuf,
    /// Tells the time.
    pub clock: Clock,
    /// Receives events.
    pub sink: EventSink,
    /// Folders in which people keep exports, such as Downloads and Desktop; looked into only when asked for the latest.
    pub export_folders: Vec<PathBuf>,
    /// Asks language models, when a compression chooses an engine that does.
    pub models: Arc<dyn LanguageModels>,
}

/// An open memory. Clones share it.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    options: EngineOptions,
    home: Home,
    db: Db,
    archive: Archive,
    counter: Counter,
    jobs: Jobs,
    search: Search,
    prepared: Prepared,
    watch: Watch,
    /// Locked for as long as the memory is open, together with others.
    in_use: Option<fs_err::File>,
}

impl Engine {
    /// Opens the memory, making or migrating it when needed. Should its database be gone while the archive is there, it is
    /// made anew first.
    ///
    /// # Errors
    /// When the folder cannot be used, or was written by a newer program.
    pub fn open(options: EngineOptions) -> Result<Self> {
        Self::open_watched(options, &Work { progress: &|_| {}, cancel: &Cancel::default() })
    }

    /// The same, telling how far it is when there is much to do first.
    pub fn open_watched(options: EngineOptions, work: &Work<'_>) -> Result<Self> {
        let home = Home::open(&options.home)?;
        let in_use = rebuild::enter(&options, &home, work)?;
        let engine = Self::over(options, home.clone(), &home.database(), Some(in_use))?;
        engine.repair()?;
        Ok(engine)
    }

    /// A memory with its database somewhere.
    pub(crate) fn over(
        options: EngineOptions,
        home: Home,
        database: &Path,
        in_use: Option<fs_err::File>,
    ) -> Result<Self> {
        let db = Db::open(database)?;
        let archive = Archive::new(home.archive(), db.clone());
        let counter = Counter::for_model(&Config::load(&home.config())?.model);
        let (jobs, search, watch) = (Jobs::default(), Search::default(), Watch::default());
        let prepared = Prepared::default();
        let inner = Inner { options, home, db, archive, counter, jobs, search, prepared, watch, in_use };
        let engine = Self { inner: Arc::new(inner) };
        engine.recount()?;
        Ok(engine)
    }

    /// What the face gave.
    pub(crate) fn options(&self) -> &EngineOptions {
        &self.inner.options
    }

    /// The lock that says that the memory is in use.
    pub(crate) fn in_use(&self) -> Option<&fs_err::File> {
        self.inner.in_use.as_ref()
    }

    /// Archived bytes.
    pub fn archive(&self) -> &Archive {
        &self.inner.archive
    }

    /// Counts tokens, the same way everywhere.
    pub fn counter(&self) -> &Counter {
        &self.inner.counter
    }

    /// The configuration as it is now.
    pub fn config(&self) -> Result<Config> {
        Config::load(&self.home().config())
    }

    /// How weights decay, as it is configured now.
    pub fn decay(&self) -> Result<Decay> {
        Ok(self.config()?.decay)
    }

    /// Asks language models.
    pub fn language_models(&self) -> &dyn LanguageModels {
        self.inner.options.models.as_ref()
    }

    /// Work that goes on beside calls.
    pub(crate) fn jobs(&self) -> &Jobs {
        &self.inner.jobs
    }

    /// Whoever follows the client's folder for this memory.
    pub fn watch(&self) -> &Watch {
        &self.inner.watch
    }

    /// Folders in which people keep exports.
    pub fn export_folders(&self) -> &[PathBuf] {
        &self.inner.options.export_folders
    }

    /// The full-text index, once it was opened.
    pub(crate) fn search(&self) -> &Search {
        &self.inner.search
    }

    /// Sessions that compositions were previewed of.
    pub(crate) fn prepared(&self) -> &Prepared {
        &self.inner.prepared
    }

    /// Writes the files that mirror the database for projects that changed.
    pub fn mirror(&self, projects: &[ProjectId]) -> Result<()> {
        manifest::write(self, projects)
    }

    /// Writes the files that mirror the database for all projects that changed.
    pub fn mirror_all(&self) -> Result<()> {
        let behind: Vec<ProjectId> =
            self.db().read(|rows| rows.dirty_projects())?.into_iter().map(|(project, _)| project).collect();
        self.mirror(&behind)
    }

    /// Brings token counts to the model that is set now, when another was set before.
    fn recount(&self) -> Result<()> {
        const FACTOR: &str = "token_factor";
        let factor = self.counter().thousandths();
        let noted = |rows: &Rows<'_>| Ok(rows.fact(FACTOR)?.and_then(|noted| noted.parse().ok()));
        let before: Option<u64> = self.db().read(noted)?;
        if before == Some(factor) {
            return Ok(());
        }
        self.db().write(|rows| {
            if let Some(before) = noted(rows)?.filter(|before| *before != factor) {
                rows.rescale_tokens(before, factor)?;
            }
            rows.put_fact(FACTOR, &factor.to_string())
        })
    }

    /// Finishes what an interruption left between the database and the files that mirror it.
    fn repair(&self) -> Result<()> {
        self.archive().recover()?;
        imported::mirror(self)?;
        let lost = manifest::note_lost(self)?;
        // Who follows the client writes them soon, and all that are behind; nobody's start waits for it.
        if lost || !watch::is_followed(self.home())? {
            self.mirror_all()?;
        }
        Ok(())
    }

    /// The memory's folder.
    pub fn home(&self) -> &Home {
        &self.inner.home
    }

    /// The index.
    pub fn db(&self) -> &Db {
        &self.inner.db
    }

    /// Where Claude Code keeps its data.
    pub fn claude_home(&self) -> &Path {
        &self.inner.options.claude_home
    }

    /// The time now.
    pub fn now(&self) -> Time {
        (self.inner.options.clock)()
    }

    /// Tells the faces.
    pub fn emit(&self, event: Event) {
        (self.inner.options.sink)(event);
    }
}

/// One call into the engine: the engine, where progress goes, and whether to stop.
pub struct Call<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// Hears how far it is; called at most some times a second.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Set when the caller wants it to stop.
    pub cancel: &'a Cancel,
}

/// Long work without an open memory: where progress goes, and whether to stop.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Hears how far it is; called at most some times a second.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Set when the caller wants it to stop.
    pub cancel: &'a Cancel,
}

impl<'a> Call<'a> {
    /// What of the call is not the memory.
    pub fn work(&self) -> Work<'a> {
        Work { progress: self.progress, cancel: self.cancel }
    }
}

/// A flag that asks long work to stop.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Whether the work was asked to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails with [`ErrorKind::Cancelled`] when the work was asked to stop.
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
        }
        Ok(())
    }
}
