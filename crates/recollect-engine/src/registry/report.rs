//! What an ingest did: its sums, and telling the faces.

use crate::api::ingest::{IngestReport, IngestStatus, IngestTotals, IngestedSession, Repeats};
use crate::db::Part;
use crate::engine::Engine;
use crate::event::Event;
use crate::ids::{ProjectId, SessionId};
use crate::sources::Format;

/// Tells the faces which sessions changed.
pub(super) fn tell(engine: &Engine, report: &IngestReport, projects: Vec<ProjectId>) {
    let changed: Vec<SessionId> = report
        .sessions
        .iter()
        .filter(|session| matches!(session.status, IngestStatus::New | IngestStatus::Updated))
        .map(|session| session.session_id.clone())
        .collect();
    if !changed.is_empty() {
        engine.emit(Event::SessionsChanged { project_ids: projects, session_ids: changed });
    }
}

/// Sums up what was done with each file and session.
pub(super) fn finish(report: &mut IngestReport, total_unique: u64) {
    let mut totals = IngestTotals::default();
    for session in &report.sessions {
        totals.sessions += 1;
        totals.messages += session.messages;
        totals.bytes += session.bytes;
        totals.keepits += session.keepits;
        match session.status {
            IngestStatus::New => totals.new += 1,
            IngestStatus::Updated => totals.updated += 1,
            _ => totals.unchanged += 1,
        }
    }
    for file in &report.files {
        totals.files += 1;
        totals.bytes_read += file.bytes_read;
        totals.new_unique += file.new_unique;
        totals.duplicates += file.messages - file.new_unique;
        totals.repeats += file.repeats;
        totals.agent_copies += file.agent_copies;
        totals.issues += file.issues.len() as u64;
        match file.status {
            IngestStatus::Failed => totals.failed += 1,
            IngestStatus::Skipped => totals.skipped += 1,
            _ => {}
        }
    }
    totals.bytes_stored = report.totals.bytes_stored;
    totals.total_unique = total_unique;
    report.totals = totals;
    // A file that failed before its session was known is an entry of its own, so that no caller overlooks it.
    let failures: Vec<IngestedSession> = report
        .files
        .iter()
        .filter(|file| file.status == IngestStatus::Failed && file.session_id.is_none())
        .map(|file| IngestedSession {
            session_id: SessionId::new(""),
            project_id: ProjectId::new(""),
            title: file.path.clone(),
            format: Format::ClaudeCode.as_str().to_owned(),
            messages: 0,
            new_unique: 0,
            duplicates: 0,
            repeats: Repeats::default(),
            bytes: 0,
            keepits: 0,
            status: IngestStatus::Failed,
            error: file.error.clone(),
        })
        .collect();
    report.sessions.extend(failures);
}

/// A file's part as the wire names it.
pub(super) fn part_name(part: Part) -> String {
    match part {
        Part::Main => "main",
        Part::Agent => "agent",
        Part::Extra => "tool_result",
    }
    .to_owned()
}
