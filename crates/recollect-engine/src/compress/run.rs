//! Runs a compression: chooses under the budget, renders, counts what was rendered, and mends until it fits.

use std::collections::BTreeMap;

use super::assemble::{Assembled, assemble};
use super::join::message_uuid;
use super::markdown::{self, HeadFacts, HeadSize};
use super::piece::{Class, one_line};
use super::plan::{self, Prepared, tier_ranges};
use super::select::Choice;
use super::settings::{Resolved, Tier};
use super::{Input, Needs, Outcome, Pass, Passes, Watch, Why, verdicts};
use crate::api::compression::{KeepitMode, LeftOut, TierResult, VersionMessage, VersionMessageKind};
use crate::api::keepit::{Aggressiveness, MarkerVerdict};
use crate::dedup::ContentHash;
use crate::error::{Error, ErrorKind, Result};
use crate::keepit::Decay;
use crate::session::{Block, MessageKind, Role};
use crate::tokens::Counter;

/// Stretches of the output map.
const MAP_STRETCHES: usize = 72;

/// Rounds of rendering, counting and mending before pieces are only given back.
const ROUNDS: usize = 8;

/// Compresses.
///
/// # Errors
/// `OverBudget` when the surviving keepits alone need more than the budget, with their names and what they need; `Usage`
/// when the session has nothing to say, when all of it would be skipped, or when the budget has no room for a line;
/// `Cancelled` or whatever `watch` returns.
pub fn run(
    input: &Input<'_>,
    settings: &Resolved,
    decay: &Decay,
    counter: Counter,
    watch: &Watch<'_>,
) -> Result<Outcome> {
    let skip = settings.skip_first_messages as usize;
    if skip > 0 && skip >= input.messages.len() {
        return Err(Error::usage(format!(
            "skipping {skip} messages leaves nothing: the session has {}",
            input.messages.len()
        ))
        .hint("skip fewer messages"));
    }
    let ranges = tier_ranges(settings, input.messages.len());
    let verdicts = verdicts::all(input, settings, &ranges, decay)?;
    let survives: Vec<bool> = verdicts.iter().map(|verdict| verdict.survives).collect();
    let prepared = plan::prepare(input, settings, &survives, counter, watch)?;
    if prepared.candidates.is_empty() {
        return Err(Error::usage("the session has nothing to say that could be compressed")
            .hint("show the session to see what it holds"));
    }
    let work = Work::new(input, settings, &prepared, &ranges, counter);
    let mut choice = Choice::new(&prepared.candidates, &prepared.weights, input.messages.len(), prepared.tuning);
    for forced in &prepared.forced {
        choice.take(*forced);
    }
    let forced = choice.order.len();
    work.check_forced(&choice, &verdicts)?;
    let rendered = work.choose(&mut choice, forced, watch)?;
    if rendered.messages.is_empty() {
        return Err(Error::usage(format!("a budget of {} tokens has no room for even one line", work.budget))
            .hint("choose a smaller ratio"));
    }
    work.finish(rendered, verdicts, decay)
}

/// The whole input as a Markdown record in which nothing is left out, for comparing.
///
/// # Errors
/// None that come from the input.
pub fn whole(input: &Input<'_>, counter: Counter) -> Result<String> {
    let tier = Tier { end_percent: 100.0, ratio: 1.0, aggressiveness: Aggressiveness::Light };
    let settings = Resolved {
        tiers: vec![tier],
        tiered: false,
        skip_first_messages: 0,
        keepit_mode: KeepitMode::Ignore,
        distance: 1,
        passes: Passes::ALL.without(Pass::Shortening),
    };
    let ranges = tier_ranges(&settings, input.messages.len());
    let prepared = plan::prepare(input, &settings, &[], counter, &|_, _, _| Ok(()))?;
    let work = Work::new(input, &settings, &prepared, &ranges, counter);
    let mut choice = Choice::new(&prepared.candidates, &prepared.weights, input.messages.len(), prepared.tuning);
    for candidate in 0..prepared.candidates.len() as u32 {
        choice.take(candidate);
    }
    Ok(work.render(&choice, false).markdown)
}

struct Work<'w> {
    input: &'w Input<'w>,
    settings: &'w Resolved,
    prepared: &'w Prepared,
    ranges: &'w [(usize, usize)],
    counter: Counter,
    original_tokens: u64,
    budget: u64,
    tier_tokens: Vec<u64>,
    tier_budgets: Vec<u64>,
    head: HeadSize,
    headings: Vec<String>,
    verbatim: Vec<Option<String>>,
}

/// A rendered choice.
struct Rendered {
    /// Messages with their place in the input.
    messages: Vec<(usize, Assembled, u64)>,
    markdown: String,
    head_bytes: usize,
    /// Tokens of each stretch: of its Markdown, or of its messages where that is more.
    tier_output: Vec<u64>,
    output_tokens: u64,
    left_out: Vec<LeftOut>,
}

impl<'w> Work<'w> {
    fn new(
        input: &'w Input<'w>,
        settings: &'w Resolved,
        prepared: &'w Prepared,
        ranges: &'w [(usize, usize)],
        counter: Counter,
    ) -> Self {
        let tier_tokens: Vec<u64> = ranges.iter().map(|(from, end)| input.tokens[*from..*end].iter().sum()).collect();
        let original_tokens = tier_tokens.iter().sum();
        let tier_budgets: Vec<u64> = tier_tokens
            .iter()
            .zip(&settings.tiers)
            .map(|(tokens, tier)| (*tokens as f64 / tier.ratio).floor() as u64)
            .collect();
        let budget = tier_budgets.iter().sum();
        let mut work = Self {
            input,
            settings,
            prepared,
            ranges,
            counter,
            original_tokens,
            budget,
            tier_tokens,
            tier_budgets,
            head: HeadSize::None,
            headings: vec![String::new(); ranges.len()],
            verbatim: verbatims(input),
        };
        work.furnish();
        work
    }

    /// Index of the message at a place of the input; past its end, the place.
    fn index(&self, place: usize) -> u32 {
        self.input.messages.get(place).map_or(place as u32, |message| message.index)
    }

    /// Chooses how much the head and the headings say, by what the budget allows.
    fn furnish(&mut self) {
        let expected = [Why::NothingSaid, Why::Replaced, Why::OverBudget].map(|why| LeftOut {
            reason: why.words().to_owned(),
            messages: self.input.messages.len() as u64,
            tokens: self.original_tokens,
        });
        let facts = self.head_facts(0, &expected);
        let most = self.budget / 40;
        let size = HeadSize::ALL.into_iter().find(|size| self.counter.count(&markdown::head(&facts, *size)) <= most);
        self.head = size.unwrap_or(HeadSize::None);
        if self.settings.tiered {
            for (at, tier) in self.settings.tiers.iter().enumerate() {
                let (from, end) = self.ranges[at];
                if end > from {
                    let heading =
                        markdown::tier_heading(self.index(from), self.index(end - 1), tier.ratio, tier.aggressiveness);
                    if self.counter.count(&heading) <= self.tier_budgets[at] / 12 {
                        self.headings[at] = heading;
                    }
                }
            }
        }
    }

    fn head_facts<'h>(&'h self, output_messages: u64, left_out: &'h [LeftOut]) -> HeadFacts<'h> {
        HeadFacts {
            session: self.input.session,
            settings: self.settings,
            original_tokens: self.original_tokens,
            original_messages: self.input.messages.len() as u64,
            output_messages,
            left_out,
        }
    }

    /// Fails when what has to be kept does not fit, naming it and what it needs.
    fn check_forced(&self, choice: &Choice<'_>, verdicts: &[MarkerVerdict]) -> Result<()> {
        if choice.order.is_empty() {
            return Ok(());
        }
        let bare = self.render(choice, false);
        let tiers = bare.tier_output.iter().enumerate().filter(|_| self.settings.tiered);
        let tiers = tiers.map(|(at, needed)| (*needed, self.tier_budgets[at], self.tier_tokens[at], self.ranges[at]));
        // The whole has a token or two that none of its stretches has.
        let all = (bare.output_tokens, self.budget, self.original_tokens, (0, self.input.messages.len()));
        for (needed, most, tokens, (from, end)) in tiers.chain([all]) {
            if needed <= most {
                continue;
            }
            let whole = (from, end) == all.3;
            let within = |index: usize| (from..end).contains(&index);
            let names: Vec<String> = self
                .input
                .keepits
                .iter()
                .zip(verdicts)
                .filter(|(keepit, verdict)| verdict.survives && within(keepit.message as usize))
                .map(|(keepit, _)| format!("“{}” ({:.2})", one_line(&keepit.content, 40), keepit.weight))
                .collect();
            let place = if whole { String::new() } else { format!(" of messages {}–{}", from + 1, end) };
            let largest = tokens as f64 / needed as f64;
            let ratio = (largest * 10.0).floor() / 10.0;
            return Err(Error::new(
                ErrorKind::OverBudget,
                format!(
                    "the surviving keepits{place} need {needed} tokens, the budget is {most}: {}",
                    names.join(", ")
                ),
            )
            .hint(if ratio > 1.0 {
                format!(
                    "choose a ratio of at most {}, lower their weights, or choose the keepit mode ignore",
                    markdown::number(ratio)
                )
            } else {
                "lower their weights, or choose the keepit mode ignore".to_owned()
            })
            .because(Needs(needed)));
        }
        Ok(())
    }

    /// Fills the budget: chooses by estimate, renders, counts, and mends the estimate.
    fn choose(&self, choice: &mut Choice<'_>, forced: usize, watch: &Watch<'_>) -> Result<Rendered> {
        let tiers = self.ranges.len();
        let total = self.input.messages.len() as u64;
        let bare = self.render(choice, true);
        // Tokens that each stretch may take, its heading and its part of the head included.
        let head: u64 = bare.output_tokens.saturating_sub(bare.tier_output.iter().sum());
        let mut most: Vec<u64> = self.tier_budgets.clone();
        if let Some(largest) = (0..tiers).max_by_key(|tier| (most[*tier], *tier)) {
            most[largest] = most[largest].saturating_sub(head);
        }
        for (tier, most) in most.iter().enumerate().rev() {
            let spent = bare.tier_output[tier].max(self.counter.count(&self.headings[tier]));
            choice.fill(tier as u32, most.saturating_sub(spent) as f32);
        }
        let mut rendered = self.render(choice, true);
        for round in 0..ROUNDS {
            watch("choosing", total / 2 + total * round as u64 / (2 * ROUNDS as u64), total)?;
            let mut changed = false;
            for (tier, (actual, most)) in rendered.tier_output.iter().zip(&most).enumerate() {
                if actual > most {
                    changed |= give_back(choice, forced, tier, (actual - most) as f32);
                } else if most - actual > most / 60 && round + 2 < ROUNDS {
                    let before = choice.order.len();
                    choice.fill(tier as u32, (most - actual) as f32 * 0.97);
                    changed |= choice.order.len() > before;
                }
            }
            if !changed {
                break;
            }
            rendered = self.render(choice, true);
        }
        // What is still over, by a token or two, is given back piece by piece.
        loop {
            let over_tier =
                (0..tiers).find(|tier| self.settings.tiered && rendered.tier_output[*tier] > self.tier_budgets[*tier]);
            if over_tier.is_none() && rendered.output_tokens <= self.budget {
                break;
            }
            let given = choice.give_back(forced, over_tier.map(|tier| tier as u32)) || choice.give_back(forced, None);
            if !given {
                // Only what has to be kept fits, without a head.
                return Ok(self.render(choice, false));
            }
            rendered = self.render(choice, true);
        }
        watch("writing", total, total)?;
        Ok(rendered)
    }

    fn render(&self, choice: &Choice<'_>, furnished: bool) -> Rendered {
        let mut messages: Vec<(usize, Assembled, u64)> = Vec::new();
        for (at, cut) in self.prepared.cuts.iter().enumerate() {
            let first = self.prepared.first[at] as usize;
            if !(first..self.prepared.first[at + 1] as usize).any(|candidate| choice.chosen[candidate]) {
                continue;
            }
            let role = self.input.messages[at].role;
            let assembled =
                assemble(&cut.pieces, |piece| choice.chosen[first + piece], role, self.verbatim[at].as_deref());
            let tokens = self.counter.count(&assembled.text);
            messages.push((at, assembled, tokens));
        }
        let mut sections = Vec::new();
        let mut tier_output = Vec::new();
        let mut markdown = String::new();
        let mut spoken = 0;
        for (tier, (from, end)) in self.ranges.iter().enumerate() {
            let inside = || messages.iter().filter(|(at, _, _)| (*from..*end).contains(at));
            let conversation = markdown::conversation(inside().map(|(_, assembled, _)| assembled));
            let mut section = String::new();
            if !conversation.is_empty() {
                if furnished {
                    section.push_str(&self.headings[tier]);
                }
                section.push_str(&conversation);
            }
            let said: u64 = inside().map(|(_, _, tokens)| tokens).sum();
            spoken += said;
            tier_output.push(self.counter.count(&section).max(said));
            sections.push(section);
        }
        let left_out = self.left_out(&messages);
        if furnished {
            markdown.push_str(&markdown::head(&self.head_facts(messages.len() as u64, &left_out), self.head));
        }
        let head_bytes = markdown.len();
        let filled: Vec<&str> = sections.iter().map(String::as_str).filter(|section| !section.is_empty()).collect();
        markdown.push_str(&filled.join("\n\n"));
        markdown.push('\n');
        let output_tokens = self.counter.count(&markdown).max(spoken);
        Rendered { messages, markdown, head_bytes, tier_output, output_tokens, left_out }
    }

    fn left_out(&self, messages: &[(usize, Assembled, u64)]) -> Vec<LeftOut> {
        let mut sums: BTreeMap<Why, (u64, u64)> = BTreeMap::new();
        let mut present = messages.iter().map(|(at, _, _)| *at).peekable();
        for (at, cut) in self.prepared.cuts.iter().enumerate() {
            if present.peek() == Some(&at) {
                present.next();
                continue;
            }
            let sum = sums.entry(cut.why.unwrap_or(Why::OverBudget)).or_default();
            sum.0 += 1;
            sum.1 += self.input.tokens[at];
        }
        sums.into_iter()
            .map(|(why, (messages, tokens))| LeftOut { reason: why.words().to_owned(), messages, tokens })
            .collect()
    }

    fn finish(&self, rendered: Rendered, keepits: Vec<MarkerVerdict>, decay: &Decay) -> Result<Outcome> {
        let stretches = MAP_STRETCHES.min(self.input.messages.len()).max(1);
        let mut output_map = vec![0; stretches];
        let mut messages = Vec::with_capacity(rendered.messages.len());
        for (number, (at, assembled, tokens)) in rendered.messages.into_iter().enumerate() {
            output_map[at * stretches / self.input.messages.len()] += tokens;
            messages.push(self.version_message(number as u32, at, assembled, tokens));
        }
        let tiers = self.ranges.iter().zip(&self.settings.tiers).enumerate();
        let tiers = tiers
            .map(|(number, ((from, end), tier))| {
                Ok(TierResult {
                    first: self.index(*from),
                    last: self.index(end.saturating_sub(1)),
                    ratio: tier.ratio,
                    aggressiveness: tier.aggressiveness,
                    threshold: verdicts::threshold(tier, self.settings.distance, decay)?,
                    original_tokens: self.tier_tokens[number],
                    output_tokens: rendered.tier_output[number],
                })
            })
            .collect::<Result<_>>()?;
        Ok(Outcome {
            messages,
            markdown: rendered.markdown,
            head_bytes: rendered.head_bytes,
            original_tokens: self.original_tokens,
            budget: self.budget,
            output_tokens: rendered.output_tokens,
            tiers,
            keepits,
            left_out: rendered.left_out,
            output_map,
            made_by: None,
        })
    }

    fn version_message(&self, number: u32, at: usize, assembled: Assembled, tokens: u64) -> VersionMessage {
        let message = &self.input.messages[at];
        let pieces = &self.prepared.cuts[at].pieces;
        let (sources, source_indexes) = match self.input.origins.and_then(|origins| origins.get(at)) {
            Some(origin) => (origin.sources.clone(), origin.indexes.clone()),
            None => (vec![message.uuid.clone()], vec![message.index]),
        };
        let kind = if pieces.iter().any(|piece| piece.class == Class::Kept) {
            VersionMessageKind::Keepit
        } else if assembled.whole && self.verbatim[at].is_some() {
            VersionMessageKind::Verbatim
        } else {
            VersionMessageKind::Elided
        };
        VersionMessage {
            index: number,
            uuid: message_uuid(&self.input.session.id, number, &sources, &assembled.text),
            role: message.role,
            kind,
            timestamp: message.timestamp,
            hash: ContentHash::of(&assembled.text).to_string(),
            tokens,
            text: assembled.text,
            sources,
            source_indexes,
        }
    }
}

/// The texts of messages that can stand as they are; those with markers cannot, since markers are taken out.
fn verbatims(input: &Input<'_>) -> Vec<Option<String>> {
    let mut texts: Vec<Option<String>> = input.messages.iter().map(verbatim).collect();
    for keepit in input.keepits {
        if let Some(text) = texts.get_mut(keepit.message as usize) {
            *text = None;
        }
    }
    texts
}

/// The text of a message that is all words, nothing wrapped: what stands when none of it is left out.
fn verbatim(message: &crate::session::Message) -> Option<String> {
    let words = message.kind == MessageKind::Turn && message.role != Role::Tool;
    let plain = |text: &str| match message.role {
        Role::User => super::clean::unwrap(text) == [super::clean::Said::Words(text)],
        _ => true,
    };
    let all = message.blocks.iter().all(|block| matches!(block, Block::Text { text } if plain(text)));
    (words && all && !message.blocks.is_empty()).then(|| message.text().trim().to_owned())
}

/// Gives back what was chosen last in a stretch until about `over` tokens are free.
fn give_back(choice: &mut Choice<'_>, forced: usize, tier: usize, over: f32) -> bool {
    let mut freed = 0.0;
    let mut changed = false;
    while freed < over {
        let last = (forced..choice.order.len()).rev().find(|place| choice.tier(choice.order[*place]) == tier as u32);
        let Some(place) = last else { return changed };
        freed += choice.cost(choice.order[place]);
        choice.give_back(forced, Some(tier as u32));
        changed = true;
    }
    changed
}
