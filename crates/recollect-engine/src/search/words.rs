//! Cuts text into words to search by: prose, identifiers with their parts, paths, ids, and scripts without spaces.
//!
//! Index and query go through the same cutting, so that what is found is what was meant. A *run* is word characters with
//! single joints (`-`, `.`) between them; it holds identifiers, which hold parts (`camelCase`, `snake_case`). Parts carry the
//! positions that phrases count; a whole identifier or run stands beside its first part. Most of every text is small ASCII
//! letters between spaces, and cut without looking at each character.

use std::collections::HashMap;
use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// Bytes of the longest word; longer ones are encoded data, which nobody types.
const LONGEST: usize = 128;

/// Stems that are remembered.
const MOST_STEMS: usize = 1 << 16;

/// Parts of the longest identifier that is cut; what has more is not a name.
const MOST_PARTS: usize = 12;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A word of prose, a part of an identifier, or two neighbouring characters of a script without spaces.
    Part,
    /// An identifier or a run of several parts, as it is written.
    Whole,
}

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// What it is.
    pub(super) form: Form,
    /// Lower case, without accents.
    pub(super) text: &'a str,
    /// Its bytes in the text.
    pub(super) place: Range<usize>,
    /// Counts parts, from 0.
    pub(super) position: usize,
}

/// Cuts texts; holds what would be made anew for each.
#[derive(Debug, Clone, Default)]
pub(super) struct Cutter {
    folded: String,
}

/// Stems of words; those that were asked for before are remembered, for the same words come again and again.
pub(super) struct Stems {
    stemmer: Stemmer,
    known: HashMap<String, String>,
}

impl Default for Stems {
    fn default() -> Self {
        Self { stemmer: Stemmer::new(Algorithm::English), known: HashMap::new() }
    }
}

impl Stems {
    /// The stem of a part: of English words only, for others would lose what tells them apart.
    pub(super) fn of<'w>(&'w mut self, part: &'w str) -> &'w str {
        if part.len() < 3 || !part.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return part;
        }
        if !self.known.contains_key(part) {
            if self.known.len() >= MOST_STEMS {
                self.known.clear();
            }
            self.known.insert(part.to_owned(), self.stemmer.stem(part).into_owned());
        }
        self.known.get(part).map_or(part, String::as_str)
    }
}

impl Cutter {
    /// Gives every word of a text in order.
    pub(super) fn cut(&mut self, text: &str, mut found: impl FnMut(Word<'_>)) {
        let mut position = 0;
        let mut at = 0;
        while let Some(start) = next_word(text, at) {
            let character = text[start..].chars().next().unwrap_or(' ');
            let end = if is_spaceless(character) { end_of_spaceless(text, start) } else { end_of_run(text, start) };
            if is_spaceless(character) {
                self.pairs(text, start..end, &mut position, &mut found);
            } else {
                self.run(text, start..end, &mut position, &mut found);
            }
            at = end;
        }
    }

    fn run(&mut self, text: &str, run: Range<usize>, position: &mut usize, found: &mut impl FnMut(Word<'_>)) {
        if text.as_bytes()[run.clone()].iter().all(|byte| byte.is_ascii_lowercase()) {
            self.emit(Form::Part, text, run, *position, found);
            *position += 1;
            return;
        }
        let first = *position;
        let mut identifiers = 0;
        let mut start = run.start;
        for joint in text[run.clone()].char_indices().filter(|(_, character)| is_joint(*character)) {
            let end = run.start + joint.0;
            self.identifier(text, start..end, position, found);
            identifiers += 1;
            start = end + joint.1.len_utf8();
        }
        // What follows an apostrophe is an ending: `Ada's`, `don't`.
        let is_ending =
            start > run.start && text[..start].ends_with(['\'', '’']) && text[start..run.end].chars().count() <= 2;
        if !is_ending {
            self.identifier(text, start..run.end, position, found);
            identifiers += 1;
        }
        let whole = &text[run.clone()];
        if identifiers > 1 && !whole.contains(['\'', '’']) && *position > first {
            self.emit(Form::Whole, text, run, first, found);
        }
    }

    fn identifier(
        &mut self,
        text: &str,
        identifier: Range<usize>,
        position: &mut usize,
        found: &mut impl FnMut(Word<'_>),
    ) {
        let first = *position;
        let parts = parts(&text[identifier.clone()]);
        if parts.len() > MOST_PARTS {
            self.emit(Form::Part, text, identifier, first, found);
            *position += 1;
            return;
        }
        if let ([head, .., last], offset) = (parts.as_slice(), identifier.start) {
            self.emit(Form::Whole, text, offset + head.start..offset + last.end, first, found);
        }
        for part in parts {
            let place = identifier.start + part.start..identifier.start + part.end;
            self.emit(Form::Part, text, place, *position, found);
            *position += 1;
        }
    }

    fn pairs(&mut self, text: &str, stretch: Range<usize>, position: &mut usize, found: &mut impl FnMut(Word<'_>)) {
        let places: Vec<usize> =
            text[stretch.clone()].char_indices().map(|(at, _)| stretch.start + at).chain([stretch.end]).collect();
        if let [start, end] = places.as_slice() {
            self.emit(Form::Part, text, *start..*end, *position, found);
            *position += 1;
        }
        for pair in places.windows(3) {
            self.emit(Form::Part, text, pair[0]..pair[2], *position, found);
            *position += 1;
        }
    }

    fn emit(&mut self, form: Form, text: &str, place: Range<usize>, position: usize, found: &mut impl FnMut(Word<'_>)) {
        let written = &text[place.clone()];
        if written.len() > LONGEST || written.is_empty() {
            return;
        }
        fold(written, &mut self.folded);
        if !self.folded.is_empty() {
            found(Word { form, text: &self.folded, place, position });
        }
    }
}

/// Lower case, without accents and with the forms of compatibility made one.
fn fold(written: &str, folded: &mut String) {
    folded.clear();
    if written.is_ascii() {
        folded.push_str(written);
        folded.make_ascii_lowercase();
        return;
    }
    let bare = written.nfkd().filter(|character| !('\u{300}'..='\u{36f}').contains(character));
    folded.extend(bare.nfc().flat_map(char::to_lowercase));
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || ('\u{300}'..='\u{36f}').contains(&character)
}

fn is_joint(character: char) -> bool {
    matches!(character, '-' | '.' | '\'' | '’')
}

/// Scripts that put no space between words.
fn is_spaceless(character: char) -> bool {
    matches!(u32::from(character),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x1100..=0x11ff | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3130..=0x318f
        | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff
        | 0xff66..=0xffdc | 0x20000..=0x3ffff)
}

fn next_word(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        if is_word_byte(*byte) {
            return Some(at);
        }
        if !byte.is_ascii() {
            let character = text[at..].chars().next()?;
            if is_word(character) {
                return Some(at);
            }
            at += character.len_utf8();
        } else {
            at += 1;
        }
    }
    None
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn end_of_spaceless(text: &str, start: usize) -> usize {
    text[start..].find(|character| !is_spaceless(character) || !is_word(character)).map_or(text.len(), |at| start + at)
}

/// One past a run: word characters, and single joints between two of them.
fn end_of_run(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        while bytes.get(at).is_some_and(|byte| is_word_byte(*byte)) {
            at += 1;
        }
        let mut characters = text[at..].chars();
        let Some(character) = characters.next() else { return at };
        let goes_on = !is_spaceless(character)
            && (is_word(character)
                || (is_joint(character) && characters.next().is_some_and(|next| is_word(next) && !is_spaceless(next))));
        if !goes_on {
            return at;
        }
        at += character.len_utf8();
    }
}

/// The parts of an identifier: between underscores, at each change to a capital, and before the last capital of several.
fn parts(identifier: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = None;
    let mut before = ' ';
    let mut characters = identifier.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '_' {
            parts.extend(start.take().map(|start| start..at));
        } else if let Some(open) = start {
            let next_is_small = characters.peek().is_some_and(|(_, next)| next.is_lowercase());
            let is_turn =
                character.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small));
            if is_turn {
                parts.push(open..at);
                start = Some(at);
            }
        } else {
            start = Some(at);
        }
        before = character;
    }
    parts.extend(start.map(|start| start..identifier.len()));
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words with their positions, wholes in brackets.
    fn cut(text: &str) -> String {
        let mut shown = Vec::new();
        Cutter::default().cut(text, |word| {
            let position = word.position;
            shown.push(match word.form {
                Form::Part => format!("{}{position}", word.text),
                Form::Whole => format!("[{}]{position}", word.text),
            });
        });
        shown.join(" ")
    }

    #[test]
    fn words_identifiers_and_their_parts_are_found() {
        let cases = [
            ("Fix the login.", "fix0 the1 login2"),
            ("parseConfigFile()", "[parseconfigfile]0 parse0 config1 file2"),
            ("HTTPServer2 utf8", "[httpserver2]0 http0 server21 utf82"),
            ("a refresh_token here", "a0 [refresh_token]1 refresh1 token2 here3"),
            ("src/auth/login.rs:42", "src0 auth1 login2 rs3 [login.rs]2 424"),
            (r"C:\Users\ada", "c0 users1 ada2"),
            ("this.tokenStore.get", "this0 [tokenstore]1 token1 store2 get3 [this.tokenstore.get]0"),
            ("__init__ --dry-run", "init0 dry1 run2 [dry-run]1"),
            ("Ada's don't rock'n'roll", "ada0 don1 rock2 n3 roll4"),
            ("v2.1.100", "v20 11 1002 [v2.1.100]0"),
            (
                "7c41e0b2-0000-4000-8000-000000000001",
                "7c41e0b20 00001 40002 80003 0000000000014 [7c41e0b2-0000-4000-8000-000000000001]0",
            ),
            ("Größe naïve ﬁne", "große0 naive1 fine2"),
            ("検索する", "検索0 索す1 する2"),
            ("漢 a검색b", "漢0 a1 검색2 b3"),
            ("", ""),
            (" … !", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn stems_are_of_english_words_only() {
        let mut stems = Stems::default();
        for (word, stem) in [("running", "run"), ("tokens", "token"), ("abc1234ed", "abc1234ed"), ("große", "große")]
        {
            assert_eq!(stems.of(word), stem);
            assert_eq!(stems.of(word), stem, "remembered");
        }
    }

    #[test]
    fn encoded_data_is_no_word() {
        assert_eq!(cut(&format!("a {} b", "Zm9vYmFy".repeat(100))), "a0 b2");
    }

    proptest! {
        #[test]
        fn places_are_within_the_text_and_positions_never_fall(text in "\\PC{0,60}") {
            let mut last = 0;
            Cutter::default().cut(&text, |word| {
                assert!(text.get(word.place.clone()).is_some_and(|written| !written.is_empty()));
                if word.form == Form::Part {
                    assert!(word.position >= last);
                    last = word.position;
                }
            });
        }
    }
}
