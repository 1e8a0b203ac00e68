//! What a model answered, as lines with the messages that each comes from. Nothing of it is believed: numbers of messages that
//! were not asked about are dropped, marks that were changed are put right, marks that were lost are put back.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// A line of a summary, or a mark between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// Words, with the places that they come from.
    Words {
        /// The words, in Markdown.
        text: String,
        /// Places of messages, in order; at least one.
        places: Vec<usize>,
    },
    /// A marked passage, by its place in the input.
    Keepit(usize),
}

/// Numbers of messages at the end of a line.
static SOURCES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:\s*\[\s*#?\d+(?:\s*(?:[-–—,;]|and|to)\s*#?\d+)*\s*\])+\s*[.;]?\s*$").ok());

/// One number, or a range of them.
static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\d+)(?:\s*(?:[-–—]|to)\s*#?(\d+))?").ok());

/// A mark, even when something was added to it.
static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"⟦\s*K(\d+)[^⟧\n]*⟧?").ok());

/// Reads an answer about the messages at `places`, which are those that say something, in order. `keepits` are the marked passages
/// of these messages, each with the place of its message.
pub(super) fn read(answer: &str, places: &[usize], keepits: &[(usize, usize)]) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    let mut found = BTreeSet::new();
    let mut heading = String::new();
    let body = answer.trim();
    let is_listed = body.lines().any(is_item);
    for line in body.lines() {
        let (line, marks) = without_marks(line);
        let trimmed = line.trim_end();
        let bare = trimmed.trim_start();
        let is_fence = bare.starts_with("```") || matches!(bare, "<summary>" | "</summary>" | "---" | "***");
        // Words before the first item, such as "Here is the summary:", are the model's own.
        let is_preamble =
            is_listed && said.is_empty() && heading.is_empty() && !is_item(trimmed) && !bare.starts_with('#');
        if bare.starts_with('#') {
            heading = format!("### {}", bare.trim_start_matches('#').trim());
        } else if !(bare.is_empty() || is_fence || is_preamble) {
            let (words, from) = sources(trimmed, places);
            if !words.trim().is_empty() {
                let words = indented(&words);
                let text =
                    if heading.is_empty() { words } else { format!("{}\n{words}", std::mem::take(&mut heading)) };
                let places = if from.is_empty() { places.to_vec() } else { from };
                said.push(Said::Words { text, places });
            }
        }
        for mark in marks {
            if keepits.iter().any(|(number, _)| *number == mark) && found.insert(mark) {
                said.push(Said::Keepit(mark));
            }
        }
    }
    put_back(&mut said, keepits, &found);
    said
}

/// Puts lost passages where their messages stand among the others.
fn put_back(said: &mut Vec<Said>, keepits: &[(usize, usize)], found: &BTreeSet<usize>) {
    let place_of = |said: &Said| match said {
        // A line that names all messages says nothing about where it belongs.
        Said::Words { places, .. } => places.first().copied(),
        Said::Keepit(number) => keepits.iter().find(|(keepit, _)| keepit == number).map(|(_, place)| *place),
    };
    for (number, place) in keepits {
        if !found.contains(number) {
            let after = said.iter().position(|said| place_of(said).is_some_and(|at| at > *place)).unwrap_or(said.len());
            said.insert(after, Said::Keepit(*number));
        }
    }
}

/// A line without marks, and the marks, by their places in the input.
fn without_marks(line: &str) -> (String, Vec<usize>) {
    let Some(shape) = MARK.as_ref() else { return (line.to_owned(), Vec::new()) };
    let number = |found: regex::Captures<'_>| found[1].parse::<usize>().ok()?.checked_sub(1);
    let marks: Vec<usize> = shape.captures_iter(line).filter_map(number).collect();
    if marks.is_empty() && !line.contains(['⟦', '⟧']) {
        return (line.to_owned(), marks);
    }
    let rest = shape.replace_all(line, "").replace(['⟦', '⟧'], "");
    // A bullet that held nothing but its mark and perhaps its number is gone with it.
    let only = rest.trim_matches(|character: char| !character.is_alphabetic());
    (if only.is_empty() { String::new() } else { rest }, marks)
}

/// The words of a line, and the places that the numbers at its end name.
fn sources(line: &str, places: &[usize]) -> (String, Vec<usize>) {
    let (Some(shape), Some(numbers)) = (SOURCES.as_ref(), NUMBERS.as_ref()) else {
        return (line.to_owned(), Vec::new());
    };
    let Some(found) = shape.find(line) else { return (line.to_owned(), Vec::new()) };
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return (line.to_owned(), Vec::new()) };
    let mut named = BTreeSet::new();
    for range in numbers.captures_iter(found.as_str()) {
        let number = |group: usize| range.get(group)?.as_str().parse::<usize>().ok()?.checked_sub(1);
        let Some(from) = number(1) else { continue };
        let to = if range.get(2).is_some() { number(2).unwrap_or(from) } else { from };
        let (from, to) = (from.max(*first), to.min(*last));
        named.extend(places.iter().copied().filter(|place| (from..=to).contains(place)));
    }
    (line[..found.start()].trim_end().to_owned(), named.into_iter().collect())
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ") || line.starts_with("* ") || line.starts_with("• ")
}

/// An item with `- `, set in by at most one step.
fn indented(line: &str) -> String {
    let bare = line.trim_start();
    let depth = line.len() - bare.len();
    match bare.strip_prefix("* ").or_else(|| bare.strip_prefix("• ")).or_else(|| bare.strip_prefix("- ")) {
        Some(item) if depth >= 2 => format!("  - {}", item.trim_start()),
        Some(item) => format!("- {}", item.trim_start()),
        None => bare.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str, places: &[usize]) -> Said {
        Said::Words { text: text.to_owned(), places: places.to_vec() }
    }

    #[test]
    fn each_line_names_the_messages_that_it_comes_from() {
        let answer = "Here is the summary:\n\n### Login\n- Asked to fix the login [11]\n* Cached the file [12-13, #15].\n  - detail [14]\n";
        assert_eq!(
            read(answer, &[10, 11, 12, 13, 14], &[]),
            [
                words("### Login\n- Asked to fix the login", &[10]),
                words("- Cached the file", &[11, 12, 14]),
                words("  - detail", &[13]),
            ]
        );
    }

    #[test]
    fn numbers_that_were_not_asked_about_are_not_believed() {
        let places = [4, 5, 7];
        assert_eq!(
            read("- one [1]\n- two [99]\n- three", &places, &[])[0],
            words("- one", &places),
            "before the chunk"
        );
        assert_eq!(read("- two [6, 99]", &places, &[]), [words("- two", &[5])], "99 is dropped, 6 is the message at 5");
        assert_eq!(read("- three", &places, &[]), [words("- three", &places)], "the chunk's range");
        assert_eq!(read("- all [1-1000]", &places, &[]), [words("- all", &places)]);
        assert_eq!(read("- array[3] is empty", &places, &[])[0], words("- array[3] is empty", &places), "no source");
    }

    #[test]
    fn marks_stand_once_whatever_the_model_did_to_them() {
        let keepits = [(0, 2), (1, 4), (2, 9)];
        let answer = "- first [3]\n⟦K2⟧\n- second ⟦K1: never store passwords⟧ [6]\n⟦K2⟧\n⟦K77⟧\n- third [9]";
        assert_eq!(
            read(answer, &[2, 4, 5, 8, 9], &keepits),
            [
                words("- first", &[2]),
                Said::Keepit(1),
                words("- second", &[5]),
                Said::Keepit(0),
                words("- third", &[8]),
                Said::Keepit(2),
            ]
        );
        assert_eq!(read("", &[2, 4, 9], &keepits), [Said::Keepit(0), Said::Keepit(1), Said::Keepit(2)], "put back");
    }

    #[test]
    fn a_lost_passage_stands_where_its_message_does() {
        let said = read("- first [3]\n- last [10]", &[2, 4, 9], &[(1, 4)]);
        assert_eq!(said, [words("- first", &[2]), Said::Keepit(1), words("- last", &[9])]);
    }

    proptest! {
        #[test]
        fn whatever_is_answered_all_passages_are_there_once(answer in "(\\PC|\n|⟦K[0-9]⟧|- |\\[[0-9]\\]){0,60}") {
            let keepits = [(0, 1), (3, 5), (4, 5)];
            let places = [1, 2, 5];
            let said = read(&answer, &places, &keepits);
            for (number, _) in keepits {
                prop_assert_eq!(said.iter().filter(|said| **said == Said::Keepit(number)).count(), 1);
            }
            for line in said {
                if let Said::Words { text, places: from } = line {
                    prop_assert!(!text.contains('⟦') && !from.is_empty());
                    prop_assert!(from.iter().all(|place| places.contains(place)));
                }
            }
        }
    }
}
