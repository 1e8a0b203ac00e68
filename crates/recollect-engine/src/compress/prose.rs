//! Cuts what somebody wrote into sentences, lists and code, so that a part can stand for the whole.

use unicode_segmentation::UnicodeSegmentation;

use super::piece::{Class, Join, Piece, head};

/// Bytes of a piece of code or of an unbroken text.
const PIECE_BYTES: usize = 360;

/// Cuts a text into pieces of class `class`; code and tables become [`Class::Code`].
///
/// With `flowing`, line breaks inside prose become spaces, as in a request that is told in one breath.
pub(super) fn pieces(text: &str, class: Class, flowing: bool) -> Vec<Piece> {
    let mut cutter = Cutter { class, flowing, pieces: Vec::new(), words: 0 };
    let mut paragraph = String::new();
    let mut code: Vec<&str> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut join = Join::Paragraph;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(mark) = fence {
            code.push(line.trim_end());
            if trimmed.starts_with(mark) {
                cutter.code(&code, join);
                code.clear();
                fence = None;
                join = Join::Paragraph;
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            cutter.prose(&mut paragraph, join);
            fence = Some(mark);
            code.push(line.trim_end());
            join = Join::Line;
        } else if trimmed.is_empty() {
            cutter.prose(&mut paragraph, join);
            join = Join::Paragraph;
        } else if is_rule(trimmed) {
            cutter.prose(&mut paragraph, join);
        } else if trimmed.starts_with('|') && trimmed.ends_with('|') && trimmed.len() > 2 {
            cutter.prose(&mut paragraph, join);
            cutter.line(trimmed, Class::Code, join);
            join = Join::Line;
        } else if is_heading(trimmed) {
            cutter.prose(&mut paragraph, join);
            cutter.line(trimmed, Class::Heading, join);
            join = Join::Line;
        } else if is_item(trimmed) {
            cutter.prose(&mut paragraph, join);
            // Nesting is kept, so that the item still reads as what it was.
            paragraph.push_str(if flowing { trimmed } else { line.trim_end() });
            if !cutter.pieces.is_empty() && join == Join::Paragraph {
                join = Join::Line;
            }
        } else {
            if !paragraph.is_empty() {
                if flowing || line.starts_with(' ') || !ends_sentence(&paragraph) {
                    paragraph.push(' ');
                } else {
                    cutter.prose(&mut paragraph, join);
                    join = Join::Line;
                }
            }
            paragraph.push_str(trimmed);
        }
        if paragraph.is_empty() && fence.is_none() && !trimmed.is_empty() {
            join = Join::Line;
        }
    }
    cutter.prose(&mut paragraph, join);
    if !code.is_empty() {
        cutter.code(&code, join);
    }
    cutter.pieces
}

struct Cutter {
    class: Class,
    flowing: bool,
    pieces: Vec<Piece>,
    words: u32,
}

impl Cutter {
    fn push(&mut self, text: &str, join: Join, class: Class, lines: u32) {
        let words_before = self.words;
        self.words += text.split_whitespace().count() as u32;
        let join = match join {
            Join::Line | Join::Paragraph if self.flowing && class == self.class => Join::Space,
            join => join,
        };
        self.pieces.push(Piece { lines, words_before, ..Piece::new(text, join, class) });
    }

    fn line(&mut self, text: &str, class: Class, join: Join) {
        for (at, part) in portions(text).enumerate() {
            self.push(part, if at == 0 { join } else { Join::Nothing }, class, 1);
        }
    }

    /// A paragraph or list item, sentence by sentence.
    fn prose(&mut self, paragraph: &mut String, mut join: Join) {
        let mut held = String::new();
        for sentence in paragraph.split_sentence_bounds() {
            held.push_str(sentence);
            if held.trim().is_empty() {
                continue;
            }
            // "1." and "e.g." end no sentence, whatever follows.
            if is_fragment(held.trim()) {
                continue;
            }
            let text = if join == Join::Space { held.trim() } else { held.trim_end() };
            self.sentence(text, join);
            join = Join::Space;
            held.clear();
        }
        if !held.trim().is_empty() {
            self.sentence(held.trim_end(), join);
        }
        paragraph.clear();
    }

    fn sentence(&mut self, text: &str, join: Join) {
        for (at, part) in portions(text).enumerate() {
            self.push(part, if at == 0 { join } else { Join::Nothing }, self.class, 1);
        }
    }

    /// A code block, in pieces of some lines; its fences go with the first and the last.
    fn code(&mut self, lines: &[&str], join: Join) {
        let mut held = String::new();
        let mut count = 0;
        let mut join = join;
        for (at, line) in lines.iter().enumerate() {
            let last = at + 1 == lines.len();
            if !held.is_empty() && held.len() + line.len() > PIECE_BYTES && !last {
                self.push(&held, join, Class::Code, count);
                held.clear();
                count = 0;
                join = Join::Line;
            }
            if line.len() > 2 * PIECE_BYTES {
                if !held.is_empty() {
                    self.push(&held, join, Class::Code, count);
                    held.clear();
                    count = 0;
                    join = Join::Line;
                }
                self.line(line, Class::Code, join);
                join = Join::Line;
                continue;
            }
            if count > 0 {
                held.push('\n');
            }
            held.push_str(line);
            count += 1;
        }
        if count > 0 {
            self.push(&held, join, Class::Code, count);
        }
    }
}

/// Cuts an unbroken text into portions; most texts are one.
pub(super) fn portions(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if rest.len() <= 2 * PIECE_BYTES {
            return Some(std::mem::take(&mut rest));
        }
        let near = head(rest, PIECE_BYTES);
        let part = match near.rfind([' ', ',', ';']) {
            Some(at) if at > PIECE_BYTES / 2 => &near[..=at],
            _ => near,
        };
        rest = &rest[part.len()..];
        Some(part)
    })
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && ["-", "*", "=", "_", "─"].iter().any(|mark| line.replace(mark, "").trim().is_empty())
}

fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ')
}

fn is_item(line: &str) -> bool {
    let bullet = ["- ", "* ", "+ ", "• ", "> "].iter().any(|mark| line.starts_with(mark));
    bullet || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        (1..=3).contains(&digits) && (line[digits..].starts_with(". ") || line[digits..].starts_with(") "))
    }
}

fn ends_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '…']) || text.len() < 60
}

/// A beginning that cannot stand as a sentence of its own.
fn is_fragment(text: &str) -> bool {
    let bare = text.trim_end_matches(['.', ')']);
    text.len() < 12
        && (bare.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'*' | b' '))
            || ["e.g.", "i.e.", "vs.", "etc.", "cf.", "Dr.", "Mr.", "Ms.", "Mrs.", "St.", "No."]
                .iter()
                .any(|short| text.ends_with(short)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, flowing: bool) -> Vec<String> {
        pieces(text, Class::Sentence, flowing).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn prose_is_cut_at_sentences_and_lists_at_items() {
        assert_eq!(
            texts("One thing. Two things!\n\n- first\n- second one. More.", false),
            ["One thing.", "Two things!", "- first", "- second one.", "More."]
        );
        assert_eq!(texts("1. do this\n2. do that", false), ["1. do this", "2. do that"], "a number is no sentence");
    }

    #[test]
    fn code_stays_together_and_apart_from_prose() {
        let found = pieces("See:\n```rust\nfn a() {}\nfn b() {}\n```\nDone.", Class::Sentence, false);
        let code: Vec<_> = found.iter().filter(|piece| piece.class == Class::Code).collect();
        assert_eq!(code.len(), 1);
        assert_eq!(code[0].text, "```rust\nfn a() {}\nfn b() {}\n```");
        assert_eq!(code[0].lines, 4);
    }

    #[test]
    fn a_flowing_request_is_one_line() {
        assert!(
            pieces("please\ndo it\n\nand this", Class::Sentence, true)
                .iter()
                .skip(1)
                .all(|piece| piece.join == Join::Space)
        );
    }

    #[test]
    fn an_unbroken_text_is_cut_between_characters() {
        let long = "ж".repeat(3000);
        assert_eq!(texts(&long, false).concat(), long, "nothing gets lost");
        assert!(texts(&long, false).len() > 4);
    }
}
