//! A memory for a while, in which transcripts are taken in and compressed as a user would have it done.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use recollect_engine::api::compression::{CompressionMode, CompressionSettings, KeepitMode};
use recollect_engine::api::ingest::{IngestRequest, ingest};
use recollect_engine::compress::{self, Outcome, Passes};
use recollect_engine::engine::{Call, Cancel};
use recollect_engine::ids::SessionId;
use recollect_engine::time::Time;
use recollect_engine::versions::Source;
use recollect_engine::{Engine, EngineOptions};
use uuid::Uuid;

/// The memory.
pub(crate) struct Memory {
    engine: Engine,
    folder: std::path::PathBuf,
}

impl Memory {
    /// Opens an empty one below a folder.
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        let engine = Engine::open(EngineOptions {
            home: folder.join("memory"),
            claude_home: folder.join("client"),
            clock: Arc::new(|| Time::from_millis(jiff::Timestamp::now().as_millisecond())),
            sink: Arc::new(|_| {}),
            export_folders: Vec::new(),
            models: Arc::new(recollect_engine::language_model::NoModels),
        })?;
        Ok(Self { engine, folder: folder.to_owned() })
    }

    /// Takes in a transcript.
    pub(crate) fn take_in(&self, name: &str, transcript: &str) -> anyhow::Result<Source> {
        let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes());
        let file = self.folder.join(format!("{id}.jsonl"));
        fs_err::write(&file, transcript)?;
        self.take_in_file(&file)
    }

    /// Takes in a file.
    pub(crate) fn take_in_file(&self, file: &Path) -> anyhow::Result<Source> {
        let call = Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() };
        let request = IngestRequest { paths: vec![file.display().to_string()], ..IngestRequest::default() };
        let report = ingest(&call, request)?;
        let session = report.sessions.first().context("nothing was taken in")?;
        self.source(&session.session_id)
    }

    /// A session as it is compressed.
    pub(crate) fn source(&self, session: &SessionId) -> anyhow::Result<Source> {
        Ok(Source::load(&self.engine, session, None)?)
    }

    /// Tokens of a text.
    pub(crate) fn count(&self, text: &str) -> u64 {
        self.engine.counter().count(text)
    }

    /// Compresses with one ratio for all.
    pub(crate) fn compress(&self, source: &Source, ratio: f64, passes: Passes) -> anyhow::Result<Outcome> {
        let settings = CompressionSettings {
            mode: CompressionMode::Uniform,
            compaction_ratio: Some(ratio),
            aggressiveness: None,
            tier_preset: None,
            custom_tiers: None,
            skip_first_messages: 0,
            keepit_mode: KeepitMode::Decay,
            session_distance: None,
            engine: None,
            model: None,
            max_cost: None,
        };
        let mut resolved = compress::resolve(&settings, source.distance)?;
        resolved.passes = passes;
        let counter = *self.engine.counter();
        Ok(compress::run(&source.input(), &resolved, &source.decay, counter, &|_, _, _| Ok(()))?)
    }
}
