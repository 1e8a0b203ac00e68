//! Reads what manifests, `versions.json` and `composition.json` say; changes none of them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::keepit::KeepitSource;
use crate::archive::Content;
use crate::db::{CompositionRow, KeepitRow, Part, SessionRow, VersionRow};
use crate::error::{Error, ErrorKind, Result};
use crate::home::Home;
use crate::ids::{MarkerId, ProjectId, SessionId, VersionId};
use crate::manifest::check_version;
use crate::time::Time;

/// A manifest; `manifest.rs` writes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub project_id: ProjectId,
    #[serde(default)]
    pub original_path: String,
    #[serde(default)]
    pub display_name: String,
    pub created_at: Option<Time>,
    pub last_accessed: Option<Time>,
    #[serde(default)]
    pub sessions: BTreeMap<String, Session>,
    #[serde(default)]
    pub compositions: Map<String, Value>,
}

/// A session in a manifest.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Session {
    pub format: String,
    title: String,
    pub user_title: Option<String>,
    original_tokens: u64,
    original_messages: u64,
    pub first_timestamp: Option<Time>,
    pub last_timestamp: Option<Time>,
    registered_at: Option<Time>,
    pub last_accessed: Option<Time>,
    metadata: Metadata,
    keepit_markers: Vec<Value>,
    pub compressions: Vec<Value>,
    pub paired_with: Option<SessionId>,
    pub distance_by_hand: Option<u32>,
    pub last_version_number: u32,
    pub files: Vec<File>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    git_branch: Option<String>,
    client_versions: Vec<String>,
    models: Vec<String>,
}

/// A file of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct File {
    pub name: String,
    part: String,
    pub bytes: u64,
    pub content: String,
    pub places: Vec<Place>,
}

/// Where a file was found.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Place {
    pub path: String,
    pub bytes: u64,
    pub modified: i64,
    pub inode: u64,
    pub seen_at: Time,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Marker {
    marker_id: MarkerId,
    message_uuid: String,
    message_index: u32,
    weight: f64,
    text_weight: Option<f64>,
    content: String,
    position: Position,
    #[serde(default)]
    context: String,
    created_at: Time,
    source: KeepitSource,
    #[serde(default)]
    removed: bool,
    #[serde(default)]
    survived_in: Vec<VersionId>,
    #[serde(default)]
    summarized_in: Vec<VersionId>,
}

#[derive(Debug, Deserialize)]
struct Position {
    start: u64,
    end: u64,
}

/// All manifests, and what is wrong with others.
///
/// # Errors
/// `NewerMemory` when a newer program wrote one.
pub(super) fn manifests(home: &Home) -> Result<(Vec<Manifest>, Vec<String>)> {
    let (mut found, mut issues) = (Vec::new(), Vec::new());
    let mut folders = Vec::new();
    for entry in fs_err::read_dir(home.projects())? {
        folders.push(entry?.path());
    }
    folders.sort();
    for path in folders.into_iter().map(|folder| folder.join("manifest.json")) {
        let bytes = match fs_err::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        let read = serde_json::from_slice::<Map<String, Value>>(&bytes).map_err(Error::from).and_then(|manifest| {
            check_version(&path, &manifest)?;
            Ok(serde_json::from_value::<Manifest>(Value::Object(manifest))?)
        });
        match read {
            Ok(manifest) => found.push(manifest),
            Err(error) if error.kind == ErrorKind::NewerMemory => return Err(error),
            Err(error) => issues.push(format!("`{}` is not understood: {}", path.display(), error.message)),
        }
    }
    Ok((found, issues))
}

/// Compositions that manifests tell of, and those that only their own document tells of.
pub(super) fn compositions(home: &Home, manifests: &[Manifest]) -> Vec<CompositionRow> {
    let told = manifests.iter().flat_map(|manifest| manifest.compositions.values().cloned());
    let folders = manifests.iter().flat_map(|manifest| {
        let folder = home.composed(&manifest.project_id);
        let walk = walkdir::WalkDir::new(folder).min_depth(1).max_depth(1).sort_by_file_name();
        // Hidden ones are half-written, or gave way to another.
        walk.into_iter()
            .filter_map(std::result::Result::ok)
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .map(walkdir::DirEntry::into_path)
    });
    let written = folders.filter_map(|folder| {
        let bytes = fs_err::read(folder.join("composition.json")).ok()?;
        serde_json::from_slice::<Value>(&bytes).ok()
    });
    let mut found: Vec<CompositionRow> = Vec::new();
    for row in told.chain(written).filter_map(|record| CompositionRow::from_record(&record)) {
        if !found.iter().any(|known| known.record.composition_id == row.record.composition_id) {
            found.push(row);
        }
    }
    found
}

/// Versions that `versions.json` tells of and whose files are there.
pub(super) fn versions(folder: &Path, id: &SessionId) -> Vec<VersionRow> {
    let Ok(bytes) = fs_err::read(folder.join("versions.json")) else { return Vec::new() };
    let Ok(records) = serde_json::from_slice::<Value>(&bytes) else { return Vec::new() };
    let records = records.get("versions").and_then(Value::as_array).cloned().unwrap_or_default();
    let versions = records.iter().filter_map(|record| VersionRow::from_record(id, record));
    versions.filter(|version| folder.join(format!("{}.jsonl", version.file)).is_file()).collect()
}

impl Session {
    /// Its row as far as the manifest tells.
    pub(super) fn row(&self, id: &SessionId, project: &ProjectId, now: Time) -> SessionRow {
        let registered_at = self.registered_at.unwrap_or(now);
        SessionRow {
            session_id: id.clone(),
            project_id: project.clone(),
            format: self.format.clone(),
            title: self.title.clone(),
            user_title: self.user_title.clone(),
            messages: self.original_messages,
            tokens: self.original_tokens,
            first_timestamp: self.first_timestamp,
            last_timestamp: self.last_timestamp,
            git_branch: self.metadata.git_branch.clone(),
            client_versions: self.metadata.client_versions.clone(),
            models: self.metadata.models.clone(),
            registered_at,
            last_accessed: self.last_accessed.unwrap_or(registered_at),
            distance_by_hand: self.distance_by_hand,
            paired_with: self.paired_with.clone(),
        }
    }

    /// What its files say, or the manifest where they could not be read.
    pub(super) fn over(&self, read: SessionRow) -> SessionRow {
        if read.messages > 0 || self.original_messages == 0 {
            return read;
        }
        self.row(&read.session_id, &read.project_id, read.registered_at)
    }

    /// Its markers; one that is not understood is left out, those of the text are found in it again.
    pub(super) fn keepits(&self, id: &SessionId) -> Vec<KeepitRow> {
        let hundredths = |weight: f64| (weight * 100.0).round().clamp(0.0, 100.0) as u8;
        let markers = self.keepit_markers.iter().filter_map(|marker| Marker::deserialize(marker).ok());
        markers
            .map(|marker| KeepitRow {
                marker_id: marker.marker_id,
                session_id: id.clone(),
                message_uuid: marker.message_uuid,
                message_index: marker.message_index,
                source: marker.source,
                text_weight: marker.text_weight.map(hundredths),
                weight: hundredths(marker.weight),
                content: marker.content,
                context: marker.context,
                start: marker.position.start,
                end: marker.position.end,
                created_at: marker.created_at,
                removed: marker.removed,
                survived_in: marker.survived_in,
                summarized_in: marker.summarized_in,
            })
            .collect()
    }
}

impl File {
    pub(super) fn part(&self) -> Part {
        match self.part.as_str() {
            "main" => Part::Main,
            "agent" => Part::Agent,
            _ => Part::Extra,
        }
    }

    /// What tells its pieces from those of others.
    pub(super) fn content(&self) -> Option<Content> {
        let mut content = Content::default();
        if self.content.len() != 32 || !self.content.is_ascii() {
            return None;
        }
        for (at, byte) in content.0.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&self.content[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(content)
    }
}
