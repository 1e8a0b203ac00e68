//! The files of versions: `.md` and `.jsonl` of each, and `versions.json` beside them (3.1, 3.2, 3.4).
//!
//! Files are written before the row that makes them count, and deleted after it is gone. What an interruption leaves is
//! mended when the session's versions are looked at again: rows whose record is missing get one, files that neither a row
//! nor a record names are deleted, and records without a row (the database was lost) become rows again.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::api::compression::VersionMessage;
use crate::archive::hex;
use crate::compress;
use crate::db::VersionRow;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::home::{create_private, write_atomically};
use crate::ids::SessionId;

/// Name of the file that lists the versions.
const RECORDS: &str = "versions.json";

/// Files of a version, written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// Bytes of both.
    pub(super) bytes: u64,
    /// SHA-256 of the Markdown.
    pub(super) markdown_hash: String,
    /// SHA-256 of the JSONL.
    pub(super) jsonl_hash: String,
}

/// The folder of a session's versions, locked against other writers.
pub(super) struct Store {
    session: SessionId,
    folder: PathBuf,
    /// Released when it is dropped.
    _lock: fs_err::File,
}

impl Store {
    /// Locks the folder, waiting for other writers.
    pub(super) fn lock(engine: &Engine, session: &SessionId) -> Result<Self> {
        let folder = folder(engine, session)?;
        create_private(&folder)?;
        let path = folder.join(".lock");
        let lock = crate::home::hold(&path)?;
        Ok(Self { session: session.clone(), folder, _lock: lock })
    }

    /// Writes both files of a version.
    pub(super) fn write_version(&self, file: &str, markdown: &str, jsonl: &str) -> Result<Written> {
        write_atomically(&self.folder.join(format!("{file}.md")), markdown.as_bytes())?;
        write_atomically(&self.folder.join(format!("{file}.jsonl")), jsonl.as_bytes())?;
        Ok(Written {
            bytes: (markdown.len() + jsonl.len()) as u64,
            markdown_hash: sha256(markdown.as_bytes()),
            jsonl_hash: sha256(jsonl.as_bytes()),
        })
    }

    /// Deletes both files of a version, where they are.
    pub(super) fn delete_version(&self, file: &str) -> Result<()> {
        for extension in ["md", "jsonl"] {
            let path = self.folder.join(format!("{file}.{extension}"));
            if path.exists() {
                fs_err::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Writes `versions.json` as the database has it; members that others put there stay.
    pub(super) fn write_records(&self, engine: &Engine) -> Result<()> {
        let (row, places, versions) = engine.db().read(|rows| {
            let sums = rows.session_sums(&self.session)?;
            Ok((
                rows.session(&self.session)?,
                sums.map(|sums| sums.places).unwrap_or_default(),
                rows.version_records(&self.session)?,
            ))
        })?;
        let Some(row) = row else { return Ok(()) };
        let mut records = Map::new();
        records.insert("sessionId".to_owned(), json!(self.session));
        records.insert("originalFile".to_owned(), json!(places.first()));
        records.insert("originalTokens".to_owned(), json!(row.tokens));
        records.insert("originalMessages".to_owned(), json!(row.messages));
        records.insert("versions".to_owned(), Value::Array(versions));
        for (key, value) in self.records()? {
            records.entry(key).or_insert(value);
        }
        let mut bytes = serde_json::to_vec_pretty(&Value::Object(records))?;
        bytes.push(b'\n');
        write_atomically(&self.folder.join(RECORDS), &bytes)
    }

    /// What the file says; one that is not understood is set aside, not written over.
    fn records(&self) -> Result<Map<String, Value>> {
        let path = self.folder.join(RECORDS);
        match fs_err::read(&path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(records) => Ok(records),
                Err(_) => {
                    crate::home::set_aside(&path)?;
                    Ok(Map::new())
                }
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Map::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Mends what an interruption, or the loss of the database, left.
    pub(super) fn reconcile(&self, engine: &Engine) -> Result<()> {
        let rows = engine.db().read(|rows| rows.versions(&self.session))?;
        let records = self.records()?;
        let recorded: Vec<VersionRow> = records
            .get("versions")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .filter_map(|record| VersionRow::from_record(&self.session, record))
            .collect();
        let known = |version: &VersionRow| rows.iter().any(|row| row.version_id == version.version_id);
        let lost: Vec<&VersionRow> = recorded
            .iter()
            .filter(|version| !known(version) && self.folder.join(format!("{}.jsonl", version.file)).is_file())
            .collect();
        if !lost.is_empty() {
            engine.db().write(|rows| lost.iter().try_for_each(|version| rows.put_version(version)))?;
        }
        let is_named = |stem: &str| rows.iter().chain(lost.iter().copied()).any(|version| version.file == stem);
        for entry in fs_err::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            let stem = name.strip_suffix(".md").or_else(|| name.strip_suffix(".jsonl")).unwrap_or("");
            if (is_ours(stem) && !is_named(stem)) || name.starts_with(".writing-") {
                fs_err::remove_file(&path)?;
            }
        }
        let same = rows.len() + lost.len() == recorded.len()
            && rows.iter().all(|row| recorded.iter().any(|version| version.version_id == row.version_id));
        if !same { self.write_records(engine) } else { Ok(()) }
    }
}

/// Mends what an interruption left, when there is anything to look at.
///
/// # Errors
/// `Io` when it cannot be read or mended.
pub fn reconcile(engine: &Engine, session: &SessionId) -> Result<()> {
    if folder(engine, session)?.is_dir() { Store::lock(engine, session)?.reconcile(engine) } else { Ok(()) }
}

/// The messages of a version.
pub(super) fn read_version(engine: &Engine, version: &VersionRow) -> Result<Vec<VersionMessage>> {
    let path = folder(engine, &version.session_id)?.join(format!("{}.jsonl", version.file));
    let hint = "make the version again with the same settings: it comes out the same";
    let text = fs_err::read_to_string(&path).map_err(|error| Error::from(error).hint(hint))?;
    compress::from_jsonl(&text).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the file `{}` is damaged: {}", path.display(), error.message)).hint(hint)
    })
}

/// Whether both files of a version are there.
pub(super) fn are_there(engine: &Engine, version: &VersionRow) -> Result<bool> {
    let folder = folder(engine, &version.session_id)?;
    Ok(["md", "jsonl"].iter().all(|extension| folder.join(format!("{}.{extension}", version.file)).is_file()))
}

/// Whether the files of a version are there, and are those that were written.
pub(super) fn is_as_written(engine: &Engine, version: &VersionRow) -> Result<bool> {
    let folder = folder(engine, &version.session_id)?;
    let is = |extension: &str, hash: &str| match fs_err::read(folder.join(format!("{}.{extension}", version.file))) {
        Ok(bytes) => Ok(sha256(&bytes) == hash),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::from(error)),
    };
    Ok(is("md", &version.provenance.markdown_hash)? && is("jsonl", &version.provenance.jsonl_hash)?)
}

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes).into())
}

/// The Markdown of a version.
pub(super) fn read_markdown(engine: &Engine, version: &VersionRow) -> Result<String> {
    let path = folder(engine, &version.session_id)?.join(format!("{}.md", version.file));
    fs_err::read_to_string(&path).map_err(|error| {
        Error::from(error).hint("make the version again with the same settings: it comes out the same")
    })
}

fn folder(engine: &Engine, session: &SessionId) -> Result<PathBuf> {
    let row = engine.db().read(|rows| rows.session(session))?;
    let row = row.ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
    Ok(engine.home().summaries(&row.project_id, session))
}

/// A name that [`super::save`] gives: a version's number first.
fn is_ours(stem: &str) -> bool {
    let digits = stem.strip_prefix('v').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    digits >= 3 && stem[1 + digits..].starts_with('_') && Path::new(stem).components().count() == 1
}
