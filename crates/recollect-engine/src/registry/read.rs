//! Reads messages back: a window of them by their places in the archive, or a whole session.

use std::collections::HashMap;

use rayon::prelude::*;

use super::resolve;
use crate::api::session::{
    MapBucket, MapKeepit, MessageListRequest, MessagePage, MessageView, SessionMap, SessionMapRequest,
};
use crate::archive::{Chunk, hex};
use crate::db::{FileRow, KeepitRow, MessageRow, Part, Rows};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::SessionId;
use crate::session::{Message, MessageKind};
use crate::sources::claude_code::read;
use crate::sources::{Format, read_whole};

/// A session with its messages and markers.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The session.
    pub session: crate::db::SessionRow,
    /// Path of its project; empty when none is known.
    pub project_path: String,
    /// Its distance: by hand, else its recency rank.
    pub distance: u32,
    /// Its main conversation in file order, side chains left out.
    pub messages: Vec<Message>,
    /// Tokens of each message.
    pub tokens: Vec<u64>,
    /// Markers that count, in order of the text.
    pub keepits: Vec<KeepitRow>,
}

/// Reads a whole session.
///
/// # Errors
/// When it is not in memory, or a piece of it is damaged in the archive.
pub fn load(engine: &Engine, session: &SessionId) -> Result<Loaded> {
    load_range_with(engine, session, 0, u32::MAX, |_| Ok(())).map(|(loaded, ())| loaded)
}

/// Reads a session with those of its messages only whose indexes are in a range; the others are not looked at. What else is
/// asked of the rows sees the same view of them.
///
/// # Errors
/// As [`load`], and those of `with`.
pub fn load_range_with<T>(
    engine: &Engine,
    session: &SessionId,
    first: u32,
    last: u32,
    with: impl FnOnce(&Rows<'_>) -> Result<T>,
) -> Result<(Loaded, T)> {
    let most = u64::from(last.saturating_sub(first)) + 1;
    let (sums, project, file, keepits, more) = engine.db().read(|rows| {
        let sums = rows
            .session_sums(session)?
            .ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
        let project = rows.project(&sums.session.project_id)?;
        let file = match rows.main_file(session)? {
            Some(file) => {
                Some((rows.file_chunks(file.file_id)?, rows.messages(file.file_id, first.into(), Some(most))?))
            }
            None => None,
        };
        Ok((sums, project, file, rows.keepits(session)?, with(rows)?))
    })?;
    let mut messages = Vec::new();
    let mut tokens = Vec::new();
    if let Some((chunks, rows)) = file {
        let reader = Reader::open(engine, Format::parse(&sums.session.format), chunks)?;
        for row in rows.iter().filter(|row| row.agent_id.is_none()) {
            if let Some(message) = reader.message(row)? {
                messages.push(message);
                tokens.push(row.tokens);
            }
        }
    }
    let loaded = Loaded {
        project_path: project.map(|project| project.original_path).unwrap_or_default(),
        distance: sums.session.distance_by_hand.unwrap_or(sums.rank),
        session: sums.session,
        messages,
        tokens,
        keepits,
    };
    Ok((loaded, more))
}

/// Gives the messages of an archived file back: by their lines, or of a format without lines by reading all of it.
pub(super) struct Reader<'e> {
    engine: &'e Engine,
    chunks: Vec<Chunk>,
    whole: Option<Vec<Message>>,
}

impl<'e> Reader<'e> {
    /// Opens a file of a format.
    pub(super) fn open(engine: &'e Engine, format: Format, chunks: Vec<Chunk>) -> Result<Self> {
        let whole = if format == Format::ClaudeCode {
            None
        } else {
            let mut bytes = Vec::new();
            engine.archive().copy(&chunks, &mut bytes)?;
            Some(read_whole(format, &bytes).messages())
        };
        Ok(Self { engine, chunks, whole })
    }

    /// One message.
    pub(super) fn message(&self, row: &MessageRow) -> Result<Option<Message>> {
        let message = match &self.whole {
            Some(messages) => messages.get(row.position as usize).cloned(),
            None => {
                let line = self.engine.archive().range(&self.chunks, row.line_start, row.line_bytes)?;
                read(&line, 0).record.and_then(|record| record.message)
            }
        };
        Ok(message.map(|message| Message {
            index: row.position,
            uuid: row.uuid.clone(),
            agent_id: row.agent_id.clone(),
            ..message
        }))
    }
}

/// The format of a session's main file; all else of a session is the client's.
pub(super) fn format_of(rows: &Rows<'_>, session: &SessionId, part: Part) -> Result<Format> {
    if part != Part::Main {
        return Ok(Format::ClaudeCode);
    }
    Ok(rows.session(session)?.map_or(Format::ClaudeCode, |session| Format::parse(&session.format)))
}

/// The pieces that hold some messages of a file: of one that is read by lines only those, whatever its length.
fn pieces_of(rows: &Rows<'_>, file_id: i64, format: Format, messages: &[MessageRow]) -> Result<Vec<Chunk>> {
    if format != Format::ClaudeCode {
        return rows.file_chunks(file_id);
    }
    let start = messages.iter().map(|message| message.line_start).min();
    let end = messages.iter().map(|message| message.line_start + message.line_bytes).max();
    match (start, end) {
        (Some(start), Some(end)) => rows.chunks_between(file_id, start, end),
        _ => Ok(Vec::new()),
    }
}

/// Messages of a file from a position on, as many as lie in about so many bytes, and the position after them; one whose bytes
/// are damaged is left out.
pub fn stored_messages(engine: &Engine, file_id: i64, from: u64, bytes: u64) -> Result<(Vec<Message>, u64)> {
    const MOST: u64 = 2000;
    let (chunks, format, rows) = engine.db().read(|rows| {
        let format = match rows.file(file_id)? {
            Some(file) => format_of(rows, &file.session_id, file.part)?,
            None => Format::ClaudeCode,
        };
        let mut messages = rows.messages(file_id, from, Some(MOST))?;
        let mut sum = 0;
        let fit = messages.iter().take_while(|row| {
            sum += row.line_bytes;
            sum <= bytes
        });
        let fit = fit.count().max(1);
        messages.truncate(fit);
        Ok((pieces_of(rows, file_id, format, &messages)?, format, messages))
    })?;
    let next = rows.last().map_or(from, |last| u64::from(last.position) + 1);
    let Ok(reader) = Reader::open(engine, format, chunks) else { return Ok((Vec::new(), next)) };
    Ok((rows.par_iter().filter_map(|row| reader.message(row).ok().flatten()).collect(), next))
}

/// A window of a session's messages, or of one of its sub-agents'.
pub fn messages(engine: &Engine, request: &MessageListRequest) -> Result<MessagePage> {
    let session = resolve(engine, &request.session)?;
    let found = engine.db().read(|rows| {
        let files = rows.files(&session)?;
        let Some(file) = chosen(files, request.agent.as_deref()) else { return Ok(None) };
        let window = rows.messages(file.file_id, request.offset.unwrap_or(0), request.limit)?;
        let keepits = if file.part == Part::Main { rows.keepits(&session)? } else { Vec::new() };
        let format = format_of(rows, &session, file.part)?;
        Ok(Some((pieces_of(rows, file.file_id, format, &window)?, format, window, keepits, file.messages)))
    })?;
    let Some((chunks, format, window, keepits, total)) = found else {
        return match &request.agent {
            Some(agent) => Err(Error::not_found(format!("session {session} ran no sub-agent `{agent}`"))
                .hint("`recollect show` names them at the calls that started them")),
            None => Ok(MessagePage { messages: Vec::new(), total: 0 }),
        };
    };
    let mut by_message: HashMap<u32, Vec<KeepitRow>> = HashMap::new();
    for keepit in keepits {
        by_message.entry(keepit.message_index).or_default().push(keepit);
    }
    let mut messages = Vec::with_capacity(window.len());
    let reader = Reader::open(engine, format, chunks)?;
    for row in &window {
        let Some(mut message) = reader.message(row)? else { continue };
        let longest = request.longest.map_or(usize::MAX, |longest| usize::try_from(longest).unwrap_or(usize::MAX));
        let cut = message.shorten(longest);
        let keepits = by_message.get(&row.position).into_iter().flatten();
        // Behind a cut, places in the text are others.
        let keepits = keepits.filter(|keepit| cut == 0 || keepit.end <= longest as u64);
        messages.push(MessageView {
            text: message.text(),
            hash: hex(&row.hash),
            tokens: row.tokens,
            keepits: keepits.map(KeepitRow::to_marker).collect(),
            message,
            cut,
        });
    }
    Ok(MessagePage { messages, total })
}

fn chosen(files: Vec<FileRow>, agent: Option<&str>) -> Option<FileRow> {
    match agent {
        None => files.into_iter().find(|file| file.part == Part::Main),
        Some(agent) => {
            files.into_iter().find(|file| file.part == Part::Agent && file.agent_id.as_deref() == Some(agent))
        }
    }
}

/// The message of a session's main conversation that carries `uuid`: the first that holds text when it stands twice.
pub fn message_of(engine: &Engine, session: &SessionId, uuid: &str) -> Result<Message> {
    let found = engine.db().read(|rows| {
        let Some(file) = rows.main_file(session)? else { return Ok(None) };
        let Some(row) = rows.messages_by_uuid(file.file_id, uuid)?.into_iter().next() else { return Ok(None) };
        let format = format_of(rows, session, file.part)?;
        Ok(Some((pieces_of(rows, file.file_id, format, std::slice::from_ref(&row))?, format, row)))
    })?;
    let message = match found {
        Some((chunks, format, row)) => Reader::open(engine, format, chunks)?.message(&row)?,
        None => None,
    };
    message.ok_or_else(|| {
        Error::not_found(format!("session {session} has no message `{uuid}`"))
            .hint("`recollect show --json` gives the uuid of each message")
    })
}

/// A session's shape along its length.
pub fn map(engine: &Engine, request: &SessionMapRequest) -> Result<SessionMap> {
    let session = resolve(engine, &request.session)?;
    if !(1..=2000).contains(&request.buckets) {
        return Err(Error::usage(format!("{} buckets are not between 1 and 2000", request.buckets)));
    }
    let (rows, keepits) = engine.db().read(|rows| {
        let messages = match rows.main_file(&session)? {
            Some(file) => rows.messages(file.file_id, 0, None)?,
            None => Vec::new(),
        };
        Ok((messages, rows.keepits(&session)?))
    })?;
    let total = rows.len();
    let count = total.min(request.buckets as usize);
    let buckets = (0..count)
        .map(|bucket| {
            let stretch = &rows[bucket * total / count..(bucket + 1) * total / count];
            MapBucket {
                first: stretch.first().map_or(0, |row| row.position),
                messages: u32::try_from(stretch.len()).unwrap_or(u32::MAX),
                tokens: stretch.iter().map(|row| row.tokens).sum(),
            }
        })
        .collect();
    Ok(SessionMap {
        messages: total as u64,
        buckets,
        keepits: keepits
            .into_iter()
            .map(|keepit| MapKeepit {
                marker_id: keepit.marker_id,
                index: keepit.message_index,
                weight: f64::from(keepit.weight) / 100.0,
            })
            .collect(),
        compactions: rows
            .iter()
            .filter(|row| row.kind == MessageKind::CompactBoundary)
            .map(|row| row.position)
            .collect(),
    })
}
