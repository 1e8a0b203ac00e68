//! Chooses pieces under a token budget: coverage of rare terms with falling returns, by gain for the cost.
//!
//! The gain of a piece is what its terms add to `Σ weight(term) × count(term)^0.7`, times its cue weight, plus its own worth.
//! That function is submodular in the coverage part, so a gain once computed can only fall as more is chosen: the greedy
//! choice looks again only at the piece on top (lazy greedy, cost-scaled).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A piece as the choice sees it.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Its message.
    pub(super) message: u32,
    /// Tokens of its words.
    pub(super) tokens: f32,
    /// Factor of what it covers.
    pub(super) cover: f32,
    /// Worth of its own.
    pub(super) worth: f32,
    /// Its terms.
    pub(super) terms: Vec<u32>,
    /// The candidate that has to stand with it.
    pub(super) needs: Option<u32>,
    /// Its stretch of the session.
    pub(super) tier: u32,
}

/// How the choice presses; found by measuring on talk and on work alike.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tuning {
    /// Power of the cost that a gain is divided by.
    pub(super) cost_power: f32,
    /// Tokens that a message costs before its first word.
    pub(super) opening: f32,
    /// Tokens that join a piece to another.
    pub(super) joining: f32,
    /// Power of a term's count in what is covered: below 1, so that each repeat adds less.
    pub(super) count_power: f32,
}

impl Tuning {
    /// In talk a lone sentence of a message needs its neighbours to be understood, in work a line may stand alone:
    /// `directed` is 0 for talk, 1 for work.
    pub(super) fn of(directed: f32) -> Self {
        Self { cost_power: 0.9, opening: 7.0 - 4.5 * directed, joining: 0.6, count_power: 0.7 }
    }
}

/// The state of a choice; goes on where it stopped when there is more to spend.
#[derive(Debug)]
pub(super) struct Choice<'c> {
    candidates: &'c [Candidate],
    weights: &'c [f32],
    tuning: Tuning,
    counts: Vec<f32>,
    /// Chosen candidates.
    pub(super) chosen: Vec<bool>,
    /// The order in which they were chosen, what was forced first.
    pub(super) order: Vec<u32>,
    open: Vec<u32>,
    /// What was given back: it is not taken again, or the choice would go round in circles.
    refused: Vec<bool>,
}

#[derive(Debug, PartialEq)]
struct Entry {
    ratio: f32,
    candidate: u32,
    round: u32,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ratio.total_cmp(&other.ratio).then_with(|| other.candidate.cmp(&self.candidate))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'c> Choice<'c> {
    /// Nothing chosen yet.
    pub(super) fn new(candidates: &'c [Candidate], weights: &'c [f32], messages: usize, tuning: Tuning) -> Self {
        Self {
            candidates,
            weights,
            tuning,
            counts: vec![0.0; weights.len()],
            chosen: vec![false; candidates.len()],
            order: Vec::new(),
            open: vec![0; messages],
            refused: vec![false; candidates.len()],
        }
    }

    /// Takes a candidate, with what it needs.
    pub(super) fn take(&mut self, candidate: u32) {
        let at = candidate as usize;
        if std::mem::replace(&mut self.chosen[at], true) {
            return;
        }
        if let Some(needed) = self.candidates[at].needs {
            self.take(needed);
        }
        for term in &self.candidates[at].terms {
            self.counts[*term as usize] += 1.0;
        }
        self.open[self.candidates[at].message as usize] += 1;
        self.order.push(candidate);
    }

    /// Gives back what was chosen last, with what needs it; `false` when only `keep` are left.
    pub(super) fn give_back(&mut self, keep: usize, in_tier: Option<u32>) -> bool {
        let found = (keep..self.order.len())
            .rev()
            .find(|place| in_tier.is_none_or(|tier| self.candidates[self.order[*place] as usize].tier == tier));
        let Some(place) = found else { return false };
        let candidate = self.order.remove(place);
        let at = candidate as usize;
        self.chosen[at] = false;
        self.refused[at] = true;
        for term in &self.candidates[at].terms {
            self.counts[*term as usize] -= 1.0;
        }
        self.open[self.candidates[at].message as usize] -= 1;
        let dependants: Vec<usize> = (keep..self.order.len())
            .filter(|place| self.candidates[self.order[*place] as usize].needs == Some(candidate))
            .collect();
        for place in dependants.into_iter().rev() {
            let dependant = self.order.remove(place) as usize;
            self.chosen[dependant] = false;
            for term in &self.candidates[dependant].terms {
                self.counts[*term as usize] -= 1.0;
            }
            self.open[self.candidates[dependant].message as usize] -= 1;
        }
        true
    }

    /// Tokens that taking a candidate now would cost, as far as can be told before it is rendered.
    pub(super) fn cost(&self, candidate: u32) -> f32 {
        let one = &self.candidates[candidate as usize];
        let mut cost = one.tokens + self.tuning.joining;
        let mut opened = self.open[one.message as usize] > 0;
        if let Some(needed) = one.needs.filter(|needed| !self.chosen[*needed as usize]) {
            let needed = &self.candidates[needed as usize];
            cost += needed.tokens + self.tuning.joining;
            if self.open[needed.message as usize] == 0 {
                cost += self.tuning.opening;
            }
            opened |= needed.message == one.message;
        }
        if opened { cost } else { cost + self.tuning.opening }
    }

    fn power(&self, count: f32) -> f32 {
        if count <= 0.0 { 0.0 } else { count.powf(self.tuning.count_power) }
    }

    fn gain(&self, candidate: u32) -> f32 {
        let one = &self.candidates[candidate as usize];
        let own = |one: &Candidate| {
            let covered: f32 = one
                .terms
                .iter()
                .map(|term| {
                    let count = self.counts[*term as usize];
                    self.weights[*term as usize] * (self.power(count + 1.0) - self.power(count))
                })
                .sum();
            one.cover * covered + one.worth
        };
        let needed = one.needs.filter(|needed| !self.chosen[*needed as usize]);
        own(one) + needed.map_or(0.0, |needed| own(&self.candidates[needed as usize]))
    }

    fn ratio(&self, candidate: u32) -> f32 {
        self.gain(candidate) / self.cost(candidate).max(1.0).powf(self.tuning.cost_power)
    }

    /// Chooses until `budget` tokens are spent in a tier, or nothing more fits.
    pub(super) fn fill(&mut self, tier: u32, budget: f32) {
        let mut left = budget;
        let mut heap: BinaryHeap<Entry> = (0..self.candidates.len() as u32)
            .filter(|candidate| self.candidates[*candidate as usize].tier == tier)
            .filter(|candidate| !self.chosen[*candidate as usize] && !self.refused[*candidate as usize])
            .map(|candidate| Entry { ratio: self.ratio(candidate), candidate, round: 0 })
            .filter(|entry| entry.ratio > 0.0)
            .collect();
        let mut round = 0;
        while let Some(entry) = heap.pop() {
            if self.chosen[entry.candidate as usize] {
                continue;
            }
            if entry.round != round {
                let ratio = self.ratio(entry.candidate);
                if ratio > 0.0 {
                    heap.push(Entry { ratio, candidate: entry.candidate, round });
                }
                continue;
            }
            let cost = self.cost(entry.candidate);
            if cost > left {
                continue;
            }
            left -= cost;
            let message = self.candidates[entry.candidate as usize].message;
            let was_open = self.open[message as usize] > 0;
            self.take(entry.candidate);
            round += 1;
            if !was_open {
                self.refresh(&mut heap, message, tier, round);
            }
        }
    }

    /// A message was opened: its other pieces became cheaper, so what is known of them is too low.
    fn refresh(&self, heap: &mut BinaryHeap<Entry>, message: u32, tier: u32, round: u32) {
        let first = self.candidates.partition_point(|candidate| candidate.message < message);
        for (at, candidate) in self.candidates.iter().enumerate().skip(first) {
            if candidate.message != message {
                break;
            }
            if candidate.tier == tier && !self.chosen[at] && !self.refused[at] {
                let ratio = self.ratio(at as u32);
                if ratio > 0.0 {
                    heap.push(Entry { ratio, candidate: at as u32, round });
                }
            }
        }
    }
}

impl Choice<'_> {
    /// The stretch of a candidate.
    pub(super) fn tier(&self, candidate: u32) -> u32 {
        self.candidates[candidate as usize].tier
    }
}
