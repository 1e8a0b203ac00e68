//! What a piece weighs beside the rarity of its words: who says it, where it stands, what it is.
//!
//! Structure first: a user who speaks seldom among long outputs says what the work is about, while two people who talk
//! say about as much each; the reply before the next request sums up what was done; the last one says how it stands.

use super::passes::{Pass, Passes};
use super::piece::{Class, Piece};
use crate::session::Role;

/// What a message is in its session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// The last words of the model before the user speaks again.
    pub(super) closing: bool,
    /// The last words of the model in the session.
    pub(super) last: bool,
    /// The first words of the user in the session.
    pub(super) opening: bool,
    /// What was said just before it, by somebody else, is a question.
    pub(super) answering: bool,
    /// On a side chain: the inner life of a sub-agent.
    pub(super) side: bool,
}

/// How the session as a whole is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// 0 for talk between equals, 1 for work that a user directs with few words.
    pub(super) directed: f32,
}

impl Shape {
    /// From the words of the user, and of everybody and everything.
    pub(super) fn of(user_words: u64, all_words: u64) -> Self {
        let share = user_words as f32 / all_words.max(1) as f32;
        Self { directed: (1.0 - share / 0.35).clamp(0.0, 1.0) }
    }
}

/// What a piece weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weight {
    /// Factor of what its words newly cover.
    pub(super) cover: f32,
    /// Worth of its own, whatever its words.
    pub(super) worth: f32,
}

/// What the worth of a piece is multiplied by when the same stands again later: a file changed once more, the same failure.
pub(super) const AGAIN: f32 = 0.2;

/// Weighs a piece.
pub(super) fn weigh(piece: &Piece, role: Role, place: Place, shape: Shape, passes: Passes) -> Weight {
    let directed = shape.directed;
    let class = match piece.class {
        Class::Change | Class::Commit | Class::State if !passes.has(Pass::Tools) => Class::Call,
        Class::Failure | Class::Verdict | Class::Edge if !passes.has(Pass::Tools) => Class::Output,
        class => class,
    };
    let (mut cover, mut worth) = match class {
        Class::Kept => (1.0, 0.0),
        Class::Sentence if role == Role::User => {
            // The request stands at the front; what is pasted after it is material.
            let fading = 1.0 / (1.0 + piece.words_before as f32 / 30.0);
            (1.0 + 2.0 * directed * fading, 8.0 * directed * fading)
        }
        Class::Sentence => {
            let fading = 1.0 / (1.0 + piece.words_before as f32 / 200.0);
            if place.last {
                (1.0 + 3.0 * directed * fading, 8.0 * directed * fading)
            } else if place.closing {
                (1.0 + 0.8 * directed * fading, 0.0)
            } else {
                (1.0 - 0.3 * directed, 0.0)
            }
        }
        Class::Heading => (if place.last { 1.0 + 2.0 * directed } else { 0.5 }, 0.0),
        Class::Code => (if place.last { 1.0 } else { 0.35 }, 0.0),
        Class::Thought => (0.3, 0.0),
        Class::Digest => (0.5, 0.0),
        Class::Command => (0.5, 0.0),
        Class::Call => (0.2, 0.0),
        Class::Change => (0.7, 40.0),
        Class::Commit => (2.0, 60.0),
        Class::State => (1.0, 2.0),
        Class::Task => (0.5, 0.0),
        Class::Content => (0.1, 0.0),
        Class::Failure => (1.0, 24.0),
        Class::Verdict => (0.6, 2.0),
        Class::Edge => (0.15, 0.0),
        Class::Output => (0.04, 0.0),
        Class::Report => (0.6, 0.0),
    };
    let said = matches!(piece.class, Class::Sentence | Class::Thought | Class::Report | Class::Digest);
    if said && passes.has(Pass::Forms) {
        if place.answering {
            // Between equals the answer holds the particulars; who works for another is asked for what to do, not for facts.
            cover *= 1.0 + 0.6 * (1.0 - directed);
        }
        cover *= spoken(&piece.text, role, directed);
    }
    if place.opening && piece.class == Class::Sentence {
        cover *= 1.0 + 0.5 * directed;
    }
    if place.side {
        cover *= 0.25;
        worth *= 0.25;
    }
    Weight { cover, worth }
}

/// What the form of a sentence adds: questions carry less than statements, reasons and corrections more.
fn spoken(text: &str, role: Role, directed: f32) -> f32 {
    let mut factor = 1.0;
    let trimmed = text.trim_end();
    if trimmed.ends_with('?') {
        // What a directing user asks is a request; in talk the answer holds the particulars.
        let kept = if role == Role::User { directed } else { 0.0 };
        factor *= 0.3 + 0.7 * kept;
    }
    let words = || text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    // Who tells of himself tells facts; who speaks of the other answers him.
    if words().any(|word| OWN.contains(&word)) {
        factor *= 1.2;
    }
    if words().any(|word| OTHER.iter().any(|other| word.eq_ignore_ascii_case(other))) {
        factor *= 0.65;
    }
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        factor *= 1.25;
    }
    if words().skip(1).any(|word| word.len() > 1 && word.starts_with(char::is_uppercase)) {
        factor *= 1.35;
    }
    if words().count() > 14 {
        factor *= 1.1;
    }
    let lower = text.to_lowercase();
    if REASONS.iter().any(|word| lower.contains(word)) {
        factor *= 1.0 + 0.25 * directed;
    }
    factor
}

/// Words by which somebody speaks of himself.
const OWN: &[&str] = &["I", "my", "My", "me", "we", "We", "our", "Our"];

/// Words by which somebody speaks of the one that he speaks to.
const OTHER: &[&str] = &["you", "your"];

/// Words that join a reason, a decision, a correction or an open end to what is said; the same in any trade.
const REASONS: &[&str] = &[
    "because",
    "instead",
    "decid",
    "root cause",
    "so that",
    "therefore",
    "must ",
    "never ",
    "always ",
    "don't ",
    "do not ",
    "should ",
    "fixed",
    "remaining",
    "todo",
    "not yet",
    "turns out",
    "the problem",
    "the issue",
    "rather than",
    "important",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::piece::Join;

    fn cover(text: &str, role: Role, place: Place, directed: f32) -> f32 {
        weigh(&Piece::new(text, Join::Space, Class::Sentence), role, place, Shape { directed }, Passes::ALL).cover
    }

    #[test]
    fn who_directs_with_few_words_is_heard() {
        assert_eq!(Shape::of(50, 100).directed, 0.0, "talk between equals");
        assert!(Shape::of(1, 100).directed > 0.9, "work with a few requests");
        let plain = Place::default();
        assert!(cover("please fix it", Role::User, plain, 1.0) > 2.0 * cover("please fix it", Role::User, plain, 0.0));
    }

    #[test]
    fn a_question_between_equals_carries_less_than_what_is_told() {
        let plain = Place::default();
        assert!(cover("was it good?", Role::User, plain, 0.0) < cover("it was good.", Role::User, plain, 0.0));
        assert_eq!(
            cover("was it good?", Role::User, plain, 1.0),
            cover("it was good.", Role::User, plain, 1.0),
            "a request"
        );
    }

    #[test]
    fn what_answers_a_question_between_equals_carries_more() {
        let answers = Place { answering: true, ..Place::default() };
        let plain = cover("it was good.", Role::User, Place::default(), 0.0);
        assert!(cover("it was good.", Role::User, answers, 0.0) > 1.5 * plain);
        assert_eq!(
            cover("it was good.", Role::Assistant, answers, 1.0),
            cover("it was good.", Role::Assistant, Place::default(), 1.0),
            "a request that ends with a question mark asks for work"
        );
    }

    #[test]
    fn the_last_reply_weighs_more_than_one_on_the_way() {
        let last = Place { closing: true, last: true, ..Place::default() };
        assert!(
            cover("it is done.", Role::Assistant, last, 1.0)
                > 2.0 * cover("it is done.", Role::Assistant, Place::default(), 1.0)
        );
    }

    #[test]
    fn the_inner_life_of_a_sub_agent_weighs_little() {
        let side = Place { side: true, ..Place::default() };
        assert!(
            cover("it is done.", Role::Assistant, side, 1.0)
                < 0.5 * cover("it is done.", Role::Assistant, Place::default(), 1.0)
        );
    }
}
