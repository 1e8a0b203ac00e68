//! What a compression starts from: the session itself, or one of its versions with the way back to the original messages.

use std::collections::HashMap;

use super::outline::Outline;
use super::{find, store};
use crate::api::compression::VersionMessage;
use crate::api::keepit::{Fate, MarkerVerdict};
use crate::compress::{Input, Marked, Origin, SessionHead};
use crate::db::{KeepitRow, SessionRow};
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{MarkerId, ProjectId, SessionId, VersionId};
use crate::keepit::Decay;
use crate::registry;
use crate::session::{Block, Message, MessageKind};

/// A session, or a version of it, ready to be compressed.
#[derive(Debug, Clone)]
pub struct Source {
    /// What the result says of its session.
    pub head: SessionHead,
    /// Its project.
    pub project_id: ProjectId,
    /// The session's distance.
    pub distance: u32,
    /// How weights decay, by the configuration.
    pub decay: Decay,
    /// The version, if it is one.
    pub from: Option<VersionId>,
    /// Indexes of the first and last message of the session that it tells of.
    pub covers: (u32, u32),
    /// The messages.
    pub messages: Vec<Message>,
    /// Tokens of each.
    pub tokens: Vec<u64>,
    /// Marked passages in them.
    pub keepits: Vec<Marked>,
    /// Marked passages of the session that the version no longer has word for word.
    pub lost: Vec<MarkerVerdict>,
    /// The session as it was in the moment in which its messages were read.
    pub(super) outline: Outline,
    /// Hash of the version's messages, if it is one.
    pub(super) from_hash: Option<String>,
    origins: Option<Vec<Origin>>,
    places: HashMap<MarkerId, usize>,
}

impl Source {
    /// Loads a session, or one of its versions.
    ///
    /// # Errors
    /// `NotFound` when it is not there.
    pub fn load(engine: &Engine, session: &SessionId, from: Option<&VersionId>) -> Result<Self> {
        match from.filter(|version| version.as_str() != "original") {
            None => Self::load_range(engine, session, 0, u32::MAX),
            Some(version) => Self::load_version(engine, session, version),
        }
    }

    /// Loads a part of a session: the messages whose indexes are in a range, and the marks in them.
    ///
    /// # Errors
    /// `NotFound` when the session is not in memory.
    pub fn load_range(engine: &Engine, session: &SessionId, first: u32, last: u32) -> Result<Self> {
        let decay = engine.decay()?;
        let (loaded, outline) =
            registry::load_range_with(engine, session, first, last, |rows| Outline::of(rows, session, decay))?;
        let mut source = Self::empty(&loaded, outline);
        let keepits: Vec<KeepitRow> =
            loaded.keepits.into_iter().filter(|keepit| (first..=last).contains(&keepit.message_index)).collect();
        source.take_original(loaded.messages, loaded.tokens, &keepits);
        Ok(source)
    }

    fn load_version(engine: &Engine, session: &SessionId, version: &VersionId) -> Result<Self> {
        let row = find(engine, session, version)?;
        // What it was made from is in its files: of the session only what it says of itself is asked.
        let decay = engine.decay()?;
        let (loaded, outline) =
            registry::load_range_with(engine, session, u32::MAX, u32::MAX, |rows| Outline::of(rows, session, decay))?;
        let mut source = Self::empty(&loaded, outline);
        let covers = row.parts.first().zip(row.parts.last()).map(|(first, last)| (first.first, last.last));
        let messages = store::read_version(engine, &row)?;
        source.take_version(version, messages, &loaded.keepits);
        source.covers = covers.unwrap_or_default();
        source.from_hash = Some(row.provenance.jsonl_hash);
        Ok(source)
    }

    fn empty(loaded: &registry::Loaded, outline: Outline) -> Self {
        let head = head_of(&loaded.session, &loaded.project_path);
        let row = &loaded.session;
        let places = loaded.keepits.iter().enumerate().map(|(at, keepit)| (keepit.marker_id.clone(), at)).collect();
        Self {
            head,
            project_id: row.project_id.clone(),
            distance: loaded.distance,
            decay: outline.decay.clone(),
            from: None,
            covers: (0, 0),
            messages: Vec::new(),
            tokens: Vec::new(),
            keepits: Vec::new(),
            lost: Vec::new(),
            outline,
            from_hash: None,
            origins: None,
            places,
        }
    }

    /// What the compression reads.
    pub fn input(&self) -> Input<'_> {
        Input {
            session: &self.head,
            messages: &self.messages,
            tokens: &self.tokens,
            keepits: &self.keepits,
            origins: self.origins.as_deref(),
        }
    }

    /// Order of a marker in the text.
    pub(super) fn place_of(&self, marker: &MarkerId) -> usize {
        self.places.get(marker).copied().unwrap_or(usize::MAX)
    }

    fn take_original(&mut self, messages: Vec<Message>, tokens: Vec<u64>, keepits: &[KeepitRow]) {
        (self.keepits, self.lost) = marks(messages.iter().map(|message| message.index), keepits);
        self.covers = messages.first().zip(messages.last()).map_or((0, 0), |(first, last)| (first.index, last.index));
        self.messages = messages;
        self.tokens = tokens;
    }

    fn take_version(&mut self, version: &VersionId, messages: Vec<VersionMessage>, keepits: &[KeepitRow]) {
        for keepit in keepits {
            let found = messages.iter().zip(0..).find_map(|(message, place)| {
                let byte = message.text.find(&keepit.content)?;
                let from_it = message.source_indexes.contains(&keepit.message_index);
                from_it.then(|| (place, message.text[..byte].chars().count() as u64))
            });
            match found {
                Some((place, start)) if !keepit.content.is_empty() => {
                    let end = start + keepit.content.chars().count() as u64;
                    self.keepits.push(marked(keepit, place, start, end));
                }
                _ => self.lost.push(lost(keepit, &format!("it is not word for word in {version}"))),
            }
        }
        self.from = Some(version.clone());
        self.tokens = messages.iter().map(|message| message.tokens).collect();
        self.origins = Some(
            messages
                .iter()
                .map(|message| Origin { sources: message.sources.clone(), indexes: message.source_indexes.clone() })
                .collect(),
        );
        self.messages = messages.into_iter().map(message_of).collect();
    }
}

/// What a compression says of a session.
pub(super) fn head_of(row: &SessionRow, project_path: &str) -> SessionHead {
    SessionHead {
        id: row.session_id.clone(),
        title: row.user_title.clone().unwrap_or_else(|| row.title.clone()),
        project_path: project_path.to_owned(),
        branch: row.git_branch.clone(),
        first: row.first_timestamp,
        last: row.last_timestamp,
    }
}

/// Marks by the places of their messages, of which the indexes are given in order; and those whose messages are not among them.
pub(super) fn marks(messages: impl Iterator<Item = u32>, keepits: &[KeepitRow]) -> (Vec<Marked>, Vec<MarkerVerdict>) {
    let place: HashMap<u32, u32> = messages.zip(0..).collect();
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for keepit in keepits {
        match place.get(&keepit.message_index) {
            Some(place) => found.push(marked(keepit, *place, keepit.start, keepit.end)),
            None => missing.push(lost(keepit, "its message is not in the main conversation")),
        }
    }
    (found, missing)
}

/// A version's message as one of a session.
fn message_of(message: VersionMessage) -> Message {
    Message {
        index: message.index,
        uuid: message.uuid,
        role: message.role,
        kind: MessageKind::Turn,
        timestamp: message.timestamp,
        reply_id: None,
        model: None,
        agent_id: None,
        cut_lines: None,
        blocks: vec![Block::Text { text: message.text }],
    }
}

fn marked(keepit: &KeepitRow, message: u32, start: u64, end: u64) -> Marked {
    Marked {
        marker_id: keepit.marker_id.clone(),
        message,
        start,
        end,
        content: keepit.content.clone(),
        weight: f64::from(keepit.weight) / 100.0,
    }
}

/// The verdict on a passage that cannot be kept any more.
fn lost(keepit: &KeepitRow, reason: &str) -> MarkerVerdict {
    MarkerVerdict {
        marker_id: keepit.marker_id.clone(),
        message_index: keepit.message_index,
        content: keepit.content.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect(),
        weight: f64::from(keepit.weight) / 100.0,
        survives: false,
        fate: Fate::Summarized,
        margin: 0.0,
        threshold: 0.0,
        reason: reason.to_owned(),
    }
}
