//! From messages to pieces: what of each message could stand in a compression, and what it is.

use std::borrow::Cow;

use super::calls::{self, Tool};
use super::clean::{Said, says_nothing, unwrap};
use super::outputs;
use super::passes::{Pass, Passes};
use super::piece::{Class, Join, Piece, one_line};
use super::prose;
use super::repeats::Calls;
use super::shorten::shorten;
use super::{Marked, Why};
use crate::session::{Block, Message, MessageKind, Role};

/// A message as pieces.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// Its pieces, in order; none when it carries nothing.
    pub(super) pieces: Vec<Piece>,
    /// Why it has none.
    pub(super) why: Option<Why>,
    /// It says, beside calls and results, something in words.
    pub(super) speaks: bool,
}

/// A marked passage in a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark<'k> {
    /// Its place in the input.
    pub(super) number: usize,
    /// The passage.
    pub(super) keepit: &'k Marked,
    /// It is taken word for word.
    pub(super) survives: bool,
}

/// Cuts a message. `marks` are those that stand in it, in order.
pub(super) fn cut(message: &Message, calls: &Calls<'_>, marks: &[Mark<'_>], project: &str, passes: Passes) -> Cut {
    let mut cut = Cut::default();
    let kept = marks.iter().any(|mark| mark.survives);
    if !kept && carries_nothing(message) {
        cut.why = Some(Why::NothingSaid);
        return cut;
    }
    let mut replaced = false;
    for (start, block) in message.placed_blocks() {
        let first = cut.pieces.len();
        match block {
            Block::Text { text } => {
                let spans = spans(message, start, text, marks);
                for span in spans {
                    match span {
                        Span::Plain(text) => words(&mut cut, message, text, passes),
                        Span::Kept(mark) => keep(&mut cut, mark),
                    }
                }
            }
            Block::Thinking { text } => cut.pieces.extend(prose::pieces(text, Class::Thought, false)),
            Block::ToolUse { id, name, input } => {
                if calls.is_replaced(id) {
                    replaced = true;
                } else {
                    let mut pieces = calls::pieces(name, input, project, calls.times(id));
                    shift(&mut pieces, first);
                    cut.pieces.append(&mut pieces);
                }
            }
            Block::ToolResult { tool_use_id, text, is_error } => {
                if calls.is_replaced(tool_use_id) {
                    replaced = true;
                } else {
                    let tool = calls.of(tool_use_id).map_or(Tool::Other, |(name, input)| calls::tool(name, input));
                    cut.pieces.extend(outputs::pieces(tool, text, *is_error));
                }
            }
            Block::Attachment { media_type, .. } => {
                if message.role == Role::User {
                    cut.pieces.push(Piece::new(format!("[{}]", one_line(media_type, 40)), Join::Line, Class::Call));
                }
            }
        }
        if !matches!(block, Block::Text { .. }) {
            // A passage marked in what a tool was told or returned stands after what is left of that.
            let length = block.text().chars().count();
            let place = message_place(message, start);
            for mark in marks.iter().filter(|mark| mark.survives) {
                if (place..=place + length).contains(&(mark.keepit.start as usize)) {
                    keep(&mut cut, mark);
                }
            }
        }
        if let Some(piece) = cut.pieces.get_mut(first)
            && first > 0
        {
            piece.join = Join::Paragraph;
        }
    }
    // Whatever a marker's place says, what survives is there.
    for mark in marks.iter().filter(|mark| mark.survives) {
        if !cut.pieces.iter().any(|piece| piece.keepit == Some(mark.number)) {
            keep(&mut cut, mark);
        }
    }
    if passes.has(Pass::Shortening) {
        let spoken =
            |class| matches!(class, Class::Sentence | Class::Thought | Class::Digest | Class::Report | Class::Task);
        for piece in cut.pieces.iter_mut().filter(|piece| spoken(piece.class)) {
            if let Cow::Owned(short) = shorten(&piece.text) {
                piece.text = short;
            }
        }
    }
    if cut.pieces.is_empty() {
        cut.why = Some(if replaced { Why::Replaced } else { Why::NothingSaid });
    }
    cut
}

fn carries_nothing(message: &Message) -> bool {
    match message.kind {
        MessageKind::Meta | MessageKind::CompactBoundary | MessageKind::Notice => true,
        MessageKind::Turn | MessageKind::CompactSummary => message.blocks.iter().all(|block| match block {
            Block::Text { text } | Block::Thinking { text } => says_nothing(text),
            _ => false,
        }),
    }
}

/// What somebody wrote, without the client's wrapping.
fn words(cut: &mut Cut, message: &Message, text: &str, passes: Passes) {
    let class = if message.kind == MessageKind::CompactSummary { Class::Digest } else { Class::Sentence };
    if message.role == Role::Tool {
        // A tool's lines of an earlier version: what mattered was chosen once already.
        cut.pieces.extend(
            text.lines().filter(|line| !line.trim().is_empty()).map(|line| Piece::new(line, Join::Line, Class::Edge)),
        );
        return;
    }
    if message.role != Role::User || !passes.has(Pass::Unwrapping) {
        cut.speaks = true;
        append(cut, prose::pieces(text, class, false));
        return;
    }
    for said in unwrap(text) {
        match said {
            Said::Words(words) => {
                cut.speaks = true;
                append(cut, prose::pieces(words, class, class == Class::Sentence));
            }
            Said::Command(command) => {
                let join = if cut.pieces.is_empty() { Join::Line } else { Join::Space };
                cut.pieces.push(Piece::new(one_line(command, 400), join, Class::Command));
            }
            Said::Output(output) => cut.pieces.extend(outputs::pieces(Tool::Other, output, false)),
        }
    }
}

fn append(cut: &mut Cut, mut pieces: Vec<Piece>) {
    let before = cut.pieces.last().map_or(0, |piece| piece.words_before + 1);
    let place = cut.pieces.len();
    for piece in &mut pieces {
        piece.words_before += before;
    }
    shift(&mut pieces, place);
    cut.pieces.append(&mut pieces);
}

fn keep(cut: &mut Cut, mark: &Mark<'_>) {
    if cut.pieces.iter().any(|piece| piece.keepit == Some(mark.number)) {
        return;
    }
    let lines = mark.keepit.content.lines().count().max(1) as u32;
    cut.pieces.push(Piece {
        keepit: Some(mark.number),
        lines,
        ..Piece::new(mark.keepit.content.clone(), Join::Line, Class::Kept)
    });
}

/// Moves the places that pieces name by the number of pieces before them.
fn shift(pieces: &mut [Piece], by: usize) {
    for piece in pieces {
        if let Some(answers) = &mut piece.answers {
            *answers += by;
        }
    }
}

enum Span<'t, 'k> {
    Plain(&'t str),
    Kept(&'t Mark<'k>),
}

/// Characters before a byte of the message's text.
fn message_place(message: &Message, byte: usize) -> usize {
    message.text().get(..byte).map_or(0, |text| text.chars().count())
}

/// Cuts a text block where marked passages begin and end; markers themselves are taken out.
fn spans<'t, 'k>(message: &Message, start: usize, text: &'t str, marks: &'t [Mark<'k>]) -> Vec<Span<'t, 'k>> {
    if marks.is_empty() {
        return vec![Span::Plain(text)];
    }
    let place = message_place(message, start);
    let length = text.chars().count();
    let byte_at = |character: u64| {
        let within = (character as usize).saturating_sub(place).min(length);
        text.char_indices().nth(within).map_or(text.len(), |(at, _)| at)
    };
    let mut spans = Vec::new();
    let mut from = 0;
    for mark in marks {
        let begins = mark.keepit.start as usize;
        if begins < place || begins >= place + length {
            continue;
        }
        let (begin, end) = (byte_at(mark.keepit.start).max(from), byte_at(mark.keepit.end));
        if end <= begin {
            continue;
        }
        let marked = &text[begin..end];
        spans.push(Span::Plain(&text[from..begin]));
        if mark.survives {
            spans.push(Span::Kept(mark));
        } else {
            spans.push(Span::Plain(without_marker(marked)));
        }
        from = end;
        let rest = &text[from..];
        let closing = rest.len() - rest.trim_start().len();
        if rest[closing..].get(..11).is_some_and(|tag| tag.eq_ignore_ascii_case("##/keepit##")) {
            from += closing + 11;
        }
    }
    spans.push(Span::Plain(&text[from..]));
    spans
}

/// A marked passage without `##keepit0.80##`.
fn without_marker(marked: &str) -> &str {
    match marked.get(..8) {
        Some(opening) if opening.eq_ignore_ascii_case("##keepit") => {
            marked[8..].find("##").map_or(marked, |at| &marked[8 + at + 2..])
        }
        _ => marked,
    }
}
