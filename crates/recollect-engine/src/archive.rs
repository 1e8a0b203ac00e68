//! Archived bytes: content-addressed pieces in compressed packs, each written whole before the database refers to it.
//!
//! A file is cut where its content says, so that files with equal stretches share pieces and a grown file only adds to its
//! end. New pieces go into packs, `archive/<first two digits>/<id>.pack`, that are never changed. Small packs are joined when
//! there are many ([`Archive::tidy`]). A pack says which files its pieces came from: the archive can be read without the
//! database. The format is described in `docs/archive-format.md`.

mod batch;
mod codec;
mod contents;
mod cut;
mod fields;
mod files;
mod pack;
#[cfg(test)]
mod tests;
mod tidy;
mod verify;

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::db::Db;
use crate::error::{Error, ErrorKind, Result};

pub use batch::{Archiver, Batch};
pub use contents::{Content, Known};
pub use pack::PackId;
pub use tidy::Tidied;
pub use verify::{Check, Damage, Mended, TakenIn};

/// Decompressed bytes that are held for reading on: some blocks.
const HELD: usize = 40 << 20;

/// A piece of an archived file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it begins in the file.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes.
    pub hash: [u8; 32],
    /// Where it was when the database was asked; `None` when it was not asked, or the piece was lost.
    pub place: Option<Place>,
}

impl Chunk {
    /// Where it ends in the file.
    pub fn end(&self) -> u64 {
        self.start + self.bytes
    }
}

/// Where a piece is in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The pack.
    pub pack: PackId,
    /// Where the block begins in the pack.
    pub block: u64,
    /// Where the piece begins in the decompressed block.
    pub at: u64,
}

/// The folder of packs, with the database that knows what is where.
#[derive(Debug)]
pub struct Archive {
    root: PathBuf,
    db: Db,
    held: Mutex<Vec<Held>>,
}

/// A decompressed block.
#[derive(Debug)]
struct Held {
    pack: PackId,
    block: u64,
    bytes: Arc<Vec<u8>>,
    /// Where pieces begin whose hash was checked.
    checked: HashSet<u64>,
}

/// The bytes of a piece.
#[derive(Debug, Clone)]
pub struct Bytes {
    block: Arc<Vec<u8>>,
    range: std::ops::Range<usize>,
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.block[self.range.clone()]
    }
}

impl Archive {
    /// Uses a folder that exists.
    pub fn new(root: PathBuf, db: Db) -> Self {
        Self { root, db, held: Mutex::new(Vec::new()) }
    }

    /// Begins to take files in.
    pub fn batch(&self) -> Batch<'_> {
        Batch::new(self)
    }

    /// Gives a piece back, checked against its hash.
    ///
    /// # Errors
    /// When its pack is missing or damaged.
    pub fn load(&self, chunk: &Chunk) -> Result<Bytes> {
        let lost = || {
            Error::new(ErrorKind::Io, "an archived piece was lost")
                .hint("ingest the original again if it still exists; everything else is unaffected")
        };
        let place = match chunk.place {
            Some(place) => place,
            None => self.place_of(&chunk.hash)?.ok_or_else(lost)?,
        };
        match self.load_from(chunk, place) {
            // Another program moved it to another pack meanwhile.
            Err(error) if is_missing(&error) => match self.place_of(&chunk.hash)? {
                Some(moved) if moved != place => self.load_from(chunk, moved),
                _ => Err(pack::damaged(&place.pack.path(&self.root), "its file is gone").because(error)),
            },
            loaded => loaded,
        }
    }

    fn load_from(&self, chunk: &Chunk, place: Place) -> Result<Bytes> {
        let path = place.pack.path(&self.root);
        let (block, checked) = match self.recall(place) {
            Some(held) => held,
            None => (self.hold(place, pack::read_block(&path, place.block)?), false),
        };
        let wrong = || pack::damaged(&path, "a piece of it is not what it was");
        let start = usize::try_from(place.at).map_err(|_| wrong())?;
        let end = start.checked_add(usize::try_from(chunk.bytes).map_err(|_| wrong())?).ok_or_else(wrong)?;
        let bytes = block.get(start..end).ok_or_else(wrong)?;
        if !checked {
            if Sha256::digest(bytes)[..] != chunk.hash {
                return Err(wrong());
            }
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(held) = held.iter_mut().find(|held| (held.pack, held.block) == (place.pack, place.block)) {
                held.checked.insert(place.at);
            }
        }
        Ok(Bytes { range: start..end, block })
    }

    /// A held block, and whether the piece in it was checked.
    fn recall(&self, place: Place) -> Option<(Arc<Vec<u8>>, bool)> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let at = held.iter().position(|held| (held.pack, held.block) == (place.pack, place.block))?;
        held[at..].rotate_left(1);
        let latest = held.last()?;
        Some((Arc::clone(&latest.bytes), latest.checked.contains(&place.at)))
    }

    fn hold(&self, place: Place, bytes: Vec<u8>) -> Arc<Vec<u8>> {
        let bytes = Arc::new(bytes);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|held| (held.pack, held.block) != (place.pack, place.block));
        held.push(Held { pack: place.pack, block: place.block, bytes: Arc::clone(&bytes), checked: HashSet::new() });
        let mut sum: usize = held.iter().map(|held| held.bytes.len()).sum();
        while sum > HELD && held.len() > 1 {
            sum -= held.remove(0).bytes.len();
        }
        bytes
    }

    /// Where a piece is now; `None` when it is not archived, or was lost.
    fn place_of(&self, hash: &[u8; 32]) -> Result<Option<Place>> {
        Ok(self.db.read(|rows| rows.piece(hash))?.and_then(|chunk| chunk.place))
    }

    /// Gives a stretch of a file back; what lies beyond its end is left out.
    pub fn range(&self, chunks: &[Chunk], start: u64, bytes: u64) -> Result<Vec<u8>> {
        let end = start + bytes;
        let mut found = Vec::new();
        let first = chunks.partition_point(|chunk| chunk.end() <= start);
        for chunk in chunks[first..].iter().take_while(|chunk| chunk.start < end) {
            let piece = self.load(chunk)?;
            let from = usize::try_from(start.saturating_sub(chunk.start)).unwrap_or(usize::MAX);
            let to = usize::try_from(end - chunk.start).unwrap_or(usize::MAX).min(piece.len());
            found.extend_from_slice(piece.get(from..to).unwrap_or_default());
        }
        Ok(found)
    }

    /// Writes a file out; returns its bytes and their SHA-256.
    pub fn copy(&self, chunks: &[Chunk], out: &mut dyn Write) -> Result<(u64, [u8; 32])> {
        let mut hash = Sha256::new();
        let mut bytes = 0;
        for chunk in chunks {
            let piece = self.load(chunk)?;
            out.write_all(&piece)?;
            hash.update(&*piece);
            bytes += piece.len() as u64;
        }
        Ok((bytes, hash.finalize().into()))
    }

    /// Whether the file `shorter` is the beginning of `longer`; both may be one.
    pub fn is_beginning(&self, shorter: &[Chunk], longer: &[Chunk]) -> Result<bool> {
        let Some((last, whole)) = shorter.split_last() else { return Ok(true) };
        if whole.len() >= longer.len() {
            return Ok(false);
        }
        let same = |(left, right): (&Chunk, &Chunk)| left.hash == right.hash && left.start == right.start;
        if !whole.iter().zip(longer).all(same) {
            return Ok(false);
        }
        let other = &longer[whole.len()];
        if same((last, other)) {
            return Ok(true);
        }
        if last.start != other.start || last.bytes > other.bytes {
            return Ok(false);
        }
        // By the hash, so that a lost end does not stand in the way of the file that would bring it back.
        let other = self.load(other)?;
        let begin = usize::try_from(last.bytes).ok().and_then(|bytes| other.get(..bytes));
        Ok(begin.is_some_and(|begin| Sha256::digest(begin)[..] == last.hash))
    }
}

/// Whether a file was not there.
fn is_missing(error: &Error) -> bool {
    let source = error.source.as_deref().and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|source| source.kind() == std::io::ErrorKind::NotFound)
}

/// A hash as text.
pub fn hex(hash: &[u8; 32]) -> String {
    use std::fmt::Write;
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
