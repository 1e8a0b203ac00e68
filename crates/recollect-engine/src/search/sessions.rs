//! How well whole sessions fit a task, a file, a topic: what composing and suggesting weigh.
//!
//! A task is text of any length: its rarest words that the memory has decide, and nothing in it is read as a filter.

use std::collections::{BTreeMap, HashMap};

use tantivy::query::{EnableScoring, Query as IndexQuery};
use tantivy::{Searcher, TERMINATED};

use super::Kind;
use super::language::{Clause, Query, Want, What};
use super::plan::{self, Group, MOST_GROUPS, Plan};
use super::rank::{Screen, rank, weights};
use super::schema::{Facts, Fields};
use super::snippet::Sought;
use super::store::failed;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::SessionId;

/// Words of a task that are looked at, of all that differ.
const WORDS: usize = 600;

/// Words that are planned at once, so that no plan is full before its last word.
const AT_ONCE: usize = 6;

/// Passages of a task that are ranked.
const PASSAGES: usize = 2_000;

/// A passage counts as a match from this share of the best one's score.
const STRONG: f32 = 0.5;

/// What each further passage of a session counts beside its best one.
const FURTHER: [f32; 3] = [1.0, 0.5, 0.25];

/// How a session fits a task.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TaskFit {
    /// The scores of its strong matches, added up: comparable within one answer.
    pub(crate) matches: f64,
    /// 0 to 1: how much of what the task's words weigh its best passages hold.
    pub(crate) relevance: f64,
}

/// How a session is about a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FileTouches {
    /// Passages that are about it.
    pub(crate) passages: u32,
    /// Of these, calls of tools.
    pub(crate) calls: u32,
}

/// How the sessions fit a task; those without any match are not named. With `only`, no others are looked at.
pub(super) fn fits(
    engine: &Engine,
    searcher: &Searcher,
    fields: &Fields,
    task: &str,
    only: Option<&[SessionId]>,
) -> Result<BTreeMap<SessionId, TaskFit>> {
    let plan = plan_of(searcher, fields, task)?;
    if plan.groups.is_empty() {
        return Ok(BTreeMap::new());
    }
    let sessions = sessions_by_file(engine)?;
    // What versions say is what their sessions say; what the client put in is nobody's work.
    let mut screen =
        Screen { kinds: Some(!(1 << Kind::Version as u32 | 1 << Kind::Notice as u32)), ..Screen::default() };
    if let Some(only) = only {
        let greatest = sessions.keys().max().copied().unwrap_or(0);
        let mut shown = vec![false; usize::try_from(greatest).unwrap_or(0) + 1];
        for (file, session) in &sessions {
            if let (true, Ok(at)) = (only.contains(session), usize::try_from(*file)) {
                shown[at] = true;
            }
        }
        screen.files = Some(shown);
    }
    let passages: u64 = searcher.segment_readers().iter().map(|segment| u64::from(segment.max_doc())).sum();
    let all: f32 = weights(&plan.groups, passages).iter().sum();
    let ranking = rank(searcher, fields, &plan, &screen, engine.now().millis(), PASSAGES, &engine.search().scratch)?;
    let best = ranking.best.first().map_or(0.0, |ranked| ranked.score);
    let mut scores: BTreeMap<SessionId, Vec<f32>> = BTreeMap::new();
    for ranked in ranking.best.iter().filter(|ranked| ranked.score > 0.0) {
        if let Some(session) = sessions.get(&ranked.file) {
            scores.entry(session.clone()).or_default().push(ranked.score);
        }
    }
    let fit = |scores: Vec<f32>| {
        let strong: f32 = scores.iter().filter(|score| **score >= best * STRONG).sum();
        let held: f32 = scores.iter().zip(FURTHER).map(|(score, share)| score * share).sum();
        let most = all * FURTHER.iter().sum::<f32>();
        TaskFit {
            matches: f64::from(strong),
            relevance: f64::from((held / most.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0)),
        }
    };
    Ok(scores.into_iter().map(|(session, scores)| (session, fit(scores))).collect())
}

/// The sessions that are about a file: a path, or the end of one.
pub(super) fn touching(
    engine: &Engine,
    searcher: &Searcher,
    fields: &Fields,
    path: &str,
) -> Result<BTreeMap<SessionId, FileTouches>> {
    let mut touched: BTreeMap<SessionId, FileTouches> = BTreeMap::new();
    let Some(query) = plan::about_file(fields, path) else { return Ok(touched) };
    let sessions = sessions_by_file(engine)?;
    for (file, facts) in passages(searcher, query.as_ref())? {
        let Some(session) = sessions.get(&file).filter(|_| facts.kind != Kind::Version) else { continue };
        let touches = touched.entry(session.clone()).or_default();
        touches.passages += 1;
        touches.calls += u32::from(facts.kind == Kind::ToolInput);
    }
    Ok(touched)
}

/// The sessions of files.
pub(super) fn sessions_by_file(engine: &Engine) -> Result<HashMap<u64, SessionId>> {
    let files = engine.db().read(|rows| rows.searched_files())?;
    Ok(files.into_iter().map(|file| (file.file_id.unsigned_abs(), SessionId::new(file.session_id))).collect())
}

/// File and facts of all passages that match.
fn passages(searcher: &Searcher, query: &dyn IndexQuery) -> Result<Vec<(u64, Facts)>> {
    let mut found = Vec::new();
    let weight = query.weight(EnableScoring::disabled_from_schema(searcher.schema())).map_err(failed)?;
    for segment in searcher.segment_readers() {
        let columns = segment.fast_fields();
        let (file, facts) = (columns.u64("file").map_err(failed)?, columns.u64("facts").map_err(failed)?);
        let mut scorer = weight.scorer(segment, 1.0).map_err(failed)?;
        let mut passage = scorer.doc();
        while passage != TERMINATED {
            if !segment.is_deleted(passage) {
                found.push((file.first(passage).unwrap_or(0), Facts::unpack(facts.first(passage).unwrap_or(0))));
            }
            passage = scorer.advance();
        }
    }
    Ok(found)
}

/// What is looked up for a task: of all its words the rarest that the memory has.
fn plan_of(searcher: &Searcher, fields: &Fields, task: &str) -> Result<Plan> {
    let mut words: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for word in task.split_whitespace() {
        if seen.insert(word.to_lowercase()) {
            words.push(word);
        }
    }
    words.truncate(WORDS);
    let mut groups: Vec<Group> = Vec::new();
    for some in words.chunks(AT_ONCE) {
        let clauses =
            some.iter().map(|word| Clause { want: Want::May, what: What::Word((*word).to_owned()) }).collect();
        let part = plan::plan(searcher, fields, &Query { clauses, filters: Vec::new() }, false)?;
        for group in part.groups {
            if group.documents > 0 && !groups.iter().any(|known| known.terms == group.terms) {
                groups.push(Group { is_needed: false, ..group });
            }
        }
    }
    groups.sort_by_key(|group| group.documents);
    groups.truncate(MOST_GROUPS);
    Ok(Plan { groups, must: Vec::new(), not: Vec::new(), sought: Sought::default(), corrected: Vec::new() })
}
