//! What becomes a version: one compression, or parts that were compressed at different times, joined.

use std::collections::BTreeMap;

use super::delta::{Plan, Segment, is_built_in};
use super::outline::Outline;
use super::source::Source;
use super::store;
use crate::api::compression::{
    CompressionMode, CompressionPreview, CompressionSettings, KeepitStats, LeftOut, Lineage, ModelRun, VersionMessage,
    VersionPart,
};
use crate::api::keepit::MarkerVerdict;
use crate::compress::{self, Joined, Joining, Outcome, Section, SessionHead};
use crate::db::{PartRow, VersionRow};
use crate::engine::{Call, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{ProjectId, SessionId, VersionId};
use crate::summarize::{self, Account};

/// Stretches of the output map.
const MAP_STRETCHES: usize = 72;

/// Stands for the version that is being made.
pub(super) const NEW: &str = "new";

/// A compression that can be kept as a version.
#[derive(Debug, Clone)]
pub struct Made {
    /// What it says of its session.
    pub head: SessionHead,
    /// The project.
    pub project_id: ProjectId,
    /// How it was made; the distance is set.
    pub settings: CompressionSettings,
    /// What came out.
    pub outcome: Outcome,
    /// Messages of what it was made from.
    pub original_messages: u64,
    /// What it was made from.
    pub lineage: Lineage,
    /// The version that it was made from.
    pub source_version: Option<VersionId>,
    /// Its parts.
    pub parts: Vec<PartRow>,
    /// Why something was compressed anew that another version has already, in words.
    pub anew: Vec<String>,
}

impl Made {
    /// One compression of all that was loaded. What is kept of the session is what it was when it was loaded: it may have grown,
    /// or been marked otherwise, while it was compressed.
    ///
    /// # Errors
    /// When the settings name a model and it is not known any more which.
    pub fn whole(engine: &Engine, source: &Source, settings: &CompressionSettings, outcome: Outcome) -> Result<Self> {
        let settings = with_distance(settings, source.distance);
        let by = Asked::of(engine, &settings, &outcome)?;
        let mut part = part_of(source, (0, source.covers.1), &outcome, None, by);
        if let Some(hash) = &source.from_hash {
            // What it depends on is the text of the other version.
            part.messages_hash.clone_from(hash);
        }
        Ok(Self {
            head: source.head.clone(),
            project_id: source.project_id.clone(),
            settings,
            outcome,
            original_messages: source.messages.len() as u64,
            lineage: if source.from.is_some() { Lineage::From } else { Lineage::Original },
            source_version: source.from.clone(),
            parts: vec![part],
            anew: Vec::new(),
        })
    }

    /// How it came about, for people.
    pub fn preview(&self) -> CompressionPreview {
        let outcome = &self.outcome;
        CompressionPreview {
            original_tokens: outcome.original_tokens,
            original_messages: self.original_messages,
            budget: outcome.budget,
            output_tokens: outcome.output_tokens,
            output_messages: outcome.messages.len() as u64,
            compression_ratio: outcome.original_tokens as f64 / outcome.output_tokens.max(1) as f64,
            distance: self.settings.session_distance.unwrap_or(1),
            tiers: outcome.tiers.clone(),
            keepits: outcome.keepits.clone(),
            left_out: outcome.left_out.clone(),
            output_map: outcome.output_map.clone(),
            lineage: self.lineage,
            source_version: self.source_version.clone(),
            parts: self.parts.iter().map(wire).collect(),
            anew: self.anew.clone(),
        }
    }

    /// Keepits in it.
    pub(super) fn keepit_stats(&self) -> KeepitStats {
        let mut weights = BTreeMap::new();
        for verdict in &self.outcome.keepits {
            *weights.entry(format!("{:.2}", verdict.weight)).or_insert(0) += u64::from(verdict.survives);
        }
        let preserved = self.outcome.keepits.iter().filter(|verdict| verdict.survives).count() as u64;
        KeepitStats { preserved, summarized: self.outcome.keepits.len() as u64 - preserved, weights }
    }
}

/// A part as faces see it.
pub(super) fn wire(part: &PartRow) -> VersionPart {
    VersionPart {
        first: part.first,
        last: part.last,
        original_tokens: part.original_tokens,
        output_tokens: part.output_tokens,
        output_messages: part.output_messages,
        made_in: part.made_in.clone(),
        settings: part.settings.clone(),
    }
}

/// Settings with the distance that counts.
pub(super) fn with_distance(settings: &CompressionSettings, distance: u32) -> CompressionSettings {
    let session_distance = Some(settings.session_distance.unwrap_or(distance));
    CompressionSettings { session_distance, max_cost: None, ..settings.clone() }
}

/// Makes what a plan says.
///
/// # Errors
/// As [`super::run`]. What the built-in engine cannot do in parts it does in one; with another engine that costs, so it is an error
/// that says so.
pub(super) fn make(call: &Call<'_>, outline: &Outline, plan: Plan, account: Option<&Account>) -> Result<Made> {
    let session = &outline.head.id;
    let Some(base) = &plan.base else { return whole(call, session, &plan.settings, plan.anew, account) };
    let built_in = is_built_in(&plan.settings);
    let why = match join(call, outline, &plan, base, account) {
        Ok(Some(made)) => return Ok(made),
        Ok(None) => "with its heading the new part would be over the budget".to_owned(),
        Err(error) if matches!(error.kind, ErrorKind::Usage | ErrorKind::OverBudget) => {
            if plan.lineage == Lineage::Part || !built_in {
                let whole = plan.lineage == Lineage::Extended;
                let hint = error.hint.clone().unwrap_or_default();
                let more = if whole { "; or compress all of it anew with --full" } else { "" };
                return Err(Error { hint: Some(format!("{hint}{more}")), ..error });
            }
            format!("the new part cannot stand alone: {}", error.message)
        }
        Err(error) => return Err(error),
    };
    if plan.lineage == Lineage::Part || !built_in {
        return Err(Error::new(ErrorKind::OverBudget, why).hint("choose a larger ratio for the part"));
    }
    let mut anew = plan.anew;
    anew.push(why);
    whole(call, session, &plan.settings, anew, account)
}

/// Compresses on an account; without one no model is asked.
fn run_within(
    call: &Call<'_>,
    source: &Source,
    settings: &CompressionSettings,
    account: Option<&Account>,
) -> Result<Outcome> {
    match account {
        Some(account) => super::run_within(call, source, settings, account),
        None => super::run(call, source, &super::asked(settings, false)),
    }
}

fn whole(
    call: &Call<'_>,
    session: &SessionId,
    settings: &CompressionSettings,
    anew: Vec<String>,
    account: Option<&Account>,
) -> Result<Made> {
    let source = Source::load(call.engine, session, None)?;
    let outcome = run_within(call, &source, settings, account)?;
    Ok(Made { anew, ..Made::whole(call.engine, &source, settings, outcome)? })
}

/// Makes all parts again, each by itself, and joins them; no model is asked.
///
/// # Errors
/// As [`super::run`]; `OverBudget` when they do not fit any more.
pub(super) fn again(
    call: &Call<'_>,
    outline: &Outline,
    head: &SessionHead,
    settings: &CompressionSettings,
    parts: &[PartRow],
) -> Result<Outcome> {
    let mut from = 0;
    let mut pieces = Vec::new();
    for part in parts {
        let mut piece =
            compressed(call, outline, &part.head, (from, part.last), part.settings.as_ref(), settings, None)?;
        piece.row.made_in = part.made_in.clone();
        pieces.push(piece);
        from = part.last.saturating_add(1);
    }
    let made = joined(call.engine, head, outline, settings, pieces)?;
    made.map(|(outcome, _)| outcome).ok_or_else(|| {
        Error::new(ErrorKind::OverBudget, "its parts are over their budget").hint("compress the session anew")
    })
}

/// A part with its text.
struct Piece {
    row: PartRow,
    body: String,
    messages: Vec<VersionMessage>,
    keepits: Vec<MarkerVerdict>,
}

fn join(
    call: &Call<'_>,
    outline: &Outline,
    plan: &Plan,
    base: &VersionRow,
    account: Option<&Account>,
) -> Result<Option<Made>> {
    let engine = call.engine;
    let markdown = store::read_markdown(engine, base)?;
    let messages = store::read_version(engine, base)?;
    let mut pieces = Vec::new();
    let (mut from, mut taken) = (0, 0);
    for segment in &plan.segments {
        let piece = match segment {
            Segment::Reused { part } => Piece {
                body: markdown.get(part.body.0 as usize..part.body.1 as usize).unwrap_or_default().to_owned(),
                messages: messages.iter().skip(taken).take(part.output_messages as usize).cloned().collect(),
                keepits: outline.verdicts(from, part.last, part.settings.as_ref().unwrap_or(&plan.settings))?,
                row: PartRow::clone(part),
            },
            Segment::Anew { first, last, settings } => {
                compressed(call, outline, &outline.head, (*first, *last), settings.as_ref(), &plan.settings, account)?
            }
        };
        if let Some(part) = base.parts.get(pieces.len()) {
            taken += part.output_messages as usize;
        }
        from = piece.row.last.saturating_add(1);
        pieces.push(piece);
    }
    let settings = with_distance(&plan.settings, outline.distance);
    Ok(joined(engine, &outline.head, outline, &settings, pieces)?.map(|(outcome, parts)| Made {
        head: outline.head.clone(),
        project_id: outline.project_id.clone(),
        settings,
        outcome,
        original_messages: outline.within(0, from.saturating_sub(1)).len() as u64,
        lineage: plan.lineage,
        source_version: Some(base.version_id.clone()),
        parts,
        anew: plan.anew.clone(),
    }))
}

/// Compresses a part by itself.
fn compressed(
    call: &Call<'_>,
    outline: &Outline,
    head: &SessionHead,
    (first, last): (u32, u32),
    own: Option<&CompressionSettings>,
    whole: &CompressionSettings,
    account: Option<&Account>,
) -> Result<Piece> {
    // What came since the outline was read is nobody's part yet.
    let last = last.min(outline.lines.last().map_or(0, |line| line.index));
    let mut source = Source::load_range(call.engine, &outline.head.id, first, last)?;
    source.head = head.clone();
    let settings = super::asked(&of_part(outline, first, own.unwrap_or(whole)), account.is_some());
    let outcome = run_within(call, &source, &settings, account)?;
    let own = own.map(|own| with_distance(own, source.distance));
    let by = Asked::of(call.engine, &settings, &outcome)?;
    let row = part_of(&source, (first, source.covers.1), &outcome, own, by);
    let body = outcome.markdown[row.body.0 as usize..row.body.1 as usize].to_owned();
    Ok(Piece { row, body, messages: outcome.messages, keepits: outcome.keepits })
}

/// Settings for a part that begins with a message: what is skipped at the start of the session may lie before it.
fn of_part(outline: &Outline, first: u32, settings: &CompressionSettings) -> CompressionSettings {
    let before = first.checked_sub(1).map_or(0, |last| outline.within(0, last).len() as u32);
    let skip_first_messages = settings.skip_first_messages.saturating_sub(before);
    CompressionSettings { skip_first_messages, ..settings.clone() }
}

/// What a plan is going to compress, and how.
///
/// # Errors
/// When the session cannot be read.
pub(super) fn sources(engine: &Engine, outline: &Outline, plan: &Plan) -> Result<Vec<(Source, CompressionSettings)>> {
    let session = &outline.head.id;
    if plan.base.is_none() {
        return Ok(vec![(Source::load(engine, session, None)?, plan.settings.clone())]);
    }
    let mut sources = Vec::new();
    for segment in &plan.segments {
        if let Segment::Anew { first, last, settings } = segment {
            let settings = of_part(outline, *first, settings.as_ref().unwrap_or(&plan.settings));
            sources.push((Source::load_range(engine, session, *first, *last)?, settings));
        }
    }
    Ok(sources)
}

/// The model that made a part.
struct Asked {
    run: ModelRun,
    address: String,
}

impl Asked {
    fn of(engine: &Engine, settings: &CompressionSettings, outcome: &Outcome) -> Result<Option<Self>> {
        let Some(run) = outcome.made_by.clone() else { return Ok(None) };
        let asked = summarize::asked(engine, settings)?;
        Ok(Some(Self { run, address: asked.map(|asked| asked.endpoint.address).unwrap_or_default() }))
    }
}

/// What is to be known of a part, of the session as it was when its messages were read. Marks count from `range`'s first index on, which may lie before its first message.
fn part_of(
    source: &Source,
    range: (u32, u32),
    outcome: &Outcome,
    settings: Option<CompressionSettings>,
    by: Option<Asked>,
) -> PartRow {
    let (made_by, address) = by.map(|by| (by.run, by.address)).unzip();
    let outline = &source.outline;
    let body = outcome.markdown.get(outcome.head_bytes..).unwrap_or_default();
    let end = outcome.head_bytes + body.trim_end_matches('\n').len();
    PartRow {
        first: source.covers.0,
        last: source.covers.1,
        original_tokens: outcome.original_tokens,
        budget: outcome.budget,
        output_tokens: outcome.output_tokens,
        output_messages: outcome.messages.len() as u64,
        made_in: NEW.into(),
        settings,
        head: source.head.clone(),
        messages_hash: outline.messages_hash(range.0, range.1),
        keepits_hash: outline.keepits_hash(range.0, range.1, &outcome.keepits),
        body: (outcome.head_bytes as u64, end as u64),
        left_out: outcome.left_out.clone(),
        tiers: outcome.tiers.clone(),
        made_by,
        address,
    }
}

/// Joins parts; `None` when they are over the budget together.
fn joined(
    engine: &Engine,
    head: &SessionHead,
    outline: &Outline,
    settings: &CompressionSettings,
    mut pieces: Vec<Piece>,
) -> Result<Option<(Outcome, Vec<PartRow>)>> {
    let mut messages: Vec<VersionMessage> = Vec::new();
    for message in pieces.iter_mut().flat_map(|piece| std::mem::take(&mut piece.messages)) {
        let number = messages.len() as u32;
        messages.push(numbered(message, number, &head.id));
    }
    let resolved = compress::resolve(settings, outline.distance)?;
    let left_out = summed(pieces.iter().flat_map(|piece| &piece.row.left_out));
    let sum = |of: fn(&PartRow) -> u64| pieces.iter().map(|piece| of(&piece.row)).sum::<u64>();
    let (original_tokens, budget) = (sum(|part| part.original_tokens), sum(|part| part.budget));
    let end = pieces.last().map_or(0, |piece| piece.row.last);
    let differs: Vec<Option<String>> = pieces.iter().map(|piece| piece.row.settings.as_ref().map(how)).collect();
    let is_new = |part: &PartRow| part.made_in.as_str() == NEW;
    let sections: Vec<Section<'_>> = pieces
        .iter()
        .zip(&differs)
        .map(|(piece, differs)| Section {
            first: piece.row.first,
            last: piece.row.last,
            made_in: (!is_new(&piece.row)).then_some(&piece.row.made_in),
            differs: differs.as_deref(),
            body: &piece.body,
        })
        .collect();
    let joining = Joining {
        session: head,
        settings: &resolved,
        original_tokens,
        original_messages: outline.within(0, end).len() as u64,
        output_messages: messages.len() as u64,
        spoken: messages.iter().map(|message| message.tokens).sum(),
        left_out: &left_out,
        budget,
        sections: &sections,
    };
    let Some(Joined { markdown, head_bytes, bodies, output_tokens }) = compress::join(&joining, *engine.counter())
    else {
        return Ok(None);
    };
    let mut keepits: Vec<MarkerVerdict> = pieces.iter().flat_map(|piece| piece.keepits.clone()).collect();
    let order = outline.order_of_marks();
    keepits.sort_by_key(|verdict| (verdict.message_index, order.get(&verdict.marker_id).copied()));
    let made_by = pieces.iter().filter_map(|piece| piece.row.made_by.clone()).reduce(added);
    let mut parts: Vec<PartRow> = pieces.into_iter().map(|piece| piece.row).collect();
    for (part, body) in parts.iter_mut().zip(bodies) {
        part.body = body;
    }
    let outcome = Outcome {
        output_map: output_map(outline, end, &messages),
        messages,
        markdown,
        head_bytes,
        original_tokens,
        budget,
        output_tokens,
        tiers: parts.iter().flat_map(|part| part.tiers.clone()).collect(),
        keepits,
        left_out,
        made_by,
    };
    Ok(Some((outcome, parts)))
}

/// What was asked for two parts, as one.
fn added(left: ModelRun, right: ModelRun) -> ModelRun {
    let mut redactions = left.redactions;
    for redaction in right.redactions {
        match redactions.iter_mut().find(|known| known.kind == redaction.kind) {
            Some(known) => known.count += redaction.count,
            None => redactions.push(redaction),
        }
    }
    ModelRun {
        input_hash: store::sha256(format!("{} {}", left.input_hash, right.input_hash).as_bytes()),
        calls: left.calls + right.calls,
        reused: left.reused + right.reused,
        input_tokens: left.input_tokens + right.input_tokens,
        output_tokens: left.output_tokens + right.output_tokens,
        cost: left.cost.zip(right.cost).map(|(left, right)| left + right),
        trimmed: left.trimmed + right.trimmed,
        redactions,
        ..left
    }
}

/// A message at its place; one that stands where it stood stays what it was.
fn numbered(message: VersionMessage, number: u32, session: &SessionId) -> VersionMessage {
    if message.index == number {
        return message;
    }
    let uuid = compress::message_uuid(session, number, &message.sources, &message.text);
    VersionMessage { index: number, uuid, ..message }
}

fn summed<'a>(left_out: impl Iterator<Item = &'a LeftOut>) -> Vec<LeftOut> {
    let mut sums: Vec<LeftOut> = Vec::new();
    for left in left_out {
        match sums.iter_mut().find(|sum| sum.reason == left.reason) {
            Some(sum) => {
                sum.messages += left.messages;
                sum.tokens += left.tokens;
            }
            None => sums.push(left.clone()),
        }
    }
    sums
}

/// Tokens of the messages along the session up to a message.
fn output_map(outline: &Outline, end: u32, messages: &[VersionMessage]) -> Vec<u64> {
    let length = outline.within(0, end).len().max(1);
    let stretches = MAP_STRETCHES.min(length);
    let mut map = vec![0; stretches];
    for message in messages {
        let place = message.source_indexes.first().map_or(0, |index| outline.place(*index));
        map[(place * stretches / length).min(stretches - 1)] += message.tokens;
    }
    map
}

/// Settings in a word or two, for a part's heading.
fn how(settings: &CompressionSettings) -> String {
    match settings.mode {
        CompressionMode::Uniform => settings.compaction_ratio.map_or_else(String::new, |ratio| format!("{ratio}:1")),
        CompressionMode::Tiered => super::label(settings),
    }
}
