//! For engines that compress outside of here: what each message says, cleaned, and the record put together from what came back.

use super::assemble::{Assembled, assemble};
use super::extract::{self, Mark};
use super::markdown::{self, HeadFacts, HeadSize};
use super::passes::Passes;
use super::piece::Class;
use super::plan::tier_ranges;
use super::repeats::Calls;
use super::safely::without_secrets;
use super::settings::Resolved;
use super::{Input, Marked, Outcome};
use crate::api::compression::{LeftOut, VersionMessage, VersionMessageKind};
use crate::dedup::ContentHash;
use crate::ids::SessionId;
use crate::session::{MessageKind, Role};
use crate::time::Time;
use crate::tokens::Counter;
use uuid::Uuid;

/// Characters of the lines that tools printed, or that were written into files, that are told of one message.
const MATERIAL: usize = 4_000;

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its words without the client's wrapping, tools in lines; where a marked passage that survives stands, `⟦K1⟧` and so on,
    /// by its place in [`Input::keepits`] from 1. Empty when it says nothing.
    pub text: String,
    /// It is the user's, and in words: what comes after answers it.
    pub opens_turn: bool,
}

/// The stretches of the settings as ranges of messages: first, and one past the last.
pub fn ranges(settings: &Resolved, messages: usize) -> Vec<(usize, usize)> {
    tier_ranges(settings, messages)
}

/// The name of a marked passage in what is told.
pub fn keepit_name(number: usize) -> String {
    format!("⟦K{}⟧", number + 1)
}

/// What each message says; `survives` tells of each marked passage whether it is kept word for word.
pub fn tell(input: &Input<'_>, settings: &Resolved, survives: &[bool]) -> Vec<Told> {
    tell_all(input, settings, survives, false)
}

/// The same for somebody else: secrets are taken out of each message before anything of it is shortened, since half a secret
/// has no shape any more.
pub fn tell_safely(input: &Input<'_>, settings: &Resolved, survives: &[bool]) -> Vec<Told> {
    tell_all(input, settings, survives, true)
}

fn tell_all(input: &Input<'_>, settings: &Resolved, survives: &[bool], safely: bool) -> Vec<Told> {
    let calls = Calls::read(input.messages, Passes::ALL);
    let skip = settings.skip_first_messages as usize;
    let mut marks: Vec<Vec<Mark<'_>>> = vec![Vec::new(); input.messages.len()];
    for (number, keepit) in input.keepits.iter().enumerate() {
        if let Some(marks) = marks.get_mut(keepit.message as usize) {
            marks.push(Mark { number, keepit, survives: survives.get(number).copied().unwrap_or(false) });
        }
    }
    for marks in &mut marks {
        marks.sort_by_key(|mark| (mark.keepit.start, mark.number));
    }
    let told = |(at, message): (usize, &crate::session::Message)| {
        if at < skip && !marks[at].iter().any(|mark| mark.survives) {
            return Told { text: String::new(), opens_turn: false };
        }
        let marked: Vec<&Marked> = marks[at].iter().map(|mark| mark.keepit).collect();
        let safe = if safely { without_secrets(message, &marked) } else { None };
        let (message, marks) = match &safe {
            Some((message, moved)) => {
                let moved = marks[at].iter().zip(moved).map(|(mark, keepit)| Mark { keepit, ..*mark });
                (message, moved.collect())
            }
            None => (message, marks[at].clone()),
        };
        let mut cut = extract::cut(message, &calls, &marks, &input.session.project_path, Passes::ALL);
        if at < skip {
            cut.pieces.retain(|piece| piece.keepit.is_some());
        }
        let mut room = MATERIAL;
        let mut chosen = Vec::with_capacity(cut.pieces.len());
        for piece in &mut cut.pieces {
            let is_material = matches!(piece.class, Class::Content | Class::Edge | Class::Output);
            let fits = !is_material || piece.text.len() <= room;
            if is_material && fits {
                room -= piece.text.len();
            }
            chosen.push(fits);
            match piece.keepit {
                Some(number) => piece.text = keepit_name(number),
                // Nobody else writes the names of passages.
                None if piece.text.contains(['⟦', '⟧']) => {
                    piece.text = piece.text.replace('⟦', "[").replace('⟧', "]");
                }
                None => {}
            }
        }
        let text = assemble(&cut.pieces, |piece| chosen[piece], message.role, None).text;
        let opens_turn = cut.speaks && message.role == Role::User && message.kind == MessageKind::Turn;
        Told { text, opens_turn }
    };
    input.messages.iter().enumerate().map(told).collect()
}

/// A message of a record that was made outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its stretch.
    pub tier: usize,
    /// Who speaks.
    pub role: Role,
    /// Word for word from a marked passage, or in other words.
    pub kind: VersionMessageKind,
    /// Its words, in Markdown.
    pub text: String,
    /// Places in [`Input::messages`] that it comes from, in order; at least one.
    pub places: Vec<usize>,
}

/// Puts records together and counts them.
#[derive(Debug, Clone, Copy)]
pub struct Record<'r> {
    /// What is compressed.
    pub input: &'r Input<'r>,
    /// How.
    pub settings: &'r Resolved,
    /// What the built-in engine made of it: its budget, verdicts, thresholds, and what says nothing.
    pub built_in: &'r Outcome,
    /// Counts.
    pub counter: Counter,
    /// It has a head and headings; without, when marked passages take all the room.
    pub furnished: bool,
}

/// What a record takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// Tokens of each stretch: of its Markdown, or of its messages where that is more.
    pub tiers: Vec<u64>,
    /// Of all of it.
    pub total: u64,
}

impl Record<'_> {
    /// Tokens that a stretch may have.
    pub fn tier_budget(&self, tier: usize) -> u64 {
        let result = &self.built_in.tiers[tier];
        (result.original_tokens as f64 / result.ratio).floor() as u64
    }

    /// Tokens of the head and of each heading.
    pub fn furniture(&self) -> Measure {
        let (head, headings) = self.furnish();
        let tiers = headings.iter().map(|heading| self.counter.count(heading)).collect();
        Measure { tiers, total: self.counter.count(&head) }
    }

    /// What these lines would take.
    pub fn measure(&self, lines: &[Line]) -> Measure {
        let (_, _, tiers, total) = self.render(lines, &[]);
        Measure { tiers, total }
    }

    /// The outcome of these lines; `unsaid` is what of the source is in none of them, by reason.
    pub fn outcome(&self, lines: &[Line], unsaid: Vec<LeftOut>) -> Outcome {
        let silent = |left: &&LeftOut| left.reason != super::Why::OverBudget.words();
        let mut left_out: Vec<LeftOut> = self.built_in.left_out.iter().filter(silent).cloned().collect();
        left_out.extend(unsaid);
        let (markdown, head_bytes, tier_output, output_tokens) = self.render(lines, &left_out);
        let mut outcome = self.built_in.clone();
        let stretches = outcome.output_map.len().max(1);
        outcome.output_map = vec![0; stretches];
        let mut messages = Vec::with_capacity(lines.len());
        for (number, line) in lines.iter().enumerate() {
            let tokens = self.counter.count(&line.text);
            let share = tokens / line.places.len().max(1) as u64;
            let mut rest = tokens - share * line.places.len() as u64;
            for place in &line.places {
                let stretch = (place * stretches / self.input.messages.len().max(1)).min(stretches - 1);
                outcome.output_map[stretch] += share + std::mem::take(&mut rest);
            }
            messages.push(self.message(number as u32, line, tokens));
        }
        for (tier, tokens) in outcome.tiers.iter_mut().zip(tier_output) {
            tier.output_tokens = tokens;
        }
        Outcome { messages, markdown, head_bytes, output_tokens, left_out, ..outcome }
    }

    /// How much head and headings say, as the built-in engine decides it: by what the budget allows.
    fn furnish(&self) -> (String, Vec<String>) {
        if !self.furnished {
            return (String::new(), vec![String::new(); self.settings.tiers.len()]);
        }
        let budget = self.built_in.budget;
        let facts = self.head_facts(self.built_in.messages.len() as u64, &self.built_in.left_out);
        let sized = HeadSize::ALL
            .into_iter()
            .map(|size| markdown::head(&facts, size))
            .find(|head| self.counter.count(head) <= budget / 16)
            .unwrap_or_default();
        let ranges = tier_ranges(self.settings, self.input.messages.len());
        let index = |place: usize| self.input.messages.get(place).map_or(place as u32, |message| message.index);
        let heading = |(at, (from, end)): (usize, &(usize, usize))| {
            let tier = &self.settings.tiers[at];
            if !self.settings.tiered || from == end {
                return String::new();
            }
            let heading = markdown::tier_heading(index(*from), index(*end - 1), tier.ratio, tier.aggressiveness);
            if self.counter.count(&heading) <= self.tier_budget(at) / 12 { heading } else { String::new() }
        };
        (sized, ranges.iter().enumerate().map(heading).collect())
    }

    fn head_facts<'h>(&'h self, output_messages: u64, left_out: &'h [LeftOut]) -> HeadFacts<'h> {
        HeadFacts {
            session: self.input.session,
            settings: self.settings,
            original_tokens: self.built_in.original_tokens,
            original_messages: self.input.messages.len() as u64,
            output_messages,
            left_out,
        }
    }

    /// Markdown, bytes of its head, tokens of each stretch, tokens of all.
    fn render(&self, lines: &[Line], left_out: &[LeftOut]) -> (String, usize, Vec<u64>, u64) {
        let (_, headings) = self.furnish();
        let facts = self.head_facts(lines.len() as u64, left_out);
        let head = HeadSize::ALL
            .into_iter()
            .map(|size| markdown::head(&facts, size))
            .find(|head| self.furnished && self.counter.count(head) <= self.built_in.budget / 16)
            .unwrap_or_default();
        let mut sections = Vec::new();
        let mut tiers = Vec::new();
        let mut spoken = 0;
        for (tier, heading) in headings.iter().enumerate() {
            let inside: Vec<Assembled> = lines.iter().filter(|line| line.tier == tier).map(assembled).collect();
            let conversation = markdown::conversation(inside.iter());
            let said: u64 = inside.iter().map(|line| self.counter.count(&line.text)).sum();
            let section = if conversation.is_empty() { conversation } else { format!("{heading}{conversation}") };
            spoken += said;
            tiers.push(self.counter.count(&section).max(said));
            if !section.is_empty() {
                sections.push(section);
            }
        }
        let markdown = format!("{head}{}\n", sections.join("\n\n"));
        let total = self.counter.count(&markdown).max(spoken);
        (markdown, head.len(), tiers, total)
    }

    fn message(&self, number: u32, line: &Line, tokens: u64) -> VersionMessage {
        let mut sources = Vec::new();
        let mut source_indexes: Vec<u32> = Vec::new();
        for place in &line.places {
            match self.input.origins.and_then(|origins| origins.get(*place)) {
                Some(origin) => {
                    sources.extend(origin.sources.iter().cloned());
                    source_indexes.extend(&origin.indexes);
                }
                None => {
                    let message = &self.input.messages[*place];
                    sources.push(message.uuid.clone());
                    source_indexes.push(message.index);
                }
            }
        }
        let mut seen = std::collections::HashSet::new();
        sources.retain(|source| seen.insert(source.clone()));
        source_indexes.sort_unstable();
        source_indexes.dedup();
        VersionMessage {
            index: number,
            uuid: message_uuid(&self.input.session.id, number, &sources, &line.text),
            role: line.role,
            kind: line.kind,
            timestamp: self.time_of(line),
            text: line.text.clone(),
            hash: ContentHash::of(&line.text).to_string(),
            tokens,
            sources,
            source_indexes,
        }
    }

    fn time_of(&self, line: &Line) -> Option<Time> {
        line.places.iter().find_map(|place| self.input.messages[*place].timestamp)
    }
}

/// The uuid of a version's message: the same whenever it is made again.
fn message_uuid(session: &SessionId, number: u32, sources: &[String], text: &str) -> String {
    let name = format!("{session}\n{number}\n{}\n{text}", sources.join(" "));
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
}

fn assembled(line: &Line) -> Assembled {
    let markdown = match line.role {
        Role::User => line.text.lines().map(|text| format!("> {text}")).collect::<Vec<_>>().join("\n"),
        _ => line.text.clone(),
    };
    let tight = line.text.starts_with("- ");
    Assembled { text: line.text.clone(), markdown, tight, whole: false }
}
