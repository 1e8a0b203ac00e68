//! What another installation of the dedup store had seen: taken over by `import`, given on by `export`.

use rusqlite::{OptionalExtension, params};

use super::{Rows, failed};
use crate::error::Result;

impl Rows<'_> {
    /// Takes a hash over; whether it is new.
    pub fn import_hash(&self, hash: &[u8; 32]) -> Result<bool> {
        self.connection
            .prepare_cached("INSERT OR IGNORE INTO imported_hash (hash) VALUES (?1)")
            .and_then(|mut statement| statement.execute([hash]))
            .map(|changed| changed > 0)
            .map_err(failed)
    }

    /// Takes over how many messages of a session had been seen; never fewer than before. Whether that is new.
    pub fn import_watermark(&self, session: &str, messages: u64) -> Result<bool> {
        self.connection
            .prepare_cached(
                "INSERT INTO imported_watermark (session, messages) VALUES (?1, ?2)
                 ON CONFLICT (session) DO UPDATE SET messages = excluded.messages WHERE excluded.messages > messages",
            )
            .and_then(|mut statement| statement.execute(params![session, messages]))
            .map(|changed| changed > 0)
            .map_err(failed)
    }

    /// How many messages of a session another installation had seen.
    pub fn watermark(&self, session: &str) -> Result<Option<u64>> {
        self.connection
            .prepare_cached("SELECT messages FROM imported_watermark WHERE session = ?1")
            .and_then(|mut statement| statement.query_row([session], |row| row.get(0)).optional())
            .map_err(failed)
    }

    /// All watermarks taken over, by session.
    pub fn watermarks(&self) -> Result<Vec<(String, u64)>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT session, messages FROM imported_watermark ORDER BY session")
            .map_err(failed)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Whether a message with this content was seen by an installation that was taken over.
    pub fn was_imported(&self, hash: &[u8; 32]) -> Result<bool> {
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM imported_hash WHERE hash = ?1)")
            .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)))
            .map_err(failed)
    }

    /// Hashes that were taken over, in order.
    pub fn imported_hashes(&self) -> Result<Vec<[u8; 32]>> {
        let mut statement =
            self.connection.prepare_cached("SELECT hash FROM imported_hash ORDER BY hash").map_err(failed)?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Every hash that is known, each once, in order.
    pub fn all_hashes(&self) -> Result<Vec<[u8; 32]>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT hash FROM message UNION SELECT hash FROM imported_hash ORDER BY 1")
            .map_err(failed)?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
