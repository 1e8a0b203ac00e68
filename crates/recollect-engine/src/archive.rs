//! Archived bytes: content-addressed pieces, compressed, each written whole before the database refers to it.
//!
//! A file is cut at every [`PIECE`] bytes, so that files with one beginning share their pieces and a grown file only adds
//! to its end. A piece is `archive/<first two digits>/<sha-256>.zst`; it is never changed, and checked when it is read.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind, Result};

/// Bytes of a piece; the last of a file may be shorter.
pub const PIECE: u64 = 1 << 20;

/// zstd's own default: the best size that costs less time than reading tokens does.
const LEVEL: i32 = 3;

/// Decompressed pieces that are held for reading on.
const HELD: usize = 8;

/// A piece of an archived file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it begins in the file.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes.
    pub hash: [u8; 32],
    /// Bytes that it takes on disk.
    pub stored_bytes: u64,
}

impl Chunk {
    /// Where it ends in the file.
    pub fn end(&self) -> u64 {
        self.start + self.bytes
    }
}

/// A decompressed piece and its hash.
type Held = ([u8; 32], Arc<[u8]>);

/// The folder of pieces.
#[derive(Debug)]
pub struct Archive {
    root: PathBuf,
    held: Mutex<Vec<Held>>,
}

impl Archive {
    /// Uses a folder that exists.
    pub fn new(root: PathBuf) -> Self {
        Self { root, held: Mutex::new(Vec::new()) }
    }

    /// Keeps a piece; one that is there already is not written again.
    pub fn store(&self, start: u64, bytes: &[u8]) -> Result<Chunk> {
        let hash: [u8; 32] = Sha256::digest(bytes).into();
        let path = self.path(&hash);
        let stored_bytes = match fs_err::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(_) => self.write(&path, bytes)?,
        };
        Ok(Chunk { start, bytes: bytes.len() as u64, hash, stored_bytes })
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<u64> {
        let compressed = zstd::bulk::compress(bytes, LEVEL)?;
        crate::home::write_atomically(path, &compressed)?;
        Ok(compressed.len() as u64)
    }

    /// Gives a piece back, checked against its hash.
    ///
    /// # Errors
    /// When its file is missing or damaged.
    pub fn load(&self, chunk: &Chunk) -> Result<Arc<[u8]>> {
        if let Some(bytes) = self.recall(&chunk.hash) {
            return Ok(bytes);
        }
        let path = self.path(&chunk.hash);
        let compressed = fs_err::read(&path)?;
        let capacity = usize::try_from(chunk.bytes).unwrap_or(usize::MAX).min(1 << 31);
        let damaged = || {
            Error::new(ErrorKind::Io, format!("an archived piece is damaged: `{}`", path.display()))
                .hint("ingest the original again if it still exists; every other piece is unaffected")
        };
        let bytes = zstd::bulk::decompress(&compressed, capacity).map_err(|error| damaged().because(error))?;
        if <[u8; 32]>::from(Sha256::digest(&bytes)) != chunk.hash {
            return Err(damaged());
        }
        let bytes: Arc<[u8]> = bytes.into();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= HELD {
            held.remove(0);
        }
        held.push((chunk.hash, Arc::clone(&bytes)));
        Ok(bytes)
    }

    fn recall(&self, hash: &[u8; 32]) -> Option<Arc<[u8]>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let place = held.iter().position(|(held, _)| held == hash)?;
        let entry = held.remove(place);
        let bytes = Arc::clone(&entry.1);
        held.push(entry);
        Some(bytes)
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

    /// Reads a file from its beginning, a piece at a time.
    pub fn reader<'a>(&'a self, chunks: &'a [Chunk]) -> ArchivedFile<'a> {
        ArchivedFile { archive: self, chunks: chunks.iter(), piece: Arc::from([]), at: 0 }
    }

    /// Writes a file out; returns its bytes and their SHA-256.
    pub fn copy(&self, chunks: &[Chunk], out: &mut dyn Write) -> Result<(u64, [u8; 32])> {
        let mut hash = Sha256::new();
        let mut bytes = 0;
        for chunk in chunks {
            let piece = self.load(chunk)?;
            out.write_all(&piece)?;
            hash.update(&piece);
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
        Ok(last.start == other.start && last.bytes <= other.bytes && self.load(other)?.starts_with(&self.load(last)?))
    }

    /// Deletes pieces that nothing refers to any more; one that is gone already is no failure.
    pub fn delete(&self, chunks: &[Chunk]) -> Result<()> {
        for chunk in chunks {
            match fs_err::remove_file(self.path(&chunk.hash)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn path(&self, hash: &[u8; 32]) -> PathBuf {
        let name = hex(hash);
        self.root.join(&name[..2]).join(format!("{name}.zst"))
    }
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

/// An archived file, read from its beginning.
pub struct ArchivedFile<'a> {
    archive: &'a Archive,
    chunks: std::slice::Iter<'a, Chunk>,
    piece: Arc<[u8]>,
    at: usize,
}

impl Read for ArchivedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.piece.len() {
            let Some(chunk) = self.chunks.next() else { return Ok(0) };
            self.piece = self.archive.load(chunk).map_err(std::io::Error::other)?;
            self.at = 0;
        }
        let count = buffer.len().min(self.piece.len() - self.at);
        buffer[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Cuts a stream into pieces and keeps them.
pub struct Archiver<'a> {
    archive: &'a Archive,
    buffer: Vec<u8>,
    start: u64,
    chunks: Vec<Chunk>,
}

impl<'a> Archiver<'a> {
    /// Begins at `start`, a whole number of pieces.
    pub fn new(archive: &'a Archive, start: u64) -> Self {
        Self { archive, buffer: Vec::new(), start, chunks: Vec::new() }
    }

    /// Takes more of the stream in.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<()> {
        let piece = usize::try_from(PIECE).unwrap_or(usize::MAX);
        while !bytes.is_empty() {
            let count = (piece - self.buffer.len()).min(bytes.len());
            self.buffer.extend_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            if self.buffer.len() == piece {
                self.cut()?;
            }
        }
        Ok(())
    }

    /// The pieces, the short last one too.
    pub fn finish(mut self) -> Result<Vec<Chunk>> {
        if !self.buffer.is_empty() {
            self.cut()?;
        }
        Ok(self.chunks)
    }

    fn cut(&mut self) -> Result<()> {
        self.chunks.push(self.archive.store(self.start, &self.buffer)?);
        self.start += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn archive() -> (tempfile::TempDir, Archive) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let archive = Archive::new(folder.path().to_owned());
        (folder, archive)
    }

    fn keep(archive: &Archive, parts: &[&[u8]]) -> Vec<Chunk> {
        let mut archiver = Archiver::new(archive, 0);
        for part in parts {
            archiver.feed(part).expect("a temporary folder can be written");
        }
        archiver.finish().expect("a temporary folder can be written")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn what_was_kept_comes_back(seed in any::<u8>(), bytes in 0..3 * PIECE as usize, cut in 0.0..1.0f64, from in 0.0..1.0f64) {
            let (_folder, archive) = archive();
            let content: Vec<u8> = (0..bytes).map(|at| (at / 7) as u8 ^ seed).collect();
            let middle = (bytes as f64 * cut) as usize;
            let chunks = keep(&archive, &[&content[..middle], &content[middle..]]);
            let mut out = Vec::new();
            archive.copy(&chunks, &mut out).expect("kept pieces can be read");
            prop_assert!(out == content, "restore must give the bytes back");
            let start = (bytes as f64 * from) as usize;
            prop_assert!(archive.range(&chunks, start as u64, 5000).expect("a range") == content[start..bytes.min(start + 5000)]);
            let beginning = keep(&archive, &[&content[..middle]]);
            prop_assert!(archive.is_beginning(&beginning, &chunks).expect("comparable"));
            prop_assert_eq!(archive.is_beginning(&chunks, &beginning).expect("comparable"), middle == bytes);
        }
    }

    #[test]
    fn a_damaged_piece_is_found_and_named() {
        let (_folder, archive) = archive();
        let chunks = keep(&archive, &[b"precious"]);
        let other = archive.store(0, b"another").expect("kept");
        fs_err::copy(archive.path(&other.hash), archive.path(&chunks[0].hash)).expect("damaged on purpose");
        let error = archive.load(&chunks[0]).expect_err("wrong bytes must not pass");
        assert!(error.message.contains("damaged"), "{error}");
    }
}
