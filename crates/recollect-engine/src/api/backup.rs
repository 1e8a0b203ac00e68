//! Backups: the whole memory in one file with checksums, made while it is in use.
//!
//! [`restore`] is no command of the table: there is no memory to open yet.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::rebuild::Rebuilt;
use crate::backup;
use crate::engine::{Call, Work};
use crate::error::Result;
use crate::time::Time;

/// Asks for a backup.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct BackupCreateRequest {
    /// The folder to write it into, made when it is missing; that of the settings if not given.
    #[serde(default)]
    pub folder: Option<String>,
}

/// Asks which backup there is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct BackupStatusRequest {}

/// A backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Backup {
    /// Its whole path.
    pub path: String,
    /// Its file's name.
    pub name: String,
    /// The moment whose state it holds.
    pub at: Time,
    /// Bytes of its file.
    pub bytes: u64,
    /// Made by itself.
    pub automatic: bool,
}

/// A backup that was made, read again and found whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BackupCreated {
    /// The backup.
    #[serde(flatten)]
    pub backup: Backup,
    /// Files in it.
    pub files: u64,
    /// Their bytes.
    pub original_bytes: u64,
    /// Sessions in it.
    pub sessions: u64,
    /// What the memory names and could not be found, in words; `recollect doctor` says more.
    pub missing: Vec<String>,
}

/// The last backup, and what is done by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct BackupStatus {
    /// The newest backup that is still where it was written.
    pub last: Option<Backup>,
    /// How old it is, in milliseconds.
    pub age_ms: Option<u64>,
    /// Whether the memory is backed up once a day by itself.
    pub automatic: bool,
    /// Where to.
    pub folder: String,
    /// How many of those are kept.
    pub keep: u32,
    /// Why the last try to do so failed, when nothing was backed up since.
    pub failure: Option<BackupFailure>,
}

/// A backup that was to be made by itself and could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BackupFailure {
    /// When it was tried.
    pub at: Time,
    /// Why it failed.
    pub message: String,
}

/// A memory that was made from a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRestored {
    /// The memory's folder.
    pub home: String,
    /// The moment whose state it holds.
    pub at: Time,
    /// Files that were written.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sessions in it.
    pub sessions: u64,
    /// What came of making its database anew, when the one in the backup was damaged.
    pub rebuilt: Option<Rebuilt>,
}

/// Makes a backup, while other programs may write.
pub fn create(call: &Call<'_>, request: BackupCreateRequest) -> Result<BackupCreated> {
    backup::create(call, request.folder.as_deref().map(std::path::Path::new))
}

/// The last backup.
pub fn status(call: &Call<'_>, request: BackupStatusRequest) -> Result<BackupStatus> {
    let BackupStatusRequest {} = request;
    backup::status(call.engine)
}

/// Makes a memory of a backup, in a folder that is empty or not there.
///
/// # Errors
/// `Conflict` when the folder is not empty, `NewerMemory` when a newer program wrote the backup, `Io` when it is damaged;
/// then nothing was written.
pub fn restore(work: &Work<'_>, file: &std::path::Path, home: &std::path::Path) -> Result<BackupRestored> {
    backup::restore(work, file, home)
}
