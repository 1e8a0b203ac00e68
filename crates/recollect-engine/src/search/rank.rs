//! Ranks passages: BM25 with k1 0.9 and b 0.4, to which each of the two neighbouring passages adds three tenths of its own.
//!
//! In conversations what is asked and what is answered stand beside each other, which no score of one message sees; the
//! neighbours are the greatest single gain that was measured. All postings of the terms are gone through once, into one
//! number for each passage of a segment: neighbours in a conversation are neighbours there.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use rayon::prelude::*;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::{EnableScoring, Query as IndexQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED};

use super::Kind;
use super::plan::{Group, Plan};
use super::schema::{Facts, Fields};
use super::store::{failed, locked};
use crate::error::Result;
use crate::session::Role;

const K1: f32 = 0.9;
const B: f32 = 0.4;
/// What each neighbour adds of its own score.
const NEIGHBOUR: f32 = 0.3;
/// A word that weighs less than this share of the rarest is left out.
const COMMON: f32 = 0.05;
/// What the newest passage gains: enough to decide between equals, too little to hide what fits better.
const RECENCY: f32 = 0.01;
/// After so many milliseconds half of that is gone.
const MONTH: f32 = 30.0 * 86_400_000.0;

/// What passages may be shown, beside the words.
#[derive(Default)]
pub(super) struct Screen {
    /// By file: whether its passages may be shown; all when absent.
    pub(super) files: Option<Vec<bool>>,
    /// Kinds as bits; all when absent.
    pub(super) kinds: Option<u32>,
    /// Only of this role, or with `true` of all others.
    pub(super) roles: Vec<(Role, bool)>,
    /// Not before, in milliseconds.
    pub(super) since: Option<i64>,
    /// Not after, in milliseconds.
    pub(super) until: Option<i64>,
    /// Marked with at least this weight, in hundredths.
    pub(super) keepit: Option<u8>,
    /// Conditions on the text.
    pub(super) must: Vec<Box<dyn IndexQuery>>,
    /// What it must not hold.
    pub(super) not: Vec<Box<dyn IndexQuery>>,
}

/// A passage with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    pub(super) score: f32,
    pub(super) address: DocAddress,
    pub(super) file: u64,
    pub(super) position: Option<u64>,
    pub(super) facts: Facts,
    pub(super) time: Option<i64>,
}

/// The best passages, best first, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    pub(super) best: Vec<Ranked>,
    /// Passages with every word.
    pub(super) every: u64,
    /// Passages with any.
    pub(super) any: u64,
}

/// Numbers for each passage of a segment; made once, used again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    scores: Vec<f32>,
    /// Bits of the groups that a passage has.
    had: Vec<u32>,
}

/// Ranks all passages that pass the screen.
pub(super) fn rank(
    searcher: &Searcher,
    fields: &Fields,
    plan: &Plan,
    screen: &Screen,
    now: i64,
    most: usize,
    pool: &std::sync::Mutex<Vec<Scratch>>,
) -> Result<Ranking> {
    let segments = searcher.segment_readers();
    let passages: u64 = segments.iter().map(|segment| u64::from(segment.max_doc())).sum();
    let mut tokens = 0;
    for segment in segments {
        tokens += segment.inverted_index(fields.text).map_err(failed)?.total_num_tokens();
    }
    let average = (tokens as f32 / passages.max(1) as f32).max(1.0);
    let norms: Vec<f32> =
        (0..=255).map(|id| K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(id) as f32 / average)).collect();
    let weights = weights(&plan.groups, passages);
    let ranked: Vec<Result<Ranking>> = segments
        .par_iter()
        .enumerate()
        .map(|(ordinal, reader)| {
            let mut scratch = locked(pool).pop().unwrap_or_default();
            let segment = Segment { reader, ordinal: ordinal as u32, fields, plan, screen, now, most };
            let ranking = segment.rank(&weights, &norms, &mut scratch);
            locked(pool).push(scratch);
            ranking
        })
        .collect();
    let mut all = Ranking::default();
    for ranking in ranked {
        let ranking = ranking?;
        all.best.extend(ranking.best);
        all.every += ranking.every;
        all.any += ranking.any;
    }
    all.best.sort_by(|left, right| order(right, left));
    all.best.truncate(most);
    Ok(all)
}

/// What each group counts. What nearly every passage has says nothing: it is left out where a rarer word is there.
pub(super) fn weights(groups: &[Group], passages: u64) -> Vec<f32> {
    let weights: Vec<f32> = groups.iter().map(|group| weight(group.documents, passages)).collect();
    let greatest = weights.iter().copied().fold(0.0, f32::max);
    weights.into_iter().map(|weight| if weight < greatest * COMMON { 0.0 } else { weight }).collect()
}

/// Rarity of a group: the rarer, the more it says.
fn weight(documents: u64, passages: u64) -> f32 {
    let documents = documents.min(passages) as f32;
    let rarity = (passages as f32 - documents + 0.5) / (documents + 0.5);
    (1.0 + rarity).ln() * (1.0 + K1)
}

fn order(left: &Ranked, right: &Ranked) -> Ordering {
    left.score
        .total_cmp(&right.score)
        .then_with(|| left.time.cmp(&right.time))
        .then_with(|| (right.file, right.position).cmp(&(left.file, left.position)))
}

/// Orders the best, worst first.
struct Worst(Ranked);

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Worst {}
impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        order(&self.0, &other.0)
    }
}

struct Segment<'a> {
    reader: &'a SegmentReader,
    ordinal: u32,
    fields: &'a Fields,
    plan: &'a Plan,
    screen: &'a Screen,
    now: i64,
    most: usize,
}

impl Segment<'_> {
    fn rank(&self, weights: &[f32], norms: &[f32], scratch: &mut Scratch) -> Result<Ranking> {
        let count = self.reader.max_doc() as usize;
        scratch.scores.clear();
        scratch.scores.resize(count, 0.0);
        scratch.had.clear();
        scratch.had.resize(count, 0);
        let mut needed = 0_u32;
        for (at, (group, weight)) in self.plan.groups.iter().zip(weights).enumerate() {
            if *weight == 0.0 {
                continue;
            }
            let bit = if group.is_needed { 1 << at } else { 0 };
            needed |= bit;
            self.add(group, *weight, bit, norms, scratch)?;
        }
        self.best(needed, scratch)
    }

    /// Adds what a group gives to each passage.
    fn add(&self, group: &Group, weight: f32, bit: u32, norms: &[f32], scratch: &mut Scratch) -> Result<()> {
        let lengths = self.reader.get_fieldnorms_reader(self.fields.text).map_err(failed)?;
        for (term, share) in &group.terms {
            let index = self.reader.inverted_index(term.field()).map_err(failed)?;
            let has_counts = term.field() == self.fields.text;
            let option = if has_counts { IndexRecordOption::WithFreqs } else { IndexRecordOption::Basic };
            let Some(mut postings) = index.read_block_postings(term, option)? else { continue };
            let weight = weight * share;
            while !postings.docs().is_empty() {
                for (at, doc) in postings.docs().iter().enumerate() {
                    let norm = norms[usize::from(lengths.fieldnorm_id(*doc))];
                    let times = if has_counts { postings.freq(at) as f32 } else { 1.0 };
                    let doc = *doc as usize;
                    scratch.scores[doc] += weight * times / (times + norm);
                    scratch.had[doc] |= bit;
                }
                postings.advance();
            }
        }
        Ok(())
    }

    fn best(&self, needed: u32, scratch: &Scratch) -> Result<Ranking> {
        let columns = Columns::open(self.reader)?;
        let must = self.sets(&self.screen.must)?;
        let not = self.sets(&self.screen.not)?;
        let shown = |doc: DocId| {
            !self.reader.is_deleted(doc)
                && must.iter().all(|set| set.has(doc))
                && !not.iter().any(|set| set.has(doc))
                && columns.pass(self.screen, doc)
        };
        let mut ranking = Ranking::default();
        let mut heap = BinaryHeap::new();
        let scores = &scratch.scores;
        // Without words everything that passes is shown, the newest first.
        let is_wordless = self.plan.groups.is_empty();
        for doc in 0..self.reader.max_doc() {
            let at = doc as usize;
            let own = scores[at];
            if own == 0.0 && !is_wordless {
                continue;
            }
            let has_every = is_wordless || (needed != 0 && scratch.had[at] & needed == needed);
            let around = at.checked_sub(1).map_or(0.0, |before| scores[before]) + scores.get(at + 1).unwrap_or(&0.0);
            let most = own + NEIGHBOUR * around;
            let is_hopeless = heap.len() >= self.most
                && heap.peek().is_some_and(|Reverse(Worst(worst)): &Reverse<Worst>| most * HEAVIEST <= worst.score);
            if is_hopeless && !has_every {
                ranking.any += 1;
                continue;
            }
            if !shown(doc) {
                continue;
            }
            ranking.any += 1;
            ranking.every += u64::from(has_every);
            if is_hopeless {
                continue;
            }
            let facts = columns.facts(doc);
            let time = columns.time(doc);
            let around = self.neighbour(&columns, scores, doc, doc.checked_sub(1))
                + self.neighbour(&columns, scores, doc, Some(doc + 1));
            let score = (own + NEIGHBOUR * around) * share(facts.kind) * (1.0 + RECENCY * recency(time, self.now));
            let address = DocAddress::new(self.ordinal, doc);
            let (file, position) = (columns.file(doc), columns.position(doc));
            heap.push(Reverse(Worst(Ranked { score, address, file, position, facts, time })));
            if heap.len() > self.most {
                heap.pop();
            }
        }
        ranking.best = heap.into_iter().map(|Reverse(Worst(ranked))| ranked).collect();
        Ok(ranking)
    }

    /// The score of the passage before or after, when it is of the same conversation.
    fn neighbour(&self, columns: &Columns, scores: &[f32], doc: DocId, other: Option<DocId>) -> f32 {
        let Some((other, score)) = other.and_then(|other| Some((other, *scores.get(other as usize)?))) else {
            return 0.0;
        };
        if score == 0.0 || columns.file(doc) != columns.file(other) || self.reader.is_deleted(other) {
            return 0.0;
        }
        match (columns.position(doc), columns.position(other)) {
            // Messages without text leave gaps; a wider one is where two stretches of a file were put together.
            (Some(here), Some(there)) if here.abs_diff(there) <= 4 => score,
            _ => 0.0,
        }
    }

    fn sets(&self, queries: &[Box<dyn IndexQuery>]) -> Result<Vec<Bits>> {
        queries.iter().map(|query| Bits::of(self.reader, query.as_ref())).collect()
    }
}

/// The greatest that kind and recency can make of a score.
const HEAVIEST: f32 = 1.1 * (1.0 + RECENCY);

/// What people said and marked ranks before what tools printed.
fn share(kind: Kind) -> f32 {
    match kind {
        Kind::Keepit => 1.1,
        Kind::Text | Kind::Session => 1.0,
        Kind::Thinking | Kind::ToolInput => 0.85,
        Kind::Summary => 0.8,
        Kind::ToolOutput => 0.7,
        Kind::Notice => 0.6,
        Kind::Version => 0.5,
    }
}

/// 1 for now, a half a month ago, towards 0.
fn recency(time: Option<i64>, now: i64) -> Score {
    time.map_or(0.0, |time| 1.0 / (1.0 + (now - time).max(0) as f32 / MONTH))
}

/// Passages of a segment that match a condition.
struct Bits(Vec<u64>);

impl Bits {
    fn of(reader: &SegmentReader, query: &dyn IndexQuery) -> Result<Self> {
        let mut bits = vec![0_u64; reader.max_doc() as usize / 64 + 1];
        let weight = query.weight(EnableScoring::disabled_from_schema(reader.schema())).map_err(failed)?;
        let mut found = weight.scorer(reader, 1.0).map_err(failed)?;
        let mut doc = found.doc();
        while doc != TERMINATED {
            bits[doc as usize / 64] |= 1 << (doc % 64);
            doc = found.advance();
        }
        Ok(Self(bits))
    }

    fn has(&self, doc: DocId) -> bool {
        self.0[doc as usize / 64] & (1 << (doc % 64)) != 0
    }
}

/// The columns of a segment.
struct Columns {
    file: tantivy::columnar::Column<u64>,
    position: tantivy::columnar::Column<u64>,
    time: tantivy::columnar::Column<i64>,
    facts: tantivy::columnar::Column<u64>,
}

impl Columns {
    fn open(reader: &SegmentReader) -> Result<Self> {
        let fast = reader.fast_fields();
        Ok(Self {
            file: fast.u64("file").map_err(failed)?,
            position: fast.u64("position").map_err(failed)?,
            time: fast.i64("time").map_err(failed)?,
            facts: fast.u64("facts").map_err(failed)?,
        })
    }

    fn file(&self, doc: DocId) -> u64 {
        self.file.first(doc).unwrap_or(0)
    }

    fn position(&self, doc: DocId) -> Option<u64> {
        self.position.first(doc)
    }

    fn time(&self, doc: DocId) -> Option<i64> {
        self.time.first(doc)
    }

    fn facts(&self, doc: DocId) -> Facts {
        Facts::unpack(self.facts.first(doc).unwrap_or(0))
    }

    fn pass(&self, screen: &Screen, doc: DocId) -> bool {
        if let Some(files) = &screen.files
            && !files.get(self.file(doc) as usize).copied().unwrap_or(false)
        {
            return false;
        }
        if screen.kinds.is_some() || !screen.roles.is_empty() || screen.keepit.is_some() {
            let facts = self.facts(doc);
            let has_kind = screen.kinds.is_none_or(|kinds| kinds & 1 << facts.kind as u32 != 0);
            let has_role = screen.roles.iter().all(|(role, not)| (facts.role == Some(*role)) != *not);
            let has_weight = screen.keepit.is_none_or(|least| facts.kind == Kind::Keepit && facts.weight >= least);
            if !(has_kind && has_role && has_weight) {
                return false;
            }
        }
        if screen.since.is_none() && screen.until.is_none() {
            return true;
        }
        // A title has the time of its session, which is looked up when it is shown.
        match self.time(doc) {
            Some(time) => {
                screen.since.is_none_or(|since| time >= since) && screen.until.is_none_or(|until| time <= until)
            }
            None => self.facts(doc).kind == Kind::Session,
        }
    }
}
