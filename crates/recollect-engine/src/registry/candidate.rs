//! Which files belong to memory, and what each says of itself by its name.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::db::Part;
use crate::home::SCRATCH;
use crate::sources::Format;

/// A file that may belong to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Where it is.
    pub path: PathBuf,
    /// What it is, by its name and place.
    pub part: Part,
    /// The session's id, when the name or the folder carries one.
    pub named_session: Option<String>,
    /// For what is not the transcript itself: its path in the client's layout, below `<session>` or flat.
    pub tail: Option<String>,
    /// The user named this very file; a folder's other files are passed over in silence.
    pub explicit: bool,
    /// What it is; for a transcript its name says so, all else has to be looked into.
    pub format: Format,
    /// Neither its name nor the user says that it belongs to memory: what it holds decides.
    pub unsure: bool,
}

/// A path that gave no candidate, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejected {
    pub path: PathBuf,
    pub reason: String,
    /// It is a fault and not just another kind of file.
    pub failed: bool,
}

/// Walks paths: folders for conversations and what lies beside them, files as they are. In a folder of the client's own,
/// `transcripts`, names tell all.
pub(super) fn collect(paths: &[PathBuf], transcripts: &Path) -> (Vec<Candidate>, Vec<Rejected>) {
    let mut candidates = Vec::new();
    let mut rejected = Vec::new();
    for path in paths {
        let reject = |reason: &str, failed| Rejected { path: path.clone(), reason: reason.to_owned(), failed };
        match fs_err::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                rejected.push(reject("there is no such file or folder", true));
            }
            Err(error) => rejected.push(reject(&in_words(&error), true)),
            Ok(metadata) if metadata.is_dir() => {
                walk(path, path.starts_with(transcripts), &mut candidates, &mut rejected);
            }
            Ok(metadata) if metadata.is_file() => {
                candidates.push(classify(path, true).unwrap_or_else(|| main(path, true)));
            }
            Ok(_) => rejected.push(reject("is neither a file nor a folder", true)),
        }
    }
    candidates.sort_by(|left, right| (left.part, &left.path).cmp(&(right.part, &right.path)));
    candidates.dedup_by(|left, right| left.path == right.path);
    (candidates, rejected)
}

pub(super) fn walk(root: &Path, only_transcripts: bool, candidates: &mut Vec<Candidate>, rejected: &mut Vec<Rejected>) {
    for entry in WalkDir::new(root).follow_links(true).sort_by_file_name() {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                let named = classify(entry.path(), false);
                let unsure = || (!only_transcripts && may_hold(root, entry.path())).then(|| unsure(entry.path()));
                candidates.extend(named.or_else(unsure));
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().unwrap_or(root).to_owned();
                let (reason, failed) = if error.loop_ancestor().is_some() {
                    ("is a link to a folder that holds it; passed over".to_owned(), false)
                } else {
                    match error.io_error() {
                        // A link to nothing, or gone since the folder was listed.
                        Some(error) if error.kind() == std::io::ErrorKind::NotFound => {
                            ("is no longer there; passed over".to_owned(), false)
                        }
                        Some(error) => (in_words(error), true),
                        None => (error.to_string(), true),
                    }
                };
                rejected.push(Rejected { path, reason, failed });
            }
        }
    }
}

/// Whether a file is worth a look: not what programs hide or fetch, and not what lies beside a transcript.
fn may_hold(root: &Path, path: &Path) -> bool {
    let below = path.strip_prefix(root).unwrap_or(path);
    !below
        .iter()
        .filter_map(std::ffi::OsStr::to_str)
        .any(|part| part.starts_with('.') || matches!(part, "node_modules" | "subagents" | "tool-results"))
}

/// A file that may hold a conversation.
pub(super) fn unsure(path: &Path) -> Candidate {
    Candidate { unsure: true, ..main(path, false) }
}

/// What a file is by its name and place; `None` when nothing says that it belongs to memory.
pub(super) fn classify(path: &Path, explicit: bool) -> Option<Candidate> {
    let name = path.file_name()?.to_str()?;
    let parts: Vec<&str> = path.iter().filter_map(std::ffi::OsStr::to_str).collect();
    // A client that we asked something wrote it although it was told not to: nobody said what is in it.
    if !explicit && parts.iter().any(|part| part.ends_with(SCRATCH) && part.starts_with('-')) {
        return None;
    }
    // `<session>/subagents/…` and `<session>/tool-results/…`
    let beside = parts
        .iter()
        .rposition(|part| matches!(*part, "subagents" | "tool-results"))
        .filter(|at| *at > 0 && *at + 1 < parts.len());
    let is_jsonl = name.ends_with(".jsonl");
    if let Some(at) = beside {
        let owner = parts[at - 1];
        let is_agent = is_jsonl && name.starts_with("agent-");
        if is_agent || is_uuid(owner) {
            return Some(Candidate {
                path: path.to_owned(),
                part: if is_agent { Part::Agent } else { Part::Extra },
                named_session: is_uuid(owner).then(|| owner.to_ascii_lowercase()),
                tail: Some(parts[at..].join("/")),
                explicit,
                format: Format::ClaudeCode,
                unsure: false,
            });
        }
    }
    if !is_jsonl {
        return None;
    }
    if name.starts_with("agent-") {
        return Some(Candidate {
            path: path.to_owned(),
            part: Part::Agent,
            named_session: None,
            tail: Some(name.to_owned()),
            explicit,
            format: Format::ClaudeCode,
            unsure: false,
        });
    }
    Some(main(path, explicit))
}

fn main(path: &Path, explicit: bool) -> Candidate {
    let stem = path.file_stem().and_then(std::ffi::OsStr::to_str).unwrap_or("");
    Candidate {
        path: path.to_owned(),
        part: Part::Main,
        named_session: is_uuid(stem).then(|| stem.to_ascii_lowercase()),
        tail: None,
        explicit,
        format: Format::ClaudeCode,
        unsure: false,
    }
}

/// A UUID in the form that the client gives to files.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// A failure of the file system in the user's words.
pub(super) fn in_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::NotFound => "vanished while it was read".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_wrote_that_we_asked_is_taken_in_only_by_name() {
        let path = PathBuf::from(format!("/c/projects/-home-ada--claude-memory-cache-{SCRATCH}/x.jsonl"));
        assert!(classify(&path, false).is_none(), "nobody said it");
        assert!(classify(&path, true).is_some(), "the user names it");
    }

    #[test]
    fn names_and_places_tell_what_a_file_is() {
        let id = "11111111-1111-4111-8111-111111111111";
        for (path, part, session, tail) in [
            (format!("/p/{id}.jsonl"), Part::Main, Some(id), None),
            ("/p/notes.jsonl".to_owned(), Part::Main, None, None),
            ("/p/agent-ab12.jsonl".to_owned(), Part::Agent, None, Some("agent-ab12.jsonl")),
            (format!("/p/{id}/subagents/agent-1.jsonl"), Part::Agent, Some(id), Some("subagents/agent-1.jsonl")),
            (
                format!("/p/{id}/subagents/workflows/wf_1/journal.jsonl"),
                Part::Extra,
                Some(id),
                Some("subagents/workflows/wf_1/journal.jsonl"),
            ),
            (format!("/p/{id}/tool-results/b.txt"), Part::Extra, Some(id), Some("tool-results/b.txt")),
        ] {
            let candidate = classify(Path::new(&path), false).expect("belongs to memory");
            assert_eq!(
                (candidate.part, candidate.named_session.as_deref(), candidate.tail.as_deref()),
                (part, session, tail),
                "{path}"
            );
        }
        for path in ["/p/readme.md", "/p/tool-results/b.txt", "/p/x.json"] {
            assert_eq!(classify(Path::new(path), false), None, "{path}");
        }
    }
}
