//! `recollect-bench search`: how long a search takes at ten thousand, a hundred thousand and a million messages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use recollect_engine::api::ingest::{IngestRequest, ingest};
use recollect_engine::api::search::{SearchRequest, query};
use recollect_engine::engine::{Call, Cancel};
use recollect_engine::time::Time;
use recollect_engine::{Engine, EngineOptions};

use crate::clock::most_memory;
use crate::talk::{Numbers, write};

/// Searches of each kind.
const TIMES: u64 = 100;
/// Runs of the whole program.
const RUNS: usize = 40;

/// Measures at each size and prints a table.
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
pub(crate) fn run(sizes: &[u64], program: Option<&Path>, folder: Option<PathBuf>) -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let root = folder.unwrap_or_else(|| temporary.path().to_owned());
    let (client, home) = (root.join("client/projects"), root.join("memory"));
    println!("messages  kind                  p50 ms    p95 ms   longest   hits of the last");
    let mut known = 0;
    for size in sizes {
        let engine = Engine::open(EngineOptions {
            home: home.clone(),
            claude_home: root.join("client"),
            clock: Arc::new(|| Time::from_millis(jiff::Timestamp::now().as_millisecond())),
            sink: Arc::new(|_| {}),
            export_folders: Vec::new(),
            models: Arc::new(recollect_engine::language_model::NoModels),
        })?;
        let call = Call { engine: &engine, progress: &|_| {}, cancel: &Cancel::default() };
        let words = write(&client, known, *size)?;
        let start = Instant::now();
        let request = IngestRequest { paths: vec![client.display().to_string()], ..IngestRequest::default() };
        let report = ingest(&call, request)?;
        let took = start.elapsed().as_secs_f64();
        let added = size - known;
        known = *size;
        let index = bytes_of(&home.join("cache/search"))?;
        println!(
            "{size:>8}  taken in and indexed: {:.0} messages/s, {:.1} MB/s of words; most memory {:.0} MB; index {:.0} MB",
            added as f64 / took,
            words as f64 / took / 1e6,
            most_memory()? as f64 / 1e6,
            index as f64 / 1e6
        );
        if report.totals.new_unique == 0 {
            bail!("nothing was taken in");
        }
        for (name, make) in KINDS {
            measure(&call, *size, name, *make)?;
        }
        drop(engine);
        if let Some(program) = program {
            whole(program, &home, *size)?;
        }
    }
    Ok(())
}

type Make = fn(&mut Numbers) -> SearchRequest;

fn plain(query: String) -> SearchRequest {
    SearchRequest { query, limit: Some(40), ..SearchRequest::default() }
}

/// What people type, from the rare to the common.
const KINDS: &[(&str, Make)] = &[
    ("one rare word", |numbers| plain(numbers.rare_word())),
    ("three words", |numbers| plain(format!("{} {} {}", numbers.word(), numbers.rare_word(), numbers.word()))),
    ("a question", |numbers| {
        let (one, two) = (numbers.rare_word(), numbers.word());
        plain(format!("why does the {one} in the {two} not work when {} is on", numbers.rare_word()))
    }),
    ("while typing", |numbers| {
        let word = numbers.rare_word();
        let query = format!("{} {}", numbers.word(), &word[..word.len() / 2]);
        SearchRequest { typing: true, ..plain(query) }
    }),
    ("a misspelt word", |numbers| plain(format!("{}x", numbers.rare_word()))),
    ("a phrase", |numbers| plain(format!("\"{} {}\"", numbers.word(), numbers.word()))),
    ("in one project", |numbers| {
        let project = format!("/home/dev/project{}", numbers.below(40));
        SearchRequest { project: Some(project), ..plain(format!("{} {}", numbers.word(), numbers.rare_word())) }
    }),
    ("common words only", |_| plain("the error of the test in this file".to_owned())),
];

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn measure(call: &Call<'_>, size: u64, name: &str, make: Make) -> anyhow::Result<()> {
    let mut numbers = Numbers::new(99);
    let mut times = Vec::new();
    let mut hits = 0;
    for round in 0..TIMES + 5 {
        let request = make(&mut numbers);
        let start = Instant::now();
        let answer = query(call, request)?;
        // The first of each kind open files.
        if round >= 5 {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        hits = answer.hits.len();
    }
    let [middle, most, longest] = quantiles(&mut times);
    println!("{size:>8}  {name:<20} {middle:>8.2}  {most:>8.2}  {longest:>8.2}   {hits}");
    Ok(())
}

/// The program from its start to its end.
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn whole(program: &Path, home: &Path, size: u64) -> anyhow::Result<()> {
    let mut numbers = Numbers::new(7);
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let status = Command::new(program)
            .args(["--json", "search", &format!("{} {}", numbers.word(), numbers.rare_word())])
            .arg("--home")
            .arg(home)
            .stdout(Stdio::null())
            .status()
            .with_context(|| program.display().to_string())?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        if !status.success() {
            bail!("{} failed: {status}", program.display());
        }
    }
    let [middle, most, longest] = quantiles(&mut times);
    println!("{size:>8}  {:<20} {middle:>8.2}  {most:>8.2}  {longest:>8.2}", "whole program");
    Ok(())
}

/// The middle, the one that 5 of 100 are longer than, and the longest.
fn quantiles(times: &mut [f64]) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    [at(0.5), at(0.95), at(1.0)]
}

fn bytes_of(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry?;
        if entry.file_type().is_file() {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}
