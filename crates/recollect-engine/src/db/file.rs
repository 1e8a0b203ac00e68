//! Rows of files, the places where they were found, and the lines in them that were not understood.

use rusqlite::{OptionalExtension, Row, params};

use super::{Rows, failed};
use crate::error::Result;
use crate::ids::SessionId;
use crate::session::Issue;
use crate::time::Time;

/// What a file is to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The transcript.
    Main,
    /// A sub-agent's transcript.
    Agent,
    /// Anything else beside them: a large tool result, a sub-agent's description.
    Extra,
}

impl Part {
    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Agent => "agent",
            Self::Extra => "extra",
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            "main" => Self::Main,
            "agent" => Self::Agent,
            _ => Self::Extra,
        }
    }
}

/// A file of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Its row.
    pub file_id: i64,
    /// Its session.
    pub session_id: SessionId,
    /// What it is.
    pub part: Part,
    /// Its path in the client's layout.
    pub name: String,
    /// Bytes archived.
    pub bytes: u64,
    /// Up to where whole lines were read.
    pub parsed_bytes: u64,
    /// What its lines made known, as JSON.
    pub fold: String,
    /// The same at `parsed_bytes`, from where reading goes on; `None` when it is the same.
    pub parsed_fold: Option<String>,
    /// Of an agent: its id.
    pub agent_id: Option<String>,
    /// Of an agent: the call that started it.
    pub tool_use_id: Option<String>,
    /// Of an agent: what it was for.
    pub title: Option<String>,
    /// Messages.
    pub messages: u64,
    /// Tokens.
    pub tokens: u64,
    /// First message.
    pub first_timestamp: Option<Time>,
    /// Last message.
    pub last_timestamp: Option<Time>,
}

impl FileRow {
    /// A file of which nothing is known yet.
    pub fn new(session_id: SessionId, part: Part, name: String) -> Self {
        Self {
            file_id: 0,
            session_id,
            part,
            name,
            bytes: 0,
            parsed_bytes: 0,
            fold: "{}".to_owned(),
            parsed_fold: None,
            agent_id: None,
            tool_use_id: None,
            title: None,
            messages: 0,
            tokens: 0,
            first_timestamp: None,
            last_timestamp: None,
        }
    }
}

/// Where a file was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceRow {
    /// Its path.
    pub path: String,
    /// The file whose content it had.
    pub file_id: i64,
    /// Its size then.
    pub bytes: u64,
    /// When it was last written to, in nanoseconds since 1970.
    pub modified: i64,
    /// Its inode; 0 where the system has none.
    pub inode: u64,
    /// When it was looked at.
    pub seen_at: Time,
}

const COLUMNS: &str =
    "file_id, session_id, part, name, bytes, parsed_bytes, fold, agent_id, tool_use_id, title, messages, tokens,
    first_timestamp, last_timestamp, parsed_fold";

fn from_row(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    Ok(FileRow {
        file_id: row.get(0)?,
        session_id: row.get::<_, String>(1)?.into(),
        part: Part::parse(&row.get::<_, String>(2)?),
        name: row.get(3)?,
        bytes: row.get(4)?,
        parsed_bytes: row.get(5)?,
        fold: row.get(6)?,
        agent_id: row.get(7)?,
        tool_use_id: row.get(8)?,
        title: row.get(9)?,
        messages: row.get(10)?,
        tokens: row.get(11)?,
        first_timestamp: row.get::<_, Option<i64>>(12)?.map(Time::from_millis),
        last_timestamp: row.get::<_, Option<i64>>(13)?.map(Time::from_millis),
        parsed_fold: row.get(14)?,
    })
}

fn place_from_row(row: &Row<'_>) -> rusqlite::Result<PlaceRow> {
    Ok(PlaceRow {
        path: row.get(0)?,
        file_id: row.get(1)?,
        bytes: row.get(2)?,
        modified: row.get(3)?,
        inode: row.get(4)?,
        seen_at: Time::from_millis(row.get(5)?),
    })
}

impl Rows<'_> {
    /// One file.
    pub fn file(&self, file_id: i64) -> Result<Option<FileRow>> {
        self.connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM file WHERE file_id = ?1"))
            .and_then(|mut statement| statement.query_row([file_id], from_row).optional())
            .map_err(failed)
    }

    /// Files of a session: the main one first, then by name.
    pub fn files(&self, session: &SessionId) -> Result<Vec<FileRow>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM file WHERE session_id = ?1 ORDER BY part <> 'main', name"))
            .map_err(failed)?;
        let rows = statement.query_map([session.as_str()], from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Files whose first piece has this hash.
    pub fn files_beginning_with(&self, hash: &[u8; 32]) -> Result<Vec<FileRow>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM file WHERE file_id IN (SELECT file_id FROM file_chunk WHERE hash = ?1 AND start = 0)"
            ))
            .map_err(failed)?;
        let rows = statement.query_map([hash], from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The transcript of a session; none while only sub-agents of it are known.
    pub fn main_file(&self, session: &SessionId) -> Result<Option<FileRow>> {
        self.connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM file WHERE session_id = ?1 AND part = 'main'"))
            .and_then(|mut statement| statement.query_row([session.as_str()], from_row).optional())
            .map_err(failed)
    }

    /// Adds a file (`file_id` 0) or brings it up to date; returns its row's id.
    pub fn put_file(&self, file: &FileRow) -> Result<i64> {
        let values = params![
            file.session_id.as_str(),
            file.part.as_str(),
            file.name,
            file.bytes,
            file.parsed_bytes,
            file.fold,
            file.agent_id,
            file.tool_use_id,
            file.title,
            file.messages,
            file.tokens,
            file.first_timestamp.map(Time::millis),
            file.last_timestamp.map(Time::millis),
            (file.file_id != 0).then_some(file.file_id),
            file.parsed_fold,
        ];
        self.connection
            .prepare_cached(
                "INSERT INTO file (session_id, part, name, bytes, parsed_bytes, fold, agent_id, tool_use_id, title, messages, tokens,
                    first_timestamp, last_timestamp, file_id, parsed_fold)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
                 ON CONFLICT (file_id) DO UPDATE SET
                    session_id = excluded.session_id, part = excluded.part, name = excluded.name, bytes = excluded.bytes, parsed_bytes = excluded.parsed_bytes,
                    fold = excluded.fold, parsed_fold = excluded.parsed_fold, agent_id = excluded.agent_id, tool_use_id = excluded.tool_use_id, title = excluded.title,
                    messages = excluded.messages, tokens = excluded.tokens, first_timestamp = excluded.first_timestamp,
                    last_timestamp = excluded.last_timestamp
                 RETURNING file_id",
            )
            .and_then(|mut statement| statement.query_row(values, |row| row.get(0)))
            .map_err(failed)
    }

    /// What is known of a path.
    pub fn place(&self, path: &str) -> Result<Option<PlaceRow>> {
        self.connection
            .prepare_cached("SELECT path, file_id, bytes, modified, inode, seen_at FROM place WHERE path = ?1 LIMIT 1")
            .and_then(|mut statement| statement.query_row([path], place_from_row).optional())
            .map_err(failed)
    }

    /// Where a file was found, the newest sight first.
    pub fn places(&self, file_id: i64) -> Result<Vec<PlaceRow>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT path, file_id, bytes, modified, inode, seen_at FROM place WHERE file_id = ?1 ORDER BY seen_at DESC, path",
            )
            .map_err(failed)?;
        let rows = statement.query_map([file_id], place_from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// All that is known of a path: a file of many conversations is the place of each.
    pub fn places_at(&self, path: &str) -> Result<Vec<PlaceRow>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT path, file_id, bytes, modified, inode, seen_at FROM place WHERE path = ?1 ORDER BY file_id",
            )
            .map_err(failed)?;
        let rows = statement.query_map([path], place_from_row).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Forgets what was found at a path.
    pub fn forget_places(&self, path: &str) -> Result<()> {
        self.connection
            .prepare_cached("DELETE FROM place WHERE path = ?1")
            .and_then(|mut statement| statement.execute([path]))
            .map_err(failed)?;
        Ok(())
    }

    /// Notes where a file was found; what was found there before is forgotten.
    pub fn put_place(&self, place: &PlaceRow) -> Result<()> {
        self.connection
            .prepare_cached("DELETE FROM place WHERE path = ?1 AND file_id <> ?2")
            .and_then(|mut statement| statement.execute(params![place.path, place.file_id]))
            .map_err(failed)?;
        self.add_place(place)
    }

    /// Notes where a file was found beside others.
    pub fn add_place(&self, place: &PlaceRow) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO place (path, file_id, bytes, modified, inode, seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    place.path,
                    place.file_id,
                    place.bytes,
                    place.modified,
                    place.inode,
                    place.seen_at.millis()
                ])
            })
            .map_err(failed)?;
        // Places stand in the manifest.
        self.connection
            .prepare_cached(
                "UPDATE project SET dirty = dirty + 1 WHERE project_id =
                    (SELECT project_id FROM session JOIN file USING (session_id) WHERE file_id = ?1)",
            )
            .and_then(|mut statement| statement.execute([place.file_id]))
            .map_err(failed)?;
        Ok(())
    }

    /// Lines of a session's files that were not understood, the main file's first.
    pub fn issues(&self, session: &SessionId) -> Result<Vec<Issue>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT i.line, i.message FROM issue i JOIN file f USING (file_id)
                 WHERE f.session_id = ?1 ORDER BY f.part <> 'main', f.name, i.line",
            )
            .map_err(failed)?;
        let rows = statement
            .query_map([session.as_str()], |row| Ok(Issue { line: row.get(0)?, message: row.get(1)? }))
            .map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Adds lines that were not understood; `start` is where the line begins.
    pub fn put_issue(&self, file_id: i64, issue: &Issue, start: u64) -> Result<()> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO issue (file_id, line, start, message) VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut statement| statement.execute(params![file_id, issue.line, start, issue.message]))
            .map_err(failed)?;
        Ok(())
    }

    /// Forgets what was read at and after `start`: its messages and issues. Bytes and chunks stay.
    pub fn forget_read(&self, file_id: i64, start: u64) -> Result<()> {
        self.connection
            // From the end on, so that it does not take longer in a long session.
            .execute(
                "DELETE FROM message WHERE file_id = ?1 AND position > ifnull(
                    (SELECT position FROM message WHERE file_id = ?1 AND line_start < ?2 ORDER BY position DESC LIMIT 1), -1)",
                params![file_id, start],
            )
            .map_err(failed)?;
        self.connection
            .execute("DELETE FROM issue WHERE file_id = ?1 AND start >= ?2", params![file_id, start])
            .map_err(failed)?;
        self.forget_agent_notes(file_id, start)
    }
}
