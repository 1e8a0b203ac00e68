//! Reads a file of the archive again as it was read when it was taken in, for a database that is made anew.

use std::io::{Read, Seek, SeekFrom};

use super::commit;
use super::scan::{self, Scan, Start};
use crate::archive::{Archiver, Chunk};
use crate::db::{FileRow, Part, Rows};
use crate::engine::{Cancel, Engine};
use crate::error::Result;
use crate::ids::ProjectId;
use crate::sources::Format;
use crate::time::Time;

/// What reading an archived file gave, to be written into the database.
pub(crate) struct ReadBack {
    file: FileRow,
    scan: Scan,
}

/// Reads an archived file. `format` is that of its session, `times` the first and the last that an export without times has.
///
/// # Errors
/// When a piece of it is lost or damaged.
pub(crate) fn read_back(
    engine: &Engine,
    file: FileRow,
    chunks: &[Chunk],
    format: Format,
    times: (Option<Time>, Option<Time>),
    cancel: &Cancel,
) -> Result<ReadBack> {
    // Nothing of it is new: what would be is not written.
    let batch = engine.archive().batch();
    let archiver = Archiver::new(&batch, "", None);
    let is_whole = file.part == Part::Main && format != Format::ClaudeCode;
    let mut scan = if is_whole {
        let mut bytes = Vec::new();
        engine.archive().copy(chunks, &mut bytes)?;
        scan::scan_whole(&bytes, format, archiver, engine.counter())?
    } else {
        let source = Stored { engine, chunks, at: 0 };
        scan::scan(source, Start::default(), archiver, engine.counter(), cancel, |_| {})?
    };
    if is_whole && scan.fold.last_timestamp.is_none() {
        (scan.fold.first_timestamp, scan.fold.last_timestamp) = times;
        scan.fold_at_parsed.clone_from(&scan.fold);
    }
    if file.part == Part::Extra {
        scan.forget_records();
    }
    // As they were cut then.
    scan.chunks = chunks.to_vec();
    (scan.chunks_from, scan.read_from) = (0, 0);
    Ok(ReadBack { file, scan })
}

impl ReadBack {
    /// Writes it; the session is there.
    pub(crate) fn write(self, engine: &Engine, rows: &Rows<'_>) -> Result<i64> {
        commit::write_back(engine, rows, self.file, &self.scan)
    }
}

/// Brings what follows from the files of a session up to date.
pub(crate) fn refresh(rows: &Rows<'_>, session: &crate::ids::SessionId, project: &ProjectId, now: Time) -> Result<()> {
    let joins = [super::refresh::Join::AllOf(session.clone())];
    super::refresh::refresh(rows, session, &joins, Some(project), now).map(|_| ())
}

/// An archived file as a stream.
struct Stored<'a> {
    engine: &'a Engine,
    chunks: &'a [Chunk],
    at: u64,
}

impl Read for Stored<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let place = self.chunks.partition_point(|chunk| chunk.end() <= self.at);
        let Some(chunk) = self.chunks.get(place) else { return Ok(0) };
        let piece = self.engine.archive().load(chunk).map_err(std::io::Error::other)?;
        let from = usize::try_from(self.at - chunk.start).unwrap_or(usize::MAX);
        let rest = piece.get(from..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Stored<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let end = self.chunks.last().map_or(0, Chunk::end);
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
