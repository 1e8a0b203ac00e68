//! Which conversations are about something: their title names it, or they speak of it several times.

use std::collections::HashMap;

use tantivy::query::EnableScoring;
use tantivy::{Searcher, TERMINATED};

use super::Kind;
use super::plan::together;
use super::schema::{Facts, Fields};
use super::store::failed;
use super::words::{Cutter, Form, Stems};
use crate::error::Result;

/// Passages that speak of a topic in a conversation that is about it.
const SEVERAL: u32 = 3;

/// The files of conversations that are about a topic: a word, or several that stand together.
pub(super) fn files_about(searcher: &Searcher, fields: &Fields, topic: &str) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    let mut stems = Stems::default();
    Cutter::default().cut(topic, |word| {
        if word.form == Form::Part {
            words.push(stems.of(word.text).to_owned());
        }
    });
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let query = together(fields.text, &words);
    let weight = query.weight(EnableScoring::disabled_from_schema(searcher.schema())).map_err(failed)?;
    let mut spoken: HashMap<u64, u32> = HashMap::new();
    for segment in searcher.segment_readers() {
        let columns = segment.fast_fields();
        let (file, facts) = (columns.u64("file").map_err(failed)?, columns.u64("facts").map_err(failed)?);
        let mut passages = weight.scorer(segment, 1.0).map_err(failed)?;
        let mut passage = passages.doc();
        while passage != TERMINATED {
            let counts = match Facts::unpack(facts.first(passage).unwrap_or(0)).kind {
                Kind::Session => SEVERAL,
                Kind::Text => 1,
                _ => 0,
            };
            if counts > 0 && !segment.is_deleted(passage) {
                *spoken.entry(file.first(passage).unwrap_or(0)).or_default() += counts;
            }
            passage = passages.advance();
        }
    }
    Ok(spoken.into_iter().filter(|(_, times)| *times >= SEVERAL).map(|(file, _)| file).collect())
}
