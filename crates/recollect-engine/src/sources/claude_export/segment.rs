//! Cuts an export into stretches of lines with one author each, by glyphs and indentation alone.

use std::ops::Range;

/// What a stretch of lines is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What stands before the conversation.
    Banner,
    /// `>` or `❯`: the user.
    User,
    /// `!`: a shell command of the user's; `#`: something for the client to remember.
    Shell,
    /// `●` or `⏺`: the assistant, or a call of a tool.
    Reply,
    /// `⎿`: what came of the stretch before.
    Result,
    /// A line that stands for calls of tools: `  Read 4 files (ctrl+o to expand)`.
    Collapsed,
    /// `✻`, `※`, `∴`, …: the client.
    Client,
    /// A rule that says that the conversation was compacted.
    Compaction,
    /// A rule or a frame that says nothing.
    Rule,
    /// Indented lines of nobody: after a rule, or after a stretch that they do not belong to.
    Loose,
}

/// A stretch of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub kind: Kind,
    /// Its lines, from 0; blank ones at its end left out.
    pub lines: Range<usize>,
}

/// What begins a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Glyph {
    User,
    Shell,
    Reply,
    Result,
    Client,
    Compaction,
    Rule,
    Frame,
}

/// Signs at the beginning of a line that only the client writes.
const CLIENT: &[char] = &['✻', '✽', '✢', '✳', '✶', '∴', '※', '▎', '✱', '✺', '❋'];

/// Characters of an indentation that the client writes.
fn is_space(character: char) -> bool {
    character == ' ' || character == '\u{a0}'
}

/// Whether nothing can be seen of a line.
pub(super) fn is_blank(line: &str) -> bool {
    line.chars().all(char::is_whitespace)
}

/// How far a line is indented, in characters.
pub(super) fn indentation(line: &str) -> usize {
    line.chars().take_while(|character| is_space(*character)).count()
}

fn glyph(line: &str) -> Option<Glyph> {
    let mut characters = line.chars();
    let first = characters.next()?;
    let rest = characters.as_str();
    let apart = rest.chars().next().is_none_or(is_space);
    match first {
        '>' | '❯' if apart => Some(Glyph::User),
        '!' | '#' if rest.starts_with(is_space) && !is_blank(rest) => Some(Glyph::Shell),
        '●' | '⏺' => Some(Glyph::Reply),
        '═' if rest.starts_with("═══") => {
            let words = line.trim_matches(|character: char| character == '═' || character.is_whitespace());
            Some(if words.is_empty() { Glyph::Rule } else { Glyph::Compaction })
        }
        '─' | '━' | '╌' if rest.chars().count() >= 8 && rest.trim_end().chars().all(|one| one == first) => {
            Some(Glyph::Rule)
        }
        '╭' => Some(Glyph::Frame),
        _ if CLIENT.contains(&first) => Some(Glyph::Client),
        _ if is_space(first) && (1..=4).contains(&indentation(line)) && line.trim_start().starts_with('⎿') => {
            Some(Glyph::Result)
        }
        _ => None,
    }
}

/// A line that says that the client shows less than there is: `… (ctrl+o to expand)`.
pub(super) fn is_shortened(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with(')') && line.rfind('(').is_some_and(|open| line[open..].starts_with("(ctrl+"))
}

/// Whether a text holds a conversation as `/export` writes it; `certain` when no other text looks so.
pub(super) fn likeness(lines: &[&str]) -> (bool, bool) {
    let count = |wanted: Glyph| lines.iter().filter(|line| glyph(line) == Some(wanted)).count();
    let (replies, results, users) = (count(Glyph::Reply), count(Glyph::Result), count(Glyph::User));
    let banner = super::banner::length(lines).is_some();
    let certain = (banner && users + replies > 0) || (replies > 0 && results > 0);
    (certain || (replies > 0 && users > 0), certain)
}

/// Cuts the lines of an export into segments, in order; blank lines between them belong to none.
pub(super) fn segments(lines: &[&str]) -> Vec<Segment> {
    let mut cutter = Cutter { lines, segments: Vec::new(), open: None, pasted: false, ends_in_space: false };
    cutter.cut();
    // Clients that end what the user typed with a space make sure where it ends; then what only looks like another
    // speaker is known to be pasted.
    let users: Vec<&Segment> = cutter.segments.iter().filter(|segment| segment.kind == Kind::User).collect();
    let spaced = users.iter().filter(|segment| ends_in_space(&lines[..lines.len().min(segment.lines.end + 1)])).count();
    if users.len() >= 3 && spaced * 4 >= users.len() * 3 && spaced < users.len() {
        cutter = Cutter { lines, segments: Vec::new(), open: None, pasted: false, ends_in_space: true };
        cutter.cut();
    }
    cutter.segments
}

struct Cutter<'t> {
    lines: &'t [&'t str],
    segments: Vec<Segment>,
    /// The segment that is being read: its kind and first line.
    open: Option<(Kind, usize)>,
    /// In what the user typed, a line that looked like another speaker was found to be the user's.
    pasted: bool,
    /// What the user typed ends with a space.
    ends_in_space: bool,
}

impl Cutter<'_> {
    fn cut(&mut self) {
        let mut at = super::banner::length(self.lines).unwrap_or(0);
        if at > 0 {
            self.begin(Kind::Banner, 0);
            self.close(at);
        }
        while at < self.lines.len() {
            at = self.line(at);
        }
        self.close(self.lines.len());
    }

    /// Takes one line, or a frame of several; returns the next.
    fn line(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        if is_blank(line) {
            return at + 1;
        }
        let after_blank = at == 0 || is_blank(self.lines[at - 1]);
        match glyph(line).filter(|glyph| self.is_meant(*glyph, at, after_blank)) {
            Some(Glyph::User) => {
                let empty = line.chars().skip(1).all(char::is_whitespace);
                self.start(if empty { Kind::Rule } else { Kind::User }, at);
            }
            Some(Glyph::Shell) => self.start(Kind::Shell, at),
            Some(Glyph::Reply) => self.start(Kind::Reply, at),
            Some(Glyph::Result) => self.start(Kind::Result, at),
            Some(Glyph::Client) => self.start(Kind::Client, at),
            Some(Glyph::Compaction) => self.start(Kind::Compaction, at),
            Some(Glyph::Rule) => self.start(Kind::Rule, at),
            Some(Glyph::Frame) => {
                self.start(Kind::Banner, at);
                let after = at + self.frame(at);
                self.close(after);
                return after;
            }
            None => self.plain(at, after_blank),
        }
        at + 1
    }

    /// Whether what looks like the sign of a speaker is one here.
    fn is_meant(&self, glyph: Glyph, at: usize, after_blank: bool) -> bool {
        let in_user = matches!(self.open, Some((Kind::User, _)));
        match glyph {
            Glyph::Frame => self.frame(at) > 0,
            // A heading, or a word after an exclamation mark, is text; of a command something comes at once.
            Glyph::Shell => after_blank && self.has_result(at),
            Glyph::Compaction | Glyph::Rule => !in_user || after_blank || glyph == Glyph::Compaction,
            Glyph::Client => !in_user || after_blank,
            Glyph::Result => !self.pasted || !in_user,
            Glyph::User | Glyph::Reply if in_user => {
                if !after_blank {
                    return false;
                }
                !self.ends_in_space || ends_in_space(&self.lines[..at])
            }
            Glyph::User | Glyph::Reply => true,
        }
    }

    /// Whether something came of the command at a line: a result before any other sign.
    fn has_result(&self, at: usize) -> bool {
        self.lines[at + 1..]
            .iter()
            .find(|line| is_blank(line) || glyph(line).is_some() || indentation(line) == 0)
            .is_some_and(|line| glyph(line) == Some(Glyph::Result))
    }

    /// Lines of a frame that the client drew around its own words; 0 when it is not one.
    fn frame(&self, at: usize) -> usize {
        let inner = self.lines[at + 1..].iter().take_while(|line| line.starts_with('│')).count();
        let closed = self.lines.get(at + 1 + inner).is_some_and(|line| line.starts_with('╰'));
        let frame = &self.lines[at..(at + 1 + inner).min(self.lines.len())];
        let types = |line: &&str| line.trim_start_matches(['│', ' ', '\u{a0}']).starts_with(['>', '❯']);
        let speaks = |line: &&str| glyph(line) == Some(Glyph::Reply);
        // Its banner, or the box in which the user types, copied with the screen.
        let ours = frame.iter().any(|line| super::banner::names_client(line))
            || (frame.get(1).is_some_and(types) && !self.lines[at + frame.len()..].iter().any(speaks));
        if closed && ours { inner + 2 } else { 0 }
    }

    /// A line without a sign: it goes on what is open, or belongs to nobody.
    fn plain(&mut self, at: usize, after_blank: bool) {
        let line = self.lines[at];
        let indented = indentation(line) > 0;
        let Some((kind, first)) = self.open else {
            self.start(Kind::Loose, at);
            return;
        };
        if after_blank && indented && indentation(line) <= 4 && is_shortened(line) && self.stands_alone(at) {
            self.start(Kind::Collapsed, at);
            return;
        }
        let ends = match kind {
            // Where the client pads what the user typed, a line that is really empty ends it.
            Kind::User => {
                after_blank
                    && indented
                    && is_padded(self.lines[first])
                    && self.lines[first..at].iter().any(|line| line.is_empty())
            }
            Kind::Shell | Kind::Collapsed | Kind::Compaction | Kind::Rule => after_blank || !indented,
            Kind::Result => after_blank && indented && indentation(line) < 4,
            Kind::Client => !indented || (after_blank && !super::is_thinking(self.lines[first])),
            Kind::Banner => true,
            Kind::Reply | Kind::Loose => false,
        };
        if ends {
            self.start(Kind::Loose, at);
        } else if kind == Kind::User && glyph(line).is_some() {
            self.pasted = true;
        }
    }

    /// Whether a line is a paragraph of its own.
    fn stands_alone(&self, at: usize) -> bool {
        self.lines.get(at + 1).is_none_or(|next| is_blank(next) || glyph(next).is_some() || is_shortened(next))
    }

    fn start(&mut self, kind: Kind, at: usize) {
        self.close(at);
        self.begin(kind, at);
    }

    fn begin(&mut self, kind: Kind, at: usize) {
        self.open = Some((kind, at));
        self.pasted = false;
    }

    fn close(&mut self, before: usize) {
        let Some((kind, first)) = self.open.take() else { return };
        let blank = self.lines[first..before].iter().rev().take_while(|line| is_blank(line)).count();
        if before - blank > first {
            self.segments.push(Segment { kind, lines: first..before - blank });
        }
    }
}

/// Whether what was typed before ends with a space; it stands on a line of its own when the line before was full.
fn ends_in_space(lines: &[&str]) -> bool {
    lines.iter().rev().find(|line| !line.is_empty()).is_some_and(|line| line.ends_with(' '))
}

/// Whether the client filled a line with spaces up to the terminal's width.
fn is_padded(line: &str) -> bool {
    line.starts_with('❯') && line.ends_with(' ')
}
