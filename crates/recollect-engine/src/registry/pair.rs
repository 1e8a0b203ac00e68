//! Finds the transcript of an export: the one that is preferred, and counted.

use crate::api::ingest::{IngestReport, IngestStatus, IngestedSession};
use crate::db::{Rows, SessionRow};
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::pairing;
use crate::sources::Format;

/// Pairs what an ingest brought with what is known; returns the projects that changed.
pub(super) fn pair(engine: &Engine, report: &IngestReport) -> Result<Vec<ProjectId>> {
    let formats: Vec<&str> = Format::ALL.into_iter().filter(|format| format.is_export()).map(Format::as_str).collect();
    let formats = serde_json::to_string(&formats)?;
    let mut exports: Vec<SessionId> = Vec::new();
    let changed = |session: &&IngestedSession| matches!(session.status, IngestStatus::New | IngestStatus::Updated);
    for session in report.sessions.iter().filter(changed) {
        match Format::parse(&session.format) {
            format if format.is_export() => exports.push(session.session_id.clone()),
            // A transcript may be the one that earlier exports are copies of; what was read of it before was asked then.
            Format::ClaudeCode => {
                let from = session.messages.saturating_sub(session.new_unique + session.duplicates);
                exports.extend(engine.db().read(|rows| rows.unpaired_like(&session.session_id, from, &formats))?);
            }
            _ => {}
        }
    }
    exports.sort();
    exports.dedup();
    let mut projects = Vec::new();
    for export in exports {
        let Some(found) = engine.db().read(|rows| transcript_of(rows, &export))? else { continue };
        projects.extend(engine.db().write(|rows| join(rows, &export, &found))?);
    }
    Ok(projects)
}

/// The transcript that holds what an export holds, in its order.
fn transcript_of(rows: &Rows<'_>, export: &SessionId) -> Result<Option<SessionId>> {
    let said = spoken(rows, export)?;
    let mut best: Option<(usize, SessionId)> = None;
    for candidate in rows.said_alike(Format::ClaudeCode.as_str(), &serde_json::to_string(&said)?, 8)? {
        let (found, of) = pairing::found(&said, &spoken(rows, &candidate)?);
        if pairing::is_one(found, of) && best.as_ref().is_none_or(|(most, _)| found > *most) {
            best = Some((found, candidate));
        }
    }
    Ok(best.map(|(_, session)| session))
}

fn spoken(rows: &Rows<'_>, session: &SessionId) -> Result<Vec<i64>> {
    let Some(file) = rows.main_file(session)? else { return Ok(Vec::new()) };
    Ok(rows.messages(file.file_id, 0, None)?.into_iter().filter_map(|row| row.spoken).collect())
}

/// Puts an export beside its transcript: in its project, at its time; it has no times of its own.
fn join(rows: &Rows<'_>, export: &SessionId, transcript: &SessionId) -> Result<Vec<ProjectId>> {
    let (Some(row), Some(known)) = (rows.session(export)?, rows.session(transcript)?) else { return Ok(Vec::new()) };
    let times = (known.first_timestamp, known.last_timestamp);
    if row.paired_with.as_ref() == Some(transcript)
        && row.project_id == known.project_id
        && (row.first_timestamp, row.last_timestamp) == times
    {
        return Ok(Vec::new());
    }
    rows.pair(export, Some(transcript))?;
    rows.mark_dirty(&row.project_id)?;
    rows.mark_dirty(&known.project_id)?;
    let projects = vec![row.project_id.clone(), known.project_id.clone()];
    let (first_timestamp, last_timestamp) = times;
    rows.put_session(&SessionRow { project_id: known.project_id, first_timestamp, last_timestamp, ..row })?;
    Ok(projects)
}
