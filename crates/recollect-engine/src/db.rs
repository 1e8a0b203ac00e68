//! The only door to SQLite: opening, migrating, and short transactions.
//!
//! One file per table under `db/` adds what can be asked and changed, as methods of [`Rows`]; they return domain types.

mod agent_call;
mod checkpoint;
mod chunk;
mod composition;
mod fact;
mod file;
mod health;
mod imported;
mod keepit;
mod look;
mod marks;
mod message;
mod migrate;
mod project;
mod replace;
mod search;
mod session;
mod snapshot;
mod storage;
mod version;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{Error, ErrorKind, Result};

pub use chunk::PackRow;
pub use composition::CompositionRow;
pub use file::{FileRow, Part, PlaceRow};
pub use keepit::KeepitRow;
pub use marks::Marks;
pub use message::MessageRow;
pub use project::ProjectRow;
pub use search::{ChangedFile, ChangedSession, ConversationFile, FoundPlace, SearchedFile};
pub use session::{SessionOrder, SessionRow, SessionSums};
pub use snapshot::Snapshot;
pub use storage::{PieceUse, SessionFiles};
pub use version::{PartRow, Provenance, VersionRow};

/// An open database: one connection to write, one to read, so that lists show while something is registered. Clones share it.
#[derive(Clone)]
pub struct Db {
    path: PathBuf,
    writer: Arc<Mutex<Connection>>,
    reader: Arc<Mutex<Connection>>,
    /// How often another database took this one's place.
    generation: Arc<AtomicU64>,
}

/// What a transaction can ask and change; the tables add their methods to it.
pub struct Rows<'c> {
    connection: &'c Connection,
}

impl Db {
    /// Opens or makes the database at `path` and brings its tables up to date.
    ///
    /// # Errors
    /// `NewerMemory` when a newer program wrote it; `Io` when it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        // Made here, so that it is its owner's only; what SQLite puts beside it has the same rights.
        crate::home::open_private(path)?;
        let mut writer = connect(path)?;
        migrate::migrate(&mut writer)?;
        let reader = connect(path)?;
        Ok(Self {
            path: path.to_owned(),
            writer: Arc::new(Mutex::new(writer)),
            reader: Arc::new(Mutex::new(reader)),
            generation: Arc::default(),
        })
    }

    /// Reads in one consistent view.
    pub fn read<T>(&self, work: impl FnOnce(&Rows<'_>) -> Result<T>) -> Result<T> {
        let mut connection = lock(&self.reader);
        let transaction = connection.transaction().map_err(failed)?;
        work(&Rows { connection: &transaction })
    }

    /// Writes in one short transaction: all of it or nothing. Do no file or network work inside.
    pub fn write<T>(&self, work: impl FnOnce(&Rows<'_>) -> Result<T>) -> Result<T> {
        let mut connection = lock(&self.writer);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let value = work(&Rows { connection: &transaction })?;
        transaction.commit().map_err(failed)?;
        Ok(value)
    }

    /// A number that changes when another database takes this one's place ([`Db::replace`]): numbers of rows that were read
    /// before say nothing then.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The newest format of the database that this program knows.
    pub fn newest_format() -> u64 {
        migrate::newest()
    }

    /// A number that changes whenever another program, and only another, has written.
    pub fn version_of_others(&self) -> Result<i64> {
        lock(&self.writer).query_row("PRAGMA data_version", [], |row| row.get(0)).map_err(failed)
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl std::fmt::Debug for Db {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Db").field("path", &self.path).finish_non_exhaustive()
    }
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A panic while it was held rolled its transaction back: the connection is sound.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Connects to a database that is there: one that is gone is not to become an empty one.
fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::default().difference(OpenFlags::SQLITE_OPEN_CREATE);
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
             PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000;",
        )
        .map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Puts a failure of SQLite in words.
fn failed(error: rusqlite::Error) -> Error {
    let hint = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            "another program is writing to the memory: try again in a moment"
        }
        Some(rusqlite::ErrorCode::DiskFull) => {
            "the disk is full: free some space, then try again; nothing half-written was left"
        }
        Some(rusqlite::ErrorCode::SystemIoFailure) => {
            "the disk could not be written to or read: it may be full, damaged or gone; nothing half-written was left"
        }
        Some(
            rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::PermissionDenied,
        ) => "check that the folder of the memory can be written to",
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
            "memory.db is damaged: `recollect rebuild` makes it anew from the archive and the manifests, and keeps the old one"
        }
        _ => {
            return Error::new(ErrorKind::Io, format!("the database refused: {error}")).because(error);
        }
    };
    Error::new(ErrorKind::Io, format!("the database refused: {error}")).hint(hint).because(error)
}

/// Reads a JSON column; what is damaged reads as the default.
fn from_json<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

/// Writes a JSON column.
fn to_json<T: serde::Serialize>(value: &T) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}
