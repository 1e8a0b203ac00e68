//! Brings lines under their budget: the built-in engine trims what a model wrote too long; marked passages are never touched.

use crate::api::compression::{CompressionMode, CompressionSettings, KeepitMode, VersionMessageKind};
use crate::compress::outside::{Line, Record};
use crate::compress::{self, Input, Origin};
use crate::error::{Error, ErrorKind, Result};
use crate::keepit::Decay;
use crate::session::{Block, Message, MessageKind};
use crate::tokens::Counter;

/// Rounds of trimming before lines are dropped whole.
const ROUNDS: usize = 4;

/// Tokens that each stretch has for answers: its budget without headings, its part of the head, and its marked passages.
pub(super) fn room(record: &Record<'_>, ranges: &[(usize, usize)], survives: &[bool]) -> Vec<u64> {
    let furniture = record.furniture();
    let mut room: Vec<u64> = (0..ranges.len()).map(|tier| record.tier_budget(tier)).collect();
    if let Some(largest) = (0..room.len()).max_by_key(|tier| (room[*tier], *tier)) {
        room[largest] = room[largest].saturating_sub(furniture.total + 4);
    }
    for (tier, (from, end)) in ranges.iter().enumerate() {
        let kept = record.input.keepits.iter().zip(survives);
        let kept = kept.filter(|(keepit, survives)| **survives && (*from..*end).contains(&(keepit.message as usize)));
        let kept: u64 = kept.map(|(keepit, _)| record.counter.count(&keepit.content) + 4).sum();
        room[tier] = room[tier].saturating_sub(furniture.tiers[tier] + kept);
    }
    room
}

/// Tokens of the lines that are not marked passages, with what stands between them.
pub(super) fn tokens(lines: &[Line], counter: Counter) -> u64 {
    lines.iter().filter(|line| !is_kept(line)).map(|line| cost(line, counter)).sum()
}

fn cost(line: &Line, counter: Counter) -> u64 {
    counter.count(&line.text) + 2
}

fn is_kept(line: &Line) -> bool {
    line.kind == VersionMessageKind::Keepit
}

/// Trims lines to a budget by the built-in engine; each stays what it comes from, and marked passages stay.
pub(super) fn trim(
    lines: Vec<Line>,
    budget: u64,
    input: &Input<'_>,
    decay: &Decay,
    counter: Counter,
) -> Result<Vec<Line>> {
    let spoken: Vec<usize> = (0..lines.len()).filter(|at| !is_kept(&lines[*at])).collect();
    let all = tokens(&lines, counter);
    if all <= budget || spoken.is_empty() {
        return Ok(lines);
    }
    let messages: Vec<Message> = spoken.iter().map(|at| message(*at, &lines[*at])).collect();
    let counts: Vec<u64> = spoken.iter().map(|at| cost(&lines[*at], counter)).collect();
    let origins: Vec<Origin> =
        spoken.iter().map(|at| Origin { sources: Vec::new(), indexes: vec![*at as u32] }).collect();
    let cut =
        Input { session: input.session, messages: &messages, tokens: &counts, keepits: &[], origins: Some(&origins) };
    // Ratios end at a thousand: what is smaller is dropped line by line later.
    let ratio = (all as f64 / budget.max(1) as f64 * 1.02).clamp(1.01, 1000.0);
    let settings = CompressionSettings {
        mode: CompressionMode::Uniform,
        compaction_ratio: Some(ratio),
        aggressiveness: None,
        tier_preset: None,
        custom_tiers: None,
        skip_first_messages: 0,
        keepit_mode: KeepitMode::Ignore,
        session_distance: Some(1),
        engine: None,
        model: None,
        max_cost: None,
    };
    let resolved = compress::resolve(&settings, 1)?;
    let trimmed = match compress::run(&cut, &resolved, decay, counter, &|_, _, _| Ok(())) {
        Ok(outcome) => outcome.messages,
        // No room for even one line.
        Err(_) => Vec::new(),
    };
    let mut kept: Vec<Option<Line>> = lines.into_iter().map(Some).collect();
    for at in &spoken {
        let text = trimmed.iter().find(|message| message.source_indexes == [*at as u32]).map(|message| &message.text);
        match (text, &mut kept[*at]) {
            (Some(text), Some(line)) => line.text.clone_from(text),
            (None, line) => *line = None,
            (Some(_), None) => {}
        }
    }
    Ok(kept.into_iter().flatten().collect())
}

fn message(at: usize, line: &Line) -> Message {
    Message {
        index: at as u32,
        uuid: format!("line-{at}"),
        role: line.role,
        kind: MessageKind::Turn,
        timestamp: None,
        reply_id: None,
        model: None,
        agent_id: None,
        cut_lines: None,
        blocks: vec![Block::Text { text: line.text.clone() }],
    }
}

/// Brings all lines under the budget of the record and of each of its stretches; how many stretches had to be trimmed.
///
/// # Errors
/// `OverBudget` when marked passages alone are over it, which the built-in engine says before anybody is asked.
pub(super) fn fit(lines: &mut Vec<Line>, record: &mut Record<'_>, decay: &Decay) -> Result<u64> {
    let mut trimmed = std::collections::BTreeSet::new();
    for round in 0.. {
        let measure = record.measure(lines);
        let tiers = 0..measure.tiers.len();
        let over = |tier: &usize| measure.tiers[*tier].saturating_sub(record.tier_budget(*tier));
        let said: Vec<u64> = tiers.clone().map(|tier| tokens(&of(lines, tier), record.counter)).collect();
        let spoken = |tier: &usize| said[*tier];
        let is_over = |tier: &usize| record.settings.tiered && over(tier) > 0;
        let too_much = measure.total.saturating_sub(record.built_in.budget);
        // Marked passages are not trimmed: where nothing else is left, the head and the headings go, then what stands between them.
        let is_stuck = tiers.clone().any(|tier| is_over(&tier) && spoken(&tier) == 0)
            || (too_much > 0 && tiers.clone().all(|tier| spoken(&tier) == 0));
        if is_stuck && record.furnished {
            record.furnished = false;
            continue;
        }
        if is_stuck && join_neighbours(lines) {
            continue;
        }
        let worst = tiers.clone().filter(|tier| is_over(tier) && spoken(tier) > 0).max_by_key(over);
        let largest = || tiers.clone().filter(|tier| too_much > 0 && spoken(tier) > 0).max_by_key(spoken);
        let (tier, excess) = match worst.map(|tier| (tier, over(&tier))).or_else(|| Some((largest()?, too_much))) {
            Some(place) => place,
            None if is_stuck => {
                return Err(Error::new(ErrorKind::OverBudget, "marked passages need more than the budget")
                    .hint("compress less, or mark less"));
            }
            None => break,
        };
        trimmed.insert(tier);
        let inside = of(lines, tier);
        let spoken = tokens(&inside, record.counter);
        let replaced = if round < ROUNDS {
            trim(inside, spoken.saturating_sub(excess + excess / 8 + 1), record.input, decay, record.counter)?
        } else {
            let mut inside = inside;
            if let Some(last) = inside.iter().rposition(|line| !is_kept(line)) {
                inside.remove(last);
            }
            inside
        };
        let at = lines.iter().position(|line| line.tier == tier).unwrap_or(0);
        lines.retain(|line| line.tier != tier);
        lines.splice(at..at, replaced);
    }
    Ok(trimmed.len() as u64)
}

/// Puts passages of one message that stand together into one line, as the built-in engine does; whether there were any.
fn join_neighbours(lines: &mut Vec<Line>) -> bool {
    let before = lines.len();
    lines.dedup_by(|next, line| {
        let belongs = is_kept(next) && is_kept(line) && next.tier == line.tier && next.places == line.places;
        if belongs {
            line.text.push('\n');
            line.text.push_str(&next.text);
        }
        belongs
    });
    lines.len() < before
}

fn of(lines: &[Line], tier: usize) -> Vec<Line> {
    lines.iter().filter(|line| line.tier == tier).cloned().collect()
}
