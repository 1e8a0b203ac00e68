//! Rows of archived pieces and of the packs that they are in.

use rusqlite::{OptionalExtension, Row, params};

use super::{Rows, failed};
use crate::archive::{Chunk, Content, PackId, Place};
use crate::error::{Error, Result};
use crate::time::Time;

/// A pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackRow {
    /// Its name.
    pub id: PackId,
    /// Bytes of its file.
    pub bytes: u64,
    /// Bytes of its pieces when it was written.
    pub original_bytes: u64,
    /// Holds bytes that were purged: it is to be written anew without them.
    pub purged: bool,
    /// When other packs took its place; it is deleted once nobody can be reading it.
    pub retired_at: Option<Time>,
}

fn chunk_from_row(row: &Row<'_>) -> rusqlite::Result<Chunk> {
    let pack: Option<[u8; 16]> = row.get(3)?;
    let place = match pack {
        Some(pack) => Some(Place { pack: PackId(pack), block: row.get(4)?, at: row.get(5)? }),
        None => None,
    };
    Ok(Chunk { start: row.get(0)?, bytes: row.get(1)?, hash: row.get(2)?, place })
}

impl Rows<'_> {
    /// The pieces of a file, in order.
    pub fn file_chunks(&self, file_id: i64) -> Result<Vec<Chunk>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.start, f.bytes, f.hash, c.pack, c.block, c.at FROM file_chunk f JOIN chunk c USING (hash)
                 WHERE f.file_id = ?1 ORDER BY f.start",
            )
            .map_err(failed)?;
        let rows = statement.query_map([file_id], chunk_from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The pieces of a file that hold its bytes from `start` to `end`, in order; whatever the file's length.
    pub fn chunks_between(&self, file_id: i64, start: u64, end: u64) -> Result<Vec<Chunk>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.start, f.bytes, f.hash, c.pack, c.block, c.at FROM file_chunk f JOIN chunk c USING (hash)
                 WHERE f.file_id = ?1 AND f.start < ?3 AND f.start >= ifnull(
                     (SELECT max(start) FROM file_chunk WHERE file_id = ?1 AND start <= ?2), 0)
                 ORDER BY f.start",
            )
            .map_err(failed)?;
        let rows = statement.query_map(params![file_id, start, end], chunk_from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The last pieces of a file, at most `count`, in order; whatever the file's length.
    pub fn last_chunks(&self, file_id: i64, count: u32) -> Result<Vec<Chunk>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.start, f.bytes, f.hash, c.pack, c.block, c.at FROM file_chunk f JOIN chunk c USING (hash)
                 WHERE f.file_id = ?1 ORDER BY f.start DESC LIMIT ?2",
            )
            .map_err(failed)?;
        let rows = statement.query_map(params![file_id, count], chunk_from_row).map_err(failed)?;
        let mut chunks: Vec<Chunk> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
        chunks.reverse();
        Ok(chunks)
    }

    /// The pieces of a file in which some places are, in order, each once.
    pub fn chunks_at(&self, file_id: i64, places: &[u64]) -> Result<Vec<Chunk>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.start, f.bytes, f.hash, c.pack, c.block, c.at FROM file_chunk f JOIN chunk c USING (hash)
                 WHERE f.file_id = ?1 AND f.start <= ?2 ORDER BY f.start DESC LIMIT 1",
            )
            .map_err(failed)?;
        let mut chunks: Vec<Chunk> = Vec::new();
        for place in places {
            chunks.extend(statement.query_row(params![file_id, place], chunk_from_row).optional().map_err(failed)?);
        }
        chunks.sort_by_key(|chunk| chunk.start);
        chunks.dedup_by_key(|chunk| chunk.start);
        Ok(chunks)
    }

    /// Puts the pieces of a file from `from` on in place of what stood there. Those that the file alone needed are forgotten.
    ///
    /// # Errors
    /// `Conflict` when another program purged a piece since it was found to be archived: the file is to be read again.
    pub fn put_file_chunks(&self, file_id: i64, from: u64, chunks: &[Chunk]) -> Result<()> {
        let mut replaced = self
            .connection
            .prepare_cached("DELETE FROM file_chunk WHERE file_id = ?1 AND start >= ?2 RETURNING start, hash")
            .map_err(failed)?;
        let replaced: Vec<(u64, [u8; 32])> = replaced
            .query_map(params![file_id, from], |row| Ok((row.get(0)?, row.get(1)?)))
            .and_then(Iterator::collect)
            .map_err(failed)?;
        let mut content = self.file_content(file_id)?;
        replaced.iter().for_each(|(start, hash)| content.toggle(*start, hash));
        for chunk in chunks {
            if self.piece(&chunk.hash)?.is_none() {
                return Err(Error::conflict("archived bytes were removed by another program meanwhile")
                    .hint("try again: the file will be read anew"));
            }
            self.connection
                .prepare_cached("INSERT INTO file_chunk (file_id, start, bytes, hash) VALUES (?1, ?2, ?3, ?4)")
                .and_then(|mut statement| statement.execute(params![file_id, chunk.start, chunk.bytes, chunk.hash]))
                .map_err(failed)?;
            content.toggle(chunk.start, &chunk.hash);
        }
        self.set_file_content(file_id, content)?;
        for (_, hash) in &replaced {
            self.drop_unused_chunk(hash)?;
        }
        Ok(())
    }

    /// What tells the pieces of a file from those of others.
    pub fn file_content(&self, file_id: i64) -> Result<Content> {
        self.connection
            .prepare_cached("SELECT content FROM file WHERE file_id = ?1")
            .and_then(|mut statement| statement.query_row([file_id], |row| row.get(0)))
            .map(Content)
            .map_err(failed)
    }

    /// Notes what tells the pieces of a file from those of others.
    pub fn set_file_content(&self, file_id: i64, content: Content) -> Result<()> {
        self.connection
            .prepare_cached("UPDATE file SET content = ?2 WHERE file_id = ?1")
            .and_then(|mut statement| statement.execute(params![file_id, content.0]))
            .map_err(failed)?;
        Ok(())
    }

    /// Notes that a piece is known by name and is nowhere: its pack was lost.
    pub fn put_lost_chunk(&self, hash: &[u8; 32], bytes: u64) -> Result<()> {
        self.connection
            .prepare_cached("INSERT OR IGNORE INTO chunk (hash, bytes) VALUES (?1, ?2)")
            .and_then(|mut statement| statement.execute(params![hash, bytes]))
            .map_err(failed)?;
        Ok(())
    }

    /// The piece with this hash, its place in a file left at 0.
    pub fn piece(&self, hash: &[u8; 32]) -> Result<Option<Chunk>> {
        self.connection
            .prepare_cached("SELECT 0, bytes, hash, pack, block, at FROM chunk WHERE hash = ?1")
            .and_then(|mut statement| statement.query_row([hash], chunk_from_row).optional())
            .map_err(failed)
    }

    /// Whether some file has these pieces at these places.
    pub fn is_in_a_file(&self, chunks: &[&Chunk]) -> Result<bool> {
        let Some(first) = chunks.first() else { return Ok(true) };
        let mut files = self
            .connection
            .prepare_cached("SELECT file_id FROM file_chunk WHERE hash = ?1 AND start = ?2")
            .map_err(failed)?;
        let files: Vec<i64> = files
            .query_map(params![first.hash, first.start], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(failed)?;
        for file_id in files {
            let mut all = true;
            for chunk in &chunks[1..] {
                all = self
                    .connection
                    .prepare_cached("SELECT 1 FROM file_chunk WHERE file_id = ?1 AND start = ?2 AND hash = ?3")
                    .and_then(|mut statement| statement.exists(params![file_id, chunk.start, chunk.hash]))
                    .map_err(failed)?;
                if !all {
                    break;
                }
            }
            if all {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Notes that a pack's file is about to get its name.
    pub fn announce_pack(&self, id: PackId) -> Result<()> {
        self.connection
            .prepare_cached("INSERT INTO pack (pack, bytes, original_bytes, announced) VALUES (?1, 0, 0, 1)")
            .and_then(|mut statement| statement.execute([id.0]))
            .map_err(failed)?;
        Ok(())
    }

    /// Packs that were announced and are not known yet: they are being written, or their writer was killed.
    pub fn announced_packs(&self) -> Result<Vec<PackId>> {
        let mut statement =
            self.connection.prepare_cached("SELECT pack FROM pack WHERE announced ORDER BY number").map_err(failed)?;
        let rows = statement.query_map([], |row| Ok(PackId(row.get(0)?))).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Makes a pack known with its pieces. One that is known elsewhere stays there, unless it was lost.
    pub fn put_pack(&self, id: PackId, bytes: u64, original_bytes: u64, pieces: &[Chunk]) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO pack (pack, bytes, original_bytes) VALUES (?1, ?2, ?3)
                 ON CONFLICT (pack) DO UPDATE SET
                    bytes = excluded.bytes, original_bytes = excluded.original_bytes, announced = 0
                 WHERE announced",
            )
            .and_then(|mut statement| statement.execute(params![id.0, bytes, original_bytes]))
            .map_err(failed)?;
        for chunk in pieces {
            let Some(place) = chunk.place else { continue };
            self.connection
                .prepare_cached(
                    "INSERT INTO chunk (hash, bytes, pack, block, at) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (hash) DO UPDATE SET pack = excluded.pack, block = excluded.block, at = excluded.at
                     WHERE pack IS NULL",
                )
                .and_then(|mut statement| {
                    statement.execute(params![chunk.hash, chunk.bytes, place.pack.0, place.block, place.at])
                })
                .map_err(failed)?;
        }
        Ok(())
    }

    /// All packs that are known, the oldest first.
    pub fn packs(&self) -> Result<Vec<PackRow>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT pack, bytes, original_bytes, purged, retired_at FROM pack WHERE NOT announced ORDER BY number",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| {
                Ok(PackRow {
                    id: PackId(row.get(0)?),
                    bytes: row.get(1)?,
                    original_bytes: row.get(2)?,
                    purged: row.get(3)?,
                    retired_at: row.get::<_, Option<i64>>(4)?.map(Time::from_millis),
                })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Bytes of a pack's pieces that are needed from it.
    pub fn live_bytes(&self, id: PackId) -> Result<u64> {
        self.connection
            .prepare_cached("SELECT ifnull(sum(bytes), 0) FROM chunk WHERE pack = ?1")
            .and_then(|mut statement| statement.query_row([id.0], |row| row.get(0)))
            .map_err(failed)
    }

    /// How many pieces are nowhere any more.
    pub fn lost_chunks(&self) -> Result<u64> {
        self.connection.query_row("SELECT count(*) FROM chunk WHERE pack IS NULL", [], |row| row.get(0)).map_err(failed)
    }

    /// Files that have pieces in a pack: one place of each, its project's path, and all its pieces.
    pub fn files_in_pack(&self, id: PackId) -> Result<Vec<(String, String, Vec<Chunk>)>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.file_id, (SELECT path FROM place p WHERE p.file_id = f.file_id ORDER BY seen_at DESC, path LIMIT 1),
                    (SELECT original_path FROM project JOIN session USING (project_id) WHERE session_id = f.session_id)
                 FROM file f WHERE file_id IN (SELECT file_id FROM file_chunk JOIN chunk USING (hash) WHERE pack = ?1)",
            )
            .map_err(failed)?;
        let files: Vec<(i64, Option<String>, Option<String>)> = statement
            .query_map([id.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .and_then(Iterator::collect)
            .map_err(failed)?;
        let mut found = Vec::new();
        for (file_id, path, project) in files {
            if let Some(path) = path {
                found.push((path, project.unwrap_or_default(), self.file_chunks(file_id)?));
            }
        }
        Ok(found)
    }

    /// Places of files of which pieces were lost; what `stat` said of them is forgotten, so that they are read anew.
    pub fn suspect_places(&self) -> Result<Vec<String>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "UPDATE place SET modified = 0, inode = 0 WHERE file_id IN
                    (SELECT file_id FROM file_chunk JOIN chunk USING (hash) WHERE pack IS NULL) RETURNING path",
            )
            .map_err(failed)?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The pieces that are needed from a pack, in order.
    pub fn pack_chunks(&self, id: PackId) -> Result<Vec<Chunk>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT 0, bytes, hash, pack, block, at FROM chunk WHERE pack = ?1 ORDER BY block, at")
            .map_err(failed)?;
        let rows = statement.query_map([id.0], chunk_from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Moves a piece from one pack to another; `false` when it is no longer there.
    pub fn move_chunk(&self, from: PackId, chunk: &Chunk) -> Result<bool> {
        let Some(place) = chunk.place else { return Ok(false) };
        let moved = self
            .connection
            .prepare_cached("UPDATE chunk SET pack = ?3, block = ?4, at = ?5 WHERE hash = ?1 AND pack = ?2")
            .and_then(|mut statement| {
                statement.execute(params![chunk.hash, from.0, place.pack.0, place.block, place.at])
            })
            .map_err(failed)?;
        Ok(moved == 1)
    }

    /// Notes that other packs took a pack's place.
    pub fn retire_pack(&self, id: PackId, now: Time) -> Result<()> {
        self.connection
            .execute("UPDATE pack SET retired_at = ?2, purged = 0 WHERE pack = ?1", params![id.0, now.millis()])
            .map_err(failed)?;
        Ok(())
    }

    /// Forgets a pack whose file is gone; pieces that should be in it are lost.
    pub fn drop_pack(&self, id: PackId) -> Result<()> {
        self.connection.execute("UPDATE chunk SET pack = NULL WHERE pack = ?1", [id.0]).map_err(failed)?;
        self.connection.execute("DELETE FROM pack WHERE pack = ?1", [id.0]).map_err(failed)?;
        Ok(())
    }

    /// Forgets that a pack was announced; one that became known meanwhile stays.
    pub fn drop_announced(&self, id: PackId) -> Result<()> {
        self.connection.execute("DELETE FROM pack WHERE pack = ?1 AND announced", [id.0]).map_err(failed)?;
        Ok(())
    }

    /// Notes that a piece cannot be read any more: it is archived again when it is met again.
    pub fn lose_chunk(&self, hash: &[u8; 32]) -> Result<()> {
        self.connection.execute("UPDATE chunk SET pack = NULL WHERE hash = ?1", [hash]).map_err(failed)?;
        Ok(())
    }

    /// Forgets pieces of a removed session that no other file uses; their packs are to be written anew without them.
    pub fn purge_chunks(&self, hashes: &[[u8; 32]]) -> Result<()> {
        for hash in hashes {
            if let Some(pack) = self.drop_unused_chunk(hash)? {
                self.connection.execute("UPDATE pack SET purged = 1 WHERE pack = ?1", [pack]).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Forgets a piece that no file uses; returns the pack that it is in.
    fn drop_unused_chunk(&self, hash: &[u8; 32]) -> Result<Option<[u8; 16]>> {
        self.connection
            .prepare_cached(
                "DELETE FROM chunk WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM file_chunk f WHERE f.hash = ?1)
                 RETURNING pack",
            )
            .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)).optional())
            .map(Option::flatten)
            .map_err(failed)
    }
}
