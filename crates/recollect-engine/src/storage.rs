//! What is kept and what it costs: originals against what is stored, by month and by project.
//!
//! Figures come from the database and from file sizes; no pack is read.

mod cache;
mod shares;

use std::collections::BTreeMap;
use std::path::Path;

use crate::api::storage::{DiskUse, MonthStorage, ProjectStorage, SessionStorage, StorageReport, StorageShare};
use crate::db::SessionFiles;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::ProjectId;

pub use cache::trim_cache;

/// How many of the largest sessions are named as a rule.
const LARGEST: u32 = 10;

/// Says what is kept and what it costs.
///
/// # Errors
/// `Io` when the database refuses.
pub fn report(engine: &Engine, largest: Option<u32>) -> Result<StorageReport> {
    let (rows, shares, packs, versions, unused_versions) = engine.db().read(|rows| {
        let packs = rows.packs()?;
        let mut pieces = shares::Pieces::new(rows.files_by_age()?);
        rows.each_piece_use(|piece| pieces.take(piece))?;
        let sessions = rows.session_files()?;
        let shares = pieces.shares(&packs, &sessions);
        let pack_bytes = packs.iter().map(|pack| pack.bytes).sum();
        Ok((sessions, shares, pack_bytes, rows.version_bytes()?, rows.unused_versions()?))
    })?;
    let total = shares.iter().fold(StorageShare::default(), |sum, share| sum + *share);

    let mut months: BTreeMap<(bool, Option<&str>), StorageShare> = BTreeMap::new();
    let mut projects: BTreeMap<&ProjectId, (&SessionFiles, StorageShare)> = BTreeMap::new();
    for (row, share) in rows.iter().zip(&shares) {
        let month = months.entry((row.month.is_none(), row.month.as_deref())).or_default();
        *month = *month + *share;
        let project = projects.entry(&row.project_id).or_insert((row, StorageShare::default()));
        project.1 = project.1 + *share;
    }
    let mut by_project: Vec<ProjectStorage> = projects
        .into_iter()
        .map(|(project_id, (of, share))| ProjectStorage {
            project_id: project_id.clone(),
            display_name: of.project.clone(),
            original_path: of.project_path.clone(),
            share,
        })
        .collect();
    by_project.sort_by_key(|project| std::cmp::Reverse(project.share.original_bytes));

    let home = engine.home();
    let database = home.database();
    let beside = |ending: &str| {
        let mut name = database.clone().into_os_string();
        name.push(ending);
        file_bytes(Path::new(&name))
    };
    let disk = DiskUse {
        archive: packs,
        archive_unneeded: packs.saturating_sub(total.stored_bytes),
        database: file_bytes(&database) + beside("-wal") + beside("-shm"),
        index: folder_bytes(&home.search()),
        versions,
        backups: folder_bytes(&home.backups()),
    };
    Ok(StorageReport {
        measured_at: engine.now(),
        total,
        by_month: months
            .into_iter()
            .map(|((_, month), share)| MonthStorage { month: month.map(str::to_owned), share })
            .collect(),
        by_project,
        largest: rows
            .iter()
            .zip(&shares)
            .take(largest.unwrap_or(LARGEST) as usize)
            .map(|(row, share)| SessionStorage {
                session_id: row.session_id.clone(),
                title: row.title.clone(),
                project_id: row.project_id.clone(),
                project: row.project.clone(),
                last_timestamp: row.last_timestamp,
                share: *share,
            })
            .collect(),
        unused_versions,
        disk,
    })
}

impl std::ops::Add for StorageShare {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            sessions: self.sessions + other.sessions,
            messages: self.messages + other.messages,
            original_bytes: self.original_bytes + other.original_bytes,
            unique_bytes: self.unique_bytes + other.unique_bytes,
            stored_bytes: self.stored_bytes + other.stored_bytes,
        }
    }
}

/// Bytes of a file; 0 when there is none.
fn file_bytes(path: &Path) -> u64 {
    fs_err::metadata(path).map_or(0, |found| found.len())
}

/// Bytes of the files below a folder; what goes away meanwhile does not count.
fn folder_bytes(folder: &Path) -> u64 {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(std::result::Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| entry.metadata().ok())
        .map(|found| found.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::ingest::IngestRequest;
    use crate::api::session::SessionRemoveRequest;
    use crate::engine::{Call, Cancel, EngineOptions};
    use crate::registry;
    use crate::testing::Transcript;
    use crate::time::Time;

    fn memory(transcripts: &[Transcript]) -> (tempfile::TempDir, Engine) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = Engine::open(EngineOptions {
            home: folder.path().join("memory"),
            claude_home: folder.path().join("claude"),
            clock: Arc::new(|| Time::from_millis(1_768_900_000_000)),
            sink: Arc::new(|_| {}),
            export_folders: Vec::new(),
            models: Arc::new(crate::language_model::NoModels),
        })
        .expect("a fresh memory opens");
        for transcript in transcripts {
            let path = transcript.write(&folder.path().join("claude")).expect("written");
            let paths = vec![path.display().to_string()];
            let call = Call { engine: &engine, progress: &|_| {}, cancel: &Cancel::default() };
            registry::ingest(&call, &IngestRequest { paths, ..IngestRequest::default() }).expect("taken in");
        }
        (folder, engine)
    }

    fn sum<'a>(shares: impl Iterator<Item = &'a StorageShare>) -> StorageShare {
        shares.fold(StorageShare::default(), |sum, share| sum + *share)
    }

    /// Hundreds of kilobytes, so that files are cut into several pieces.
    fn long(name: &str, days: i64) -> Transcript {
        Transcript::new(name).days_later(days).work("a long day", 400)
    }

    #[test]
    fn every_list_adds_up_to_the_figures_of_stats() {
        let (_folder, engine) = memory(&[
            long("first", 0),
            long("second", 40).cwd("/home/dev/other"),
            Transcript::new("third").user("Add a basket."),
        ]);
        let found = report(&engine, Some(50)).expect("a report");
        let stats = registry::stats(&engine).expect("figures");
        assert_eq!(found.total.original_bytes, stats.original_bytes, "bytes of originals");
        assert_eq!(found.disk.archive, stats.stored_bytes, "bytes of the archive");
        assert_eq!((found.total.sessions, found.total.messages), (stats.sessions, stats.messages));
        assert_eq!(
            found.total.stored_bytes, stats.stored_bytes,
            "headers and indexes of packs are shared too: nothing is left over while every piece is needed"
        );
        assert_eq!(sum(found.by_month.iter().map(|month| &month.share)), found.total, "months");
        assert_eq!(sum(found.by_project.iter().map(|project| &project.share)), found.total, "projects");
        assert_eq!(sum(found.largest.iter().map(|session| &session.share)), found.total, "sessions");
        assert!(found.largest.iter().all(|session| session.share.stored_bytes > 0), "each takes something: {found:?}");
        assert!(found.by_month.len() >= 2, "days apart are months apart: {:?}", found.by_month);
        assert!(found.disk.database > 0, "the database is a file");
    }

    #[test]
    fn what_a_copy_shares_counts_for_the_one_that_ended_first() {
        let original = long("original", 0);
        let fork = Transcript::with_id("22222222-2222-4222-8222-222222222222")
            .raw(original.bytes())
            .days_later(300)
            .user("And now?");
        // The fork is taken in first: the time decides, not the order of taking in.
        let (_folder, engine) = memory(&[fork, original.clone()]);
        let found = report(&engine, None).expect("a report");
        let of =
            |id: &str| found.largest.iter().find(|session| session.session_id.as_str() == id).expect("a session").share;
        let (first, second) = (of(original.session_id()), of("22222222-2222-4222-8222-222222222222"));
        assert_eq!(first.unique_bytes, first.original_bytes, "nothing older has it");
        assert!(second.unique_bytes < second.original_bytes / 2, "its beginning is not its own: {second:?}");
        assert!(found.total.unique_bytes < found.total.original_bytes);
    }

    #[test]
    fn what_removed_sessions_left_in_the_archive_is_said_to_be_unneeded() {
        let (_folder, engine) = memory(&[long("gone", 0), Transcript::new("stays").user("Add a basket.")]);
        let id = long("gone", 0).session_id().to_owned();
        registry::remove(&engine, &SessionRemoveRequest { session: id, purge: false, force: false }).expect("removed");
        let found = report(&engine, None).expect("a report");
        assert!(found.disk.archive_unneeded > found.total.stored_bytes, "{found:?}");
        assert_eq!(
            found.disk.archive_unneeded + found.total.stored_bytes,
            found.disk.archive,
            "the packs are all there"
        );
    }

    #[test]
    fn an_empty_memory_has_an_empty_report() {
        let (_folder, engine) = memory(&[]);
        let found = report(&engine, None).expect("a report");
        assert_eq!(found.total, StorageShare::default());
        assert!(found.by_month.is_empty() && found.by_project.is_empty() && found.unused_versions.is_empty());
    }
}
