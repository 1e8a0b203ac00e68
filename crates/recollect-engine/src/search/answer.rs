//! From a request to the hits that are shown: reads the filters, ranks, and looks up where each passage stands.

use std::collections::{HashMap, HashSet};

use jiff::tz::TimeZone;
use tantivy::collector::TopDocs;
use tantivy::query::TermQuery;
use tantivy::schema::{IndexRecordOption, TantivyDocument, Value};
use tantivy::{Searcher, Term};

use super::Kind;
use super::dates::{Edge, instant};
use super::language::{self, Field, Filter, Query};
use super::plan::{self, Corrected};
use super::rank::{Ranked, Screen, rank};
use super::schema::Fields;
use super::snippet::snippet;
use super::store::{self, failed};
use super::topics::files_about;
use super::words::Stems;
use crate::api::search::{SearchAnswer, SearchCorrection, SearchFilter, SearchHit, SearchRequest};
use crate::db::{FoundPlace, SearchedFile};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::time::Time;

/// Passages that are ranked for each hit that is shown: several may be of one message, or copies of one record.
const SPARE: usize = 3;

/// Passages after the last hit that are looked at for copies.
const COPIES: usize = 4;

/// Hits below which misspelt words are looked for in other spellings.
const FEW: usize = 3;

/// A request, read.
pub(super) struct Asked {
    query: Query,
    filters: Vec<Filter>,
    since: Option<i64>,
    until: Option<i64>,
    notes: Vec<String>,
}

impl Asked {
    /// Reads a request; what stands in the query and means nothing is words.
    pub(super) fn read(engine: &Engine, request: &SearchRequest) -> Result<Self> {
        let mut query = language::read(&request.query, request.typing);
        let zone = match &request.time_zone {
            Some(name) => TimeZone::get(name).unwrap_or(TimeZone::UTC),
            None => TimeZone::UTC,
        };
        let now = engine.now();
        let mut asked =
            Self { query: Query::default(), filters: Vec::new(), since: None, until: None, notes: Vec::new() };
        for filter in std::mem::take(&mut query.filters) {
            if !asked.take_date(&filter, now, &zone) {
                asked.filters.push(filter);
            } else if let Field::Since(words) | Field::Until(words) = &filter.field
                && instant(words, now, &zone, Edge::Start).is_none()
            {
                asked.notes.push(format!("`{words}` is no date; write 2026-01-20, 7d or \"2 weeks ago\""));
            } else {
                asked.filters.push(filter);
            }
        }
        asked.query = query;
        asked.take_request(request, now, &zone)?;
        Ok(asked)
    }

    /// Takes a date over; tells whether the filter is one.
    fn take_date(&mut self, filter: &Filter, now: Time, zone: &TimeZone) -> bool {
        match (&filter.field, filter.not) {
            (Field::Since(words), false) | (Field::Until(words), true) => {
                let edge = if filter.not { Edge::End } else { Edge::Start };
                let time = instant(words, now, zone, edge).map(|time| time.millis() + i64::from(filter.not));
                self.since = self.since.max(time);
                true
            }
            (Field::Until(words), false) | (Field::Since(words), true) => {
                let edge = if filter.not { Edge::Start } else { Edge::End };
                let time = instant(words, now, zone, edge).map(|time| time.millis() - i64::from(filter.not));
                self.until = [self.until, time].into_iter().flatten().min();
                true
            }
            _ => false,
        }
    }

    fn take_request(&mut self, request: &SearchRequest, now: Time, zone: &TimeZone) -> Result<()> {
        let mut add = |field: Field| self.filters.push(Filter { not: false, field, typed: String::new() });
        let text = |value: &Option<String>| value.clone().filter(|value| !value.trim().is_empty());
        if let Some(project) = text(&request.project) {
            add(Field::Project(project));
        }
        if let Some(branch) = text(&request.branch) {
            add(Field::Branch(branch));
        }
        if let Some(role) = request.role {
            add(Field::Role(role));
        }
        if let Some(file) = text(&request.file) {
            add(Field::File(file));
        }
        if let Some(topic) = text(&request.topic) {
            add(Field::Topic(topic));
        }
        if let Some(session) = text(&request.session) {
            add(Field::Session(session));
        }
        if let Some(kinds) = request.kinds.clone().filter(|kinds| !kinds.is_empty()) {
            add(Field::Kind(kinds));
        }
        if let Some(weight) = request.keepit_min {
            if !(0.0..=1.0).contains(&weight) {
                return Err(Error::usage(format!("a weight of {weight} is not between 0 and 1")));
            }
            add(Field::Keepit((weight * 100.0).round() as u8));
        }
        for (words, edge) in [(&request.since, Edge::Start), (&request.until, Edge::End)] {
            let Some(words) = text(words) else { continue };
            let time = instant(&words, now, zone, edge).ok_or_else(|| {
                Error::usage(format!("`{words}` is no date"))
                    .hint("write it as 2026-01-20, as 7d, or as \"2 weeks ago\"")
            })?;
            match edge {
                Edge::Start => self.since = self.since.max(Some(time.millis())),
                Edge::End => self.until = [self.until, Some(time.millis())].into_iter().flatten().min(),
            }
        }
        Ok(())
    }

    /// Ranks and looks up. An index that is not there yet has no hits.
    pub(super) fn answer(&self, engine: &Engine, limit: usize) -> Result<SearchAnswer> {
        let mut answer = SearchAnswer {
            notes: self.notes.clone(),
            filters: self
                .filters
                .iter()
                .filter(|filter| !filter.typed.is_empty())
                .map(|filter| SearchFilter { typed: filter.typed.clone() })
                .collect(),
            every_word: true,
            ..SearchAnswer::default()
        };
        if self.query.clauses.is_empty() && self.filters.is_empty() && self.since.is_none() && self.until.is_none() {
            return Ok(answer);
        }
        let Some(index) = store::current(engine)? else { return Ok(answer) };
        let searcher = index.searcher(&store::folder(engine, &index.generation))?;
        self.fill(engine, &searcher, &index.fields, limit, false, &mut answer)?;
        if answer.hits.len() < FEW && !self.query.clauses.is_empty() {
            let mut loose = SearchAnswer { hits: Vec::new(), corrections: Vec::new(), ..answer.clone() };
            self.fill(engine, &searcher, &index.fields, limit, true, &mut loose)?;
            if loose.hits.len() > answer.hits.len() {
                return Ok(loose);
            }
        }
        Ok(answer)
    }

    fn fill(
        &self,
        engine: &Engine,
        searcher: &Searcher,
        fields: &Fields,
        limit: usize,
        loose: bool,
        answer: &mut SearchAnswer,
    ) -> Result<()> {
        let mut plan = plan::plan(searcher, fields, &self.query, loose)?;
        let mut screen = self.screen(engine, searcher, fields)?;
        screen.must.append(&mut plan.must);
        screen.not.append(&mut plan.not);
        // Words that were only excluded leave nothing to look for: all the rest is shown.
        let now = engine.now().millis();
        let most = limit * SPARE + 32;
        let ranking = rank(searcher, fields, &plan, &screen, now, most, &engine.search().scratch)?;
        answer.every_word = ranking.every > 0 || ranking.any == 0;
        answer.total = if ranking.every > 0 { ranking.every } else { ranking.any };
        answer.corrections = plan.corrected.iter().map(correction).collect();
        let mut shown = Shown { engine, searcher, fields, places: HashMap::new(), seen: HashSet::new() };
        let mut stems = Stems::default();
        let mut copies: HashMap<(String, u64), usize> = HashMap::new();
        let mut beyond = 0;
        for ranked in &ranking.best {
            if answer.hits.len() >= limit {
                // Copies of what is shown rank beside it; each that is looked up has to be read.
                beyond += 1;
                if beyond > COPIES {
                    break;
                }
            }
            let Some(mut found) = shown.hit(ranked)? else { continue };
            if ranked.facts.kind == Kind::Session && !self.has_time(found.hit.timestamp) {
                continue;
            }
            // One record that several sessions hold is shown once.
            if let Some(uuid) = found.hit.message_uuid.clone().filter(|uuid| !uuid.starts_with("line-")) {
                let body = found.body.len() as u64;
                if let Some(first) = copies.get(&(uuid.clone(), body)) {
                    answer.hits[*first].copies += 1;
                    continue;
                }
                if answer.hits.len() < limit {
                    copies.insert((uuid, body), answer.hits.len());
                }
            }
            if answer.hits.len() >= limit {
                continue;
            }
            let line = snippet(&found.body, &plan.sought, &mut stems);
            (found.hit.snippet, found.hit.highlights) = (line.text, line.highlights);
            answer.hits.push(found.hit);
        }
        Ok(())
    }

    fn has_time(&self, time: Option<Time>) -> bool {
        let time = time.map(Time::millis);
        self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| time.is_some_and(|time| time <= until))
    }

    /// What the filters let through.
    fn screen(&self, engine: &Engine, searcher: &Searcher, fields: &Fields) -> Result<Screen> {
        let mut screen = Screen { since: self.since, until: self.until, ..Screen::default() };
        let mut of_files: Vec<&Filter> = Vec::new();
        for filter in &self.filters {
            match &filter.field {
                Field::Project(_) | Field::Branch(_) | Field::Session(_) | Field::Topic(_) => of_files.push(filter),
                Field::Role(role) => screen.roles.push((*role, filter.not)),
                Field::Kind(kinds) => {
                    let bits = kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u32);
                    let bits = if filter.not { !bits } else { bits };
                    screen.kinds = Some(screen.kinds.map_or(bits, |before| before & bits));
                }
                Field::Keepit(weight) => screen.keepit = Some(screen.keepit.unwrap_or(0).max(*weight)),
                Field::File(path) => {
                    if let Some(query) = plan::about_file(fields, path) {
                        if filter.not { &mut screen.not } else { &mut screen.must }.push(query);
                    }
                }
                Field::Since(_) | Field::Until(_) => {}
            }
        }
        if !of_files.is_empty() {
            let files = engine.db().read(|rows| rows.searched_files())?;
            let mut about: Vec<(&str, HashSet<String>)> = Vec::new();
            for filter in &of_files {
                if let Field::Topic(topic) = &filter.field {
                    let known: HashSet<u64> = files_about(searcher, fields, topic)?.into_iter().collect();
                    let is_known = |file: &&SearchedFile| known.contains(&file.file_id.unsigned_abs());
                    about.push((topic, files.iter().filter(is_known).map(|file| file.session_id.clone()).collect()));
                }
            }
            let greatest = files.iter().map(|file| file.file_id).max().unwrap_or(0);
            let mut shown = vec![false; usize::try_from(greatest).unwrap_or(0) + 1];
            for file in files {
                let passes = of_files.iter().all(|filter| matches(filter, &file, &about) != filter.not);
                if let (true, Some(slot)) =
                    (passes, usize::try_from(file.file_id).ok().and_then(|at| shown.get_mut(at)))
                {
                    *slot = true;
                }
            }
            screen.files = Some(shown);
        }
        Ok(screen)
    }
}

/// Whether a filter names a file's session; `about` has the sessions of each topic.
fn matches(filter: &Filter, file: &SearchedFile, about: &[(&str, HashSet<String>)]) -> bool {
    let same = |left: &str, right: &str| left.eq_ignore_ascii_case(right);
    match &filter.field {
        Field::Project(name) => {
            let path = name.trim_end_matches(['/', '\\']);
            same(&file.project_id, name) || same(&file.project_name, name) || file.project_path == path
        }
        Field::Branch(name) => file.git_branch.as_deref().is_some_and(|branch| match name.strip_suffix('*') {
            Some(beginning) => branch.to_lowercase().starts_with(&beginning.to_lowercase()),
            None => same(branch, name),
        }),
        Field::Topic(topic) => {
            about.iter().any(|(known, sessions)| known == topic && sessions.contains(&file.session_id))
        }
        Field::Session(id) => file.session_id.starts_with(&id.to_ascii_lowercase()),
        _ => true,
    }
}

fn correction(corrected: &Corrected) -> SearchCorrection {
    SearchCorrection { typed: corrected.typed.clone(), words: corrected.words.clone() }
}

/// A hit whose snippet is still to be made.
struct Found {
    hit: SearchHit,
    body: String,
}

/// Looks passages up, each message once.
struct Shown<'a> {
    engine: &'a Engine,
    searcher: &'a Searcher,
    fields: &'a Fields,
    places: HashMap<u64, Option<FoundPlace>>,
    seen: HashSet<(u64, u32)>,
}

impl Shown<'_> {
    fn hit(&mut self, ranked: &Ranked) -> Result<Option<Found>> {
        let kind = ranked.facts.kind;
        let position = ranked.position.and_then(|position| u32::try_from(position).ok());
        let index = match kind {
            Kind::Session => None,
            Kind::Keepit | Kind::Version => Some(ranked.facts.index),
            _ => position,
        };
        if let Some(index) = index
            && !self.seen.insert((ranked.file, index))
        {
            return Ok(None);
        }
        let Some(place) = self.place(ranked.file)? else { return Ok(None) };
        let document: TantivyDocument = self.searcher.doc(ranked.address).map_err(failed)?;
        let text = |field| document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        let (body, uuid, name) = (text(self.fields.body), text(self.fields.uuid), text(self.fields.name));
        let mut agent_id = place.agent_id.clone();
        // What the memory no longer has, or has otherwise, is not shown, whatever the index says.
        match kind {
            Kind::Session if uuid != place.session_id.as_str() => return Ok(None),
            Kind::Session => {}
            _ => {
                let file = i64::try_from(ranked.file).unwrap_or(0);
                let at = u64::from(index.unwrap_or(0));
                match self.engine.db().read(|rows| rows.found_message(file, at))? {
                    Some((known, side)) if known == uuid => agent_id = agent_id.or(side),
                    _ => return Ok(None),
                }
            }
        }
        let parent_index = match &place.tool_use_id {
            Some(call) => self.start_of(call)?,
            None => None,
        };
        let hit = SearchHit {
            session_id: place.session_id.clone(),
            session_title: place.title.clone(),
            project_id: place.project_id.clone(),
            project: place.project.clone(),
            git_branch: place.git_branch.clone(),
            message_uuid: (kind != Kind::Session).then_some(uuid),
            index,
            agent_id,
            parent_index,
            kind,
            role: ranked.facts.role,
            timestamp: match kind {
                Kind::Session => place.last_timestamp,
                _ => ranked.time.map(Time::from_millis),
            },
            score: f64::from(ranked.score),
            snippet: String::new(),
            highlights: Vec::new(),
            marker_id: (kind == Kind::Keepit).then(|| name.as_str().into()),
            weight: (kind == Kind::Keepit).then(|| f64::from(ranked.facts.weight) / 100.0),
            version_id: (kind == Kind::Version).then(|| name.as_str().into()),
            copies: 0,
        };
        Ok(Some(Found { hit, body }))
    }

    fn place(&mut self, file: u64) -> Result<Option<FoundPlace>> {
        if let Some(place) = self.places.get(&file) {
            return Ok(place.clone());
        }
        let place = self.engine.db().read(|rows| rows.found_place(i64::try_from(file).unwrap_or(0)))?;
        self.places.insert(file, place.clone());
        Ok(place)
    }

    /// Where the main conversation starts a sub-agent.
    fn start_of(&self, call: &str) -> Result<Option<u32>> {
        let query = TermQuery::new(Term::from_field_text(self.fields.call, call), IndexRecordOption::Basic);
        let found = self.searcher.search(&query, &TopDocs::with_limit(1).order_by_score()).map_err(failed)?;
        let Some((_, address)) = found.first() else { return Ok(None) };
        let columns = self.searcher.segment_reader(address.segment_ord).fast_fields();
        let position = columns.u64("position").map_err(failed)?.first(address.doc_id);
        Ok(position.and_then(|position| u32::try_from(position).ok()))
    }
}
