//! Calls of sub-agents, as the transcripts of sessions name them.

use rusqlite::{OptionalExtension, params};

use super::{Rows, failed};
use crate::error::Result;
use crate::sources::claude_code::AgentNote;

impl Rows<'_> {
    /// Notes what a line that begins at `start` says of calls. A result of another call than a known one says nothing.
    pub fn note_agent(&self, file_id: i64, note: &AgentNote, start: u64) -> Result<()> {
        match note {
            AgentNote::Called { call_id, description, task } => self
                .connection
                .prepare_cached(
                    "INSERT INTO agent_call (file_id, call_id, start, description, task) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (file_id, call_id) DO UPDATE SET description = excluded.description, task = excluded.task",
                )
                .and_then(|mut statement| statement.execute(params![file_id, call_id, start, description, task])),
            AgentNote::Reported { call_id, agent_id } => self
                .connection
                .prepare_cached(
                    "UPDATE agent_call SET agent_id = ?3, named_at = ?4 WHERE file_id = ?1 AND call_id = ?2",
                )
                .and_then(|mut statement| statement.execute(params![file_id, call_id, agent_id, start])),
        }
        .map_err(failed)?;
        Ok(())
    }

    /// The call in a transcript that started a sub-agent, with what it was for: the one whose result names it, else one with its
    /// task.
    pub fn call_of(&self, file_id: i64, agent_id: &str, task: Option<&str>) -> Result<Option<(String, String)>> {
        let named = self
            .connection
            .prepare_cached(
                "SELECT call_id, description FROM agent_call WHERE file_id = ?1 AND agent_id = ?2 ORDER BY call_id LIMIT 1",
            )
            .and_then(|mut statement| {
                statement.query_row(params![file_id, agent_id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(failed)?;
        let Some(task) = task.filter(|task| named.is_none() && !task.is_empty()) else { return Ok(named) };
        self.connection
            .prepare_cached(
                "SELECT call_id, description FROM agent_call WHERE file_id = ?1 AND agent_id IS NULL AND task = ?2
                 ORDER BY call_id LIMIT 1",
            )
            .and_then(|mut statement| {
                statement.query_row(params![file_id, task], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(failed)
    }

    /// Forgets what was said at and after `start`.
    pub(super) fn forget_agent_notes(&self, file_id: i64, start: u64) -> Result<()> {
        for forget in [
            "DELETE FROM agent_call WHERE file_id = ?1 AND start >= ?2",
            "UPDATE agent_call SET agent_id = NULL, named_at = NULL WHERE file_id = ?1 AND named_at >= ?2",
        ] {
            self.connection
                .prepare_cached(forget)
                .and_then(|mut statement| statement.execute(params![file_id, start]))
                .map_err(failed)?;
        }
        Ok(())
    }
}
