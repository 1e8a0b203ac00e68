//! Rows of sessions.

use rusqlite::{OptionalExtension, Row, params};

use super::{Rows, failed, from_json, to_json};
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::time::Time;

/// A session; of the sums only those of its main conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub session_id: SessionId,
    /// Its project.
    pub project_id: ProjectId,
    /// Its source: `claude-code`, `claude-export`, … (`sources::Format`).
    pub format: String,
    /// What the transcript calls it.
    pub title: String,
    /// What the user calls it.
    pub user_title: Option<String>,
    /// Messages.
    pub messages: u64,
    /// Tokens.
    pub tokens: u64,
    /// First message.
    pub first_timestamp: Option<Time>,
    /// Last message.
    pub last_timestamp: Option<Time>,
    /// Branch.
    pub git_branch: Option<String>,
    /// Versions of the client.
    pub client_versions: Vec<String>,
    /// Models.
    pub models: Vec<String>,
    /// When it was registered.
    pub registered_at: Time,
    /// When a composition last took it.
    pub last_accessed: Time,
    /// Distance set by hand.
    pub distance_by_hand: Option<u32>,
    /// Of an export: the session whose transcript it is a copy of; it counts nowhere then.
    pub paired_with: Option<SessionId>,
}

/// A session with what a list shows beside it.
#[derive(Debug, Clone)]
pub struct SessionSums {
    /// The session.
    pub session: SessionRow,
    /// Keepit markers that count.
    pub keepits: u64,
    /// Versions.
    pub versions: u64,
    /// Sub-agents.
    pub agents: u64,
    /// Lines that were not understood, in all its files.
    pub issues: u64,
    /// Recency rank in its project, 1 = most recent.
    pub rank: u32,
    /// Where its main file was found, the newest sight first.
    pub places: Vec<String>,
}

/// Order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionOrder {
    /// By last message, newest first.
    Newest,
    /// By last message, oldest first.
    Oldest,
    /// By tokens, largest first.
    Largest,
    /// By title.
    Title,
}

const COLUMNS: &str =
    "s.session_id, s.project_id, s.format, s.title, s.user_title, s.messages, s.tokens, s.first_timestamp,
    s.last_timestamp, s.git_branch, s.client_versions, s.models, s.registered_at, s.last_accessed, s.distance_by_hand,
    s.paired_with";

const SUMS: &str = "(SELECT count(*) FROM keepit k WHERE k.session_id = s.session_id AND NOT k.removed),
    (SELECT count(*) FROM version v WHERE v.session_id = s.session_id),
    (SELECT count(*) FROM file f WHERE f.session_id = s.session_id AND f.part = 'agent'),
    (SELECT count(*) FROM issue i JOIN file f USING (file_id) WHERE f.session_id = s.session_id),
    RANK,
    (SELECT json_group_array(path ORDER BY seen_at DESC, path) FROM place JOIN file f USING (file_id)
        WHERE f.session_id = s.session_id AND f.part = 'main')";

/// The recency rank of one session.
const RANK: &str = "(SELECT count(*) + 1 FROM session o WHERE o.project_id = s.project_id
    AND o.paired_with IS NULL AND (ifnull(o.last_timestamp, 0), o.session_id) > (ifnull(s.last_timestamp, 0), s.session_id))";

/// The recency ranks of all, in one pass.
const RANKED: &str =
    "WITH ranked AS MATERIALIZED (SELECT session_id, 1 + count(*) FILTER (WHERE paired_with IS NULL) OVER (
    PARTITION BY project_id ORDER BY ifnull(last_timestamp, 0) DESC, session_id DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS rank FROM session)";

fn from_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        session_id: row.get::<_, String>(0)?.into(),
        project_id: row.get::<_, String>(1)?.into(),
        format: row.get(2)?,
        title: row.get(3)?,
        user_title: row.get(4)?,
        messages: row.get(5)?,
        tokens: row.get(6)?,
        first_timestamp: row.get::<_, Option<i64>>(7)?.map(Time::from_millis),
        last_timestamp: row.get::<_, Option<i64>>(8)?.map(Time::from_millis),
        git_branch: row.get(9)?,
        client_versions: from_json(&row.get::<_, String>(10)?),
        models: from_json(&row.get::<_, String>(11)?),
        registered_at: Time::from_millis(row.get(12)?),
        last_accessed: Time::from_millis(row.get(13)?),
        distance_by_hand: row.get(14)?,
        paired_with: row.get::<_, Option<String>>(15)?.map(SessionId::new),
    })
}

fn with_sums(row: &Row<'_>) -> rusqlite::Result<SessionSums> {
    Ok(SessionSums {
        session: from_row(row)?,
        keepits: row.get(16)?,
        versions: row.get(17)?,
        agents: row.get(18)?,
        issues: row.get(19)?,
        rank: row.get(20)?,
        places: from_json(&row.get::<_, String>(21)?),
    })
}

/// Escapes what `LIKE` would read as a wildcard.
fn like(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}

impl Rows<'_> {
    /// One session.
    pub fn session(&self, session: &SessionId) -> Result<Option<SessionRow>> {
        self.connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM session s WHERE s.session_id = ?1"))
            .and_then(|mut statement| statement.query_row([session.as_str()], from_row).optional())
            .map_err(failed)
    }

    /// Bytes of a session's files.
    pub fn session_bytes(&self, session: &SessionId) -> Result<u64> {
        self.connection
            .prepare_cached("SELECT ifnull(sum(bytes), 0) FROM file WHERE session_id = ?1")
            .and_then(|mut statement| statement.query_row([session.as_str()], |row| row.get(0)))
            .map_err(failed)
    }

    /// One session as a list shows it.
    pub fn session_sums(&self, session: &SessionId) -> Result<Option<SessionSums>> {
        self.connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS}, {} FROM session s WHERE s.session_id = ?1",
                SUMS.replace("RANK", RANK)
            ))
            .and_then(|mut statement| statement.query_row([session.as_str()], with_sums).optional())
            .map_err(failed)
    }

    /// Ids that begin with `prefix`, at most `limit`; one that equals it stands first.
    pub fn sessions_by_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT session_id FROM session WHERE substr(session_id, 1, length(?1)) = ?1 ORDER BY session_id <> ?1, session_id LIMIT ?2",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map(params![prefix, limit], |row| Ok(SessionId::new(row.get::<_, String>(0)?)))
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The session with the newest message.
    pub fn latest_session(&self) -> Result<Option<SessionId>> {
        self.connection
            .query_row(
                "SELECT session_id FROM session ORDER BY paired_with IS NOT NULL, last_timestamp DESC NULLS LAST, registered_at DESC, session_id LIMIT 1",
                [],
                |row| Ok(SessionId::new(row.get::<_, String>(0)?)),
            )
            .optional()
            .map_err(failed)
    }

    /// All sessions, by id.
    pub fn all_sessions(&self) -> Result<Vec<SessionRow>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM session s ORDER BY s.session_id"))
            .map_err(failed)?;
        let rows = statement.query_map([], from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Sessions of a project, or of all, whose title, branch or id holds `filter`; and how many there are without the window.
    pub fn sessions(
        &self,
        project: Option<&ProjectId>,
        filter: Option<&str>,
        order: SessionOrder,
        offset: u64,
        limit: Option<u64>,
    ) -> Result<(Vec<SessionSums>, u64)> {
        let order = match order {
            SessionOrder::Newest => "s.last_timestamp DESC NULLS LAST, s.session_id DESC",
            SessionOrder::Oldest => "s.last_timestamp ASC NULLS LAST, s.session_id ASC",
            SessionOrder::Largest => "s.tokens DESC, s.session_id",
            SessionOrder::Title => "ifnull(s.user_title, s.title) COLLATE NOCASE, s.session_id",
        };
        let chosen =
            "(?1 IS NULL OR s.project_id = ?1) AND (?2 IS NULL OR ifnull(s.user_title, s.title) LIKE ?2 ESCAPE '\\'
            OR s.git_branch LIKE ?2 ESCAPE '\\' OR s.session_id LIKE ?2 ESCAPE '\\')";
        let project = project.map(ProjectId::as_str);
        let filter = filter.map(like);
        let total = self
            .connection
            .prepare_cached(&format!("SELECT count(*) FROM session s WHERE {chosen}"))
            .and_then(|mut statement| statement.query_row(params![project, filter], |row| row.get(0)))
            .map_err(failed)?;
        let mut statement = self
            .connection
            .prepare_cached(&format!(
                "{RANKED} SELECT {COLUMNS}, {} FROM session s JOIN ranked USING (session_id)
                 WHERE {chosen} ORDER BY {order} LIMIT ?3 OFFSET ?4",
                SUMS.replace("RANK", "ranked.rank")
            ))
            .map_err(failed)?;
        let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = statement
            .query_map(params![project, filter, limit, i64::try_from(offset).unwrap_or(i64::MAX)], with_sums)
            .map_err(failed)?;
        Ok((rows.collect::<rusqlite::Result<_>>().map_err(failed)?, total))
    }

    /// Ids of a session and of its other contents: `<id>`, `<id>~2`, …
    pub fn session_variants(&self, base: &SessionId) -> Result<Vec<SessionId>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT session_id FROM session WHERE session_id = ?1 OR substr(session_id, 1, length(?1) + 1) = ?1 || '~'
                 ORDER BY length(session_id), session_id",
            )
            .map_err(failed)?;
        let rows =
            statement.query_map([base.as_str()], |row| Ok(SessionId::new(row.get::<_, String>(0)?))).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Adds a session, or brings what its files say up to date; what the user set stays.
    pub fn put_session(&self, session: &SessionRow) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO session (session_id, project_id, format, title, messages, tokens, first_timestamp, last_timestamp,
                    git_branch, client_versions, models, registered_at, last_accessed)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
                 ON CONFLICT (session_id) DO UPDATE SET
                    project_id = excluded.project_id, format = excluded.format, title = excluded.title, messages = excluded.messages, tokens = excluded.tokens,
                    first_timestamp = excluded.first_timestamp, last_timestamp = excluded.last_timestamp,
                    git_branch = excluded.git_branch, client_versions = excluded.client_versions, models = excluded.models",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    session.session_id.as_str(),
                    session.project_id.as_str(),
                    session.format,
                    session.title,
                    session.messages,
                    session.tokens,
                    session.first_timestamp.map(Time::millis),
                    session.last_timestamp.map(Time::millis),
                    session.git_branch,
                    to_json(&session.client_versions).unwrap_or_default(),
                    to_json(&session.models).unwrap_or_default(),
                    session.registered_at.millis(),
                    session.last_accessed.millis(),
                ])
            })
            .map_err(failed)?;
        Ok(())
    }

    /// Says which transcript an export is a copy of.
    pub fn pair(&self, export: &SessionId, transcript: Option<&SessionId>) -> Result<()> {
        self.connection
            .prepare_cached("UPDATE session SET paired_with = ?2 WHERE session_id = ?1")
            .and_then(|mut statement| statement.execute(params![export.as_str(), transcript.map(SessionId::as_str)]))
            .map_err(failed)?;
        Ok(())
    }

    /// Exports that are copies of a transcript.
    pub fn exports_of(&self, transcript: &SessionId) -> Result<Vec<SessionId>> {
        self.ids("SELECT session_id FROM session WHERE paired_with = ?1 ORDER BY session_id", [transcript.as_str()])
    }

    /// Exports (formats as a JSON list) that are copies of no transcript known, and say something that a transcript says
    /// at or after a position.
    pub fn unpaired_like(&self, transcript: &SessionId, from: u64, formats: &str) -> Result<Vec<SessionId>> {
        const NONE: &str = "SELECT NOT EXISTS (SELECT 1 FROM session
            WHERE paired_with IS NULL AND format IN (SELECT value FROM json_each(?1)))";
        let none: bool = self
            .connection
            .prepare_cached(NONE)
            .and_then(|mut statement| statement.query_row([formats], |row| row.get(0)))
            .map_err(failed)?;
        if none {
            return Ok(Vec::new());
        }
        self.ids(
            "SELECT DISTINCT s.session_id FROM file f JOIN message m USING (file_id) JOIN message o ON o.spoken = m.spoken
                JOIN file e ON e.file_id = o.file_id JOIN session s ON s.session_id = e.session_id
             WHERE f.session_id = ?1 AND f.part = 'main' AND m.position >= ?2 AND m.spoken IS NOT NULL AND e.part = 'main'
                AND s.paired_with IS NULL AND s.format IN (SELECT value FROM json_each(?3)) ORDER BY 1",
            params![transcript.as_str(), from, formats],
        )
    }

    /// Sessions of a format in which most of what was said (a JSON list of `spoken`) was said too; the likest first.
    pub fn said_alike(&self, format: &str, spoken: &str, limit: u32) -> Result<Vec<SessionId>> {
        self.ids(
            "SELECT f.session_id FROM message m JOIN file f USING (file_id) JOIN session s USING (session_id)
             WHERE m.spoken IN (SELECT value FROM json_each(?1)) AND f.part = 'main' AND s.format = ?2
             GROUP BY f.session_id ORDER BY count(DISTINCT m.spoken) DESC, f.session_id LIMIT ?3",
            params![spoken, format, limit],
        )
    }

    fn ids(&self, sql: &str, values: impl rusqlite::Params) -> Result<Vec<SessionId>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = statement.query_map(values, |row| Ok(SessionId::new(row.get::<_, String>(0)?))).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Sets what the user may set: a title of their own, a distance by hand.
    pub fn set_session_choices(
        &self,
        session: &SessionId,
        user_title: Option<&str>,
        distance: Option<u32>,
    ) -> Result<()> {
        self.connection
            .execute(
                "UPDATE session SET user_title = ?2, distance_by_hand = ?3 WHERE session_id = ?1",
                params![session.as_str(), user_title, distance],
            )
            .map_err(failed)?;
        Ok(())
    }

    /// Notes that a composition took sessions.
    pub fn touch_session(&self, session: &SessionId, now: Time) -> Result<()> {
        self.connection
            .execute(
                "UPDATE session SET last_accessed = ?2 WHERE session_id = ?1",
                params![session.as_str(), now.millis()],
            )
            .map_err(failed)?;
        Ok(())
    }

    /// Removes a session with its files' rows, messages, keepits and versions.
    pub fn remove_session(&self, session: &SessionId) -> Result<()> {
        self.connection.execute("DELETE FROM session WHERE session_id = ?1", [session.as_str()]).map_err(failed)?;
        Ok(())
    }

    /// When anything was last looked at and kept.
    pub fn last_seen(&self) -> Result<Option<Time>> {
        self.connection
            .query_row("SELECT max(seen_at) FROM place", [], |row| row.get::<_, Option<i64>>(0))
            .map(|seen| seen.map(Time::from_millis))
            .map_err(failed)
    }

    /// How many sessions and compositions there are.
    pub fn counts(&self) -> Result<(u64, u64)> {
        self.connection
            .query_row("SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM composition)", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .map_err(failed)
    }
}
