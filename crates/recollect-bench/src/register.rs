//! `recollect-bench register DIR`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, bail};
use recollect_engine::api::ingest::{IngestReport, IngestRequest, ingest};
use recollect_engine::dedup::ContentHash;
use recollect_engine::engine::{Call, Cancel};
use recollect_engine::sources::claude_code::read;
use recollect_engine::sources::lines::LineBatches;
use recollect_engine::time::Time;
use recollect_engine::tokens::Counter;
use recollect_engine::{Engine, EngineOptions};

use crate::clock::{Took, best, most_memory};

/// A measured step: what it is, the bytes that it went through, what it took.
struct Step {
    name: &'static str,
    bytes: u64,
    took: Took,
}

/// Measures and prints a table.
pub(crate) fn run(folder: &Path, times: u32) -> anyhow::Result<()> {
    let files = transcripts(folder)?;
    let bytes = files.iter().map(|file| Ok(fs_err::metadata(file)?.len())).sum::<anyhow::Result<u64>>()?;
    if bytes == 0 {
        bail!("there is no transcript under {}", folder.display());
    }
    let mut steps = vec![
        Step { name: "cat", bytes, took: best(times, || tool("cat", &[], &files))?.0 },
        Step { name: "wc -l", bytes, took: best(times, || tool("wc", &["-l"], &files))?.0 },
    ];
    steps.extend(single_steps(&files, bytes, times)?);
    let (took, (memory, report)) = best(times, || registered(folder))?;
    steps.push(Step { name: "register all of it", bytes, took });
    let peak = most_memory()?;
    let (again, _) = best(times, || take_in(&memory.engine, folder))?;
    steps.push(Step { name: "register it again", bytes, took: again });
    print(&steps, &report, files.len(), peak);
    Ok(())
}

/// The `.jsonl` files under a folder, in order.
pub(crate) fn transcripts(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry?;
        if entry.file_type().is_file() && entry.path().extension().is_some_and(|extension| extension == "jsonl") {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

/// Runs a tool over all files, its output thrown away.
fn tool(name: &str, arguments: &[&str], files: &[PathBuf]) -> anyhow::Result<()> {
    let status = Command::new(name)
        .args(arguments)
        .args(files)
        .stdout(Stdio::null())
        .status()
        .with_context(|| name.to_owned())?;
    if !status.success() {
        bail!("`{name}` failed: {status}");
    }
    Ok(())
}

/// The pure steps one after another, on one processor: each with the bytes that it really goes through.
fn single_steps(files: &[PathBuf], bytes: u64, times: u32) -> anyhow::Result<Vec<Step>> {
    let (parse, texts) = best(times, || files.iter().map(|file| texts(file)).collect::<anyhow::Result<Vec<_>>>())?;
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    let text_bytes = texts.iter().map(|text| text.len() as u64).sum();
    let counter = Counter::for_model("opus");
    counter.count("load the table");
    let (count, tokens) = best(times, || Ok(texts.iter().map(|text| counter.count(text)).sum::<u64>()))?;
    let (hash, hashes) = best(times, || {
        let mut hashes: Vec<ContentHash> = texts.iter().map(|text| ContentHash::of(text)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Ok(hashes.len())
    })?;
    if tokens == 0 || hashes == 0 {
        bail!("no message was found");
    }
    Ok(vec![
        Step { name: "  read lines, parse", bytes, took: parse },
        Step { name: "  count tokens of the text", bytes: text_bytes, took: count },
        Step { name: "  hash the text", bytes: text_bytes, took: hash },
    ])
}

/// The texts of a file's messages.
fn texts(file: &Path) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut batches = LineBatches::new(fs_err::File::open(file)?, 0);
    let mut number = 0;
    while let Some(batch) = batches.next_batch()? {
        for line in batch.lines() {
            number += 1;
            let message = read(line.bytes, number).record.and_then(|record| record.message);
            texts.extend(message.map(|message| message.text()).filter(|text| !text.is_empty()));
        }
    }
    Ok(texts)
}

/// A memory in a folder of its own, that goes with it.
pub(crate) struct Memory {
    pub(crate) engine: Engine,
    folder: tempfile::TempDir,
}

impl Memory {
    fn open(folder: &Path) -> anyhow::Result<Engine> {
        Ok(Engine::open(EngineOptions {
            home: folder.join("memory"),
            claude_home: folder.join("client"),
            clock: Arc::new(|| Time::from_millis(jiff::Timestamp::now().as_millisecond())),
            sink: Arc::new(|_| {}),
            export_folders: Vec::new(),
            models: Arc::new(recollect_engine::language_model::NoModels),
        })?)
    }

    /// An empty memory.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        Ok(Self { engine: Self::open(folder.path())?, folder })
    }

    /// The same memory as another program would open it.
    pub(crate) fn reopened(&self) -> anyhow::Result<Engine> {
        Self::open(self.folder.path())
    }
}

/// A new memory with everything under a folder registered.
pub(crate) fn registered(folder: &Path) -> anyhow::Result<(Memory, IngestReport)> {
    let memory = Memory::new()?;
    let report = take_in(&memory.engine, folder)?;
    Ok((memory, report))
}

fn take_in(engine: &Engine, folder: &Path) -> anyhow::Result<IngestReport> {
    let call = Call { engine, progress: &|_| {}, cancel: &Cancel::default() };
    let paths = vec![folder.to_str().context("the folder's name is not UTF-8")?.to_owned()];
    Ok(ingest(&call, IngestRequest { paths, ..IngestRequest::default() })?)
}

/// Prints the steps beside the first, which is `cat`.
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn print(steps: &[Step], report: &IngestReport, files: usize, peak: u64) {
    let totals = &report.totals;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    println!(
        "{files} transcripts, {} sessions, {} messages, {} files failed",
        totals.sessions, totals.messages, totals.failed
    );
    println!("{:<28} {:>8} {:>10} {:>10} {:>12} {:>12}", "", "MB", "MB/s", "MB/CPU-s", "wall / cat", "CPU / cat");
    let Some(cat) = steps.first() else { return };
    for Step { name, bytes, took } in steps {
        println!(
            "{name:<28} {:>8.1} {:>10.1} {:>10.1} {:>12.1} {:>12.1}",
            megabytes(*bytes),
            megabytes(*bytes) / took.wall.as_secs_f64(),
            megabytes(*bytes) / took.processor.as_secs_f64(),
            took.wall.as_secs_f64() / cat.took.wall.as_secs_f64(),
            took.processor.as_secs_f64() / cat.took.processor.as_secs_f64(),
        );
    }
    let stored = megabytes(totals.bytes_stored);
    println!(
        "archive: {stored:.1} MB, {:.1} % of {:.1} MB; most memory: {:.0} MB",
        100.0 * stored / megabytes(totals.bytes.max(1)),
        megabytes(totals.bytes),
        megabytes(peak)
    );
}
