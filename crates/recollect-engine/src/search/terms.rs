//! The terms of a text, cut once, by whoever has a processor to spare, and handed to the index as one string of them.
//!
//! What writes the index only takes that string apart again: cutting and stemming are most of the work on a text, and the
//! index has few writers.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::words::{Cutter, Form, Stems};

/// Before a term that has the next position.
const NEXT: u8 = 1;
/// Before a term, and a letter that says how many positions back from the next one it stands.
const BACK: u8 = 2;
/// A position that no term has: what stood there is no word.
const GAP: char = '\u{3}';
/// The letter of nought.
const NOUGHT: u8 = b' ';

/// Cuts texts into terms; holds what would be made anew for each.
#[derive(Default)]
pub(super) struct Terms {
    cutter: Cutter,
    stems: Stems,
}

impl Terms {
    /// Stems of a passage's parts with the wholes, for ranking and phrases; and its words as they are written with the id
    /// of its message, for beginnings of words and for misspelt ones.
    pub(super) fn of(&mut self, passage: &str, id: &str) -> (String, String) {
        let mut text = String::with_capacity(passage.len() + passage.len() / 4);
        let mut words = String::with_capacity(passage.len() + passage.len() / 4);
        let Self { cutter, stems } = self;
        let mut next = 0;
        cutter.cut(passage, |word| {
            words.push(char::from(NEXT));
            words.push_str(word.text);
            while next < word.position {
                text.push(GAP);
                next += 1;
            }
            match word.form {
                Form::Part => {
                    text.push(char::from(NEXT));
                    text.push_str(stems.of(word.text));
                    next += 1;
                }
                Form::Whole => {
                    let back = u8::try_from(next - word.position).unwrap_or(u8::MAX).min(127 - NOUGHT);
                    text.push(char::from(BACK));
                    text.push(char::from(NOUGHT + back));
                    text.push_str(word.text);
                }
            }
        });
        if !id.is_empty() {
            // Whole, for each part of each id would be a word of its own.
            words.push(char::from(NEXT));
            words.extend(id.chars().filter(|character| !character.is_control()).flat_map(char::to_lowercase));
        }
        (text, words)
    }

    /// The parts of a path as they are written.
    pub(super) fn of_path(&mut self, path: &str) -> String {
        let mut parts = String::with_capacity(path.len() + 8);
        self.cutter.cut(path, |word| {
            if word.form == Form::Part {
                parts.push(char::from(NEXT));
                parts.push_str(word.text);
            }
        });
        parts
    }
}

/// Takes apart what [`Terms`] made.
#[derive(Clone)]
pub(super) struct Terming;

impl Tokenizer for Terming {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        Stream { rest: text, next: 0, token: Token::default() }
    }
}

/// The terms of a string of them.
pub(super) struct Stream<'a> {
    rest: &'a str,
    /// Position of the next part.
    next: usize,
    token: Token,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let terms = self.rest.trim_start_matches(GAP);
        self.next += self.rest.len() - terms.len();
        self.rest = terms;
        let bytes = self.rest.as_bytes();
        let (term, back) = match bytes {
            [NEXT, ..] => (1, None),
            [BACK, back, ..] => (2, Some(usize::from(back.saturating_sub(NOUGHT)))),
            _ => return false,
        };
        let length = bytes[term..].iter().position(|byte| *byte <= GAP as u8).unwrap_or(bytes.len() - term);
        self.token.text.clear();
        self.token.text.push_str(&self.rest[term..term + length]);
        self.token.position = self.next.saturating_sub(back.unwrap_or(0));
        self.next += usize::from(back.is_none());
        self.rest = &self.rest[term + length..];
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
    use proptest::prelude::*;

    use super::*;

    fn shown(terms: &str) -> String {
        let mut terming = Terming;
        let mut stream = terming.token_stream(terms);
        let mut shown = Vec::new();
        while stream.advance() {
            shown.push(format!("{}{}", stream.token().text, stream.token().position));
        }
        shown.join(" ")
    }

    #[test]
    fn texts_become_stems_words_and_parts() {
        let mut terms = Terms::default();
        let (text, words) = terms.of("Running refreshTokens in a login.rs", "0A-7");
        assert_eq!(shown(&text), "run0 refreshtokens1 refresh1 token2 in3 a4 login5 rs6 login.rs5");
        assert_eq!(shown(&words), "running0 refreshtokens1 refresh2 tokens3 in4 a5 login6 rs7 login.rs8 0a-79");
        assert_eq!(shown(&terms.of_path("/src/refreshTokens.rs")), "src0 refresh1 tokens2 rs3");
    }

    #[test]
    fn an_id_of_whatever_characters_is_one_term() {
        let (_, words) = Terms::default().of("a", "x\u{2}é\u{1}Y");
        assert_eq!(shown(&words), "a0 xéy1");
    }

    proptest! {
        #[test]
        fn terms_stand_where_their_words_do(text in "(\\PC|[a-zA-Z_.\\-]|a.b.c.dE| |y{130}|\u{301}){0,80}") {
            let (mut stems, mut expected) = (Stems::default(), Vec::new());
            Cutter::default().cut(&text, |word| {
                let term = if word.form == Form::Part { stems.of(word.text) } else { word.text };
                expected.push(format!("{term}{}", word.position));
            });
            prop_assert_eq!(shown(&Terms::default().of(&text, "").0), expected.join(" "));
        }
    }
}
