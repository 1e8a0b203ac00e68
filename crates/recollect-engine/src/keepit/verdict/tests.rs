//! The document's examples, and the formula against exact fractions.

use proptest::prelude::*;

use super::*;
use crate::api::keepit::Aggressiveness::{Aggressive, Light, Moderate};
use crate::api::keepit::Fate::{BarelySurvives, Summarized, Survives};
use crate::keepit::decay::exact;

fn decide(weight: &str, ratio: f64, level: Aggressiveness, distance: u32) -> Verdict {
    verdict(&Decay::default(), Weight::parse(weight).unwrap(), Ratio::of(ratio).unwrap(), level, distance)
}

#[test]
fn the_documents_examples_come_out_as_it_says() {
    // 4.1.3, then the screens of 5.2 and 6.3.
    let cases = [
        ("0.80", 30.0, Aggressive, 10, 0.80, BarelySurvives),
        ("0.80", 30.0, Aggressive, 5, 0.65, Survives),
        ("0.25", 15.0, Moderate, 10, 0.45, Summarized),
        ("0.50", 5.0, Light, 7, 0.135, Survives),
        ("1.00", 1000.0, Aggressive, 10, 10.5, Survives),
        ("0.65", 30.0, Aggressive, 5, 0.65, BarelySurvives),
        ("0.64", 30.0, Aggressive, 5, 0.65, Summarized),
        ("0.80", 30.0, Aggressive, 1, 0.53, Survives),
        ("0.80", 50.0, Aggressive, 10, 1.0, Summarized),
    ];
    for (weight, ratio, level, distance, threshold, fate) in cases {
        let verdict = decide(weight, ratio, level, distance);
        assert_eq!((verdict.threshold, verdict.fate), (threshold, fate), "{weight} at {ratio}:1, distance {distance}");
        assert_eq!(verdict.survives(), fate != Summarized);
    }
}

#[test]
fn a_margin_of_five_hundredths_is_no_longer_narrow() {
    assert_eq!(decide("0.85", 30.0, Aggressive, 10).fate, Survives);
    assert_eq!(decide("0.84", 30.0, Aggressive, 10).fate, BarelySurvives);
    assert_eq!(decide("0.84", 30.0, Aggressive, 10).margin, 0.04, "the margin shown is a decimal, too");
}

#[test]
fn the_reason_says_what_was_compared() {
    assert_eq!(
        decide("0.80", 30.0, Aggressive, 5).reason,
        "weight 0.80 reaches the threshold 0.65 (aggressive base 0.50 + 30/100 × 5/10) by 0.15"
    );
    assert_eq!(
        decide("0.25", 15.0, Moderate, 12).reason,
        "weight 0.25 is below the threshold 0.45 (moderate base 0.30 + 15/100 × 10/10) by 0.20"
    );
    assert_eq!(decide("1", 15.0, Moderate, 1).reason, "pinned: a weight of 1.00 or more always survives");
}

#[test]
fn what_is_pinned_is_configured() {
    let decay = Decay { pinned_weight: Weight::from_hundredths(90), ..Decay::default() };
    let at = |hundredths| {
        verdict(&decay, Weight::from_hundredths(hundredths), Ratio::of(100.0).unwrap(), Aggressive, 10).fate
    };
    assert_eq!([at(89), at(90)], [Summarized, Survives]);
}

#[test]
fn a_table_names_the_distance_at_which_a_passage_is_lost() {
    let ratios = [5.0, 20.0, 30.0, 40.0, 50.0].map(|ratio| Ratio::of(ratio).unwrap());
    let table = table(&Decay::default(), Weight::from_hundredths(75), &ratios);
    assert_eq!(table.distances, (1..=10).collect::<Vec<_>>());
    let lost: Vec<_> = table.rows.iter().map(|row| row.lost_from).collect();
    // 0.5 + 0.3 × 9/10 = 0.77; 0.5 + 0.4 × 7/10 = 0.78; 0.5 + 0.5 × 6/10 = 0.80.
    assert_eq!(lost, [None, None, Some(9), Some(7), Some(6)]);
    let row = &table.rows[4];
    assert_eq!((row.ratio, row.aggressiveness, row.cells.len()), (50.0, Aggressive, 10));
    assert_eq!(row.cells[4], DecayCell { distance: 5, threshold: 0.75, margin: 0.0, fate: BarelySurvives });
}

#[test]
fn weights_that_meet_the_threshold_to_the_digit_survive() {
    let mut met = 0;
    for (ratio, distance) in (2..=50).flat_map(|ratio| (0..=10).map(move |distance| (ratio, distance))) {
        // The threshold is 0.5 + ratio × distance / 1000: a whole number of hundredths in these cases.
        let hundredths = 50 + ratio * distance / 10;
        if ratio * distance % 10 != 0 || hundredths >= 100 {
            continue;
        }
        let weight = u8::try_from(hundredths).unwrap();
        let at = |weight| {
            let ratio = Ratio::of(f64::from(ratio)).unwrap();
            verdict(&Decay::default(), Weight::from_hundredths(weight), ratio, Aggressive, distance)
        };
        assert_eq!(
            (at(weight).fate, at(weight).margin),
            (BarelySurvives, 0.0),
            "{weight} at {ratio}:1, distance {distance}"
        );
        assert_eq!(at(weight - 1).fate, Summarized, "{weight} at {ratio}:1, distance {distance}");
        met += 1;
    }
    assert!(met > 100, "there are many such cases, {met} were met");
}

/// The formula over integers: every number in billionths, so that nothing is rounded and nothing is shared with the code.
mod naive {
    use super::*;

    pub(super) fn fate(decay: &Decay, weight: Weight, ratio: f64, base: f64, distance: u32) -> Fate {
        let billionths = |number: f64| -> i128 {
            let text = format!("{number:.9}");
            assert_eq!(text.parse::<f64>().unwrap(), number, "the cases have at most nine decimals");
            text.replace('.', "").parse().unwrap()
        };
        let max = i128::from(decay.max_distance);
        // Both sides × 10⁹ × 100 × max.
        let weight_side = i128::from(weight.hundredths()) * 1_000_000_000 * max;
        let threshold_side =
            billionths(base) * 100 * max + billionths(ratio) * i128::from(distance.min(decay.max_distance));
        let barely = 5 * 1_000_000_000 * max;
        if weight >= decay.pinned_weight || weight_side - threshold_side >= barely {
            Survives
        } else if weight_side >= threshold_side {
            BarelySurvives
        } else {
            Summarized
        }
    }
}

fn ratios() -> impl Strategy<Value = f64> {
    prop_oneof![
        (2_u32..=100).prop_map(f64::from),
        (11_u32..=10_000).prop_map(|tenths| f64::from(tenths) / 10.0),
        (1_000_001_u32..=999_999_999).prop_map(|millionths| f64::from(millionths) / 1e6),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_verdict_is_that_of_exact_fractions(
        hundredths in 0_u8..=100,
        ratio in ratios(),
        distance in 0_u32..1200,
        max_distance in prop_oneof![Just(10_u32), 1_u32..=1000],
        base in prop_oneof![Just(0.1), Just(0.3), Just(0.5), (0_u32..=1_000_000).prop_map(|millionths| f64::from(millionths) / 1e6)],
        pinned in 50_u8..=100,
    ) {
        let decay = Decay { moderate: exact(base).unwrap(), max_distance, pinned_weight: Weight::from_hundredths(pinned), ..Decay::default() };
        let weight = Weight::from_hundredths(hundredths);
        let verdict = verdict(&decay, weight, Ratio::of(ratio).unwrap(), Moderate, distance);
        prop_assert_eq!(verdict.fate, naive::fate(&decay, weight, ratio, base, distance));
        let binary = base + ratio / 100.0 * f64::from(distance.min(max_distance)) / f64::from(max_distance);
        prop_assert!((verdict.threshold - binary).abs() < 1e-9, "{} against {}", verdict.threshold, binary);
        prop_assert!((verdict.margin - (weight.number() - binary)).abs() < 1e-9);
    }

    #[test]
    fn a_table_says_what_single_verdicts_say(hundredths in 0_u8..=100, ratio in ratios()) {
        let (decay, weight, ratio) = (Decay::default(), Weight::from_hundredths(hundredths), Ratio::of(ratio).unwrap());
        let table = table(&decay, weight, &[ratio]);
        let mut lost_from = None;
        for cell in &table.rows[0].cells {
            let single = verdict(&decay, weight, ratio, ratio.level(), cell.distance);
            prop_assert_eq!((cell.fate, cell.margin, cell.threshold), (single.fate, single.margin, single.threshold));
            if !single.survives() {
                lost_from = lost_from.or(Some(cell.distance));
            }
        }
        prop_assert_eq!(table.rows[0].lost_from, lost_from);
    }
}
