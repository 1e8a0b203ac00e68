//! The memory as it was at one moment: a copy of the database, and links to every file that belongs to it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::{ENDING, MANUAL, WRITING, tell};
use crate::archive::hex;
use crate::db::Db;
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::home::{create_private, hold, temporary_folder};
use crate::time::Time;

/// Begins the names of folders of links.
pub(super) const FOLDER: &str = "backup-";
/// How often it is begun anew because something was taken away while it was linked.
const TRIES: u32 = 5;

/// What goes into a backup.
pub(super) struct Staged {
    /// The moment.
    pub at: Time,
    /// Format of the database.
    pub database: u64,
    pub sessions: u64,
    /// Tells this state from others, by names, sizes and times of its files.
    pub state: String,
    pub members: Vec<Member>,
    /// What should be there and is not, in words.
    pub missing: Vec<String>,
    /// Goes when it is dropped.
    _folder: TempDir,
}

/// What came of a try.
enum Attempt {
    /// Something was taken away meanwhile.
    Again,
    /// It is the state that is known.
    Known,
    Made(Staged),
}

/// A file.
pub(super) struct Member {
    /// Where it belongs, below the memory's folder, with `/`.
    pub path: String,
    /// Where it can be read.
    pub staged: PathBuf,
    pub bytes: u64,
    /// Seconds since 1970.
    pub modified: Option<u64>,
}

impl Staged {
    /// Takes the moment; nothing when its state is `known`. Only for who holds the lock of backups.
    pub(super) fn make(call: &Call<'_>, known: Option<&str>) -> Result<Option<Self>> {
        let engine = call.engine;
        clear(engine)?;
        let mut tries = 0;
        loop {
            tries += 1;
            match Self::attempt(call, known, tries == TRIES)? {
                Attempt::Again => {}
                Attempt::Known => return Ok(None),
                Attempt::Made(staged) => return Ok(Some(staged)),
            }
        }
    }

    /// The last try takes what there is.
    fn attempt(call: &Call<'_>, known: Option<&str>, last: bool) -> Result<Attempt> {
        let engine = call.engine;
        let home = engine.home();
        create_private(&home.cache())?;
        let folder = temporary_folder(&home.cache(), FOLDER)?;
        tell(call, 0, 0, "taking the moment");
        // While these are held nobody deletes a pack or writes a manifest: what is linked is what the database says.
        let packs_lock = engine.archive().keep_all()?;
        let mirror_lock = hold(&home.lock())?;
        let snapshot = engine.db().snapshot()?;
        let at = engine.now();
        let packs: HashSet<PathBuf> = snapshot.read(|rows| engine.archive().pack_files(rows))?.into_iter().collect();
        let wanted = snapshot.read(|rows| written_files(rows, home))?;
        let mut links = Links { root: home.root(), folder: folder.path(), packs: &packs, members: Vec::new() };
        links.link(call)?;
        drop(mirror_lock);
        drop(packs_lock);
        let mut members = links.members;
        let linked: HashSet<PathBuf> = members.iter().map(|member| home.root().join(&member.path)).collect();
        members.sort_by(|left, right| left.path.cmp(&right.path));
        let state = state_of(&members);
        if known == Some(state.as_str()) {
            return Ok(Attempt::Known);
        }
        let mut words: Vec<String> = packs
            .iter()
            .chain(&wanted)
            .filter(|path| !linked.contains(*path))
            .map(|path| format!("`{}` is missing", path.display()))
            .collect();
        if !words.is_empty() && !last {
            return Ok(Attempt::Again);
        }
        // Packs that are gone already, and were noted so.
        let lost = snapshot.read(|rows| rows.lost_chunks())?;
        if lost > 0 {
            words.push(format!("{lost} archived piece{} lost", if lost == 1 { " is" } else { "s are" }));
        }
        let database = folder.path().join("database");
        snapshot.copy_to(&database, |done, total| {
            call.cancel.check()?;
            (call.progress)(crate::event::Progress {
                done,
                total,
                unit: "pages".to_owned(),
                stage: "copying the database".to_owned(),
            });
            Ok(())
        })?;
        let (format, sessions) = snapshot.read(|rows| Ok((rows.format()?, rows.session_count()?)))?;
        words.extend(Db::damage_at(&database).map(|damage| format!("the database is damaged: {damage}")));
        let bytes = fs_err::metadata(&database)?.len();
        let name = home.database().file_name().unwrap_or_default().to_string_lossy().into_owned();
        members.insert(0, Member { path: name, staged: database, bytes, modified: None });
        let (database, missing) = (format, words);
        Ok(Attempt::Made(Self { at, database, sessions, state, members, missing, _folder: folder }))
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.members.iter().map(|member| member.bytes).sum()
    }
}

/// Files that the database names beside packs: texts of versions and compositions.
pub(crate) fn written_files(rows: &crate::db::Rows<'_>, home: &crate::home::Home) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for (project, session, file) in rows.version_files()? {
        let folder = home.summaries(&project, &session);
        files.extend(["md", "jsonl"].map(|ending| folder.join(format!("{file}.{ending}"))));
    }
    for row in rows.compositions()? {
        let folder = home.composed(&row.record.project_id).join(&row.record.name);
        files.extend(row.record.files.iter().map(|file| folder.join(file)));
    }
    Ok(files)
}

/// Tells states apart without reading files: they are never changed in place.
fn state_of(members: &[Member]) -> String {
    let mut state = Sha256::new();
    for Member { path, bytes, modified, .. } in members {
        state.update(format!("{path}\0{bytes}\0{}\n", modified.unwrap_or_default()));
    }
    hex(&state.finalize().into())
}

/// Links every file of the memory into a folder.
struct Links<'a> {
    root: &'a Path,
    folder: &'a Path,
    packs: &'a HashSet<PathBuf>,
    members: Vec<Member>,
}

impl Links<'_> {
    fn link(&mut self, call: &Call<'_>) -> Result<()> {
        let archive = call.engine.home().archive();
        let cache = call.engine.home().cache();
        let walk = walkdir::WalkDir::new(self.root).into_iter().filter_entry(|entry| entry.path() != cache);
        for entry in walk {
            // What goes while it is listed is found to be missing, when it should be there.
            let Ok(entry) = entry else { continue };
            call.cancel.check()?;
            let name = entry.file_name().to_string_lossy();
            if !entry.file_type().is_file() || is_passing(&name) {
                continue;
            }
            let path = entry.path();
            // Packs that the database does not name are of no moment, or of one that is yet to come.
            let is_pack = path.starts_with(&archive) && path.extension().is_some_and(|ending| ending == "pack");
            if is_pack && !self.packs.contains(path) && !path.starts_with(archive.join("damaged")) {
                continue;
            }
            self.take(path)?;
        }
        Ok(())
    }

    fn take(&mut self, path: &Path) -> Result<()> {
        let below: Option<Vec<&str>> =
            path.strip_prefix(self.root).unwrap_or(path).iter().map(|part| part.to_str()).collect();
        let Some(below) = below else {
            return Err(Error::conflict(format!("`{}` has no name in Unicode", path.display()))
                .hint("move it out of the memory's folder: it is none of its files"));
        };
        let staged = self.folder.join(self.members.len().to_string());
        let linked = fs_err::hard_link(path, &staged).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Err(error),
            // On a file system without links, or on another one.
            _ => fs_err::copy(path, &staged).map(|_| ()),
        });
        match linked {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            linked => linked?,
        }
        let metadata = fs_err::metadata(&staged)?;
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        self.members.push(Member {
            path: below.join("/"),
            staged,
            bytes: metadata.len(),
            modified: modified.map(|since| since.as_secs()),
        });
        Ok(())
    }
}

/// Files that are not part of the memory: the database, of which a copy is taken, locks, backups, and what is half-written.
fn is_passing(name: &str) -> bool {
    matches!(name, "memory.db" | "memory.db-wal" | "memory.db-shm" | "last-backup.json" | ".lock")
        || name.ends_with(".lock")
        || name.starts_with(WRITING)
        || name.starts_with(".writing-")
        || (name.starts_with(MANUAL) && name.ends_with(ENDING))
}

/// Deletes links that a program left that was killed.
fn clear(engine: &Engine) -> Result<()> {
    let Ok(entries) = fs_err::read_dir(engine.home().cache()) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(FOLDER) {
            fs_err::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
