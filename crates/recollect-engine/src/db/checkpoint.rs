//! What each session is now, for checkpoints.

use sha2::{Digest, Sha256};

use super::{Rows, failed};
use crate::api::checkpoint::SessionState;
use crate::archive::hex;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};

impl Rows<'_> {
    /// The state of every session, by id. Reads which pieces their files have, not the pieces.
    pub fn session_states(&self) -> Result<Vec<SessionState>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT session_id, project_id, ifnull(user_title, title), messages,
                    (SELECT ifnull(sum(bytes), 0) FROM file WHERE file.session_id = session.session_id),
                    (SELECT count(*) FROM keepit WHERE keepit.session_id = session.session_id AND NOT removed),
                    (SELECT count(*) FROM version WHERE version.session_id = session.session_id)
                 FROM session ORDER BY session_id",
            )
            .map_err(failed)?;
        let states = statement
            .query_map([], |row| {
                Ok(SessionState {
                    session_id: SessionId::new(row.get::<_, String>(0)?),
                    project_id: ProjectId::new(row.get::<_, String>(1)?),
                    title: row.get(2)?,
                    messages: row.get(3)?,
                    bytes: row.get(4)?,
                    keepits: row.get(5)?,
                    versions: row.get(6)?,
                    content: String::new(),
                })
            })
            .map_err(failed)?;
        let mut states = states.collect::<rusqlite::Result<Vec<_>>>().map_err(failed)?;
        for state in &mut states {
            state.content = self.session_content(&state.session_id)?;
        }
        Ok(states)
    }

    /// SHA-256 over the names of a session's files and the hashes of their pieces.
    fn session_content(&self, session: &SessionId) -> Result<String> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.name, c.hash FROM file f JOIN file_chunk c USING (file_id)
                 WHERE f.session_id = ?1 ORDER BY f.name, c.start",
            )
            .map_err(failed)?;
        let mut rows = statement.query([session.as_str()]).map_err(failed)?;
        let mut content = Sha256::new();
        while let Some(row) = rows.next().map_err(failed)? {
            content.update(row.get::<_, String>(0).map_err(failed)?);
            content.update([0]);
            content.update(row.get::<_, [u8; 32]>(1).map_err(failed)?);
        }
        Ok(hex(&content.finalize().into()))
    }
}
