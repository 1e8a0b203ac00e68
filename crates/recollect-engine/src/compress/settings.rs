//! From the settings of a request to a plan: tiers, level and ratio of each, what is skipped.

use std::str::FromStr;

use super::Passes;
use crate::api::compression::{CompressionMode, CompressionSettings, KeepitMode, TierConfig, TierPreset};
use crate::api::keepit::Aggressiveness;
use crate::error::{Error, Result};
use crate::keepit::Ratio;
use crate::language_model::ModelEngine;

/// A stretch of a session with its own ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tier {
    /// Where it ends, in percent of the messages.
    pub end_percent: f64,
    /// Its ratio.
    pub ratio: f64,
    /// Its level.
    pub aggressiveness: Aggressiveness,
}

/// Settings that were checked and completed.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The stretches, in order; one in uniform mode.
    pub tiers: Vec<Tier>,
    /// Whether the result has a heading for each stretch.
    pub tiered: bool,
    /// Messages at the start that are left out.
    pub skip_first_messages: u32,
    /// What becomes of marked passages.
    pub keepit_mode: KeepitMode,
    /// How many sessions ago.
    pub distance: u32,
    /// Which passes run; all of them but for measuring.
    pub passes: Passes,
}

/// Uniform settings whose result has at most `budget` tokens, for a share of a composition: the ratio that the share asks
/// for, rounded up to four decimals so that the same version can be made from it again.
///
/// # Errors
/// `Usage` when the budget is not smaller than the source, or less than a thousandth of it.
pub fn uniform_within(original_tokens: u64, budget: u64) -> Result<CompressionSettings> {
    let ratio = (original_tokens as f64 / budget.max(1) as f64 * 10_000.0).ceil() / 10_000.0;
    if ratio > 1000.0 {
        return Err(Error::usage(format!("{budget} tokens are too few for a session of {original_tokens}"))
            .hint(format!("give it at least {} tokens", original_tokens.div_ceil(1000))));
    }
    Ratio::of(ratio)?;
    Ok(CompressionSettings {
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
    })
}

/// Checks and completes settings; `distance` is the session's own.
///
/// # Errors
/// `Usage` when a ratio is not above 1 and up to 1000, when tiers are missing, out of order or do not end at 100, when
/// settings of the other mode are given, or when the engine is not known.
pub fn resolve(settings: &CompressionSettings, distance: u32) -> Result<Resolved> {
    if let Some(engine) = settings.engine.as_deref().filter(|engine| *engine != super::ENGINE) {
        ModelEngine::from_str(engine)?;
    }
    let tiers = match settings.mode {
        CompressionMode::Uniform => {
            if settings.tier_preset.is_some() || settings.custom_tiers.is_some() {
                return Err(Error::usage("tiers are given, but the mode is uniform")
                    .hint("choose the mode tiered, or leave the tiers out"));
            }
            let ratio = settings.compaction_ratio.ok_or_else(|| {
                Error::usage("the uniform mode needs a ratio").hint("give a ratio above 1, for example 10")
            })?;
            vec![tier(100.0, ratio, settings.aggressiveness)?]
        }
        CompressionMode::Tiered => tiers(settings)?,
    };
    Ok(Resolved {
        tiers,
        tiered: settings.mode == CompressionMode::Tiered,
        skip_first_messages: settings.skip_first_messages,
        keepit_mode: settings.keepit_mode,
        distance: settings.session_distance.unwrap_or(distance),
        passes: Passes::ALL,
    })
}

fn tier(end_percent: f64, ratio: f64, aggressiveness: Option<Aggressiveness>) -> Result<Tier> {
    let checked = Ratio::of(ratio)?;
    Ok(Tier { end_percent, ratio, aggressiveness: aggressiveness.unwrap_or_else(|| checked.level()) })
}

fn tiers(settings: &CompressionSettings) -> Result<Vec<Tier>> {
    if settings.compaction_ratio.is_some() || settings.aggressiveness.is_some() {
        return Err(Error::usage("a ratio or level is given, but the mode is tiered")
            .hint("tiers have ratios of their own: choose a preset or give tiers"));
    }
    let preset = match (settings.tier_preset, &settings.custom_tiers) {
        (Some(TierPreset::Custom) | None, Some(custom)) => return custom_tiers(custom),
        (Some(preset), Some(_)) => {
            return Err(Error::usage(format!("tiers are given, but the preset is {}", preset_name(preset)))
                .hint("choose the preset custom"));
        }
        (Some(TierPreset::Custom), None) => return Err(Error::usage("the preset custom needs tiers")),
        (Some(preset), None) => preset,
        (None, None) => {
            return Err(Error::usage("the tiered mode needs a preset or tiers")
                .hint("presets are gentle, standard and aggressive"));
        }
    };
    Ok(preset_tiers(preset).to_vec())
}

fn custom_tiers(custom: &[TierConfig]) -> Result<Vec<Tier>> {
    let mut tiers = Vec::new();
    let mut before = 0.0;
    for config in custom {
        if !(config.end_percent > before && config.end_percent <= 100.0) {
            return Err(Error::usage(format!(
                "the tier ending at {} % does not come after {before} %",
                config.end_percent
            ))
            .hint("tiers end at rising percents of the session, the last one at 100"));
        }
        before = config.end_percent;
        tiers.push(tier(config.end_percent, config.compaction_ratio, config.aggressiveness)?);
    }
    if tiers.is_empty() {
        return Err(Error::usage("there are no tiers").hint("give at least one, ending at 100 %"));
    }
    if before < 100.0 {
        return Err(
            Error::usage(format!("the last tier ends at {before} %, not at 100")).hint("let the last tier end at 100")
        );
    }
    Ok(tiers)
}

/// Name of a preset in files and words.
pub fn preset_name(preset: TierPreset) -> &'static str {
    match preset {
        TierPreset::Gentle => "gentle",
        TierPreset::Standard => "standard",
        TierPreset::Aggressive => "aggressive",
        TierPreset::Custom => "custom",
    }
}

/// Name of a level in files and words.
pub fn level_name(level: Aggressiveness) -> &'static str {
    match level {
        Aggressiveness::Light => "light",
        Aggressiveness::Moderate => "moderate",
        Aggressiveness::Aggressive => "aggressive",
    }
}

/// The tiers of a preset (product decision 15); none for `custom`.
pub fn preset_tiers(preset: TierPreset) -> &'static [Tier] {
    use Aggressiveness::{Aggressive, Light, Moderate};
    const fn tier(end_percent: f64, ratio: f64, aggressiveness: Aggressiveness) -> Tier {
        Tier { end_percent, ratio, aggressiveness }
    }
    const GENTLE: &[Tier] = &[
        tier(25.0, 10.0, Moderate),
        tier(50.0, 7.0, Moderate),
        tier(75.0, 5.0, Light),
        tier(90.0, 4.0, Light),
        tier(100.0, 2.0, Light),
    ];
    const STANDARD: &[Tier] = &[
        tier(25.0, 25.0, Aggressive),
        tier(50.0, 15.0, Aggressive),
        tier(75.0, 10.0, Moderate),
        tier(90.0, 5.0, Moderate),
        tier(100.0, 3.0, Light),
    ];
    const AGGRESSIVE: &[Tier] = &[
        tier(25.0, 50.0, Aggressive),
        tier(50.0, 35.0, Aggressive),
        tier(75.0, 20.0, Aggressive),
        tier(90.0, 10.0, Moderate),
        tier(100.0, 5.0, Light),
    ];
    match preset {
        TierPreset::Gentle => GENTLE,
        TierPreset::Standard => STANDARD,
        TierPreset::Aggressive => AGGRESSIVE,
        TierPreset::Custom => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_asks_for_a_ratio_that_stays_within_it() {
        for (tokens, budget) in [(100_234, 3_000), (7, 3), (1_000_000, 999_999), (12_345, 13)] {
            let ratio = uniform_within(tokens, budget).expect("a ratio").compaction_ratio.expect("is set");
            let given = (tokens as f64 / ratio).floor() as u64;
            assert!(given <= budget && given + given / 1000 + 1 >= budget, "{given} of {budget}");
        }
        assert!(uniform_within(5_000, 4).is_err(), "over a thousand to one");
        assert!(uniform_within(5_000, 5_000).is_err(), "nothing to compress");
    }

    fn uniform(ratio: f64) -> CompressionSettings {
        CompressionSettings { compaction_ratio: Some(ratio), ..empty(CompressionMode::Uniform) }
    }

    fn empty(mode: CompressionMode) -> CompressionSettings {
        CompressionSettings {
            mode,
            compaction_ratio: None,
            aggressiveness: None,
            tier_preset: None,
            custom_tiers: None,
            skip_first_messages: 0,
            keepit_mode: KeepitMode::Decay,
            session_distance: None,
            engine: None,
            model: None,
            max_cost: None,
        }
    }

    fn custom(ends: &[f64]) -> CompressionSettings {
        let tiers =
            ends.iter().map(|end| TierConfig { end_percent: *end, compaction_ratio: 10.0, aggressiveness: None });
        CompressionSettings {
            tier_preset: Some(TierPreset::Custom),
            custom_tiers: Some(tiers.collect()),
            ..empty(CompressionMode::Tiered)
        }
    }

    #[test]
    fn ratios_out_of_range_are_refused() {
        for ratio in [0.0, 1.0, -3.0, 1000.5, f64::NAN, f64::INFINITY] {
            assert!(resolve(&uniform(ratio), 1).is_err(), "{ratio}");
        }
        for ratio in [1.01, 2.0, 1000.0] {
            assert!(resolve(&uniform(ratio), 1).is_ok(), "{ratio}");
        }
    }

    #[test]
    fn tiers_end_at_rising_percents_and_at_a_hundred() {
        for ends in
            [&[][..], &[50.0], &[60.0, 40.0, 100.0], &[50.0, 50.0, 100.0], &[100.0, 100.0], &[0.0, 100.0], &[110.0]]
        {
            assert!(resolve(&custom(ends), 1).is_err(), "{ends:?}");
        }
        let resolved = resolve(&custom(&[12.5, 100.0]), 4).expect("good tiers");
        assert_eq!((resolved.tiers.len(), resolved.distance), (2, 4));
        assert_eq!(resolved.tiers[0].aggressiveness, Aggressiveness::Moderate, "by the ratio when it is not set");
    }

    #[test]
    fn settings_of_the_other_mode_are_refused() {
        assert!(resolve(&CompressionSettings { tier_preset: Some(TierPreset::Gentle), ..uniform(3.0) }, 1).is_err());
        assert!(resolve(&CompressionSettings { compaction_ratio: Some(3.0), ..custom(&[100.0]) }, 1).is_err());
        assert!(resolve(&CompressionSettings { engine: Some("magic".to_owned()), ..uniform(3.0) }, 1).is_err());
    }

    #[test]
    fn presets_end_at_a_hundred() {
        for preset in [TierPreset::Gentle, TierPreset::Standard, TierPreset::Aggressive] {
            let tiers = preset_tiers(preset);
            assert!(tiers.is_sorted_by(|left, right| left.end_percent < right.end_percent && left.ratio > right.ratio));
            assert_eq!(tiers.last().map(|tier| tier.end_percent), Some(100.0));
        }
    }
}
