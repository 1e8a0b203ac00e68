//! Finds `##keepit0.80##` in a block of text (4.2, product decision 4).
//!
//! What is code is asked of `pulldown-cmark`, because a fence in a list in a quote, a span over two lines, and runs of
//! backticks of unequal length are more than a pattern can tell. Two things are put differently to it than they stand:
//! `<` opens nothing (prompts are full of tags, and CommonMark sees no backticks inside HTML), and an indented block is
//! read as text (people indent what they paste; only backticks, or tildes, make code here).

use std::ops::Range;

use memchr::memmem;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::Weight;

/// A stretch of a text, in bytes and in Unicode characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the text.
    pub bytes: Range<usize>,
    /// The same, in characters.
    pub characters: Range<usize>,
}

impl Span {
    fn moved(self, bytes: usize, characters: usize) -> Self {
        let by = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        Self { bytes: by(self.bytes, bytes), characters: by(self.characters, characters) }
    }
}

/// A marker in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// Its weight, clamped and rounded.
    pub weight: Weight,
    /// `##keepit0.80##` itself.
    pub syntax: Span,
    /// Bytes of the number in it.
    pub number: Range<usize>,
    /// What it marks, without white space at the ends; to the closing, the next marker or the end of the text.
    pub content: Span,
    /// Bytes of `##/keepit##`, if it is there.
    pub closing: Option<Range<usize>>,
}

impl Marker {
    /// The marker in a text in which its own text begins at the given byte and character.
    #[must_use]
    pub(super) fn moved(self, bytes: usize, characters: usize) -> Self {
        let by = |range: Range<usize>| range.start + bytes..range.end + bytes;
        Self {
            weight: self.weight,
            syntax: self.syntax.moved(bytes, characters),
            number: by(self.number),
            content: self.content.moved(bytes, characters),
            closing: self.closing.map(by),
        }
    }
}

/// The markers of one block of text, in order. Malformed ones (`##keepit##`, `##keepitX##`) are plain text.
pub fn find(text: &str) -> Vec<Marker> {
    let tokens = written_tokens(text);
    let mut count = CharacterCount { text, byte: 0, characters: 0 };
    let mut markers = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Kind::Open { weight, number } = &token.kind else { continue };
        let next = tokens.get(at + 1);
        let end = next.map_or(text.len(), |next| next.bytes.start);
        let marked = &text[token.bytes.end..end];
        let content = if marked.trim().is_empty() {
            token.bytes.end..token.bytes.end
        } else {
            let start = end - marked.trim_start().len();
            start..start + marked.trim().len()
        };
        markers.push(Marker {
            weight: *weight,
            syntax: count.span(token.bytes.clone()),
            number: number.clone(),
            content: count.span(content),
            closing: next.filter(|next| matches!(next.kind, Kind::Close)).map(|next| next.bytes.clone()),
        });
    }
    markers
}

/// The text without its markers. Marked words stay as they are; a space or an empty line that only stood beside a marker
/// goes with it. Stripping again changes nothing.
pub fn strip(text: &str) -> String {
    /// Taking markers out can put others together (`##kee##keepit1##pit1##`). A text that still has some after this many
    /// rounds was made to be so, and loses all that looks like one.
    const ROUNDS: usize = 4;
    let mut text = text.to_owned();
    for _ in 0..ROUNDS {
        let tokens = written_tokens(&text);
        if tokens.is_empty() {
            return text;
        }
        text = without(&text, &tokens);
    }
    let tokens = tokens(&text);
    let mut bare = String::with_capacity(text.len());
    let mut kept = 0;
    for token in &tokens {
        bare.push_str(&text[kept..token.bytes.start]);
        bare.push(' ');
        kept = token.bytes.end;
    }
    bare.push_str(&text[kept..]);
    bare
}

/// A marker's syntax or its closing.
#[derive(Debug, Clone)]
struct Token {
    bytes: Range<usize>,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Open { weight: Weight, number: Range<usize> },
    Close,
}

/// All tokens outside code; a closing that closes nothing is text.
fn written_tokens(text: &str) -> Vec<Token> {
    let all = tokens(text);
    if all.is_empty() {
        return all;
    }
    let code = code(text);
    let written = all.into_iter().filter(|token| {
        let after = code.partition_point(|range| range.end <= token.bytes.start);
        code.get(after).is_none_or(|range| range.start >= token.bytes.end)
    });
    belonging(written.collect())
}

/// The tokens without closings that close nothing.
fn belonging(tokens: Vec<Token>) -> Vec<Token> {
    let mut open = false;
    tokens
        .into_iter()
        .filter(|token| std::mem::replace(&mut open, matches!(token.kind, Kind::Open { .. })) || open)
        .collect()
}

/// All tokens, in code or not.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens: Vec<Token> = Vec::new();
    for start in memmem::find_iter(bytes, b"##").flat_map(|at| [at, at + 1]) {
        if tokens.last().is_none_or(|last| last.bytes.end <= start)
            && let Some(token) = token(text, start)
        {
            tokens.push(token);
        }
    }
    tokens
}

/// The token at a byte.
fn token(text: &str, start: usize) -> Option<Token> {
    let bytes = text.as_bytes();
    let after = |at: usize, expected: &[u8]| {
        bytes
            .get(at..at + expected.len())
            .filter(|found| found.eq_ignore_ascii_case(expected))
            .map(|_| at + expected.len())
    };
    if let Some(end) = after(start, b"##/keepit##") {
        return Some(Token { bytes: start..end, kind: Kind::Close });
    }
    let number = after(start, b"##keepit")?;
    let length = bytes[number..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-')).count();
    let end = after(number + length, b"##")?;
    let number = number..number + length;
    let weight = Weight::parse(&text[number.clone()])?;
    Some(Token { bytes: start..end, kind: Kind::Open { weight, number } })
}

/// Where code stands between backticks or in fences, in order.
fn code(text: &str) -> Vec<Range<usize>> {
    let plain = text.replace('<', "(");
    let mut ranges = Vec::new();
    let mut indented = Vec::new();
    for (event, range) in Parser::new_ext(&plain, Options::empty()).into_offset_iter() {
        match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => ranges.push(range),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => indented.push(range),
            _ => {}
        }
    }
    for block in indented {
        ranges.extend(code_in_indented(&plain[block.clone()], block.start));
    }
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Code in a block whose lines are indented, as if they were not; `base` is where the block begins.
fn code_in_indented(block: &str, base: usize) -> Vec<Range<usize>> {
    let mut flat = String::with_capacity(block.len());
    let mut lines = Vec::new();
    let mut at = base;
    for line in block.split_inclusive('\n') {
        let words = line.trim_start_matches([' ', '\t']);
        lines.push((flat.len(), at + line.len() - words.len()));
        flat.push_str(words);
        at += line.len();
    }
    let place = |byte: usize| {
        let line = lines.partition_point(|(start, _)| *start <= byte).saturating_sub(1);
        lines.get(line).map_or(base, |(start, place)| place + (byte - start))
    };
    Parser::new_ext(&flat, Options::empty())
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))))
        .filter(|(_, range)| !range.is_empty())
        .map(|(_, range)| place(range.start)..place(range.end - 1) + 1)
        .collect()
}

/// The text without some tokens, tidied where they stood.
fn without(text: &str, tokens: &[Token]) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut kept = 0;
    for token in tokens {
        // A token may begin in the white space that went with the one before it.
        bare.push_str(&text[kept.min(token.bytes.start)..token.bytes.start]);
        kept = token.bytes.end;
        let after = &text[kept..];
        if bare.is_empty() || bare.ends_with('\n') {
            kept += usize::from(after.starts_with([' ', '\n']));
        } else if bare.ends_with(' ') && (after.is_empty() || after.starts_with('\n')) {
            bare.pop();
        } else if bare.ends_with(' ') && after.starts_with(' ') {
            kept += 1;
        }
    }
    bare.push_str(&text[kept..]);
    bare
}

/// Counts characters forward, so that a text is read once however many places are asked for.
struct CharacterCount<'a> {
    text: &'a str,
    byte: usize,
    characters: usize,
}

impl CharacterCount<'_> {
    fn at(&mut self, byte: usize) -> usize {
        self.characters += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.characters
    }

    fn span(&mut self, bytes: Range<usize>) -> Span {
        let start = self.at(bytes.start);
        Span { characters: start..self.at(bytes.end), bytes }
    }
}

#[cfg(test)]
mod tests;
