//! What a tool returned, cut so that the lines that matter can stand alone: what went wrong, sums, first and last lines.

use super::calls::Tool;
use super::clean::plain_output;
use super::piece::{Class, Join, Piece, head};
use super::prose::{self, portions};

/// Lines and bytes of a piece of plain output.
const CHUNK_LINES: usize = 8;
const CHUNK_BYTES: usize = 320;

/// Lines that say what went wrong are looked at until so many were found.
const FAILURES: usize = 12;

/// Bytes of one output that are looked at; of a longer one, its two ends.
const LONGEST: usize = 4 << 20;

/// Pieces of a tool's result.
pub(super) fn pieces(tool: Tool, text: &str, failed: bool) -> Vec<Piece> {
    let text = plain_output(text);
    if text.trim().is_empty() {
        return Vec::new();
    }
    match tool {
        Tool::Agent if !failed => prose::pieces(&text, Class::Report, false),
        // The state of the list is told by the call, a change by its lines; the client's "done" adds nothing.
        Tool::Tasks | Tool::Change if !failed => Vec::new(),
        Tool::Ask => prose::pieces(&text, Class::Sentence, true),
        _ => lines(tool, &text, failed),
    }
}

fn lines(tool: Tool, text: &str, failed: bool) -> Vec<Piece> {
    let mut lines: Vec<&str> = Vec::new();
    if text.len() > LONGEST {
        lines.extend(head(text, LONGEST / 2).lines());
        let mut tail = text.len() - LONGEST / 2;
        while !text.is_char_boundary(tail) {
            tail += 1;
        }
        lines.extend(text[tail..].lines());
    } else {
        lines.extend(text.lines());
    }
    lines.retain(|line| !line.trim().is_empty());
    let last = lines.len().saturating_sub(1);
    let telling = matches!(tool, Tool::Shell | Tool::Other) || failed;
    let mut pieces: Vec<Piece> = Vec::new();
    let mut failures = 0;
    let mut chunk: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let class = if telling && failures < FAILURES && is_failure(line, failed) {
            failures += 1;
            Class::Failure
        } else if telling && is_verdict(line) {
            Class::Verdict
        } else if tool != Tool::Read && (at == 0 || at == last) {
            Class::Edge
        } else {
            if chunk.len() == CHUNK_LINES
                || chunk.iter().map(|line| line.len()).sum::<usize>() + line.len() > CHUNK_BYTES
            {
                push_chunk(&mut pieces, &mut chunk);
            }
            chunk.push(line);
            continue;
        };
        push_chunk(&mut pieces, &mut chunk);
        push_line(&mut pieces, line.trim_end(), class);
    }
    push_chunk(&mut pieces, &mut chunk);
    if failed && failures == 0 {
        // It failed without saying so in words that are known: its first line is the reason.
        if let Some(first) = pieces.first_mut() {
            first.class = Class::Failure;
        }
    }
    pieces
}

fn push_chunk(pieces: &mut Vec<Piece>, chunk: &mut Vec<&str>) {
    match chunk.as_slice() {
        [] => {}
        [line] => push_line(pieces, line.trim_end(), Class::Output),
        lines => {
            let text: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
            pieces.push(Piece { lines: lines.len() as u32, ..Piece::new(text.join("\n"), Join::Line, Class::Output) });
        }
    }
    chunk.clear();
}

fn push_line(pieces: &mut Vec<Piece>, line: &str, class: Class) {
    for (at, part) in portions(line).enumerate() {
        let (join, class) = if at == 0 { (Join::Line, class) } else { (Join::Nothing, Class::Output) };
        let mut piece = Piece::new(part, join, class);
        piece.lines = u32::from(at == 0);
        pieces.push(piece);
    }
}

/// Words by which tools of every kind say that something went wrong.
const FAILURE_WORDS: &[&str] = &[
    "error",
    "failed",
    "failure",
    "exception",
    "panicked",
    "traceback",
    "not found",
    "cannot",
    "can't",
    "could not",
    "denied",
    "fatal",
    "refused",
    "invalid",
    "unable to",
    "undefined",
    "no such",
    "not recognized",
    "unexpected",
    "timed out",
    "conflict",
];

/// The line says what went wrong. In the output of a call that did not fail, only where it says so up front.
fn is_failure(line: &str, failed: bool) -> bool {
    let shown = head(line, 400).to_ascii_lowercase();
    if shown.contains("0 failed") || shown.contains("0 errors") || shown.contains("no errors") {
        return false;
    }
    if failed {
        return FAILURE_WORDS.iter().any(|word| shown.contains(word));
    }
    let trimmed = shown.trim_start_matches(|character: char| !character.is_alphanumeric());
    ["error", "fatal", "panic", "traceback", "exception", "fail"].iter().any(|word| trimmed.starts_with(word))
        || shown.contains("error:")
        || shown.contains("error[")
        || shown.contains("panicked at")
        || shown.contains("exception:")
}

/// The line sums up: counts of tests, an exit status, a total.
fn is_verdict(line: &str) -> bool {
    if line.len() > 200 || !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let shown = line.to_ascii_lowercase();
    [
        "passed",
        "failed",
        "exit code",
        "test result",
        "tests:",
        "warnings generated",
        "errors",
        "files changed",
        "file changed",
        "vulnerabilities",
    ]
    .iter()
    .any(|word| shown.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_class(pieces: &[Piece], class: Class) -> Vec<&str> {
        pieces.iter().filter(|piece| piece.class == class).map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn what_went_wrong_and_the_sum_stand_alone() {
        let output = "   Compiling a\n   Compiling b\n   Compiling c\nerror[E0308]: mismatched types\n  --> src/a.rs:1\ntest result: FAILED. 3 passed; 1 failed\nmore\nlast";
        let found = pieces(Tool::Shell, output, true);
        assert_eq!(
            of_class(&found, Class::Failure),
            ["error[E0308]: mismatched types", "test result: FAILED. 3 passed; 1 failed"]
        );
        assert_eq!(of_class(&found, Class::Edge), ["   Compiling a", "last"]);
        let whole: Vec<&str> = found.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(whole.join("\n"), output, "nothing gets lost, it is only cut");
    }

    #[test]
    fn a_failure_in_other_words_is_its_first_line() {
        let found = pieces(Tool::Shell, "Oh dear\nit broke", true);
        assert_eq!(of_class(&found, Class::Failure), ["Oh dear"]);
    }

    #[test]
    fn a_file_that_talks_of_errors_has_not_failed() {
        assert!(of_class(&pieces(Tool::Read, "1\terror: none\n2\tok", false), Class::Failure).is_empty());
    }

    #[test]
    fn a_huge_line_is_cut_and_kept() {
        let line = "x".repeat(100_000);
        let found = pieces(Tool::Shell, &line, false);
        assert_eq!(found.iter().map(|piece| piece.text.as_str()).collect::<String>(), line);
        assert!(found.iter().all(|piece| piece.text.len() < 1000));
    }
}
