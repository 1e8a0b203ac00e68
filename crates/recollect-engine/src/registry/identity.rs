//! Which session a file belongs to, and which project a session (product decision 14).

use std::path::Path;

use sha2::{Digest, Sha256};

use super::candidate::{Candidate, is_uuid};
use super::is_sound_id;
use super::scan::Scan;
use crate::archive::{Archive, hex};
use crate::db::{FileRow, Part, PlaceRow, ProjectRow, Rows};
use crate::error::Result;
use crate::home::sanitize;
use crate::ids::{ProjectId, SessionId};
use crate::pairing;
use crate::sources::Format;
use crate::sources::claude_code::Fold;
use crate::time::Time;

/// Where a scan belongs.
pub(super) enum Target {
    /// To a file that has the same beginning: its row, and whether the scan is the longer one.
    Existing { file: Box<FileRow>, longer: bool },
    /// To a file whose place it takes: of a session that only prompts were known of, or of an export that was written
    /// again. What is replaced is kept beside it.
    Instead { file: Box<FileRow> },
    /// To a session that holds all of it in another export; its bytes are kept beside that.
    Beside { session: SessionId },
    /// To a session that has no such file yet.
    New { session: SessionId },
}

/// Decides where what was read belongs.
pub(super) fn target(rows: &Rows<'_>, archive: &Archive, candidate: &Candidate, scan: &Scan) -> Result<Target> {
    if scan.format.is_export()
        && let Some(target) = same_conversation(rows, archive, candidate, scan)?
    {
        return Ok(target);
    }
    if candidate.named_session.is_none()
        && let Some(file) = same_bytes(rows, archive, scan)?
    {
        return Ok(Target::Existing { file: Box::new(file), longer: false });
    }
    let base = candidate.named_session.as_deref().map_or_else(|| id_within(scan), SessionId::new);
    let variants = rows.session_variants(&base)?;
    if candidate.part == Part::Main {
        for variant in &variants {
            match rows.main_file(variant)? {
                // Only sub-agents of it were known: here is the transcript.
                None => return Ok(Target::New { session: variant.clone() }),
                Some(file) => {
                    if let Some(longer) = compare(rows, archive, &file, scan)? {
                        return Ok(Target::Existing { file: Box::new(file), longer });
                    }
                    let known = super::read::format_of(rows, variant, Part::Main)?;
                    if scan.format == Format::MemoryContext && holds(rows, &file, scan)? {
                        return Ok(Target::Existing { file: Box::new(file), longer: false });
                    }
                    let lesser = matches!(known, Format::History | Format::MemoryContext);
                    if lesser && scan.format == Format::ClaudeCode {
                        return Ok(Target::Instead { file: Box::new(file) });
                    }
                    if scan.format == Format::ClaudeAi
                        && known == Format::ClaudeAi
                        && let Some(newer) = continues(rows, &file, scan)?
                    {
                        // The same conversation, downloaded at another time.
                        return Ok(Target::Existing { file: Box::new(file), longer: newer });
                    }
                }
            }
        }
        return Ok(Target::New { session: free_variant(&base, &variants) });
    }
    let mut near: Vec<(usize, &SessionId)> = Vec::new();
    for variant in &variants {
        near.push((nearness(rows, variant, &candidate.path)?, variant));
    }
    near.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    for (_, variant) in &near {
        for file in rows.files(variant)? {
            if file.part == candidate.part
                && bare_name(&file.name) == bare_name(candidate.tail.as_deref().unwrap_or_default())
                && let Some(longer) = compare(rows, archive, &file, scan)?
            {
                return Ok(Target::Existing { file: Box::new(file), longer });
            }
        }
    }
    Ok(Target::New { session: near.first().map_or(base, |(_, variant)| (*variant).clone()) })
}

/// An export of a conversation of which another export is known: the longer one is the session.
fn same_conversation(rows: &Rows<'_>, archive: &Archive, candidate: &Candidate, scan: &Scan) -> Result<Option<Target>> {
    let spoken = scan.spoken();
    let Some(first) = spoken.first() else { return Ok(None) };
    let mut known = rows.said_alike(scan.format.as_str(), &format!("[{first}]"), 50)?;
    if let Some(named) = &candidate.named_session {
        known.extend(rows.session_variants(&SessionId::new(named.as_str()))?);
    }
    for session in known {
        let Some(file) = rows.main_file(&session)? else { continue };
        if let Some(longer) = compare(rows, archive, &file, scan)? {
            return Ok(Some(Target::Existing { file: Box::new(file), longer }));
        }
        let before: Vec<i64> = rows.messages(file.file_id, 0, None)?.iter().filter_map(|row| row.spoken).collect();
        match pairing::goes_on(&before, &spoken) {
            Some(true) => return Ok(Some(Target::Instead { file: Box::new(file) })),
            Some(false) => {
                // The same words, drawn at another time or width: other bytes.
                for beside in rows.files(&session)?.into_iter().filter(|file| file.part == Part::Extra) {
                    if let Some(false) = compare(rows, archive, &beside, scan)? {
                        return Ok(Some(Target::Existing { file: Box::new(beside), longer: false }));
                    }
                }
                return Ok(Some(Target::Beside { session }));
            }
            None => {}
        }
    }
    Ok(None)
}

/// A file that is the scan byte for byte: what a copy under a name of its own is a copy of, be it a sub-agent's, or without
/// anything that names its session.
fn same_bytes(rows: &Rows<'_>, archive: &Archive, scan: &Scan) -> Result<Option<FileRow>> {
    let Some(first) = scan.chunks.first().filter(|_| scan.chunks_from == 0) else { return Ok(None) };
    for file in rows.files_beginning_with(&first.hash)? {
        if file.bytes == scan.bytes && compare(rows, archive, &file, scan)? == Some(false) {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Whether a file holds all messages of a scan, in whatever order.
fn holds(rows: &Rows<'_>, file: &FileRow, scan: &Scan) -> Result<bool> {
    let known: std::collections::HashSet<[u8; 32]> =
        rows.messages(file.file_id, 0, None)?.into_iter().map(|row| row.hash).collect();
    Ok(scan.messages.iter().all(|message| known.contains(&message.hash)))
}

/// Whether a scan of a conversation whose messages have uuids holds all of a known one, and more: `Some(false)` when it
/// holds no more, `None` when they differ.
fn continues(rows: &Rows<'_>, file: &FileRow, scan: &Scan) -> Result<Option<bool>> {
    let known = rows.messages(file.file_id, 0, None)?;
    let shorter = known.len().min(scan.messages.len());
    let same =
        known.iter().zip(&scan.messages).take(shorter).all(|(one, two)| one.hash == two.hash && one.uuid == two.uuid);
    if !same {
        return Ok(None);
    }
    let before: Fold = serde_json::from_str(&file.fold)?;
    let renamed = scan.messages.len() == known.len() && before.ai_title != scan.fold.ai_title;
    Ok(Some(scan.messages.len() > known.len() || renamed))
}

/// `Some(true)` when the scan continues the file, `Some(false)` when it is the file or its beginning.
fn compare(rows: &Rows<'_>, archive: &Archive, file: &FileRow, scan: &Scan) -> Result<Option<bool>> {
    let chunks = rows.file_chunks(file.file_id)?;
    if scan.bytes <= file.bytes {
        return Ok(archive.is_beginning(&scan.chunks, &chunks)?.then_some(false));
    }
    Ok(archive.is_beginning(&chunks, &scan.chunks)?.then_some(true))
}

/// How many folders a path shares with the nearest place of a session's transcript.
fn nearness(rows: &Rows<'_>, session: &SessionId, path: &Path) -> Result<usize> {
    let Some(main) = rows.main_file(session)? else { return Ok(0) };
    let shared = |place: &PlaceRow| {
        let place = Path::new(&place.path);
        place.components().zip(path.components()).take_while(|(left, right)| left == right).count()
    };
    Ok(rows.places(main.file_id)?.iter().map(shared).max().unwrap_or(0))
}

/// A name for a file in the client's layout that its session does not use yet.
pub(super) fn free_name(rows: &Rows<'_>, session: &SessionId, candidate: &Candidate) -> Result<String> {
    let wished = match (candidate.part, &candidate.tail) {
        (Part::Main, _) | (_, None) => main_name(session, candidate),
        (_, Some(tail)) if tail.contains('/') => format!("{session}/{tail}"),
        (_, Some(tail)) => tail.clone(),
    };
    let names: Vec<String> = rows.files(session)?.into_iter().map(|file| file.name).collect();
    if !names.contains(&wished) {
        return Ok(wished);
    }
    let (stem, extension) = wished.rsplit_once('.').unwrap_or((&wished, ""));
    let mut number = 2;
    loop {
        let name = format!("{stem}~{number}.{extension}");
        if !names.contains(&name) {
            return Ok(name);
        }
        number += 1;
    }
}

/// The name of a main file: a transcript is named by its session, an export keeps its own name (`exports-archive/`).
fn main_name(session: &SessionId, candidate: &Candidate) -> String {
    match candidate.format {
        Format::ClaudeCode => format!("{session}.jsonl"),
        Format::ClaudeAi => format!("conversations/{session}.json"),
        Format::History => format!("history/{session}.jsonl"),
        Format::MemoryContext => format!("sessions/{session}.json"),
        Format::ClaudeExport | Format::PlainExport | Format::MarkdownExport => {
            format!("exports-archive/{}", export_name(&candidate.path, session))
        }
    }
}

/// A file's own name, made harmless: without what could lead elsewhere or not be written everywhere.
fn export_name(path: &Path, session: &SessionId) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let harmless = |one: char| if one.is_control() || r#"/\:*?"<>|"#.contains(one) { '_' } else { one };
    let name: String = name.chars().map(harmless).take(120).collect();
    let name = name.trim_matches(['.', ' ']);
    if name.is_empty() { format!("{session}.txt") } else { name.to_owned() }
}

/// The id that a file without one in its name carries within: the only one named, else one made from its content.
fn id_within(scan: &Scan) -> SessionId {
    if let [id] = scan.fold.session_ids.as_slice()
        && is_sound_id(id)
    {
        return SessionId::new(if is_uuid(id) { id.to_ascii_lowercase() } else { id.clone() });
    }
    let content = scan.content.unwrap_or_else(|| {
        let mut content = Sha256::new();
        for chunk in &scan.chunks {
            content.update(chunk.hash);
        }
        content.finalize().into()
    });
    let content = hex(&content);
    SessionId::new(uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, content.as_bytes()).to_string())
}

fn free_variant(base: &SessionId, variants: &[SessionId]) -> SessionId {
    if !variants.contains(base) {
        return base.clone();
    }
    let mut number = 2;
    loop {
        let variant = SessionId::new(format!("{base}~{number}"));
        if !variants.contains(&variant) {
            return variant;
        }
        number += 1;
    }
}

/// The name of a file beside a transcript, without folders and without the `~2` of another content.
fn bare_name(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let (stem, extension) = last.rsplit_once('.').unwrap_or((last, ""));
    format!("{}.{extension}", stem.split('~').next().unwrap_or(stem))
}

/// The sub-agent whose file it is.
pub(super) fn agent_of(fold: &Fold, name: &str) -> String {
    let stem = bare_name(name);
    let stem = stem.strip_suffix(".jsonl").unwrap_or(&stem);
    fold.agent_id.clone().unwrap_or_else(|| stem.strip_prefix("agent-").unwrap_or(stem).to_owned())
}

/// The project of a session: where it worked, or what the user wished.
pub(super) fn project_of(fold: &Fold, path: &Path, wished: Option<&ProjectId>, now: Time) -> ProjectRow {
    // What a banner shortened, or a project's name, tells projects apart, but not where they are.
    let original_path = fold.cwd.clone().filter(|cwd| is_absolute(cwd)).unwrap_or_default();
    // Without a working directory, the folder's name tells sessions of different origin apart; it is never decoded.
    let folder =
        || path.parent().and_then(Path::file_name).map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let named = fold.cwd.clone().filter(|cwd| !cwd.is_empty()).unwrap_or_else(folder);
    let last = named.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(&named).to_owned();
    let (project_id, display_name) = match wished {
        Some(wished) => (ProjectId::new(project_name(wished.as_str())), wished.to_string()),
        None => (ProjectId::new(project_name(&named)), last),
    };
    ProjectRow {
        project_id,
        display_name: if display_name.is_empty() { "unknown".to_owned() } else { display_name },
        original_path: if wished.is_some() { String::new() } else { original_path },
        created_at: now,
        last_accessed: now,
    }
}

/// Whether a folder's path is whole, on any system.
fn is_absolute(path: &str) -> bool {
    let drive = path.len() > 2 && path.as_bytes()[1] == b':' && matches!(path.as_bytes()[2], b'\\' | b'/');
    (path.starts_with(['/', '\\']) || drive) && !path.contains('…')
}

/// A project's id from its path; very long ones are cut, with a hash that tells them apart.
fn project_name(path: &str) -> String {
    const LONGEST: usize = 200;
    let name = sanitize(path);
    if name.is_empty() {
        return "-".to_owned();
    }
    if name.len() <= LONGEST {
        return name;
    }
    format!("{}-{}", &name[..LONGEST], &hex(&Sha256::digest(path.as_bytes()).into())[..8])
}
