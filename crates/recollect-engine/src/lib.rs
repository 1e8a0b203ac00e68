//! The engine of Recollect: everything that is not a terminal, a window or a socket.
//!
//! Faces (desktop, command line) open an [`Engine`] and speak to it through the one table of commands in [`api`].

#![warn(missing_docs)]

pub mod api;
pub mod archive;
pub mod backup;
pub mod checkpoint;
pub mod compose;
pub mod compress;
pub mod config;
pub mod db;
pub mod dedup;
pub mod document;
pub mod engine;
pub mod error;
pub mod event;
pub mod extract;
pub mod health;
pub mod home;
pub mod ids;
mod imported;
mod jobs;
pub mod keepit;
pub mod language_model;
mod line;
mod manifest;
pub mod memory_context;
pub mod models;
pub mod near_duplicates;
pub mod pairing;
pub mod rebuild;
pub mod redact;
pub mod registry;
pub mod resume;
pub mod search;
pub mod session;
pub mod sources;
pub mod storage;
pub mod suggest;
pub mod summarize;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
pub mod tokens;
pub mod transcript;
pub mod versions;
pub mod watch;

pub use engine::{Engine, EngineOptions};
pub use error::{Error, ErrorKind, Result};
