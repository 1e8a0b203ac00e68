//! One line appended to a session that is followed: what it costs until it is in the list, in the archive and in search, in short
//! sessions and in long ones.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use recollect_engine::event::Event;
use recollect_engine::time::Time;
use recollect_engine::watch::{Follow, Told};
use recollect_engine::{Engine, EngineOptions};

use crate::clock::once;
use crate::talk::Numbers;

/// Longer than taking the largest session in takes.
const PATIENCE: Duration = Duration::from_secs(1800);
const SESSION: &str = "11111111-1111-4111-8111-111111111111";

/// What appending one line took, on average but for the wall time, which is the median.
struct Cost {
    megabytes: u64,
    wall: Duration,
    worst: Duration,
    processor: Duration,
    read: u64,
    written: u64,
}

/// Measures sessions of so many megabytes.
pub(crate) fn run(sizes: &[u64], lines: u32) -> Result<()> {
    let costs = sizes.iter().map(|size| cost(*size, lines)).collect::<Result<Vec<_>>>()?;
    print(&costs);
    Ok(())
}

fn cost(megabytes: u64, lines: u32) -> Result<Cost> {
    let folder = tempfile::tempdir()?;
    let project = folder.path().join("client/projects/-home-dev-made");
    fs_err::create_dir_all(&project)?;
    let path = project.join(format!("{SESSION}.jsonl"));
    let mut numbers = Numbers::new(megabytes);
    let mut count = write(&path, megabytes * 1_000_000, &mut numbers)?;
    let (say, heard) = channel();
    let say = Mutex::new(say);
    let engine = Engine::open(EngineOptions {
        home: folder.path().join("memory"),
        claude_home: folder.path().join("client"),
        clock: Arc::new(|| Time::from_millis(jiff::Timestamp::now().as_millisecond())),
        sink: Arc::new(move |event| {
            if matches!(event, Event::IndexChanged { .. })
                && let Ok(say) = say.lock()
            {
                // Heard until the last line.
                let _ = say.send(());
            }
        }),
        export_folders: Vec::new(),
        models: Arc::new(recollect_engine::language_model::NoModels),
    })?;
    engine.watch().start(&engine, Follow { at_once: true, told: Arc::new(|_: Told<'_>| {}) })?;
    searchable(&heard)?;
    // The first line meets what is cold.
    append(&path, &mut count, &mut numbers)?;
    searchable(&heard)?;
    let before = io()?;
    let mut walls = Vec::new();
    let (took, ()) = once(&mut || {
        for _ in 0..lines {
            let start = Instant::now();
            append(&path, &mut count, &mut numbers)?;
            searchable(&heard)?;
            walls.push(start.elapsed());
        }
        Ok(())
    })?;
    let after = io()?;
    engine.watch().stop();
    walls.sort();
    Ok(Cost {
        megabytes,
        wall: walls[walls.len() / 2],
        worst: walls.last().copied().unwrap_or_default(),
        processor: took.processor / lines,
        read: (after.0 - before.0) / u64::from(lines),
        written: (after.1 - before.1) / u64::from(lines),
    })
}

fn searchable(heard: &Receiver<()>) -> Result<()> {
    heard.recv_timeout(PATIENCE).context("nothing became searchable")
}

fn write(path: &Path, bytes: u64, numbers: &mut Numbers) -> Result<u64> {
    let mut out = BufWriter::new(fs_err::File::create(path)?);
    let (mut written, mut count) = (0, 0);
    while written < bytes {
        let line = line(&mut count, 200, numbers);
        out.write_all(line.as_bytes())?;
        written += line.len() as u64;
    }
    out.flush()?;
    Ok(count)
}

fn append(path: &Path, count: &mut u64, numbers: &mut Numbers) -> Result<()> {
    let line = line(count, 40, numbers);
    Ok(fs_err::OpenOptions::new().append(true).open(path)?.write_all(line.as_bytes())?)
}

/// A record of so many words.
fn line(count: &mut u64, words: u64, numbers: &mut Numbers) -> String {
    *count += 1;
    let text: Vec<String> = (0..words).map(|_| numbers.word()).collect();
    let (text, role) = (text.join(" "), if *count % 2 == 1 { "user" } else { "assistant" });
    format!(
        "{{\"type\":\"{role}\",\"uuid\":\"00000000-0000-4000-8000-{count:012}\",\"sessionId\":\"{SESSION}\",\"cwd\":\"/home/dev/made\",\
         \"timestamp\":\"2026-01-20T10:00:00.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

/// Bytes that this process has read and written so far, by its system calls.
fn io() -> Result<(u64, u64)> {
    let counts = fs_err::read_to_string("/proc/self/io")?;
    let of = |name: &str| {
        let line = counts.lines().find_map(|line| line.strip_prefix(name)).context("the system counts bytes")?;
        Ok::<u64, anyhow::Error>(line.trim().parse()?)
    };
    Ok((of("rchar:")?, of("wchar:")?))
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn print(costs: &[Cost]) {
    let Some(first) = costs.first() else { return };
    println!(
        "one line appended, until it can be searched; the first 120 ms of the wall time gather what comes together"
    );
    println!(
        "{:>8} {:>9} {:>9} {:>8} {:>9} {:>11} {:>13} {:>13}",
        "MB", "wall ms", "worst ms", "CPU ms", "read kB", "written kB", "CPU / first", "wall / first"
    );
    for cost in costs {
        println!(
            "{:>8} {:>9.0} {:>9.0} {:>8.1} {:>9.0} {:>11.0} {:>13.2} {:>13.2}",
            cost.megabytes,
            cost.wall.as_secs_f64() * 1e3,
            cost.worst.as_secs_f64() * 1e3,
            cost.processor.as_secs_f64() * 1e3,
            cost.read as f64 / 1e3,
            cost.written as f64 / 1e3,
            cost.processor.as_secs_f64() / first.processor.as_secs_f64(),
            cost.wall.as_secs_f64() / first.wall.as_secs_f64(),
        );
    }
}
