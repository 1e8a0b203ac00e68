//! Conversations as plain text: `Human:` / `Assistant:` (export-deduplication.md), and Markdown with a heading for each
//! speaker (`## 👤 User`, `## 🤖 Claude`).

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

use super::claude_code::Record;
use super::conversation::{Conversation, Placed, message};
use super::text::Text;
use crate::session::{Block, Issue, MessageKind, Role};
use crate::time::Time;

/// Names by which a line opens what the user and the assistant say; a file keeps to one pair.
const PAIRS: &[(&str, &str)] = &[
    ("Human:", "Assistant:"),
    ("User:", "Assistant:"),
    ("User:", "Claude:"),
    ("Human:", "Claude:"),
    ("You:", "Claude:"),
];

/// Whether the beginning of a text opens with a speaker and holds both.
pub(super) fn is_plain(text: &Text) -> bool {
    pair(text).is_some()
}

/// The pair of names that a text uses: the first thing said is under one of them.
fn pair(text: &Text) -> Option<(&'static str, &'static str)> {
    let opens = |name: &str| text.lines.iter().any(|line| line.text.starts_with(name));
    let first = text.lines.iter().find(|line| !line.text.trim().is_empty())?;
    let begins = |pair: &&(&str, &str)| first.text.starts_with(pair.0) || first.text.starts_with(pair.1);
    let found = PAIRS.iter().filter(begins).find(|pair| opens(pair.0) && opens(pair.1));
    // What the document's script reads: the first lines may say something else.
    found.or_else(|| PAIRS[..1].iter().find(|pair| opens(pair.0) && opens(pair.1))).copied()
}

/// Reads a text of speakers' names.
pub(super) fn read_plain(text: &Text) -> Conversation {
    let (user, assistant) = pair(text).unwrap_or(PAIRS[0]);
    let mut turns = Vec::new();
    for (at, line) in text.lines.iter().enumerate() {
        let named = [(user, Role::User), (assistant, Role::Assistant)]
            .into_iter()
            .find(|(name, _)| line.text.starts_with(name));
        if let Some((name, role)) = named {
            turns.push(Turn { role, line: at, skip: name.len(), time: None });
        }
    }
    conversation(text, &turns, None)
}

/// Whether a Markdown text has headings that name both speakers.
pub(super) fn is_markdown(text: &Text) -> bool {
    let turns = headings(&text.joined()).turns;
    turns.iter().any(|turn| turn.role == Role::User) && turns.iter().any(|turn| turn.role == Role::Assistant)
}

/// Reads a Markdown text.
pub(super) fn read_markdown(text: &Text) -> Conversation {
    let joined = text.joined();
    let headings = headings(&joined);
    conversation(text, &headings.turns, headings.title)
}

/// Where somebody begins to speak.
#[derive(Debug, Clone, Copy)]
struct Turn {
    role: Role,
    /// The line, from 0.
    line: usize,
    /// Bytes of the line that are the name; a heading is not said.
    skip: usize,
    time: Option<Time>,
}

#[derive(Default)]
struct Headings {
    turns: Vec<Turn>,
    title: Option<String>,
}

/// Headings that name a speaker, all of the level of the first one; those in code blocks are none.
fn headings(markdown: &str) -> Headings {
    let mut found = Headings::default();
    let mut level: Option<HeadingLevel> = None;
    let mut open: Option<(HeadingLevel, String)> = None;
    let (mut line, mut counted) = (0, 0);
    let mut depth = 0_usize;
    for (event, range) in Parser::new(markdown).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => open = Some((level, String::new())),
            Event::Text(words) | Event::Code(words) => {
                if let Some((_, text)) = &mut open {
                    text.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((this, words)) = open.take() else { continue };
                // Headings inside quotes and lists are said, not headings of the conversation.
                if depth > 0 {
                    continue;
                }
                match speaker(&words).filter(|_| level.is_none_or(|level| level == this)) {
                    Some(role) => {
                        level = Some(this);
                        line += memchr::memchr_iter(b'\n', &markdown.as_bytes()[counted..range.start]).count();
                        counted = range.start;
                        let time = words.split(['(', ')', '—', '|']).find_map(|part| Time::parse(part.trim()));
                        found.turns.push(Turn { role, line, skip: usize::MAX, time });
                    }
                    None if found.turns.is_empty() && found.title.is_none() => found.title = Some(words),
                    None => {}
                }
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

/// Who a heading names: a sign at most, then a word for the speaker, then nothing or a time.
fn speaker(heading: &str) -> Option<Role> {
    let words = heading.trim_start_matches(|one: char| !one.is_alphanumeric()).trim_end();
    let end = words.find(|one: char| !one.is_alphanumeric()).unwrap_or(words.len());
    let (name, rest) = words.split_at(end);
    let rest = rest.trim_start();
    let alone = rest.is_empty() || rest.starts_with(['(', ':', '—', '-', '|', '·', '#', '[']);
    match name.to_ascii_lowercase().as_str() {
        "user" | "human" | "you" | "me" if alone => Some(Role::User),
        "claude" | "assistant" | "ai" if alone => Some(Role::Assistant),
        _ => None,
    }
}

/// Makes messages of turns; what stands before the first is listed.
fn conversation(text: &Text, turns: &[Turn], title: Option<String>) -> Conversation {
    let mut conversation = Conversation::default();
    if let Some((line, mended)) = text.mended {
        let start =
            text.lines.get(usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1)).map_or(0, |line| line.start);
        conversation.issues.push((Issue { line, message: mended.to_owned() }, start));
    }
    let first = turns.first().map_or(text.lines.len(), |turn| turn.line);
    conversation.own =
        (0..first).filter(|at| !text.lines[*at].text.trim().is_empty()).map(|at| at as u64 + 1).collect();
    let facts = Record { record: "heading".to_owned(), ai_title: title, ..Record::default() };
    if facts.ai_title.is_some() && first > 0 {
        conversation.records.push(place(text, facts, 0, first));
    }
    for (at, turn) in turns.iter().enumerate() {
        let end = turns.get(at + 1).map_or(text.lines.len(), |next| next.line);
        let mut last = end;
        while last > turn.line + 1 && is_nothing(&text.lines[last - 1].text, turn.skip == usize::MAX) {
            if !text.lines[last - 1].text.trim().is_empty() {
                conversation.own.push(last as u64);
            }
            last -= 1;
        }
        let opening = text.lines[turn.line].text.get(turn.skip..).unwrap_or("").trim();
        let said =
            std::iter::once(opening).chain(text.lines[turn.line + 1..last].iter().map(|line| line.text.trim_end()));
        let said = said.collect::<Vec<_>>().join("\n").trim().to_owned();
        if said.is_empty() {
            conversation.own.push(turn.line as u64 + 1);
            continue;
        }
        let count = conversation.records.iter().filter(|placed| placed.record.message.is_some()).count();
        let mut message = message(count, turn.role, MessageKind::Turn, vec![Block::Text { text: said }]);
        message.timestamp = turn.time;
        let record = Record { record: "message".to_owned(), message: Some(message), ..Record::default() };
        conversation.records.push(place(text, record, turn.line, last));
    }
    conversation
}

/// Whether a line at the end of what somebody said is not theirs: blank, or the rule between two speakers.
fn is_nothing(line: &str, markdown: bool) -> bool {
    let line = line.trim();
    line.is_empty() || (markdown && line.len() >= 3 && line.bytes().all(|byte| matches!(byte, b'-' | b'*' | b'_')))
}

fn place(text: &Text, record: Record, first: usize, end: usize) -> Placed {
    let start = text.lines[first].start;
    Placed { record, start, bytes: text.lines[end - 1].end - start, lines: first as u64 + 1..end as u64 + 1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(conversation: Conversation) -> Vec<(Role, String)> {
        conversation.messages().into_iter().map(|message| (message.role, message.text())).collect()
    }

    #[test]
    fn names_at_the_beginning_of_a_line_open_a_turn() {
        let text = Text::decode(b"Human: fix it\n\nUser: is a word here\nAssistant:\nDone.\r\nHuman: thanks\n");
        assert!(is_plain(&text));
        assert_eq!(
            said(read_plain(&text)),
            [
                (Role::User, "fix it\n\nUser: is a word here".to_owned()),
                (Role::Assistant, "Done.".to_owned()),
                (Role::User, "thanks".to_owned())
            ]
        );
        assert!(!is_plain(&Text::decode(b"Human: alone\n")), "one voice is no conversation");
        assert!(!is_plain(&Text::decode(b"It says User: and Assistant: within\n")));
    }

    #[test]
    fn headings_name_speakers_outside_code_and_on_one_level() {
        let text = Text::decode(
            "# The login\n\nExported: 2026\n\n## 👤 User\n\nFix it.\n\n```md\n## User\n```\n\n---\n\n## 🤖 Claude\n\nDone.\n\n### User\n\nA heading of mine.\n\n> ## User\n\n## User (2026-01-20T10:00:00Z)\n\nThanks.\n"
                .as_bytes(),
        );
        assert!(is_markdown(&text));
        let conversation = read_markdown(&text);
        assert_eq!(conversation.own, [1, 3, 13], "title, date and rule are nobody's words");
        assert_eq!(conversation.records[0].record.ai_title.as_deref(), Some("The login"));
        let time = conversation.records.last().and_then(|placed| placed.record.message.as_ref()?.timestamp);
        assert_eq!(time, Time::parse("2026-01-20T10:00:00Z"));
        assert_eq!(
            said(conversation),
            [
                (Role::User, "Fix it.\n\n```md\n## User\n```".to_owned()),
                (Role::Assistant, "Done.\n\n### User\n\nA heading of mine.\n\n> ## User".to_owned()),
                (Role::User, "Thanks.".to_owned())
            ]
        );
        assert!(!is_markdown(&Text::decode(b"# Users\n\n## User guide\n\n## Claude Code\n")));
    }

    proptest! {
        #[test]
        fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in "\\PC{0,200}") {
            for text in [Text::decode(&bytes), Text::decode(text.as_bytes())] {
                is_plain(&text);
                is_markdown(&text);
                read_plain(&text);
                read_markdown(&text);
            }
        }

        #[test]
        fn every_line_belongs_to_one_message_or_is_listed(lines in proptest::collection::vec("(Human:|Assistant:|## User|## Claude|---|```|> |)[ a-z]{0,8}", 0..30)) {
            let text = Text::decode(lines.join("\n").as_bytes());
            for conversation in [read_plain(&text), read_markdown(&text)] {
                let spans: Vec<_> = conversation.records.iter().filter(|placed| placed.record.message.is_some()).map(|placed| placed.lines.clone()).collect();
                for (at, line) in text.lines.iter().enumerate().filter(|(_, line)| !line.text.trim().is_empty()) {
                    let number = at as u64 + 1;
                    let holders = spans.iter().filter(|span| span.contains(&number)).count() + usize::from(conversation.own.contains(&number));
                    prop_assert_eq!(holders, 1, "line {} `{}`", number, line.text);
                }
            }
        }
    }
}
