//! `recollect-bench storage DIR`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::bail;
use rayon::prelude::*;
use recollect_engine::api::session::SessionListRequest;
use recollect_engine::archive::Archiver;
use recollect_engine::engine::Cancel;
use recollect_engine::registry;

use crate::clock::{OwnMemory, Took, best, most_memory};
use crate::register::{Memory, registered, transcripts};
use crate::talk::write;

/// A way to keep the files: the bytes that it takes, what it took; no bytes when nothing is kept.
struct Way {
    name: &'static str,
    stored: Option<u64>,
    took: Took,
}

/// The same over about so many megabytes of made conversations.
pub(crate) fn run_made(megabytes: u64) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let projects = folder.path().join("projects");
    let (mut messages, mut bytes) = (0, 0);
    while bytes < megabytes * 1_000_000 {
        write(&projects, messages, messages + STEP)?;
        messages += STEP;
        bytes = size_of(&projects)?;
    }
    run(&projects, 1)
}

/// Messages that are made before their bytes are looked at.
const STEP: u64 = 20_000;

/// Measures and prints a table; `times` says how often all is taken in, of which the best counts.
pub(crate) fn run(folder: &Path, times: u32) -> anyhow::Result<()> {
    let files = transcripts(folder)?;
    let bytes = files.iter().map(|file| Ok(fs_err::metadata(file)?.len())).sum::<anyhow::Result<u64>>()?;
    if bytes == 0 {
        bail!("there is no transcript under {}", folder.display());
    }
    let scratch = tempfile::tempdir()?;
    let list = scratch.path().join("files");
    fs_err::write(&list, files.iter().map(|file| format!("{}\n", file.display())).collect::<String>())?;
    let mut ways = vec![Way { name: "cat", stored: None, took: best(3, || cat(&files))?.0 }];
    let own = OwnMemory::watch();
    let (took, (memory, report)) = best(times, || registered(folder))?;
    let rate = report.totals.messages as f64 / took.wall.as_secs_f64();
    ways.push(Way { name: "recollect ingest", stored: Some(stored(&memory)?), took });
    let peak = (own.most(), most_memory()?);
    drop(own);
    let empty = Memory::new()?;
    let (took, ()) = best(1, || take_in(&empty, &files))?;
    ways.push(Way { name: "  archive alone", stored: Some(stored(&empty)?), took });
    let (took, ()) = best(1, || take_in(&empty, &files))?;
    ways.push(Way { name: "  archive alone, again", stored: None, took });
    let now = memory.engine.now();
    let (took, tidied) = best(1, || Ok(memory.engine.archive().tidy(true, now, &Cancel::default())?))?;
    let later = recollect_engine::time::Time::from_millis(now.millis() + 3_600_000);
    memory.engine.archive().tidy(true, later, &Cancel::default())?;
    if tidied.joined > 0 {
        ways.push(Way { name: "  then tidied", stored: Some(stored(&memory)?), took });
    }
    let slowest = restore(&memory)?;
    ways.extend(tools(scratch.path(), &list)?);
    print(&ways, bytes);
    print_sessions(&report.totals, files.len(), slowest, rate, peak);
    Ok(())
}

fn stored(memory: &Memory) -> anyhow::Result<u64> {
    Ok(registry::stats(&memory.engine)?.stored_bytes)
}

fn cat(files: &[PathBuf]) -> anyhow::Result<()> {
    run_tool(Command::new("cat").args(files)).map(|_| ())
}

/// Takes files into the archive and nowhere else.
fn take_in(memory: &Memory, files: &[PathBuf]) -> anyhow::Result<()> {
    let batch = memory.engine.archive().batch();
    files.par_iter().try_for_each(|file| -> anyhow::Result<()> {
        let mut archiver = Archiver::new(&batch, &file.display().to_string(), None);
        archiver.feed(&fs_err::read(file)?)?;
        archiver.finish("")?;
        Ok(())
    })?;
    batch.finish()?;
    Ok(())
}

/// Restores each session with nothing held in memory; returns the slowest in milliseconds for each 10 MB, and at least 10 MB.
fn restore(memory: &Memory) -> anyhow::Result<f64> {
    let page = registry::page(&memory.engine, &SessionListRequest::default())?;
    let mut slowest = 0.0_f64;
    for session in page.sessions {
        // Another program, as it were: it holds nothing of what was read before.
        let engine = memory.reopened()?;
        let start = std::time::Instant::now();
        let Ok(written) = registry::restore_to(&engine, &session.session_id, &mut std::io::sink()) else { continue };
        let tens = (written as f64 / 10e6).max(1.0);
        slowest = slowest.max(start.elapsed().as_secs_f64() * 1000.0 / tens);
    }
    Ok(slowest)
}

/// The tools that are installed.
fn tools(scratch: &Path, list: &Path) -> anyhow::Result<Vec<Way>> {
    let tar = scratch.join("all.tar");
    run_tool(Command::new("tar").arg("-cf").arg(&tar).arg("-P").arg("-T").arg(list))?;
    let mut ways = Vec::new();
    for (name, level) in [("tar | zstd -3 --long=27", "-3"), ("tar | zstd -19 --long=27", "-19")] {
        let out = scratch.join("all.zst");
        let (took, found) = best(1, || {
            run_tool(Command::new("zstd").args([level, "--long=27", "-q", "-f", "-o"]).arg(&out).arg(&tar))
        })?;
        if found {
            ways.push(Way { name, stored: Some(fs_err::metadata(&out)?.len()), took });
        }
    }
    let borg = scratch.join("borg");
    if run_tool(Command::new("borg").args(["init", "-e", "none"]).arg(&borg).env("BORG_BASE_DIR", scratch))? {
        let archive = format!("{}::all", borg.display());
        let (took, _) = best(1, || {
            let list = fs_err::File::open(list)?.into_file();
            let mut command = Command::new("borg");
            command.args(["create", "--compression", "zstd,9", "--paths-from-stdin", &archive]);
            run_tool(command.env("BORG_BASE_DIR", scratch).stdin(list))
        })?;
        ways.push(Way { name: "borg zstd,9", stored: Some(size_of(&borg)?), took });
    }
    let restic = scratch.join("restic");
    let in_restic = |arguments: &[&str]| {
        let mut command = Command::new("restic");
        command.args(["--no-cache", "--quiet", "--compression", "max", "--repo"]).arg(&restic).args(arguments);
        command.env("RESTIC_PASSWORD", "measured");
        run_tool(&mut command)
    };
    if in_restic(&["init"])? {
        let list = list.display().to_string();
        let (took, _) = best(1, || in_restic(&["backup", "--files-from-verbatim", &list]))?;
        ways.push(Way { name: "restic max", stored: Some(size_of(&restic)?), took });
    }
    Ok(ways)
}

/// Runs a tool, its output thrown away; `false` when it is not installed.
fn run_tool(command: &mut Command) -> anyhow::Result<bool> {
    match command.stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(true),
        Ok(status) => bail!("{command:?} failed: {status}"),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn size_of(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for entry in walkdir::WalkDir::new(folder) {
        let metadata = entry?.metadata()?;
        sum += if metadata.is_file() { metadata.len() } else { 0 };
    }
    Ok(sum)
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn print(ways: &[Way], bytes: u64) {
    let megabytes = bytes as f64 / 1e6;
    println!("{:<28} {:>9} {:>7} {:>9} {:>10} {:>11}", "", "MB", "share", "MB/s", "MB/CPU-s", "wall / cat");
    let Some(cat) = ways.first() else { return };
    for Way { name, stored, took } in ways {
        let (size, share) = match stored {
            Some(stored) => {
                (format!("{:.2}", *stored as f64 / 1e6), format!("{:.2} %", 100.0 * *stored as f64 / bytes as f64))
            }
            None => (String::new(), String::new()),
        };
        println!(
            "{name:<28} {size:>9} {share:>7} {:>9.1} {:>10.1} {:>11.1}",
            megabytes / took.wall.as_secs_f64(),
            megabytes / took.processor.as_secs_f64(),
            took.wall.as_secs_f64() / cat.took.wall.as_secs_f64(),
        );
    }
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn print_sessions(
    totals: &recollect_engine::api::ingest::IngestTotals,
    files: usize,
    slowest: f64,
    rate: f64,
    (own, mapped): (u64, u64),
) {
    println!(
        "{files} transcripts, {} sessions, {} messages taken in at {rate:.0} a second; slowest restore of one: {slowest:.0} ms for \
         each 10 MB; most memory: {:.0} MB, with pages of mapped files {:.0} MB",
        totals.sessions,
        totals.messages,
        own as f64 / 1e6,
        mapped as f64 / 1e6
    );
}
