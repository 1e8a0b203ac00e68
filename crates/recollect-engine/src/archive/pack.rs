//! A pack: blocks of compressed bytes, then an index that says what is in them and which files they came from.
//!
//! A pack is written whole under a temporary name, synced, renamed, and never changed. Its index alone is enough to find
//! every piece in it and to put files together again without the database. `docs/archive-format.md` describes the bytes.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::codec;
use crate::error::{Error, ErrorKind, Result};
use crate::home::{create_private, sync_folder};

/// First bytes of a pack; the digit is the version of the format.
const HEAD: &[u8; 8] = b"RCLPACK1";
/// Last bytes of a pack.
const TAIL: &[u8; 8] = b"RCLPEND1";
/// Length of the index, its SHA-256, [`TAIL`].
const TRAILER: u64 = 8 + 32 + 8;
/// Ending of a pack's name.
pub(super) const EXTENSION: &str = "pack";
/// How hard indexes are compressed: they are small, and half of them is hashes.
const INDEX_LEVEL: i32 = 9;
/// More is not read as an index: it would be damage.
const LARGEST_INDEX: usize = 1 << 30;

/// Names a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PackId(pub [u8; 16]);

impl PackId {
    fn new() -> Self {
        Self(*uuid::Uuid::new_v4().as_bytes())
    }

    /// The pack that a file is by its name.
    pub(super) fn of_path(path: &Path) -> Option<Self> {
        if path.extension()?.to_str()? != EXTENSION {
            return None;
        }
        Some(Self(*uuid::Uuid::try_parse(path.file_stem()?.to_str()?).ok()?.as_bytes()))
    }

    /// Where it is below the archive's folder.
    pub(super) fn path(&self, root: &Path) -> PathBuf {
        let name = self.to_string();
        root.join(&name[..2]).join(format!("{name}.{EXTENSION}"))
    }
}

impl std::fmt::Display for PackId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", uuid::Uuid::from_bytes(self.0).simple())
    }
}

/// A hash that is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Hash(pub [u8; 32]);

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        super::hex(&hash.0)
    }
}

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> std::result::Result<Self, Self::Error> {
        let mut hash = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err("a hash has 64 hexadecimal digits");
        }
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| "a hash is hexadecimal")?;
        }
        Ok(Self(hash))
    }
}

/// What a pack says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    /// Blocks, in order.
    pub blocks: Vec<Block>,
    /// Pieces, in order.
    pub pieces: Vec<Piece>,
    /// Files, or stretches of them, that became known with this pack.
    pub files: Vec<Origin>,
}

/// A block of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Block {
    /// Where it begins in the pack.
    pub at: u64,
    /// Its bytes in the pack, those of its length included.
    pub stored: u64,
    /// Its bytes decompressed.
    pub bytes: u64,
}

/// A piece in a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    pub sha256: Hash,
    /// Where its block begins in the pack.
    pub block: u64,
    /// Where it begins in the decompressed block.
    pub at: u64,
    pub bytes: u64,
}

/// A stretch of a file, to its end as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// Where the file was.
    pub path: String,
    /// The folder that its session worked in, when its records say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub project: String,
    /// Where the stretch begins.
    pub start: u64,
    /// The piece of the file that ends there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// Its pieces with their bytes, in order; those that are not in this pack are in an earlier one.
    pub pieces: Vec<(Hash, u64)>,
}

impl Origin {
    /// A whole file.
    pub(super) fn of(path: &str, project: &str, chunks: &[super::Chunk]) -> Self {
        Self {
            path: path.to_owned(),
            project: project.to_owned(),
            start: 0,
            before: None,
            pieces: chunks.iter().map(|chunk| (Hash(chunk.hash), chunk.bytes)).collect(),
        }
    }
}

/// A pack that is on disk and that the database does not know yet.
#[derive(Debug)]
pub(super) struct Sealed {
    pub id: PackId,
    /// Bytes of its file.
    pub bytes: u64,
    pub index: Index,
}

/// A pack that is being written.
#[derive(Debug)]
pub(super) struct PackWriter {
    root: PathBuf,
    file: NamedTempFile,
    at: u64,
    /// Decompressed bytes so far.
    pub bytes: u64,
    index: Index,
}

impl PackWriter {
    /// Begins a pack below the archive's folder.
    pub(super) fn new(root: &Path) -> Result<Self> {
        let mut file = tempfile::Builder::new().prefix(".writing-").tempfile_in(root)?;
        file.write_all(HEAD)?;
        Ok(Self { root: root.to_owned(), file, at: HEAD.len() as u64, bytes: 0, index: Index::default() })
    }

    /// Adds a compressed block with its pieces: hash, place in the block, bytes.
    pub(super) fn add(&mut self, encoded: &[u8], bytes: u64, pieces: &[([u8; 32], u64, u64)]) -> Result<()> {
        let length = u32::try_from(encoded.len()).map_err(|_| Error::internal("a block of more than 4 GB"))?;
        self.file.write_all(&length.to_le_bytes())?;
        self.file.write_all(encoded)?;
        let stored = 4 + u64::from(length);
        self.index.blocks.push(Block { at: self.at, stored, bytes });
        let block = self.at;
        self.index.pieces.extend(pieces.iter().map(|(hash, at, bytes)| Piece {
            sha256: Hash(*hash),
            block,
            at: *at,
            bytes: *bytes,
        }));
        self.at += stored;
        self.bytes += bytes;
        Ok(())
    }

    /// Completes it: after this it is on disk under its name, whatever happens. `announce` is told the name before.
    pub(super) fn seal(mut self, files: Vec<Origin>, announce: impl FnOnce(PackId) -> Result<()>) -> Result<Sealed> {
        self.index.files = files;
        let index = zstd::bulk::compress(&serde_json::to_vec(&self.index)?, INDEX_LEVEL)?;
        self.file.write_all(&index)?;
        self.file.write_all(&(index.len() as u64).to_le_bytes())?;
        self.file.write_all(&Sha256::digest(&index))?;
        self.file.write_all(TAIL)?;
        self.file.as_file().sync_all()?;
        let id = PackId::new();
        let path = id.path(&self.root);
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        create_private(&folder)?;
        announce(id)?;
        self.file.persist_noclobber(&path).map_err(|error| error.error)?;
        sync_folder(&folder)?;
        Ok(Sealed { id, bytes: self.at + index.len() as u64 + TRAILER, index: self.index })
    }
}

/// Reads a block of a pack.
pub(super) fn read_block(path: &Path, at: u64) -> Result<Vec<u8>> {
    let mut file = fs_err::File::open(path)?;
    file.seek(SeekFrom::Start(at))?;
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    // Read no more than there is: the length may be damaged.
    let mut stored = Vec::new();
    file.take(u64::from(length)).read_to_end(&mut stored)?;
    let whole = u64::from(length) == stored.len() as u64;
    codec::decode(&stored).filter(|_| whole).ok_or_else(|| damaged(path, "a block of it does not decompress"))
}

/// Reads what a pack says of itself.
pub(super) fn read_index(path: &Path) -> Result<Index> {
    let mut file = fs_err::File::open(path)?;
    let length = file.metadata()?.len();
    let mut head = [0; HEAD.len()];
    if length < HEAD.len() as u64 + TRAILER {
        return Err(damaged(path, "it is cut off"));
    }
    file.read_exact(&mut head)?;
    if &head != HEAD {
        if head.starts_with(b"RCLPACK") && head[7] > HEAD[7] && head[7].is_ascii_digit() {
            let message = format!("the pack `{}` was written by a newer program", path.display());
            return Err(Error::new(ErrorKind::NewerMemory, message).hint("update Recollect; it was left as it is"));
        }
        return Err(damaged(path, "it is no pack of a version that this program knows"));
    }
    file.seek(SeekFrom::End(-(TRAILER.cast_signed())))?;
    let mut trailer = [0; TRAILER as usize];
    file.read_exact(&mut trailer)?;
    let (size, rest) = trailer.split_at(8);
    let (hash, tail) = rest.split_at(32);
    if tail != TAIL {
        return Err(damaged(path, "it is cut off"));
    }
    let size = u64::from_le_bytes(size.try_into().unwrap_or_default());
    let start = (length - TRAILER).checked_sub(size).ok_or_else(|| damaged(path, "its index is damaged"))?;
    file.seek(SeekFrom::Start(start))?;
    let mut stored = Vec::new();
    file.take(size).read_to_end(&mut stored)?;
    if Sha256::digest(&stored)[..] != *hash {
        return Err(damaged(path, "its index is damaged"));
    }
    let json = zstd::stream::decode_all(std::io::Read::take(stored.as_slice(), LARGEST_INDEX as u64))
        .map_err(|error| damaged(path, "its index is damaged").because(error))?;
    serde_json::from_slice(&json).map_err(|error| damaged(path, "its index is damaged").because(error))
}

/// A pack that does not hold what it should.
pub(super) fn damaged(path: &Path, how: &str) -> Error {
    Error::new(ErrorKind::Io, format!("the pack `{}` is damaged: {how}", path.display()))
        .hint("ingest the original again if it still exists; everything in other packs is unaffected")
}
