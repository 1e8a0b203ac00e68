//! Prepares a choice: cuts all messages, weighs their pieces, and says which have to be taken.

use std::collections::HashSet;

use rayon::prelude::*;

use super::cues::{self, Place, Shape};
use super::extract::{self, Cut, Mark};
use super::passes::{Pass, Passes};
use super::piece::Class;
use super::repeats::Calls;
use super::select::{Candidate, Tuning};
use super::settings::Resolved;
use super::terms::Terms;
use super::{Input, Watch, Why};
use crate::error::Result;
use crate::session::{MessageKind, Role};
use crate::tokens::Counter;

/// Words from which on a reply can be what a stretch of work ends with.
const CLOSING_WORDS: u32 = 8;

/// A session ready to be chosen from.
pub(super) struct Prepared {
    /// Each message as pieces.
    pub(super) cuts: Vec<Cut>,
    /// All pieces that can be chosen, in order.
    pub(super) candidates: Vec<Candidate>,
    /// For each message, the number of its first candidate; one more at the end.
    pub(super) first: Vec<u32>,
    /// What each term weighs.
    pub(super) weights: Vec<f32>,
    /// Candidates that are taken whatever they cost: surviving keepits, in order.
    pub(super) forced: Vec<u32>,
    /// The stretch of each message.
    pub(super) tier_of: Vec<u32>,
    /// How the choice presses.
    pub(super) tuning: Tuning,
}

/// Stretches as ranges of messages: first and one past the last of each. Percents are of all messages.
pub(super) fn tier_ranges(settings: &Resolved, messages: usize) -> Vec<(usize, usize)> {
    let mut from = 0;
    settings
        .tiers
        .iter()
        .map(|tier| {
            let end = ((tier.end_percent / 100.0 * messages as f64).round() as usize).clamp(from, messages);
            let end = if tier.end_percent >= 100.0 { messages } else { end };
            (std::mem::replace(&mut from, end), end)
        })
        .collect()
}

/// Cuts and weighs. `survives` says of each marked passage whether it is taken word for word.
pub(super) fn prepare(
    input: &Input<'_>,
    settings: &Resolved,
    survives: &[bool],
    counter: Counter,
    watch: &Watch<'_>,
) -> Result<Prepared> {
    let messages = input.messages;
    let total = messages.len() as u64;
    watch("reading", 0, total)?;
    let calls = Calls::read(messages, settings.passes);
    let skip = settings.skip_first_messages as usize;
    let mut marks: Vec<Vec<Mark<'_>>> = vec![Vec::new(); messages.len()];
    for (number, keepit) in input.keepits.iter().enumerate() {
        if let Some(marks) = marks.get_mut(keepit.message as usize) {
            marks.push(Mark { number, keepit, survives: survives.get(number).copied().unwrap_or(false) });
        }
    }
    for marks in &mut marks {
        marks.sort_by_key(|mark| (mark.keepit.start, mark.number));
    }
    let cut = |(at, message): (usize, &crate::session::Message)| {
        if at < skip && !marks[at].iter().any(|mark| mark.survives) {
            return Cut { why: Some(Why::Skipped), ..Cut::default() };
        }
        let mut cut = extract::cut(message, &calls, &marks[at], &input.session.project_path, settings.passes);
        if at < skip {
            cut.pieces.retain(|piece| piece.keepit.is_some());
        }
        cut
    };
    let cuts: Vec<Cut> = messages.par_iter().enumerate().map(cut).collect();
    watch("weighing", total / 4, total)?;
    let mut tier_of = vec![0; messages.len()];
    for (tier, (from, end)) in tier_ranges(settings, messages.len()).into_iter().enumerate() {
        tier_of[from..end].fill(tier as u32);
    }
    let mut prepared = Prepared {
        cuts,
        candidates: Vec::new(),
        first: Vec::new(),
        weights: Vec::new(),
        forced: Vec::new(),
        tier_of,
        tuning: Tuning::of(0.0),
    };
    prepared.weigh(input, settings.passes, counter);
    watch("choosing", total / 2, total)?;
    Ok(prepared)
}

impl Prepared {
    fn weigh(&mut self, input: &Input<'_>, passes: Passes, counter: Counter) {
        let mut places = self.places(input);
        let mut shape = self.shape(input);
        self.tuning = Tuning::of(shape.directed);
        if !passes.has(Pass::Places) {
            places.fill(Place::default());
            shape.directed = 0.0;
        }
        if !passes.has(Pass::Coverage) {
            self.tuning.count_power = 1.0;
        }
        let again = if passes.has(Pass::Again) { self.again() } else { vec![Vec::new(); self.cuts.len()] };
        let tokens: Vec<Vec<f32>> = self
            .cuts
            .par_iter()
            .map(|cut| cut.pieces.iter().map(|piece| counter.count(&piece.text) as f32).collect())
            .collect();
        let mut terms = Terms::default();
        let mut documents = 0;
        for (at, cut) in self.cuts.iter().enumerate() {
            let first = self.candidates.len() as u32;
            self.first.push(first);
            documents += u32::from(!cut.pieces.is_empty());
            for (number, piece) in cut.pieces.iter().enumerate() {
                let weight = cues::weigh(piece, input.messages[at].role, places[at], shape, passes);
                if piece.class == Class::Kept {
                    self.forced.push(first + number as u32);
                }
                self.candidates.push(Candidate {
                    message: at as u32,
                    tokens: tokens[at][number],
                    cover: weight.cover,
                    worth: if again[at].contains(&number) { weight.worth * cues::AGAIN } else { weight.worth },
                    terms: terms.read(&piece.text, at as u32),
                    needs: piece.answers.map(|answers| first + answers as u32),
                    tier: self.tier_of[at],
                });
            }
        }
        self.first.push(self.candidates.len() as u32);
        self.weights = terms.weights(documents);
        if !passes.has(Pass::Rarity) {
            self.weights.fill(1.0);
        }
    }

    /// Pieces of each message that a later message has again, word for word: changes of a file, failures.
    fn again(&self) -> Vec<Vec<usize>> {
        let mut later: HashSet<&str> = HashSet::new();
        let mut again = vec![Vec::new(); self.cuts.len()];
        for (at, cut) in self.cuts.iter().enumerate().rev() {
            for (number, piece) in cut.pieces.iter().enumerate().rev() {
                if matches!(piece.class, Class::Change | Class::Failure | Class::Verdict) && !later.insert(&piece.text)
                {
                    again[at].push(number);
                }
            }
        }
        again
    }

    /// Which replies close a stretch of work, which words open the session, and what answers a question.
    fn places(&self, input: &Input<'_>) -> Vec<Place> {
        let mut places = vec![Place::default(); self.cuts.len()];
        let said = |at: usize, role: Role| {
            let message = &input.messages[at];
            message.role == role
                && message.kind == MessageKind::Turn
                && message.agent_id.is_none()
                && self.cuts[at].speaks
        };
        let mut last = None;
        let mut closing: Option<usize> = None;
        let mut opened = false;
        for at in 0..self.cuts.len() {
            places[at].side = input.messages[at].agent_id.is_some();
            if said(at, Role::User) {
                if let Some(closing) = closing.take() {
                    places[closing].closing = true;
                }
                places[at].opening = !opened;
                opened = true;
            } else if said(at, Role::Assistant) && self.words(at) >= CLOSING_WORDS {
                closing = Some(at);
                last = Some(at);
            }
        }
        let asks = |at: usize| {
            self.cuts[at]
                .pieces
                .iter()
                .rev()
                .find(|piece| piece.class == Class::Sentence)
                .is_some_and(|piece| piece.text.trim_end().ends_with('?'))
        };
        let mut before: Option<usize> = None;
        for (at, place) in places.iter_mut().enumerate() {
            if said(at, Role::User) || said(at, Role::Assistant) {
                place.answering =
                    before.is_some_and(|before| asks(before) && input.messages[before].role != input.messages[at].role);
                before = Some(at);
            }
        }
        for at in closing.into_iter().chain(last) {
            places[at].closing = true;
        }
        if let Some(last) = last {
            places[last].last = true;
        }
        places
    }

    fn words(&self, at: usize) -> u32 {
        let sentences = self.cuts[at].pieces.iter().filter(|piece| piece.class == Class::Sentence);
        sentences.map(|piece| piece.text.split_whitespace().count() as u32).sum()
    }

    fn shape(&self, input: &Input<'_>) -> Shape {
        let (mut user_words, mut all_words, mut user_messages, mut all_messages) = (0, 0, 0, 0);
        for (cut, message) in self.cuts.iter().zip(input.messages) {
            if cut.pieces.is_empty() {
                continue;
            }
            let words: usize = cut.pieces.iter().map(|piece| piece.text.split_whitespace().count()).sum();
            all_words += words as u64;
            all_messages += 1;
            if message.role == Role::User && cut.speaks {
                user_words += words as u64;
                user_messages += 1;
            }
        }
        let by_words = Shape::of(user_words, all_words);
        let by_messages = Shape::of(user_messages, all_messages);
        Shape { directed: by_words.directed.max(by_messages.directed) }
    }
}
