//! Rows of compositions.

use rusqlite::{OptionalExtension, Row, params};
use serde_json::{Map, Value};

use super::{Rows, failed, from_json, to_json};
use crate::api::composition::{Composition, CompositionRequest};
use crate::document;
use crate::error::{Error, Result};
use crate::ids::{CompositionId, ProjectId, SessionId, VersionId};
use crate::time::Time;

/// A composition as it is stored.
#[derive(Debug, Clone)]
pub struct CompositionRow {
    /// What came of it, with the sessions started from it; its files by name.
    pub record: Composition,
    /// The request that makes it again.
    pub request: CompositionRequest,
}

const COLUMNS: &str = "record, request, used_in_sessions, composition_id";

/// The columns of a row, before their JSON is read.
type Columns = (String, String, String, String);

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn from_columns((record, request, used, id): Columns) -> Result<CompositionRow> {
    let damaged =
        |error: serde_json::Error| Error::internal(format!("the composition {id} is damaged: {error}")).because(error);
    let mut record: Composition = serde_json::from_str(&record).map_err(damaged)?;
    record.used_in_sessions = from_json(&used);
    Ok(CompositionRow { record, request: serde_json::from_str(&request).map_err(damaged)? })
}

impl CompositionRow {
    /// Reads what a manifest or a `composition.json` holds; `None` when it is none.
    pub fn from_record(record: &Value) -> Option<Self> {
        let wire = document::snake(record.clone());
        Some(Self {
            request: serde_json::from_value(wire.get("request")?.clone()).ok()?,
            record: serde_json::from_value(wire).ok()?,
        })
    }
}

impl Rows<'_> {
    /// One composition.
    pub fn composition(&self, composition: &CompositionId) -> Result<Option<CompositionRow>> {
        self.connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM composition WHERE composition_id = ?1"))
            .and_then(|mut statement| statement.query_row([composition.as_str()], columns).optional())
            .map_err(failed)?
            .map(from_columns)
            .transpose()
    }

    /// All compositions, newest first.
    pub fn compositions(&self) -> Result<Vec<CompositionRow>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM composition ORDER BY created_at DESC, composition_id"))
            .map_err(failed)?;
        let rows = statement.query_map([], columns).map_err(failed)?;
        let rows: Vec<Columns> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
        rows.into_iter().map(from_columns).collect()
    }

    /// Adds a composition, and notes on the versions and sessions that it takes that they were used.
    pub fn add_composition(&self, row: &CompositionRow) -> Result<()> {
        let record = &row.record;
        // Sessions that were started from it have a column of their own.
        let fixed = Composition { used_in_sessions: Vec::new(), ..record.clone() };
        self.connection
            .prepare_cached(
                "INSERT INTO composition (composition_id, name, project_id, created_at, request, record, used_in_sessions)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    record.composition_id.as_str(),
                    record.name,
                    record.project_id.as_str(),
                    record.created_at.millis(),
                    to_json(&row.request).unwrap_or_default(),
                    to_json(&fixed).unwrap_or_default(),
                    to_json(&record.used_in_sessions).unwrap_or_default(),
                ])
            })
            .map_err(failed)?;
        for component in &record.components {
            self.connection
                .prepare_cached(
                    "INSERT INTO component (composition_id, position, session_id, version_id) VALUES (?1, ?2, ?3, ?4)",
                )
                .and_then(|mut statement| {
                    statement.execute(params![
                        record.composition_id.as_str(),
                        component.order,
                        component.session_id.as_str(),
                        component.version_id.as_str()
                    ])
                })
                .map_err(failed)?;
            self.note_use(&component.session_id, &component.version_id, record.created_at)?;
        }
        Ok(())
    }

    /// Notes when a version, and its session, were last taken.
    fn note_use(&self, session: &SessionId, version: &VersionId, now: Time) -> Result<()> {
        self.connection
            .execute(
                "UPDATE version SET last_used = ?3 WHERE session_id = ?1 AND version_id = ?2",
                params![session.as_str(), version.as_str(), now.millis()],
            )
            .map_err(failed)?;
        self.touch_session(session, now)?;
        // It may be of another project than the composition, and stands in that one's manifest.
        match self.session(session)? {
            Some(row) => self.mark_dirty(&row.project_id),
            None => Ok(()),
        }
    }

    /// Removes a composition; its versions are free.
    pub fn remove_composition(&self, composition: &CompositionId) -> Result<()> {
        self.connection
            .execute("DELETE FROM composition WHERE composition_id = ?1", [composition.as_str()])
            .map_err(failed)?;
        Ok(())
    }

    /// Sets the sessions that were started from a composition.
    pub fn set_sessions_of_composition(&self, composition: &CompositionId, sessions: &[String]) -> Result<()> {
        self.connection
            .execute(
                "UPDATE composition SET used_in_sessions = ?2 WHERE composition_id = ?1",
                params![composition.as_str(), to_json(&sessions)?],
            )
            .map_err(failed)?;
        Ok(())
    }

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
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM composition WHERE project_id = ?1 ORDER BY created_at, composition_id"
            ))
            .map_err(failed)?;
        let rows = statement.query_map(params![project.as_str()], columns).map_err(failed)?;
        let rows: Vec<Columns> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
        let mut records = Map::new();
        for row in rows {
            let CompositionRow { record, request } = from_columns(row)?;
            let mut document = document::camel(serde_json::to_value(&record)?);
            document.as_object_mut().map(|members| members.remove("stale"));
            document["request"] = document::camel(serde_json::to_value(&request)?);
            records.insert(record.composition_id.to_string(), document);
        }
        Ok(records)
    }
}
