//! Formats that sessions come in: one file each, from bytes to messages and issues.
//!
//! A format is recognised by what a file holds, not by its name. Claude Code's transcripts are read line by line, and read on
//! when they have grown; all others are read as a whole by [`read_whole`].

pub mod claude_ai;
pub mod claude_code;
pub mod claude_export;
pub mod conversation;
pub mod history;
pub mod json;
pub mod lines;
pub mod memory_context;
pub mod plain_export;
pub mod text;

use conversation::Conversation;
use text::Text;

/// A format of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Claude Code's transcripts.
    ClaudeCode,
    /// `/export` text of Claude Code.
    ClaudeExport,
    /// `Human:` / `Assistant:` text.
    PlainExport,
    /// Markdown with a heading for each speaker.
    MarkdownExport,
    /// claude.ai's `conversations.json`.
    ClaudeAi,
    /// Prompts from `history.jsonl`.
    History,
    /// A session of a `MEMORY-CONTEXT` folder.
    MemoryContext,
}

/// Bytes from the beginning of a file that are looked at.
pub const HEAD: usize = 64 << 10;

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::ClaudeExport,
        Self::PlainExport,
        Self::MarkdownExport,
        Self::ClaudeAi,
        Self::History,
        Self::MemoryContext,
    ];

    /// As it is stored and told.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeExport => "claude-export",
            Self::PlainExport => "plain-export",
            Self::MarkdownExport => "markdown-export",
            Self::ClaudeAi => "claude-ai",
            Self::History => "history",
            Self::MemoryContext => "memory-context",
        }
    }

    /// The format of a name; what is not known is taken for a transcript.
    pub fn parse(name: &str) -> Self {
        Self::ALL.into_iter().find(|format| format.as_str() == name).unwrap_or(Self::ClaudeCode)
    }

    /// It holds many sessions in one file.
    pub const fn is_container(self) -> bool {
        matches!(self, Self::ClaudeAi | Self::History)
    }

    /// It is a copy in text of a conversation that may have a transcript.
    pub const fn is_export(self) -> bool {
        matches!(self, Self::ClaudeExport | Self::PlainExport | Self::MarkdownExport)
    }
}

/// What the beginning of a file looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recognised {
    /// The format.
    pub format: Format,
    /// Nothing else looks so; else a file's name may decide.
    pub certain: bool,
}

/// Recognises a format by the beginning of a file (at most [`HEAD`] bytes of it); `None` when it is no conversation.
pub fn recognise(head: &[u8]) -> Option<Recognised> {
    let certain = |format| Some(Recognised { format, certain: true });
    if text::is_binary(head) {
        return None;
    }
    if history::is_history(head) {
        return certain(Format::History);
    }
    // Before what is told by the names of its members: those can stand anywhere in a transcript.
    if is_transcript(head) {
        return certain(Format::ClaudeCode);
    }
    if claude_ai::is_conversations(head) {
        return certain(Format::ClaudeAi);
    }
    if memory_context::is_session(head) {
        return certain(Format::MemoryContext);
    }
    let text = Text::decode(head);
    match claude_export::likeness(&text) {
        claude_export::Likeness::Certain => return certain(Format::ClaudeExport),
        // Prose with quotes and bullets can look like one.
        claude_export::Likeness::Likely if !plain_export::is_plain(&text) && !plain_export::is_markdown(&text) => {
            return Some(Recognised { format: Format::ClaudeExport, certain: false });
        }
        _ => {}
    }
    if plain_export::is_plain(&text) {
        return certain(Format::PlainExport);
    }
    plain_export::is_markdown(&text).then_some(Recognised { format: Format::MarkdownExport, certain: true })
}

/// Whether a line at the beginning is a record of a transcript.
fn is_transcript(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(20).any(|line| {
        claude_code::read(line, 0)
            .record
            .is_some_and(|record| record.session_id.is_some() || record.message.is_some() || record.is_known())
    })
}

/// Reads a conversation of a format that is not read line by line; never fails and never panics.
pub fn read_whole(format: Format, bytes: &[u8]) -> Conversation {
    match format {
        Format::ClaudeCode => Conversation::default(),
        Format::ClaudeExport => claude_export::read(&Text::decode(bytes)),
        Format::PlainExport => plain_export::read_plain(&Text::decode(bytes)),
        Format::MarkdownExport => plain_export::read_markdown(&Text::decode(bytes)),
        Format::ClaudeAi => claude_ai::read(bytes),
        Format::History => history::read(bytes),
        Format::MemoryContext => memory_context::read(bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_is_what_it_holds() {
        let recognised = |text: &str| recognise(text.as_bytes()).map(|found| found.format);
        let marked = |text: &str| recognised(&format!("\u{feff}{}", text.replace('\n', "\r\n")));
        for (text, format) in [
            ("{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{\"content\":\"hi\"}}\n", Format::ClaudeCode),
            ("{\"type\":\"summary\",\"summary\":\"x\"}\n", Format::ClaudeCode),
            (
                "{\"type\":\"mode\",\"sessionId\":\"s\"}\n{\"session_id\":1,\"messages\":[],\"hash\":0,\"uuid\":1,\"chat_messages\":[]}\n",
                Format::ClaudeCode,
            ),
            ("> hi\n\n● Bash(ls)\n  ⎿  a\n", Format::ClaudeExport),
            ("Human: hi\nAssistant: ho\n", Format::PlainExport),
            ("# Talk\n\n## User\n\nhi\n\n## Assistant\n\nho\n", Format::MarkdownExport),
            ("[{\"uuid\":\"u\",\"name\":\"n\",\"chat_messages\":[]}]", Format::ClaudeAi),
            ("{\"display\":\"hi\",\"timestamp\":1,\"project\":\"/p\"}\n", Format::History),
            ("{\"session_id\":\"a\",\"messages\":[{\"hash\":\"00\"}]}", Format::MemoryContext),
        ] {
            assert_eq!(recognised(text), Some(format), "{text}");
            assert_eq!(marked(text), Some(format), "with a byte order mark and CRLF: {text}");
            assert_eq!(Format::parse(format.as_str()), format);
        }
        for text in ["", "words\n", "[1, 2]", "{\"a\": 1}", "\u{0}\u{1}", "# Users\n\n- a\n"] {
            assert_eq!(recognised(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn recognising_and_reading_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            recognise(&bytes);
            for format in Format::ALL {
                read_whole(format, &bytes);
            }
        }
    }
}
