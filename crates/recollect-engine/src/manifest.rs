//! The JSON that mirrors the database, project by project (2.2), and the symlinks to originals (3.1).
//!
//! A change marks its project dirty in its own transaction; the file is written after, and the mark goes when the file says
//! what the database says. Whoever opens the memory finishes what an interruption left. Everything that the database knows
//! of a session stands in its manifest; which pieces its files have, in the packs of the archive.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::db::{FileRow, KeepitRow, PlaceRow, Rows, SessionOrder, SessionSums};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::home::{create_private, hold, write_atomically};
use crate::ids::ProjectId;
use crate::sources::Format;

/// Version of the manifest's schema.
const VERSION: &str = "1.0.0";

/// Writes the manifests of projects that are dirty; one writer at a time, others wait for it.
pub(crate) fn write(engine: &Engine, projects: &[ProjectId]) -> Result<()> {
    if projects.is_empty() {
        return Ok(());
    }
    let _lock = hold(&engine.home().lock())?;
    let dirty = engine.db().read(|rows| rows.dirty_projects())?;
    for (project, seen) in dirty.iter().filter(|(project, _)| projects.contains(project)) {
        write_project(engine, project)?;
        engine.db().write(|rows| rows.clear_dirty(project, *seen))?;
    }
    Ok(())
}

fn write_project(engine: &Engine, project: &ProjectId) -> Result<()> {
    let path = engine.home().manifest(project);
    let before = read(&path)?.unwrap_or_default();
    let (mut manifest, places) = engine.db().read(|rows| manifest_of(rows, project))?;
    // What another program put there, or a later version of this one, stays.
    for (key, value) in before {
        manifest.entry(key).or_insert(value);
    }
    manifest.insert("lastModified".to_owned(), json!(engine.now()));
    let mut bytes = serde_json::to_vec_pretty(&Value::Object(manifest))?;
    bytes.push(b'\n');
    write_atomically(&path, &bytes)?;
    link_originals(&engine.home().originals(project), &places)
}

/// What a manifest says; `None` when there is none, or none that is understood, which is set aside.
///
/// # Errors
/// `NewerMemory` when a newer program wrote it.
fn read(path: &Path) -> Result<Option<Map<String, Value>>> {
    let bytes = match fs_err::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Ok(manifest) = serde_json::from_slice(&bytes) else {
        crate::home::set_aside(path)?;
        return Ok(None);
    };
    check_version(path, &manifest)?;
    Ok(Some(manifest))
}

/// Fails when a newer program wrote a manifest.
pub(crate) fn check_version(path: &Path, manifest: &Map<String, Value>) -> Result<()> {
    let major = |version: &str| version.split('.').next().and_then(|major| major.parse::<u64>().ok());
    let Some(version) = manifest.get("version").and_then(Value::as_str) else { return Ok(()) };
    if major(version) > major(VERSION) {
        let message = format!("`{}` is of version {version}; this program knows version {VERSION}", path.display());
        return Err(Error::new(ErrorKind::NewerMemory, message).hint("update Recollect; it was left as it is"));
    }
    Ok(())
}

/// Notes which manifests are gone, so that they are written anew; whether there are any.
pub(crate) fn note_lost(engine: &Engine) -> Result<bool> {
    let projects = engine.db().read(|rows| rows.all_projects())?;
    let lost: Vec<_> = projects.iter().filter(|project| !engine.home().manifest(project).exists()).collect();
    if lost.is_empty() {
        return Ok(false);
    }
    engine.db().write(|rows| lost.iter().try_for_each(|project| rows.mark_dirty(project)))?;
    Ok(true)
}

/// What a project's manifest says otherwise than the database; nothing while a change is still to be written.
pub(crate) fn faults(engine: &Engine, project: &ProjectId) -> Result<Vec<String>> {
    let found = document_faults(engine, project)?;
    if found.is_empty() {
        return Ok(found);
    }
    // Another program may have written it between the two looks: once more while nobody does.
    let _lock = hold(&engine.home().lock())?;
    document_faults(engine, project)
}

fn document_faults(engine: &Engine, project: &ProjectId) -> Result<Vec<String>> {
    let path = engine.home().manifest(project);
    let (wanted, pending) = engine.db().read(|rows| {
        let pending = rows.dirty_projects()?.iter().any(|(dirty, _)| dirty == project);
        Ok((manifest_of(rows, project)?.0, pending))
    })?;
    if pending {
        return Ok(Vec::new());
    }
    let fault = |how: &str| Ok(vec![format!("`{}` {how}", path.display())]);
    let Ok(bytes) = fs_err::read(&path) else { return fault("is missing") };
    let Ok(found) = serde_json::from_slice::<Map<String, Value>>(&bytes) else { return fault("is damaged") };
    if wanted.iter().any(|(key, value)| found.get(key) != Some(value)) {
        return fault("does not say what the database says");
    }
    Ok(Vec::new())
}

/// Links in `originals/` that do not lead where the original is; nothing while a change is still to be written.
pub(crate) fn link_faults(engine: &Engine, project: &ProjectId) -> Result<Vec<String>> {
    let found = wrong_links(engine, project)?;
    if found.is_empty() {
        return Ok(found);
    }
    let _lock = hold(&engine.home().lock())?;
    wrong_links(engine, project)
}

fn wrong_links(engine: &Engine, project: &ProjectId) -> Result<Vec<String>> {
    if !cfg!(unix) {
        return Ok(Vec::new());
    }
    let folder = engine.home().originals(project);
    let (places, pending) = engine.db().read(|rows| {
        let pending = rows.dirty_projects()?.iter().any(|(dirty, _)| dirty == project);
        Ok((manifest_of(rows, project)?.1, pending))
    })?;
    if pending {
        return Ok(Vec::new());
    }
    let mut faults = Vec::new();
    for (name, place) in places {
        let link = folder.join(name);
        let current = fs_err::read_link(&link).ok();
        if current.as_deref() != place.as_deref().map(Path::new) {
            let where_to = place.map_or("nowhere, the original is gone".to_owned(), |place| format!("to `{place}`"));
            faults.push(format!("`{}` should lead {where_to}", link.display()));
        }
    }
    Ok(faults)
}

type Places = Vec<(String, Option<String>)>;

fn manifest_of(rows: &Rows<'_>, project: &ProjectId) -> Result<(Map<String, Value>, Places)> {
    let (sessions, _) = rows.sessions(Some(project), None, SessionOrder::Oldest, 0, None)?;
    let mut entries = Map::new();
    let mut places = Vec::new();
    for sums in &sessions {
        let is_shared = Format::parse(&sums.session.format).is_container();
        // A file of many conversations is the original of none alone.
        let place = sums.places.iter().find(|place| !is_shared && Path::new(place).is_file()).cloned();
        let ending = place.as_deref().map(Path::new).and_then(Path::extension).and_then(std::ffi::OsStr::to_str);
        places.push((format!("{}.{}", sums.session.session_id, ending.unwrap_or("jsonl")), place));
        entries.insert(sums.session.session_id.to_string(), entry_of(rows, sums)?);
    }
    let mut manifest = Map::new();
    manifest.insert("version".to_owned(), json!(VERSION));
    if let Some(row) = rows.project(project)? {
        manifest.insert("projectId".to_owned(), json!(row.project_id));
        manifest.insert("originalPath".to_owned(), json!(row.original_path));
        manifest.insert("displayName".to_owned(), json!(row.display_name));
        manifest.insert("createdAt".to_owned(), json!(row.created_at));
        manifest.insert("lastAccessed".to_owned(), json!(row.last_accessed));
    }
    manifest.insert("sessions".to_owned(), Value::Object(entries));
    manifest.insert("compositions".to_owned(), Value::Object(rows.composition_records(project)?));
    Ok((manifest, places))
}

/// A session as 2.2 has it, with our own members after those of the document.
fn entry_of(rows: &Rows<'_>, sums: &SessionSums) -> Result<Value> {
    let session = &sums.session;
    let keepits: Vec<Value> = rows.all_keepits(&session.session_id)?.iter().map(marker_of).collect();
    let mut files = Vec::new();
    for file in rows.files(&session.session_id)? {
        files.push(file_of(rows, &file)?);
    }
    Ok(json!({
        "sessionId": session.session_id,
        "originalFile": sums.places.first(),
        "originalTokens": session.tokens,
        "originalMessages": session.messages,
        "firstTimestamp": session.first_timestamp,
        "lastTimestamp": session.last_timestamp,
        "registeredAt": session.registered_at,
        "lastAccessed": session.last_accessed,
        "metadata": {
            "gitBranch": session.git_branch,
            "claudeVersion": session.client_versions.last(),
            "clientVersions": session.client_versions,
            "models": session.models,
        },
        "keepitMarkers": keepits,
        "compressions": rows.version_records(&session.session_id)?,
        "format": session.format,
        "pairedWith": session.paired_with,
        "title": session.title,
        "userTitle": session.user_title,
        "distanceByHand": session.distance_by_hand,
        "lastVersionNumber": rows.version_number(&session.session_id)?,
        "files": files,
    }))
}

fn marker_of(keepit: &KeepitRow) -> Value {
    json!({
        "markerId": keepit.marker_id,
        "messageUuid": keepit.message_uuid,
        "messageIndex": keepit.message_index,
        "weight": f64::from(keepit.weight) / 100.0,
        "textWeight": keepit.text_weight.map(|weight| f64::from(weight) / 100.0),
        "content": keepit.content,
        "position": { "start": keepit.start, "end": keepit.end },
        "context": keepit.context,
        "createdAt": keepit.created_at,
        "source": keepit.source,
        "removed": keepit.removed,
        "survivedIn": keepit.survived_in,
        "summarizedIn": keepit.summarized_in,
    })
}

fn file_of(rows: &Rows<'_>, file: &FileRow) -> Result<Value> {
    let place = |place: PlaceRow| {
        json!({
            "path": place.path,
            "bytes": place.bytes,
            "modified": place.modified,
            "inode": place.inode,
            "seenAt": place.seen_at,
        })
    };
    let places: Vec<Value> = rows.places(file.file_id)?.into_iter().map(place).collect();
    let content = rows.file_content(file.file_id)?.to_string();
    Ok(json!({
        "name": file.name,
        "part": file.part.as_str(),
        "bytes": file.bytes,
        "content": content,
        "places": places,
    }))
}

/// Makes `originals/` say where the originals are that still exist.
#[cfg(unix)]
fn link_originals(folder: &Path, places: &Places) -> Result<()> {
    create_private(folder)?;
    for (name, place) in places {
        let link = folder.join(name);
        let current = fs_err::read_link(&link).ok();
        if current.as_deref() == place.as_deref().map(Path::new) {
            continue;
        }
        if current.is_some() {
            fs_err::remove_file(&link)?;
        }
        if let Some(place) = place {
            fs_err::os::unix::fs::symlink(place, &link)?;
        }
    }
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let known = places.iter().any(|(name, place)| entry.file_name() == name.as_str() && place.is_some());
        if !known && entry.file_type()?.is_symlink() {
            fs_err::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Systems on which links need a right that users do not have go without: the places stand in the manifest.
#[cfg(not(unix))]
fn link_originals(folder: &Path, _places: &Places) -> Result<()> {
    create_private(folder)
}
