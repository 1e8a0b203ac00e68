//! `MEMORY-CONTEXT` folders (centralized-memory-context.md, export-deduplication.md): `dedup_state`, `exports-archive`,
//! `sessions`, `index`. What another installation wrote is taken over; what is written here, it can read.

mod index;
mod state;
mod text;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::api::context::{ContextExportRequest, ContextExported, ContextImportRequest, ContextImported};
use crate::api::ingest::IngestRequest;
use crate::api::session::SessionListRequest;
use crate::db::Part;
use crate::dedup::ContentHash;
use crate::engine::{Call, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Progress;
use crate::extract::extract;
use crate::home::{create_private, write_atomically};
use crate::ids::SessionId;
use crate::imported::{self, CHECKPOINTS};
use crate::registry::{self, Loaded};
use crate::sources::{Format, read_whole};
use index::Index;
use state::State;

/// Takes a folder over.
///
/// # Errors
/// `NotFound` when the folder is none.
pub fn import(call: &Call<'_>, request: &ContextImportRequest) -> Result<ContextImported> {
    let engine = call.engine;
    let root = root_of(Path::new(&request.path))?;
    let mut report = ContextImported { path: root.display().to_string(), ..ContextImported::default() };
    let exports = files_below(&root.join("exports-archive"));
    ingest(call, request, exports, &mut report)?;
    // What was archived is preferred: of a session that is known by its export, its summary brings nothing.
    let mut sessions = Vec::new();
    for path in files_below(&root.join("sessions")) {
        if path.extension().is_some_and(|ending| ending == "json") {
            if is_known(engine, &path)? {
                report.known_sessions += 1;
            } else {
                sessions.push(path);
            }
        }
    }
    ingest(call, request, sessions, &mut report)?;
    let (state, issues) = State::read(&root.join("dedup_state"));
    report.issues = issues;
    report.hashes = state.hashes.len() as u64;
    report.watermarks = state.watermarks.len() as u64;
    report.new_hashes = engine.db().write(|rows| {
        let mut new = 0;
        for hash in &state.hashes {
            new += u64::from(!rows.has_content(hash)? && rows.import_hash(hash)?);
        }
        for (session, messages) in &state.watermarks {
            rows.import_watermark(session, *messages)?;
        }
        if let Some(checkpoints) = state.checkpoints.as_object().filter(|checkpoints| !checkpoints.is_empty()) {
            let mut kept = kept_checkpoints(rows.fact(CHECKPOINTS)?.as_deref());
            kept.extend(checkpoints.clone());
            rows.put_fact(CHECKPOINTS, &Value::Object(kept).to_string())?;
        }
        rows.put_fact(imported::BEHIND, "1")?;
        Ok(new)
    })?;
    imported::mirror(engine)?;
    Ok(report)
}

fn kept_checkpoints(fact: Option<&str>) -> serde_json::Map<String, Value> {
    fact.and_then(|fact| serde_json::from_str(fact).ok()).unwrap_or_default()
}

/// The folder itself, or the one within that has its name.
fn root_of(path: &Path) -> Result<PathBuf> {
    let is_one =
        |path: &Path| ["dedup_state", "exports-archive", "sessions"].iter().any(|folder| path.join(folder).is_dir());
    [path.to_owned(), path.join("MEMORY-CONTEXT")].into_iter().find(|path| is_one(path)).ok_or_else(|| {
        Error::not_found(format!("`{}` is no MEMORY-CONTEXT folder", path.display())).hint(
            "it has the folders dedup_state, exports-archive or sessions; other files are taken by `recollect ingest`",
        )
    })
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(std::result::Result::ok);
    walk.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

fn ingest(
    call: &Call<'_>,
    request: &ContextImportRequest,
    paths: Vec<PathBuf>,
    report: &mut ContextImported,
) -> Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let paths = paths.into_iter().map(|path| path.display().to_string()).collect();
    let request = IngestRequest { paths, project: request.project.clone(), ..IngestRequest::default() };
    match registry::ingest(call, &request) {
        Ok(taken) => report.ingest.append(taken),
        // One file that vanished or cannot be read is not the folder's end.
        Err(error) if error.kind == ErrorKind::NotFound => report.issues.push(error.message),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Whether all that a session's file says is in memory.
fn is_known(engine: &Engine, path: &Path) -> Result<bool> {
    let Ok(bytes) = fs_err::read(path) else { return Ok(false) };
    let messages = read_whole(Format::MemoryContext, &bytes).messages();
    engine.db().read(|rows| {
        for message in &messages {
            if !rows.has_content(&ContentHash::of(&message.text()).0)? {
                return Ok(false);
            }
        }
        Ok(!messages.is_empty())
    })
}

/// Writes the memory as a folder.
///
/// # Errors
/// `Conflict` when the folder holds a state that is not understood; then nothing was written.
pub fn export(call: &Call<'_>, request: &ContextExportRequest) -> Result<ContextExported> {
    let engine = call.engine;
    let root = PathBuf::from(&request.path);
    let (mut state, issues) = State::read(&root.join("dedup_state"));
    if let Some(issue) = issues.first() {
        return Err(Error::conflict(format!("what is in `{}` is not understood: {issue}", root.display()))
            .hint("nothing was written; choose another folder, or mend that file"));
    }
    let mut index = Index::read(&root.join("index"))?;
    for folder in ["dedup_state", "exports-archive", "sessions", "index"] {
        create_private(&root.join(folder))?;
    }
    let mut report = ContextExported { path: root.display().to_string(), ..ContextExported::default() };
    let wanted = SessionListRequest { project: request.project.clone(), ..SessionListRequest::default() };
    let sessions = registry::page(engine, &wanted)?.sessions;
    let total = sessions.len() as u64;
    let mut names = Names::default();
    for (done, session) in sessions.into_iter().enumerate() {
        call.cancel.check()?;
        (call.progress)(Progress {
            done: done as u64,
            total,
            unit: "sessions".to_owned(),
            stage: "writing sessions".to_owned(),
        });
        let stem = archive(engine, &session.session_id, &root, &mut names, &mut report)?;
        // An export whose transcript is here is not counted twice, and what came from such a folder went back as it was.
        if session.paired_with.is_some() {
            continue;
        }
        let loaded = registry::load(engine, &session.session_id)?;
        let extracted = extract(&loaded.messages, &loaded.keepits);
        report.sessions += 1;
        report.messages += loaded.messages.len() as u64;
        let messages = loaded.messages.len() as u64;
        state.watermarks.insert(session.session_id.to_string(), messages);
        // The document's script names a session by its export, and counts in it what we count.
        if let Some(stem) = stem.filter(|_| Format::parse(&session.format) == Format::PlainExport) {
            state.watermarks.insert(stem, messages);
        }
        index.take(&loaded, &extracted);
        if Format::parse(&session.format) == Format::MemoryContext {
            continue;
        }
        state.hashes.extend(loaded.messages.iter().map(|message| ContentHash::of(&message.text()).0));
        let file = |ending: &str| root.join("sessions").join(format!("{}.{ending}", session.session_id));
        write(&file("json"), &document(&loaded, &extracted))?;
        write_atomically(&file("md"), text::markdown(&loaded, &extracted).as_bytes())?;
    }
    let (hashes, watermarks, checkpoints) =
        engine.db().read(|rows| Ok((rows.all_hashes()?, rows.watermarks()?, rows.fact(CHECKPOINTS)?)))?;
    if request.project.is_none() {
        state.hashes.extend(hashes);
        for (session, messages) in watermarks {
            let known = state.watermarks.entry(session).or_default();
            *known = messages.max(*known);
        }
    }
    state.add_checkpoints(kept_checkpoints(checkpoints.as_deref()));
    state.write(&root.join("dedup_state"))?;
    (report.topics, report.entities) = index.write(&root.join("index"))?;
    report.hashes = state.hashes.len() as u64;
    report.watermarks = state.watermarks.len() as u64;
    Ok(report)
}

/// Names of files in a folder that were given, and to which content.
#[derive(Default)]
struct Names(HashSet<PathBuf>);

/// Writes a session's original bytes; a file with other content is never written over. Returns the name of its main file
/// without ending.
fn archive(
    engine: &Engine,
    session: &SessionId,
    root: &Path,
    names: &mut Names,
    report: &mut ContextExported,
) -> Result<Option<String>> {
    let mut stem = None;
    let files = engine.db().read(|rows| {
        let format = rows.session(session)?.map_or(Format::ClaudeCode, |row| Format::parse(&row.format));
        let mut files = Vec::new();
        for file in rows.files(session)? {
            let chunks = rows.file_chunks(file.file_id)?;
            files.push((format, file, chunks));
        }
        Ok(files)
    })?;
    for (format, file, chunks) in files {
        let mut bytes = Vec::new();
        engine.archive().copy(&chunks, &mut bytes)?;
        let is_session = format == Format::MemoryContext && file.part == Part::Main;
        let folder = root.join(if is_session { "sessions" } else { "exports-archive" });
        let layouts = ["exports-archive/", "conversations/", "history/", "sessions/"];
        let name = layouts.iter().find_map(|layout| file.name.strip_prefix(layout)).unwrap_or(&file.name);
        let path = names.free(&folder, name, &bytes);
        if !path.exists() {
            write_atomically(&path, &bytes)?;
        }
        if file.part == Part::Main {
            stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        }
        report.files += 1;
        report.bytes += bytes.len() as u64;
    }
    Ok(stem)
}

impl Names {
    /// A path that is free, or holds these bytes.
    fn free(&mut self, folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let mut number = 1;
        loop {
            let tried = match (number, ending) {
                (1, _) => name.to_owned(),
                (_, "") => format!("{stem}~{number}"),
                _ => format!("{stem}~{number}.{ending}"),
            };
            let path = folder.join(tried);
            let same = fs_err::read(&path).is_ok_and(|there| there == bytes);
            if same || (!path.exists() && !self.0.contains(&path)) {
                self.0.insert(path.clone());
                return path;
            }
            number += 1;
        }
    }
}

/// A session as the document has it, with members of our own beside.
fn document(loaded: &Loaded, extracted: &crate::extract::Extracted) -> Value {
    let session = &loaded.session;
    let messages: Vec<Value> = loaded
        .messages
        .iter()
        .map(|message| {
            let content = message.text();
            json!({
                "hash": ContentHash::of(&content).to_string(),
                "role": message.role,
                "content": content,
                "index": message.index,
                "timestamp": message.timestamp,
                "uuid": message.uuid,
                "kind": message.kind,
            })
        })
        .collect();
    let project = loaded.project_path.rsplit(['/', '\\']).find(|part| !part.is_empty());
    json!({
        "session_id": session.session_id,
        "project": project.unwrap_or(session.project_id.as_str()),
        "project_path": loaded.project_path,
        "title": session.user_title.as_ref().unwrap_or(&session.title),
        "format": session.format,
        "git_branch": session.git_branch,
        "first_timestamp": session.first_timestamp,
        "last_timestamp": session.last_timestamp,
        "client_versions": session.client_versions,
        "models": session.models,
        "messages": messages,
        "extracted": extracted,
    })
}

fn write(path: &Path, value: &Value) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    write_atomically(path, &bytes)
}

/// A map of names to sessions, as topics and entities are kept.
type Sessions = BTreeMap<String, Vec<String>>;

#[cfg(test)]
mod tests;
