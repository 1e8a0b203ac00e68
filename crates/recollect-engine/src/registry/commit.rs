//! Makes the files of one session id known, in one transaction.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::identity::{self, Target, agent_of, project_of};
use super::refresh::{Join, refresh};
use super::repeats::Sorted;
use super::scan::{self, FoundMarker, Scan, Start};
use super::{Stat, Taken, Work, part_name};
use crate::api::ingest::{IngestReport, IngestStatus, IngestedFile, IngestedSession, Repeats};
use crate::api::keepit::KeepitSource;
use crate::archive::{Archiver, hex};
use crate::db::{FileRow, KeepitRow, Part, PlaceRow, Rows, SessionRow};
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::ids::{MarkerId, ProjectId, SessionId};
use crate::sources::Format;
use crate::time::Time;

/// Makes a group known; returns the projects that changed.
pub(super) fn commit(
    engine: &Engine,
    group: Vec<Taken>,
    generation: u64,
    project: Option<&ProjectId>,
    report: &mut IngestReport,
) -> Result<Vec<ProjectId>> {
    let now = engine.now();
    let mut entries: Vec<IngestedFile> = Vec::new();
    let mut touched: Vec<(SessionId, IngestStatus)> = Vec::new();
    let projects = engine.db().write(|rows| {
        // What was read tells of rows of the database as it was then.
        if engine.db().generation() != generation {
            return Err(Error::conflict("the database was made anew meanwhile").hint("try again"));
        }
        let mut joins = Vec::new();
        let mut session_work = SessionWork { engine, rows, now, project, touched: &mut touched, joins: &mut joins };
        for taken in group {
            entries.push(session_work.file(taken)?);
        }
        let mut projects = Vec::new();
        for (session, status) in &touched {
            if *status != IngestStatus::Unchanged {
                let project = refresh(rows, session, &joins, project, now)?;
                if !projects.contains(&project) {
                    projects.push(project);
                }
            }
        }
        Ok(projects)
    })?;
    for (session, status) in touched {
        let of_session = || entries.iter().filter(|entry| entry.session_id.as_ref() == Some(&session));
        let entry = engine.db().read(|rows| {
            let Some(row) = rows.session(&session)? else { return Ok(None) };
            Ok(Some((row, rows.session_bytes(&session)?, rows.keepit_count(&session)?)))
        })?;
        let Some((row, bytes, keepits)) = entry else { continue };
        let new_unique: u64 = of_session().map(|entry| entry.new_unique).sum();
        let read: u64 = of_session().map(|entry| entry.messages).sum();
        let mut repeats = of_session().fold(Repeats::default(), |sum, entry| sum + entry.repeats);
        // Files of one session can come in two groups: what one of them names only shows when it is read.
        let earlier = report.sessions.iter().position(|entry| entry.session_id == session);
        let (earlier_new, earlier_duplicates, status) = match earlier.map(|at| report.sessions.remove(at)) {
            Some(earlier) if earlier.status != IngestStatus::Unchanged => {
                repeats += earlier.repeats;
                (earlier.new_unique, earlier.duplicates, earlier.status)
            }
            Some(earlier) => {
                repeats += earlier.repeats;
                (earlier.new_unique, earlier.duplicates, status)
            }
            None => (0, 0, status),
        };
        report.sessions.push(IngestedSession {
            session_id: session.clone(),
            project_id: row.project_id,
            title: row.user_title.unwrap_or(row.title),
            format: row.format,
            messages: row.messages,
            new_unique: new_unique + earlier_new,
            duplicates: read - new_unique + earlier_duplicates,
            repeats,
            bytes,
            keepits,
            status,
            error: None,
        });
    }
    report.files.append(&mut entries);
    Ok(projects)
}

/// Reads a file anew that this program has written to: its session stays the one that it is.
pub(super) fn replace_content(call: &Call<'_>, file: &FileRow, path: &Path) -> Result<()> {
    let engine = call.engine;
    let stat = Stat::of(path)?;
    let source = fs_err::File::open(path)?;
    let batch = engine.archive().batch();
    let archiver = Archiver::new(&batch, &path.display().to_string(), None);
    let scan = scan::scan(source, Start::default(), archiver, engine.counter(), call.cancel, |_| {})?;
    batch.finish()?;
    let now = engine.now();
    engine.db().write(|rows| {
        let mut touched = Vec::new();
        let mut joins = Vec::new();
        let mut work = SessionWork { engine, rows, now, project: None, touched: &mut touched, joins: &mut joins };
        let place = rows
            .places(file.file_id)?
            .into_iter()
            .find(|place| Path::new(&place.path) == path || same_file(&place.path, path));
        work.write(file, &scan)?;
        let place = place.map_or_else(|| path.display().to_string(), |place| place.path);
        work.put_place(&place, file.file_id, stat)?;
        refresh(rows, &file.session_id, &joins, None, now)?;
        Ok(())
    })
}

fn same_file(left: &str, right: &Path) -> bool {
    fs_err::canonicalize(left).is_ok_and(|left| left == right)
}

struct SessionWork<'a, 'r> {
    engine: &'a Engine,
    rows: &'a Rows<'r>,
    now: Time,
    project: Option<&'a ProjectId>,
    touched: &'a mut Vec<(SessionId, IngestStatus)>,
    /// Sub-agents that may belong to other calls than before.
    joins: &'a mut Vec<Join>,
}

impl SessionWork<'_, '_> {
    fn file(&mut self, taken: Taken) -> Result<IngestedFile> {
        let Taken { candidate, stat, work } = taken;
        let path = candidate.path.display().to_string();
        let mut entry = IngestedFile {
            path: path.clone(),
            session_id: None,
            part: part_name(candidate.part),
            status: IngestStatus::Unchanged,
            bytes_read: 0,
            messages: 0,
            new_unique: 0,
            repeats: Repeats::default(),
            agent_copies: 0,
            note: None,
            issues: Vec::new(),
            error: None,
        };
        let (mut scan, file) = match work {
            Work::Failed { reason } => {
                entry.status = IngestStatus::Failed;
                entry.error = Some(reason);
                return Ok(entry);
            }
            Work::Unchanged { file_id } => {
                if let Some(file) = self.rows.file(file_id)? {
                    self.touch(&file.session_id, IngestStatus::Unchanged);
                    entry.session_id = Some(file.session_id);
                }
                return Ok(entry);
            }
            Work::Known { file_id, scan, grown } => {
                let file = self.rows.file(file_id)?;
                (scan, file.filter(|_| grown))
            }
            Work::Unknown { scan } => (scan, None),
        };
        entry.bytes_read = scan.bytes.saturating_sub(scan.chunks_from.min(scan.read_from));
        entry.agent_copies = scan.agent_copies;
        entry.issues = scan.issues.iter().map(|(issue, _)| issue.clone()).collect();
        if scan.bytes == 0 {
            entry.status = IngestStatus::Skipped;
            entry.note = Some(nothing_in(&candidate.path).to_owned());
            return Ok(entry);
        }
        if scan.format != Format::ClaudeCode && scan.fold.last_timestamp.is_none() {
            // An export has no times: it was written when the conversation had come so far.
            let written = written_at(&candidate.path, stat);
            (scan.fold.first_timestamp, scan.fold.last_timestamp) = (Some(written), Some(written));
            scan.fold_at_parsed.clone_from(&scan.fold);
        }
        if scan.understood == 0
            && candidate.part == Part::Main
            && file.is_none()
            && !candidate_is_transcript(&candidate.path)
        {
            entry.status = IngestStatus::Skipped;
            entry.note = Some("holds no conversation: it is no transcript, export or conversations.json".to_owned());
            return Ok(entry);
        }
        if scan.understood == 0 && candidate.part == Part::Main && file.is_none() {
            entry.status = IngestStatus::Failed;
            entry.error =
                Some("no line of it could be read as a record; it was not taken, and stays where it is".to_owned());
            return Ok(entry);
        }
        if candidate.part == Part::Extra && file.is_none() && !self.has_owner(&candidate)? {
            entry.status = IngestStatus::Skipped;
            entry.note = Some("lies beside a transcript that is not here".to_owned());
            return Ok(entry);
        }
        let target = match file {
            Some(file) => Target::Existing { file: Box::new(file), longer: true },
            None => identity::target(self.rows, self.engine.archive(), &candidate, &scan)?,
        };
        match target {
            Target::Existing { file, longer: false } => {
                self.note_place(&candidate, &path, file.file_id, stat)?;
                self.touch(&file.session_id, IngestStatus::Unchanged);
                entry.note = Some(if scan.bytes == file.bytes {
                    "same bytes; one more place remembered".to_owned()
                } else {
                    "the beginning of what is kept; one more place remembered".to_owned()
                });
                count(&mut entry, Sorted::known(&scan, &file));
                entry.session_id = Some(file.session_id);
            }
            Target::Existing { file, longer: true } => {
                // Another program may have read further meanwhile.
                let changed = scan.bytes > file.bytes || scan.format == Format::ClaudeAi;
                if changed {
                    count(&mut entry, self.write(&file, &scan)?);
                }
                self.note_place(&candidate, &path, file.file_id, stat)?;
                entry.status = if changed { IngestStatus::Updated } else { IngestStatus::Unchanged };
                self.touch(&file.session_id, entry.status);
                entry.session_id = Some(file.session_id);
            }
            Target::Instead { file } => {
                let session = file.session_id.clone();
                count(&mut entry, self.instead(*file, &candidate, &scan, &path, stat)?);
                entry.note = Some("takes the place of what was known of it, which is kept beside it".to_owned());
                entry.status = IngestStatus::Updated;
                self.touch(&session, entry.status);
                entry.session_id = Some(session);
            }
            Target::Beside { session } => {
                entry.messages = scan.messages.len() as u64;
                entry.repeats.text = entry.messages;
                scan.forget_records();
                let beside = super::Candidate { part: Part::Extra, tail: None, ..candidate.clone() };
                let name = identity::free_name(self.rows, &session, &beside)?;
                let file = FileRow::new(session.clone(), Part::Extra, name);
                let file_id = self.rows.put_file(&file)?;
                self.write(&FileRow { file_id, ..file }, &scan)?;
                self.note_place(&candidate, &path, file_id, stat)?;
                entry.note =
                    Some("says what another export of its session says; its bytes are kept beside it".to_owned());
                self.touch(&session, IngestStatus::Updated);
                entry.status = IngestStatus::Updated;
                entry.session_id = Some(session);
            }
            Target::New { session } => {
                let known = self.rows.session(&session)?.is_some();
                if !known {
                    self.begin(&session, &scan, &candidate.path)?;
                }
                let name = identity::free_name(self.rows, &session, &candidate)?;
                let file = FileRow::new(session.clone(), candidate.part, name);
                let file_id = self.rows.put_file(&file)?;
                count(&mut entry, self.write(&FileRow { file_id, ..file }, &scan)?);
                self.note_place(&candidate, &path, file_id, stat)?;
                entry.status = IngestStatus::New;
                self.touch(&session, if known { IngestStatus::Updated } else { IngestStatus::New });
                entry.session_id = Some(session);
            }
        }
        if let Some(issue) = entry.issues.first()
            && entry.note.is_none()
        {
            let more = entry.issues.len() - 1;
            let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
            entry.note = Some(format!("line {} {}{rest}", issue.line, issue.message));
        }
        Ok(entry)
    }

    fn has_owner(&self, candidate: &super::Candidate) -> Result<bool> {
        match &candidate.named_session {
            Some(session) => Ok(!self.rows.session_variants(&SessionId::new(session.as_str()))?.is_empty()),
            None => Ok(false),
        }
    }

    /// A session is new for a whole ingest when it began in it, and unchanged only when nothing of it changed.
    fn touch(&mut self, session: &SessionId, status: IngestStatus) {
        match self.touched.iter_mut().find(|(touched, _)| touched == session) {
            Some((_, known)) if *known == IngestStatus::Unchanged => *known = status,
            Some(_) => {}
            None => self.touched.push((session.clone(), status)),
        }
    }

    /// A session that is not known yet; its figures follow when its files are written.
    fn begin(&self, session: &SessionId, scan: &Scan, path: &Path) -> Result<()> {
        let project = project_of(&scan.fold, path, self.project, self.now);
        self.rows.put_project(&project)?;
        self.rows.put_session(&SessionRow {
            session_id: session.clone(),
            project_id: project.project_id,
            format: scan.format.as_str().to_owned(),
            title: String::new(),
            user_title: None,
            messages: 0,
            tokens: 0,
            first_timestamp: None,
            last_timestamp: None,
            git_branch: None,
            client_versions: Vec::new(),
            models: Vec::new(),
            registered_at: self.now,
            last_accessed: self.now,
            distance_by_hand: None,
            paired_with: None,
        })
    }

    /// Writes what a scan read over what a file had from there on.
    fn write(&mut self, file: &FileRow, scan: &Scan) -> Result<Sorted> {
        // Asked before anything is forgotten: a longer copy of a known file brings only its end.
        let sorted = Sorted::of(self.rows, file, scan)?;
        self.rows.forget_read(file.file_id, scan.read_from)?;
        self.rows.put_file_chunks(file.file_id, scan.chunks_from, &scan.chunks)?;
        for message in &scan.messages {
            self.rows.put_message(file.file_id, message)?;
        }
        for (note, start) in &scan.agent_notes {
            self.rows.note_agent(file.file_id, note, *start)?;
        }
        match file.part {
            Part::Main if scan.read_from == 0 || !scan.agent_notes.is_empty() => {
                self.joins.push(Join::AllOf(file.session_id.clone()));
            }
            Part::Agent => self.joins.push(Join::One(file.session_id.clone(), file.file_id)),
            _ => {}
        }
        for (issue, start) in &scan.issues {
            self.rows.put_issue(file.file_id, issue, *start)?;
        }
        let agent_id = (file.part == Part::Agent).then(|| agent_of(&scan.fold, &file.name));
        self.rows.put_file(&FileRow {
            bytes: scan.bytes,
            parsed_bytes: scan.parsed_bytes,
            fold: serde_json::to_string(&scan.fold)?,
            parsed_fold: (scan.fold_at_parsed != scan.fold)
                .then(|| serde_json::to_string(&scan.fold_at_parsed))
                .transpose()?,
            agent_id,
            title: scan.fold.title().or_else(|| file.title.clone()),
            messages: scan.fold.messages,
            tokens: scan.fold.tokens,
            first_timestamp: scan.fold.first_timestamp,
            last_timestamp: scan.fold.last_timestamp,
            ..file.clone()
        })?;
        if file.part == Part::Main {
            self.keepits(&file.session_id, scan)?;
        }
        Ok(sorted)
    }

    /// Brings the markers of the text up to date; weights set by hand and removals stay.
    fn keepits(&self, session: &SessionId, scan: &Scan) -> Result<()> {
        let first = scan.messages.first().map_or(u32::MAX, |message| message.position);
        let known = self.rows.all_keepits(session)?;
        let found: Vec<KeepitRow> = scan.markers.iter().map(|marker| row_of(session, marker, self.now)).collect();
        for old in known.iter().filter(|old| old.source == KeepitSource::Text && old.message_index >= first) {
            if !found.iter().any(|new| new.marker_id == old.marker_id) {
                self.rows.drop_keepit(&old.marker_id)?;
            }
        }
        for mut new in found {
            // In a transcript that was written to, markers after the written one have moved.
            let moved = |old: &&KeepitRow| {
                old.source == KeepitSource::Text && old.message_uuid == new.message_uuid && old.content == new.content
            };
            let old = known.iter().find(|old| old.marker_id == new.marker_id).or_else(|| known.iter().find(moved));
            if let Some(old) = old {
                if old.text_weight != Some(old.weight) {
                    new.weight = old.weight;
                }
                new.removed = old.removed;
                new.created_at = old.created_at;
                new.survived_in.clone_from(&old.survived_in);
                new.summarized_in.clone_from(&old.summarized_in);
            }
            self.rows.put_keepit(&new)?;
        }
        Ok(())
    }

    /// Puts a scan in the place of a file, which becomes one beside it; returns messages read and those with new content.
    fn instead(
        &mut self,
        before: FileRow,
        candidate: &super::Candidate,
        scan: &Scan,
        path: &str,
        stat: Stat,
    ) -> Result<Sorted> {
        let session = before.session_id.clone();
        let file_before = before.file_id;
        self.rows.put_file(&FileRow { part: Part::Extra, messages: 0, tokens: 0, ..before })?;
        let name = identity::free_name(self.rows, &session, candidate)?;
        let file = FileRow::new(session.clone(), candidate.part, name);
        let file_id = self.rows.put_file(&file)?;
        let written = self.write(&FileRow { file_id, ..file }, scan)?;
        // Only now, so that what was known of it is not told as new.
        self.rows.forget_read(file_before, 0)?;
        self.note_place(candidate, path, file_id, stat)?;
        if let Some(row) = self.rows.session(&session)? {
            self.rows.put_session(&SessionRow { format: scan.format.as_str().to_owned(), ..row })?;
        }
        Ok(written)
    }

    /// Notes where a file was found; of one of many conversations that is done when all of it was read.
    fn note_place(&self, candidate: &super::Candidate, path: &str, file_id: i64, stat: Stat) -> Result<()> {
        if candidate.format.is_container() { Ok(()) } else { self.put_place(path, file_id, stat) }
    }

    fn put_place(&self, path: &str, file_id: i64, stat: Stat) -> Result<()> {
        self.rows.put_place(&PlaceRow {
            path: path.to_owned(),
            file_id,
            bytes: stat.bytes,
            modified: stat.modified,
            inode: stat.inode,
            seen_at: self.now,
        })
    }
}

fn count(entry: &mut IngestedFile, sorted: Sorted) {
    (entry.messages, entry.new_unique, entry.repeats) = (sorted.messages, sorted.new_unique, sorted.repeats);
}

/// What is said of a file without a byte. The client's `/export` writes such files now and then.
fn nothing_in(path: &Path) -> &'static str {
    if path.extension().is_some_and(|extension| extension == "txt") {
        "is empty: an export that Claude Code wrote nothing into, which is a known fault of it; ingest the transcript of the \
         session instead (recollect ingest --all)"
    } else {
        "is empty: there is nothing to keep"
    }
}

/// When an export was written: the date that the client puts first in its name, else the file's time.
fn written_at(path: &Path, stat: Stat) -> Time {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let dated = name.get(..10).and_then(|date| Time::parse(&format!("{date}T00:00:00Z")));
    dated.unwrap_or_else(|| Time::from_millis(stat.modified / 1_000_000))
}

fn candidate_is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

fn row_of(session: &SessionId, found: &FoundMarker, now: Time) -> KeepitRow {
    let identity = format!("{session}\n{}\n{}\n{}", found.message_uuid, found.message_index, found.start);
    KeepitRow {
        marker_id: MarkerId::new(format!("k{}", &hex(&Sha256::digest(identity.as_bytes()).into())[..12])),
        session_id: session.clone(),
        message_uuid: found.message_uuid.clone(),
        message_index: found.message_index,
        source: KeepitSource::Text,
        text_weight: Some(found.weight),
        weight: found.weight,
        content: found.content.clone(),
        context: found.context.clone(),
        start: found.start,
        end: found.end,
        created_at: now,
        removed: false,
        survived_in: Vec::new(),
        summarized_in: Vec::new(),
    }
}

/// Writes what was read of a file of the archive.
pub(super) fn write_back(engine: &Engine, rows: &Rows<'_>, file: FileRow, scan: &Scan) -> Result<i64> {
    let mut touched = Vec::new();
    // All of a session is joined when it is whole.
    let mut joins = Vec::new();
    let mut work =
        SessionWork { engine, rows, now: engine.now(), project: None, touched: &mut touched, joins: &mut joins };
    let file_id = rows.put_file(&file)?;
    work.write(&FileRow { file_id, ..file }, scan)?;
    Ok(file_id)
}
