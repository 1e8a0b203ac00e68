//! Marks passages, weighs them, takes marks away (5.4, 6.3): an overlay in memory, over transcripts that stay as they are.

use sha2::{Digest, Sha256};

use super::{message_of, resolve, scan};
use crate::api::keepit::{DecayPreview, DecayRequest, KeepitAddRequest, KeepitSource, MarkerVerdict};
use crate::archive::hex;
use crate::db::KeepitRow;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::ids::{MarkerId, SessionId};
use crate::keepit::verdict::verdict;
use crate::keepit::{Decay, Ratio, Weight};

/// Markers of a session that count, in order of the text.
pub fn keepits(engine: &Engine, session: &SessionId) -> Result<Vec<KeepitRow>> {
    engine.db().read(|rows| rows.keepits(session))
}

/// Marks a passage; marking the same one again sets its weight.
///
/// # Errors
/// When the message is not there, or the passage is empty or reaches beyond its text.
pub fn add_keepit(engine: &Engine, request: &KeepitAddRequest) -> Result<KeepitRow> {
    let session = resolve(engine, &request.session)?;
    let message = message_of(engine, &session, &request.message)?;
    let weight = Weight::of(request.weight)?;
    let text = message.text();
    let place = |character: u64| {
        let character = usize::try_from(character).ok()?;
        text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(character)
    };
    let (Some(start), Some(end)) = (place(request.start), place(request.end)) else {
        let length = text.chars().count();
        return Err(Error::usage(format!("the passage {}–{} reaches beyond the message", request.start, request.end))
            .hint(format!("its text has {length} characters")));
    };
    if start >= end || text[start..end].trim().is_empty() {
        return Err(Error::usage("the passage is empty").hint("give the first character and the one after the last"));
    }
    let identity = format!("{session}\n{}\n{}\n{}–{}", message.uuid, message.index, request.start, request.end);
    let keepit = KeepitRow {
        marker_id: MarkerId::new(format!("o{}", &hex(&Sha256::digest(identity.as_bytes()).into())[..12])),
        session_id: session.clone(),
        message_uuid: message.uuid.clone(),
        message_index: message.index,
        source: KeepitSource::Overlay,
        text_weight: None,
        weight: weight.hundredths(),
        content: text[start..end].to_owned(),
        context: scan::context(&text, start, end),
        start: request.start,
        end: request.end,
        created_at: engine.now(),
        removed: false,
        survived_in: Vec::new(),
        summarized_in: Vec::new(),
    };
    change(engine, &session, |rows| {
        let known = rows.keepit(&keepit.marker_id)?;
        let keepit =
            known.map_or_else(|| keepit.clone(), |known| KeepitRow { weight: keepit.weight, removed: false, ..known });
        rows.put_keepit(&keepit)?;
        Ok(keepit)
    })
}

/// Sets the weight of a marker in memory; versions made before stay as they are. One in the text that was taken away counts again.
pub fn weigh_keepit(engine: &Engine, marker: &MarkerId, weight: Weight) -> Result<KeepitRow> {
    let keepit = known(engine, marker)?;
    change(engine, &keepit.session_id, |rows| {
        let keepit = KeepitRow { weight: weight.hundredths(), removed: false, ..keepit.clone() };
        rows.put_keepit(&keepit)?;
        Ok(keepit)
    })
}

/// Takes a marker away: an overlay for good, one in the text from what counts.
pub fn remove_keepit(engine: &Engine, marker: &MarkerId) -> Result<KeepitRow> {
    let keepit = find(engine, marker)?;
    change(engine, &keepit.session_id, |rows| {
        match keepit.source {
            KeepitSource::Overlay => rows.drop_keepit(marker)?,
            KeepitSource::Text => rows.put_keepit(&KeepitRow { removed: true, ..keepit.clone() })?,
        }
        Ok(keepit.clone())
    })
}

/// Which markers of a session would survive a compression.
pub fn decay(engine: &Engine, decay: &Decay, request: &DecayRequest) -> Result<DecayPreview> {
    let session = resolve(engine, &request.session)?;
    let ratio = Ratio::of(request.ratio)?;
    let level = request.aggressiveness.unwrap_or_else(|| ratio.level());
    let distance = match request.distance {
        Some(distance) => distance,
        None => super::summary(engine, &session)?.distance,
    };
    let markers = keepits(engine, &session)?
        .into_iter()
        .map(|keepit| {
            let verdict = verdict(decay, Weight::from_hundredths(keepit.weight), ratio, level, distance);
            MarkerVerdict {
                marker_id: keepit.marker_id,
                message_index: keepit.message_index,
                content: keepit.content.split_whitespace().collect::<Vec<_>>().join(" "),
                weight: verdict.weight.number(),
                survives: verdict.survives(),
                fate: verdict.fate,
                margin: verdict.margin,
                threshold: verdict.threshold,
                reason: verdict.reason,
            }
        })
        .collect();
    Ok(DecayPreview {
        threshold: decay.threshold(ratio, level, distance).number(),
        ratio: request.ratio,
        aggressiveness: level,
        distance,
        markers,
    })
}

/// A marker that counts.
pub(super) fn find(engine: &Engine, marker: &MarkerId) -> Result<KeepitRow> {
    known(engine, marker).and_then(|keepit| if keepit.removed { Err(missing(marker)) } else { Ok(keepit) })
}

/// A marker, also one in the text that was taken away.
fn known(engine: &Engine, marker: &MarkerId) -> Result<KeepitRow> {
    engine.db().read(|rows| rows.keepit(marker))?.ok_or_else(|| missing(marker))
}

fn missing(marker: &MarkerId) -> Error {
    Error::not_found(format!("there is no keepit marker `{marker}`"))
        .hint("`recollect keepit list SESSION` gives their ids")
}

/// Changes a session's markers and what mirrors them.
fn change<T>(engine: &Engine, session: &SessionId, work: impl FnOnce(&crate::db::Rows<'_>) -> Result<T>) -> Result<T> {
    let (changed, project) = engine.db().write(|rows| {
        let changed = work(rows)?;
        let row = rows.session(session)?;
        let project = row.map(|row| row.project_id);
        if let Some(project) = &project {
            rows.mark_dirty(project)?;
        }
        Ok((changed, project))
    })?;
    let projects: Vec<_> = project.into_iter().collect();
    engine.mirror(&projects)?;
    engine.emit(Event::SessionsChanged { project_ids: projects, session_ids: vec![session.clone()] });
    Ok(changed)
}
