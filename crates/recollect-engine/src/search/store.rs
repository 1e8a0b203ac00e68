//! The index on disk: a folder for each time it was made anew, named in the database, with one writer at a time.
//!
//! It holds nothing that is not elsewhere. One that is missing, damaged, of another format, or behind what the database
//! says of it, is left alone and made anew beside it; the old one is deleted when nobody uses it any more.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy, Searcher, TantivyError};
use uuid::Uuid;

use super::directory::PrivateDirectory;
use super::rank::Scratch;
use super::schema::{FORMAT, Fields, schema, tokenizers};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::home::{create_private, hold, hold_if_free};

/// Facts in the database: which folder counts, and its last commit that was noted.
const GENERATION: &str = "search_index";
const COMMIT: &str = "search_commit";

/// The index of an open memory.
#[derive(Default)]
pub(crate) struct Search {
    open: Mutex<Option<Arc<OpenIndex>>>,
    pub(super) scratch: Mutex<Vec<Scratch>>,
    /// A thread of this process is at work on it.
    pub(super) working: std::sync::atomic::AtomicBool,
}

/// An index that can be searched.
pub(super) struct OpenIndex {
    pub(super) generation: String,
    pub(super) index: Index,
    pub(super) fields: Fields,
    reader: IndexReader,
    /// What `meta.json` was when the reader last looked.
    seen: Mutex<Option<String>>,
}

/// What a commit says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Payload {
    pub(super) commit: u64,
}

impl OpenIndex {
    /// What was committed when this is called, by whichever program.
    pub(super) fn searcher(&self, folder: &Path) -> Result<Searcher> {
        let stamp = stamp(folder);
        let mut seen = locked(&self.seen);
        if *seen != stamp || stamp.is_none() {
            self.reader.reload().map_err(failed)?;
            *seen = stamp;
        }
        Ok(self.reader.searcher())
    }

    /// The payload of the last commit; none before the first.
    pub(super) fn payload(&self) -> Result<Option<Payload>> {
        let metas = self.index.load_metas().map_err(failed)?;
        Ok(metas.payload.and_then(|payload| serde_json::from_str(&payload).ok()))
    }
}

/// Tells one commit from the next: clocks of file systems are too coarse for that, and the text is small.
fn stamp(folder: &Path) -> Option<String> {
    fs_err::read_to_string(folder.join("meta.json")).ok()
}

/// The folder of a generation.
pub(super) fn folder(engine: &Engine, generation: &str) -> PathBuf {
    engine.home().search().join(generation)
}

/// The index that counts, when there is one that can be used.
pub(super) fn current(engine: &Engine) -> Result<Option<Arc<OpenIndex>>> {
    let generation = engine.db().read(|rows| rows.fact(GENERATION))?;
    let Some(generation) = generation.filter(|generation| generation.starts_with(&format!("{FORMAT}-"))) else {
        return Ok(None);
    };
    let mut open = locked(&engine.search().open);
    if let Some(index) = open.as_ref().filter(|index| index.generation == generation) {
        return Ok(Some(Arc::clone(index)));
    }
    let Ok(index) = open_folder(&folder(engine, &generation), &generation) else { return Ok(None) };
    let index = Arc::new(index);
    *open = Some(Arc::clone(&index));
    Ok(Some(index))
}

/// The index that counts, made anew when there is none that can be used; and whether it may hold more than was noted.
/// Only for who holds the [`lock`].
pub(super) fn usable(engine: &Engine) -> Result<(Arc<OpenIndex>, bool)> {
    let noted: Option<u64> = engine.db().read(|rows| rows.fact(COMMIT))?.and_then(|commit| commit.parse().ok());
    if let (Some(index), Some(noted)) = (current(engine)?, noted)
        && let Ok(payload) = index.payload()
    {
        let fits = match &payload {
            Some(payload) => payload.commit >= noted,
            None => noted == 0,
        };
        if fits {
            let ahead = payload.is_some_and(|payload| payload.commit > noted);
            return Ok((index, ahead));
        }
    }
    Ok((anew(engine)?, false))
}

/// Makes an empty index, and lets the database forget what the last one had. Only for who holds the [`lock`].
pub(super) fn anew(engine: &Engine) -> Result<Arc<OpenIndex>> {
    let generation = format!("{FORMAT}-{}", Uuid::new_v4().simple());
    let folder = folder(engine, &generation);
    create_private(&folder)?;
    let (schema, _) = schema();
    let settings = IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor { compression_level: Some(3) }),
        docstore_blocksize: 32 << 10,
        ..IndexSettings::default()
    };
    let directory = PrivateDirectory::open(&folder).map_err(failed)?;
    Index::builder().schema(schema).settings(settings).open_or_create(directory).map_err(failed)?;
    let index = Arc::new(open_folder(&folder, &generation)?);
    engine.db().write(|rows| {
        rows.put_fact(GENERATION, &generation)?;
        rows.put_fact(COMMIT, "0")?;
        rows.forget_index()
    })?;
    *locked(&engine.search().open) = Some(Arc::clone(&index));
    delete_others(engine, &generation);
    Ok(index)
}

/// Forgets a reader over an index that proved damaged, and lets the next writer make it anew.
pub(super) fn give_up(engine: &Engine, generation: &str) -> Result<()> {
    *locked(&engine.search().open) = None;
    engine.db().write(|rows| {
        if rows.fact(GENERATION)?.as_deref() == Some(generation) {
            rows.put_fact(GENERATION, "")?;
            rows.forget_index()?;
        }
        Ok(())
    })
}

/// Notes that a commit and what it covers is in the database too.
pub(super) fn note_commit(rows: &crate::db::Rows<'_>, commit: u64) -> Result<()> {
    rows.put_fact(COMMIT, &commit.to_string())
}

fn lock_file(engine: &Engine) -> Result<PathBuf> {
    let folder = engine.home().search();
    create_private(&folder)?;
    Ok(folder.join("lock"))
}

/// Lets this be the one writer, once others are done.
pub(super) fn lock_waiting(engine: &Engine) -> Result<fs_err::File> {
    hold(&lock_file(engine)?)
}

/// Lets this be the one writer; `None` while another is.
pub(super) fn lock(engine: &Engine) -> Result<Option<fs_err::File>> {
    hold_if_free(&lock_file(engine)?)
}

fn open_folder(folder: &Path, generation: &str) -> Result<OpenIndex> {
    let directory = PrivateDirectory::open(folder).map_err(failed)?;
    let mut index = Index::open(directory).map_err(failed)?;
    let (schema, fields) = schema();
    if index.schema() != schema {
        return Err(Error::internal("the index has another schema"));
    }
    index.set_tokenizers(tokenizers());
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(failed)?;
    Ok(OpenIndex { generation: generation.to_owned(), index, fields, reader, seen: Mutex::new(stamp(folder)) })
}

/// Deletes indexes that no longer count, where nobody holds them.
fn delete_others(engine: &Engine, generation: &str) {
    let Ok(entries) = fs_err::read_dir(engine.home().search()) else { return };
    for entry in entries.filter_map(std::result::Result::ok) {
        if entry.file_name() != generation && entry.path().is_dir() {
            // What is still in use somewhere goes the next time.
            let _ = fs_err::remove_dir_all(entry.path());
        }
    }
}

/// Puts a failure of the index in words.
pub(super) fn failed(error: TantivyError) -> Error {
    if let TantivyError::IoError(error) = &error
        && let Some(code) = error.raw_os_error()
    {
        return std::io::Error::from_raw_os_error(code).into();
    }
    Error::new(ErrorKind::Io, format!("the search index failed: {error}"))
        .hint("it is made anew from the memory; nothing is lost")
        .because(error)
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folder that counts.
pub(super) fn generation(engine: &Engine) -> Option<String> {
    engine.db().read(|rows| rows.fact(GENERATION)).ok().flatten()
}

/// What is wrong with the index that counts; one that is not there yet is no fault, for the next search makes it.
pub(super) fn faults(engine: &Engine) -> Result<Vec<String>> {
    let Some(generation) = generation(engine).filter(|generation| folder(engine, generation).is_dir()) else {
        return Ok(Vec::new());
    };
    let Some(index) = current(engine)? else { return Ok(vec![format!("`{generation}` cannot be opened")]) };
    let mut damaged: Vec<String> = match index.index.validate_checksum() {
        Ok(files) => files.iter().map(|file| format!("`{}` of the search index is damaged", file.display())).collect(),
        Err(error) => vec![format!("the search index cannot be read: {error}")],
    };
    damaged.sort_unstable();
    Ok(damaged)
}
