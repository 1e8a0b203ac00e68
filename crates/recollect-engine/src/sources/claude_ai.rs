//! Conversations of claude.ai: `conversations.json`, a list of them, or one alone.
//!
//! Such files are as large as a gigabyte: [`Elements`] cuts one conversation after the other out of a stream, each with the
//! bytes that it has in the file, and [`read`] reads one. A conversation that cannot be read costs only itself; this is why
//! the list is not given to a JSON reader as a whole, which stops at the first byte that it does not like.

use std::io::Read;

use serde_json::{Map, Value};

use super::claude_code::{Record, content_blocks};
use super::conversation::{Conversation, Placed, message};
use super::json;
use crate::session::{Block, Issue, Message, MessageKind, Role};
use crate::time::Time;

/// Whether the beginning of a file is that of conversations of claude.ai.
pub(super) fn is_conversations(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let inner = head.trim_ascii_start();
    let inner = inner.strip_prefix(b"[").unwrap_or(inner).trim_ascii_start();
    let named = |key: &[u8]| memchr::memmem::find(inner, key).is_some();
    inner.starts_with(b"{") && named(b"\"chat_messages\"") && (named(b"\"uuid\"") || named(b"\"sender\""))
}

/// A conversation as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where they begin in the file.
    pub start: u64,
    /// Its closing brace was found.
    pub whole: bool,
}

/// Cuts a stream into its conversations: the elements of a list, or objects that follow each other.
pub struct Elements<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where `buffer` begins in the stream.
    start: u64,
    /// Bytes of `buffer` that were looked at.
    at: usize,
    /// Where the open object begins in `buffer`.
    open: Option<usize>,
    depth: u32,
    in_text: bool,
    escaped: bool,
    ended: bool,
}

/// Bytes that are read at once.
const STEP: usize = 1 << 20;

impl<R: Read> Elements<R> {
    /// Cuts a stream from its beginning.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            start: 0,
            at: 0,
            open: None,
            depth: 0,
            in_text: false,
            escaped: false,
            ended: false,
        }
    }

    /// The next conversation; the last is not whole when the file was cut off.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub fn next_element(&mut self) -> std::io::Result<Option<Element>> {
        loop {
            if let Some(end) = self.look() {
                return Ok(self.take(end, true));
            }
            if self.ended {
                let end = self.buffer.len();
                return Ok(self.take(end, false));
            }
            let keep = self.open.unwrap_or(self.at);
            self.buffer.drain(..keep);
            self.start += keep as u64;
            self.at -= keep;
            self.open = self.open.map(|_| 0);
            let step = STEP.max(self.buffer.len() / 2) as u64;
            let read = self.reader.by_ref().take(step).read_to_end(&mut self.buffer)?;
            self.ended = (read as u64) < step;
        }
    }

    /// Looks at what was read; gives the end of an object that closes.
    fn look(&mut self) -> Option<usize> {
        while self.at < self.buffer.len() {
            if self.in_text && !self.escaped {
                // Nothing but a quote or an escape matters within a text.
                let rest = &self.buffer[self.at..];
                let Some(next) = memchr::memchr2(b'"', b'\\', rest) else {
                    self.at = self.buffer.len();
                    return None;
                };
                self.at += next;
            }
            let byte = self.buffer[self.at];
            self.at += 1;
            if self.in_text {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_text = false,
                    _ => {}
                }
                continue;
            }
            match (byte, self.open) {
                (b'{', None) => {
                    self.open = Some(self.at - 1);
                    self.depth = 1;
                }
                (_, None) => {}
                (b'"', _) => self.in_text = true,
                (b'{' | b'[', _) => self.depth = self.depth.saturating_add(1),
                (b'}' | b']', _) => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(self.at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn take(&mut self, end: usize, whole: bool) -> Option<Element> {
        let open = self.open.take()?;
        (self.in_text, self.escaped) = (false, false);
        Some(Element { bytes: self.buffer[open..end].to_vec(), start: self.start + open as u64, whole })
    }
}

/// Reads one conversation.
pub(super) fn read(bytes: &[u8]) -> Conversation {
    let mut conversation = Conversation::default();
    let mut issue = |message: String| conversation.issues.push((Issue { line: 1, message }, 0));
    let value = match json::read_line(bytes) {
        Ok(read) => {
            if let Some(mended) = read.mended {
                issue(mended.to_owned());
            }
            read.value
        }
        Err(message) => {
            issue(message);
            return conversation;
        }
    };
    let Value::Object(object) = &value else {
        issue("is JSON, but not a conversation; kept as it is".to_owned());
        return conversation;
    };
    let facts = Record {
        record: "conversation".to_owned(),
        session_id: owned(object, "uuid"),
        ai_title: owned(object, "name"),
        // They ran in no folder; the file's own would put them with whatever else lies there.
        cwd: Some("claude.ai".to_owned()),
        ..Record::default()
    };
    conversation.records.push(Placed::without_place(facts));
    let empty = Vec::new();
    let said = object.get("chat_messages").and_then(Value::as_array).unwrap_or(&empty);
    let mut count = 0;
    for (at, item) in said.iter().enumerate() {
        let Value::Object(item) = item else {
            let message = format!("message {} is not an object; kept as it is", at + 1);
            conversation.issues.push((Issue { line: 1, message }, 0));
            continue;
        };
        for message in messages(item, &mut count) {
            let record = Record { record: "message".to_owned(), message: Some(message), ..Record::default() };
            conversation.records.push(Placed::without_place(record));
        }
    }
    conversation
}

/// The messages that one of claude.ai stands for: what was said, and apart from it what tools returned.
fn messages(item: &Map<String, Value>, count: &mut usize) -> Vec<Message> {
    let role = match text_of(item, "sender") {
        "assistant" => Role::Assistant,
        "human" | "user" => Role::User,
        _ => Role::System,
    };
    let mut content: Vec<Block> = Vec::new();
    if let Some(Value::Array(items)) = item.get("content") {
        // A budget is a figure of the service's, and says nothing.
        let items = items.iter().filter(|block| block.get("type").and_then(Value::as_str) != Some("token_budget"));
        content = content_blocks(&Value::Array(items.cloned().collect()));
    }
    if !content.iter().any(|block| matches!(block, Block::Text { text } if !text.trim().is_empty()))
        && let text = text_of(item, "text")
        && !text.trim().is_empty()
    {
        content.push(Block::Text { text: text.to_owned() });
    }
    attachments(item, &mut content);
    let kind = if role == Role::System { MessageKind::Notice } else { MessageKind::Turn };
    let time = Time::parse(text_of(item, "created_at"));
    let uuid = text_of(item, "uuid");
    // Blocks of what tools returned are messages of their own, as everywhere.
    let mut parts: Vec<(Role, Vec<Block>)> = Vec::new();
    for block in content {
        let of = if matches!(block, Block::ToolResult { .. }) { Role::Tool } else { role };
        match parts.last_mut() {
            Some((last, blocks)) if *last == of => blocks.push(block),
            _ => parts.push((of, vec![block])),
        }
    }
    let several = parts.len() > 1;
    let mut messages = Vec::new();
    for (part, (role, blocks)) in parts.into_iter().enumerate() {
        let kind = if role == Role::Tool { MessageKind::Turn } else { kind };
        let mut made = message(*count, role, kind, blocks);
        if !uuid.is_empty() {
            made.uuid = if part == 0 { uuid.to_owned() } else { format!("{uuid}#{part}") };
            made.reply_id = (several && role == Role::Assistant).then(|| uuid.to_owned());
        }
        made.timestamp = time;
        *count += 1;
        messages.push(made);
    }
    messages
}

/// Files that the user gave: those whose text was taken out of them with it, others by name.
fn attachments(item: &Map<String, Value>, content: &mut Vec<Block>) {
    let list = |key: &str| item.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    for file in list("attachments") {
        let (name, text) = (text_of(file, "file_name"), text_of(file, "extracted_content"));
        let name = if name.is_empty() { "attachment" } else { name };
        if text.is_empty() {
            let bytes = file.get("file_size").and_then(Value::as_u64).unwrap_or(0);
            content.push(Block::Attachment { media_type: name.to_owned(), bytes });
        } else {
            content.push(Block::Text { text: format!("[{name}]\n{text}") });
        }
    }
    for file in list("files").chain(list("files_v2")) {
        let name = text_of(file, "file_name");
        let known = |block: &Block| matches!(block, Block::Attachment { media_type, .. } if media_type == name);
        if !name.is_empty() && !content.iter().any(known) {
            content.push(Block::Attachment { media_type: name.to_owned(), bytes: 0 });
        }
    }
}

fn text_of<'v>(object: &'v Map<String, Value>, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or("")
}

fn owned(object: &Map<String, Value>, key: &str) -> Option<String> {
    let text = text_of(object, key).trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn elements(bytes: &[u8]) -> Vec<Element> {
        let mut elements = Elements::new(bytes);
        std::iter::from_fn(|| elements.next_element().expect("memory can be read")).collect()
    }

    #[test]
    fn a_list_is_cut_into_its_conversations_with_their_very_bytes() {
        let one = r#"{ "uuid":"a", "name":"}]\"{", "chat_messages":[{"x":[1,{}]}] }"#;
        let two = r#"{"uuid":"b","chat_messages":[]}"#;
        let list = format!("\u{feff}[\n  {one},\n{two}\n]\n");
        let found = elements(list.as_bytes());
        assert_eq!(found.len(), 2);
        for (element, expected) in found.iter().zip([one, two]) {
            assert_eq!(element.bytes, expected.as_bytes());
            let start = usize::try_from(element.start).expect("small");
            assert_eq!(&list.as_bytes()[start..start + expected.len()], expected.as_bytes(), "the place is true");
            assert!(element.whole);
        }
        assert_eq!(elements(one.as_bytes()).len(), 1, "one alone");
        let torn = &list[..list.len() - 8];
        let found = elements(torn.as_bytes());
        assert_eq!(found.iter().map(|element| element.whole).collect::<Vec<_>>(), [true, false]);
        assert!(is_conversations(list.as_bytes()));
        assert!(!is_conversations(br#"[{"name":"x"}]"#));
    }

    #[test]
    fn blocks_tools_and_attachments_become_messages() {
        let conversation = json!({
            "uuid": "u", "name": "Trip", "chat_messages": [
                {"uuid": "m1", "sender": "human", "text": "look", "created_at": "2026-01-20T10:00:00Z", "content": [],
                 "attachments": [{"file_name": "plan.txt", "extracted_content": "the plan"}], "files": [{"file_name": "map.png"}]},
                {"uuid": "m2", "sender": "assistant", "text": "ok", "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "tool_use", "name": "search", "input": {"q": 1}},
                    {"type": "tool_result", "name": "search", "content": [{"type": "text", "text": "found"}]},
                    {"type": "token_budget"},
                    {"type": "text", "text": "ok"}]},
                "odd",
            ]
        });
        let read = read(conversation.to_string().as_bytes());
        assert_eq!(read.issues.len(), 1, "what is not a message is said");
        assert_eq!(read.records[0].record.ai_title.as_deref(), Some("Trip"));
        let messages = read.messages();
        let said: Vec<(Role, String, &str)> =
            messages.iter().map(|message| (message.role, message.text(), message.uuid.as_str())).collect();
        assert_eq!(
            said,
            [
                (Role::User, "look\n\n[plan.txt]\nthe plan\n\n[map.png]".to_owned(), "m1"),
                (Role::Assistant, "hm\n\nsearch\nq: 1".to_owned(), "m2"),
                (Role::Tool, "found".to_owned(), "m2#1"),
                (Role::Assistant, "ok".to_owned(), "m2#2"),
            ]
        );
        assert_eq!(messages[0].timestamp, Time::parse("2026-01-20T10:00:00Z"));
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_elements_are_parts_of_the_file(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), proptest::sample::select(b"[]{}\"\\,: ".to_vec())], 0..200)) {
            for element in elements(&bytes) {
                let start = element.start as usize;
                prop_assert_eq!(&bytes[start..start + element.bytes.len()], element.bytes.as_slice());
                read(&element.bytes);
            }
        }

        #[test]
        fn odd_shapes_never_panic(body in "(null|1|\"x\"|\\[\\]|\\[null,1,\\{\\}\\]|\\{\"content\":(null|7|\\[\\{\"type\":3\\}\\])\\})") {
            read(format!(r#"{{"uuid":{body},"name":{body},"chat_messages":[{body},{{"sender":{body},"content":{body},"attachments":{body},"files":{body},"text":{body}}}]}}"#).as_bytes());
        }
    }
}
