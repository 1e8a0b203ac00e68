//! The built-in compression: from messages and marked passages to the part of them that still matters, under a hard budget.
//!
//! Pure: the same input gives the same bytes. One file per pass: `clean` takes the client's wrapping off, `repeats` finds
//! what a later call replaces, `calls` and `outputs` tell tools in lines that can stand alone, `prose` cuts sentences, `cues`
//! weighs, `terms` finds what is rare, `select` chooses, `assemble` and `markdown` put the record together.

mod assemble;
mod calls;
mod clean;
mod cues;
mod extract;
mod join;
mod jsonl;
mod markdown;
mod outputs;
pub mod outside;
mod passes;
mod piece;
mod plan;
mod prose;
mod repeats;
mod run;
mod safely;
mod select;
mod settings;
mod shorten;
mod terms;
mod verdicts;

use serde::{Deserialize, Serialize};

use crate::api::compression::{LeftOut, ModelRun, TierResult, VersionMessage};
use crate::api::keepit::MarkerVerdict;
use crate::error::Result;
use crate::ids::{MarkerId, SessionId};
use crate::session::Message;
use crate::time::Time;

pub use join::{Joined, Joining, Section, join, message_uuid};
pub use jsonl::{from_jsonl, to_jsonl};
pub use passes::{Pass, Passes};
pub use run::{run, whole};
pub use settings::{Resolved, Tier, level_name, preset_name, preset_tiers, resolve, uniform_within};
pub use verdicts::survivors;

/// Name of the built-in engine.
pub const ENGINE: &str = "extractive";

/// Revision of the built-in engine: raised with every release whose output differs from that of the one before, so that
/// it can be told why a version cannot be made again byte for byte.
pub const REVISION: u32 = 1;

/// What a compression says of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHead {
    /// Its id.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// Path of its project; empty when it is not known.
    pub project_path: String,
    /// Its branch.
    pub branch: Option<String>,
    /// First message.
    pub first: Option<Time>,
    /// Last message.
    pub last: Option<Time>,
}

/// A marked passage of the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    /// The marker.
    pub marker_id: MarkerId,
    /// Place of its message in [`Input::messages`].
    pub message: u32,
    /// Where the marker starts in the message's text, in characters.
    pub start: u64,
    /// Where its content ends.
    pub end: u64,
    /// The marked words, without the marker.
    pub content: String,
    /// Its weight, 0 to 1.
    pub weight: f64,
}

/// The original messages behind a message of the input, when that is a version's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Their uuids.
    pub sources: Vec<String>,
    /// Their indexes.
    pub indexes: Vec<u32>,
}

/// What is compressed.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Its session.
    pub session: &'a SessionHead,
    /// The messages, in order.
    pub messages: &'a [Message],
    /// Tokens of each message, as the session counts them.
    pub tokens: &'a [u64],
    /// The marked passages, in order of the text.
    pub keepits: &'a [Marked],
    /// Where the messages come from, when they are a version's; one each.
    pub origins: Option<&'a [Origin]>,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The messages.
    pub messages: Vec<VersionMessage>,
    /// The Markdown record, whose tokens are `output_tokens`.
    pub markdown: String,
    /// Bytes of `markdown` before the conversation: its head.
    pub head_bytes: usize,
    /// Tokens of the source.
    pub original_tokens: u64,
    /// The most tokens that the result might have.
    pub budget: u64,
    /// Tokens of the result: of the Markdown record, or of all messages where that is more.
    pub output_tokens: u64,
    /// One for each stretch.
    pub tiers: Vec<TierResult>,
    /// One for each marked passage, in order.
    pub keepits: Vec<MarkerVerdict>,
    /// Messages that are not in it, by reason.
    pub left_out: Vec<LeftOut>,
    /// Tokens of the result along the source, in up to 72 equal stretches of its messages.
    pub output_map: Vec<u64>,
    /// How a language model made it; none for the built-in engine.
    pub made_by: Option<ModelRun>,
}

/// What surviving keepits need; the source of an `OverBudget`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("they need {0} tokens")]
pub struct Needs(pub u64);

/// Hears how far a compression is: what it does, how much of how much is done. An error stops it.
pub type Watch<'w> = dyn Fn(&str, u64, u64) -> Result<()> + 'w;

/// Why a message has nothing in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// It was skipped by request.
    Skipped,
    /// It carries nothing.
    NothingSaid,
    /// A later call says the same.
    Replaced,
    /// There was no room.
    OverBudget,
}

impl Why {
    fn words(self) -> &'static str {
        match self {
            Self::Skipped => "skipped at the start",
            Self::NothingSaid => "nothing said",
            Self::Replaced => "read again later",
            Self::OverBudget => "over budget",
        }
    }
}

#[cfg(test)]
mod tests;
