//! Makes the database anew from files alone: packs say which bytes files have, manifests everything else.
//!
//! It is made beside the old one and takes its place when it is whole; the old one is set aside. Nothing else is written.
//! `docs/rebuild.md` says where each table comes from.

mod documents;
mod places;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::api::rebuild::Rebuilt;
use crate::archive::{Chunk, Known, TakenIn};
use crate::db::{CompositionRow, Db, FileRow, PlaceRow, ProjectRow, VersionRow};
use crate::engine::{Call, Engine, EngineOptions, Work};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Progress;
use crate::home::{Home, open_private};
use crate::ids::{ProjectId, SessionId};
use crate::imported;
use crate::manifest;
use crate::registry;
use crate::sources::Format;
use crate::time::Time;
use documents::{File, Manifest, Session};
use places::{BESIDE, Moved, beside, take_place, target};

/// How often it is looked, 20 milliseconds apart, whether the others that start have let go of the memory.
const PATIENCE: u32 = 100;
/// How often it is begun anew because somebody wrote meanwhile.
const TRIES: u32 = 5;
/// A database that is larger has tables.
const SMALL: u64 = 1 << 16;

/// Says that the memory is in use, for as long as the file that this returns is open. When the database is gone while there
/// is an archive, it is made anew first.
pub(crate) fn enter(options: &EngineOptions, home: &Home, work: &Work<'_>) -> Result<fs_err::File> {
    let in_use = open_private(&home.in_use())?;
    in_use.file().lock_shared()?;
    if !is_lost(home) {
        return Ok(in_use);
    }
    in_use.file().unlock()?;
    // Others that start now see the same and let go too: one of them gets it alone.
    for _ in 0..PATIENCE {
        if in_use.file().try_lock().is_ok() {
            // Another program may have made it meanwhile.
            if is_lost(home) {
                make(options, home, work)?;
                take_place(home, (options.clock)())?;
            }
            in_use.file().unlock()?;
            break;
        }
        work.cancel.check()?;
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }
    in_use.file().lock_shared()?;
    if is_lost(home) {
        return Err(in_use_by_others("memory.db is gone, and another program still uses this memory"));
    }
    Ok(in_use)
}

/// Whether there is no database although there is something to make it from.
fn is_lost(home: &Home) -> bool {
    let bytes = fs_err::metadata(home.database()).map_or(0, |metadata| metadata.len());
    let holds_nothing = || bytes < SMALL && Db::look(&home.database()).is_some_and(|look| !look.has_tables);
    (bytes == 0 || holds_nothing()) && (has_file(&home.archive(), "pack") || has_file(&home.projects(), "json"))
}

fn has_file(folder: &Path, ending: &str) -> bool {
    let walk = walkdir::WalkDir::new(folder).max_depth(2).into_iter().filter_map(std::result::Result::ok);
    walk.into_iter().any(|entry| entry.path().extension().is_some_and(|found| found == ending))
}

fn in_use_by_others(message: &str) -> Error {
    Error::conflict(message)
        .hint("close Recollect's window and every `recollect watch`, then try again; nothing was changed")
}

/// Makes the database of an open memory anew.
pub(crate) fn open(call: &Call<'_>) -> Result<Rebuilt> {
    // The lock of files is the memory's, whichever thread asks: two at once would let go of each other's.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = call.engine;
    let home = engine.home();
    let in_use = engine.in_use().ok_or_else(|| Error::internal("a memory without its lock"))?;
    let alone = in_use.file().unlock().is_ok() && in_use.file().try_lock().is_ok();
    let done = if alone { swap(call, home) } else { Err(in_use_by_others("other programs use this memory")) };
    if alone {
        in_use.file().unlock()?;
    }
    in_use.file().lock_shared()?;
    let rebuilt = done?;
    engine.mirror_all()?;
    Ok(rebuilt)
}

fn swap(call: &Call<'_>, home: &Home) -> Result<Rebuilt> {
    let engine = call.engine;
    let is_sound = Db::is_sound(&home.database());
    let mut tries = 0;
    loop {
        tries += 1;
        if is_sound {
            tell_manifests(engine)?;
        }
        let (mut rebuilt, mut is_behind) = (Rebuilt::default(), false);
        let swapped = engine.db().replace(
            || {
                // Nobody writes from here on; somebody may have since manifests were written.
                is_behind = is_sound && !engine.db().read(|rows| rows.dirty_projects())?.is_empty();
                if is_behind {
                    return Err(Error::conflict("the memory is written to all the time").hint("try again in a moment"));
                }
                rebuilt = make(engine.options(), home, &call.work())?;
                Ok(())
            },
            || take_place(home, engine.now()),
            Moved::put_back,
        );
        match swapped {
            Err(_) if is_behind && tries < TRIES => {}
            Err(error) => return Err(error),
            Ok(moved) => return Ok(told(rebuilt, &moved)),
        }
    }
}

/// Writes what only the database says so far into manifests, and manifests that are gone.
fn tell_manifests(engine: &Engine) -> Result<()> {
    manifest::note_lost(engine)?;
    engine.mirror_all()
}

fn told(rebuilt: Rebuilt, moved: &Moved) -> Rebuilt {
    Rebuilt { set_aside: moved.aside.as_ref().map(|path| path.display().to_string()), ..rebuilt }
}

/// Makes the database of a memory anew that nobody has open, also when it does not open.
pub(crate) fn closed(options: &EngineOptions, work: &Work<'_>) -> Result<Rebuilt> {
    let home = Home::open(&options.home)?;
    let in_use = open_private(&home.in_use())?;
    if in_use.file().try_lock().is_err() {
        return Err(in_use_by_others("other programs use this memory"));
    }
    Db::check_format(&home.database())?;
    if Db::is_sound(&home.database()) {
        tell_manifests(&Engine::over(options.clone(), home.clone(), &home.database(), None)?)?;
    }
    let rebuilt = make(options, &home, work)?;
    let moved = take_place(&home, (options.clock)())?;
    in_use.file().unlock()?;
    // Opening writes the manifests.
    Engine::open(options.clone())?;
    Ok(told(rebuilt, &moved))
}

/// Makes the database anew of a memory that was just unpacked, as of then; nobody knows of it yet.
pub(crate) fn unpacked(home: &Home, at: Time, work: &Work<'_>) -> Result<Rebuilt> {
    let options = EngineOptions {
        home: home.root().to_owned(),
        claude_home: home.root().to_owned(),
        clock: Arc::new(move || at),
        sink: Arc::new(|_| {}),
        export_folders: Vec::new(),
        models: Arc::new(crate::language_model::NoModels),
    };
    let rebuilt = make(&options, home, work)?;
    Ok(told(rebuilt, &take_place(home, at)?))
}

/// Makes a database beside the one that is there.
fn make(options: &EngineOptions, home: &Home, work: &Work<'_>) -> Result<Rebuilt> {
    Db::check_format(&home.database())?;
    let path = target(home);
    for ending in BESIDE {
        let left = beside(&path, ending);
        if left.exists() {
            fs_err::remove_file(left)?;
        }
    }
    // Before anything else: a newer program's files are not ours to read.
    let (manifests, issues) = documents::manifests(home)?;
    let engine = Engine::over(options.clone(), home.clone(), &path, None)?;
    let taken = engine.archive().take_in(work.cancel)?;
    let mut made = Making { engine: &engine, work, rebuilt: Rebuilt { issues, ..Rebuilt::default() } };
    made.fill(&manifests, taken)?;
    let mut rebuilt = made.rebuilt;
    rebuilt.messages = engine.db().read(|rows| rows.message_counts())?.0;
    drop(engine);
    // The last connection is closed: everything is in the one file.
    if beside(&path, "-wal").exists() {
        return Err(Error::internal("the new database is not whole"));
    }
    Ok(rebuilt)
}

struct Making<'a> {
    engine: &'a Engine,
    work: &'a Work<'a>,
    rebuilt: Rebuilt,
}

/// Contents that packs tell of, by what they are and by where they were.
struct Contents {
    all: Vec<Known>,
    by_content: HashMap<String, usize>,
    by_path: HashMap<String, Vec<usize>>,
}

impl Contents {
    fn new(all: Vec<Known>) -> Self {
        let (mut by_content, mut by_path) = (HashMap::new(), HashMap::<String, Vec<usize>>::new());
        for (at, known) in all.iter().enumerate() {
            by_content.insert(known.content.to_string(), at);
            by_path.entry(known.path.clone()).or_default().push(at);
        }
        Self { all, by_content, by_path }
    }

    /// What a file of a manifest has; else what it had grown to at one of its places, when the manifest was behind.
    fn of(&self, file: &File) -> Option<&Known> {
        let exact = self.by_content.get(&file.content).map(|at| &self.all[*at]);
        let later = || {
            let places = file.places.iter().filter_map(|place| self.by_path.get(&place.path)).flatten();
            places.map(|at| &self.all[*at]).filter(|known| known.bytes >= file.bytes).max_by_key(|known| known.bytes)
        };
        exact.or_else(later)
    }
}

impl Making<'_> {
    fn fill(&mut self, manifests: &[Manifest], taken: TakenIn) -> Result<()> {
        self.rebuilt.packs = taken.packs;
        self.rebuilt.issues.extend(taken.damaged);
        let contents = Contents::new(taken.files);
        imported::take_over(self.engine)?;
        let projects: Vec<ProjectRow> = manifests.iter().map(|manifest| self.project(manifest)).collect();
        self.engine.db().write(|rows| projects.iter().try_for_each(|project| rows.set_project(project)))?;
        let total = manifests.iter().map(|manifest| manifest.sessions.len()).sum::<usize>() as u64;
        let mut done = 0;
        for manifest in manifests {
            for (id, session) in &manifest.sessions {
                self.work.cancel.check()?;
                (self.work.progress)(Progress {
                    done,
                    total,
                    unit: "sessions".to_owned(),
                    stage: "making the database anew".to_owned(),
                });
                self.session(&manifest.project_id, &SessionId::new(id.as_str()), session, &contents)?;
                done += 1;
            }
        }
        self.compositions(manifests)?;
        // What making it anew used is not what the user did.
        self.engine.db().write(|rows| {
            for manifest in manifests {
                for (id, session) in &manifest.sessions {
                    let id = SessionId::new(id.as_str());
                    if let Some(last) = session.last_accessed {
                        rows.touch_session(&id, last)?;
                    }
                    for version in versions_of(self.engine.home(), &manifest.project_id, &id, session) {
                        rows.put_version(&version)?;
                    }
                }
            }
            for project in rows.all_projects()? {
                if !projects.iter().any(|known| known.project_id == project) {
                    rows.drop_project(&project)?;
                }
            }
            projects.iter().try_for_each(|project| rows.set_project(project))
        })
    }

    fn project(&self, manifest: &Manifest) -> ProjectRow {
        let now = self.engine.now();
        ProjectRow {
            project_id: manifest.project_id.clone(),
            original_path: manifest.original_path.clone(),
            display_name: manifest.display_name.clone(),
            created_at: manifest.created_at.unwrap_or(now),
            last_accessed: manifest.last_accessed.or(manifest.created_at).unwrap_or(now),
        }
    }

    fn session(&mut self, project: &ProjectId, id: &SessionId, session: &Session, contents: &Contents) -> Result<()> {
        let engine = self.engine;
        let row = session.row(id, project, engine.now());
        let format = Format::parse(&session.format);
        let times = (session.first_timestamp, session.last_timestamp);
        let mut files = Vec::new();
        for file in &session.files {
            let row = FileRow::new(id.clone(), file.part(), file.name.clone());
            let known = contents.of(file);
            let read = known.map(|known| {
                let chunks = self.chunks(known)?;
                registry::read_back(engine, row.clone(), &chunks, format, times, self.work.cancel)
            });
            let read = match read {
                Some(Err(error)) if matches!(error.kind, ErrorKind::Cancelled) => return Err(error),
                Some(Err(error)) => {
                    self.rebuilt.issues.push(format!("{id}: `{}` cannot be read: {}", file.name, error.message));
                    None
                }
                Some(Ok(read)) => Some(read),
                None => {
                    self.rebuilt.issues.push(format!("{id}: no pack tells of `{}`", file.name));
                    None
                }
            };
            files.push((file, row, known, read));
        }
        engine.db().write(|rows| {
            rows.put_session(&row)?;
            rows.set_session_choices(id, session.user_title.as_deref(), session.distance_by_hand)?;
            rows.pair(id, session.paired_with.as_ref())?;
            for (file, row, known, read) in files {
                let is_read = read.is_some();
                let file_id = match read {
                    Some(read) => read.write(engine, rows)?,
                    // What is known of it stays, so that a check finds what is missing.
                    None => rows.put_file(&FileRow { bytes: file.bytes, ..row })?,
                };
                if !is_read {
                    let chunks = known.map(chunks_of).unwrap_or_default();
                    chunks.iter().try_for_each(|chunk| rows.put_lost_chunk(&chunk.hash, chunk.bytes))?;
                    rows.put_file_chunks(file_id, 0, &chunks)?;
                    if let Some(content) = file.content() {
                        rows.set_file_content(file_id, content)?;
                    }
                }
                for place in &file.places {
                    rows.add_place(&PlaceRow {
                        path: place.path.clone(),
                        file_id,
                        bytes: place.bytes,
                        // What could not be read back is to be read again where it was found.
                        modified: if is_read { place.modified } else { 0 },
                        inode: if is_read { place.inode } else { 0 },
                        seen_at: place.seen_at,
                    })?;
                }
            }
            registry::refresh(rows, id, project, engine.now())?;
            let read = rows.session(id)?.unwrap_or_else(|| row.clone());
            let mut row = session.over(read);
            row.project_id.clone_from(project);
            rows.put_session(&row)?;
            for keepit in session.keepits(id) {
                rows.put_keepit(&keepit)?;
            }
            rows.put_version_number(id, session.last_version_number)
        })?;
        self.rebuilt.sessions += 1;
        let versions = versions_of(engine.home(), project, id, session);
        self.rebuilt.versions += versions.len() as u64;
        engine.db().write(|rows| versions.iter().try_for_each(|version| rows.put_version(version)))
    }

    /// The pieces of a content with their places; those that are in no pack are noted as lost.
    fn chunks(&self, known: &Known) -> Result<Vec<Chunk>> {
        let mut chunks = chunks_of(known);
        self.engine.db().write(|rows| {
            for chunk in &mut chunks {
                match rows.piece(&chunk.hash)? {
                    Some(piece) => chunk.place = piece.place,
                    None => rows.put_lost_chunk(&chunk.hash, chunk.bytes)?,
                }
            }
            Ok(())
        })?;
        Ok(chunks)
    }

    fn compositions(&mut self, manifests: &[Manifest]) -> Result<()> {
        let mut rows = documents::compositions(self.engine.home(), manifests);
        rows.sort_by(|left, right| {
            let key = |row: &CompositionRow| (row.record.created_at, row.record.composition_id.clone());
            key(left).cmp(&key(right))
        });
        for row in rows {
            let name = row.record.name.clone();
            match self.engine.db().write(|rows| rows.add_composition(&row)) {
                Ok(()) => self.rebuilt.compositions += 1,
                Err(error) => self.rebuilt.issues.push(format!("composition `{name}`: {}", error.message)),
            }
        }
        Ok(())
    }
}

fn chunks_of(known: &Known) -> Vec<Chunk> {
    let mut start = 0;
    let chunk = |(hash, bytes): &([u8; 32], u64)| {
        let chunk = Chunk { start, bytes: *bytes, hash: *hash, place: None };
        start += bytes;
        chunk
    };
    known.pieces.iter().map(chunk).collect()
}

/// Versions that the manifest tells of, and those that only stand beside their files.
fn versions_of(home: &Home, project: &ProjectId, id: &SessionId, session: &Session) -> Vec<VersionRow> {
    let beside = documents::versions(&home.summaries(project, id), id);
    let told = session.compressions.iter().filter_map(|record| VersionRow::from_record(id, record));
    let mut versions: Vec<VersionRow> = told.collect();
    for version in beside {
        if !versions.iter().any(|known| known.version_id == version.version_id) {
            versions.push(version);
        }
    }
    versions
}
