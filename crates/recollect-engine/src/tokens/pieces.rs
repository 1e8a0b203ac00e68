//! Splits a text as the pattern of `o200k` does.
//!
//! The pattern as a regular expression takes three times as long as all else that counting does. Of ASCII, which is nearly
//! all of a transcript, its alternatives can be told apart by the class of a byte; a piece that touches anything else is
//! left to the tokenizer's own expression. That both always agree is a test.

use bpe_openai::Tokenizer;

/// The pieces of a text, in order; together they are the text.
pub(super) struct Pieces<'a> {
    tokenizer: &'static Tokenizer,
    rest: &'a str,
}

impl<'a> Pieces<'a> {
    pub(super) const fn of(tokenizer: &'static Tokenizer, text: &'a str) -> Self {
        Self { tokenizer, rest: text }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = match ascii_piece(self.rest.as_bytes()) {
            Some(end) => end,
            None => self.tokenizer.split(self.rest).next()?.len(),
        };
        let (piece, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(piece)
    }
}

/// What a byte is to the pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    /// Carriage return or line feed.
    Break,
    /// Other white space.
    Space,
    /// Anything else of ASCII.
    Sign,
    /// Part of a character that is not ASCII.
    Other,
}

/// The class of each byte.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Sign; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte {
            0x41..=0x5a => Class::Upper,
            0x61..=0x7a => Class::Lower,
            0x30..=0x39 => Class::Digit,
            0x0a | 0x0d => Class::Break,
            0x09 | 0x0b | 0x0c | 0x20 => Class::Space,
            0x80.. => Class::Other,
            _ => Class::Sign,
        };
        byte += 1;
    }
    classes
};

/// The end of the piece at the start of a text; none when characters beyond ASCII decide on it.
fn ascii_piece(bytes: &[u8]) -> Option<usize> {
    let class = |at: usize| bytes.get(at).map(|byte| CLASSES[usize::from(*byte)]);
    match (class(0)?, class(1)) {
        (Class::Other, _) => None,
        (Class::Upper | Class::Lower, _) => word(bytes, 0),
        (Class::Digit, _) => digits(bytes),
        // One character that is neither letter, digit nor break goes with the word after it.
        (Class::Space | Class::Sign, Some(Class::Upper | Class::Lower)) => word(bytes, 1),
        (Class::Space | Class::Sign, Some(Class::Other)) => None,
        (Class::Sign, _) => signs(bytes, 1),
        (Class::Space, Some(Class::Sign)) if bytes.first() == Some(&b' ') => signs(bytes, 2),
        (Class::Space | Class::Break, _) => space(bytes),
    }
}

/// Up to three digits.
fn digits(bytes: &[u8]) -> Option<usize> {
    let end = run(&bytes[..bytes.len().min(3)], 0, |class| class == Class::Digit);
    if end == 3 { Some(end) } else { ascii_after(bytes, end) }
}

/// Upper-case letters, then lower-case ones, then an English contraction.
fn word(bytes: &[u8], from: usize) -> Option<usize> {
    let upper = run(bytes, from, |class| class == Class::Upper);
    let end = ascii_after(bytes, run(bytes, upper, |class| class == Class::Lower))?;
    if bytes.get(end) != Some(&b'\'') {
        return Some(end);
    }
    let letter = |at: usize| bytes.get(end + at).map(u8::to_ascii_lowercase);
    match (letter(1), letter(2)) {
        (Some(b's' | b't' | b'm' | b'd'), _) => Some(end + 2),
        (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => Some(end + 3),
        // `ſ` is an s to a pattern that does not mind case.
        (Some(0x80..), _) | (_, Some(0x80..)) => None,
        _ => Some(end),
    }
}

/// Signs, then breaks and slashes.
fn signs(bytes: &[u8], from: usize) -> Option<usize> {
    let end = ascii_after(bytes, run(bytes, from, |class| class == Class::Sign))?;
    let trailing = |byte: &u8| matches!(byte, b'\r' | b'\n' | b'/');
    Some(bytes[end..].iter().position(|byte| !trailing(byte)).map_or(bytes.len(), |length| end + length))
}

/// White space to its last break; else all at the end of the text; else all but the last, which goes with what follows.
fn space(bytes: &[u8]) -> Option<usize> {
    let end = ascii_after(bytes, run(bytes, 0, |class| matches!(class, Class::Space | Class::Break)))?;
    if let Some(last) = bytes[..end].iter().rposition(|byte| matches!(byte, b'\r' | b'\n')) {
        return Some(last + 1);
    }
    Some(if end == bytes.len() || end == 1 { end } else { end - 1 })
}

/// Where the bytes of some classes end.
fn run(bytes: &[u8], from: usize, wanted: impl Fn(Class) -> bool) -> usize {
    let length = bytes[from..].iter().position(|byte| !wanted(CLASSES[usize::from(*byte)]));
    length.map_or(bytes.len(), |length| from + length)
}

/// The place itself, unless a character that is not ASCII stands there: it might belong to what was read.
fn ascii_after(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at).is_none_or(u8::is_ascii).then_some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_agrees(text: &str) {
        let tokenizer = bpe_openai::o200k_base();
        let ours: Vec<&str> = Pieces::of(tokenizer, text).collect();
        let theirs: Vec<&str> = tokenizer.split(text).collect();
        assert_eq!(ours, theirs, "{text:?}");
    }

    #[test]
    fn every_short_text_of_telling_bytes_is_split_as_the_pattern_splits_it() {
        let telling = ["a", "B", "s", "7", " ", "\t", "\n", "'", "/", ".", "é", "ſ", "\u{a0}", "\u{301}"];
        for first in telling {
            for second in telling {
                for third in telling {
                    for fourth in telling {
                        assert_agrees(&[first, second, third, fourth].concat());
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_text_is_split_as_the_pattern_splits_it(
            text in prop_oneof![
                "[aBsStTlLvVrReEdm'79 \t\n\r/.,(\u{0}\u{b}\u{c}\u{1f}\u{7f}-]{0,60}",
                "[aB's9 \n/.éſÉ\u{85}\u{a0}\u{2028}\u{301}ǅʰ漢٣🙂]{0,40}",
                "\\PC{0,60}",
                "(?s).{0,40}",
            ]
        ) {
            assert_agrees(&text);
        }
    }
}
