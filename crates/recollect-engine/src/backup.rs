//! Backups: the whole memory as it was at one moment, in one file with checksums, made while other programs go on.
//!
//! Files of the memory are never changed in place, so links to them keep what they hold; only the moment of linking is
//! guarded by locks, not the long work of compressing. A backup gets its name when it was read again and found whole.

mod file;
mod folder;
mod last;
mod restore;
mod staged;
#[cfg(test)]
mod tests;

use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::api::backup::{Backup, BackupCreated, BackupFailure, BackupStatus};
use crate::db::Db;
use crate::engine::{Call, Cancel, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Progress;
use crate::home::{create_private, open_private, sync_folder};
use crate::time::Time;
use file::{Header, Writer};
use folder::Daily;
use last::Last;
use staged::Staged;

pub use restore::restore;

/// Begins the name of a folder in the cache that a backup is made from.
pub const STAGED: &str = staged::FOLDER;
pub(crate) use staged::written_files;

/// Milliseconds between backups that are made by themselves.
const DAY: i64 = 86_400_000;
/// Milliseconds after which it is tried again when one could not be made, or looked again when nothing had changed.
const AGAIN: i64 = 3_600_000;
/// Begins the names of backups; a time follows.
const MANUAL: &str = "recollect-";
/// Begins the names of backups that are made by themselves.
const DAILY: &str = "recollect-daily-";
/// Ends the names of backups.
const ENDING: &str = ".tar.zst";
/// Begins the names of files that are being written.
const WRITING: &str = ".recollect-writing-";

/// What it does, for progress.
const WRITES: &str = "writing the backup";
const READS: &str = "reading it again";

/// Makes a backup in a folder, that of the settings if none is given; waits for another program that makes one.
///
/// # Errors
/// `Cancelled`; `Io` when it cannot be written or is not found to be what was written. Then nothing is left of it.
pub fn create(call: &Call<'_>, folder: Option<&Path>) -> Result<BackupCreated> {
    let folder = folder.map_or_else(|| configured(call.engine), |folder| Ok(folder.to_owned()))?;
    let lock = open_private(&call.engine.home().backup_lock())?;
    while lock.file().try_lock().is_err() {
        call.cancel.check()?;
        tell(call, 0, 0, "waiting for another backup");
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    let last = Last::claim(call.engine)?;
    let staged = Staged::make(call, None)?.ok_or_else(|| Error::internal("a backup that was made before"))?;
    write(call, &folder, staged, MANUAL, &last)
}

/// Makes the backup of the day when it is due and nobody else is at it; to be called now and then, when there is nothing
/// else to do. What fails is noted, and tried again an hour later.
///
/// # Errors
/// `Cancelled`, or when the memory itself cannot be read.
pub fn if_due(call: &Call<'_>) -> Result<Option<BackupCreated>> {
    let engine = call.engine;
    let config = engine.config()?;
    if !config.auto_backup {
        return Ok(None);
    }
    let folder = configured(engine)?;
    let now = engine.now();
    let is_recent = |time: Time, span: i64| (0..span).contains(&(now.millis() - time.millis()));
    let lock = open_private(&engine.home().backup_lock())?;
    if lock.file().try_lock().is_err() {
        return Ok(None);
    }
    let last = Last::claim(engine)?;
    let waits = folder::dailies(&folder, &last.memory).iter().any(|daily| is_recent(daily.at, DAY))
        || last.looked_at.is_some_and(|at| is_recent(at, AGAIN))
        || last.failure.as_ref().is_some_and(|failure| is_recent(failure.at, AGAIN));
    if waits || engine.db().read(|rows| rows.session_count())? == 0 {
        return Ok(None);
    }
    let is_there = last.backup.as_ref().is_some_and(|backup| Path::new(&backup.path).is_file());
    let known = last.state.as_deref().filter(|_| is_there);
    let made = Staged::make(call, known).and_then(|staged| match staged {
        Some(staged) => write(call, &folder, staged, DAILY, &last).map(Some),
        None => Last { looked_at: Some(now), ..last.clone() }.save(engine).map(|()| None),
    });
    match made {
        Err(error) if error.kind == ErrorKind::Cancelled => Err(error),
        Err(error) => {
            let failure = BackupFailure { at: now, message: error.message };
            Last { failure: Some(failure), ..last }.save(engine)?;
            Ok(None)
        }
        Ok(made) => {
            if let Some(made) = &made {
                folder::forget_old(&folder, &last.memory, config.keep_backups, now, made.missing.is_empty());
            }
            Ok(made)
        }
    }
}

/// [`if_due`] on a thread of its own, unless one is at it: nobody waits for it, and what fails is told by [`status`].
pub fn in_background(engine: &Engine) {
    static WORKING: AtomicBool = AtomicBool::new(false);
    if WORKING.swap(true, Ordering::AcqRel) {
        return;
    }
    let engine = engine.clone();
    let thread = move || {
        let call = Call { engine: &engine, progress: &|_| {}, cancel: &Cancel::default() };
        // It is tried again later.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| if_due(&call)));
        WORKING.store(false, Ordering::Release);
    };
    if std::thread::Builder::new().name("backup".to_owned()).spawn(thread).is_err() {
        WORKING.store(false, Ordering::Release);
    }
}

/// The last backup, and what is done by itself.
pub fn status(engine: &Engine) -> Result<BackupStatus> {
    let config = engine.config()?;
    let folder = configured(engine)?;
    let record = Last::load(engine)?;
    let now = engine.now();
    // One from a time to come is of a clock that was wrong.
    let rank = |at: Time| (at <= now, at);
    let mut last = record.backup.filter(|backup| Path::new(&backup.path).is_file());
    for Daily { path, at, .. } in folder::dailies(&folder, &record.memory) {
        if last.as_ref().is_none_or(|last| rank(last.at) < rank(at)) {
            last = fs_err::metadata(&path).ok().map(|metadata| backup_at(&path, at, metadata.len(), true)).or(last);
        }
    }
    let age_ms = last.as_ref().map(|last| u64::try_from(now.millis() - last.at.millis()).unwrap_or(0));
    Ok(BackupStatus {
        last,
        age_ms,
        automatic: config.auto_backup,
        folder: folder.display().to_string(),
        keep: config.keep_backups,
        failure: record.failure.filter(|_| config.auto_backup),
    })
}

/// Where backups go that name no folder.
fn configured(engine: &Engine) -> Result<PathBuf> {
    // An absolute path stays what it is.
    Ok(engine.home().root().join(engine.config()?.backup_folder))
}

fn tell(call: &Call<'_>, done: u64, total: u64, stage: &str) {
    (call.progress)(Progress { done, total, unit: "bytes".to_owned(), stage: stage.to_owned() });
}

/// Writes what was staged into a file, reads it again, and gives it its name.
fn write(call: &Call<'_>, folder: &Path, staged: Staged, prefix: &str, last: &Last) -> Result<BackupCreated> {
    // What stops in the middle of a file says so as that file's failure.
    write_file(call, folder, staged, prefix, last).map_err(|error| call.cancel.check().err().unwrap_or(error))
}

fn write_file(call: &Call<'_>, folder: &Path, staged: Staged, prefix: &str, last: &Last) -> Result<BackupCreated> {
    let engine = call.engine;
    create_private(folder)?;
    folder::clear(folder);
    let temporary = tempfile::Builder::new().prefix(WRITING).tempfile_in(folder)?;
    // Held while it is written: a file of this name that nobody holds was left by a program that was killed.
    temporary.as_file().lock()?;
    let header = Header::new(staged.at, staged.database, staged.sessions, staged.state.clone());
    let mut writer = Writer::new(BufWriter::with_capacity(1 << 20, temporary.as_file()), &header)?;
    let (mut done, total) = (0, staged.bytes());
    for member in &staged.members {
        tell(call, done, total, WRITES);
        call.cancel.check()?;
        let file = fs_err::File::open(&member.staged)?;
        let mut watched = Watched { from: file, call, done, total, stage: WRITES };
        writer.add(&member.path, member.bytes, &mut watched, member.modified)?;
        done += member.bytes;
    }
    let out = writer.finish()?;
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    let bytes = temporary.as_file().metadata()?.len();
    let (missing, files) = (staged.missing.clone(), staged.members.len() as u64);
    // Links and the copy of the database are in the backup now.
    drop(staged);
    verify(call, temporary.path(), total)?;
    let memory = (prefix == DAILY).then_some(last.memory.as_str());
    let name = |number: u32| folder::name(prefix, header.created_at, memory, missing.is_empty(), number);
    let mut number = 1;
    let mut temporary = temporary;
    let path = loop {
        let path = folder.join(name(number));
        match temporary.persist_noclobber(&path) {
            Ok(_) => break path,
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                (temporary, number) = (error.file, number + 1);
            }
            Err(error) => return Err(error.error.into()),
        }
    };
    sync_folder(folder)?;
    let backup = backup_at(&path, header.created_at, bytes, prefix == DAILY);
    // It is kept, and is not what it should be.
    let failure =
        (!missing.is_empty()).then(|| BackupFailure { at: header.created_at, message: words_of_missing(&missing) });
    let (memory, state) = (last.memory.clone(), Some(header.state));
    Last { backup: Some(backup.clone()), state, looked_at: None, failure, memory }.save(engine)?;
    Ok(BackupCreated { backup, files, original_bytes: total, sessions: header.sessions, missing })
}

/// What a backup lacks, in one sentence.
fn words_of_missing(missing: &[String]) -> String {
    const NAMED: usize = 3;
    let named: Vec<&str> = missing.iter().take(NAMED).map(String::as_str).collect();
    let more = missing.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("it is not whole: {}{more}", named.join("; "))
}

/// Reads a backup to its end.
fn verify(call: &Call<'_>, path: &Path, total: u64) -> Result<()> {
    let mut done = 0;
    let source = BufReader::with_capacity(1 << 20, fs_err::File::open(path)?);
    let read = file::read(source, Db::newest_format(), |_, member| {
        tell(call, done, total, READS);
        let mut watched = Watched { from: member, call, done, total, stage: READS };
        done += std::io::copy(&mut watched, &mut std::io::sink())?;
        Ok(())
    });
    read.map(|_| ()).map_err(|error| {
        Error::new(error.kind, format!("the backup is not what was written: {}", error.message))
            .hint("nothing was kept of it; check the disk, or choose another folder")
    })
}

/// Reads, tells how far it is, and stops when it should.
struct Watched<'a, R> {
    from: R,
    call: &'a Call<'a>,
    done: u64,
    total: u64,
    stage: &'a str,
}

impl<R: std::io::Read> std::io::Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.call.cancel.check().map_err(std::io::Error::other)?;
        let read = self.from.read(buffer)?;
        let before = self.done >> 20;
        self.done += read as u64;
        if self.done >> 20 != before {
            tell(self.call, self.done.min(self.total), self.total, self.stage);
        }
        Ok(read)
    }
}

fn backup_at(path: &Path, at: Time, bytes: u64, automatic: bool) -> Backup {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Backup { path: path.display().to_string(), name, at, bytes, automatic }
}
