//! An open memory in a temporary folder, with a fixed clock, for the engine's own tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Transcript;
use crate::api::ingest::{IngestReport, IngestRequest};
use crate::api::session::MessageListRequest;
use crate::engine::{Call, Cancel, Engine, EngineOptions};
use crate::registry;
use crate::session::{Block, Message, MessageKind, Role};
use crate::time::Time;

/// A memory that goes with its folder.
pub(crate) struct Memory {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) engine: Engine,
}

impl Memory {
    /// An empty memory; it is January 2026.
    pub(crate) fn new() -> Self {
        Self::at(1_768_900_000_000)
    }

    /// An empty memory at a time, in milliseconds since 1970.
    pub(crate) fn at(time: i64) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = Engine::open(EngineOptions {
            home: folder.path().join("memory"),
            claude_home: folder.path().join("claude"),
            clock: Arc::new(move || Time::from_millis(time)),
            sink: Arc::new(|_| {}),
            export_folders: Vec::new(),
            models: Arc::new(crate::language_model::NoModels),
        })
        .expect("a fresh memory opens");
        Self { folder, engine }
    }

    /// Writes transcripts and takes them in.
    pub(crate) fn take(self, transcripts: &[Transcript]) -> Self {
        let folder = self.folder.path().join("transcripts");
        let paths: Vec<PathBuf> =
            transcripts.iter().map(|transcript| transcript.write_into(&folder).expect("written")).collect();
        self.ingest(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>());
        self
    }

    /// A path below the folder; the folders on the way are made.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("made");
        path
    }

    /// Writes a file.
    pub(crate) fn put(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs_err::write(&path, content).expect("written");
        path
    }

    /// Takes files in.
    pub(crate) fn ingest(&self, paths: &[&Path]) -> IngestReport {
        let paths = paths.iter().map(|path| path.display().to_string()).collect();
        self.call(|call| registry::ingest(call, &IngestRequest { paths, ..IngestRequest::default() }))
            .expect("ingest works")
    }

    /// Calls the engine.
    pub(crate) fn call<T>(&self, work: impl FnOnce(&Call<'_>) -> T) -> T {
        work(&Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() })
    }

    /// Texts of a session's messages.
    pub(crate) fn texts(&self, session: &str) -> Vec<String> {
        let request =
            MessageListRequest { session: session.to_owned(), agent: None, offset: None, limit: None, longest: None };
        let page = registry::messages(&self.engine, &request).expect("messages");
        page.messages.into_iter().map(|message| message.text).collect()
    }
}

/// The assistant's message `u` that holds these blocks, the first of its conversation.
pub(crate) fn message(blocks: Vec<Block>) -> Message {
    Message {
        index: 0,
        uuid: "u".into(),
        role: Role::Assistant,
        kind: MessageKind::Turn,
        timestamp: None,
        reply_id: None,
        model: None,
        agent_id: None,
        cut_lines: None,
        blocks,
    }
}
