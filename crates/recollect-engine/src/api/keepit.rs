//! Keepit markers and their decay (4.1, 4.2, 6.3).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::api::session::SessionRequest;
use crate::db::KeepitRow;
use crate::engine::Call;
use crate::error::Result;
use crate::ids::{MarkerId, SessionId, VersionId};
use crate::keepit::{Ratio, Weight, verdict};
use crate::registry;
use crate::time::Time;

/// Where a marker comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum KeepitSource {
    /// `##keepit0.80##` in the transcript.
    Text,
    /// Added in the memory, over the transcript.
    Overlay,
}

/// A marked passage (2.1.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct KeepitMarker {
    /// Its id.
    pub marker_id: MarkerId,
    /// Its session.
    pub session_id: SessionId,
    /// The message that holds it.
    pub message_uuid: String,
    /// Index of that message.
    pub message_index: u32,
    /// Its weight now: 0.00 to 1.00, two decimals.
    pub weight: f64,
    /// The weight in the transcript, when another was set over it.
    pub text_weight: Option<f64>,
    /// The marked words, without the marker.
    pub content: String,
    /// Where the marker (or, for an overlay, its content) starts in the message's text, in characters.
    pub start: u64,
    /// Where its content ends in the message's text, in characters.
    pub end: u64,
    /// Text around it.
    pub context: String,
    /// Where it comes from.
    pub source: KeepitSource,
    /// When it was added or found.
    pub created_at: Time,
    /// Versions in which it stands word for word.
    pub survived_in: Vec<VersionId>,
    /// Versions in which it was summarised.
    pub summarized_in: Vec<VersionId>,
}

/// Marks a passage.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct KeepitAddRequest {
    /// The session.
    pub session: String,
    /// The message.
    pub message: String,
    /// First character of the passage in the message's text.
    pub start: u64,
    /// One past its last character.
    pub end: u64,
    /// Weight, 0 to 1.
    pub weight: f64,
}

/// Sets a weight.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct KeepitSetRequest {
    /// The marker.
    pub marker: MarkerId,
    /// Weight, 0 to 1.
    pub weight: f64,
    /// Also write it into the transcript: only the marker's bytes, with a backup, and only when the file is as it was read.
    #[serde(default)]
    pub write_transcript: bool,
}

/// Removes a marker: an overlay for good; one in the text is ignored from then on, its text stays.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct KeepitRemoveRequest {
    /// The marker.
    pub marker: MarkerId,
}

/// How strongly a compression presses (4.1.1). `minimal` is read as `light`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Aggressiveness {
    /// Ratios 2 to 5 unless set.
    #[serde(alias = "minimal")]
    Light,
    /// Ratios 6 to 15 unless set.
    Moderate,
    /// Ratios from 16 unless set.
    Aggressive,
}

/// Asks which keepits of a session would survive.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct DecayRequest {
    /// The session.
    pub session: String,
    /// Compression ratio, above 1 to 1000.
    pub ratio: f64,
    /// By the ratio if not given.
    pub aggressiveness: Option<Aggressiveness>,
    /// The session's own if not given.
    pub distance: Option<u32>,
}

/// Which keepits would survive (Appendix A, decay preview).
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DecayPreview {
    /// Least weight that survives; pinned ones always do.
    pub threshold: f64,
    /// The ratio asked for.
    pub ratio: f64,
    /// The level used.
    pub aggressiveness: Aggressiveness,
    /// The distance used.
    pub distance: u32,
    /// One for each marker, in order of the text.
    pub markers: Vec<MarkerVerdict>,
}

/// Whether a marker survives, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MarkerVerdict {
    /// The marker.
    pub marker_id: MarkerId,
    /// Index of its message.
    pub message_index: u32,
    /// Its words, cut to one line.
    pub content: String,
    /// Its weight.
    pub weight: f64,
    /// The verdict in short.
    pub survives: bool,
    /// The verdict.
    pub fate: Fate,
    /// Weight − threshold.
    pub margin: f64,
    /// The least weight that survives at its place.
    pub threshold: f64,
    /// Why, in words.
    pub reason: String,
}

/// What becomes of a marked passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[ts(export)]
pub enum Fate {
    /// Word for word in the result.
    Survives,
    /// Word for word, with a margin under 0.05.
    BarelySurvives,
    /// May be shortened or left out like any other text.
    Summarized,
}

/// Asks for the decay of one weight over distances and ratios.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export, optional_fields = nullable)]
pub struct DecayTableRequest {
    /// The weight, 0 to 1.
    pub weight: f64,
    /// The ratios, a row each; 5, 15, 20, 30, 40, 50 if not given.
    pub ratios: Option<Vec<f64>>,
}

/// The decay of one weight: rows are ratios, columns distances.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DecayTable {
    /// The weight.
    pub weight: f64,
    /// The distances, 1 to the greatest.
    pub distances: Vec<u32>,
    /// One for each ratio.
    pub rows: Vec<DecayRow>,
}

/// The decay of one weight at one ratio.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct DecayRow {
    /// The ratio.
    pub ratio: f64,
    /// The level that it stands for.
    pub aggressiveness: Aggressiveness,
    /// One for each distance.
    pub cells: Vec<DecayCell>,
    /// The first distance at which the passage is lost; none when it is kept at all of them.
    pub lost_from: Option<u32>,
}

/// The verdict on one weight at one ratio and distance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DecayCell {
    /// Sessions ago.
    pub distance: u32,
    /// Least weight that survives.
    pub threshold: f64,
    /// Weight − threshold.
    pub margin: f64,
    /// The verdict.
    pub fate: Fate,
}

/// Lists the markers of a session, in order of the text.
pub fn list(call: &Call<'_>, request: SessionRequest) -> Result<Vec<KeepitMarker>> {
    let session = registry::resolve(call.engine, &request.session)?;
    Ok(registry::keepits(call.engine, &session)?.iter().map(KeepitRow::to_marker).collect())
}

/// Marks a passage, over the transcript.
pub fn add(call: &Call<'_>, request: KeepitAddRequest) -> Result<KeepitMarker> {
    Ok(registry::add_keepit(call.engine, &request)?.to_marker())
}

/// Sets a weight, in memory or in the transcript as well.
pub fn set(call: &Call<'_>, request: KeepitSetRequest) -> Result<KeepitMarker> {
    let weight = Weight::of(request.weight)?;
    let keepit = if request.write_transcript {
        registry::write_weight(call, &request.marker, weight)?
    } else {
        registry::weigh_keepit(call.engine, &request.marker, weight)?
    };
    Ok(keepit.to_marker())
}

/// Takes a marker away; the transcript stays as it is.
pub fn remove(call: &Call<'_>, request: KeepitRemoveRequest) -> Result<KeepitMarker> {
    Ok(registry::remove_keepit(call.engine, &request.marker)?.to_marker())
}

/// Tells which keepits of a session would survive.
pub fn decay(call: &Call<'_>, request: DecayRequest) -> Result<DecayPreview> {
    registry::decay(call.engine, &call.engine.decay()?, &request)
}

/// Tells how one weight decays over distances and ratios.
pub fn table(call: &Call<'_>, request: DecayTableRequest) -> Result<DecayTable> {
    let ratios = request.ratios.unwrap_or_else(|| vec![5.0, 15.0, 20.0, 30.0, 40.0, 50.0]);
    let ratios = ratios.into_iter().map(Ratio::of).collect::<Result<Vec<_>>>()?;
    Ok(verdict::table(&call.engine.decay()?, Weight::of(request.weight)?, &ratios))
}
