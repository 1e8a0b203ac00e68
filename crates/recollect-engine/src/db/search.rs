//! What the full-text index has and what it lacks, and where its hits stand.

use rusqlite::{OptionalExtension, Row, params};

use super::{Rows, failed};
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::time::Time;

/// A file that the index has to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The file.
    pub file_id: i64,
    /// Messages before this position are in the index.
    pub indexed: u64,
    /// The index may hold others from there on.
    pub stale: bool,
    /// How many changes were seen: what comes later is not covered.
    pub changes: i64,
    /// Messages that it has; `None` when it is gone.
    pub messages: Option<u64>,
}

/// A session that the index has to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSession {
    /// The session; it may be gone.
    pub session_id: SessionId,
    /// Changes of its title and keepits that were seen.
    pub changes: i64,
    /// Changes of its versions that were seen.
    pub version_changes: i64,
}

/// Where a hit stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPlace {
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Its branch.
    pub git_branch: Option<String>,
    /// Its last message.
    pub last_timestamp: Option<Time>,
    /// Its project.
    pub project_id: ProjectId,
    /// The project's name.
    pub project: String,
    /// The sub-agent whose file it is.
    pub agent_id: Option<String>,
    /// The call that started the sub-agent.
    pub tool_use_id: Option<String>,
}

/// What filters of a search look at in a file's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedFile {
    /// The file.
    pub file_id: i64,
    /// Its session.
    pub session_id: String,
    /// Its branch.
    pub git_branch: Option<String>,
    /// Its project.
    pub project_id: String,
    /// The project's folder.
    pub project_path: String,
    /// The project's name.
    pub project_name: String,
}

fn changed_file(row: &Row<'_>) -> rusqlite::Result<ChangedFile> {
    Ok(ChangedFile {
        file_id: row.get(0)?,
        indexed: row.get(1)?,
        stale: row.get(2)?,
        changes: row.get(3)?,
        messages: row.get(4)?,
    })
}

/// A file in which people and models speak.
#[derive(Debug, Clone, Copy)]
pub struct ConversationFile {
    /// The file.
    pub file_id: i64,
    /// Its messages.
    pub messages: u64,
}

impl Rows<'_> {
    /// Whether the index lacks anything.
    pub fn search_is_behind(&self) -> Result<bool> {
        self.connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM search_file WHERE changes > 0)
                    OR EXISTS (SELECT 1 FROM search_session WHERE changes + version_changes > 0)",
            )
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(failed)
    }

    /// How many messages the index lacks.
    pub fn search_backlog(&self) -> Result<u64> {
        self.connection
            .prepare_cached(
                "SELECT ifnull(sum(max(f.messages - s.messages, 0)), 0) FROM search_file s JOIN file f USING (file_id) WHERE s.changes > 0",
            )
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(failed)
    }

    /// Files that changed since the index last looked.
    pub fn changed_files(&self) -> Result<Vec<ChangedFile>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT s.file_id, s.messages, s.stale, s.changes, f.messages FROM search_file s LEFT JOIN file f USING (file_id)
                 WHERE s.changes > 0 ORDER BY s.file_id",
            )
            .map_err(failed)?;
        let rows = statement.query_map([], changed_file).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Sessions whose titles, keepits or versions changed since the index last looked.
    pub fn changed_sessions(&self) -> Result<Vec<ChangedSession>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT session_id, changes, version_changes FROM search_session WHERE changes + version_changes > 0",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| {
                Ok(ChangedSession {
                    session_id: row.get::<_, String>(0)?.into(),
                    changes: row.get(1)?,
                    version_changes: row.get(2)?,
                })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Notes that the index has a file's messages before `indexed`, unless it changed meanwhile; what is gone is forgotten.
    pub fn file_was_indexed(&self, file: &ChangedFile, indexed: u64, all: bool) -> Result<()> {
        let result = if file.messages.is_none() {
            self.connection.execute(
                "DELETE FROM search_file WHERE file_id = ?1 AND changes = ?2",
                params![file.file_id, file.changes],
            )
        } else {
            self.connection.execute(
                "UPDATE search_file SET messages = ?3, stale = 0, changes = iif(?4, 0, changes) WHERE file_id = ?1 AND changes = ?2",
                params![file.file_id, file.changes, indexed, all],
            )
        };
        result.map_err(failed)?;
        Ok(())
    }

    /// Notes that the index has a session's title, keepits and versions, unless they changed meanwhile.
    pub fn session_was_indexed(&self, session: &ChangedSession) -> Result<()> {
        self.connection
            .execute(
                "UPDATE search_session SET changes = iif(changes = ?2, 0, changes),
                    version_changes = iif(version_changes = ?3, 0, version_changes) WHERE session_id = ?1",
                params![session.session_id.as_str(), session.changes, session.version_changes],
            )
            .map_err(failed)?;
        self.connection
            .execute(
                "DELETE FROM search_session WHERE session_id = ?1 AND changes + version_changes = 0
                    AND NOT EXISTS (SELECT 1 FROM session WHERE session.session_id = ?1)",
                [session.session_id.as_str()],
            )
            .map_err(failed)?;
        Ok(())
    }

    /// Lets the index be made anew: it has nothing of anything.
    pub fn forget_index(&self) -> Result<()> {
        self.connection
            .execute_batch(
                "DELETE FROM search_file; DELETE FROM search_session;
                 INSERT INTO search_file (file_id) SELECT file_id FROM file WHERE part <> 'extra';
                 INSERT INTO search_session (session_id, version_changes) SELECT session_id, 1 FROM session;",
            )
            .map_err(failed)
    }

    /// Where the hits of a file stand.
    pub fn found_place(&self, file_id: i64) -> Result<Option<FoundPlace>> {
        self.connection
            .prepare_cached(
                "SELECT s.session_id, ifnull(s.user_title, s.title), s.git_branch, s.last_timestamp, p.project_id, p.display_name,
                    f.agent_id, f.tool_use_id
                 FROM file f JOIN session s USING (session_id) JOIN project p USING (project_id) WHERE f.file_id = ?1",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([file_id], |row| {
                        Ok(FoundPlace {
                            session_id: row.get::<_, String>(0)?.into(),
                            title: row.get(1)?,
                            git_branch: row.get(2)?,
                            last_timestamp: row.get::<_, Option<i64>>(3)?.map(Time::from_millis),
                            project_id: row.get::<_, String>(4)?.into(),
                            project: row.get(5)?,
                            agent_id: row.get(6)?,
                            tool_use_id: row.get(7)?,
                        })
                    })
                    .optional()
            })
            .map_err(failed)
    }

    /// The uuid and the side chain of a message, to be sure that a hit is still what it was.
    pub fn found_message(&self, file_id: i64, position: u64) -> Result<Option<(String, Option<String>)>> {
        self.connection
            .prepare_cached("SELECT uuid, agent_id FROM message WHERE file_id = ?1 AND position = ?2")
            .and_then(|mut statement| {
                statement.query_row(params![file_id, position], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(failed)
    }

    /// Files in which people and models speak, exports whose transcript is in memory left out; the earliest session first.
    pub fn conversation_files(&self, project: Option<&ProjectId>) -> Result<Vec<ConversationFile>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.file_id, f.messages FROM file f JOIN session s USING (session_id)
                 WHERE f.part <> 'extra' AND s.paired_with IS NULL AND (?1 IS NULL OR s.project_id = ?1)
                 ORDER BY s.first_timestamp, s.session_id, f.file_id",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([project.map(ProjectId::as_str)], |row| {
                Ok(ConversationFile { file_id: row.get(0)?, messages: row.get(1)? })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// All files whose messages are searched, with what filters look at.
    pub fn searched_files(&self) -> Result<Vec<SearchedFile>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT f.file_id, s.session_id, s.git_branch, p.project_id, p.original_path, p.display_name
                 FROM file f JOIN session s USING (session_id) JOIN project p USING (project_id) WHERE f.part <> 'extra'",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| {
                Ok(SearchedFile {
                    file_id: row.get(0)?,
                    session_id: row.get(1)?,
                    git_branch: row.get(2)?,
                    project_id: row.get(3)?,
                    project_path: row.get(4)?,
                    project_name: row.get(5)?,
                })
            })
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}
