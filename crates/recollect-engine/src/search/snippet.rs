//! The part of a passage that shows why it was found, with the places of the words.

use std::collections::HashSet;
use std::ops::Range;

use super::words::{Cutter, Form, Stems};

/// Characters of a snippet.
const LENGTH: usize = 240;

/// Characters before the first word that is shown.
const BEFORE: usize = 40;

/// What a query looks for, as words are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Sought {
    /// Stems of parts.
    pub(super) stems: HashSet<String>,
    /// Words as they are written, in lower case.
    pub(super) words: HashSet<String>,
    /// Phrases: stems that stand one after the other.
    pub(super) phrases: Vec<Vec<String>>,
}

/// A snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snippet {
    /// One line of text.
    pub(super) text: String,
    /// Characters of it that were looked for: first, and one past the last.
    pub(super) highlights: Vec<(u32, u32)>,
}

/// The best stretch of a text.
pub(super) fn snippet(text: &str, sought: &Sought, stems: &mut Stems) -> Snippet {
    let found = places(text, sought, stems);
    let window = best_window(text, &found);
    line(text, window, &found)
}

/// Bytes of the text that were looked for, in order, apart.
fn places(text: &str, sought: &Sought, stems: &mut Stems) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut parts: Vec<(String, Range<usize>)> = Vec::new();
    Cutter::default().cut(text, |word| {
        let is_sought = match word.form {
            Form::Part => {
                let stem = stems.of(word.text);
                let is_sought = sought.stems.contains(stem);
                if !sought.phrases.is_empty() {
                    parts.push((stem.to_owned(), word.place.clone()));
                }
                is_sought || sought.words.contains(word.text)
            }
            Form::Whole => sought.words.contains(word.text),
        };
        if is_sought {
            found.push(word.place);
        }
    });
    for phrase in sought.phrases.iter().filter(|phrase| !phrase.is_empty()) {
        for window in parts.windows(phrase.len()) {
            if window.iter().zip(phrase).all(|((stem, _), wanted)| stem == wanted) {
                found.push(window[0].1.start..window[window.len() - 1].1.end);
            }
        }
    }
    found.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for place in found {
        match apart.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => apart.push(place),
        }
    }
    apart
}

/// Where to begin so that the most different words are seen; the beginning when there are none.
fn best_window(text: &str, found: &[Range<usize>]) -> Range<usize> {
    let reach = |start: usize| {
        let end = found.iter().take_while(|place| place.end <= start + LENGTH - BEFORE).count();
        let first = found.partition_point(|place| place.start < start);
        let different: HashSet<String> =
            found[first..end.max(first)].iter().map(|place| text[place.clone()].to_lowercase()).collect();
        different.len()
    };
    let best = found.iter().map(|place| place.start).max_by_key(|start| (reach(*start), std::cmp::Reverse(*start)));
    let start = best.map_or(0, |best| {
        let from = text.floor_char_boundary(best.saturating_sub(BEFORE));
        // Begins with a line when one begins near, else with a word.
        let lead = &text[from..best];
        match (lead.rfind('\n'), lead.find(' ')) {
            _ if from == 0 => 0,
            (Some(line), _) => from + line + 1,
            (None, Some(space)) => from + space + 1,
            (None, None) => from,
        }
    });
    let end = text[start..].char_indices().nth(LENGTH).map_or(text.len(), |(at, _)| start + at);
    // A word is not torn, unless it is very long.
    let end = match text[start..end].rfind(char::is_whitespace) {
        Some(space) if end < text.len() && space > LENGTH / 2 => start + space,
        _ => end,
    };
    start..end
}

/// The window as one line: white space and control characters become single spaces; places move along.
fn line(text: &str, window: Range<usize>, found: &[Range<usize>]) -> Snippet {
    let mut shown = String::new();
    let mut count = 0_u32;
    let mut highlights: Vec<(u32, u32)> = Vec::new();
    if window.start > 0 {
        shown.push('…');
        count = 1;
    }
    let mut places = found.iter().filter(|place| place.end > window.start && place.start < window.end).peekable();
    let mut open = None;
    for (at, character) in text[window.clone()].char_indices() {
        let at = window.start + at;
        if let Some(place) = places.peek() {
            if open.is_none() && at >= place.start {
                open = Some(count);
            }
            if at >= place.end {
                highlights.extend(open.take().map(|start| (start, count)));
                places.next();
                if places.peek().is_some_and(|next| at >= next.start) {
                    open = Some(count);
                }
            }
        }
        if character.is_whitespace() || character.is_control() {
            if !shown.ends_with(' ') && !shown.is_empty() && shown != "…" {
                shown.push(' ');
                count += 1;
            }
        } else {
            shown.push(character);
            count += 1;
        }
    }
    highlights.extend(open.map(|start| (start, count)));
    let trimmed = shown.trim_end().len();
    shown.truncate(trimmed);
    let length = u32::try_from(shown.chars().count()).unwrap_or(u32::MAX);
    for highlight in &mut highlights {
        highlight.1 = highlight.1.min(length);
    }
    highlights.retain(|(start, end)| start < end);
    if window.end < text.trim_end().len() {
        shown.push('…');
    }
    Snippet { text: shown, highlights }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sought(stems: &[&str], words: &[&str], phrases: &[&[&str]]) -> Sought {
        let owned = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<HashSet<_>>();
        Sought {
            stems: owned(stems),
            words: owned(words),
            phrases: phrases.iter().map(|phrase| phrase.iter().map(|word| (*word).to_owned()).collect()).collect(),
        }
    }

    /// The snippet with its highlights in brackets.
    fn shown(text: &str, sought: &Sought) -> String {
        let Snippet { text, highlights } = snippet(text, sought, &mut Stems::default());
        let mut shown = String::new();
        for (at, character) in text.chars().enumerate() {
            let at = u32::try_from(at).expect("short");
            if highlights.iter().any(|(_, end)| *end == at) {
                shown.push(']');
            }
            if highlights.iter().any(|(start, _)| *start == at) {
                shown.push('[');
            }
            shown.push(character);
        }
        if highlights.iter().any(|(_, end)| *end as usize == text.chars().count()) {
            shown.push(']');
        }
        shown
    }

    #[test]
    fn words_are_found_in_every_form() {
        let sought = sought(&["refresh", "token"], &["login.rs"], &[]);
        assert_eq!(
            shown("The refreshes of\n\tÜ-tokens in src/login.rs, refreshToken()", &sought),
            "The [refreshes] of Ü-[tokens] in src/[login.rs], [refreshToken]()"
        );
    }

    #[test]
    fn the_stretch_with_most_of_the_words_is_shown() {
        let text =
            format!("a token here. {}\nThe token is refreshed twice. {}", "filler ".repeat(100), "end ".repeat(90));
        let snippet = shown(&text, &sought(&["refresh", "token"], &[], &[]));
        assert!(snippet.starts_with("…The [token] is [refreshed] twice."), "{snippet}");
        assert!(snippet.ends_with('…'), "{snippet}");
    }

    #[test]
    fn a_phrase_is_one_highlight() {
        let sought = sought(&[], &[], &[&["token", "race"]]);
        assert_eq!(shown("token; a token race, tokens", &sought), "token; a [token race], tokens");
    }

    #[test]
    fn without_words_the_beginning_is_shown() {
        assert_eq!(shown("  Nothing  sought. ", &sought(&["else"], &[], &[])), "Nothing sought.");
    }

    proptest! {
        #[test]
        fn highlights_lie_within_the_snippet_in_order(text in "(token|ré|\n| |\\.|長い|refreshToken){0,120}") {
            let snippet = snippet(&text, &sought(&["token", "refresh"], &[], &[]), &mut Stems::default());
            let length = snippet.text.chars().count() as u32;
            let mut last = 0;
            for (start, end) in snippet.highlights {
                prop_assert!(start >= last && start < end && end <= length);
                last = end;
            }
        }
    }
}
