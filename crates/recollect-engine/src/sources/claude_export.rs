//! `/export` text of Claude Code: what the terminal showed, of every version seen (1.0 to 2.1).
//!
//! The text is lossy: tools are shortened, Markdown is drawn, lines are cut at the terminal's width. Who speaks is told by
//! glyphs and indentation and not by words: `segment` cuts the lines, this file makes messages of them.
//! Each line that holds something belongs to one message, or is the client's own, or is reported.

mod banner;
mod call;
mod segment;
mod wrap;

use super::claude_code::Record;
use super::conversation::{Conversation, Placed, message};
use super::text::Text;
use crate::session::{Block, Issue, Message, MessageKind, Role};
use segment::{Kind, Segment, is_blank};

/// How sure it is that a text is an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It is not one.
    None,
    /// It looks like one, as other texts could.
    Likely,
    /// Nothing else looks so.
    Certain,
}

/// Whether the beginning of a text looks like an export.
pub(super) fn likeness(text: &Text) -> Likeness {
    let lines: Vec<&str> = text.lines.iter().map(|line| line.text.as_str()).collect();
    match segment::likeness(&lines) {
        (_, true) => Likeness::Certain,
        (true, false) => Likeness::Likely,
        (false, false) => Likeness::None,
    }
}

/// A line that opens what the model thought.
fn is_thinking(line: &str) -> bool {
    let words = line.trim_start_matches(|one: char| !one.is_alphanumeric());
    words.starts_with("Thinking") || words.starts_with("Thought for")
}

/// Reads an export; never fails and never panics.
pub(super) fn read(text: &Text) -> Conversation {
    let lines: Vec<&str> = text.lines.iter().map(|line| line.text.as_str()).collect();
    let segments = segment::segments(&lines);
    let widths = Widths::of(&lines, &segments);
    let mut reader = Reader {
        text,
        lines: &lines,
        widths,
        conversation: Conversation::default(),
        model: None,
        calls: 0,
        messages: 0,
    };
    if let Some((line, mended)) = text.mended {
        reader.issue(line, mended.to_owned());
    }
    let mut at = 0;
    while at < segments.len() {
        at += reader.take(&segments[at..]);
    }
    reader.conversation
}

/// Widths at which the client cut lines.
struct Widths {
    prose: Option<usize>,
    typed: Option<usize>,
    padded: usize,
    headings: usize,
}

impl Widths {
    fn of(lines: &[&str], segments: &[Segment]) -> Self {
        let of = |kind: Kind| segments.iter().filter(move |segment| segment.kind == kind);
        let prose = of(Kind::Reply)
            .filter(|segment| !call::opens(body(lines[segment.lines.start])))
            // The last line of a paragraph ends where its words end.
            .flat_map(|segment| {
                segment.lines.clone().filter(|at| at + 1 < segment.lines.end && !is_blank(lines[at + 1]))
            })
            .map(|at| wrap::columns(lines[at].trim_end()));
        let typed: Vec<usize> = of(Kind::User)
            .flat_map(|segment| segment.lines.clone().filter(|at| at + 1 < segment.lines.end))
            .map(|at| wrap::columns(lines[at]))
            .collect();
        let headings = of(Kind::Reply)
            .filter(|segment| call::opens(body(lines[segment.lines.start])))
            .flat_map(|segment| segment.lines.clone())
            .map(|at| wrap::columns(lines[at]));
        // A client that pads what the user typed wraps everything at that width.
        let filled: Vec<&str> = of(Kind::User)
            .map(|segment| &lines[segment.lines.clone()])
            .filter(|lines| is_padded(lines))
            .flatten()
            .copied()
            .collect();
        let padded = filled.iter().map(|line| wrap::columns(line)).max();
        // It leaves some columns free at the right; how many is told by the fullest line.
        let fullest = filled.iter().map(|line| wrap::columns(line.trim_end())).max().unwrap_or(0);
        let prose: Vec<usize> = prose.collect();
        let fits = padded.filter(|width| prose.iter().all(|one| one <= width));
        Self {
            // Prose is read without the two columns under the sign.
            prose: wrap::wrapped_at(prose).max(fits).map(|width| width.saturating_sub(2)),
            padded: fullest.max(padded.unwrap_or(0).saturating_sub(3)),
            // Few lines are typed; the widest that goes on is where the terminal cuts, when it is as wide as one.
            typed: typed.into_iter().max().filter(|width| *width >= 40),
            headings: headings.max().unwrap_or(0),
        }
    }
}

/// Whether the client filled the lines of what was typed with spaces.
fn is_padded(lines: &[&str]) -> bool {
    lines[0].starts_with('❯') && lines.iter().all(|line| line.ends_with(' ') || is_blank(line))
}

/// Whether the lines of what was typed stand under its first word.
fn is_indented(lines: &[&str]) -> bool {
    let stands_under = |line: &&str| is_blank(line) || segment::indentation(line) >= 2;
    lines[0].starts_with('❯') && lines.len() > 1 && lines[1..].iter().all(stands_under)
}

/// A line without the sign that opens it.
fn body(line: &str) -> &str {
    let mut characters = line.chars();
    characters.next();
    characters.as_str().trim_start_matches([' ', '\u{a0}'])
}

struct Reader<'t> {
    text: &'t Text,
    lines: &'t [&'t str],
    widths: Widths,
    conversation: Conversation,
    model: Option<String>,
    calls: usize,
    messages: usize,
}

impl Reader<'_> {
    /// Takes the first of some segments, and what belongs to it; returns how many.
    fn take(&mut self, segments: &[Segment]) -> usize {
        let first = &segments[0];
        let results = segments[1..].iter().take_while(|next| next.kind == Kind::Result).count();
        match first.kind {
            Kind::Banner => self.banner(first),
            Kind::Rule => self.own(first),
            Kind::User => self.user(first),
            Kind::Shell => self.push(Role::User, MessageKind::Turn, text_block(self.shell(first)), first, None),
            Kind::Reply => return 1 + self.reply(first, &segments[1..=results]),
            Kind::Result => self.notice(first),
            Kind::Collapsed => self.collapsed(first),
            Kind::Client => self.client(first),
            Kind::Compaction => {
                let words = self.lines[first.lines.start].trim_matches(|one: char| one == '═' || one.is_whitespace());
                let said = text_block(words.to_owned());
                self.push(Role::System, MessageKind::CompactBoundary, said, first, None);
            }
            Kind::Loose => self.loose(first),
        }
        1
    }

    fn banner(&mut self, segment: &Segment) {
        let banner = banner::read(&self.lines[segment.lines.clone()]);
        self.own(segment);
        self.model = banner.model.or(self.model.take());
        let record = Record {
            record: "banner".to_owned(),
            client_version: banner.client_version,
            cwd: banner.cwd,
            ..Record::default()
        };
        self.place(record, segment);
    }

    fn user(&mut self, segment: &Segment) {
        let lines = &self.lines[segment.lines.clone()];
        let said: Vec<&str> = std::iter::once(body(lines[0])).chain(lines[1..].iter().copied()).collect();
        let text = if is_padded(lines) || is_indented(lines) {
            // Whoever took the padding away left nothing that tells the width.
            let width = if is_padded(lines) { self.widths.padded } else { usize::MAX };
            let said: Vec<&str> =
                std::iter::once(said[0]).chain(said[1..].iter().map(|line| without(line, 2))).collect();
            wrap::padded(&said, width, 2)
        } else {
            wrap::typed(&said, self.widths.typed, 2)
        };
        self.push(Role::User, MessageKind::Turn, text_block(text), segment, None);
    }

    fn shell(&self, segment: &Segment) -> String {
        let lines = &self.lines[segment.lines.clone()];
        let command = wrap::heading(lines, wrap::columns(lines[0]));
        format!("{} {}", &lines[0][..1], body(&command).trim_end())
    }

    /// A reply or a call, with what came of it; returns how many results were taken.
    fn reply(&mut self, segment: &Segment, results: &[Segment]) -> usize {
        let lines = &self.lines[segment.lines.clone()];
        let said: Vec<&str> =
            std::iter::once(body(lines[0])).chain(lines[1..].iter().map(|line| without(line, 2))).collect();
        // The lines of a heading are indented to its parenthesis or below the sign.
        if call::opens(said[0])
            && let Some(call) = call::read(&said, self.widths.headings.saturating_sub(2), !results.is_empty())
        {
            self.call(call, segment, results);
            return results.len().min(1);
        }
        if segment::is_shortened(said[0]) {
            // Calls that the client shows as one: how agents fared, as a tree.
            let text = said.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
            let blocks = vec![Block::ToolResult { tool_use_id: String::new(), text, is_error: false }];
            self.push(Role::Tool, MessageKind::Turn, blocks, segment, Some(0));
            return 0;
        }
        if is_status(&said) {
            self.push(
                Role::System,
                MessageKind::Notice,
                text_block(wrap::prose(&said, self.widths.prose)),
                segment,
                None,
            );
            return 0;
        }
        if let Some(result) = results.first().filter(|result| is_title(&said) && !self.is_interruption(result)) {
            // What the user decided, or the client did, under a title: nobody's words, and all of them.
            let (text, cut) = self.result(result);
            let both = Segment { kind: segment.kind, lines: segment.lines.start..result.lines.end };
            let blocks = vec![Block::ToolResult {
                tool_use_id: String::new(),
                text: format!("{}\n{text}", said[0].trim_end()),
                is_error: false,
            }];
            self.push(Role::Tool, MessageKind::Turn, blocks, &both, cut);
            return 1;
        }
        let text = wrap::prose(&said, self.widths.prose);
        let cut = self.cut_lines(segment);
        let blocks = text_block(text.trim_end().to_owned());
        self.push(Role::Assistant, MessageKind::Turn, blocks, segment, cut);
        0
    }

    fn call(&mut self, call: call::Call, segment: &Segment, results: &[Segment]) {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let blocks = vec![Block::ToolUse { id: id.clone(), name: call.name, input: call.input }];
        self.push(Role::Assistant, MessageKind::Turn, blocks, segment, None);
        if let Some(result) = results.first() {
            let (text, cut) = self.result(result);
            let is_error = text.starts_with("Error");
            let blocks = vec![Block::ToolResult { tool_use_id: id, text, is_error }];
            self.push(Role::Tool, MessageKind::Turn, blocks, result, cut);
        }
    }

    /// The text of what came of something, and how many lines the client left out of it.
    fn result(&self, segment: &Segment) -> (String, Option<u32>) {
        let lines = &self.lines[segment.lines.clone()];
        let first = lines[0].trim_start_matches([' ', '\u{a0}', '⎿']);
        // Lines below stand under the first word.
        let indent = lines[1..].iter().filter(|line| !is_blank(line)).map(|line| segment::indentation(line)).min();
        let indent = indent.unwrap_or(0).min(5);
        let mut text = first.trim_end().to_owned();
        for line in &lines[1..] {
            text.push('\n');
            text.push_str(without(line, indent).trim_end());
        }
        (text, self.cut_lines(segment))
    }

    fn is_interruption(&self, result: &Segment) -> bool {
        result.lines.len() == 1 && self.result(result).0.starts_with("Interrupted")
    }

    /// What came of a command of the client's, of a file that the user named, of nothing that is known.
    fn notice(&mut self, segment: &Segment) {
        let (text, cut) = self.result(segment);
        self.push(Role::System, MessageKind::Notice, text_block(text), segment, cut);
    }

    fn collapsed(&mut self, segment: &Segment) {
        let text = self.lines[segment.lines.clone()].iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
        let blocks = vec![Block::ToolResult { tool_use_id: String::new(), text, is_error: false }];
        self.push(Role::Tool, MessageKind::Turn, blocks, segment, Some(0));
    }

    fn client(&mut self, segment: &Segment) {
        let lines = &self.lines[segment.lines.clone()];
        let more: Vec<&str> = lines[1..].iter().map(|line| without(line, 2)).collect();
        if is_thinking(lines[0]) {
            if more.is_empty() && !segment::is_shortened(lines[0]) {
                self.own(segment);
                return;
            }
            let text = wrap::prose(&more, self.widths.prose).trim().to_owned();
            let cut = segment::is_shortened(lines[0]).then_some(0);
            self.push(Role::Assistant, MessageKind::Turn, vec![Block::Thinking { text }], segment, cut);
            return;
        }
        let said: Vec<&str> = std::iter::once(body(lines[0])).chain(more).collect();
        let text = wrap::prose(&said, self.widths.prose);
        if text.contains("ompact") && lines.len() == 1 {
            self.push(Role::System, MessageKind::CompactBoundary, text_block(text), segment, None);
        } else if lines.len() == 1 && !lines[0].starts_with(['※', '▎']) {
            self.own(segment);
        } else {
            self.push(Role::System, MessageKind::Notice, text_block(text), segment, None);
        }
    }

    /// Indented lines that no sign opens: a note of the client's, or the end of what stood above an export that was cut.
    fn loose(&mut self, segment: &Segment) {
        if self.messages == 0 {
            let message = "stands before the first speaker: whose words these are is not known".to_owned();
            self.issue(segment.lines.start as u64 + 1, message);
        }
        let lines = self.lines[segment.lines.clone()].iter().map(|line| line.trim_end());
        let text = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
        self.push(Role::System, MessageKind::Notice, text_block(text), segment, None);
    }

    /// How many lines the client says that it left out; 0 when it only says that it did.
    fn cut_lines(&self, segment: &Segment) -> Option<u32> {
        let mut cut = None;
        for line in &self.lines[segment.lines.clone()] {
            if let Some(count) = left_out(line) {
                cut = Some(cut.unwrap_or(0_u32).saturating_add(count));
            } else if segment::is_shortened(line) {
                cut = cut.or(Some(0));
            }
        }
        cut
    }

    fn push(&mut self, role: Role, kind: MessageKind, blocks: Vec<Block>, segment: &Segment, cut_lines: Option<u32>) {
        let model = if role == Role::Assistant { self.model.clone() } else { None };
        let message = Message { cut_lines, model, ..message(self.messages, role, kind, blocks) };
        self.messages += 1;
        self.place(Record { record: "message".to_owned(), message: Some(message), ..Record::default() }, segment);
    }

    fn place(&mut self, record: Record, segment: &Segment) {
        let (first, last) = (&self.text.lines[segment.lines.start], &self.text.lines[segment.lines.end - 1]);
        self.conversation.records.push(Placed {
            record,
            start: first.start,
            bytes: last.end - first.start,
            lines: segment.lines.start as u64 + 1..segment.lines.end as u64 + 1,
        });
    }

    fn own(&mut self, segment: &Segment) {
        let lines = segment.lines.clone().filter(|at| !is_blank(self.lines[*at]));
        self.conversation.own.extend(lines.map(|at| at as u64 + 1));
    }

    fn issue(&mut self, line: u64, message: String) {
        let at = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        let start = self.text.lines.get(at).map_or(0, |line| line.start);
        self.conversation.issues.push((Issue { line, message }, start));
    }
}

/// `… +12 lines (ctrl+o to expand)`: how many.
fn left_out(line: &str) -> Option<u32> {
    let count = line.trim_start_matches([' ', '\u{a0}']).strip_prefix("… +")?;
    count.split_whitespace().next()?.parse().ok()
}

/// A title and no sentence: what the client puts above a decision of the user's.
fn is_title(said: &[&str]) -> bool {
    let title = said[0].trim_end();
    said.len() == 1 && title.chars().count() <= 48 && !title.ends_with(['.', '!', '?', '…'])
}

/// A line in which the client says how something ended: a word for it, its name in quotes, and how long or in which way.
fn is_status(said: &[&str]) -> bool {
    let [line] = said else { return false };
    let line = line.trim_end();
    let Some((what, rest)) = line.split_once(" \"") else { return false };
    let Some((_, how)) = rest.rsplit_once("\" ") else { return false };
    let is_name = what.starts_with(|first: char| first.is_ascii_uppercase())
        && what.split(' ').count() <= 2
        && what.chars().all(|one| one.is_ascii_alphabetic() || one == ' ');
    let took = how.rsplit_once(" · ").is_some_and(|(_, took)| took.starts_with(|first: char| first.is_ascii_digit()));
    let ended = how.ends_with("in background") || (how.ends_with(')') && how.contains(" (exit code "));
    is_name && how.split_whitespace().count() <= 6 && (took || ended)
}

fn text_block(text: String) -> Vec<Block> {
    vec![Block::Text { text }]
}

/// A line without at most so many characters of indentation.
fn without(line: &str, indent: usize) -> &str {
    let spaces = segment::indentation(line).min(indent);
    line.char_indices().nth(spaces).map_or("", |(at, _)| &line[at..])
}

#[cfg(test)]
mod tests;
