//! What a session brings to a composition, read when it is needed and once.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::join::Origin;
use super::models::names_model;
use super::plan::Rendition;
use super::render::body;
use super::select::{Candidate, Pick};
use super::states::{FileState, states};
use crate::api::compression::{
    CompressionSettings, LeftOut, Version, VersionMessage, VersionMessageKind, VersionMessagesRequest,
};
use crate::archive::hex;
use crate::compress::Outcome;
use crate::db::{SessionRow, VersionRow};
use crate::dedup::ContentHash;
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::ids::{SessionId, VersionId};
use crate::session::{Block, Message, MessageKind};
use crate::summarize::Account;
use crate::time::Time;
use crate::versions::{self, Source};

/// A session and its versions.
pub(super) struct Material<'c> {
    call: &'c Call<'c>,
    pub(super) session: SessionRow,
    pub(super) project_path: String,
    /// As people call it.
    pub(super) project_name: String,
    pub(super) versions: Vec<VersionRow>,
    /// Tokens that each of them lacks of what is newest.
    behind: Vec<u64>,
    /// Marked words, in order.
    pub(super) keepits: Vec<String>,
    /// The messages of the original by index.
    pub(super) origins: HashMap<u32, Origin>,
    /// Tells everything that the session is prepared from.
    state: [u8; 32],
    source: OnceCell<Arc<Source>>,
    states: OnceCell<HashMap<u32, FileState>>,
    existing: RefCell<HashMap<VersionId, Rendition>>,
    /// What models made, which is for this request alone: the next may ask another model.
    told: RefCell<Vec<(CompressionSettings, Arc<Outcome>)>>,
}

impl<'c> Material<'c> {
    /// Reads the facts of a session, not its messages.
    pub(super) fn new(call: &'c Call<'c>, session: &SessionId) -> Result<Self> {
        let engine = call.engine;
        let decay = engine.decay()?;
        engine.db().read(|rows| {
            let session = rows
                .session(session)?
                .ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
            let (project_path, project_name) = rows
                .project(&session.project_id)?
                .map(|project| (project.original_path, project.display_name))
                .unwrap_or_default();
            let messages = match rows.main_file(&session.session_id)? {
                Some(file) => rows.messages(file.file_id, 0, None)?,
                None => Vec::new(),
            };
            let keepits = rows.keepits(&session.session_id)?;
            let versions = rows.versions(&session.session_id)?;
            let behind = versions
                .iter()
                .map(|version| Ok(versions::behind(rows, version)?.map_or(0, |behind| behind.tokens)))
                .collect::<Result<_>>()?;
            let mut state = Sha256::new();
            // When it was last looked at changes nothing in it.
            let facts = SessionRow { last_accessed: Time::from_millis(0), ..session.clone() };
            state.update(format!("{facts:?} {project_path} {decay:?} {keepits:?} {}", engine.counter().thousandths()));
            for row in &messages {
                state.update(row.hash);
                state.update(row.tokens.to_le_bytes());
            }
            let origin =
                |uuid, reply_id, hash: &[u8; 32], timestamp| Origin { uuid, reply_id, hash: hex(hash), timestamp };
            Ok(Self {
                call,
                project_path,
                project_name,
                versions,
                behind,
                state: state.finalize().into(),
                keepits: keepits.into_iter().map(|keepit| keepit.content.trim().to_owned()).collect(),
                origins: messages
                    .into_iter()
                    .map(|row| (row.position, origin(row.uuid, row.reply_id, &row.hash, row.timestamp)))
                    .collect(),
                session,
                source: OnceCell::new(),
                states: OnceCell::new(),
                existing: RefCell::default(),
                told: RefCell::default(),
            })
        })
    }

    /// What the user or the transcript calls it.
    pub(super) fn title(&self) -> &str {
        self.session.user_title.as_deref().unwrap_or(&self.session.title)
    }

    /// Its versions, as selection sees them; only those that it has not outgrown when they must be whole.
    pub(super) fn candidates(&self, whole: bool) -> Vec<Candidate> {
        let candidates = self
            .versions
            .iter()
            .zip(&self.behind)
            .map(|(version, behind)| Candidate::of(version, self.session.tokens, *behind));
        candidates.filter(|candidate| !whole || candidate.covered >= 1.0).collect()
    }

    /// Tokens of the original for one of the output.
    pub(super) fn ratio_of(&self, output_tokens: u64) -> f64 {
        self.session.tokens as f64 / output_tokens.max(1) as f64
    }

    /// Tokens of what a composition would hold of these messages.
    pub(super) fn tokens_of<'m>(&self, messages: impl IntoIterator<Item = &'m VersionMessage>) -> u64 {
        self.call.engine.counter().count(&body(messages))
    }

    /// The original, or a version that is there.
    pub(super) fn existing(&self, pick: &Pick) -> Result<Rendition> {
        let version = pick.version_id();
        if let Some(rendition) = self.existing.borrow().get(&version) {
            return Ok(rendition.clone());
        }
        self.call.cancel.check()?;
        let (messages, left_out) = match pick {
            Pick::Original => originals(self.call.engine, self.source()?),
            Pick::Version(_) | Pick::New => {
                let session = self.session.session_id.to_string();
                let request = VersionMessagesRequest { session, version: version.clone(), offset: None, limit: None };
                let page = versions::messages(self.call.engine, &request)?;
                (page.messages, page.left_out)
            }
        };
        let rendition = Rendition { tokens: self.tokens_of(&messages), messages, left_out };
        self.existing.borrow_mut().insert(version, rendition.clone());
        Ok(rendition)
    }

    /// A version that is there.
    pub(super) fn version(&self, version: &VersionId) -> Result<&VersionRow> {
        self.versions.iter().find(|row| row.version_id == *version).ok_or_else(|| {
            let names: Vec<&str> = self.versions.iter().map(|row| row.version_id.as_str()).collect();
            let has =
                if names.is_empty() { "it has none yet".to_owned() } else { format!("it has {}", names.join(", ")) };
            Error::not_found(format!("session {} has no version `{version}`", self.session.session_id))
                .hint(format!("{has}; `auto`, `new` and `original` are always there"))
        })
    }

    /// A compression by the settings, as the built-in engine makes it; nothing is stored and no model is asked.
    pub(super) fn compressed(&self, settings: &CompressionSettings) -> Result<Rendition> {
        self.told(&CompressionSettings { engine: None, ..settings.clone() }, &Account::default())
    }

    /// A compression by the settings, made by the engine that they name; what it costs is for the account.
    pub(super) fn told(&self, settings: &CompressionSettings, account: &Account) -> Result<Rendition> {
        let outcome = self.outcome(settings, account)?;
        // A version is never larger than its share, in neither of its forms.
        let tokens = self.tokens_of(&outcome.messages).max(outcome.output_tokens);
        Ok(Rendition { messages: outcome.messages.clone(), tokens, left_out: outcome.left_out.clone() })
    }

    /// Stores the compression by the settings as a version.
    pub(super) fn save(&self, settings: &CompressionSettings) -> Result<Version> {
        versions::save(self.call.engine, self.source()?, settings, &*self.outcome(settings, &Account::default())?, true)
    }

    fn outcome(&self, settings: &CompressionSettings, account: &Account) -> Result<Arc<Outcome>> {
        if names_model(settings) {
            return self.model_outcome(settings, account);
        }
        let (prepared, id, now) = (self.call.engine.prepared(), &self.session.session_id, self.call.engine.now());
        if let Some(outcome) = prepared.outcome(id, self.state, now, settings) {
            return Ok(outcome);
        }
        self.call.cancel.check()?;
        let outcome = Arc::new(versions::run(self.call, self.source()?, settings)?);
        prepared.keep(id, self.state, now, settings, &outcome);
        Ok(outcome)
    }

    fn model_outcome(&self, settings: &CompressionSettings, account: &Account) -> Result<Arc<Outcome>> {
        let known = |told: &[(CompressionSettings, Arc<Outcome>)]| {
            told.iter().find(|(made, _)| made == settings).map(|(_, outcome)| Arc::clone(outcome))
        };
        if let Some(outcome) = known(&self.told.borrow()) {
            return Ok(outcome);
        }
        self.call.cancel.check()?;
        let outcome = Arc::new(versions::run_within(self.call, self.source()?, settings, account)?);
        self.told.borrow_mut().push((settings.clone(), Arc::clone(&outcome)));
        Ok(outcome)
    }

    /// The states of files that messages of the original hold, by their indexes.
    pub(super) fn states(&self) -> Result<&HashMap<u32, FileState>> {
        let source = self.source()?;
        Ok(self.states.get_or_init(|| states(&source.messages)))
    }

    fn source(&self) -> Result<&Source> {
        if let Some(source) = self.source.get() {
            return Ok(source);
        }
        let (engine, id) = (self.call.engine, &self.session.session_id);
        let source = engine.prepared().source(id, self.state, engine.now(), || Source::load(engine, id, None))?;
        Ok(self.source.get_or_init(|| source))
    }
}

/// The messages of an original that a model can read again, word for word, and what of it is not among them.
fn originals(engine: &Engine, source: &Source) -> (Vec<VersionMessage>, Vec<LeftOut>) {
    let mut messages = Vec::new();
    let mut left_out: Vec<LeftOut> = Vec::new();
    let mut leave = |reason: &str, tokens: u64| match left_out.iter_mut().find(|left| left.reason == reason) {
        Some(left) => {
            left.messages += 1;
            left.tokens += tokens;
        }
        None => left_out.push(LeftOut { reason: reason.to_owned(), messages: 1, tokens }),
    };
    for (message, tokens) in source.messages.iter().zip(&source.tokens) {
        if matches!(message.kind, MessageKind::CompactBoundary | MessageKind::Notice) {
            leave("notice of the client", *tokens);
            continue;
        }
        let text = said(message);
        if text.trim().is_empty() {
            let thought = message.blocks.iter().any(|block| matches!(block, Block::Thinking { .. }));
            leave(if thought { "only thought" } else { "nothing said" }, *tokens);
            continue;
        }
        messages.push(VersionMessage {
            index: u32::try_from(messages.len()).unwrap_or(u32::MAX),
            uuid: message.uuid.clone(),
            role: message.role,
            kind: VersionMessageKind::Verbatim,
            timestamp: message.timestamp,
            hash: ContentHash::of(&text).to_string(),
            tokens: engine.counter().count(&text),
            text,
            sources: vec![message.uuid.clone()],
            source_indexes: vec![message.index],
        });
    }
    (messages, left_out)
}

/// What a message says without what the model only thought: thoughts cannot be given back to it.
fn said(message: &Message) -> String {
    let texts = message.blocks.iter().filter(|block| !matches!(block, Block::Thinking { .. })).map(Block::text);
    texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}
