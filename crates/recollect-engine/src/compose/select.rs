//! Which version of a session a composition takes (4.3, as product decision 7 has it), with the reason in words.

use super::words::{grouped, ratio_in_words};
use crate::db::VersionRow;
use crate::ids::VersionId;

/// A version that can be taken.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) version_id: VersionId,
    pub(super) output_tokens: u64,
    /// Of the original: tokens of it for one of the version.
    pub(super) ratio: f64,
    /// Keepits word for word.
    pub(super) preserved: u64,
    /// Keepits summarised.
    pub(super) summarized: u64,
    /// The part of the session that it reaches over, 0 to 1.
    pub(super) covered: f64,
}

impl Candidate {
    /// A version of a session of so many tokens, of which it lacks the newest `behind`.
    pub(super) fn of(row: &VersionRow, original_tokens: u64, behind: u64) -> Self {
        Self {
            version_id: row.version_id.clone(),
            output_tokens: row.output_tokens,
            ratio: original_tokens as f64 / row.output_tokens.max(1) as f64,
            preserved: row.keepit_stats.preserved,
            summarized: row.keepit_stats.summarized,
            covered: 1.0 - behind as f64 / original_tokens.max(behind).max(1) as f64,
        }
    }
}

/// What is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pick {
    /// The session as it is.
    Original,
    /// A version that is there.
    Version(VersionId),
    /// A compression that has to be made.
    New,
}

/// What is taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) pick: Pick,
    pub(super) reason: String,
}

/// Below this score no version is good enough.
const GOOD_ENOUGH: f64 = 0.5;

/// Chooses for a share: the original where it fits, else the version with the best score, else a new compression.
/// Of versions with one score the newest is taken. `original` is its tokens.
pub(super) fn choose(original: u64, candidates: &[Candidate], share: u64, preferred_ratio: Option<f64>) -> Choice {
    if original <= share {
        let reason = format!("original: fits, {} of its share of {} tokens", grouped(original), grouped(share));
        return Choice { pick: Pick::Original, reason };
    }
    let best = candidates
        .iter()
        .map(|candidate| (score(candidate, share, preferred_ratio), candidate))
        .max_by(|(left, _), (right, _)| left.total_cmp(right));
    match best {
        None => Choice { pick: Pick::New, reason: "new: there is no version yet".to_owned() },
        Some((score, candidate)) if score < GOOD_ENOUGH => {
            let reason = format!("new: no version suits, {}", against(candidate, share));
            Choice { pick: Pick::New, reason }
        }
        Some((_, candidate)) => {
            let pick = Pick::Version(candidate.version_id.clone());
            Choice { pick, reason: format!("{}, {}{}", fit(candidate, share), keepits(candidate), behind(candidate)) }
        }
    }
}

/// How well a version suits a share, 0 to 1: the formula of 4.3 with keepits to be preserved, and as fresh as it is
/// whole: what the session has beyond it, it does not tell.
pub(super) fn score(candidate: &Candidate, share: u64, preferred_ratio: Option<f64>) -> f64 {
    let mut score = if candidate.output_tokens > share { 0.1 } else { 0.5 + part(candidate, share) * 0.5 };
    if let Some(preferred) = preferred_ratio {
        score *= (1.0 - (candidate.ratio - preferred).abs() / 50.0).max(0.5);
    }
    score * (0.5 + preservation(candidate) * 0.5) * candidate.covered
}

/// The version, or the original, that fits a share and leaves least of it unused; what `except` names is passed over.
pub(super) fn fitting(original: u64, candidates: &[Candidate], share: u64, except: &VersionId) -> Option<VersionId> {
    let whole = (original <= share).then(|| VersionId::from("original"));
    let version = candidates
        .iter()
        .filter(|candidate| candidate.output_tokens <= share)
        .max_by_key(|candidate| candidate.output_tokens);
    whole.or_else(|| version.map(|candidate| candidate.version_id.clone())).filter(|version| version != except)
}

/// Keepits that are word for word, of all; 1 where there are none.
fn preservation(candidate: &Candidate) -> f64 {
    match candidate.preserved + candidate.summarized {
        0 => 1.0,
        all => candidate.preserved as f64 / all as f64,
    }
}

/// The part of a share that a version uses.
fn part(candidate: &Candidate, share: u64) -> f64 {
    if share == 0 { 1.0 } else { candidate.output_tokens as f64 / share as f64 }
}

fn fit(candidate: &Candidate, share: u64) -> String {
    format!("{}: {:.0} % of its share", candidate.version_id, part(candidate, share) * 100.0)
}

fn keepits(candidate: &Candidate) -> String {
    match (candidate.preserved, candidate.preserved + candidate.summarized) {
        (_, 0) => "no keepits to lose".to_owned(),
        (preserved, all) if preserved == all => "all keepits".to_owned(),
        (preserved, all) => format!("{preserved} of {all} keepits"),
    }
}

/// What of the session it does not have.
fn behind(candidate: &Candidate) -> String {
    match ((1.0 - candidate.covered) * 100.0).ceil() {
        0.0 => String::new(),
        percent => format!(", {percent:.0} % of the session is newer"),
    }
}

/// Why even the best version is not good enough.
fn against(candidate: &Candidate, share: u64) -> String {
    let version = &candidate.version_id;
    match candidate.output_tokens.checked_sub(share) {
        Some(over) if over > 0 => {
            format!("{version} ({}) is {} tokens over its share", ratio_in_words(candidate.ratio), grouped(over))
        }
        _ => format!("{}, {}", fit(candidate, share), keepits(candidate)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(id: &str, output_tokens: u64, preserved: u64, summarized: u64) -> Candidate {
        let ratio = 100_000.0 / output_tokens as f64;
        Candidate { version_id: id.into(), output_tokens, ratio, preserved, summarized, covered: 1.0 }
    }

    #[test]
    fn an_original_that_fits_is_taken_before_any_version() {
        let choice = choose(3_000, &[version("v001", 2_900, 1, 0)], 3_000, None);
        assert_eq!(choice.pick, Pick::Original);
        assert_eq!(choice.reason, "original: fits, 3,000 of its share of 3,000 tokens");
        assert_eq!(choose(3_000, &[], 3_000, None).pick, Pick::Original, "before a new compression too");
    }

    #[test]
    fn the_best_version_is_taken_and_says_why() {
        let versions = [version("v001", 1_000, 5, 0), version("v002", 2_760, 5, 0), version("v003", 3_100, 5, 0)];
        let choice = choose(100_000, &versions, 3_000, None);
        assert_eq!(choice.pick, Pick::Version("v002".into()));
        assert_eq!(choice.reason, "v002: 92 % of its share, all keepits");
        let lost = choose(100_000, &[version("v001", 2_700, 11, 1)], 3_000, None);
        assert_eq!(lost.reason, "v001: 90 % of its share, 11 of 12 keepits");
        assert_eq!(
            choose(100_000, &[version("v001", 2_700, 0, 0)], 3_000, None).reason,
            "v001: 90 % of its share, no keepits to lose"
        );
    }

    #[test]
    fn a_new_compression_is_made_where_no_version_is_good_enough() {
        assert_eq!(choose(100_000, &[], 3_000, None).reason, "new: there is no version yet");
        let over = choose(100_000, &[version("v001", 4_240, 5, 0)], 3_000, None);
        assert_eq!(
            (over.pick, over.reason.as_str()),
            (Pick::New, "new: no version suits, v001 (24:1) is 1,240 tokens over its share")
        );
        let poor = choose(100_000, &[version("v001", 600, 1, 9)], 3_000, None);
        assert_eq!(
            (poor.pick, poor.reason.as_str()),
            (Pick::New, "new: no version suits, v001: 20 % of its share, 1 of 10 keepits")
        );
    }

    #[test]
    fn scores_are_those_of_the_formula() {
        for (tokens, preserved, summarized, preferred, expected) in [
            (3_000, 4, 0, None, 1.0),
            (1_500, 4, 0, None, 0.75),
            (3_001, 4, 0, None, 0.1),
            (3_000, 1, 1, None, 0.75),
            (3_000, 0, 4, None, 0.5),
            (3_000, 0, 0, None, 1.0),
            (2_000, 4, 0, Some(50.0), (0.5 + 0.5 * 2.0 / 3.0) * 1.0),
            (2_000, 4, 0, Some(40.0), (0.5 + 0.5 * 2.0 / 3.0) * 0.8),
            (2_000, 4, 0, Some(500.0), (0.5 + 0.5 * 2.0 / 3.0) * 0.5),
        ] {
            let scored = score(&version("v001", tokens, preserved, summarized), 3_000, preferred);
            assert!(
                (scored - expected).abs() < 1e-12,
                "{tokens} tokens, {preserved}+{summarized} keepits gave {scored}, not {expected}"
            );
        }
    }

    #[test]
    fn of_equal_versions_the_newest_is_taken() {
        let choice = choose(100_000, &[version("v001", 2_000, 1, 0), version("v002", 2_000, 1, 0)], 3_000, None);
        assert_eq!(choice.pick, Pick::Version("v002".into()));
    }

    #[test]
    fn the_fix_is_what_fits_best() {
        let versions = [version("v001", 6_840, 1, 0), version("v002", 1_000, 1, 0), version("v003", 5_000, 1, 0)];
        assert_eq!(fitting(100_000, &versions, 5_600, &"v001".into()), Some("v003".into()));
        assert_eq!(fitting(5_000, &versions, 5_600, &"v001".into()), Some("original".into()));
        assert_eq!(fitting(100_000, &versions, 500, &"v001".into()), None);
    }

    proptest! {
        #[test]
        fn a_taken_version_is_never_over_its_share(original in 1_u64..1_000_000, share in 0_u64..50_000, sizes in prop::collection::vec((1_u64..60_000, 0_u64..9, 0_u64..9), 0..8)) {
            let versions: Vec<_> = sizes.iter().enumerate().map(|(at, (tokens, kept, lost))| version(&format!("v{at:03}"), *tokens, *kept, *lost)).collect();
            match choose(original, &versions, share, None).pick {
                Pick::Original => prop_assert!(original <= share),
                Pick::Version(id) => {
                    let taken = versions.iter().find(|version| version.version_id == id).expect("one of them");
                    prop_assert!(taken.output_tokens <= share);
                    let best = versions.iter().map(|version| score(version, share, None)).fold(0.0, f64::max);
                    prop_assert!(score(taken, share, None) >= best && best >= 0.5);
                }
                Pick::New => prop_assert!(original > share && versions.iter().all(|version| score(version, share, None) < 0.5)),
            }
        }
    }
}
