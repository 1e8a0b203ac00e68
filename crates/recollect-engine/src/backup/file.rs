//! A backup's file: a tar under zstd whose first member says what it is and whose last has the checksum of every other.
//!
//! `docs/backup-format.md` describes it; `zstd` and `tar` alone read it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Component;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::archive::hex;
use crate::error::{Error, ErrorKind, Result};
use crate::time::Time;

/// Version of the format.
const FORMAT: u64 = 1;
/// The first member.
const HEADER: &str = "recollect-backup.json";
/// The last member.
const CHECKSUMS: &str = "recollect-backup.checksums.json";
/// Packs are compressed already; for all else more effort gains little.
const LEVEL: i32 = 3;
/// More is not read of the two members of our own: it would be damage.
const LARGEST_MEMBER: u64 = 1 << 30;

/// What a backup says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    /// Version of the format.
    format: u64,
    /// The moment whose state it holds.
    pub created_at: Time,
    /// Format of the database in it.
    pub database: u64,
    /// Sessions in it.
    pub sessions: u64,
    /// Tells this state from others.
    pub state: String,
}

impl Header {
    pub(super) fn new(created_at: Time, database: u64, sessions: u64, state: String) -> Self {
        Self { format: FORMAT, created_at, database, sessions, state }
    }

    /// Fails when a newer program wrote it. `database` is the newest format that is known.
    fn check(&self, database: u64) -> Result<()> {
        if self.format <= FORMAT && self.database <= database {
            return Ok(());
        }
        let (what, found, known) = if self.format > FORMAT {
            ("a backup", self.format, FORMAT)
        } else {
            ("a memory", self.database, database)
        };
        let message = format!("it is {what} of format {found}; this program knows formats up to {known}");
        Err(Error::new(ErrorKind::NewerMemory, message).hint("update Recollect; nothing was written"))
    }
}

/// A member, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sum {
    pub path: String,
    pub bytes: u64,
    sha256: String,
}

/// Writes a backup.
pub(super) struct Writer<W: Write> {
    tar: tar::Builder<zstd::Encoder<'static, W>>,
    sums: Vec<Sum>,
    time: u64,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W, header: &Header) -> Result<Self> {
        let mut encoder = zstd::Encoder::new(out, LEVEL)?;
        encoder.include_checksum(true)?;
        let time = u64::try_from(header.created_at.millis() / 1000).unwrap_or_default();
        let mut writer = Self { tar: tar::Builder::new(encoder), sums: Vec::new(), time };
        let bytes = serde_json::to_vec_pretty(header)?;
        writer.add(HEADER, bytes.len() as u64, &mut bytes.as_slice(), None)?;
        Ok(writer)
    }

    /// Adds a file of so many bytes. `modified`: seconds since 1970, the backup's own time if none.
    pub(super) fn add(&mut self, path: &str, bytes: u64, from: &mut dyn Read, modified: Option<u64>) -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o600);
        header.set_mtime(modified.unwrap_or(self.time));
        header.set_size(bytes);
        let mut hashing = Hashing { from: from.take(bytes), hash: Sha256::new(), bytes: 0 };
        self.tar.append_data(&mut header, path, &mut hashing)?;
        if hashing.bytes != bytes {
            return Err(Error::new(ErrorKind::Io, format!("`{path}` became shorter while it was read")));
        }
        self.sums.push(Sum { path: path.to_owned(), bytes, sha256: hex(&hashing.hash.finalize().into()) });
        Ok(())
    }

    /// Writes the checksums and ends the file; gives it back.
    pub(super) fn finish(mut self) -> Result<W> {
        let sums = serde_json::to_vec_pretty(&self.sums)?;
        let count = self.sums.len();
        self.add(CHECKSUMS, sums.len() as u64, &mut sums.as_slice(), None)?;
        self.sums.truncate(count);
        Ok(self.tar.into_inner()?.finish()?)
    }
}

/// Hashes what is read through it.
struct Hashing<R> {
    from: R,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hash.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Reads a backup to its end and compares every checksum. `each` is given every file, and has to read all of it.
///
/// # Errors
/// `NewerMemory` before anything is given; `Io` when it is damaged, which may show at the very end.
pub(super) fn read(
    from: impl Read,
    newest_database: u64,
    mut each: impl FnMut(&str, &mut dyn Read) -> Result<()>,
) -> Result<(Header, Vec<Sum>)> {
    let mut tar = tar::Archive::new(zstd::Decoder::new(from).map_err(damaged)?);
    let mut header = None;
    let mut found: Vec<Sum> = Vec::new();
    let mut listed: Option<Vec<Sum>> = None;
    for entry in tar.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        if listed.is_some() {
            return Err(Error::new(ErrorKind::Io, "there is something behind its end"));
        }
        let path = checked(&entry)?;
        let mut hashing = Hashing { from: &mut entry, hash: Sha256::new(), bytes: 0 };
        if header.is_none() {
            let bytes = small(&mut hashing)?;
            if path != HEADER {
                return Err(Error::new(ErrorKind::Io, "it is no backup of Recollect"));
            }
            let first: Header = serde_json::from_slice(&bytes).map_err(damaged)?;
            first.check(newest_database)?;
            header = Some(first);
        } else if path == CHECKSUMS {
            listed = Some(serde_json::from_slice(&small(&mut hashing)?).map_err(damaged)?);
            continue;
        } else {
            each(&path, &mut hashing).map_err(|error| match error.source.as_deref() {
                // What the decoder says of the file is said of the file.
                Some(source) if is_damage(source) => cut_off(),
                _ => error,
            })?;
        }
        let Hashing { hash, bytes, .. } = hashing;
        found.push(Sum { path, bytes, sha256: hex(&hash.finalize().into()) });
    }
    let (Some(header), Some(listed)) = (header, listed) else { return Err(cut_off()) };
    // To the end of the stream, where its own checksum is.
    std::io::copy(&mut tar.into_inner(), &mut std::io::sink()).map_err(damaged)?;
    compare(&found, &listed)?;
    Ok((header, found.split_off(1)))
}

fn compare(found: &[Sum], listed: &[Sum]) -> Result<()> {
    let by_path: HashMap<&str, &Sum> = listed.iter().map(|sum| (sum.path.as_str(), sum)).collect();
    for sum in found {
        if by_path.get(sum.path.as_str()) != Some(&sum) {
            return Err(Error::new(ErrorKind::Io, format!("`{}` in it is not what was written", sum.path)));
        }
    }
    if found.len() != listed.len() || by_path.len() != listed.len() {
        return Err(Error::new(ErrorKind::Io, "files are missing in it"));
    }
    Ok(())
}

/// The path of a member, when it is a file that lies below the folder it is unpacked into, under a name of its own.
fn checked(entry: &tar::Entry<'_, impl Read>) -> Result<String> {
    let refuse = |path: &str, why: &str| Err(Error::new(ErrorKind::Io, format!("`{path}` in it {why}")));
    let path = entry.path().map_err(damaged)?;
    let Some(text) = path.to_str() else { return refuse(&path.to_string_lossy(), "has no name in Unicode") };
    if entry.header().entry_type() != tar::EntryType::Regular {
        return refuse(text, "is no file");
    }
    if text.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return refuse(text, "would lie outside the memory");
    }
    Ok(text.to_owned())
}

fn small(from: &mut dyn Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST_MEMBER).read_to_end(&mut bytes).map_err(damaged)?;
    Ok(bytes)
}

fn is_damage(source: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    use std::io::ErrorKind::{InvalidData, Other, UnexpectedEof};
    source
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| matches!(error.kind(), InvalidData | Other | UnexpectedEof))
}

fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Io, format!("it is damaged: {error}")).because(error)
}

fn cut_off() -> Error {
    Error::new(ErrorKind::Io, "it is cut off")
}
