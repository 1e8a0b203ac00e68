//! Takes files into the archive: cuts them, leaves out what is there already, and writes the rest into packs.
//!
//! Many files share a batch, and so a pack: small sessions are compressed together, and one sync serves them all.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::cut::Cutter;
use super::pack::{Hash, Origin, PackId, PackWriter, Sealed};
use super::{Archive, Chunk, Place, codec};
use crate::error::Result;

/// Decompressed bytes after which a block is full: what compresses well together, and what has to be read for one piece of it.
pub(super) const BLOCK: usize = 16 << 20;
/// Decompressed bytes after which a pack is full.
pub(super) const PACK: u64 = 256 << 20;
/// Bytes of one file that are handed over at once.
const RUN: usize = 4 << 20;
/// Bytes that are put in order before they are compressed: what is alike stands together, whatever was read first.
const HELD: usize = 64 << 20;

/// Files on their way into the archive. Nothing of them can be read before [`Batch::finish`].
#[derive(Debug)]
pub struct Batch<'a> {
    archive: &'a Archive,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    writer: Option<PackWriter>,
    held: Vec<Run>,
    held_bytes: usize,
    /// Pieces that are in this batch.
    known: HashSet<[u8; 32]>,
    files: Vec<Origin>,
    grown: u64,
}

/// New pieces of a file: where the file was, where the first of them stands in it.
#[derive(Debug)]
struct Run {
    path: String,
    start: u64,
    contents: Contents,
}

/// Pieces one after the other: hash, place, bytes.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub bytes: Vec<u8>,
    pub pieces: Vec<([u8; 32], u64, u64)>,
}

impl Contents {
    pub(super) fn push(&mut self, hash: [u8; 32], bytes: &[u8]) {
        self.pieces.push((hash, self.bytes.len() as u64, bytes.len() as u64));
        self.bytes.extend_from_slice(bytes);
    }

    fn append(&mut self, other: Self) {
        let start = self.bytes.len() as u64;
        self.pieces.extend(other.pieces.into_iter().map(|(hash, at, bytes)| (hash, start + at, bytes)));
        self.bytes.extend_from_slice(&other.bytes);
    }
}

impl<'a> Batch<'a> {
    pub(super) fn new(archive: &'a Archive) -> Self {
        Self { archive, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, path: &str, start: u64, run: &Contents) -> Result<()> {
        let mut state = self.state();
        let mut contents = Contents::default();
        for (hash, at, bytes) in &run.pieces {
            if state.known.insert(*hash) {
                let (from, to) = (*at as usize, (at + bytes) as usize);
                contents.push(*hash, &run.bytes[from..to]);
            }
        }
        if contents.pieces.is_empty() {
            return Ok(());
        }
        state.held_bytes += contents.bytes.len();
        state.held.push(Run { path: path.to_owned(), start, contents });
        if state.held_bytes < HELD {
            return Ok(());
        }
        let held = std::mem::take(&mut state.held);
        state.held_bytes = 0;
        // Others go on while this is compressed.
        drop(state);
        self.write(held)
    }

    /// Writes runs in the order of files, in blocks that are compressed side by side.
    fn write(&self, mut held: Vec<Run>) -> Result<()> {
        held.sort_by(|left, right| (&left.path, left.start).cmp(&(&right.path, right.start)));
        let mut blocks: Vec<Contents> = Vec::new();
        for Run { contents, .. } in held {
            match blocks.last_mut() {
                Some(block) if block.bytes.len() + contents.bytes.len() <= BLOCK => block.append(contents),
                _ => blocks.push(contents),
            }
        }
        let encoded: Vec<Vec<u8>> =
            blocks.par_iter().map(|block| codec::encode(&block.bytes)).collect::<std::io::Result<_>>()?;
        let mut state = self.state();
        for (block, encoded) in blocks.iter().zip(encoded) {
            let mut writer = match state.writer.take() {
                Some(writer) => writer,
                None => PackWriter::new(&self.archive.root)?,
            };
            writer.add(&encoded, block.bytes.len() as u64, &block.pieces)?;
            if writer.bytes >= PACK {
                state.grown += self.archive.seal(writer, Vec::new())?;
            } else {
                state.writer = Some(writer);
            }
        }
        Ok(())
    }

    /// Makes everything that was taken in readable and lasting; returns the bytes that the archive grew by.
    pub fn finish(self) -> Result<u64> {
        let held = std::mem::take(&mut self.state().held);
        self.write(held)?;
        let State { writer, files, grown, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let writer = match writer {
            None if files.is_empty() => return Ok(grown),
            None => PackWriter::new(&self.archive.root)?,
            Some(writer) => writer,
        };
        Ok(grown + self.archive.seal(writer, files)?)
    }
}

impl Archive {
    fn seal(&self, writer: PackWriter, files: Vec<Origin>) -> Result<u64> {
        self.register(&writer.seal(files, |id| self.announce(id))?)
    }

    /// Notes the name of a pack before its file gets it: should this program be ended then, the next takes the file in.
    pub(super) fn announce(&self, id: PackId) -> Result<()> {
        self.db.write(|rows| rows.announce_pack(id))
    }

    /// Makes a pack known to the database; returns its bytes.
    pub(super) fn register(&self, sealed: &Sealed) -> Result<u64> {
        let pieces = chunks_of(sealed);
        let original = sealed.index.blocks.iter().map(|block| block.bytes).sum();
        self.db.write(|rows| rows.put_pack(sealed.id, sealed.bytes, original, &pieces))?;
        Ok(sealed.bytes)
    }
}

/// The pieces of a pack as the database knows them.
pub(super) fn chunks_of(sealed: &Sealed) -> Vec<Chunk> {
    let place = |block, at| Some(Place { pack: sealed.id, block, at });
    let chunk = |piece: &super::pack::Piece| Chunk {
        start: 0,
        bytes: piece.bytes,
        hash: piece.sha256.0,
        place: place(piece.block, piece.at),
    };
    sealed.index.pieces.iter().map(chunk).collect()
}

/// Cuts one file and gives what is new of it to a batch.
#[derive(Debug)]
pub struct Archiver<'b, 'a> {
    batch: &'b Batch<'a>,
    cutter: Cutter,
    run: Contents,
    run_start: u64,
    origin: Origin,
    /// The last of the pieces that are kept.
    kept: Option<Chunk>,
    /// Where the next piece begins.
    start: u64,
    chunks: Vec<Chunk>,
    is_new: bool,
}

impl<'b, 'a> Archiver<'b, 'a> {
    /// Begins a file that was found at `path`, behind the pieces that are kept of it: `kept` is the last of those.
    pub fn new(batch: &'b Batch<'a>, path: &str, kept: Option<&Chunk>) -> Self {
        let start = kept.map_or(0, Chunk::end);
        let before = kept.map(|chunk| Hash(chunk.hash));
        let origin = Origin { path: path.to_owned(), project: String::new(), start, before, pieces: Vec::new() };
        Self {
            batch,
            cutter: Cutter::default(),
            run: Contents::default(),
            run_start: start,
            origin,
            kept: kept.cloned(),
            start,
            chunks: Vec::new(),
            is_new: false,
        }
    }

    /// Takes more of the file in.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        let mut cutter = std::mem::take(&mut self.cutter);
        cutter.feed(bytes, |piece| self.keep(piece))?;
        self.cutter = cutter;
        Ok(())
    }

    /// The pieces, the last one too. `project` is the folder that the file's session worked in; empty when it is not known.
    pub fn finish(mut self, project: &str) -> Result<Vec<Chunk>> {
        let cutter = std::mem::take(&mut self.cutter);
        cutter.finish(|piece| self.keep(piece))?;
        self.batch.put(&self.origin.path, self.run_start, &self.run)?;
        let all: Vec<&Chunk> = self.kept.iter().chain(&self.chunks).collect();
        // A copy of what is known needs no word: its place stands in the manifest.
        if self.is_new || !self.batch.archive.db.read(|rows| rows.is_in_a_file(&all))? {
            project.clone_into(&mut self.origin.project);
            self.origin.pieces = self.chunks.iter().map(|chunk| (Hash(chunk.hash), chunk.bytes)).collect();
            self.batch.state().files.push(self.origin);
        }
        Ok(self.chunks)
    }

    fn keep(&mut self, piece: &[u8]) -> Result<()> {
        let hash: [u8; 32] = Sha256::digest(piece).into();
        let start = self.start;
        let chunk = Chunk { start, bytes: piece.len() as u64, hash, place: None };
        self.start = chunk.end();
        self.chunks.push(chunk);
        if self.batch.archive.place_of(&hash)?.is_some() {
            return Ok(());
        }
        self.is_new = true;
        if self.run.pieces.is_empty() {
            self.run_start = start;
        }
        self.run.push(hash, piece);
        if self.run.bytes.len() >= RUN {
            let run = std::mem::take(&mut self.run);
            self.batch.put(&self.origin.path, self.run_start, &run)?;
        }
        Ok(())
    }
}
