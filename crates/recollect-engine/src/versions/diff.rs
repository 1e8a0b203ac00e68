//! Compares two versions of a session, or one with the original: by lines, with words inside changed lines.

use std::collections::BTreeSet;

use similar::{ChangeTag, TextDiff};

use super::{Source, find, store};
use crate::api::version::{
    DiffKeepit, DiffLine, DiffLineKind, DiffMessages, DiffWord, VersionDiff, VersionDiffRequest,
};
use crate::compress;
use crate::db::KeepitRow;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{SessionId, VersionId};
use crate::registry;

/// Equal lines shown around a change.
const CONTEXT: usize = 3;

/// Characters of a marked passage that are shown.
const SHOWN: usize = 160;

/// Compares; `original` names the session itself, told in the same way with nothing left out.
///
/// # Errors
/// `NotFound` when a version is not there.
pub fn diff(engine: &Engine, request: &VersionDiffRequest) -> Result<VersionDiff> {
    let session = registry::resolve(engine, &request.session)?;
    let keepits = engine.db().read(|rows| rows.keepits(&session))?;
    let left = side(engine, &session, &request.left)?;
    let right = side(engine, &session, &request.right)?;
    let (lines, added, removed) = compare(&left.markdown, &right.markdown);
    let keepits = keepits
        .into_iter()
        .map(|keepit| DiffKeepit {
            left: left.keeps(&keepit),
            right: right.keeps(&keepit),
            content: keepit.content.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect(),
            weight: f64::from(keepit.weight) / 100.0,
            message_index: keepit.message_index,
            marker_id: keepit.marker_id,
        })
        .collect();
    Ok(VersionDiff {
        left: request.left.clone(),
        right: request.right.clone(),
        left_tokens: left.tokens,
        right_tokens: right.tokens,
        added,
        removed,
        lines,
        messages: told(&left.messages, &right.messages),
        keepits,
    })
}

/// One side of a comparison.
struct Side {
    /// `None` for the session itself, which has every mark.
    version: Option<VersionId>,
    markdown: String,
    tokens: u64,
    /// Indexes of the messages of the session that it tells of.
    messages: BTreeSet<u32>,
}

impl Side {
    fn keeps(&self, keepit: &KeepitRow) -> bool {
        self.version.as_ref().is_none_or(|version| keepit.survived_in.contains(version))
    }
}

fn side(engine: &Engine, session: &SessionId, version: &VersionId) -> Result<Side> {
    if version.as_str() == "original" {
        let source = Source::load(engine, session, None)?;
        return Ok(Side {
            version: None,
            markdown: compress::whole(&source.input(), *engine.counter())?,
            tokens: source.tokens.iter().sum(),
            messages: source.messages.iter().map(|message| message.index).collect(),
        });
    }
    let row = find(engine, session, version)?;
    Ok(Side {
        version: Some(version.clone()),
        markdown: store::read_markdown(engine, &row)?,
        tokens: row.output_tokens,
        messages: store::read_version(engine, &row)?.into_iter().flat_map(|message| message.source_indexes).collect(),
    })
}

/// Which messages both sides tell of, and which one of them.
fn told(left: &BTreeSet<u32>, right: &BTreeSet<u32>) -> DiffMessages {
    let left_only: Vec<u32> = left.difference(right).copied().collect();
    let right_only: Vec<u32> = right.difference(left).copied().collect();
    DiffMessages {
        both: left.intersection(right).count() as u64,
        left_only: left_only.len() as u64,
        right_only: right_only.len() as u64,
        left_ranges: ranges(&left_only),
        right_ranges: ranges(&right_only),
    }
}

/// Rising numbers as stretches without a gap.
fn ranges(numbers: &[u32]) -> Vec<(u32, u32)> {
    let stretches = numbers.chunk_by(|one, next| one + 1 == *next);
    stretches.filter_map(|stretch| Some((*stretch.first()?, *stretch.last()?))).collect()
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
    fn messages_are_told_apart_by_who_tells_of_them() {
        let left = BTreeSet::from([0, 1, 2, 5, 6, 9]);
        let right = BTreeSet::from([2, 3, 9]);
        let told = told(&left, &right);
        assert_eq!((told.both, told.left_only, told.right_only), (2, 4, 1));
        assert_eq!((told.left_ranges, told.right_ranges), (vec![(0, 1), (5, 6)], vec![(3, 3)]));
    }

    #[test]
    fn equal_texts_are_one_fold() {
        let (lines, added, removed) = compare("a\nb\n", "a\nb\n");
        assert_eq!((lines.len(), added, removed), (1, 0, 0));
        assert_eq!(lines[0].words[0].text, "2 equal lines");
    }
}
