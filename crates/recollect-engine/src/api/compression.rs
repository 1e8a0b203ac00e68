//! Compressions and their versions (2.1.3, 5.2, 5.5).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::api::keepit::{Aggressiveness, MarkerVerdict};
use crate::api::session::SessionRequest;
use crate::engine::Call;
use crate::error::Result;
use crate::ids::{SessionId, VersionId};
use crate::redact::Redaction;
use crate::registry;
use crate::session::Role;
use crate::time::Time;
use crate::versions;

/// Asks for a compression or its preview.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct CompressionRequest {
    /// The session.
    pub session: String,
    /// Compress this version instead of the original.
    pub from: Option<VersionId>,
    /// How.
    pub settings: CompressionSettings,
    /// Compress all of it anew, although a version with these settings reaches up to where the session has grown since.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub full: bool,
    /// Compress only this part of a version with the settings; its other parts stay as they are.
    pub part: Option<PartRequest>,
}

/// Names a part of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct PartRequest {
    /// The version.
    pub version: VersionId,
    /// The part, from 1.
    pub number: u32,
}

/// What a version was made from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Lineage {
    /// The session.
    #[default]
    Original,
    /// Another version.
    From,
    /// Another version, and what the session has more than that (product decision 16).
    Extended,
    /// Another version, parts of which were compressed anew: with other settings, or since their marks changed.
    Part,
}

/// A part of a version, compressed by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct VersionPart {
    /// Index of the first message of the session that it tells of.
    pub first: u32,
    /// Index of the last.
    pub last: u32,
    /// Tokens of these messages.
    pub original_tokens: u64,
    /// Tokens of the part.
    pub output_tokens: u64,
    /// Messages of the part.
    pub output_messages: u64,
    /// The version that it was made in; `new` in a preview.
    pub made_in: VersionId,
    /// How it was compressed, when not as the version's settings say.
    pub settings: Option<CompressionSettings>,
}

/// What a session has beyond a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Behind {
    /// Messages.
    pub messages: u64,
    /// Their tokens.
    pub tokens: u64,
}

/// One ratio for all, or one for each stretch of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CompressionMode {
    /// One ratio.
    Uniform,
    /// By position in the session.
    Tiered,
}

/// Ready sets of tiers (product decision 15).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TierPreset {
    /// 25→10, 50→7, 75→5, 90→4, 100→2.
    Gentle,
    /// 25→25, 50→15, 75→10, 90→5, 100→3.
    Standard,
    /// 25→50, 50→35, 75→20, 90→10, 100→5.
    Aggressive,
    /// `custom_tiers`.
    Custom,
}

/// What becomes of marked passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum KeepitMode {
    /// By the decay model (4.1).
    #[default]
    Decay,
    /// All word for word.
    PreserveAll,
    /// As any other text.
    Ignore,
}

/// One stretch of a tiered compression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct TierConfig {
    /// Where it ends, in percent of the session's messages; the last one is 100.
    #[serde(alias = "endPercent")]
    pub end_percent: f64,
    /// Its ratio, above 1 to 1000.
    #[serde(alias = "compactionRatio")]
    pub compaction_ratio: f64,
    /// Its level; by the ratio if not given.
    pub aggressiveness: Option<Aggressiveness>,
}

/// How to compress (2.1.3 `CompressionSettings`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct CompressionSettings {
    /// Uniform or tiered.
    pub mode: CompressionMode,
    /// The ratio of uniform mode, above 1 to 1000.
    pub compaction_ratio: Option<f64>,
    /// The level of uniform mode; by the ratio if not given.
    pub aggressiveness: Option<Aggressiveness>,
    /// The tiers of tiered mode.
    pub tier_preset: Option<TierPreset>,
    /// The tiers of the preset `custom`.
    pub custom_tiers: Option<Vec<TierConfig>>,
    /// Messages at the start that are left out of the compression.
    #[serde(default)]
    pub skip_first_messages: u32,
    /// What becomes of marked passages.
    #[serde(default)]
    pub keepit_mode: KeepitMode,
    /// For the decay; the session's own if not given.
    pub session_distance: Option<u32>,
    /// The engine: `extractive` (built in), or one that asks a language model: `claude`, `anthropic`, `openai`.
    pub engine: Option<String>,
    /// The model of a language-model engine, by the settings if not given; recorded, not used by the built-in one.
    pub model: Option<String>,
    /// The most US dollars that a language-model engine may cost, by the setting `engines.maxCost` if not given. Not kept with the
    /// version: it says nothing about how it came to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
}

/// What a compression would give; nothing is written.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CompressionPreview {
    /// Tokens of the source.
    pub original_tokens: u64,
    /// Messages of the source.
    pub original_messages: u64,
    /// The most tokens that the result may have.
    pub budget: u64,
    /// Tokens of the result.
    pub output_tokens: u64,
    /// Messages of the result.
    pub output_messages: u64,
    /// `original_tokens / output_tokens`.
    pub compression_ratio: f64,
    /// Distance used for the decay.
    pub distance: u32,
    /// One for each stretch; one in uniform mode.
    pub tiers: Vec<TierResult>,
    /// One for each keepit, in order of the text.
    pub keepits: Vec<MarkerVerdict>,
    /// Messages of the source that are not in the result, by reason.
    pub left_out: Vec<LeftOut>,
    /// Tokens of the result along the source's length, in up to 72 equal stretches of its messages, for the drawing.
    pub output_map: Vec<u64>,
    /// What the result is made from.
    pub lineage: Lineage,
    /// The version that it is made from, if not from the original alone.
    pub source_version: Option<VersionId>,
    /// Its parts, in order: one, unless it joins what another version has with what is new.
    pub parts: Vec<VersionPart>,
    /// Why something was compressed anew that another version has already, in words.
    pub anew: Vec<String>,
}

/// What one stretch of a compression gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TierResult {
    /// Index of its first message.
    pub first: u32,
    /// Index of its last message.
    pub last: u32,
    /// Its ratio.
    pub ratio: f64,
    /// Its level.
    pub aggressiveness: Aggressiveness,
    /// Least keepit weight that survives in it.
    pub threshold: f64,
    /// Tokens of the source in it.
    pub original_tokens: u64,
    /// Tokens of the result from it.
    pub output_tokens: u64,
}

/// Messages that are not in a result, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct LeftOut {
    /// The reason, in words: `over budget`, `nothing said`, `read again later`, `skipped at the start`.
    pub reason: String,
    /// How many messages.
    pub messages: u64,
    /// Their tokens.
    pub tokens: u64,
}

/// A new version, or its preview.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CompressionCreated {
    /// The version.
    #[serde(flatten)]
    #[ts(flatten)]
    pub version: Version,
    /// How it came about.
    pub preview: CompressionPreview,
}

/// How a language model made a version (product decision 10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct ModelRun {
    /// The engine.
    pub engine: String,
    /// The model.
    pub model: String,
    /// Version of the prompts.
    pub prompt_version: u32,
    /// SHA-256 of all that was asked, secrets already taken out, in hex.
    pub input_hash: String,
    /// Questions that were asked.
    pub calls: u64,
    /// Answers that were there from an earlier run.
    pub reused: u64,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// US dollars; none when a price is not known.
    pub cost: Option<f64>,
    /// Secrets that were taken out of what was asked, by kind.
    pub redactions: Vec<Redaction>,
    /// Chunks and stretches whose summary was too long, or could not be read, and that the built-in engine trimmed.
    pub trimmed: u64,
}

/// Keepits in a version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct KeepitStats {
    /// Word for word.
    pub preserved: u64,
    /// Summarised.
    pub summarized: u64,
    /// How many of each weight survived, by weight with two decimals.
    pub weights: BTreeMap<String, u64>,
}

/// A compression version (2.1.3 `CompressionRecord`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Version {
    /// `v001`, …
    pub version_id: VersionId,
    /// Its session.
    pub session_id: SessionId,
    /// Its files' name without extension: `v001_tiered-standard_10k`.
    pub file: String,
    /// Its files, whole paths: Markdown and JSONL.
    pub paths: Vec<String>,
    /// When it was made.
    pub created_at: Time,
    /// How.
    pub settings: CompressionSettings,
    /// The engine that made it.
    pub engine: String,
    /// Tokens of its source.
    pub original_tokens: u64,
    /// Its tokens, counted over the whole rendered output.
    pub output_tokens: u64,
    /// Its messages.
    pub output_messages: u64,
    /// Tokens of the source / its tokens.
    pub compression_ratio: f64,
    /// Keepits in it.
    pub keepit_stats: KeepitStats,
    /// The version that it was made from, if not from the original.
    pub source_version: Option<VersionId>,
    /// What it was made from.
    pub lineage: Lineage,
    /// Its parts, in order: one, unless it joins what another version had with what was new.
    pub parts: Vec<VersionPart>,
    /// What the session has beyond it; null when it has nothing more.
    pub behind: Option<Behind>,
    /// When a composition last took it.
    pub last_used: Option<Time>,
    /// Names of the compositions that use it.
    pub used_in: Vec<String>,
    /// Bytes of its files.
    pub bytes: u64,
    /// Made by composing, not by hand.
    pub auto_created: bool,
    /// How a language model made it; none for the built-in engine.
    pub model_run: Option<ModelRun>,
}

/// The versions of a session.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct VersionList {
    /// The session.
    pub session_id: SessionId,
    /// Tokens of the original.
    pub original_tokens: u64,
    /// Messages of the original.
    pub original_messages: u64,
    /// The versions, oldest first.
    pub versions: Vec<Version>,
}

/// Which messages of a version to read.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct VersionMessagesRequest {
    /// The session.
    pub session: String,
    /// The version.
    pub version: VersionId,
    /// Index of the first; 0 if not given.
    pub offset: Option<u64>,
    /// How many at most; all if not given.
    pub limit: Option<u64>,
}

/// A window of a version's messages.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct VersionPage {
    /// The messages.
    pub messages: Vec<VersionMessage>,
    /// How many there are in all.
    pub total: u64,
    /// What is not in the version, by reason.
    pub left_out: Vec<LeftOut>,
}

/// How a message of a version came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum VersionMessageKind {
    /// As it was.
    Verbatim,
    /// Holds marked passages, word for word.
    Keepit,
    /// Parts of it left out.
    Elided,
    /// Put in other words, or several in one.
    Summary,
}

/// A message of a version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct VersionMessage {
    /// Position in the version, from 0.
    pub index: u32,
    /// Its uuid, the same whenever the version is made again.
    pub uuid: String,
    /// Who speaks.
    pub role: Role,
    /// How it came about.
    pub kind: VersionMessageKind,
    /// Time of its first source.
    pub timestamp: Option<Time>,
    /// What it says.
    pub text: String,
    /// SHA-256 of the normalised text, in hex.
    pub hash: String,
    /// Its tokens.
    pub tokens: u64,
    /// Uuids of the original messages that the text comes from.
    pub sources: Vec<String>,
    /// Indexes of those messages.
    pub source_indexes: Vec<u32>,
}

/// Deletes versions.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct VersionRemoveRequest {
    /// The session.
    pub session: String,
    /// The versions.
    pub versions: Vec<VersionId>,
    /// Delete them although compositions use them.
    #[serde(default)]
    pub force: bool,
}

/// Shows what a compression would give.
pub fn preview(call: &Call<'_>, request: CompressionRequest) -> Result<CompressionPreview> {
    versions::preview(call, &request)
}

/// Makes a version.
pub fn create(call: &Call<'_>, request: CompressionRequest) -> Result<CompressionCreated> {
    versions::create(call, &request)
}

/// Lists a session's versions.
pub fn versions(call: &Call<'_>, request: SessionRequest) -> Result<VersionList> {
    versions::list(call.engine, &registry::resolve(call.engine, &request.session)?)
}

/// Reads a window of a version's messages.
pub fn messages(call: &Call<'_>, request: VersionMessagesRequest) -> Result<VersionPage> {
    versions::messages(call.engine, &request)
}

/// Deletes versions.
pub fn remove(call: &Call<'_>, request: VersionRemoveRequest) -> Result<VersionList> {
    versions::remove(call.engine, &request)
}
