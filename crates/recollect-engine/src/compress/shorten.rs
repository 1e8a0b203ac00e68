//! Takes off a sentence what says nothing: interjections at its beginning, marks of emphasis, runs of blanks.
//!
//! Only what no reader would miss: a "yes" or a "no" stays, and so does all that stands in backticks.

use std::borrow::Cow;

/// Words that open a sentence without saying anything, when a comma follows.
const INTERJECTIONS: &[&str] = &[
    "ah",
    "anyway",
    "anyways",
    "aw",
    "basically",
    "haha",
    "hello",
    "hey",
    "hi",
    "hm",
    "hmm",
    "honestly",
    "oh",
    "okay so",
    "so",
    "uh",
    "um",
    "well",
    "whoa",
    "wow",
];

/// Words that have to be left.
const LEAST_WORDS: usize = 4;

/// The sentence without them.
pub(super) fn shorten(sentence: &str) -> Cow<'_, str> {
    let mut rest = sentence;
    let mut cut = false;
    while let Some(after) = without_interjection(rest) {
        rest = after;
        cut = true;
    }
    let short = without_emphasis(rest);
    if !cut {
        return short;
    }
    let mut letters = short.chars();
    Cow::Owned(letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect()))
}

fn without_interjection(sentence: &str) -> Option<&str> {
    let (word, rest) = sentence.split_once(',')?;
    let word = word.trim();
    let rest = rest.strip_prefix(' ')?;
    let is_one = INTERJECTIONS.iter().any(|known| word.eq_ignore_ascii_case(known));
    (is_one && rest.split_whitespace().count() >= LEAST_WORDS).then_some(rest)
}

/// Without `**` and `__` around words; what stands in backticks is as it was.
fn without_emphasis(sentence: &str) -> Cow<'_, str> {
    if !sentence.contains("**") {
        return Cow::Borrowed(sentence);
    }
    let mut plain = String::with_capacity(sentence.len());
    for (at, part) in sentence.split('`').enumerate() {
        if at > 0 {
            plain.push('`');
        }
        if at % 2 == 1 {
            plain.push_str(part);
            continue;
        }
        let mut rest = part;
        while let Some((before, inner, after)) = emphasised(rest) {
            plain.push_str(before);
            plain.push_str(inner);
            rest = after;
        }
        plain.push_str(rest);
    }
    Cow::Owned(plain)
}

/// The first words between two pairs of asterisks: what stands before, between and after them.
fn emphasised(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("**")?;
    let (inner, after) = rest.split_once("**")?;
    let tight = !inner.is_empty()
        && !inner.starts_with(|character: char| character.is_whitespace() || matches!(character, '/' | '*'))
        && !inner.ends_with(char::is_whitespace)
        && !before.ends_with(|character: char| character.is_alphanumeric() || matches!(character, '/' | '*'))
        && !after.starts_with(|character: char| character.is_alphanumeric() || matches!(character, '/' | '*'));
    tight.then_some((before, inner, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_a_sentence_and_says_nothing_goes() {
        assert_eq!(shorten("Oh, well, the cache was never emptied."), "The cache was never emptied.");
        assert_eq!(shorten("So, we show it there as well."), "We show it there as well.");
        for stays in
            ["Yes, use the other one.", "No, not that one there.", "Well, done.", "Oh well", "Hey you, stop that now"]
        {
            assert_eq!(shorten(stays), stays);
        }
    }

    #[test]
    fn emphasis_goes_and_code_stays() {
        assert_eq!(shorten("**Root cause**: the lock is **never** let go."), "Root cause: the lock is never let go.");
        for stays in ["`**kwargs` and `a**b`", "src/**/*.rs and tests/**/*.rs", "2**3 is 8**1", "a ** b ** c", "**open"]
        {
            assert_eq!(shorten(stays), stays);
        }
    }
}
