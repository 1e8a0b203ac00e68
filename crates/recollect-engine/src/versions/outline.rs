//! A session without its words: which messages it has, what their content hashes are, and how it is marked. Enough to tell
//! whether what a version was made from is still the same, and far less to read than the session itself.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::source::{head_of, marks};
use crate::api::compression::CompressionSettings;
use crate::api::keepit::MarkerVerdict;
use crate::archive::hex;
use crate::compress::{self, SessionHead};
use crate::db::{KeepitRow, MessageRow, Rows};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::{MarkerId, ProjectId, SessionId};
use crate::keepit::Decay;

/// A message of the main conversation without its words.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Its index in the session.
    pub(super) index: u32,
    /// Its tokens.
    tokens: u64,
    /// Hash of what it is and says.
    hash: [u8; 32],
}

/// A session without its words.
#[derive(Debug, Clone)]
pub(super) struct Outline {
    pub(super) head: SessionHead,
    pub(super) project_id: ProjectId,
    /// The session's distance.
    pub(super) distance: u32,
    pub(super) decay: Decay,
    /// The main conversation, in order.
    pub(super) lines: Vec<Line>,
    /// Marks that count, in order of the text.
    pub(super) keepits: Vec<KeepitRow>,
}

impl Outline {
    /// Reads it.
    ///
    /// # Errors
    /// `NotFound` when the session is not in memory.
    pub(super) fn load(engine: &Engine, session: &SessionId) -> Result<Self> {
        let decay = engine.decay()?;
        engine.db().read(|rows| Self::of(rows, session, decay))
    }

    /// As it is in a view of the rows.
    ///
    /// # Errors
    /// As [`Outline::load`].
    pub(super) fn of(rows: &Rows<'_>, session: &SessionId, decay: Decay) -> Result<Self> {
        let sums = rows
            .session_sums(session)?
            .ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
        let project = rows.project(&sums.session.project_id)?;
        Ok(Self {
            head: head_of(&sums.session, &project.map(|project| project.original_path).unwrap_or_default()),
            project_id: sums.session.project_id.clone(),
            distance: sums.session.distance_by_hand.unwrap_or(sums.rank),
            decay,
            lines: lines(rows, session)?,
            keepits: rows.keepits(session)?,
        })
    }

    /// The messages in a range of indexes.
    pub(super) fn within(&self, first: u32, last: u32) -> &[Line] {
        let from = self.lines.partition_point(|line| line.index < first);
        let end = self.lines.partition_point(|line| line.index <= last);
        &self.lines[from..end.max(from)]
    }

    /// Place of a message in the conversation, from 0.
    pub(super) fn place(&self, index: u32) -> usize {
        self.lines.partition_point(|line| line.index < index)
    }

    /// Tokens of the messages in a range.
    pub(super) fn tokens(&self, first: u32, last: u32) -> u64 {
        self.within(first, last).iter().map(|line| line.tokens).sum()
    }

    /// Hash of what the messages in a range say.
    pub(super) fn messages_hash(&self, first: u32, last: u32) -> String {
        let mut hash = Sha256::new();
        for line in self.within(first, last) {
            hash.update(line.index.to_le_bytes());
            hash.update(line.hash);
        }
        hex(&hash.finalize().into())
    }

    /// Hash of the marks in a range of indexes, and of which of them survive by the verdicts. Weights are in it only as far as they
    /// decide that.
    pub(super) fn keepits_hash(&self, first: u32, last: u32, verdicts: &[MarkerVerdict]) -> String {
        let survives: HashMap<&MarkerId, bool> =
            verdicts.iter().map(|verdict| (&verdict.marker_id, verdict.survives)).collect();
        let mut hash = Sha256::new();
        for keepit in self.marks_within(first, last) {
            let survives = survives.get(&keepit.marker_id).copied().unwrap_or(false);
            hash.update(format!("{} {} {} {survives} ", keepit.message_index, keepit.start, keepit.end));
            hash.update((keepit.content.len() as u64).to_le_bytes());
            hash.update(&keepit.content);
        }
        hex(&hash.finalize().into())
    }

    /// Verdicts on the marks of a part, without reading its words.
    ///
    /// # Errors
    /// As [`compress::resolve`].
    pub(super) fn verdicts(&self, first: u32, last: u32, settings: &CompressionSettings) -> Result<Vec<MarkerVerdict>> {
        let lines = self.within(first, last);
        let keepits: Vec<KeepitRow> = self.marks_within(first, last).cloned().collect();
        let (marked, missing) = marks(lines.iter().map(|line| line.index), &keepits);
        let resolved = compress::resolve(settings, self.distance)?;
        let mut verdicts = compress::survivors(&marked, lines.len(), &resolved, &self.decay, &self.head)?;
        for (verdict, mark) in verdicts.iter_mut().zip(&marked) {
            verdict.message_index = lines.get(mark.message as usize).map_or(0, |line| line.index);
        }
        verdicts.extend(missing);
        Ok(verdicts)
    }

    /// Order of the marks in the text.
    pub(super) fn order_of_marks(&self) -> HashMap<&MarkerId, usize> {
        self.keepits.iter().enumerate().map(|(at, keepit)| (&keepit.marker_id, at)).collect()
    }

    fn marks_within(&self, first: u32, last: u32) -> impl Iterator<Item = &KeepitRow> {
        self.keepits.iter().filter(move |keepit| (first..=last).contains(&keepit.message_index))
    }
}

fn lines(rows: &Rows<'_>, session: &SessionId) -> Result<Vec<Line>> {
    let Some(file) = rows.main_file(session)? else { return Ok(Vec::new()) };
    let messages = rows.messages(file.file_id, 0, None)?;
    messages.iter().filter(|row| row.agent_id.is_none()).map(line).collect()
}

fn line(row: &MessageRow) -> Result<Line> {
    let mut hash = Sha256::new();
    // What is not in its text but tells: who, what, when, under which name.
    hash.update(serde_json::to_vec(&(&row.uuid, row.role, row.kind, row.timestamp))?);
    hash.update(row.hash);
    Ok(Line { index: row.position, tokens: row.tokens, hash: hash.finalize().into() })
}
