//! Makes a memory of a backup: unpacked beside, checked whole, then put in its place in one step.

use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use super::file::{self, Header};
use crate::api::backup::BackupRestored;
use crate::api::rebuild::Rebuilt;
use crate::db::Db;
use crate::engine::Work;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Progress;
use crate::home::{Home, create_private, open_private, sync_folder, temporary_folder};
use crate::rebuild;

/// Begins the name of the folder that it is unpacked into.
const UNPACKING: &str = ".recollect-restoring-";

/// Makes a memory of a backup, in a folder that is empty or not there.
///
/// # Errors
/// `Conflict` when the folder is not empty, `NewerMemory` when a newer program wrote the backup, `Io` when it is damaged;
/// then nothing was written.
pub fn restore(work: &Work<'_>, backup: &Path, home: &Path) -> Result<BackupRestored> {
    must_be_empty(home)?;
    let source = fs_err::File::open(backup)?;
    let total = source.metadata()?.len();
    let parent = home.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_private(parent)?;
    let unpacked = temporary_folder(parent, UNPACKING)?;
    let folder = unpacked.path();
    let counted = Counted { from: source, done: 0, total, work };
    let (header, sums) = file::read(BufReader::with_capacity(1 << 20, counted), Db::newest_format(), |path, member| {
        let path = folder.join(path);
        create_private(path.parent().unwrap_or(folder))?;
        if path.exists() {
            return Err(Error::new(ErrorKind::Io, format!("`{}` stands in it twice", path.display())));
        }
        let mut out = BufWriter::with_capacity(1 << 20, open_private(&path)?);
        std::io::copy(member, &mut out)?;
        out.flush()?;
        Ok(out.get_ref().sync_all()?)
    })
    .map_err(|error| refused(work, backup, error))?;
    work.cancel.check()?;
    let rebuilt = check_database(work, folder, &header).map_err(|error| refused(work, backup, error))?;
    let sessions = rebuilt.as_ref().map_or(header.sessions, |rebuilt| rebuilt.sessions);
    for entry in walkdir::WalkDir::new(folder).into_iter().filter_map(std::result::Result::ok) {
        if entry.file_type().is_dir() {
            sync_folder(entry.path())?;
        }
    }
    must_be_empty(home)?;
    // An empty folder gives way where the system lets it.
    if home.exists() {
        fs_err::remove_dir(home)?;
    }
    fs_err::rename(folder, home)?;
    // Renamed: there is nothing to delete any more.
    let _ = unpacked.keep();
    sync_folder(parent)?;
    Ok(BackupRestored {
        home: home.display().to_string(),
        at: header.created_at,
        files: sums.len() as u64,
        bytes: sums.iter().map(|sum| sum.bytes).sum(),
        sessions,
        rebuilt: rebuilt.map(|rebuilt| in_place(rebuilt, home)),
    })
}

fn must_be_empty(home: &Path) -> Result<()> {
    let refuse = |why: &str| {
        Err(Error::conflict(format!("`{}` {why}", home.display()))
            .hint("name an empty folder with --home DIR, or move what is there away first; nothing was written"))
    };
    match fs_err::read_dir(home) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return refuse("is not empty: a backup is only restored into an empty folder");
            }
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => refuse("is no folder"),
        Err(error) => Err(error.into()),
    }
}

/// The database opens, is sound, and knows that links and manifests are to be written for the new place. One that is not is
/// set aside, and another made of packs and manifests.
fn check_database(work: &Work<'_>, folder: &Path, header: &Header) -> Result<Option<Rebuilt>> {
    let home = Home::open(folder)?;
    let name = home.database();
    Db::check_format(&name)?;
    let rebuilt = if Db::is_sound(&name) { None } else { Some(made_anew(work, &home, header)?) };
    let db = Db::open(&name)?;
    db.write(|rows| rows.mark_all_dirty())?;
    drop(db);
    fs_err::File::open(&name)?.sync_all()?;
    Ok(rebuilt)
}

fn made_anew(work: &Work<'_>, home: &Home, header: &Header) -> Result<Rebuilt> {
    let why = if home.database().is_file() { "its database is damaged" } else { "there is no database in it" };
    let mut rebuilt = rebuild::unpacked(home, header.created_at, work).map_err(|error| match error.kind {
        ErrorKind::Cancelled | ErrorKind::NewerMemory => error,
        _ => Error::new(error.kind, format!("{why}, and none can be made anew: {}", error.message)).because(error),
    })?;
    if rebuilt.sessions == 0 && header.sessions > 0 {
        return Err(Error::new(ErrorKind::Io, format!("{why}, and no manifest in it tells of a session")));
    }
    if rebuilt.sessions < header.sessions {
        let missing = header.sessions - rebuilt.sessions;
        rebuilt.issues.push(format!("{missing} of {} sessions: no manifest tells of them", header.sessions));
    }
    Ok(rebuilt)
}

/// What was set aside lies where the folder is now.
fn in_place(rebuilt: Rebuilt, home: &Path) -> Rebuilt {
    let aside = rebuilt.set_aside.as_deref().and_then(|path| Path::new(path).file_name());
    Rebuilt { set_aside: aside.map(|name| home.join(name).display().to_string()), ..rebuilt }
}

fn refused(work: &Work<'_>, backup: &Path, error: Error) -> Error {
    if let Err(cancelled) = work.cancel.check() {
        return cancelled;
    }
    let is_full = error
        .source
        .as_deref()
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|source| source.kind() == std::io::ErrorKind::StorageFull);
    if is_full {
        return error;
    }
    let hint = error.hint.unwrap_or_else(|| "restore another backup; nothing was written".to_owned());
    Error::new(error.kind, format!("`{}` cannot be restored: {}", backup.display(), error.message)).hint(hint)
}

/// Reads, and tells how far it is.
struct Counted<'a> {
    from: fs_err::File,
    done: u64,
    total: u64,
    work: &'a Work<'a>,
}

impl std::io::Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.work.cancel.check().map_err(std::io::Error::other)?;
        let read = self.from.read(buffer)?;
        self.done += read as u64;
        (self.work.progress)(Progress {
            done: self.done,
            total: self.total,
            unit: "bytes".to_owned(),
            stage: "unpacking".to_owned(),
        });
        Ok(read)
    }
}
