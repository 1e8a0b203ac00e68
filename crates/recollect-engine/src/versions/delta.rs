//! Delta compression (product decision 16): which parts of earlier versions stand as they are, and what has to be compressed.
//!
//! A part is taken over only when nothing that it depends on changed: the messages that it tells of, by their hashes, and the
//! marks in them that survive. Tiers are laid over each part by itself: a part keeps what it had when the session
//! grows, and the whole never has more than its tiers allow. `full` lays them over the whole session again.

use super::outline::Outline;
use super::{find, store};
use crate::api::compression::{CompressionSettings, Lineage, PartRequest};
use crate::compress;
use crate::db::{PartRow, VersionRow};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::SessionId;
use crate::summarize;

/// What is to become of a stretch of the session.
#[derive(Debug, Clone)]
pub(super) enum Segment {
    /// A part of an earlier version, as it is.
    Reused { part: Box<PartRow> },
    /// Compressed now: indexes of the first and last message; settings where they are not those of the whole.
    Anew { first: u32, last: u32, settings: Option<CompressionSettings> },
}

/// How a version is going to be made.
#[derive(Debug)]
pub(super) struct Plan {
    /// The version that parts are taken from; without one, all is compressed at once.
    pub(super) base: Option<VersionRow>,
    /// What it is made of, in order.
    pub(super) segments: Vec<Segment>,
    pub(super) lineage: Lineage,
    /// The settings of the whole.
    pub(super) settings: CompressionSettings,
    /// Why what another version has was not taken over, in words.
    pub(super) anew: Vec<String>,
}

impl Plan {
    /// All at once.
    pub(super) fn whole(settings: CompressionSettings, anew: Vec<String>) -> Self {
        Self { base: None, segments: Vec::new(), lineage: Lineage::Original, settings, anew }
    }

    /// Takes over what it can of the versions that there are.
    ///
    /// # Errors
    /// When the versions cannot be read; `Conflict` when nothing is new and a model would be asked about all of it again.
    pub(super) fn extend(
        engine: &Engine,
        session: &SessionId,
        outline: &Outline,
        settings: &CompressionSettings,
    ) -> Result<Self> {
        let mut anew = Vec::new();
        for base in candidates(engine, session, outline, settings)? {
            let id = &base.version_id;
            if base.engine == compress::ENGINE && base.provenance.revision != compress::REVISION {
                anew.push(format!("{id} was made by an older revision of the engine"));
                continue;
            }
            if let Some(model) = other_model(engine, &base, settings)? {
                anew.push(format!("{id} was made by {model}"));
                continue;
            }
            if !store::is_as_written(engine, &base)? {
                anew.push(format!("the files of {id} were changed since it was made"));
                continue;
            }
            let mut segments = Vec::new();
            let mut from = 0;
            for part in &base.parts {
                match change(outline, part, from, settings)? {
                    None => segments.push(Segment::Reused { part: Box::new(part.clone()) }),
                    Some(what) => {
                        anew.push(format!("{what} in messages {}–{} since {id}", part.first + 1, part.last + 1));
                        segments.push(Segment::Anew { first: from, last: part.last, settings: None });
                    }
                }
                from = part.last + 1;
            }
            let is_reused = |segment: &Segment| matches!(segment, Segment::Reused { .. });
            let reaches_the_end = outline.lines.last().is_none_or(|line| line.index < from);
            if reaches_the_end && segments.iter().all(is_reused) {
                // All is there already: who asks for it again wants it made again. In one piece a model has answered already;
                // several it would be asked about, and paid for, as a whole.
                if base.parts.len() > 1 && !is_built_in(settings) {
                    return Err(Error::conflict(format!("nothing was said since {id}, which has the same settings"))
                        .hint("use it, or compress all of it anew with --full"));
                }
                break;
            }
            if segments.iter().any(is_reused) {
                let lineage = if reaches_the_end { Lineage::Part } else { Lineage::Extended };
                if !reaches_the_end {
                    segments.push(Segment::Anew { first: from, last: u32::MAX, settings: None });
                }
                return Ok(Self { base: Some(base), segments, lineage, settings: settings.clone(), anew });
            }
        }
        Ok(Self::whole(settings.clone(), anew))
    }

    /// Compresses one part of a version.
    ///
    /// # Errors
    /// `NotFound` when there is no such version or part, `Usage` when the version was made from another one, `Conflict` when its
    /// files were changed.
    pub(super) fn part(
        engine: &Engine,
        session: &SessionId,
        request: &PartRequest,
        settings: &CompressionSettings,
    ) -> Result<Self> {
        let base = find(engine, session, &request.version)?;
        let id = &base.version_id;
        if base.lineage == Lineage::From {
            let source = base.source_version.as_ref().map_or_else(String::new, ToString::to_string);
            return Err(Error::usage(format!(
                "{id} was made from the text of {source}: it has no parts of the session"
            ))
            .hint(format!("compress {source} again with other settings")));
        }
        let chosen = (request.number as usize).checked_sub(1).filter(|number| *number < base.parts.len());
        let Some(chosen) = chosen else {
            return Err(Error::not_found(format!("{id} has no part {}", request.number)).hint(
                match base.parts.len() {
                    0 => "it does not say what its parts are: compress the session anew".to_owned(),
                    1 => "it has one part".to_owned(),
                    parts => format!("its parts are 1 to {parts}"),
                },
            ));
        };
        if !store::is_as_written(engine, &base)? {
            return Err(Error::conflict(format!("the files of {id} were changed since it was made"))
                .hint("compress the session anew, or restore them from a backup"));
        }
        let mut from = 0;
        let mut segments = Vec::new();
        for (number, part) in base.parts.iter().enumerate() {
            segments.push(if number == chosen {
                let settings = (!is_same(settings, &base.settings)).then(|| settings.clone());
                Segment::Anew { first: from, last: part.last, settings }
            } else {
                Segment::Reused { part: Box::new(part.clone()) }
            });
            from = part.last + 1;
        }
        let settings = base.settings.clone();
        Ok(Self { base: Some(base), segments, lineage: Lineage::Part, settings, anew: Vec::new() })
    }
}

/// Versions of the session all of whose parts have the same settings: those that reach farthest first, of equals the newest.
fn candidates(
    engine: &Engine,
    session: &SessionId,
    outline: &Outline,
    settings: &CompressionSettings,
) -> Result<Vec<VersionRow>> {
    let Some(end) = outline.lines.last().map(|line| line.index) else { return Ok(Vec::new()) };
    let reach = |row: &VersionRow| row.parts.last().map(|part| part.last);
    let mut rows: Vec<VersionRow> = engine.db().read(|rows| rows.versions(session))?;
    rows.retain(|row| {
        row.lineage != Lineage::From
            && reach(row).is_some_and(|reach| reach <= end)
            && row.parts.iter().all(|part| part.settings.is_none())
            && is_same(settings, &row.settings)
    });
    rows.sort_by_key(|row| std::cmp::Reverse((reach(row), row.number)));
    Ok(rows)
}

/// Whether two settings compress in the same way. The distance is left to the marks: it decides nothing else.
pub(super) fn is_same(left: &CompressionSettings, right: &CompressionSettings) -> bool {
    let plain = |settings: &CompressionSettings| CompressionSettings {
        session_distance: None,
        max_cost: None,
        engine: Some(settings.engine.clone().unwrap_or_else(|| compress::ENGINE.to_owned())),
        model: if is_built_in(settings) { None } else { settings.model.clone() },
        ..settings.clone()
    };
    plain(left) == plain(right)
}

/// Whether settings ask for the engine that costs nothing and always gives the same.
pub(super) fn is_built_in(settings: &CompressionSettings) -> bool {
    settings.engine.as_deref().is_none_or(|engine| engine == compress::ENGINE)
}

/// The model that a version, or a part of it, was made by, in words, when it is not the one that would be asked now: settings
/// that leave the model to the configuration mean another one when that changes.
fn other_model(engine: &Engine, base: &VersionRow, settings: &CompressionSettings) -> Result<Option<String>> {
    let Some(asked) = summarize::asked(engine, settings)? else { return Ok(None) };
    let is_same = |part: &PartRow| {
        part.address.as_ref() == Some(&asked.endpoint.address)
            && part
                .made_by
                .as_ref()
                .is_some_and(|run| run.model == asked.model.id && run.prompt_version == summarize::PROMPT_VERSION)
    };
    Ok(base.parts.iter().find(|part| !is_same(part)).map(|part| match &part.made_by {
        Some(run) if run.model != asked.model.id => format!("the model {}", run.model),
        Some(run) if run.prompt_version != summarize::PROMPT_VERSION => "older questions".to_owned(),
        Some(_) => format!("a model at {}", part.address.as_deref().unwrap_or("another address")),
        None => "a model that is not known".to_owned(),
    }))
}

/// What a part depends on that is not as it was, in words.
fn change(
    outline: &Outline,
    part: &PartRow,
    from: u32,
    settings: &CompressionSettings,
) -> Result<Option<&'static str>> {
    if outline.messages_hash(from, part.last) != part.messages_hash {
        return Ok(Some("something was said otherwise"));
    }
    let settings = part.settings.as_ref().unwrap_or(settings);
    let verdicts = outline.verdicts(from, part.last, settings)?;
    let same = outline.keepits_hash(from, part.last, &verdicts) == part.keepits_hash;
    Ok((!same).then_some("marks changed"))
}
