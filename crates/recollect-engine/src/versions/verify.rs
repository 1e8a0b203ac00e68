//! Proves that a version is what its settings make of its session: makes it again, and compares the bytes.

use similar::TextDiff;

use super::delta::is_built_in;
use super::made::{NEW, again};
use super::outline::Outline;
use super::{Source, behind, find, run, store};
use crate::api::compression::Lineage;
use crate::api::version::{TextDifference, VerifiedBy, VersionVerified, VersionVerifyRequest};
use crate::compress;
use crate::db::{PartRow, VersionRow};
use crate::engine::Call;
use crate::error::{ErrorKind, Result};
use crate::registry;

/// Longest line that is shown of a difference, in characters.
const SHOWN: usize = 200;

/// Makes a version again as far as that can be done, and says whether it is the same, and if not, why.
///
/// # Errors
/// `NotFound` when there is no such version; `Cancelled`. What differs is not an error.
pub fn verify(call: &Call<'_>, request: &VersionVerifyRequest) -> Result<VersionVerified> {
    let engine = call.engine;
    let session = registry::resolve(engine, &request.session)?;
    store::reconcile(engine, &session)?;
    let row = find(engine, &session, &request.version)?;
    let outline = Outline::load(engine, &session)?;
    let mut verified = VersionVerified {
        session_id: session,
        version_id: row.version_id.clone(),
        identical: false,
        by: if by_model(&row) { VerifiedBy::Input } else { VerifiedBy::Text },
        covers: row.parts.first().zip(row.parts.last()).map(|(first, last)| (first.first, last.last)),
        reasons: Vec::new(),
        difference: None,
        behind: engine.db().read(|rows| behind(rows, &row))?,
    };
    let intact = store::is_as_written(engine, &row)?;
    if !intact {
        verified.reasons.push("its files are not as they were written: changed, damaged or gone".to_owned());
    }
    if row.parts.is_empty() {
        verified.reasons.push("it does not say what it was made from".to_owned());
        return Ok(verified);
    }
    let changed = changes(engine, &outline, &row)?;
    if verified.by == VerifiedBy::Input {
        verified.identical = intact && changed.is_empty();
        verified.reasons.extend(changed);
        return Ok(verified);
    }
    match texts(call, &outline, &row) {
        Ok((markdown, jsonl)) => {
            let stored = store::read_markdown(engine, &row).unwrap_or_default();
            verified.identical = store::sha256(markdown.as_bytes()) == row.provenance.markdown_hash
                && store::sha256(jsonl.as_bytes()) == row.provenance.jsonl_hash
                && intact;
            verified.difference = difference(&stored, &markdown);
        }
        Err(error) if error.kind == ErrorKind::Cancelled => return Err(error),
        Err(error) => verified.reasons.push(format!("it could not be made again: {}", error.message)),
    }
    if !verified.identical {
        verified.reasons.extend(changed);
        if row.provenance.revision != compress::REVISION {
            verified.reasons.push(format!(
                "it was made by revision {} of the engine, this is {}",
                row.provenance.revision,
                compress::REVISION
            ));
        }
        if verified.reasons.is_empty() {
            verified.reasons.push("the compression gives something else, although nothing else changed".to_owned());
        }
    }
    Ok(verified)
}

/// Whether a model made it, or a part of it: it would not answer the same again, and is not paid for twice.
fn by_model(row: &VersionRow) -> bool {
    let part = |part: &PartRow| part.made_by.is_some() || part.settings.as_ref().is_some_and(|own| !is_built_in(own));
    !is_built_in(&row.settings) || row.model_run.is_some() || row.parts.iter().any(part)
}

/// What of that which it was made from is not as it was, in words.
fn changes(engine: &crate::engine::Engine, outline: &Outline, row: &VersionRow) -> Result<Vec<String>> {
    if row.lineage == Lineage::From {
        let Some(from) = &row.source_version else { return Ok(Vec::new()) };
        let source = match find(engine, &row.session_id, from) {
            Ok(source) => source,
            Err(error) if error.kind == ErrorKind::NotFound => {
                return Ok(vec![format!("{from}, from which it was made, is gone")]);
            }
            Err(error) => return Err(error),
        };
        let as_it_was = row.parts.iter().all(|part| part.messages_hash == source.provenance.jsonl_hash);
        let same = as_it_was && store::is_as_written(engine, &source)?;
        return Ok(if same { Vec::new() } else { vec![format!("{from}, from which it was made, is not as it was")] });
    }
    let mut changes = Vec::new();
    let mut from = 0;
    for part in &row.parts {
        let range = format!("messages {}–{}", part.first + 1, part.last + 1);
        if outline.messages_hash(from, part.last) != part.messages_hash {
            changes.push(format!("something was said otherwise in {range} since"));
        }
        let verdicts = outline.verdicts(from, part.last, part.settings.as_ref().unwrap_or(&row.settings))?;
        if outline.keepits_hash(from, part.last, &verdicts) != part.keepits_hash {
            changes.push(format!("marks in {range}, or how they decay, changed since"));
        }
        if outline.tokens(part.first, part.last) != part.original_tokens {
            changes.push(format!("the tokens of {range} are counted otherwise than they were"));
        }
        from = part.last.saturating_add(1);
    }
    Ok(changes)
}

/// Both files, made again.
fn texts(call: &Call<'_>, outline: &Outline, row: &VersionRow) -> Result<(String, String)> {
    let engine = call.engine;
    let head = row.provenance.head.clone().unwrap_or_else(|| outline.head.clone());
    let load = || match (&row.lineage, &row.source_version, row.parts.last()) {
        (Lineage::From, Some(from), _) => Source::load(engine, &row.session_id, Some(from)).map(Some),
        (Lineage::Original, _, Some(part)) if row.parts.len() == 1 => {
            Source::load_range(engine, &row.session_id, 0, part.last).map(Some)
        }
        _ => Ok(None),
    };
    let outcome = match load()? {
        Some(mut source) => {
            source.head = head.clone();
            run(call, &source, &super::asked(&row.settings, false))?
        }
        None => {
            let parts: Vec<PartRow> = row.parts.iter().map(|part| own(part, row)).collect();
            again(call, outline, &head, &row.settings, &parts)?
        }
    };
    let jsonl = compress::to_jsonl(&head, &outcome.messages)?;
    Ok((outcome.markdown, jsonl))
}

/// A part as it was called while its version was made.
fn own(part: &PartRow, row: &VersionRow) -> PartRow {
    let made_in = if part.made_in == row.version_id { NEW.into() } else { part.made_in.clone() };
    PartRow { made_in, ..part.clone() }
}

/// The first line in which two texts differ.
fn difference(stored: &str, made_again: &str) -> Option<TextDifference> {
    let diff = TextDiff::from_lines(stored, made_again);
    let first = diff.ops().iter().find(|operation| operation.tag() != similar::DiffTag::Equal)?;
    let line = |text: &str, at: usize| text.lines().nth(at).map(|line| line.chars().take(SHOWN).collect::<String>());
    let (left, right) = (first.old_range(), first.new_range());
    Some(TextDifference {
        line: left.start as u64 + 1,
        stored: if left.is_empty() { None } else { line(stored, left.start) },
        made_again: if right.is_empty() { None } else { line(made_again, right.start) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_shown() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let found = difference("a\nold\nc\n", "a\nnew\nc\n").expect("a difference");
        assert_eq!((found.line, found.stored.as_deref(), found.made_again.as_deref()), (2, Some("old"), Some("new")));
        let more = difference("a\n", "a\nmore\n").expect("a difference");
        assert_eq!((more.line, more.stored, more.made_again.as_deref()), (2, None, Some("more")));
    }
}
