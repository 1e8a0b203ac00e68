//! The threshold that a weight must reach (4.1.1), in exact arithmetic.
//!
//! `threshold = base + ratio / 100 × min(distance, max) / max`. The division is never done before a decision: both sides
//! are multiplied by `100 × max`, so that 0.80 against 0.80 survives whatever the numbers are.

use std::cmp::Ordering;

use rust_decimal::Decimal;

use super::Weight;
use crate::api::keepit::Aggressiveness;
use crate::error::{Error, Result};

/// A compression ratio: above 1, at most 1000, with the digits that it was given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(Decimal);

impl Ratio {
    /// Takes a ratio from a request.
    ///
    /// # Errors
    /// Usage, when it is outside the range.
    pub fn of(number: f64) -> Result<Self> {
        exact(number).filter(|ratio| *ratio > Decimal::ONE && *ratio <= Decimal::ONE_THOUSAND).map(Self).ok_or_else(
            || {
                Error::usage(format!("the ratio {number} is out of range"))
                    .hint("a ratio is a number above 1, up to 1000: 10 leaves about a tenth")
            },
        )
    }

    /// The ratio as a number.
    pub fn number(self) -> f64 {
        nearest(self.0)
    }

    /// The ratio, exactly.
    pub const fn decimal(self) -> Decimal {
        self.0
    }

    /// The level that it stands for unless another is set: light below 6, moderate below 16, then aggressive.
    pub fn level(self) -> Aggressiveness {
        if self.0 < Decimal::from(6) {
            Aggressiveness::Light
        } else if self.0 < Decimal::from(16) {
            Aggressiveness::Moderate
        } else {
            Aggressiveness::Aggressive
        }
    }
}

/// How weights decay: `keepitDecay` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decay {
    /// Base of the threshold at light compression, 0 to 1, at most [`BASE_DECIMALS`] decimals.
    pub light: Decimal,
    /// At moderate compression.
    pub moderate: Decimal,
    /// At aggressive compression.
    pub aggressive: Decimal,
    /// From this distance on a passage is as old as it gets; 1 to [`GREATEST_DISTANCE`].
    pub max_distance: u32,
    /// From this weight on a passage survives whatever the threshold is.
    pub pinned_weight: Weight,
}

/// The most decimals of a base; all products of the formula are exact within this.
pub const BASE_DECIMALS: u32 = 6;
/// The greatest distance that can be configured.
pub const GREATEST_DISTANCE: u32 = 1000;

impl Default for Decay {
    fn default() -> Self {
        Self {
            light: Decimal::new(1, 1),
            moderate: Decimal::new(3, 1),
            aggressive: Decimal::new(5, 1),
            max_distance: 10,
            pinned_weight: Weight::MAX,
        }
    }
}

impl Decay {
    /// Base of the threshold at a level.
    pub const fn base(&self, level: Aggressiveness) -> Decimal {
        match level {
            Aggressiveness::Light => self.light,
            Aggressiveness::Moderate => self.moderate,
            Aggressiveness::Aggressive => self.aggressive,
        }
    }

    /// The threshold for a ratio, a level and a distance in sessions (1 is the most recent; beyond the greatest, all are alike).
    pub fn threshold(&self, ratio: Ratio, level: Aggressiveness, distance: u32) -> Threshold {
        let max = self.max_distance.max(1);
        Threshold { base: self.base(level), ratio: ratio.decimal(), distance: distance.min(max), max_distance: max }
    }
}

/// A threshold with the parts that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    /// Base of the level.
    pub base: Decimal,
    /// The compression ratio.
    pub ratio: Decimal,
    /// The distance, at most the greatest.
    pub distance: u32,
    /// The greatest distance.
    pub max_distance: u32,
}

impl Threshold {
    /// How a number of hundredths compares to the threshold, without rounding.
    pub fn compare(&self, hundredths: i64) -> Ordering {
        (Decimal::from(hundredths) * self.max()).cmp(&self.scaled())
    }

    /// The threshold, to the 28 digits of a decimal: for showing, not for deciding.
    pub fn decimal(&self) -> Decimal {
        (self.scaled() / (Decimal::ONE_HUNDRED * self.max())).normalize()
    }

    /// The threshold as the nearest number.
    pub fn number(&self) -> f64 {
        nearest(self.decimal())
    }

    /// Weight − threshold, to the 28 digits of a decimal: for showing, not for deciding.
    pub fn margin(&self, weight: Weight) -> Decimal {
        let scaled = Decimal::from(weight.hundredths()) * self.max() - self.scaled();
        (scaled / (Decimal::ONE_HUNDRED * self.max())).normalize()
    }

    fn max(&self) -> Decimal {
        Decimal::from(self.max_distance)
    }

    /// The threshold × 100 × the greatest distance: exact, since a ratio has at most 17 digits and a base 6 decimals.
    fn scaled(&self) -> Decimal {
        self.base * Decimal::ONE_HUNDRED * self.max() + self.ratio * Decimal::from(self.distance)
    }
}

/// The decimal that a number is written as: 0.8 is 0.8, not the binary number beside it. `None` when it has too many digits.
pub fn exact(number: f64) -> Option<Decimal> {
    Decimal::from_str_exact(&number.to_string()).ok().map(|decimal| decimal.normalize())
}

/// The number that a decimal is read as.
pub fn nearest(decimal: Decimal) -> f64 {
    // A decimal's digits always are a number.
    decimal.to_string().parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_follows_the_ratio() {
        use Aggressiveness::{Aggressive, Light, Moderate};
        for (ratio, level) in [
            (2.0, Light),
            (5.0, Light),
            (5.5, Light),
            (6.0, Moderate),
            (15.0, Moderate),
            (16.0, Aggressive),
            (1000.0, Aggressive),
        ] {
            assert_eq!(Ratio::of(ratio).unwrap().level(), level, "{ratio}:1");
        }
    }

    #[test]
    fn ratios_outside_the_range_are_refused_with_the_range() {
        for number in [0.0, 1.0, -5.0, 1000.1, 1e300, f64::NAN, f64::INFINITY] {
            let error = Ratio::of(number).unwrap_err();
            assert_eq!(error.kind, crate::ErrorKind::Usage, "{number}");
            assert!(error.hint.is_some_and(|hint| hint.contains("above 1") && hint.contains("1000")));
        }
        assert_eq!(
            Ratio::of(33.200_531_208_499_34).unwrap().number(),
            33.200_531_208_499_34,
            "a computed ratio keeps its digits"
        );
        assert!(Ratio::of(1.000_000_1).is_ok());
    }

    #[test]
    fn numbers_cross_exactly() {
        assert_eq!(exact(0.8), Some(Decimal::new(8, 1)));
        assert_eq!(exact(0.1 + 0.2).unwrap().to_string(), "0.30000000000000004");
        assert_eq!(exact(1e-40), None);
        assert_eq!(nearest(Decimal::new(65, 2)), 0.65);
        assert_eq!(nearest(Decimal::new(135, 3)), 0.135);
    }

    #[test]
    fn distances_beyond_the_greatest_are_alike() {
        let (decay, ratio) = (Decay::default(), Ratio::of(30.0).unwrap());
        let at = |distance| decay.threshold(ratio, Aggressiveness::Moderate, distance).number();
        assert_eq!([at(0), at(1), at(10), at(11), at(u32::MAX)], [0.3, 0.33, 0.6, 0.6, 0.6]);
    }
}
