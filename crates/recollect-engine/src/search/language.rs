//! What a person types into the search field, read into clauses and filters; nothing that is typed is an error.
//!
//! `words` are wished for, `"several words"` must stand together, `+word` must be there, `-word` must not, `begin*` is the
//! beginning of a word, `field:value` filters. What looks like a filter and is none (`std::env`, `role:cook`) is words.

use super::Kind;
use crate::session::Role;

/// Whether a clause is a wish or a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Ranks higher what has it.
    May,
    /// Only what has it.
    Must,
    /// Only what has it not.
    Not,
}

/// What a clause is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A word, or several that were written without a space.
    Word(String),
    /// The beginning of a word.
    Beginning(String),
    /// Words that stand together.
    Phrase(String),
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    /// Wish or condition.
    pub(super) want: Want,
    /// About what.
    pub(super) what: What,
}

/// What a filter looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    /// Id, path or name of the project.
    Project(String),
    /// The session's branch, or its beginning with `*`.
    Branch(String),
    /// Who speaks.
    Role(Role),
    /// A path, or the end of one.
    File(String),
    /// A session's id, or the beginning of one.
    Session(String),
    /// What a passage is.
    Kind(Vec<Kind>),
    /// Not before.
    Since(String),
    /// Not after.
    Until(String),
    /// Marked, with at least this weight in hundredths.
    Keepit(u8),
    /// What the session is about.
    Topic(String),
}

/// A filter that stands in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter {
    /// Only what it does not match.
    pub(super) not: bool,
    /// What it looks at.
    pub(super) field: Field,
    /// As it was typed.
    pub(super) typed: String,
}

/// A query, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// What is looked for.
    pub(super) clauses: Vec<Clause>,
    /// Within what.
    pub(super) filters: Vec<Filter>,
}

/// Reads a query. With `typing` the last word is still being typed and may be the beginning of a longer one.
pub(super) fn read(text: &str, typing: bool) -> Query {
    let mut query = Query::default();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        rest = clause(rest, &mut query).trim_start();
    }
    let is_open = typing && text.chars().next_back().is_some_and(|last| last.is_alphanumeric() || last == '_');
    if is_open
        && let Some(Clause { want: Want::May, what }) = query.clauses.last_mut()
        && let What::Word(word) = what
    {
        *what = What::Beginning(word.clone());
    }
    query
}

/// Takes one clause off the beginning; gives what follows it.
fn clause<'t>(text: &'t str, query: &mut Query) -> &'t str {
    let (want, body) = match text.chars().next() {
        Some('-') if starts_something(&text[1..]) => (Want::Not, &text[1..]),
        Some('+') if starts_something(&text[1..]) => (Want::Must, &text[1..]),
        _ => (Want::May, text),
    };
    if let Some((phrase, rest)) = quoted(body) {
        if has_word(phrase) {
            let want = if want == Want::Not { Want::Not } else { Want::Must };
            query.clauses.push(Clause { want, what: What::Phrase(phrase.to_owned()) });
        }
        return rest;
    }
    if let Some((name, value)) = body.split_once(':')
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_')
        && !value.is_empty()
        && !value.starts_with([':', ' '])
        && !value.starts_with("//")
    {
        let (value, rest) = quoted(value).unwrap_or_else(|| word(value));
        let typed = text[..text.len() - rest.len()].trim_end().to_owned();
        if let Some(field) = field(name, value) {
            query.filters.push(Filter { not: want == Want::Not, field, typed });
            return rest;
        }
    }
    let (written, rest) = word(body);
    // What was no filter may hold a quote: its words are looked for all the same.
    let written = written.trim_matches('"');
    let what = match written.strip_suffix('*') {
        Some(beginning) if has_word(beginning) => What::Beginning(beginning.to_owned()),
        _ => What::Word(written.to_owned()),
    };
    if has_word(written) {
        query.clauses.push(Clause { want, what });
    }
    rest
}

fn starts_something(text: &str) -> bool {
    text.chars()
        .next()
        .is_some_and(|character| character.is_alphanumeric() || matches!(character, '"' | '_' | '.' | '/'))
}

fn has_word(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    // A quote that is not closed yet goes to the end: it is being typed.
    Some(inside.split_once('"').unwrap_or((inside, "")))
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

fn field(name: &str, value: &str) -> Option<Field> {
    let value = value.trim();
    if value.is_empty() {
        return None;
    }
    let text = value.to_owned();
    Some(match name.to_ascii_lowercase().as_str() {
        "project" | "in" => Field::Project(text),
        "branch" => Field::Branch(text),
        "role" | "from" => Field::Role(role(value)?),
        "file" | "path" => Field::File(text),
        "session" => Field::Session(text),
        "kind" | "is" => Field::Kind(kinds(value)?),
        "since" | "after" => Field::Since(text),
        "until" | "before" => Field::Until(text),
        "topic" | "about" => Field::Topic(text),
        "keepit" | "keepit-min" | "weight" => Field::Keepit(weight(value)?),
        _ => return None,
    })
}

/// Who is meant by a word.
pub(super) fn role(word: &str) -> Option<Role> {
    Some(match word.to_ascii_lowercase().as_str() {
        "user" | "you" | "me" | "human" => Role::User,
        "assistant" | "claude" | "model" => Role::Assistant,
        "tool" | "tools" => Role::Tool,
        "system" | "client" => Role::System,
        _ => return None,
    })
}

/// Which kinds of passages are meant by a word.
pub(super) fn kinds(word: &str) -> Option<Vec<Kind>> {
    Some(match word.to_ascii_lowercase().as_str() {
        "message" | "messages" => {
            vec![Kind::Text, Kind::Thinking, Kind::ToolInput, Kind::ToolOutput, Kind::Summary, Kind::Notice]
        }
        "text" | "prose" => vec![Kind::Text],
        "thinking" | "thought" => vec![Kind::Thinking],
        "call" | "tool_input" | "input" => vec![Kind::ToolInput],
        "result" | "tool_output" | "output" => vec![Kind::ToolOutput],
        "tool" => vec![Kind::ToolInput, Kind::ToolOutput],
        "summary" => vec![Kind::Summary],
        "notice" | "meta" => vec![Kind::Notice],
        "keepit" | "keepits" => vec![Kind::Keepit],
        "session" | "sessions" | "title" => vec![Kind::Session],
        "version" | "versions" => vec![Kind::Version],
        _ => return None,
    })
}

/// A weight from 0 to 1 in hundredths.
fn weight(word: &str) -> Option<u8> {
    let number: f64 = word.trim_start_matches(['>', '=', '≥']).parse().ok()?;
    (0.0..=1.0).contains(&number).then(|| (number * 100.0).round() as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clauses(text: &str) -> Vec<(Want, What)> {
        read(text, false).clauses.into_iter().map(|clause| (clause.want, clause.what)).collect()
    }

    fn fields(text: &str) -> Vec<Field> {
        read(text, false).filters.into_iter().map(|filter| filter.field).collect()
    }

    #[test]
    fn words_phrases_beginnings_and_exclusions_are_read() {
        use Want::{May, Must, Not};
        use What::{Beginning, Phrase, Word};
        assert_eq!(
            clauses(r#"why refresh* "token race" -cookie +lock -"old store" x-ray"#),
            [
                (May, Word("why".into())),
                (May, Beginning("refresh".into())),
                (Must, Phrase("token race".into())),
                (Not, Word("cookie".into())),
                (Must, Word("lock".into())),
                (Not, Phrase("old store".into())),
                (May, Word("x-ray".into())),
            ]
        );
        assert_eq!(clauses("- -- * \" \"\" ?!"), [], "marks alone are no words");
        assert_eq!(clauses(r#""not closed"#), [(Must, Phrase("not closed".into()))]);
    }

    #[test]
    fn filters_are_taken_out() {
        let read =
            read(r#"race project:my-app -role:tool since:"2 weeks ago" kind:keepit keepit:0.75 topic:auth"#, false);
        let typed: Vec<_> = read.filters.iter().map(|filter| (filter.typed.as_str(), filter.not)).collect();
        assert_eq!(
            typed,
            [
                ("project:my-app", false),
                ("-role:tool", true),
                (r#"since:"2 weeks ago""#, false),
                ("kind:keepit", false),
                ("keepit:0.75", false),
                ("topic:auth", false)
            ]
        );
        assert_eq!(read.filters[4].field, Field::Keepit(75));
        assert_eq!(read.clauses.len(), 1);
        assert_eq!(read.filters[5].field, Field::Topic("auth".into()));
    }

    #[test]
    fn what_only_looks_like_a_filter_is_words() {
        for text in ["std::env::var", "https://example.org", "role:cook", "keepit:2", "error: none", "a:b", "file:"] {
            assert_eq!(fields(text), [], "{text}");
            assert!(!clauses(text).is_empty(), "{text} must still be looked for");
        }
    }

    #[test]
    fn the_last_word_is_open_while_it_is_typed() {
        let last = |text: &str| read(text, true).clauses.pop().map(|clause| clause.what);
        assert_eq!(last("fix log"), Some(What::Beginning("log".into())));
        assert_eq!(last("fix log "), Some(What::Word("log".into())));
        assert_eq!(last("fix \"log"), Some(What::Phrase("log".into())));
    }

    proptest! {
        #[test]
        fn reading_never_fails_and_ends(text in "[a-z:\"*+ é-]{0,40}") {
            read(&text, true);
        }
    }
}
