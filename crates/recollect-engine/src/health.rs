//! The doctor: checks that everything in the memory is as it should be, and mends what can be mended.
//!
//! A check changes nothing. Mending never deletes what is damaged: it is set aside. What was lost is archived again from the
//! originals that still exist.

mod permissions;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::api::health::{Health, HealthFinding};
use crate::api::ingest::IngestRequest;
use crate::archive::Check;
use crate::engine::Call;
use crate::error::Result;
use crate::event::Progress;
use crate::{backup, manifest, rebuild, registry, search, versions};

/// A backup of this age is worth a word.
const OLD_BACKUP_HOURS: u64 = 7 * 24;
const REPAIR: &str = "`recollect doctor --repair` mends it";

/// Checks everything.
///
/// # Errors
/// `Cancelled`, or when the database cannot be asked at all; what is wrong is in the result.
pub fn check(call: &Call<'_>) -> Result<Health> {
    Ok(Health::of(vec![
        database(call)?,
        packs(&verify(call)?),
        watermarks(call)?,
        index(call)?,
        manifests(call)?,
        originals(call)?,
        texts(call)?,
        permissions(call)?,
        backup(call)?,
    ]))
}

/// Mends what can be mended, then checks again.
pub fn repair(call: &Call<'_>) -> Result<Health> {
    let engine = call.engine;
    let mut did = Vec::new();
    let modes = permissions::mend(engine.home().root())?;
    if modes > 0 {
        did.push(format!("took the rights of others from {modes} files and folders"));
    }
    if !engine.db().read(|rows| rows.faults())?.is_empty() {
        let rebuilt = rebuild::open(call)?;
        let aside = rebuilt.set_aside.unwrap_or_default();
        did.push(format!(
            "made the database anew with {}; the old one is `{aside}`",
            counted(rebuilt.sessions, "session")
        ));
    }
    let found = verify(call)?;
    let mended = engine.archive().mend(&found, engine.now())?;
    if mended.set_aside > 0 {
        let packs = counted(mended.set_aside, "damaged pack");
        did.push(format!("set {packs} aside and wrote anew what could be read of it"));
    }
    if mended.adopted > 0 {
        did.push(format!("took in {} that the database did not know", counted(mended.adopted, "pack")));
    }
    let again = read_again(call)?;
    if again > 0 {
        did.push(format!("read {} again", counted(again as u64, "original")));
    }
    let projects: Vec<_> =
        engine.db().read(|rows| rows.projects())?.into_iter().map(|sums| sums.project.project_id).collect();
    let mut behind = Vec::new();
    for project in projects {
        if !manifest::faults(engine, &project)?.is_empty() || !manifest::link_faults(engine, &project)?.is_empty() {
            engine.db().write(|rows| rows.mark_dirty(&project))?;
            behind.push(project);
        }
    }
    engine.mirror(&behind)?;
    if !behind.is_empty() {
        did.push(format!("wrote manifests and links of {} anew", counted(behind.len() as u64, "project")));
    }
    if !search::faults(engine)?.is_empty() {
        search::rebuild(call)?;
        did.push("made the search index anew".to_owned());
    }
    let tidied = engine.archive().tidy(true, engine.now(), call.cancel)?;
    if tidied.joined > 0 {
        did.push(format!("joined {} into {}", counted(tidied.joined, "pack"), tidied.written));
    }
    Ok(Health { mended: did, ..check(call)? })
}

/// Reads originals again that hold what was lost, or whose watermark was wrong; returns how many there were.
fn read_again(call: &Call<'_>) -> Result<usize> {
    let engine = call.engine;
    let uneven = engine.db().read(|rows| rows.uneven_files())?;
    let mut doubted = Vec::new();
    for (file_id, _) in uneven {
        let places = engine.db().read(|rows| rows.places(file_id))?;
        // Without its original, what there is of it is better than nothing.
        if places.iter().any(|place| Path::new(&place.path).is_file()) {
            doubted.push(file_id);
        }
    }
    let mut paths = engine.db().write(|rows| {
        let mut paths = rows.suspect_places()?;
        for file_id in &doubted {
            paths.extend(rows.doubt_file(*file_id)?);
        }
        Ok(paths)
    })?;
    paths.retain(|path| Path::new(path).is_file());
    paths.sort_unstable();
    paths.dedup();
    let count = paths.len();
    if count > 0 {
        registry::ingest(call, &IngestRequest { paths, ..IngestRequest::default() })?;
    }
    Ok(count)
}

impl Health {
    fn of(checks: Vec<HealthFinding>) -> Self {
        Self { ok: checks.iter().all(|check| check.ok), checks, mended: Vec::new() }
    }
}

fn counted(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

fn finding(name: &str, summary: String, problems: Vec<String>, remedy: &str) -> HealthFinding {
    let ok = problems.is_empty();
    HealthFinding { name: name.to_owned(), ok, summary, problems, remedy: (!ok).then(|| remedy.to_owned()) }
}

fn database(call: &Call<'_>) -> Result<HealthFinding> {
    let faults = call.engine.db().read(|rows| rows.faults())?;
    let remedy = "`recollect rebuild` makes it anew from the archive and the manifests, and keeps the old one";
    Ok(finding("database", "pages, indexes and references between rows".to_owned(), faults, remedy))
}

fn verify(call: &Call<'_>) -> Result<Check> {
    call.engine.archive().verify(call.cancel, |done, total| {
        (call.progress)(Progress { done, total, unit: "bytes".to_owned(), stage: "reading packs".to_owned() });
    })
}

fn packs(check: &Check) -> HealthFinding {
    let mut problems: Vec<String> = check.damages.iter().map(|damage| damage.message.clone()).collect();
    problems.extend(check.unknown.iter().map(|pack| format!("the database does not know the pack {pack}")));
    let mut remedy = REPAIR;
    if check.lost > 0 {
        problems.push(format!("{} lost", counted(check.lost, "archived piece")));
        if check.damages.is_empty() && check.unknown.is_empty() {
            remedy = "find a copy of the original and ingest it: no file that is known has these bytes any more";
        }
    }
    let size = bytesize::ByteSize::b(check.bytes).display().si();
    let summary = format!("every piece of {}, {size}", counted(check.packs, "pack"));
    finding("packs", summary, problems, remedy)
}

fn watermarks(call: &Call<'_>) -> Result<HealthFinding> {
    let uneven = call.engine.db().read(|rows| rows.uneven_files())?;
    let problems =
        uneven.into_iter().map(|(_, name)| format!("{name}: its pieces do not add up to its bytes")).collect();
    Ok(finding("watermarks", "bytes of files against their pieces".to_owned(), problems, REPAIR))
}

fn manifests(call: &Call<'_>) -> Result<HealthFinding> {
    let mut problems = Vec::new();
    let projects = call.engine.db().read(|rows| rows.projects())?;
    for sums in &projects {
        problems.extend(manifest::faults(call.engine, &sums.project.project_id)?);
    }
    Ok(finding(
        "manifests",
        format!("manifest.json of {}", counted(projects.len() as u64, "project")),
        problems,
        REPAIR,
    ))
}

fn originals(call: &Call<'_>) -> Result<HealthFinding> {
    let mut problems = Vec::new();
    let projects = call.engine.db().read(|rows| rows.projects())?;
    for sums in &projects {
        problems.extend(manifest::link_faults(call.engine, &sums.project.project_id)?);
    }
    Ok(finding("originals", "links to originals that exist".to_owned(), problems, REPAIR))
}

/// Texts of versions and compositions: only making them again brings them back.
fn texts(call: &Call<'_>) -> Result<HealthFinding> {
    let named = || call.engine.db().read(|rows| backup::written_files(rows, call.engine.home()));
    let files = named()?;
    let mut missing: Vec<_> = files.iter().filter(|path| !path.is_file()).collect();
    if !missing.is_empty() {
        // Another program may have taken it away since the database was asked.
        let still = named()?;
        missing.retain(|path| still.contains(path));
    }
    let mut problems: Vec<String> = missing.iter().map(|path| format!("`{}` is missing", path.display())).collect();
    problems.extend(versions::faults(call.engine)?);
    let summary = format!("{} of versions and compositions", counted(files.len() as u64, "file"));
    Ok(finding("versions", summary, problems, "restore it from a backup, or make the version or composition again"))
}

fn index(call: &Call<'_>) -> Result<HealthFinding> {
    Ok(finding("index", "files of the search index".to_owned(), search::faults(call.engine)?, REPAIR))
}

fn permissions(call: &Call<'_>) -> Result<HealthFinding> {
    let open = permissions::open_to_others(call.engine.home().root())?;
    let problems = open.iter().map(|path| format!("others may read `{}`", path.display())).collect();
    Ok(finding("permissions", "files and folders are their owner's only".to_owned(), problems, REPAIR))
}

/// That there is none is no fault of the memory; that one could not be made by itself is.
fn backup(call: &Call<'_>) -> Result<HealthFinding> {
    let status = backup::status(call.engine)?;
    let age = status.age_ms.unwrap_or_default() / 3_600_000;
    let summary = match &status.last {
        None => "none yet".to_owned(),
        Some(last) => {
            let age = if age < 48 { counted(age, "hour") } else { counted(age / 24, "day") };
            format!("`{}`, {age} old", last.name)
        }
    };
    let problems = status.failure.map(|failure| format!("the backup of the day failed: {}", failure.message));
    let found = finding(
        "backup",
        summary,
        problems.into_iter().collect(),
        "mend the cause, or choose another folder: `recollect config set backup.folder DIR`",
    );
    let advice =
        (age >= OLD_BACKUP_HOURS || status.last.is_none()).then(|| "`recollect backup DIR` makes one".to_owned());
    Ok(HealthFinding { remedy: found.remedy.clone().or(advice), ..found })
}
