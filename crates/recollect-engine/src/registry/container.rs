//! Files of many sessions: claude.ai's `conversations.json`, and the client's `history.jsonl`.
//!
//! They are read as a stream: some conversations are read side by side, made known, and forgotten. The place of the file is
//! noted when all of it was read, so that an interruption reads it again.

use std::collections::BTreeMap;

use rayon::prelude::*;
use uuid::Uuid;

use super::candidate::{self, Candidate};
use super::{Meter, Stat, Taken, Work, commit, scan};
use crate::api::ingest::{IngestReport, IngestStatus, IngestedFile, Repeats};
use crate::archive::Archiver;
use crate::db::{PlaceRow, Rows};
use crate::dedup::ContentHash;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::session::Issue;
use crate::sources::claude_ai::{Element, Elements};
use crate::sources::lines::LineBatches;
use crate::sources::{Format, history};

/// Bytes of conversations that are read side by side.
const AT_ONCE: usize = 16 << 20;

/// Takes the sessions of one file in; returns the projects that changed.
pub(super) fn ingest(
    candidate: &Candidate,
    project: Option<&ProjectId>,
    meter: &Meter<'_>,
    report: &mut IngestReport,
) -> Result<Vec<ProjectId>> {
    let engine = meter.call.engine;
    let path = candidate.path.display().to_string();
    let mut work = Container {
        engine,
        meter,
        candidate,
        project,
        stat: Stat { bytes: 0, modified: 0, inode: 0 },
        report: IngestReport::default(),
        projects: Vec::new(),
        issues: Vec::new(),
        left_out: 0,
    };
    let read = work.read(&path);
    let mut file = IngestedFile {
        path: path.clone(),
        session_id: None,
        part: "main".to_owned(),
        status: IngestStatus::Unchanged,
        bytes_read: work.stat.bytes,
        messages: work.report.files.iter().map(|file| file.messages).sum(),
        new_unique: work.report.files.iter().map(|file| file.new_unique).sum(),
        repeats: work.report.files.iter().fold(Repeats::default(), |sum, file| sum + file.repeats),
        agent_copies: 0,
        note: None,
        issues: work.issues,
        error: None,
    };
    match read {
        Ok(false) => file.bytes_read = 0,
        Ok(true) => {
            let count = |status| work.report.sessions.iter().filter(|session| session.status == status).count();
            let (new, updated) = (count(IngestStatus::New), count(IngestStatus::Updated));
            file.status = match (new, updated) {
                (0, 0) => IngestStatus::Unchanged,
                (0, _) => IngestStatus::Updated,
                _ => IngestStatus::New,
            };
            let mut note = format!("{} sessions: {new} new, {updated} updated", work.report.sessions.len());
            if work.left_out > 0 {
                note.push_str(&match candidate.format {
                    Format::History => format!("; {} known by their transcripts", work.left_out),
                    _ => format!("; {} without a message left out", work.left_out),
                });
            }
            file.note = Some(note);
        }
        Err(error) => match error.source.as_deref().and_then(|source| source.downcast_ref::<std::io::Error>()) {
            Some(source) if source.kind() != std::io::ErrorKind::StorageFull && error.message.contains(&path) => {
                file.status = IngestStatus::Failed;
                file.error = Some(candidate::in_words(source));
            }
            _ => return Err(error),
        },
    }
    report.totals.bytes_stored += work.report.totals.bytes_stored;
    report.sessions.append(&mut work.report.sessions);
    report.files.push(file);
    Ok(work.projects)
}

struct Container<'a> {
    engine: &'a Engine,
    meter: &'a Meter<'a>,
    candidate: &'a Candidate,
    project: Option<&'a ProjectId>,
    stat: Stat,
    report: IngestReport,
    projects: Vec<ProjectId>,
    issues: Vec<Issue>,
    left_out: u64,
}

impl Container<'_> {
    /// Reads the file, unless it is as it was; then its sessions are only named.
    fn read(&mut self, path: &str) -> Result<bool> {
        self.stat = Stat::of(&self.candidate.path)?;
        let places = self.engine.db().read(|rows| rows.places_at(path))?;
        if !places.is_empty() && places.iter().all(|place| self.stat.is(place)) {
            self.meter.read(self.stat.bytes);
            let taken: Vec<Taken> = places
                .into_iter()
                .map(|place| self.taken(self.candidate.clone(), Work::Unchanged { file_id: place.file_id }))
                .collect();
            self.commit(taken)?;
            return Ok(false);
        }
        match self.candidate.format {
            Format::History => self.history()?,
            _ => self.conversations()?,
        }
        let sessions: Vec<SessionId> = self.report.files.iter().filter_map(|file| file.session_id.clone()).collect();
        self.engine.db().write(|rows| {
            rows.forget_places(path)?;
            for session in &sessions {
                let Some(file) = rows.main_file(session)? else { continue };
                rows.add_place(&PlaceRow {
                    path: path.to_owned(),
                    file_id: file.file_id,
                    bytes: self.stat.bytes,
                    modified: self.stat.modified,
                    inode: self.stat.inode,
                    seen_at: self.engine.now(),
                })?;
            }
            Ok(())
        })?;
        Ok(true)
    }

    fn conversations(&mut self) -> Result<()> {
        let mut elements = Elements::new(fs_err::File::open(&self.candidate.path)?);
        loop {
            let mut some: Vec<Element> = Vec::new();
            while some.iter().map(|element| element.bytes.len()).sum::<usize>() < AT_ONCE {
                let Some(element) = elements.next_element()? else { break };
                some.push(element);
            }
            if some.is_empty() {
                return Ok(());
            }
            self.meter.call.cancel.check()?;
            self.take(some)?;
        }
    }

    fn take(&mut self, elements: Vec<Element>) -> Result<()> {
        let (engine, meter) = (self.engine, self.meter);
        let batch = engine.archive().batch();
        let path = self.candidate.path.display().to_string();
        let read: Vec<(u64, bool, Result<scan::Scan>)> = elements
            .par_iter()
            .map(|element| {
                let archiver = Archiver::new(&batch, &path, None);
                let scan = scan::scan_whole(&element.bytes, Format::ClaudeAi, archiver, engine.counter());
                meter.read(element.bytes.len() as u64);
                (element.start, element.whole, scan)
            })
            .collect();
        self.report.totals.bytes_stored += batch.finish()?;
        let mut taken = Vec::new();
        for (start, whole, scan) in read {
            let scan = scan?;
            if !whole {
                self.note(format!(
                    "the conversation at byte {start} is cut off; it was not taken, those before it were"
                ));
            } else if scan.messages.is_empty() {
                match scan.issues.first() {
                    Some((issue, _)) => self.note(format!("the conversation at byte {start} {}", issue.message)),
                    None => self.left_out += 1,
                }
            } else {
                taken.push(self.taken(self.candidate.clone(), Work::Unknown { scan: Box::new(scan) }));
            }
        }
        self.commit(taken)
    }

    /// Puts the lines of a history together by session, or by folder where no session is named.
    fn history(&mut self) -> Result<()> {
        let mut batches = LineBatches::new(fs_err::File::open(&self.candidate.path)?, 0);
        let mut groups: BTreeMap<Group, Vec<Vec<u8>>> = BTreeMap::new();
        let mut number = 0;
        while let Some(batch) = batches.next_batch()? {
            self.meter.call.cancel.check()?;
            for line in batch.lines() {
                number += 1;
                if line.bytes.trim_ascii().is_empty() {
                    continue;
                }
                match history::prompt(line.bytes) {
                    Ok(prompt) => {
                        let lines = groups.entry(group_of(&prompt)).or_default();
                        lines.push(line.bytes.to_vec());
                    }
                    Err(message) => self.issues.push(Issue { line: number, message }),
                }
            }
            self.meter.read(batch.bytes.len() as u64);
        }
        // Prompts that name no session come last: they may be those of sessions that are known then.
        let (named, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(group, _)| group.named);
        for groups in [named, others] {
            self.take_prompts(groups)?;
        }
        Ok(())
    }

    fn take_prompts(&mut self, groups: Vec<(Group, Vec<Vec<u8>>)>) -> Result<()> {
        let batch = self.engine.archive().batch();
        let path = self.candidate.path.display().to_string();
        let mut taken = Vec::new();
        for (group, lines) in groups {
            self.meter.call.cancel.check()?;
            let Some(bytes) = self.prompts_of(&group, lines)? else {
                self.left_out += 1;
                continue;
            };
            let archiver = Archiver::new(&batch, &path, None);
            let scan = scan::scan_whole(&bytes, Format::History, archiver, self.engine.counter())?;
            let candidate = Candidate { named_session: Some(group.session), ..self.candidate.clone() };
            taken.push(self.taken(candidate, Work::Unknown { scan: Box::new(scan) }));
        }
        self.report.totals.bytes_stored += batch.finish()?;
        for taken in taken {
            self.commit(vec![taken])?;
        }
        Ok(())
    }

    /// The lines of a session, those that the client has dropped meanwhile first; `None` when what they say is known.
    fn prompts_of(&self, group: &Group, lines: Vec<Vec<u8>>) -> Result<Option<Vec<u8>>> {
        let id = SessionId::new(group.session.as_str());
        let known = self.engine.db().read(|rows| {
            let Some(row) = rows.session(&id)? else { return Ok(None) };
            let file = rows.main_file(&id)?;
            let chunks = file.map_or(Ok(Vec::new()), |file| rows.file_chunks(file.file_id))?;
            Ok(Some((Format::parse(&row.format), chunks)))
        })?;
        let mut bytes = Vec::new();
        match known {
            Some((Format::History, chunks)) => {
                self.engine.archive().copy(&chunks, &mut bytes)?;
            }
            Some(_) => return Ok(None),
            // Prompts that name no session may be those of any that is known.
            None if !group.named && self.engine.db().read(|rows| all_known(rows, &lines))? => return Ok(None),
            None => {}
        }
        let before: std::collections::HashSet<Vec<u8>> =
            bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for line in lines.into_iter().filter(|line| !before.contains(line)) {
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
        Ok(Some(bytes))
    }

    fn taken(&self, candidate: Candidate, work: Work) -> Taken {
        Taken { candidate, stat: self.stat, work }
    }

    fn commit(&mut self, taken: Vec<Taken>) -> Result<()> {
        let generation = self.engine.db().generation();
        let changed = commit::commit(self.engine, taken, generation, self.project, &mut self.report)?;
        super::add_new(&mut self.projects, changed);
        Ok(())
    }

    fn note(&mut self, message: String) {
        self.issues.push(Issue { line: 1, message });
    }
}

/// The session that prompts belong to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    session: String,
    /// The prompts name it; else it is made of all that were typed in one folder.
    named: bool,
}

fn group_of(prompt: &history::Prompt) -> Group {
    match &prompt.session_id {
        Some(session) if super::is_sound_id(session) => Group { session: session.to_ascii_lowercase(), named: true },
        _ => {
            let folder = format!("history\n{}", prompt.project.as_deref().unwrap_or(""));
            Group { session: Uuid::new_v5(&Uuid::NAMESPACE_OID, folder.as_bytes()).to_string(), named: false }
        }
    }
}

/// Whether everything that some lines say was said in sessions that are known.
fn all_known(rows: &Rows<'_>, lines: &[Vec<u8>]) -> Result<bool> {
    for line in lines {
        let Ok(prompt) = history::prompt(line) else { continue };
        if !rows.has_content(&ContentHash::of(&prompt.text).0)? {
            return Ok(false);
        }
    }
    Ok(true)
}
