//! What of a message is searched: its blocks by what they are, long ones cut into passages.
//!
//! Of a message that is larger than [`MOST`] the beginning and the end are searched: what lies between is printed data as a
//! rule, and one line can have 100 MB.

use std::borrow::Cow;
use std::ops::Range;

use crate::session::{Block, Message, MessageKind};

use super::Kind;

/// Bytes of a passage: some paragraphs, so that what is found together stands together.
const LONGEST: usize = 2000;

/// Bytes of one message that are searched.
pub(super) const MOST: usize = 1 << 20;

/// Of these, so many from the beginning.
const HEAD: usize = MOST / 4 * 3;

/// A passage of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    /// What it is.
    pub(super) kind: Kind,
    /// Its text.
    pub(super) text: String,
    /// Paths that it is about, when it belongs to a call of a tool.
    pub(super) files: Vec<String>,
    /// The call that it is, when it starts a sub-agent.
    pub(super) starts: Option<String>,
}

/// The passages of a message, in order; `path_of` tells which file the call of a result was about.
pub(super) fn passages(message: &Message, path_of: &dyn Fn(&str) -> Option<String>) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut left = Budget::default();
    for block in &message.blocks {
        let (kind, files) = match block {
            Block::Text { .. } => (kind_of(message.kind), Vec::new()),
            Block::Thinking { .. } => (Kind::Thinking, Vec::new()),
            Block::ToolUse { input, .. } => (Kind::ToolInput, paths(input)),
            Block::ToolResult { tool_use_id, .. } => (Kind::ToolOutput, path_of(tool_use_id).into_iter().collect()),
            Block::Attachment { .. } => continue,
        };
        let starts = match block {
            Block::ToolUse { id, name, .. } if matches!(name.as_str(), "Task" | "Agent") => Some(id.clone()),
            _ => None,
        };
        let text = plain(block.text());
        for place in left.take(&text) {
            passages.push(Passage { kind, text: text[place].to_owned(), files: files.clone(), starts: starts.clone() });
        }
    }
    passages
}

/// A text without the sequences that colour it on a terminal.
fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return text;
    }
    Cow::Owned(anstream::adapter::strip_str(&text).to_string())
}

/// Cuts a text that is no message into passages.
pub(super) fn cut(text: &str) -> Vec<String> {
    Budget::default().take(text).into_iter().map(|place| text[place].to_owned()).collect()
}

/// The paths that a call of a tool names.
pub(super) fn paths(input: &serde_json::Value) -> Vec<String> {
    ["file_path", "path", "notebook_path", "filePath"]
        .iter()
        .filter_map(|key| input.get(key)?.as_str())
        .filter(|path| !path.is_empty() && path.len() < 1024)
        .map(str::to_owned)
        .collect()
}

fn kind_of(kind: MessageKind) -> Kind {
    match kind {
        MessageKind::Turn => Kind::Text,
        MessageKind::CompactSummary => Kind::Summary,
        MessageKind::Meta | MessageKind::Notice | MessageKind::CompactBoundary => Kind::Notice,
    }
}

/// What of a message may still be taken.
struct Budget {
    head: usize,
    tail: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { head: HEAD, tail: MOST - HEAD }
    }
}

impl Budget {
    fn take(&mut self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        if text.len() <= self.head {
            self.head -= text.len();
            pieces(text, 0..text.len(), &mut places);
            return places;
        }
        let head = text.floor_char_boundary(self.head);
        let tail = text.ceil_char_boundary(text.len() - self.tail.min(text.len() - head));
        self.tail -= text.len() - tail;
        self.head = 0;
        pieces(text, 0..head, &mut places);
        pieces(text, tail..text.len(), &mut places);
        places
    }
}

/// Cuts a stretch where a paragraph, a line, a sentence or a word ends.
fn pieces(text: &str, stretch: Range<usize>, places: &mut Vec<Range<usize>>) {
    let mut start = stretch.start;
    while start < stretch.end {
        let rest = &text[start..stretch.end];
        let length =
            if rest.len() <= LONGEST { rest.len() } else { end_of(&rest[..rest.floor_char_boundary(LONGEST)]) };
        let piece = &rest[..length];
        let bare = piece.trim();
        if !bare.is_empty() {
            let from = start + (piece.len() - piece.trim_start().len());
            places.push(from..from + bare.len());
        }
        start += length;
    }
}

fn end_of(window: &str) -> usize {
    let from = window.ceil_char_boundary(window.len() / 2);
    let after = |separator: &str| window[from..].rfind(separator).map(|at| from + at + separator.len());
    after("\n\n").or_else(|| after("\n")).or_else(|| after(". ")).or_else(|| after(" ")).unwrap_or(window.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testing::message;

    #[test]
    fn each_block_is_what_it_is_and_results_know_the_file_of_their_call() {
        let passages = passages(
            &message(vec![
                Block::Thinking { text: "Hm.".into() },
                Block::Text { text: "Reading.".into() },
                Block::ToolUse { id: "t1".into(), name: "Read".into(), input: json!({"file_path": "/a/login.rs"}) },
                Block::ToolResult { tool_use_id: "t1".into(), text: "fn login()".into(), is_error: false },
                Block::Attachment { media_type: "image/png".into(), bytes: 3 },
            ]),
            &|id| (id == "t1").then(|| "/a/login.rs".to_owned()),
        );
        let kinds: Vec<_> = passages.iter().map(|passage| passage.kind).collect();
        assert_eq!(kinds, [Kind::Thinking, Kind::Text, Kind::ToolInput, Kind::ToolOutput]);
        assert_eq!(passages[3].files, ["/a/login.rs"]);
        assert_eq!(passages[2].text, "Read\nfile_path: /a/login.rs");
    }

    #[test]
    fn colours_of_a_terminal_are_not_searched() {
        let text = "\u{1b}[38;2;1;2;3mtest\u{1b}[0m failed".to_owned();
        assert_eq!(passages(&message(vec![Block::Text { text }]), &|_| None)[0].text, "test failed");
    }

    #[test]
    fn of_a_huge_message_the_ends_are_searched_and_no_more() {
        let text = format!("first {} last", "x".repeat(100 << 20));
        let passages = passages(&message(vec![Block::Text { text }]), &|_| None);
        let bytes: usize = passages.iter().map(|passage| passage.text.len()).sum();
        assert!(bytes <= MOST, "{bytes} bytes are more than the limit");
        assert!(passages[0].text.starts_with("first") && passages.last().expect("one").text.ends_with("last"));
    }

    #[test]
    fn a_passage_ends_where_a_paragraph_does() {
        let paragraph = format!("{}.", "word ".repeat(250).trim_end());
        let cut = cut(&format!("{paragraph}\n\n{paragraph}\n\n{paragraph}"));
        assert_eq!(cut, [paragraph.as_str(); 3]);
    }

    proptest! {
        #[test]
        fn nothing_that_can_be_read_is_lost(text in "[a-zé .\n]{0,9000}") {
            let words = |text: &str| text.split_whitespace().collect::<String>();
            let joined: String = cut(&text).concat();
            prop_assert_eq!(words(&joined), words(&text));
        }
    }
}
