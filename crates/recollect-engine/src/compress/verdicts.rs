//! Which marked passages survive a compression, each by the ratio and level of the stretch that it stands in (4.1).

use super::piece::one_line;
use super::plan::tier_ranges;
use super::settings::{Resolved, Tier};
use super::{Input, Marked, SessionHead};
use crate::api::compression::KeepitMode;
use crate::api::keepit::{Fate, MarkerVerdict};
use crate::error::Result;
use crate::keepit::verdict::verdict;
use crate::keepit::{Decay, Ratio, Weight};

/// Characters of a passage that a verdict shows.
const SHOWN_CHARACTERS: usize = 160;

/// The least weight that survives in a stretch.
pub(super) fn threshold(tier: &Tier, distance: u32, decay: &Decay) -> Result<f64> {
    Ok(decay.threshold(Ratio::of(tier.ratio)?, tier.aggressiveness, distance).number())
}

/// The verdicts on the marks of a session of so many messages, without its words; `message` of each is its place.
///
/// # Errors
/// `Usage` when a ratio or weight is out of range.
pub fn survivors(
    marks: &[Marked],
    messages: usize,
    settings: &Resolved,
    decay: &Decay,
    session: &SessionHead,
) -> Result<Vec<MarkerVerdict>> {
    let input = Input { session, messages: &[], tokens: &[], keepits: marks, origins: None };
    all(&input, settings, &tier_ranges(settings, messages), decay)
}

/// The verdicts, in order of the input; `ranges` are the stretches of the settings.
pub(super) fn all(
    input: &Input<'_>,
    settings: &Resolved,
    ranges: &[(usize, usize)],
    decay: &Decay,
) -> Result<Vec<MarkerVerdict>> {
    let one = |keepit: &super::Marked| {
        let place = keepit.message as usize;
        let tier = ranges.iter().position(|(from, end)| (*from..*end).contains(&place)).unwrap_or(0);
        let tier = &settings.tiers[tier];
        let decided =
            verdict(decay, Weight::of(keepit.weight)?, Ratio::of(tier.ratio)?, tier.aggressiveness, settings.distance);
        let (fate, reason) = match settings.keepit_mode {
            KeepitMode::Decay => (decided.fate, decided.reason),
            KeepitMode::PreserveAll => (Fate::Survives, "all keepits are kept, by the settings".to_owned()),
            KeepitMode::Ignore => (Fate::Summarized, "keepits are not looked at, by the settings".to_owned()),
        };
        Ok(MarkerVerdict {
            marker_id: keepit.marker_id.clone(),
            message_index: input.messages.get(place).map_or(keepit.message, |message| message.index),
            content: one_line(&keepit.content, SHOWN_CHARACTERS),
            weight: keepit.weight,
            survives: fate != Fate::Summarized,
            fate,
            margin: decided.margin,
            threshold: decided.threshold,
            reason,
        })
    };
    input.keepits.iter().map(one).collect()
}
