//! Rows of projects.

use rusqlite::{OptionalExtension, Row, params};

use super::{Rows, failed};
use crate::error::Result;
use crate::ids::ProjectId;
use crate::time::Time;

/// A project without its sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// Its id.
    pub project_id: ProjectId,
    /// Its path; empty when no record named one.
    pub original_path: String,
    /// The last part of the path.
    pub display_name: String,
    /// When it was first seen.
    pub created_at: Time,
    /// When a session of it was last used.
    pub last_accessed: Time,
}

/// A project with the sums over its sessions.
#[derive(Debug, Clone)]
pub struct ProjectSums {
    /// The project.
    pub project: ProjectRow,
    /// Its sessions.
    pub sessions: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Its newest message.
    pub last_timestamp: Option<Time>,
}

const COLUMNS: &str = "project_id, original_path, display_name, created_at, last_accessed";

fn from_row(row: &Row<'_>) -> rusqlite::Result<ProjectRow> {
    Ok(ProjectRow {
        project_id: row.get::<_, String>(0)?.into(),
        original_path: row.get(1)?,
        display_name: row.get(2)?,
        created_at: Time::from_millis(row.get(3)?),
        last_accessed: Time::from_millis(row.get(4)?),
    })
}

impl Rows<'_> {
    /// One project.
    pub fn project(&self, project: &ProjectId) -> Result<Option<ProjectRow>> {
        self.connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM project WHERE project_id = ?1"))
            .and_then(|mut statement| statement.query_row([project.as_str()], from_row).optional())
            .map_err(failed)
    }

    /// Projects that hold sessions, most recent first.
    pub fn projects(&self) -> Result<Vec<ProjectSums>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT p.project_id, p.original_path, p.display_name, p.created_at, p.last_accessed,
                        count(*) FILTER (WHERE s.paired_with IS NULL), ifnull(sum(s.tokens) FILTER (WHERE s.paired_with IS NULL), 0),
                        max(s.last_timestamp)
                 FROM project p JOIN session s USING (project_id)
                 GROUP BY p.project_id ORDER BY max(s.last_timestamp) DESC NULLS LAST, p.project_id",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| {
                Ok(ProjectSums {
                    project: from_row(row)?,
                    sessions: row.get(5)?,
                    tokens: row.get(6)?,
                    last_timestamp: row.get::<_, Option<i64>>(7)?.map(Time::from_millis),
                })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Adds a project; one that is there keeps its path unless it had none.
    pub fn put_project(&self, project: &ProjectRow) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO project (project_id, original_path, display_name, created_at, last_accessed, dirty)
                 VALUES (?1, ?2, ?3, ?4, ?5, 1)
                 ON CONFLICT (project_id) DO UPDATE SET
                    original_path = iif(project.original_path = '', excluded.original_path, project.original_path),
                    display_name = iif(project.original_path = '', excluded.display_name, project.display_name)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    project.project_id.as_str(),
                    project.original_path,
                    project.display_name,
                    project.created_at.millis(),
                    project.last_accessed.millis()
                ])
            })
            .map_err(failed)?;
        Ok(())
    }

    /// Makes a project what is given, whatever was known of it.
    pub fn set_project(&self, project: &ProjectRow) -> Result<()> {
        self.put_project(project)?;
        self.connection
            .prepare_cached(
                "UPDATE project SET original_path = ?2, display_name = ?3, created_at = ?4, last_accessed = ?5
                 WHERE project_id = ?1",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    project.project_id.as_str(),
                    project.original_path,
                    project.display_name,
                    project.created_at.millis(),
                    project.last_accessed.millis()
                ])
            })
            .map_err(failed)?;
        Ok(())
    }

    /// Every project, those without sessions too.
    pub fn all_projects(&self) -> Result<Vec<ProjectId>> {
        let mut statement =
            self.connection.prepare_cached("SELECT project_id FROM project ORDER BY project_id").map_err(failed)?;
        let rows = statement.query_map([], |row| Ok(row.get::<_, String>(0)?.into())).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Forgets a project without sessions.
    pub fn drop_project(&self, project: &ProjectId) -> Result<()> {
        self.connection.execute("DELETE FROM project WHERE project_id = ?1", [project.as_str()]).map_err(failed)?;
        Ok(())
    }

    /// Notes that the files that mirror a project are behind; do it in the transaction of the change.
    pub fn mark_dirty(&self, project: &ProjectId) -> Result<()> {
        self.connection
            .execute("UPDATE project SET dirty = dirty + 1 WHERE project_id = ?1", [project.as_str()])
            .map_err(failed)?;
        Ok(())
    }

    /// Projects whose files are behind, with the count of changes seen.
    pub fn dirty_projects(&self) -> Result<Vec<(ProjectId, i64)>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT project_id, dirty FROM project WHERE dirty > 0 ORDER BY project_id")
            .map_err(failed)?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?.into(), row.get(1)?))).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Notes that a project's files say what the database said at `seen`; changes made since leave it dirty.
    pub fn clear_dirty(&self, project: &ProjectId, seen: i64) -> Result<()> {
        self.connection
            .execute(
                "UPDATE project SET dirty = 0 WHERE project_id = ?1 AND dirty = ?2",
                params![project.as_str(), seen],
            )
            .map_err(failed)?;
        Ok(())
    }
}
