//! Turns a query into what is looked up: groups of terms that are ranked, and conditions.
//!
//! A group is one thing that was asked for: a stem, or all words that begin with what was typed, or that are spelt almost
//! like it. Its terms share one weight, so that a rare variant does not outrank the word itself.

use std::collections::HashMap;

use tantivy::query::{BooleanQuery, FuzzyTermQuery, Occur, PhraseQuery, Query as IndexQuery, TermQuery};
use tantivy::schema::{Field as IndexField, IndexRecordOption};
use tantivy::{Searcher, Term};

use super::language::{Clause, Query, Want, What};
use super::schema::Fields;
use super::snippet::Sought;
use super::store::failed;
use super::words::{Cutter, Form, Stems};
use crate::error::Result;

/// Words of the index that one beginning may stand for.
const BEGINNINGS: usize = 64;
/// Words of the index that one misspelt word may stand for.
const CORRECTIONS: usize = 12;
/// Groups of one query; what is pasted in may be longer.
pub(super) const MOST_GROUPS: usize = 32;

/// Something asked for.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The terms, each with its share of the group's weight.
    pub(super) terms: Vec<(Term, f32)>,
    /// Documents that hold any of them, at least.
    pub(super) documents: u64,
    /// A passage that lacks it has not every word.
    pub(super) is_needed: bool,
}

/// A word that the index does not have, and what was looked for instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Corrected {
    pub(super) typed: String,
    pub(super) words: Vec<String>,
}

/// What is looked up.
pub(super) struct Plan {
    pub(super) groups: Vec<Group>,
    pub(super) must: Vec<Box<dyn IndexQuery>>,
    pub(super) not: Vec<Box<dyn IndexQuery>>,
    pub(super) sought: Sought,
    pub(super) corrected: Vec<Corrected>,
}

/// Makes the plan. With `loose`, rare words are looked for in other spellings too.
pub(super) fn plan(searcher: &Searcher, fields: &Fields, query: &Query, loose: bool) -> Result<Plan> {
    let mut making = Making {
        searcher,
        fields,
        loose,
        cutter: Cutter::default(),
        stems: Stems::default(),
        plan: Plan {
            groups: Vec::new(),
            must: Vec::new(),
            not: Vec::new(),
            sought: Sought::default(),
            corrected: Vec::new(),
        },
    };
    for clause in &query.clauses {
        making.clause(clause)?;
    }
    Ok(making.plan)
}

/// A word as the index has it.
struct Piece {
    form: Form,
    text: String,
    stem: String,
}

struct Making<'a> {
    searcher: &'a Searcher,
    fields: &'a Fields,
    loose: bool,
    cutter: Cutter,
    stems: Stems,
    plan: Plan,
}

impl Making<'_> {
    fn clause(&mut self, clause: &Clause) -> Result<()> {
        let (text, is_open) = match &clause.what {
            What::Word(text) | What::Phrase(text) => (text, false),
            What::Beginning(text) => (text, true),
        };
        let pieces = self.pieces(text);
        let Some(last) = pieces.iter().rposition(|piece| piece.form == Form::Part) else { return Ok(()) };
        if clause.want != Want::May {
            let condition = self.condition(&pieces, is_open)?;
            let list = if clause.want == Want::Not { &mut self.plan.not } else { &mut self.plan.must };
            list.push(condition);
        }
        if clause.want == Want::Not {
            return Ok(());
        }
        if matches!(clause.what, What::Phrase(_)) {
            let stems = pieces.iter().filter(|piece| piece.form == Form::Part).map(|piece| piece.stem.clone());
            self.plan.sought.phrases.push(stems.collect());
        }
        let is_phrase = matches!(clause.what, What::Phrase(_));
        for (at, piece) in pieces.iter().enumerate() {
            if self.plan.groups.len() >= MOST_GROUPS {
                break;
            }
            match piece.form {
                Form::Part => self.part(piece, is_open && at == last, is_phrase)?,
                Form::Whole => self.whole(piece, is_open)?,
            }
        }
        Ok(())
    }

    fn pieces(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let stems = &mut self.stems;
        self.cutter.cut(text, |word| {
            let stem = match word.form {
                Form::Part => stems.of(word.text).to_owned(),
                Form::Whole => word.text.to_owned(),
            };
            pieces.push(Piece { form: word.form, text: word.text.to_owned(), stem });
        });
        pieces
    }

    fn part(&mut self, piece: &Piece, is_open: bool, is_phrase: bool) -> Result<()> {
        let term = Term::from_field_text(self.fields.text, &piece.stem);
        let mut documents = self.searcher.doc_freq(&term).map_err(failed)?;
        let mut terms = vec![(term, 1.0)];
        if !is_phrase {
            self.plan.sought.stems.insert(piece.stem.clone());
        }
        // The beginning of an id or a hash stands for it: nobody types all of it.
        if (is_open && piece.text.chars().count() >= 2) || is_hash(&piece.text) {
            let words = self.beginning_with(&piece.text, &piece.stem)?;
            documents += self.add(&mut terms, words, 0.8);
        }
        let length = piece.text.chars().count();
        let is_misspelt = documents == 0 || (self.loose && documents <= 2);
        if is_misspelt && !is_open && !is_phrase && length >= 4 && piece.text.chars().all(char::is_alphabetic) {
            let words = self.spelt_like(&piece.text, if length < 8 { 1 } else { 2 })?;
            if documents == 0 && !words.is_empty() {
                let corrected = words.iter().map(|(word, _)| word.clone()).take(3).collect();
                self.plan.corrected.push(Corrected { typed: piece.text.clone(), words: corrected });
            }
            documents += self.add(&mut terms, words, 0.6);
        }
        self.plan.groups.push(Group { terms, documents, is_needed: true });
        Ok(())
    }

    /// A whole identifier ranks higher than its parts; alone it is not asked for.
    fn whole(&mut self, piece: &Piece, is_open: bool) -> Result<()> {
        let term = Term::from_field_text(self.fields.text, &piece.text);
        let mut documents = self.searcher.doc_freq(&term).map_err(failed)?;
        let mut terms = vec![(term, 1.0)];
        self.plan.sought.words.insert(piece.text.clone());
        if is_open || documents == 0 {
            let words = self.beginning_with(&piece.text, &piece.text)?;
            documents += self.add(&mut terms, words, 1.0);
        }
        if documents > 0 {
            self.plan.groups.push(Group { terms, documents, is_needed: false });
        }
        Ok(())
    }

    /// Adds words to a group; the most documents that one of them is in.
    fn add(&mut self, terms: &mut Vec<(Term, f32)>, words: Vec<(String, u64)>, share: f32) -> u64 {
        let mut documents = 0;
        for (word, found) in words {
            terms.push((Term::from_field_text(self.fields.words, &word), share));
            self.plan.sought.words.insert(word);
            documents += found;
        }
        documents
    }

    /// Words of the index that begin so, the most frequent first; those with the stem `known` are looked for already.
    fn beginning_with(&mut self, beginning: &str, known: &str) -> Result<Vec<(String, u64)>> {
        let mut found: HashMap<String, u64> = HashMap::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.words).map_err(failed)?;
            let mut stream = index.terms().range().ge(beginning.as_bytes()).into_stream()?;
            // A short beginning has very many words; the first are as good as any then.
            for _ in 0..4096 {
                if !stream.advance() || !stream.key().starts_with(beginning.as_bytes()) {
                    break;
                }
                if let Ok(word) = std::str::from_utf8(stream.key()) {
                    *found.entry(word.to_owned()).or_default() += u64::from(stream.value().doc_freq);
                }
            }
        }
        found.retain(|word, _| self.stems.of(word) != known);
        Ok(most_frequent(found, BEGINNINGS))
    }

    /// Words of the index at a distance of some letters, the nearest first.
    fn spelt_like(&self, word: &str, distance: u8) -> Result<Vec<(String, u64)>> {
        let mut found: HashMap<String, u64> = HashMap::new();
        let fuzzy = FuzzyTermQuery::new(Term::from_field_text(self.fields.words, word), distance, true);
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.words).map_err(failed)?;
            let automaton = fuzzy.automaton().map_err(failed)?;
            let mut stream = index.terms().search(automaton).into_stream()?;
            while stream.advance() {
                // The first letter is rarely wrong, and makes the difference to many other words.
                let known =
                    std::str::from_utf8(stream.key()).ok().filter(|known| known.chars().next() == word.chars().next());
                if let Some(known) = known {
                    *found.entry(known.to_owned()).or_default() += u64::from(stream.value().doc_freq);
                }
            }
        }
        let nearest = found.keys().map(|known| strsim::osa_distance(known, word)).min();
        found.retain(|known, _| Some(strsim::osa_distance(known, word)) == nearest);
        Ok(most_frequent(found, CORRECTIONS))
    }

    /// What a passage must hold, or must not.
    fn condition(&mut self, pieces: &[Piece], is_open: bool) -> Result<Box<dyn IndexQuery>> {
        let parts: Vec<&Piece> = pieces.iter().filter(|piece| piece.form == Form::Part).collect();
        if let ([only], true) = (parts.as_slice(), is_open) {
            let words = self.beginning_with(&only.text, "")?;
            let any = words.into_iter().map(|(word, _)| term_query(self.fields.words, &word));
            return Ok(Box::new(BooleanQuery::union(any.collect())));
        }
        let stems: Vec<String> = parts.iter().map(|piece| piece.stem.clone()).collect();
        Ok(together(self.fields.text, &stems))
    }
}

/// Terms that stand one after the other.
pub(super) fn together(field: IndexField, terms: &[String]) -> Box<dyn IndexQuery> {
    match terms {
        [only] => term_query(field, only),
        several => {
            let terms = several.iter().map(|term| Term::from_field_text(field, term)).collect();
            Box::new(PhraseQuery::new(terms))
        }
    }
}

fn term_query(field: IndexField, term: &str) -> Box<dyn IndexQuery> {
    Box::new(TermQuery::new(Term::from_field_text(field, term), IndexRecordOption::Basic))
}

/// What files are named by: the parts of a path, anywhere in the paths of a call or in the text.
pub(super) fn about_file(fields: &Fields, path: &str) -> Option<Box<dyn IndexQuery>> {
    let (mut parts, mut stems) = (Vec::new(), Vec::new());
    let mut of = Stems::default();
    Cutter::default().cut(path, |word| {
        if word.form == Form::Part {
            parts.push(word.text.to_owned());
            stems.push(of.of(word.text).to_owned());
        }
    });
    let mut ways = vec![(Occur::Should, together(fields.paths, parts.first().map(|_| parts.as_slice())?))];
    // One part alone is a word like any other in prose.
    if stems.len() > 1 {
        ways.push((Occur::Should, together(fields.text, &stems)));
    }
    Some(Box::new(BooleanQuery::new(ways)))
}

fn most_frequent(found: HashMap<String, u64>, most: usize) -> Vec<(String, u64)> {
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by(|(left, left_count), (right, right_count)| right_count.cmp(left_count).then_with(|| left.cmp(right)));
    found.truncate(most);
    found
}

/// Whether a word is the beginning of a hash or of a uuid, and not a number or a word.
fn is_hash(word: &str) -> bool {
    word.len() >= 6
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::is_hash;

    #[test]
    fn hashes_are_told_from_words_and_numbers() {
        for (word, expected) in
            [("3f2a9c1", true), ("7c41e0b2", true), ("facade", false), ("20260120", false), ("ab1", false)]
        {
            assert_eq!(is_hash(word), expected, "{word}");
        }
    }
}
