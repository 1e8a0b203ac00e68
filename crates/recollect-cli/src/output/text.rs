//! Makes text harmless for a terminal: what transcripts and file names hold must not move the cursor, change colours,
//! set titles or turn the order of letters around.

use std::borrow::Cow;

/// Text of several lines with each control character shown instead of obeyed.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    harmless(text, |character| matches!(character, '\n' | '\t'))
}

/// Text as one line.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\t']) {
        let words: Vec<&str> = text.split_whitespace().collect();
        return Cow::Owned(harmless(&words.join(" "), |_| false).into_owned());
    }
    harmless(text, |_| false)
}

fn harmless(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_harmful = |character: char| (character.is_control() && !is_kept(character)) || is_reordering(character);
    // A carriage return before a line's end is how some tools end lines; it says nothing.
    let text = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
    if !text.contains(is_harmful) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            harmful if !is_harmful(harmful) => shown.push(harmful),
            '\0'..='\x1f' => shown.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('�')),
            '\x7f' => shown.push('␡'),
            _ => shown.extend(character.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// Marks that override the direction of writing, by which text can look like other text.
fn is_reordering(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first lines of a long text, and how many more there are.
pub(crate) fn head(text: &str, most: usize) -> (String, usize) {
    let all: Vec<&str> = text.lines().collect();
    let shown = if all.len() > most + 1 { most } else { all.len() };
    (all[..shown].join("\n"), all.len() - shown)
}

#[cfg(test)]
mod tests {
    use super::{head, line, lines};

    #[test]
    fn escape_sequences_are_shown_not_obeyed() {
        assert_eq!(lines("a\x1b[31mred\x07\tb\n"), "a␛[31mred␇\tb\n");
        assert_eq!(lines("\u{9b}2J"), "\\u{9b}2J", "the one-character form of the same sequence");
        assert_eq!(lines("user\u{202e}gpj.exe"), "user\\u{202e}gpj.exe");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in ["", "naïve 日本 🎉\n\tindented", "no line end"] {
            assert_eq!(lines(text), text);
        }
        assert_eq!(lines("windows\r\nlines\r"), "windows\nlines␍", "only a return that overwrites is shown");
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(line("a\n  b\tc\x1b"), "a b c␛");
    }

    #[test]
    fn a_single_hidden_line_is_not_worth_hiding() {
        assert_eq!(head("1\n2\n3", 2), ("1\n2\n3".to_owned(), 0));
        assert_eq!(head("1\n2\n3\n4", 2), ("1\n2".to_owned(), 2));
    }
}
