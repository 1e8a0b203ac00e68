//! What a document of the index holds, and how texts become its terms.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TantivyDocument, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

use super::Kind;
use super::words::{Cutter, Form};
use crate::session::Role;

/// Of this program's index; another is made anew. Raise it when documents or terms change.
pub(super) const FORMAT: u32 = 1;

/// The fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// The passage; its terms are stems of parts, and wholes: ranked, and with positions for phrases.
    pub(super) text: Field,
    /// Parts and wholes as they are written: for beginnings of words and for misspelt ones.
    pub(super) words: Field,
    /// Parts of the paths that it is about.
    pub(super) paths: Field,
    /// The file, or the main file of the session.
    pub(super) file: Field,
    /// The message's position in the file; absent for titles, keepits and versions.
    pub(super) position: Field,
    /// Milliseconds since 1970; absent when no time is known.
    pub(super) time: Field,
    /// [`Facts`], packed.
    pub(super) facts: Field,
    /// The session, of titles and keepits: they go and come together.
    pub(super) session: Field,
    /// The session, of versions.
    pub(super) versions: Field,
    /// The call that starts a sub-agent.
    pub(super) call: Field,
    /// The message's uuid.
    pub(super) uuid: Field,
    /// The keepit marker or the version.
    pub(super) name: Field,
}

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) kind: Kind,
    pub(super) role: Option<Role>,
    /// Of a keepit: its weight in hundredths.
    pub(super) weight: u8,
    /// Of a keepit or a version: index of the message that it comes from.
    pub(super) index: u32,
}

impl Facts {
    pub(super) fn pack(self) -> u64 {
        let role = self.role.map_or(0, |role| role as u64 + 1);
        self.kind as u64 | role << 8 | u64::from(self.weight) << 16 | u64::from(self.index) << 32
    }

    pub(super) fn unpack(packed: u64) -> Self {
        let roles = [None, Some(Role::User), Some(Role::Assistant), Some(Role::Tool), Some(Role::System)];
        let byte = |shift: u32| (packed >> shift & 0xff) as usize;
        Self {
            kind: Kind::ALL.get(byte(0)).copied().unwrap_or(Kind::Text),
            role: roles.get(byte(8)).copied().flatten(),
            weight: byte(16) as u8,
            index: (packed >> 32) as u32,
        }
    }
}

/// The schema, with its fields.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexed = |tokenizer: &str, option: IndexRecordOption, norms: bool| {
        let indexing =
            TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(option).set_fieldnorms(norms);
        TextOptions::default().set_indexing_options(indexing)
    };
    let fields = Fields {
        text: builder
            .add_text_field("text", indexed(TEXT, IndexRecordOption::WithFreqsAndPositions, true).set_stored()),
        words: builder.add_text_field("words", indexed(WORDS, IndexRecordOption::Basic, false)),
        paths: builder.add_text_field("paths", indexed(PATHS, IndexRecordOption::WithFreqsAndPositions, false)),
        file: builder.add_u64_field("file", INDEXED | FAST),
        position: builder.add_u64_field("position", FAST),
        time: builder.add_i64_field("time", FAST),
        facts: builder.add_u64_field("facts", FAST),
        session: builder.add_text_field("session", STRING),
        versions: builder.add_text_field("versions", STRING),
        call: builder.add_text_field("call", STRING),
        uuid: builder.add_text_field("uuid", STORED),
        name: builder.add_text_field("name", STORED),
    };
    (builder.build(), fields)
}

/// A document in the making.
pub(super) struct Entry<'a> {
    pub(super) file: i64,
    pub(super) position: Option<u32>,
    pub(super) time: Option<i64>,
    pub(super) facts: Facts,
    pub(super) body: &'a str,
    pub(super) uuid: &'a str,
}

impl Fields {
    pub(super) fn document(&self, entry: &Entry<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_text(self.text, entry.body);
        document.add_text(self.words, entry.body);
        if !entry.uuid.is_empty() {
            document.add_text(self.words, entry.uuid);
            document.add_text(self.uuid, entry.uuid);
        }
        document.add_u64(self.file, entry.file.unsigned_abs());
        if let Some(position) = entry.position {
            document.add_u64(self.position, position.into());
        }
        if let Some(time) = entry.time {
            document.add_i64(self.time, time);
        }
        document.add_u64(self.facts, entry.facts.pack());
        document
    }
}

const TEXT: &str = "recollect_text";
const WORDS: &str = "recollect_words";
const PATHS: &str = "recollect_paths";

/// The tokenizers that the schema names.
pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    for (name, terms) in [(TEXT, Terms::Stems), (WORDS, Terms::Words), (PATHS, Terms::Parts)] {
        manager
            .register(name, TextAnalyzer::from(Terming { terms, cutter: Cutter::default(), found: Found::default() }));
    }
    manager
}

/// Which terms a text becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terms {
    Stems,
    Words,
    Parts,
}

#[derive(Clone)]
struct Terming {
    terms: Terms,
    cutter: Cutter,
    found: Found,
}

/// Terms of one text: their letters one after the other, and where each ends.
#[derive(Debug, Clone, Default)]
struct Found {
    letters: String,
    /// End in the letters, bytes in the text, position.
    ends: Vec<(usize, usize, usize, usize)>,
}

impl Tokenizer for Terming {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        let Self { terms, cutter, found } = self;
        found.letters.clear();
        found.ends.clear();
        let stemmer = cutter.clone();
        cutter.cut(text, |word| {
            match (*terms, word.form) {
                (Terms::Stems, Form::Part) => found.letters.push_str(&stemmer.stem(word.text)),
                (Terms::Parts, Form::Whole) => return,
                _ => found.letters.push_str(word.text),
            }
            found.ends.push((found.letters.len(), word.place.start, word.place.end, word.position));
        });
        Stream { found, next: 0, token: Token::default() }
    }
}

struct Stream<'a> {
    found: &'a Found,
    next: usize,
    token: Token,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some((end, from, to, position)) = self.found.ends.get(self.next).copied() else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.found.ends[before].0);
        self.next += 1;
        self.token.text.clear();
        self.token.text.push_str(&self.found.letters[start..end]);
        (self.token.offset_from, self.token.offset_to, self.token.position) = (from, to, position);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_survive_packing() {
        for kind in Kind::ALL {
            for role in [None, Some(Role::User), Some(Role::System)] {
                let facts = Facts { kind, role, weight: 75, index: 7 };
                assert_eq!(Facts::unpack(facts.pack()), facts);
            }
        }
    }

    #[test]
    fn texts_become_stems_words_and_parts() {
        let terms = |name: &str| {
            let mut analyzer = tokenizers().get(name).expect("a tokenizer");
            let mut stream = analyzer.token_stream("Running refreshTokens");
            let mut terms = Vec::new();
            while stream.advance() {
                terms.push(format!("{}{}", stream.token().text, stream.token().position));
            }
            terms.join(" ")
        };
        assert_eq!(terms(TEXT), "run0 refreshtokens1 refresh1 token2");
        assert_eq!(terms(WORDS), "running0 refreshtokens1 refresh1 tokens2");
        assert_eq!(terms(PATHS), "running0 refresh1 tokens2");
    }
}
