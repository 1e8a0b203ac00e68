//! Whether a marked passage survives, and why (4.1.2, 6.3).

use std::cmp::Ordering;

use rust_decimal::Decimal;

use super::Weight;
use super::decay::{Decay, Ratio, Threshold, nearest};
use crate::api::keepit::{Aggressiveness, DecayCell, DecayRow, DecayTable, Fate};

/// Hundredths of margin under which a passage only just survives.
const BARELY: i64 = 5;

/// What becomes of a passage, with what it was decided on.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The weight.
    pub weight: Weight,
    /// What becomes of it.
    pub fate: Fate,
    /// The threshold as a number.
    pub threshold: f64,
    /// Weight − threshold as a number; below 0 for pinned passages that only their pin keeps.
    pub margin: f64,
    /// Why, in words.
    pub reason: String,
}

impl Verdict {
    /// Whether it stays word for word.
    pub fn survives(&self) -> bool {
        survives(self.fate)
    }
}

/// Decides on one weight.
pub fn verdict(decay: &Decay, weight: Weight, ratio: Ratio, level: Aggressiveness, distance: u32) -> Verdict {
    let threshold = decay.threshold(ratio, level, distance);
    let fate = fate(decay, weight, &threshold);
    Verdict {
        weight,
        fate,
        threshold: threshold.number(),
        margin: nearest(threshold.margin(weight)),
        reason: reason(decay, weight, level, &threshold, fate),
    }
}

/// The decay of one weight: a row for each ratio, a column for each distance from 1 to the greatest.
pub fn table(decay: &Decay, weight: Weight, ratios: &[Ratio]) -> DecayTable {
    let distances: Vec<u32> = (1..=decay.max_distance).collect();
    let rows = ratios.iter().map(|ratio| row(decay, weight, *ratio, &distances)).collect();
    DecayTable { weight: weight.number(), distances, rows }
}

fn row(decay: &Decay, weight: Weight, ratio: Ratio, distances: &[u32]) -> DecayRow {
    let level = ratio.level();
    let cells: Vec<DecayCell> = distances
        .iter()
        .map(|&distance| {
            let threshold = decay.threshold(ratio, level, distance);
            DecayCell {
                distance,
                threshold: threshold.number(),
                margin: nearest(threshold.margin(weight)),
                fate: fate(decay, weight, &threshold),
            }
        })
        .collect();
    let lost_from = cells.iter().find(|cell| !survives(cell.fate)).map(|cell| cell.distance);
    DecayRow { ratio: ratio.number(), aggressiveness: level, cells, lost_from }
}

fn survives(fate: Fate) -> bool {
    fate != Fate::Summarized
}

fn fate(decay: &Decay, weight: Weight, threshold: &Threshold) -> Fate {
    let hundredths = i64::from(weight.hundredths());
    if weight >= decay.pinned_weight {
        Fate::Survives
    } else if threshold.compare(hundredths) == Ordering::Less {
        Fate::Summarized
    } else if threshold.compare(hundredths - BARELY) == Ordering::Less {
        Fate::BarelySurvives
    } else {
        Fate::Survives
    }
}

fn reason(decay: &Decay, weight: Weight, level: Aggressiveness, threshold: &Threshold, fate: Fate) -> String {
    if weight >= decay.pinned_weight {
        return format!("pinned: a weight of {} or more always survives", decay.pinned_weight);
    }
    let level = match level {
        Aggressiveness::Light => "light",
        Aggressiveness::Moderate => "moderate",
        Aggressiveness::Aggressive => "aggressive",
    };
    let (comparison, margin) = match fate {
        Fate::Summarized => ("is below", threshold.margin(weight).abs()),
        Fate::Survives | Fate::BarelySurvives => ("reaches", threshold.margin(weight)),
    };
    format!(
        "weight {weight} {comparison} the threshold {} ({level} base {} + {}/100 × {}/{}) by {}",
        shown(threshold.decimal()),
        shown(threshold.base),
        shown(threshold.ratio),
        threshold.distance,
        threshold.max_distance,
        shown(margin),
    )
}

/// At least two decimals, at most six.
fn shown(decimal: Decimal) -> String {
    let mut decimal = decimal.round_dp(6).normalize();
    if decimal.scale() < 2 && !decimal.is_integer() {
        decimal.rescale(2);
    }
    decimal.to_string()
}

#[cfg(test)]
mod tests;
