//! Rows of archived pieces.

use rusqlite::params;

use super::{Rows, failed};
use crate::archive::Chunk;
use crate::error::Result;

impl Rows<'_> {
    /// The pieces of a file, in order.
    pub fn file_chunks(&self, file_id: i64) -> Result<Vec<Chunk>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.start, f.bytes, f.hash, c.stored_bytes FROM file_chunk f JOIN chunk c USING (hash)
                 WHERE f.file_id = ?1 ORDER BY f.start",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([file_id], |row| {
                Ok(Chunk { start: row.get(0)?, bytes: row.get(1)?, hash: row.get(2)?, stored_bytes: row.get(3)? })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Puts the pieces of a file from the first of `chunks` on in place of what stood there; returns bytes that the archive grew by.
    pub fn put_file_chunks(&self, file_id: i64, from: u64, chunks: &[Chunk]) -> Result<u64> {
        self.connection
            .execute("DELETE FROM file_chunk WHERE file_id = ?1 AND start >= ?2", params![file_id, from])
            .map_err(failed)?;
        let mut grown = 0;
        for chunk in chunks {
            let added = self
                .connection
                .prepare_cached("INSERT OR IGNORE INTO chunk (hash, bytes, stored_bytes) VALUES (?1, ?2, ?3)")
                .and_then(|mut statement| statement.execute(params![chunk.hash, chunk.bytes, chunk.stored_bytes]))
                .map_err(failed)?;
            if added > 0 {
                grown += chunk.stored_bytes;
            }
            self.connection
                .prepare_cached("INSERT INTO file_chunk (file_id, start, bytes, hash) VALUES (?1, ?2, ?3, ?4)")
                .and_then(|mut statement| statement.execute(params![file_id, chunk.start, chunk.bytes, chunk.hash]))
                .map_err(failed)?;
        }
        Ok(grown)
    }

    /// Forgets pieces that no file uses and returns them, to be deleted on disk after the commit.
    pub fn drop_unused_chunks(&self) -> Result<Vec<Chunk>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "DELETE FROM chunk WHERE NOT EXISTS (SELECT 1 FROM file_chunk f WHERE f.hash = chunk.hash)
                 RETURNING 0, bytes, hash, stored_bytes",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| {
                Ok(Chunk { start: row.get(0)?, bytes: row.get(1)?, hash: row.get(2)?, stored_bytes: row.get(3)? })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
