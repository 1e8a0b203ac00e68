//! What sessions and pieces of the archive take, and versions that nothing uses.

use super::{Rows, failed};
use crate::api::storage::UnusedVersion;
use crate::archive::PackId;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId, VersionId};
use crate::time::Time;

/// A session with the sums of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFiles {
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Its project.
    pub project_id: ProjectId,
    /// The project's name.
    pub project: String,
    /// The project's path.
    pub project_path: String,
    /// The month of its last message in UTC, `2026-01`; none without a time.
    pub month: Option<String>,
    /// Its last message.
    pub last_timestamp: Option<Time>,
    /// An export that a transcript holds too: it counts neither as a session nor with its messages.
    pub is_twin: bool,
    /// Messages of its files.
    pub messages: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

/// A piece of the archive as one file uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceUse {
    /// Which piece.
    pub hash: [u8; 32],
    /// Its bytes.
    pub bytes: u64,
    /// Its pack, and where its block begins in it; none when it was lost.
    pub block: Option<(PackId, u64)>,
    /// The file; none when no file of a session in memory uses it.
    pub file_id: Option<i64>,
}

impl Rows<'_> {
    /// All sessions, largest first.
    pub fn session_files(&self) -> Result<Vec<SessionFiles>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "WITH whole AS MATERIALIZED (SELECT session_id, sum(bytes) AS bytes, sum(messages) AS messages FROM file GROUP BY session_id)
                 SELECT s.session_id, ifnull(s.user_title, s.title), s.project_id, p.display_name, p.original_path,
                    strftime('%Y-%m', s.last_timestamp / 1000, 'unixepoch'), s.last_timestamp, s.paired_with IS NOT NULL,
                    ifnull(w.messages, 0), ifnull(w.bytes, 0)
                 FROM session s JOIN project p USING (project_id) LEFT JOIN whole w USING (session_id)
                 ORDER BY 10 DESC, s.session_id",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| {
                Ok(SessionFiles {
                    session_id: SessionId::new(row.get::<_, String>(0)?),
                    title: row.get(1)?,
                    project_id: ProjectId::new(row.get::<_, String>(2)?),
                    project: row.get(3)?,
                    project_path: row.get(4)?,
                    month: row.get(5)?,
                    last_timestamp: row.get::<_, Option<i64>>(6)?.map(Time::from_millis),
                    is_twin: row.get(7)?,
                    messages: row.get(8)?,
                    bytes: row.get(9)?,
                })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Files with their sessions: those of the session whose last message is the oldest first; without a time last.
    pub fn files_by_age(&self) -> Result<Vec<(i64, SessionId)>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.file_id, f.session_id FROM file f JOIN session s USING (session_id)
                 ORDER BY s.last_timestamp IS NULL, s.last_timestamp, f.file_id",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, SessionId::new(row.get::<_, String>(1)?))))
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Tells of all pieces and the files that use them; all uses of a piece come one after the other.
    pub fn each_piece_use(&self, mut tell: impl FnMut(PieceUse)) -> Result<()> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT c.hash, c.bytes, c.pack, c.block, f.file_id FROM chunk c LEFT JOIN file_chunk f ON f.hash = c.hash
                 ORDER BY c.hash",
            )
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let read = || -> rusqlite::Result<PieceUse> {
                let pack: Option<[u8; 16]> = row.get(2)?;
                let block = match pack {
                    Some(pack) => Some((PackId(pack), row.get(3)?)),
                    None => None,
                };
                Ok(PieceUse { hash: row.get(0)?, bytes: row.get(1)?, block, file_id: row.get(4)? })
            };
            tell(read().map_err(failed)?);
        }
        Ok(())
    }

    /// Bytes of all compressed versions.
    pub fn version_bytes(&self) -> Result<u64> {
        self.connection.query_row("SELECT ifnull(sum(bytes), 0) FROM version", [], |row| row.get(0)).map_err(failed)
    }

    /// Versions that no composition ever took, largest first.
    pub fn unused_versions(&self) -> Result<Vec<UnusedVersion>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT v.session_id, ifnull(s.user_title, s.title), v.version_id, v.created_at, v.output_tokens, v.bytes
                 FROM version v JOIN session s USING (session_id)
                 WHERE v.last_used IS NULL AND NOT EXISTS
                    (SELECT 1 FROM component c WHERE c.session_id = v.session_id AND c.version_id = v.version_id)
                 ORDER BY v.bytes DESC, v.session_id, v.number",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| {
                Ok(UnusedVersion {
                    session_id: SessionId::new(row.get::<_, String>(0)?),
                    session_title: row.get(1)?,
                    version_id: VersionId::new(row.get::<_, String>(2)?),
                    created_at: Time::from_millis(row.get(3)?),
                    output_tokens: row.get(4)?,
                    bytes: row.get(5)?,
                })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
