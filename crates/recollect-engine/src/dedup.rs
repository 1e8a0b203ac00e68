//! What makes two messages the same: SHA-256 over conservatively normalised text (export-deduplication.md).
//!
//! Equal hashes mean "says the same", not "is byte for byte the same": what is stored is decided by the archive on bytes.
//! Timestamps in a text are not touched: two messages that differ in one may differ in what they report.

use std::borrow::Cow;
use std::fmt;

use sha2::{Digest, Sha256};

/// SHA-256 of a normalised text; hexadecimal when shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// The hash of a text, normalised first.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(normalise(text).as_bytes()).into())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A text without the differences that mean nothing: white space at its ends is cut, CRLF becomes LF, and a run of spaces
/// becomes one. Exactly what the document's script does, so that its hashes are ours; borrows when nothing changes.
pub fn normalise(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(is_white_space);
    let bytes = text.as_bytes();
    let Some(first) = memchr::memchr2_iter(b' ', b'\r', bytes).find(|at| is_dropped(bytes, *at)) else {
        return Cow::Borrowed(text);
    };
    let mut normalised = String::with_capacity(text.len());
    let mut kept = 0;
    for at in
        memchr::memchr2_iter(b' ', b'\r', &bytes[first..]).map(|at| first + at).filter(|at| is_dropped(bytes, *at))
    {
        normalised.push_str(&text[kept..at]);
        kept = at + 1;
    }
    normalised.push_str(&text[kept..]);
    Cow::Owned(normalised)
}

/// Whether the space or carriage return at a place goes: a space before a space, a carriage return before a line feed.
fn is_dropped(bytes: &[u8], at: usize) -> bool {
    let next = bytes.get(at + 1).copied();
    match bytes[at] {
        b' ' => next == Some(b' '),
        _ => next == Some(b'\n'),
    }
}

/// White space as the document's script sees it: Unicode's, and the four ASCII separators.
fn is_white_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn differences_that_mean_nothing_go_and_others_stay() {
        let cases = [
            ("  a  b \r\n c\u{a0} \n", "a b \n c"),
            ("a\rb", "a\rb"),
            ("a\t\tb\n\nc", "a\t\tb\n\nc"),
            ("A", "A"),
            ("\u{1c}a\u{2003}b\u{1f}", "a\u{2003}b"),
            (" \r\n ", ""),
            ("a\r\r\nb", "a\r\nb"),
        ];
        for (text, expected) in cases {
            assert_eq!(normalise(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_that_is_normal_is_not_copied() {
        assert!(matches!(normalise("\nplain text\nof two lines\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn hashes_are_those_of_the_documents_script() {
        // Each computed with the Python of export-deduplication.md.
        assert_eq!(
            ContentHash::of("  Hello   world\r\nnext  line \t").to_string(),
            "2171e9765d28e6968ae4e1ad043b6abdc39ebd708f53e574f9b3b062934a012a"
        );
        assert_eq!(ContentHash::of("").to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(
            ContentHash::of("Grüße,\u{a0} 世界  🙂\u{1d}").to_string(),
            "f5c62e0b14053e9577506e009b660b8b63e844643c0d8d1e2546b5ecf1937bf1"
        );
    }

    proptest! {
        #[test]
        fn normalising_is_what_three_replacements_do(text in "[a é\u{a0}\r\n\t]{0,40}") {
            let trimmed = text.trim_matches(is_white_space).replace("\r\n", "\n");
            let mut expected = String::new();
            for character in trimmed.chars() {
                if character != ' ' || !expected.ends_with(' ') {
                    expected.push(character);
                }
            }
            let normalised = normalise(&text).into_owned();
            prop_assert_eq!(&normalised, &expected);
        }
    }
}
