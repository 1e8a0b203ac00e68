//! Marks that differ when something that faces show was changed, for those who did not change it.

use super::{Rows, failed};
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::time::Time;

/// What lists show, as short marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    /// When a file was last looked at and kept.
    pub seen: Option<Time>,
    /// Of sessions, their names, keepits and versions.
    pub sessions: String,
    /// Of compositions.
    pub compositions: String,
    /// Of the full-text index.
    pub index: String,
}

impl Rows<'_> {
    /// The marks now.
    pub fn marks(&self) -> Result<Marks> {
        let mark = |sql: &str| {
            self.connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.query_row([], |row| row.get::<_, Option<String>>(0)))
                .map(Option::unwrap_or_default)
                .map_err(failed)
        };
        Ok(Marks {
            seen: self.last_seen()?,
            sessions: mark(
                "SELECT concat_ws(' ', (SELECT concat_ws(' ', count(*), group_concat(user_title), sum(distance_by_hand), count(paired_with)) FROM session),
                    (SELECT concat_ws(' ', count(*), sum(weight), sum(removed)) FROM keepit),
                    (SELECT concat_ws(' ', count(*), max(created_at)) FROM version))",
            )?,
            compositions: mark(
                "SELECT concat_ws(' ', count(*), max(created_at), sum(length(used_in_sessions))) FROM composition",
            )?,
            index: self.fact("search_commit")?.unwrap_or_default(),
        })
    }

    /// Sessions of which files were looked at since then, with their projects; some hundred at most.
    pub fn seen_since(&self, since: Option<Time>) -> Result<Vec<(ProjectId, SessionId)>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT DISTINCT s.project_id, s.session_id FROM place p JOIN file f USING (file_id) JOIN session s USING (session_id)
                 WHERE p.seen_at >= ?1 LIMIT 500",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([since.map_or(0, Time::millis)], |row| {
                Ok((row.get::<_, String>(0)?.into(), row.get::<_, String>(1)?.into()))
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
