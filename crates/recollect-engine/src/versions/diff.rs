//! Compares two versions of a session, or one with the original: by lines, with words inside changed lines.

use similar::{ChangeTag, TextDiff};

use super::{Source, find, store};
use crate::api::compression::{DiffLine, DiffLineKind, DiffWord, VersionDiff, VersionDiffRequest};
use crate::compress;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{SessionId, VersionId};
use crate::registry;

/// Equal lines shown around a change.
const CONTEXT: usize = 3;

/// Compares; `original` names the session itself, told in the same way with nothing left out.
///
/// # Errors
/// `NotFound` when a version is not there.
pub fn diff(engine: &Engine, request: &VersionDiffRequest) -> Result<VersionDiff> {
    let session = registry::resolve(engine, &request.session)?;
    let (left, left_tokens) = side(engine, &session, &request.left)?;
    let (right, right_tokens) = side(engine, &session, &request.right)?;
    let (lines, added, removed) = compare(&left, &right);
    Ok(VersionDiff {
        left: request.left.clone(),
        right: request.right.clone(),
        left_tokens,
        right_tokens,
        added,
        removed,
        lines,
    })
}

fn side(engine: &Engine, session: &SessionId, version: &VersionId) -> Result<(String, u64)> {
    if version.as_str() == "original" {
        let source = Source::load(engine, session, None)?;
        let tokens = source.tokens.iter().sum();
        return Ok((compress::whole(&source.input(), *engine.counter())?, tokens));
    }
    let row = find(engine, session, version)?;
    Ok((store::read_markdown(engine, &row)?, row.output_tokens))
}

/// The lines, how many were added, how many removed.
fn compare(left: &str, right: &str) -> (Vec<DiffLine>, u64, u64) {
    let diff = TextDiff::from_lines(left, right);
    let (mut lines, mut added, mut removed) = (Vec::new(), 0, 0);
    let mut shown = (0, 0);
    for group in diff.grouped_ops(CONTEXT) {
        if let Some(first) = group.first() {
            skip(&mut lines, first.old_range().start - shown.0, shown);
        }
        for operation in &group {
            for change in diff.iter_inline_changes(operation) {
                let kind = match change.tag() {
                    ChangeTag::Equal => DiffLineKind::Equal,
                    ChangeTag::Insert => DiffLineKind::Added,
                    ChangeTag::Delete => DiffLineKind::Removed,
                };
                added += u64::from(kind == DiffLineKind::Added);
                removed += u64::from(kind == DiffLineKind::Removed);
                let words = change
                    .iter_strings_lossy()
                    .map(|(changed, text)| DiffWord { text: text.trim_end_matches('\n').to_owned(), changed })
                    .filter(|word| !word.text.is_empty())
                    .collect();
                lines.push(DiffLine {
                    kind,
                    left_line: change.old_index().map(|at| at as u64 + 1),
                    right_line: change.new_index().map(|at| at as u64 + 1),
                    words,
                });
            }
            shown = (operation.old_range().end, operation.new_range().end);
        }
    }
    skip(&mut lines, left.lines().count().saturating_sub(shown.0), shown);
    (lines, added, removed)
}

/// Stands for equal lines that are not shown.
fn skip(lines: &mut Vec<DiffLine>, count: usize, after: (usize, usize)) {
    if count > 0 {
        lines.push(DiffLine {
            kind: DiffLineKind::Skipped,
            left_line: Some(after.0 as u64 + 1),
            right_line: Some(after.1 as u64 + 1),
            words: vec![DiffWord { text: format!("{count} equal lines"), changed: false }],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_stand_out_and_long_equal_stretches_are_folded() {
        let same: String = (0..20).map(|at| format!("line {at}\n")).collect();
        let (lines, added, removed) = compare(&format!("{same}the old word\n"), &format!("{same}the new word\n"));
        assert_eq!((added, removed), (1, 1));
        assert_eq!(lines[0].kind, DiffLineKind::Skipped);
        assert_eq!(lines[0].words[0].text, "17 equal lines");
        let new = lines.iter().find(|line| line.kind == DiffLineKind::Added).expect("a line was added");
        let changed: Vec<&str> = new.words.iter().filter(|word| word.changed).map(|word| word.text.as_str()).collect();
        assert_eq!(changed, ["new"], "only the word that differs is emphasised");
    }

    #[test]
    fn equal_texts_are_one_fold() {
        let (lines, added, removed) = compare("a\nb\n", "a\nb\n");
        assert_eq!((lines.len(), added, removed), (1, 0, 0));
        assert_eq!(lines[0].words[0].text, "2 equal lines");
    }
}
