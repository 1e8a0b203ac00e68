//! Archived bytes: content-addressed pieces, compressed, each written whole before the database refers to it.

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
