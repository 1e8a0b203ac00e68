//! The one error that leaves the engine.
//!
//! `message` says what failed, in lower case and without a full stop; `hint` says what to do about it.
//! Bad input data is not an error: parsing returns a session and a list of issues.
//! Add an [`ErrorKind`] only when a caller branches on it, and remove it when the last one stops.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Result of an engine operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ErrorKind {
    /// The request itself is wrong (a value out of range, an unknown name of an option); exit status 2 in the terminal.
    Usage,
    /// A named session, version, marker, composition or file does not exist.
    NotFound,
    /// The state forbids it (a version in use, a name taken, a transcript that changed); force or another choice may help.
    Conflict,
    /// What must be kept does not fit the token budget.
    OverBudget,
    /// The user cancelled.
    Cancelled,
    /// The file system, the database or the client refused.
    Io,
    /// The memory was written by a newer program.
    NewerMemory,
    /// A defect of this program.
    Internal,
}

/// A failure, with what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What a caller can branch on.
    pub kind: ErrorKind,
    /// What failed: lower case, no full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The failure underneath.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Makes an error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }

    /// A request that is wrong in itself.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Something named that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// A state that forbids the request.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// A defect of this program.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the failure underneath.
    #[must_use]
    pub fn because(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// The shape in which a failure crosses to a face.
    pub fn to_wire(&self) -> WireError {
        WireError { kind: self.kind, message: self.message.clone(), hint: self.hint.clone() }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        let hint = match error.kind() {
            std::io::ErrorKind::StorageFull => {
                Some("the disk is full: free some space, then try again; nothing half-written was left")
            }
            std::io::ErrorKind::QuotaExceeded | std::io::ErrorKind::FileTooLarge => Some(
                "your share of the disk is used up: free some space, then try again; nothing half-written was left",
            ),
            std::io::ErrorKind::PermissionDenied => Some("check who owns the file and its permissions"),
            _ => None,
        };
        Self {
            kind: ErrorKind::Io,
            message: error.to_string(),
            hint: hint.map(str::to_owned),
            source: Some(Box::new(error)),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error.to_string()).because(error)
    }
}

/// An [`Error`] as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct WireError {
    /// What a caller can branch on.
    pub kind: ErrorKind,
    /// What failed: lower case, no full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}
