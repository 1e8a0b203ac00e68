//! What a session comes from, in words: nothing for the client's own transcripts.

use recollect_engine::session::Message;
use recollect_engine::sources::Format;

/// The format of a session for a column; empty for a transcript.
pub(crate) fn short(format: &str) -> &'static str {
    match Format::parse(format) {
        Format::ClaudeCode => "",
        Format::ClaudeExport => "export",
        Format::PlainExport => "text",
        Format::MarkdownExport => "Markdown",
        Format::ClaudeAi => "claude.ai",
        Format::History => "prompts",
        Format::MemoryContext => "summary",
    }
}

/// The same in a sentence.
pub(crate) fn sentence(format: &str) -> &'static str {
    match Format::parse(format) {
        Format::ClaudeCode => "a transcript of Claude Code",
        Format::ClaudeExport => "an /export of Claude Code: tools are shortened and times are missing",
        Format::PlainExport => "a text of two speakers",
        Format::MarkdownExport => "a Markdown text of two speakers",
        Format::ClaudeAi => "a conversation of claude.ai",
        Format::History => "only what the user typed: Claude Code has deleted the rest",
        Format::MemoryContext => "a session of a MEMORY-CONTEXT folder: what had been said elsewhere is missing",
    }
}

/// How much of a message its source left out.
pub(crate) fn cut(message: &Message) -> Option<String> {
    match message.cut_lines? {
        0 => Some("shortened by the client".to_owned()),
        lines => Some(format!("{} left out by the client", super::units::counted(u64::from(lines), "line"))),
    }
}
