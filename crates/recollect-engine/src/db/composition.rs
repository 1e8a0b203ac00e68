//! Rows of compositions.

use rusqlite::params;
use serde_json::{Map, Value};

use super::{Rows, failed, from_json};
use crate::api::composition::{Composition, CompositionRequest};
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};

/// A composition as it is stored.
#[derive(Debug, Clone)]
pub struct CompositionRow {
    /// What came of it, with the sessions started from it.
    pub record: Composition,
    /// The request that makes it again.
    pub request: CompositionRequest,
}

impl Rows<'_> {
    /// Names of the compositions that take a version of a session.
    pub fn compositions_of(&self, session: &SessionId) -> Result<Vec<String>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT DISTINCT name FROM composition JOIN component USING (composition_id) WHERE session_id = ?1 ORDER BY name",
            )
            .map_err(failed)?;
        let rows = statement.query_map([session.as_str()], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The sessions that were started from compositions: the memory's own work, not the user's.
    pub fn caused_sessions(&self) -> Result<Vec<String>> {
        let mut statement =
            self.connection.prepare_cached("SELECT used_in_sessions FROM composition").map_err(failed)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        let lists: Vec<String> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
        Ok(lists.iter().flat_map(|list| from_json::<Vec<String>>(list)).collect())
    }

    /// The compositions of a project as its manifest holds them, by id.
    pub fn composition_records(&self, project: &ProjectId) -> Result<Map<String, Value>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT composition_id, record FROM composition WHERE project_id = ?1 ORDER BY created_at, composition_id")
            .map_err(failed)?;
        let rows = statement
            .query_map(params![project.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
            .map_err(failed)?;
        rows.map(|row| row.map(|(id, record)| (id, from_json(&record))).map_err(failed)).collect()
    }
}
