//! Writes a marker's weight into the transcript itself: the one action that changes a file of the user's (product decision 3).
//!
//! Only on request, only the digits of one marker, only when the file is as it was read and nobody writes to it; a copy is kept
//! first, and the new file takes the old one's place whole.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::keep::find;
use super::scan::find_markers;
use super::{Stat, commit};
use crate::api::keepit::KeepitSource;
use crate::db::{FileRow, KeepitRow, PlaceRow};
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::home::create_private;
use crate::ids::MarkerId;
use crate::keepit::{Weight, of_message};
use crate::sources::claude_code::read;

/// A file that was written to within this many milliseconds may still be written to.
const SETTLED: i64 = 60_000;

/// Sets a marker's weight in the transcript and in memory.
///
/// # Errors
/// `Conflict` when the file is gone, changed, or may still be written to; then nothing was changed.
pub fn write_weight(call: &Call<'_>, marker: &MarkerId, weight: Weight) -> Result<KeepitRow> {
    let engine = call.engine;
    let keepit = find(engine, marker)?;
    if keepit.source == KeepitSource::Overlay {
        return Err(Error::conflict("this keepit is not in the transcript, but over it in memory")
            .hint("its weight can be set there: leave out --write-transcript"));
    }
    let format = engine.db().read(|rows| super::read::format_of(rows, &keepit.session_id, crate::db::Part::Main))?;
    if format != crate::sources::Format::ClaudeCode {
        return Err(Error::conflict(format!(
            "session {} is a `{}`, not a transcript",
            keepit.session_id,
            format.as_str()
        ))
        .hint("its weight can be set in memory: leave out --write-transcript"));
    }
    let (file, place) = followed(engine, &keepit)?;
    let path = fs_err::canonicalize(&place.path)?;
    let unchanged = || -> Result<()> {
        let stat = Stat::of(&path)?;
        if !stat.is(&place) || stat.bytes != file.bytes {
            return Err(Error::conflict(format!("`{}` changed since it was read", path.display()))
                .hint("ingest it again, then set the weight; nothing was changed"));
        }
        if engine.now().millis() - stat.modified / 1_000_000 < SETTLED {
            return Err(Error::conflict(format!(
                "`{}` was written to a moment ago: its session may be open",
                path.display()
            ))
            .hint("close the session in Claude Code and wait a minute; nothing was changed"));
        }
        Ok(())
    };
    unchanged()?;
    let before = fs_err::read(&path)?;
    let digits = digits_in(engine, &file, &keepit, &before, weight)?;
    let mut after = before.clone();
    after.splice(digits, weight.to_string().into_bytes());
    let backup = keep_copy(engine, &path, &before)?;
    replace(&path, &after, unchanged).map_err(|error| error.hint(format!("the copy is `{}`", backup.display())))?;
    commit::replace_content(call, &file, &path)?;
    super::weigh_keepit(engine, &keepit.marker_id, weight)
}

/// The transcript that holds a marker, and the place where it is followed.
fn followed(engine: &Engine, keepit: &KeepitRow) -> Result<(FileRow, PlaceRow)> {
    let found = engine.db().read(|rows| {
        let Some(file) = rows.main_file(&keepit.session_id)? else { return Ok(None) };
        let places = rows.places(file.file_id)?;
        Ok(places.into_iter().find(|place| Path::new(&place.path).is_file()).map(|place| (file, place)))
    })?;
    found.ok_or_else(|| {
        Error::conflict(format!("the transcript of session {} no longer exists", keepit.session_id))
            .hint("its weight can be set in memory: leave out --write-transcript")
    })
}

/// Where the marker's digits stand in the file: the one place at which changing them changes this weight and nothing else.
fn digits_in(
    engine: &Engine,
    file: &FileRow,
    keepit: &KeepitRow,
    content: &[u8],
    weight: Weight,
) -> Result<Range<usize>> {
    let not_found = || {
        Error::conflict("the marker could not be found in the transcript without doubt")
            .hint("its weight can be set in memory: leave out --write-transcript")
    };
    let row = engine
        .db()
        .read(|rows| rows.messages(file.file_id, u64::from(keepit.message_index), Some(1)))?
        .into_iter()
        .next()
        .ok_or_else(not_found)?;
    let start = usize::try_from(row.line_start).map_err(|_| not_found())?;
    let end = start + usize::try_from(row.line_bytes).map_err(|_| not_found())?;
    let line = content.get(start..end).ok_or_else(not_found)?;
    let message = |line: &[u8]| read(line, 0).record.and_then(|record| record.message);
    let before = message(line).ok_or_else(not_found)?;
    let text = before.text();
    let wanted =
        find_markers(&before, &text).iter().position(|found| found.start == keepit.start).ok_or_else(not_found)?;
    let weights = |message: &crate::session::Message| -> Vec<Weight> {
        of_message(message).into_iter().map(|marker| marker.weight).collect()
    };
    let mut expected = weights(&before);
    expected[wanted] = weight;
    for digits in candidates(line) {
        let mut changed = line.to_vec();
        changed.splice(digits.clone(), weight.to_string().into_bytes());
        if message(&changed).is_some_and(|after| weights(&after) == expected && differs_once(&text, &after.text())) {
            return Ok(start + digits.start..start + digits.end);
        }
    }
    Err(not_found())
}

/// Digits between `##keepit` and `##` in a line of JSON, where they stand as they are.
fn candidates(line: &[u8]) -> Vec<Range<usize>> {
    const OPENING: &[u8] = b"##keepit";
    let mut found = Vec::new();
    for at in 0..line.len().saturating_sub(OPENING.len()) {
        if !line[at..at + OPENING.len()].eq_ignore_ascii_case(OPENING) {
            continue;
        }
        let start = at + OPENING.len();
        let count =
            line[start..].iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')).count();
        if count > 0 && line[start + count..].starts_with(b"##") {
            found.push(start..start + count);
        }
    }
    found
}

/// Whether two texts are the same but for one stretch of digits.
fn differs_once(left: &str, right: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|character| !character.is_ascii_digit() && *character != '.').count();
    bare(left) == bare(right)
}

fn keep_copy(engine: &Engine, path: &Path, content: &[u8]) -> Result<PathBuf> {
    let folder = engine.home().backups();
    create_private(&folder)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let time = engine.now().to_string().replace(':', "-");
    let backup = folder.join(format!("{stem}.{time}.jsonl"));
    crate::home::write_atomically(&backup, content)?;
    Ok(backup)
}

fn replace(path: &Path, content: &[u8], unchanged: impl Fn() -> Result<()>) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut temporary = tempfile::Builder::new().prefix(".recollect-").tempfile_in(folder)?;
    temporary.write_all(content)?;
    temporary.as_file().set_permissions(fs_err::metadata(path)?.permissions())?;
    temporary.as_file().sync_all()?;
    // Asked once more, as late as can be.
    unchanged()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}
