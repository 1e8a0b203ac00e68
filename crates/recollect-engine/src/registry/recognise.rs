//! Looks into files whose names do not say what they are.

use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::candidate::{Candidate, Rejected};
use super::read::format_of;
use crate::db::Part;
use crate::engine::{Cancel, Engine};
use crate::error::Result;
use crate::sources::{self, Format, HEAD};

/// Says of each candidate what it is, and leaves out those that nobody named and that hold no conversation.
pub(super) fn recognise(engine: &Engine, candidates: Vec<Candidate>, cancel: &Cancel) -> Result<Vec<Candidate>> {
    let found: Vec<Option<Candidate>> = candidates
        .into_par_iter()
        .map(|candidate| {
            cancel.check()?;
            if candidate.part != Part::Main || is_named_transcript(&candidate) {
                return Ok(Some(candidate));
            }
            look(engine, candidate)
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// The name that the client gives to transcripts.
fn is_named_transcript(candidate: &Candidate) -> bool {
    candidate.named_session.is_some() && has_ending(&candidate.path, &["jsonl"])
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(std::ffi::OsStr::to_str).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| endings.contains(&ending.as_str()))
}

fn look(engine: &Engine, candidate: Candidate) -> Result<Option<Candidate>> {
    let stat = super::Stat::of(&candidate.path).ok();
    let path = candidate.path.display().to_string();
    let known = engine.db().read(|rows| {
        let Some(place) = rows.place(&path)?.filter(|place| stat.is_some_and(|stat| stat.is(place))) else {
            return Ok(None);
        };
        let Some(file) = rows.file(place.file_id)? else { return Ok(None) };
        Ok(Some(format_of(rows, &file.session_id, file.part)?))
    })?;
    // What is as it was read needs no second look.
    if let Some(format) = known {
        return Ok(Some(Candidate { format, ..candidate }));
    }
    let mut head = Vec::new();
    let read = fs_err::File::open(&candidate.path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    let is_text = has_ending(&candidate.path, &["txt", "md", "markdown", "log"]);
    let found = sources::recognise(&head)
        .filter(|found| found.certain || candidate.explicit || is_text)
        .map(|found| Candidate { format: found.format, ..candidate.clone() });
    Ok(match found {
        Some(found) => Some(found),
        // An export without a byte is worth a word, and so is what the user named or what should be a transcript.
        None if !candidate.unsure => Some(candidate),
        None if read.is_ok() && head.is_empty() && has_ending(&candidate.path, &["txt"]) => {
            Some(Candidate { format: Format::ClaudeExport, ..candidate })
        }
        None => None,
    })
}

/// Folders in which nothing was found.
pub(super) fn fruitless(paths: &[PathBuf], candidates: &[Candidate]) -> Vec<Rejected> {
    let holds = |folder: &Path| candidates.iter().any(|candidate| candidate.path.starts_with(folder));
    paths
        .iter()
        .filter(|path| path.is_dir() && !holds(path))
        .map(|path| Rejected {
            path: path.clone(),
            reason: "holds no conversations (transcripts, exports, conversations.json)".to_owned(),
            failed: true,
        })
        .collect()
}
