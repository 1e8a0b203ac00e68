//! What the database can tell of its own soundness.

use super::{Rows, failed};
use crate::error::Result;

/// Problems are named up to so many.
const MOST: u32 = 20;

impl Rows<'_> {
    /// What SQLite finds wrong with the file and with references between rows; empty when it is sound.
    pub fn faults(&self) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        let mut statement = self.connection.prepare(&format!("PRAGMA integrity_check({MOST})")).map_err(failed)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        for row in rows {
            let row = row.map_err(failed)?;
            if row != "ok" {
                faults.push(row);
            }
        }
        let mut statement = self.connection.prepare("PRAGMA foreign_key_check").map_err(failed)?;
        let rows =
            statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(2)?))).map_err(failed)?;
        for row in rows.take(MOST as usize) {
            let (table, parent) = row.map_err(failed)?;
            faults.push(format!("a row of `{table}` names one of `{parent}` that is not there"));
        }
        Ok(faults)
    }

    /// Files whose pieces are not what their watermark says, each with its session and its name.
    pub fn uneven_files(&self) -> Result<Vec<(i64, String)>> {
        let mut statement = self
            .connection
            .prepare(
                "SELECT f.file_id, f.session_id || ': ' || f.name FROM file f
                 LEFT JOIN (SELECT file_id, count(*) AS pieces, sum(bytes) AS bytes, max(start + bytes) AS reach
                            FROM file_chunk GROUP BY file_id) c USING (file_id)
                 WHERE ifnull(c.bytes, 0) <> f.bytes OR ifnull(c.reach, 0) <> f.bytes OR f.parsed_bytes > f.bytes",
            )
            .map_err(failed)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Forgets what was read of a file and what `stat` said of it, so that it is read anew; its session stays.
    pub fn doubt_file(&self, file_id: i64) -> Result<Vec<String>> {
        self.connection
            .execute("UPDATE file SET bytes = 0, parsed_bytes = 0 WHERE file_id = ?1", [file_id])
            .map_err(failed)?;
        self.connection.execute("DELETE FROM file_chunk WHERE file_id = ?1", [file_id]).map_err(failed)?;
        let mut statement = self
            .connection
            .prepare("UPDATE place SET modified = 0, inode = 0 WHERE file_id = ?1 RETURNING path")
            .map_err(failed)?;
        let rows = statement.query_map([file_id], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
