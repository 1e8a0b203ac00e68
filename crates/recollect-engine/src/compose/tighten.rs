//! Settings of compressions that fit a number of tokens: the version can be made again from them.

use crate::api::compression::{CompressionMode, CompressionSettings, TierConfig, TierPreset};
use crate::compress::{preset_tiers, uniform_within};
use crate::error::Result;

/// The largest ratio that can be asked for.
const LARGEST_RATIO: f64 = 1000.0;

/// Uniform, with at most `tokens` from `original`, as far as ratios go; the level follows the ratio.
///
/// # Errors
/// `Usage` when there is hardly anything to compress.
pub(super) fn for_tokens(original: u64, tokens: u64) -> Result<CompressionSettings> {
    uniform_within(original, tokens.min(original * 100 / 101).max(original.div_ceil(1000)))
}

/// The same with ratios `factor` times as large, and at least a hundredth larger; none when they are the largest already.
pub(super) fn tightened(settings: &CompressionSettings, factor: f64) -> Option<CompressionSettings> {
    let tighter = |ratio: f64| rounded_up((ratio * factor).max(ratio + 0.01)).min(LARGEST_RATIO);
    let mut settings = settings.clone();
    match settings.mode {
        CompressionMode::Uniform => {
            let ratio = settings.compaction_ratio?;
            settings.compaction_ratio = Some(tighter(ratio));
            (ratio < LARGEST_RATIO).then_some(settings)
        }
        CompressionMode::Tiered => {
            let tiers = settings.custom_tiers.take().unwrap_or_else(|| as_configs(settings.tier_preset));
            let can = tiers.iter().any(|tier| tier.compaction_ratio < LARGEST_RATIO);
            let tiers =
                tiers.into_iter().map(|tier| TierConfig { compaction_ratio: tighter(tier.compaction_ratio), ..tier });
            settings.custom_tiers = Some(tiers.collect());
            settings.tier_preset = Some(TierPreset::Custom);
            can.then_some(settings)
        }
    }
}

/// The tiers of a preset with their levels, so that only the ratios change.
fn as_configs(preset: Option<TierPreset>) -> Vec<TierConfig> {
    preset
        .map_or(&[][..], preset_tiers)
        .iter()
        .map(|tier| TierConfig {
            end_percent: tier.end_percent,
            compaction_ratio: tier.ratio,
            aggressiveness: Some(tier.aggressiveness),
        })
        .collect()
}

fn rounded_up(ratio: f64) -> f64 {
    (ratio * 100.0).ceil() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(ratio: f64) -> CompressionSettings {
        CompressionSettings { compaction_ratio: Some(ratio), ..for_tokens(1_000, 100).expect("settings") }
    }

    #[test]
    fn the_ratio_gives_no_more_tokens_than_asked_for_as_far_as_ratios_go() {
        for (original, tokens, most) in [(100_000, 4_800, 4_800), (1_000, 999, 991), (100_000, 0, 100), (200, 300, 199)]
        {
            let ratio = for_tokens(original, tokens).expect("settings").compaction_ratio.expect("a ratio");
            assert!((original as f64 / ratio).floor() as u64 <= most, "{original} to {tokens}: {ratio}");
        }
        assert!(for_tokens(1, 1).is_err(), "nothing to compress");
    }

    #[test]
    fn settings_are_tightened_in_their_own_mode_until_they_cannot_be() {
        let tighter = tightened(&uniform(10.0), 1.05).expect("tighter");
        assert_eq!(tighter.compaction_ratio, Some(10.5));
        let tiered = CompressionSettings {
            mode: CompressionMode::Tiered,
            compaction_ratio: None,
            tier_preset: Some(TierPreset::Standard),
            ..uniform(2.0)
        };
        let tighter = tightened(&tiered, 2.0).expect("tighter");
        let tiers = tighter.custom_tiers.expect("tiers");
        assert_eq!((tighter.tier_preset, tiers.len()), (Some(TierPreset::Custom), 5));
        assert_eq!((tiers[0].end_percent, tiers[0].compaction_ratio), (25.0, 50.0));
        assert!(
            tiers[0].aggressiveness.is_some(),
            "levels stay, so that the same keepits survive for the same reasons"
        );
        assert!(tightened(&uniform(LARGEST_RATIO), 2.0).is_none());
    }
}
