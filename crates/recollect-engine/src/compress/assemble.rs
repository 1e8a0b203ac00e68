//! Puts the chosen pieces of a message together again: as plain text, and as Markdown.

use super::calls::counted;
use super::piece::{Class, Join, Piece};
use crate::session::Role;

/// Lines left out inside an output from which on it is said how many.
const TOLD_LINES: u32 = 10;

/// A message of the result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Assembled {
    /// Its words.
    pub(super) text: String,
    /// The same in the Markdown record: the user's words are quoted, calls are items, outputs are set in.
    pub(super) markdown: String,
    /// It begins with a call or an output, which follows the line before without a blank one.
    pub(super) tight: bool,
    /// All of its pieces are there.
    pub(super) whole: bool,
}

/// Assembles the pieces for which `chosen` is true. `verbatim` is the text of a message that is all words, used when nothing is left out.
pub(super) fn assemble(
    pieces: &[Piece],
    chosen: impl Fn(usize) -> bool,
    role: Role,
    verbatim: Option<&str>,
) -> Assembled {
    let mut assembled = Assembled { whole: true, ..Assembled::default() };
    if let Some(text) = verbatim
        && (0..pieces.len()).all(&chosen)
    {
        assembled.text = text.to_owned();
        let prefix = if role == Role::User { "> " } else { "" };
        push_lines(&mut assembled.markdown, text, prefix, prefix);
        return assembled;
    }
    let mut left_out = 0;
    let mut gap = false;
    let mut before: Option<Class> = None;
    for (at, piece) in pieces.iter().enumerate() {
        if !chosen(at) {
            assembled.whole = false;
            gap = true;
            left_out += piece.lines;
            continue;
        }
        let (first, rest) = prefixes(piece.class, role);
        let material = is_material(piece.class);
        if before.is_none() {
            assembled.tight = matches!(first, "- " | "  ");
            assembled.markdown.push_str(first);
        }
        if material && before.is_some_and(is_material) && left_out >= TOLD_LINES {
            new_line(&mut assembled, &format!("[… {}]", counted(left_out, "line")), rest);
            new_line(&mut assembled, "", first);
        } else if before.is_some() {
            let breaks_line = before.is_some_and(|class| prefixes(class, role) != (first, rest));
            match piece.join {
                Join::Space | Join::Nothing if breaks_line => new_line(&mut assembled, "", first),
                Join::Space => push_both(&mut assembled, if gap { " … " } else { " " }),
                Join::Nothing => push_both(&mut assembled, if gap { " … " } else { "" }),
                Join::Paragraph if role != Role::User && !material && first.is_empty() => {
                    push_both(&mut assembled, "\n\n");
                    assembled.markdown.push_str(first);
                }
                Join::Line | Join::Paragraph => new_line(&mut assembled, "", first),
            }
        }
        assembled.text.push_str(&piece.text);
        push_lines(&mut assembled.markdown, &piece.text, "", rest);
        before = Some(piece.class);
        gap = false;
        left_out = 0;
    }
    if before.is_some_and(is_material) && left_out >= TOLD_LINES {
        new_line(&mut assembled, &format!("[… {}]", counted(left_out, "line")), "  ");
    }
    assembled
}

fn new_line(assembled: &mut Assembled, text: &str, prefix: &str) {
    assembled.text.push('\n');
    assembled.text.push_str(text);
    assembled.markdown.push('\n');
    assembled.markdown.push_str(prefix);
    assembled.markdown.push_str(text);
}

fn push_both(assembled: &mut Assembled, text: &str) {
    assembled.text.push_str(text);
    assembled.markdown.push_str(text);
}

fn push_lines(markdown: &mut String, text: &str, first: &str, rest: &str) {
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            markdown.push('\n');
        }
        markdown.push_str(if at == 0 { first } else { rest });
        markdown.push_str(line);
    }
}

/// Lines of tools, not words of somebody.
fn is_material(class: Class) -> bool {
    matches!(class, Class::Content | Class::Failure | Class::Verdict | Class::Edge | Class::Output)
}

/// What a piece's first and further lines begin with in Markdown.
fn prefixes(class: Class, role: Role) -> (&'static str, &'static str) {
    match (class, role) {
        (_, Role::User) => ("> ", "> "),
        (Class::Call | Class::Change | Class::Commit | Class::State, _) => ("- ", "  "),
        (Class::Content | Class::Failure | Class::Verdict | Class::Edge | Class::Output, _) => ("  ", "  "),
        (_, Role::Tool) => ("  ", "  "),
        _ => ("", ""),
    }
}
