//! The registry: which sessions are in memory, and taking new ones in (5.1).
//!
//! Taking in goes group by group, a group being the files of one session id: its files are read and archived first, then one
//! short transaction makes the whole session known, with others when they are small. What `stat` shows unchanged is not opened.

mod batches;
mod candidate;
mod commit;
mod container;
mod expiring;
mod follow;
mod identity;
mod keep;
mod latest;
mod list;
mod pair;
mod read;
mod reading;
mod recognise;
mod refresh;
mod remove;
mod removed;
mod repeats;
mod report;
mod restore;
mod scan;
#[cfg(test)]
mod tests;
mod transcript;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::api::ingest::{IngestReport, IngestRequest, IngestStatus, IngestedFile, Repeats};
use crate::archive::{Archiver, Batch, Chunk};
use crate::db::{Part, PlaceRow};
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::event::Progress;
use crate::ids::{ProjectId, SessionId};
use crate::sources::Format;
use crate::sources::claude_code::Fold;
use batches::{in_batches, in_transactions};
use candidate::{Candidate, Rejected, is_uuid};
use report::{finish, part_name, tell};
use scan::{Scan, Start};

pub use expiring::expiring;
pub(crate) use follow::{Behind, Followed, behind, follow};
pub use keep::{add_keepit, decay, keepits, remove_keepit, weigh_keepit};
pub use list::{detail, overview, page, projects, resolve, stats, summary, update};
pub use read::{Loaded, load, load_range_with, map, message_of, messages, stored_messages};
pub(crate) use reading::{read_back, refresh};
pub use remove::remove;
pub use restore::{restore, restore_to};
pub use transcript::write_weight;

/// What one file gave, before its session is decided.
struct Taken {
    candidate: Candidate,
    /// What `stat` said before reading.
    stat: Stat,
    work: Work,
}

enum Work {
    /// As it was.
    Unchanged { file_id: i64 },
    /// It had grown, or changed, since it was read at this very place.
    Known { file_id: i64, scan: Box<Scan>, grown: bool },
    /// Never seen at this place.
    Unknown { scan: Box<Scan> },
    /// Could not be read.
    Failed { reason: String },
}

impl Taken {
    fn messages(&self) -> usize {
        match &self.work {
            Work::Known { scan, .. } | Work::Unknown { scan } => scan.messages.len(),
            Work::Unchanged { .. } | Work::Failed { .. } => 0,
        }
    }
}

/// What `stat` says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    bytes: u64,
    modified: i64,
    inode: u64,
}

impl Stat {
    fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = fs_err::metadata(path)?;
        #[cfg(unix)]
        let (modified, inode) = {
            use std::os::unix::fs::MetadataExt;
            (metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec(), metadata.ino())
        };
        #[cfg(not(unix))]
        let (modified, inode) = {
            let since = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            (i64::try_from(since.as_nanos()).unwrap_or(i64::MAX), 0)
        };
        Ok(Self { bytes: metadata.len(), modified, inode })
    }

    fn is(&self, place: &PlaceRow) -> bool {
        (self.bytes, self.modified, self.inode) == (place.bytes, place.modified, place.inode)
    }
}

/// Registers transcripts; what fails is reported for itself and all else goes on.
///
/// # Errors
/// When nothing was asked for, there is nothing to find, or the memory itself cannot be written to.
pub fn ingest(call: &Call<'_>, request: &IngestRequest) -> Result<IngestReport> {
    let mut paths: Vec<PathBuf> = request.paths.iter().map(PathBuf::from).collect();
    if request.all {
        paths.push(all_of(call.engine)?);
    }
    if request.expiring {
        paths.extend(expiring::unarchived(call.engine)?);
    }
    if paths.is_empty() && !request.latest && !request.expiring {
        return Err(Error::usage("there is nothing to ingest").hint("name files or folders, or use --all or --latest"));
    }
    let mut report =
        if paths.is_empty() { IngestReport::default() } else { ingest_paths(call, &paths, request.project.as_ref())? };
    if request.latest {
        report.append(latest::take_latest(call, request.project.as_ref())?);
    }
    Ok(report)
}

/// Everything under the Claude home.
fn all_of(engine: &Engine) -> Result<PathBuf> {
    let projects = engine.claude_home().join("projects");
    if !projects.is_dir() {
        return Err(Error::not_found(format!("Claude Code has no sessions in `{}`", projects.display()))
            .hint("name files or folders, or set --claude-home to where Claude Code keeps its data"));
    }
    Ok(projects)
}

fn ingest_paths(call: &Call<'_>, paths: &[PathBuf], project: Option<&ProjectId>) -> Result<IngestReport> {
    let engine = call.engine;
    let (candidates, mut rejected) = candidate::collect(paths, &engine.claude_home().join("projects"));
    let candidates = recognise::recognise(engine, candidates, call.cancel)?;
    rejected.extend(recognise::fruitless(paths, &candidates));
    if let [Rejected { path, reason, failed: true }] = rejected.as_slice()
        && candidates.is_empty()
        && paths.len() == 1
        && *path == paths[0]
    {
        return Err(Error::not_found(format!("`{}`: {reason}", path.display())).hint("nothing was changed"));
    }
    let (report, projects) = take_in(call, candidates, rejected, project)?;
    removed::forget(engine, &report)?;
    engine.mirror_all()?;
    tidy(call)?;
    tell(engine, &report, projects);
    Ok(report)
}

/// Takes candidates in; returns the projects that changed, whose files that mirror them are still to be written.
fn take_in(
    call: &Call<'_>,
    candidates: Vec<Candidate>,
    rejected: Vec<Rejected>,
    project: Option<&ProjectId>,
) -> Result<(IngestReport, Vec<ProjectId>)> {
    let engine = call.engine;
    let total: u64 = candidates.iter().map(|candidate| Stat::of(&candidate.path).map_or(0, |stat| stat.bytes)).sum();
    let meter = Meter { call, total, done: AtomicU64::new(0), told: Mutex::new(0) };
    let (containers, candidates): (Vec<Candidate>, Vec<Candidate>) =
        candidates.into_iter().partition(|candidate| candidate.format.is_container());
    let groups = by_session(engine, candidates, &meter)?;
    let mut report = IngestReport::default();
    let mut projects = Vec::new();
    if let Err(error) = take_groups(call, &groups, project, &meter, &mut report, &mut projects) {
        // What was made known before stays known.
        tell(engine, &report, projects);
        return Err(error);
    }
    for container in &containers {
        add_new(&mut projects, container::ingest(container, project, &meter, &mut report)?);
    }
    add_new(&mut projects, pair::pair(engine, &report)?);
    for rejected in rejected {
        report.files.push(IngestedFile {
            path: rejected.path.display().to_string(),
            session_id: None,
            part: "main".to_owned(),
            status: if rejected.failed { IngestStatus::Failed } else { IngestStatus::Skipped },
            bytes_read: 0,
            messages: 0,
            new_unique: 0,
            repeats: Repeats::default(),
            agent_copies: 0,
            note: (!rejected.failed).then(|| rejected.reason.clone()),
            issues: Vec::new(),
            error: rejected.failed.then_some(rejected.reason),
        });
    }
    note_caused(engine, &mut report)?;
    finish(&mut report, engine.db().read(|rows| rows.message_counts())?.1);
    Ok((report, projects))
}

/// Takes groups of transcripts and exports in: they are read side by side, some at a time, and made known one after the other,
/// in one order.
fn take_groups(
    call: &Call<'_>,
    groups: &[Vec<Candidate>],
    project: Option<&ProjectId>,
    meter: &Meter<'_>,
    report: &mut IngestReport,
    projects: &mut Vec<ProjectId>,
) -> Result<()> {
    let engine = call.engine;
    for some in in_batches(groups) {
        call.cancel.check()?;
        let generation = engine.db().generation();
        let batch = engine.archive().batch();
        let read: Vec<Result<Vec<Taken>>> = some
            .par_iter()
            .map(|group| group.iter().map(|candidate| take(engine, candidate, &batch, meter)).collect())
            .collect();
        let read: Vec<Vec<Taken>> = read.into_iter().collect::<Result<_>>()?;
        report.totals.bytes_stored += batch.finish()?;
        for (groups, taken) in in_transactions(some, read) {
            add_new(projects, commit_or_read_again(engine, groups, (taken, generation), project, meter, report)?);
        }
    }
    Ok(())
}

/// Adds projects that are not in the list yet.
fn add_new(projects: &mut Vec<ProjectId>, more: Vec<ProjectId>) {
    for project in more {
        if !projects.contains(&project) {
            projects.push(project);
        }
    }
}

/// Joins small packs when there are many. Everything is kept already: a cancel or a full disk only leaves this for the next time.
fn tidy(call: &Call<'_>) -> Result<()> {
    match call.engine.archive().tidy(false, call.engine.now(), call.cancel) {
        Err(error) if !matches!(error.kind, crate::ErrorKind::Cancelled | crate::ErrorKind::Io) => Err(error),
        _ => Ok(()),
    }
}

/// Makes groups known; when another program purged meanwhile what was found to be archived, or the
/// database was made anew, their files are read once more.
fn commit_or_read_again(
    engine: &Engine,
    groups: &[Vec<Candidate>],
    (taken, generation): (Vec<Taken>, u64),
    project: Option<&ProjectId>,
    meter: &Meter<'_>,
    report: &mut IngestReport,
) -> Result<Vec<ProjectId>> {
    match commit::commit(engine, taken, generation, project, report) {
        Err(error) if error.kind == crate::ErrorKind::Conflict => {
            let generation = engine.db().generation();
            let batch = engine.archive().batch();
            let taken: Vec<Taken> = groups
                .iter()
                .flatten()
                .map(|candidate| take(engine, candidate, &batch, meter))
                .collect::<Result<_>>()?;
            report.totals.bytes_stored += batch.finish()?;
            commit::commit(engine, taken, generation, project, report)
        }
        committed => committed,
    }
}

/// Says of sessions that were started from compositions that they begin with the memory's own text.
fn note_caused(engine: &Engine, report: &mut IngestReport) -> Result<()> {
    let caused = engine.db().read(|rows| rows.caused_sessions())?;
    let is_caused = |session: &SessionId| caused.iter().any(|caused| *caused == base_of(session).as_str());
    for file in report.files.iter_mut().filter(|file| file.note.is_none()) {
        if file.session_id.as_ref().is_some_and(is_caused) {
            file.note = Some("goes on from a composition: what it begins with is from the memory".to_owned());
        }
    }
    Ok(())
}

/// Puts the files of one session id together: the transcript first, then what lies beside it.
fn by_session(engine: &Engine, candidates: Vec<Candidate>, meter: &Meter<'_>) -> Result<Vec<Vec<Candidate>>> {
    let named: Vec<(String, Candidate)> = candidates
        .into_par_iter()
        .map(|candidate| {
            meter.call.cancel.check()?;
            let key = match &candidate.named_session {
                Some(session) => session.clone(),
                None => match known_session(engine, &candidate)? {
                    Some(session) => session,
                    None if candidate.format == Format::ClaudeCode => {
                        peek(&candidate.path).unwrap_or_else(|| candidate.path.display().to_string())
                    }
                    None => candidate.path.display().to_string(),
                },
            };
            Ok((key, candidate))
        })
        .collect::<Result<_>>()?;
    let mut groups: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
    for (key, candidate) in named {
        groups.entry(key).or_default().push(candidate);
    }
    Ok(groups.into_values().collect())
}

fn known_session(engine: &Engine, candidate: &Candidate) -> Result<Option<String>> {
    let path = candidate.path.display().to_string();
    engine.db().read(|rows| {
        let Some(place) = rows.place(&path)? else { return Ok(None) };
        Ok(rows.file(place.file_id)?.map(|file| base_of(&file.session_id).to_string()))
    })
}

/// The first session id that a file names, without reading more of it than that takes.
fn peek(path: &Path) -> Option<String> {
    let file = fs_err::File::open(path).ok()?;
    let mut batches = crate::sources::lines::LineBatches::new(std::io::Read::take(file, 8 << 20), 0);
    while let Ok(Some(batch)) = batches.next_batch() {
        for line in batch.lines() {
            if let Some(id) =
                crate::sources::claude_code::read(line.bytes, 0).record.and_then(|record| record.session_id)
            {
                return Some(id);
            }
        }
    }
    None
}

/// Reads one file, as little of it as can be.
fn take(engine: &Engine, candidate: &Candidate, batch: &Batch<'_>, meter: &Meter<'_>) -> Result<Taken> {
    let failed = |stat: Option<Stat>, reason: String| Taken {
        candidate: candidate.clone(),
        stat: stat.unwrap_or(Stat { bytes: 0, modified: 0, inode: 0 }),
        work: Work::Failed { reason },
    };
    meter.call.cancel.check()?;
    let stat = match Stat::of(&candidate.path) {
        Ok(stat) => stat,
        Err(error) => return Ok(failed(None, candidate::in_words(&error))),
    };
    let path = candidate.path.display().to_string();
    let known = engine.db().read(|rows| {
        let Some(place) = rows.place(&path)? else { return Ok(None) };
        let Some(file) = rows.file(place.file_id)? else { return Ok(None) };
        // The client appends to one inode: then the end is compared, the beginning, and other places each time; else all of it.
        let chunks = match () {
            () if stat.is(&place) => Vec::new(),
            () if stat.inode == place.inode && stat.inode != 0 && stat.bytes > file.bytes => {
                let end = rows.last_chunks(file.file_id, 2)?;
                let before = end.first().map_or(0, |chunk| chunk.start);
                let mut chunks = rows.chunks_at(file.file_id, &spots(before))?;
                chunks.retain(|chunk| chunk.start < before);
                chunks.extend(end);
                chunks
            }
            () => rows.file_chunks(file.file_id)?,
        };
        Ok(Some((file, chunks, stat.is(&place))))
    })?;
    let work = match known {
        Some((file, _, true)) => {
            meter.read(stat.bytes);
            Ok(Work::Unchanged { file_id: file.file_id })
        }
        _ if candidate.format != Format::ClaudeCode => {
            fs_err::read(&candidate.path).map_err(Error::from).and_then(|bytes| {
                let scan =
                    scan::scan_whole(&bytes, candidate.format, Archiver::new(batch, &path, None), engine.counter())?;
                meter.read(stat.bytes);
                Ok(Work::Unknown { scan: Box::new(scan) })
            })
        }
        Some((file, chunks, false)) => changed(engine, candidate, &stat, &file, chunks, batch, meter),
        None => open(candidate).and_then(|source| {
            let scan = scan_with(engine, candidate, source, Start::default(), batch, meter)?;
            Ok(Work::Unknown { scan: Box::new(scan) })
        }),
    };
    match work {
        Ok(mut work) => {
            // What lies beside a transcript is kept, not read: a tool's result may look like records and is none.
            if let (Part::Extra, Work::Known { scan, .. } | Work::Unknown { scan }) = (candidate.part, &mut work) {
                scan.forget_records();
            }
            Ok(Taken { candidate: candidate.clone(), stat, work })
        }
        Err(error) if error.kind == crate::ErrorKind::Cancelled => Err(error),
        // The file itself could not be read: the others can. A memory that cannot be written to stops all.
        Err(error) => match error.source.as_deref().and_then(|source| source.downcast_ref::<std::io::Error>()) {
            Some(source) if source.kind() == std::io::ErrorKind::StorageFull => Err(error),
            Some(source) if error.message.contains(&path) => Ok(failed(Some(stat), candidate::in_words(source))),
            _ => Err(error),
        },
    }
}

/// Places before `end` at which a file that has grown is compared with what is kept of it: its beginning, and two that are
/// others each time.
fn spots(end: u64) -> [u64; 3] {
    let spread = |factor: u64| end.wrapping_mul(factor) % end.max(1);
    [0, spread(0x9e37_79b9_7f4a_7c15), spread(0xd1b5_4a32_d192_ed03)]
}

fn open(candidate: &Candidate) -> Result<fs_err::File> {
    Ok(fs_err::File::open(&candidate.path)?)
}

fn scan_with(
    engine: &Engine,
    candidate: &Candidate,
    source: fs_err::File,
    start: Start,
    batch: &Batch<'_>,
    meter: &Meter<'_>,
) -> Result<Scan> {
    let archiver = Archiver::new(batch, &candidate.path.display().to_string(), start.kept.as_ref());
    scan::scan(source, start, archiver, engine.counter(), meter.call.cancel, |bytes| meter.read(bytes))
}

/// A file whose `stat` changed since it was read at this place: grown at its end, only touched, or changed within. `chunks`
/// are its pieces that are compared, its last ones.
fn changed(
    engine: &Engine,
    candidate: &Candidate,
    stat: &Stat,
    file: &crate::db::FileRow,
    mut chunks: Vec<Chunk>,
    batch: &Batch<'_>,
    meter: &Meter<'_>,
) -> Result<Work> {
    let source = open(candidate)?;
    let is_kept = chunks.iter().all(|chunk| chunk.place.is_some());
    if is_kept && stat.bytes >= file.bytes && file.bytes > 0 && begins_with(&source, &chunks)? {
        if stat.bytes == file.bytes {
            meter.read(stat.bytes);
            return Ok(Work::Known { file_id: file.file_id, scan: Box::new(kept(file)?), grown: true });
        }
        // The last piece ended where the file did: it is cut anew.
        chunks.pop();
        let start = Start {
            kept: chunks.pop(),
            parsed_bytes: file.parsed_bytes,
            fold: serde_json::from_str(file.parsed_fold.as_ref().unwrap_or(&file.fold))?,
        };
        meter.read(start.parsed_bytes);
        let scan = scan_with(engine, candidate, source, start, batch, meter)?;
        return Ok(Work::Known { file_id: file.file_id, scan: Box::new(scan), grown: true });
    }
    let scan = scan_with(engine, candidate, source, Start::default(), batch, meter)?;
    Ok(Work::Known { file_id: file.file_id, scan: Box::new(scan), grown: false })
}

/// A scan that found nothing new: the file was only touched.
fn kept(file: &crate::db::FileRow) -> Result<Scan> {
    Ok(Scan::nothing(file.bytes, file.parsed_bytes, serde_json::from_str::<Fold>(&file.fold)?))
}

/// Whether a file still has the archived bytes at the places of `chunks`.
fn begins_with(source: &fs_err::File, chunks: &[Chunk]) -> Result<bool> {
    use sha2::{Digest, Sha256};
    use std::io::{Read, Seek, SeekFrom};
    let mut source = source;
    let mut buffer = Vec::new();
    for chunk in chunks {
        source.seek(SeekFrom::Start(chunk.start))?;
        buffer.clear();
        source.take(chunk.bytes).read_to_end(&mut buffer)?;
        if Sha256::digest(&buffer)[..] != chunk.hash {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The id without the `~2` of another content.
pub(crate) fn base_of(session: &SessionId) -> SessionId {
    SessionId::new(session.as_str().split('~').next().unwrap_or_default())
}

/// Whether a session id that stands in a file can name things on disk.
fn is_sound_id(id: &str) -> bool {
    is_uuid(id)
        || (!id.is_empty()
            && id.len() <= 64
            && !id.starts_with('-')
            && id != "latest"
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'))
}

/// Tells how far reading is, some times a second at most.
struct Meter<'a> {
    call: &'a Call<'a>,
    total: u64,
    done: AtomicU64,
    told: Mutex<i64>,
}

impl Meter<'_> {
    fn read(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let now = self.call.engine.now().millis();
        let Ok(mut told) = self.told.try_lock() else { return };
        if now - *told < 100 {
            return;
        }
        *told = now;
        (self.call.progress)(Progress {
            done: done.min(self.total),
            total: self.total,
            unit: "bytes".to_owned(),
            stage: "reading transcripts".to_owned(),
        });
    }
}
