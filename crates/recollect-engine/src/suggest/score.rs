//! The score of a suggestion: its parts, what each weighs, and the reasons in words. Everything that decides is here.
//!
//! Each part is 0 to 1. The score is the mean of the parts that the request asks about, weighted:
//!
//! | part | weight | 1 means |
//! | --- | --- | --- |
//! | relevance | 0.40 | no session says more of the task, and its passages hold at least 40 % of what the task's words weigh |
//! | files | 0.25 | calls of tools touched each of the files, by their whole paths; rare files count more than common ones |
//! | folder | 0.20 | it ran in the very folder; around or below it, the part of the path that both share |
//! | topics | 0.15 | it is about each of the topics |
//! | recency | 0.12 | it ended now; half of that a month ago |
//! | branch | 0.08 | it ran on the branch that is checked out, and hardly any other session did |

use std::path::Path;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The parts of a score, each 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, rename = "SuggestionParts")]
pub struct Parts {
    /// What it says of the task.
    pub relevance: f64,
    /// Which of the files it touched.
    pub files: f64,
    /// Where it ran.
    pub folder: f64,
    /// Which of the topics it is about.
    pub topics: f64,
    /// How long ago it ended.
    pub recency: f64,
    /// On which branch it ran.
    pub branch: f64,
}

/// Which parts a request asks about; recency always counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AskedAbout {
    pub(super) task: bool,
    pub(super) files: bool,
    pub(super) folder: bool,
    pub(super) topics: bool,
    pub(super) branch: bool,
}

const RELEVANCE: f64 = 0.40;
const FILES: f64 = 0.25;
const FOLDER: f64 = 0.20;
const TOPICS: f64 = 0.15;
const RECENCY: f64 = 0.12;
const BRANCH: f64 = 0.08;

/// Relevance from which a session is suggested for the task alone.
const RELEVANT: f64 = 0.25;

/// A session whose score is a smaller part of the best one's is not suggested.
const WEAK: f64 = 0.35;

/// Of what the task's words weigh: a session that holds so much is as good a match as any.
const HELD: f64 = 0.4;

/// What a file that is only spoken of counts, and one that is known by the end of its path alone.
const SPOKEN_OF: f64 = 0.5;
const OTHER_PLACE: f64 = 0.5;

/// After so many days half of the recency is gone.
const MONTH: f64 = 30.0;

const DAY: f64 = 86_400_000.0;

impl Parts {
    /// Parts and weights of what was asked about.
    fn weighed(&self, asked: AskedAbout) -> [(bool, f64, f64); 6] {
        [
            (asked.task, RELEVANCE, self.relevance),
            (asked.files, FILES, self.files),
            (asked.folder, FOLDER, self.folder),
            (asked.topics, TOPICS, self.topics),
            (true, RECENCY, self.recency),
            (asked.branch, BRANCH, self.branch),
        ]
    }

    /// The whole, 0 to 1.
    pub(super) fn score(&self, asked: AskedAbout) -> f64 {
        let parts = self.weighed(asked);
        let weights: f64 = parts.iter().filter(|(counts, ..)| *counts).map(|(_, weight, _)| weight).sum();
        let sum: f64 = parts.iter().filter(|(counts, ..)| *counts).map(|(_, weight, part)| weight * part).sum();
        sum / weights
    }

    /// Whether there is more to it than that it was recent. Where nothing was asked about, that is enough.
    pub(super) fn has_evidence(&self, asked: AskedAbout) -> bool {
        let asks = asked.task || asked.files || asked.folder || asked.topics;
        !asks || self.relevance >= RELEVANT || self.files > 0.0 || self.folder > 0.0 || self.topics > 0.0
    }

    /// The reasons that `words` gives for its parts in their order here, the weightiest first.
    pub(super) fn in_order(&self, asked: AskedAbout, words: [Option<String>; 6]) -> Vec<String> {
        let mut reasons: Vec<(f64, String)> = self
            .weighed(asked)
            .into_iter()
            .zip(words)
            .filter_map(|((counts, weight, part), words)| {
                Some((weight * part, words.filter(|_| counts && part > 0.0)?))
            })
            .collect();
        reasons.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        reasons.into_iter().map(|(_, words)| words).collect()
    }
}

/// Whether a score is too weak beside the best one.
pub(super) fn is_weak(score: f64, best: f64) -> bool {
    score < best * WEAK
}

/// Relevance from what a session holds of the task, 0 to 1, and what the best session does.
pub(super) fn relevance(held: f64, best: f64) -> f64 {
    if best <= 0.0 { 0.0 } else { held / best * (best / HELD).min(1.0) }
}

/// Recency of a session that ended so many milliseconds ago.
pub(super) fn recency(ago: i64) -> f64 {
    0.5_f64.powf(ago.max(0) as f64 / DAY / MONTH)
}

/// How near two folders are: 1 for the same, the shared part where one holds the other, else 0.
pub(super) fn nearness(folder: &Path, project: &Path) -> f64 {
    let (one, other) = (folder.components().count(), project.components().count());
    // A root says nothing of what is below it.
    if one.min(other) <= 1 || !(folder.starts_with(project) || project.starts_with(folder)) {
        return 0.0;
    }
    (one.min(other) - 1) as f64 / (one.max(other) - 1) as f64
}

/// What a branch says: the fewer of the sessions in its project ran on it, the more.
pub(super) fn branch(on_it: u64, of_all: u64) -> f64 {
    if of_all <= 1 { 0.0 } else { 1.0 - (on_it.saturating_sub(1)) as f64 / (of_all - 1) as f64 }
}

/// How a session touched a file: called a tool on it or only spoke of it, by its whole path or by the end of it.
pub(super) fn touch(called: bool, here: bool) -> f64 {
    (if called { 1.0 } else { SPOKEN_OF }) * (if here { 1.0 } else { OTHER_PLACE })
}

/// What a file counts that so many sessions touched: the fewer, the more. One that none touched tells nothing.
pub(super) fn rarity(sessions: usize) -> f64 {
    if sessions == 0 { 0.0 } else { 1.0 / (1.0 + (sessions as f64).ln()) }
}

/// `today`, `3 days ago`.
pub(super) fn ago(millis: i64) -> String {
    match (millis.max(0) as f64 / DAY) as i64 {
        0 => "within a day".to_owned(),
        1 => "a day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folders_are_near_where_one_holds_the_other() {
        let near = |one: &str, other: &str| nearness(Path::new(one), Path::new(other));
        assert_eq!(near("/home/ada/app", "/home/ada/app"), 1.0);
        assert_eq!(near("/home/ada/app/crates/x", "/home/ada/app"), 0.6, "a part of the project");
        assert_eq!(near("/home/ada", "/home/ada/app"), 2.0 / 3.0, "a folder of projects");
        assert_eq!(near("/home/ada/app", "/home/ada/lib"), 0.0);
        assert_eq!(near("/home/ada/app", "/home/ada/app2"), 0.0, "names are not cut");
        assert_eq!(near("/home/ada/app", "/"), 0.0);
    }

    #[test]
    fn a_part_that_was_not_asked_about_takes_nothing() {
        let parts = Parts { folder: 1.0, recency: 1.0, ..Parts::default() };
        let asked = AskedAbout { folder: true, ..AskedAbout::default() };
        assert_eq!(parts.score(asked), 1.0);
        assert!(parts.score(AskedAbout { task: true, ..asked }) < 0.5);
        assert_eq!(Parts::default().score(AskedAbout::default()), 0.0);
        assert!(Parts::default().has_evidence(AskedAbout::default()), "with nothing asked the recent ones are it");
        assert!(!Parts { recency: 1.0, ..Parts::default() }.has_evidence(asked));
    }

    #[test]
    fn what_is_rare_says_more() {
        assert_eq!((rarity(0), rarity(1)), (0.0, 1.0));
        assert!(rarity(100) < 0.2);
        assert_eq!((branch(1, 50), branch(50, 50), branch(1, 1)), (1.0, 0.0, 0.0), "a branch that all are on is none");
        assert_eq!((recency(0), recency(30 * 86_400_000)), (1.0, 0.5));
        assert_eq!(relevance(0.2, 0.2), 0.5, "the best of weak matches is no good match");
        assert_eq!((relevance(0.3, 0.6), relevance(0.0, 0.0)), (0.5, 0.0));
    }

    #[test]
    fn reasons_come_in_the_order_of_their_weight() {
        let parts = Parts { relevance: 0.1, files: 1.0, recency: 0.9, ..Parts::default() };
        let asked = AskedAbout { task: true, files: true, ..AskedAbout::default() };
        let words = ["task", "files", "folder", "topics", "recent", "branch"].map(|words| Some(words.to_owned()));
        assert_eq!(parts.in_order(asked, words), ["files", "recent", "task"]);
    }

    proptest! {
        #[test]
        fn scores_are_from_0_to_1_and_rise_with_each_part(
            parts in prop::array::uniform6(0.0_f64..=1.0), asked in prop::array::uniform5(any::<bool>()), which in 0_usize..6
        ) {
            let of = |parts: [f64; 6]| {
                let [relevance, files, folder, topics, recency, branch] = parts;
                Parts { relevance, files, folder, topics, recency, branch }
            };
            let [task, files, folder, topics, branch] = asked;
            let asked = AskedAbout { task, files, folder, topics, branch };
            let score = of(parts).score(asked);
            prop_assert!((0.0..=1.0 + 1e-9).contains(&score));
            let mut more = parts;
            more[which] = 1.0;
            prop_assert!(of(more).score(asked) + 1e-9 >= score);
        }
    }
}
