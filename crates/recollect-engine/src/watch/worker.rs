//! The thread that follows: waits for changes, takes in what is behind, and lets the files that mirror the index follow at leisure.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::changes::{Changes, Pending};
use super::eyes::{Eyes, Fault};
use super::others::Others;
use super::{Follow, Signal, Told, followed};
use crate::api::ingest::{IngestReport, IngestStatus};
use crate::api::watch::{WatchState, WatchStatus};
use crate::backup;
use crate::engine::{Call, Cancel, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Progress;
use crate::home::open_private;
use crate::registry::{self, Followed, Stat};
use crate::time::Time;
use crate::{search, storage, versions};

/// From the first change to the look at it: a record is written in several strokes.
const GATHER: Duration = Duration::from_millis(120);
/// The files that mirror the index are written so long after the first change, and at most so often.
const MIRROR: Duration = Duration::from_secs(4);
/// Writing them takes at most one part in so many of the time.
const MIRROR_SHARE: u32 = 20;
/// From one look at everything to the next.
const LOOK: Duration = Duration::from_secs(600);
/// The same where the system does not tell of all changes.
const LOOK_CROWDED: Duration = Duration::from_secs(30);
/// From the start to the first question whether the backup of the day is due: nobody's start waits for it.
const BACKUP_FIRST: Duration = Duration::from_secs(120);
/// From one such question to the next.
const BACKUP: Duration = Duration::from_secs(600);
/// Failures are tried again after one second, two, four, …, this.
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// Milliseconds that the clock may be ahead of the time that was waited: more is a sleep of the machine.
const SLEPT: i64 = 30_000;

pub(super) struct Worker {
    engine: Engine,
    follow: Follow,
    pending: Arc<Pending>,
    signals: Sender<Signal>,
    cancel: Cancel,
    others: Option<Others>,
    followed: Followed,
    is_enabled: bool,
    may_begin: bool,
    is_paused: bool,
    lock: Option<fs_err::File>,
    asked_for_lock: bool,
    /// What is watched was chosen; `eyes` is empty where the system watches nothing.
    is_attached: bool,
    eyes: Option<Eyes>,
    fault: Option<Fault>,
    /// When what is pending is looked at.
    due: Option<Instant>,
    look: Instant,
    backup: Instant,
    mirror: Option<Instant>,
    mirrored: Option<Instant>,
    /// Files that gave nothing, as they were then.
    left: HashMap<PathBuf, Stat>,
    failures: u32,
    failure: Option<Error>,
    not_before: Instant,
    clocks: (Time, Instant),
}

impl Worker {
    pub(super) fn new(
        engine: Engine,
        follow: Follow,
        pending: Arc<Pending>,
        signals: Sender<Signal>,
        cancel: Cancel,
    ) -> Self {
        let now = Instant::now();
        Self {
            others: Others::open(&engine, &pending),
            clocks: (engine.now(), now),
            engine,
            follow,
            pending,
            signals,
            cancel,
            followed: Followed::default(),
            is_enabled: false,
            may_begin: false,
            is_paused: false,
            lock: None,
            asked_for_lock: false,
            is_attached: false,
            eyes: None,
            fault: None,
            due: None,
            look: now,
            backup: now + BACKUP_FIRST,
            mirror: None,
            mirrored: None,
            left: HashMap::new(),
            failures: 0,
            failure: None,
            not_before: now,
        }
    }

    /// Follows until it is told to stop.
    pub(super) fn run(mut self, heard: &Receiver<Signal>) {
        self.guarded(Self::configure);
        loop {
            self.guarded(Self::go_on);
            let signal = match self.until_next() {
                Some(wait) => heard.recv_timeout(wait),
                None => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match signal {
                Ok(Signal::Changed) => {
                    let soon = Instant::now() + GATHER;
                    self.due = Some(self.due.map_or(soon, |due| due.min(soon)).max(self.not_before));
                }
                Ok(Signal::Locked(lock)) => (self.lock, self.asked_for_lock) = (Some(lock), false),
                Ok(Signal::Unlockable(error)) => {
                    self.asked_for_lock = false;
                    self.failed(error);
                }
                Ok(Signal::Pause(paused)) => self.is_paused = paused,
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        self.guarded(|worker| worker.release(WatchState::Off));
    }

    /// How long nothing is to be done; `None` until something is told.
    fn until_next(&self) -> Option<Duration> {
        let timers = [self.due, self.mirror, Some(self.backup), self.lock.is_some().then_some(self.look)];
        timers.into_iter().flatten().min().map(|next| next.saturating_duration_since(Instant::now()))
    }

    /// Runs a step; what fails is tried again later, a defect in it too.
    fn guarded(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) {
        let outcome = catch_unwind(AssertUnwindSafe(|| step(self)))
            .unwrap_or_else(|_| Err(Error::internal("following stopped at a defect").hint("please report it")));
        match outcome {
            Err(error) if error.kind == ErrorKind::Cancelled => {}
            Err(error) => self.failed(error),
            Ok(()) => {}
        }
    }

    /// Lets everything be looked at again after a while that grows with each failure.
    fn failed(&mut self, error: Error) {
        let wait = Duration::from_secs(1 << self.failures.min(6)).min(LONGEST_RETRY);
        self.failures += 1;
        self.not_before = Instant::now() + wait;
        self.failure = Some(error);
        self.pending.note(|changes| changes.everything = true);
        self.due = Some(self.not_before);
        self.tell(WatchState::Failing, None);
    }

    /// Does what is due.
    fn go_on(&mut self) -> Result<()> {
        let now = Instant::now();
        if self.slept(now) {
            self.pending.note(|changes| changes.everything = true);
            self.due = Some(now);
        }
        if self.due.is_some_and(|due| due <= now) {
            self.due = None;
            let changes = self.pending.take();
            self.hear(&changes)?;
            if self.lock.is_some() && self.wish().is_none() {
                self.look_at(changes)?;
            }
        }
        if self.backup <= now {
            self.backup = now + BACKUP;
            backup::in_background(&self.engine);
            let call = Call { engine: &self.engine, progress: &|_| {}, cancel: &self.cancel };
            // What fails is tried again the next time; following does not wait for it.
            let _ = versions::tidy(&call);
            let _ = storage::trim_cache(&self.engine);
        }
        if let Some(state) = self.wish() {
            return self.release(state);
        }
        if self.lock.is_none() && !self.ask_for_lock()? {
            return Ok(());
        }
        if !self.is_attached || self.look <= now {
            self.look_at(Changes { everything: true, ..Changes::default() })?;
        }
        if self.mirror.is_some_and(|mirror| mirror <= now) {
            self.write_mirrors()?;
        }
        Ok(())
    }

    /// Whether the machine slept since the last look at the clocks.
    fn slept(&mut self, now: Instant) -> bool {
        let (time, instant) = std::mem::replace(&mut self.clocks, (self.engine.now(), now));
        let waited = i64::try_from(now.duration_since(instant).as_millis()).unwrap_or(i64::MAX);
        self.clocks.0.millis() - time.millis() - waited > SLEPT
    }

    /// Why nothing is to be followed now.
    fn wish(&self) -> Option<WatchState> {
        match () {
            () if !self.is_enabled => Some(WatchState::Off),
            () if self.is_paused => Some(WatchState::Paused),
            () if !self.may_begin => Some(WatchState::Waiting),
            () => None,
        }
    }

    /// Takes note of what is not for the lock's holder alone.
    fn hear(&mut self, changes: &Changes) -> Result<()> {
        if changes.configuration {
            self.configure()?;
        }
        if changes.database || changes.configuration {
            if let Some(others) = &mut self.others {
                others.tell(&self.engine)?;
            }
            self.begin_when_allowed()?;
        }
        Ok(())
    }

    fn configure(&mut self) -> Result<()> {
        let followed = followed(&self.engine)?;
        self.is_enabled = self.follow.at_once || self.engine.config()?.watch;
        if followed != self.followed {
            self.followed = followed;
            self.is_attached = false;
        }
        self.begin_when_allowed()
    }

    fn begin_when_allowed(&mut self) -> Result<()> {
        self.may_begin = self.may_begin
            || self.follow.at_once
            || self.engine.config()?.auto_register_sessions
            || self.engine.db().read(|rows| rows.counts())?.0 > 0;
        Ok(())
    }

    /// Becomes the one that follows, or waits for it; tells whether it is.
    fn ask_for_lock(&mut self) -> Result<bool> {
        if self.asked_for_lock {
            self.tell(WatchState::Elsewhere, None);
            return Ok(false);
        }
        let lock = open_private(&self.engine.home().watch_lock())?;
        match lock.file().try_lock() {
            Ok(()) => {
                self.lock = Some(lock);
                return Ok(true);
            }
            Err(std::fs::TryLockError::WouldBlock) => {}
            Err(std::fs::TryLockError::Error(error)) => return Err(error.into()),
        }
        let signals = self.signals.clone();
        let wait = move || {
            // When nobody listens any more, the lock goes with the message.
            let _ = signals.send(match lock.file().lock() {
                Ok(()) => Signal::Locked(lock),
                Err(error) => Signal::Unlockable(error.into()),
            });
        };
        std::thread::Builder::new().name("watch-lock".to_owned()).spawn(wait)?;
        self.asked_for_lock = true;
        self.tell(WatchState::Elsewhere, None);
        Ok(false)
    }

    /// Lets another program follow.
    fn release(&mut self, state: WatchState) -> Result<()> {
        (self.eyes, self.is_attached) = (None, false);
        let written = if self.lock.is_some() { self.write_mirrors() } else { Ok(()) };
        self.lock = None;
        self.mirror = None;
        self.tell(state, None);
        written
    }

    /// Chooses anew what is watched.
    fn attach(&mut self) {
        self.eyes = None;
        match Eyes::open(&self.followed, &self.pending) {
            Ok(eyes) => {
                self.fault.clone_from(&eyes.fault);
                self.eyes = Some(eyes);
            }
            Err(fault) => self.fault = Some(fault),
        }
        self.is_attached = true;
    }

    /// Takes in what changed.
    fn look_at(&mut self, mut changes: Changes) -> Result<()> {
        if changes.roots || !self.is_attached {
            self.attach();
            changes.everything = true;
        }
        if changes.crowded {
            self.fault = Some(Fault::Crowded);
        }
        if let Some(eyes) = self.eyes.as_mut().filter(|_| changes.folders_made) {
            eyes.settle();
        }
        let everything = changes.everything;
        if everything {
            self.look = Instant::now() + if self.fault.is_some() { LOOK_CROWDED } else { LOOK };
            self.tell(WatchState::CatchingUp, None);
        }
        let places: Vec<PathBuf> =
            if everything { self.followed.folders() } else { changes.paths.into_iter().collect() };
        let mut behind = registry::behind(&self.engine, &places, &self.followed)?;
        if everything {
            behind.retain(|file| self.left.get(file.path()) != Some(&file.stat));
        }
        if !behind.is_empty() {
            self.take_in(behind, everything)?;
        }
        (self.failures, self.failure) = (0, None);
        self.tell(WatchState::Following, None);
        Ok(())
    }

    fn take_in(&mut self, behind: Vec<registry::Behind>, everything: bool) -> Result<()> {
        let mut left: HashMap<PathBuf, Stat> = behind.iter().map(|file| (file.path().to_owned(), file.stat)).collect();
        for path in left.keys() {
            self.left.remove(path);
        }
        let engine = self.engine.clone();
        let told = Arc::clone(&self.follow.told);
        let pending = Arc::clone(&self.pending);
        let this = &*self;
        let progress = |progress: Progress| this.tell(WatchState::CatchingUp, Some(progress));
        let silent = |_: Progress| {};
        let progress: &(dyn Fn(Progress) + Sync) = if everything { &progress } else { &silent };
        let call = Call { engine: &engine, progress, cancel: &self.cancel };
        let followed = registry::follow(&call, behind, |report| {
            for file in &report.files {
                // What lies beside a transcript may come before it: it is looked at again when that comes.
                let gave_nothing = matches!(file.status, IngestStatus::Failed | IngestStatus::Skipped);
                if !gave_nothing {
                    left.remove(std::path::Path::new(&file.path));
                }
            }
            look_beside(report, &pending);
            // What is told of can be found.
            search::follow(&call);
            told(Told::TookIn(report));
        });
        if self.mirror.is_none() {
            let soon = Instant::now() + MIRROR;
            self.mirror = Some(self.mirrored.map_or(soon, |mirrored| mirrored.max(soon)));
        }
        followed?;
        self.left.extend(left);
        Ok(())
    }

    /// Writes the files that mirror the index for all projects that are behind.
    fn write_mirrors(&mut self) -> Result<()> {
        self.mirror = None;
        let start = Instant::now();
        if let Err(error) = self.engine.mirror_all() {
            self.mirror = Some(Instant::now() + MIRROR);
            return Err(error);
        }
        self.mirrored = Some(Instant::now() + start.elapsed() * MIRROR_SHARE);
        Ok(())
    }

    /// Tells how it stands.
    fn tell(&self, state: WatchState, progress: Option<Progress>) {
        let (message, hint) = match (&self.failure, &self.fault) {
            (Some(error), _) if state == WatchState::Failing => (Some(error.message.clone()), error.hint.clone()),
            (_, Some(Fault::Crowded)) => (
                Some("the system tells of no more folders; all are looked at twice a minute instead".to_owned()),
                Some("raise fs.inotify.max_user_watches and fs.inotify.max_user_instances".to_owned()),
            ),
            (_, Some(Fault::Refused(words))) => (
                Some(format!(
                    "the system does not tell of all changes ({words}); all folders are looked at twice a minute"
                )),
                None,
            ),
            _ => (None, None),
        };
        let status = WatchStatus {
            state,
            folders: self.followed.folders().iter().map(|folder| folder.display().to_string()).collect(),
            progress,
            message,
            hint,
        };
        self.engine.watch().set(&self.engine, &self.follow, status);
    }
}

/// What lies beside a transcript that is new may have been seen before it, and left.
fn look_beside(report: &IngestReport, pending: &Pending) {
    let new = report.files.iter().filter(|file| file.status == IngestStatus::New && file.part == "main");
    let folders: Vec<PathBuf> =
        new.map(|file| PathBuf::from(&file.path).with_extension("")).filter(|folder| folder.is_dir()).collect();
    if !folders.is_empty() {
        pending.note(|changes| changes.paths.extend(folders));
    }
}
