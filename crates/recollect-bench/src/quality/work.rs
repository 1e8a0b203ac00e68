//! Coding sessions: how much of what a reader needs of them a compression keeps.
//!
//! A fact has to stand in one line of the result, so that scattered common words do not count.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use recollect_engine::compress::Passes;
use serde_json::Value;
use walkdir::WalkDir;

use super::memory::Memory;
use super::peers::{Peer, Unit};
use super::stems::stems;
use super::table::{self, Table};
use crate::talk::Numbers;

/// What is looked for, in the order of the tables.
const KINDS: [&str; 5] = ["requests", "files", "commits", "errors", "outcome"];

/// What a session says that a reader needs.
#[derive(Debug, Default)]
struct Facts {
    requests: Vec<String>,
    files: BTreeSet<String>,
    commits: Vec<String>,
    errors: Vec<String>,
    outcome: Option<String>,
    /// All of its words.
    text: String,
}

/// Transcripts below a folder that are long enough to be judged, the same ones in the same order each time.
pub(super) fn transcripts(folder: &Path, limit: usize) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let mut files: Vec<PathBuf> = WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-")))
        .collect();
    let mut numbers = Numbers::new(7);
    for at in (1..files.len()).rev() {
        files.swap(at, numbers.below(at as u64 + 1) as usize);
    }
    let mut found = Vec::new();
    for file in files {
        if found.len() == limit {
            break;
        }
        let bytes = fs_err::read(&file)?;
        let transcript = String::from_utf8_lossy(&bytes).into_owned();
        if transcript.len() < 60_000 {
            continue;
        }
        let facts = Facts::of(&transcript);
        if facts.requests.len() >= 2 && facts.text.len() > 20_000 {
            found.push((file, transcript));
        }
    }
    Ok(found)
}

/// Compresses each transcript at each ratio, and tells what is kept, beside peers at the same budget of characters.
pub(super) fn judge(
    transcripts: &[(PathBuf, String)],
    ratios: &[f64],
    variants: &[(String, Passes)],
    peers: &[Peer],
) -> anyhow::Result<Table> {
    let folder = tempfile::tempdir()?;
    let memory = Memory::open(folder.path())?;
    let count = variants.len() + peers.len();
    // For each way, ratio and kind: a share for each transcript that has such facts.
    let mut kept = vec![vec![vec![Vec::new(); KINDS.len()]; ratios.len()]; count];
    for (number, (_, transcript)) in transcripts.iter().enumerate() {
        let facts = Facts::of(transcript);
        let source = memory.take_in(&format!("work {number}"), transcript)?;
        let lines: Vec<&str> = facts.text.lines().collect();
        let units: Vec<Unit> = lines.iter().map(|line| Unit::new(line)).collect();
        for (at, ratio) in ratios.iter().enumerate() {
            let mut add = |way: usize, text: &str| {
                for (kind, share) in facts.found_in(text).into_iter().enumerate() {
                    kept[way][at][kind].extend(share);
                }
            };
            for (way, (_, passes)) in variants.iter().enumerate() {
                let outcome = memory.compress(&source, *ratio, *passes)?;
                let texts: Vec<&str> = outcome.messages.iter().map(|message| message.text.as_str()).collect();
                add(way, &texts.join("\n"));
            }
            for (way, peer) in peers.iter().enumerate() {
                let chosen = peer.choose(&units, (facts.text.chars().count() as f64 / ratio) as usize);
                let texts: Vec<&str> = chosen.iter().map(|at| lines[*at]).collect();
                add(variants.len() + way, &texts.join("\n"));
            }
        }
    }
    let names: Vec<String> =
        variants.iter().map(|(name, _)| name.clone()).chain(peers.iter().map(|peer| peer.name().to_owned())).collect();
    let columns: Vec<String> = ratios.iter().flat_map(|ratio| KINDS.map(|kind| format!("{kind} {ratio}:1"))).collect();
    let rows: Vec<(String, Vec<f64>)> = names
        .into_iter()
        .zip(&kept)
        .map(|(name, kept)| (name, kept.iter().flatten().map(|shares| table::percent(shares)).collect()))
        .collect();
    Ok(Table { title: format!("Work: facts kept of {} sessions (%)", transcripts.len()), columns, rows })
}

impl Facts {
    /// Of a transcript.
    fn of(transcript: &str) -> Self {
        let mut facts = Self::default();
        let mut text: Vec<String> = Vec::new();
        for line in transcript.lines() {
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            let role = record["type"].as_str().unwrap_or("");
            let aside = ["isSidechain", "isMeta", "isCompactSummary"].iter().any(|key| record[*key] == true);
            if !matches!(role, "user" | "assistant") || aside {
                continue;
            }
            for block in blocks(&record["message"]["content"]) {
                facts.block(role, &block, &mut text);
            }
        }
        facts.text = text.join("\n");
        facts
    }

    fn block(&mut self, role: &str, block: &Value, text: &mut Vec<String>) {
        match block["type"].as_str().unwrap_or("") {
            "text" => {
                let said = block["text"].as_str().unwrap_or("");
                text.push(said.to_owned());
                let wrapped = ["<", "Caveat:", "[Request"].iter().any(|begin| said.trim_start().starts_with(begin));
                if role == "user" && !wrapped && stems(said).len() >= 3 {
                    let words: Vec<&str> = said.split_whitespace().take(60).collect();
                    self.requests.push(words.join(" "));
                }
                if role == "assistant" && said.chars().count() > 40 {
                    self.outcome = Some(said.chars().take(1500).collect());
                }
            }
            "tool_use" => {
                let input = &block["input"];
                text.push(input.to_string().chars().take(2000).collect());
                let name = block["name"].as_str().unwrap_or("");
                if let ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(path)) =
                    (name, input["file_path"].as_str())
                {
                    self.files.extend(path.rsplit(['/', '\\']).next().map(str::to_owned));
                }
                if let ("Bash", Some(command)) = (name, input["command"].as_str()) {
                    self.commits.extend(commit(command));
                }
            }
            "tool_result" => {
                let output = match &block["content"] {
                    Value::String(output) => output.clone(),
                    content => {
                        let texts: Vec<String> = blocks(content)
                            .iter()
                            .map(|block| block["text"].as_str().unwrap_or("").to_owned())
                            .collect();
                        texts.join("\n")
                    }
                };
                if block["is_error"] == true {
                    let line = output.lines().find(|line| is_error(line)).unwrap_or("");
                    if stems(line).len() >= 3 {
                        self.errors.push(line.chars().take(200).collect());
                    }
                }
                text.push(output.chars().take(20_000).collect());
            }
            _ => {}
        }
    }

    /// The share of each kind that stands in a text; nothing where there are no such facts.
    fn found_in(&self, text: &str) -> [Option<f64>; KINDS.len()] {
        let lines = Lines::of(text);
        let lines_of = |facts: &mut dyn Iterator<Item = &String>| -> Vec<f64> {
            facts
                .flat_map(|fact| fact.lines())
                .filter(|line| stems(line).len() >= 3)
                .filter_map(|line| lines.best(line))
                .collect()
        };
        let mean = |shares: Vec<f64>| (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
        let most = |facts: &[String]| {
            mean(
                facts.iter().filter_map(|fact| lines.best(fact)).map(|best| f64::from(u8::from(best >= 0.6))).collect(),
            )
        };
        [
            mean(lines_of(&mut self.requests.iter())),
            mean(self.files.iter().map(|file| f64::from(u8::from(text.contains(file)))).collect()),
            most(&self.commits),
            most(&self.errors),
            mean(lines_of(&mut self.outcome.iter())),
        ]
    }
}

/// The stems of a text's lines, to be found by any of them.
struct Lines {
    with: HashMap<String, Vec<u32>>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let mut with: HashMap<String, Vec<u32>> = HashMap::new();
        for (line, number) in text.lines().zip(0..) {
            for stem in stems(line) {
                with.entry(stem).or_default().push(number);
            }
        }
        Self { with }
    }

    /// The largest share of a fact's stems that one line has.
    fn best(&self, fact: &str) -> Option<f64> {
        let wanted: HashSet<String> = stems(fact);
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for line in wanted.iter().filter_map(|stem| self.with.get(stem)).flatten() {
            *counts.entry(*line).or_default() += 1;
        }
        let best = counts.values().copied().max().unwrap_or(0);
        (!wanted.is_empty()).then(|| f64::from(best) / wanted.len() as f64)
    }
}

fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.iter().filter(|block| block.is_object()).cloned().collect(),
        _ => Vec::new(),
    }
}

/// The first line of a commit's message, where a command makes one.
fn commit(command: &str) -> Option<String> {
    let message = command.split_once("git commit")?.1.split_once("-m")?.1.trim_start();
    let message = match message.strip_prefix("\"$(cat <<") {
        Some(here) => here.split_once('\n')?.1,
        None => message,
    };
    let subject = message.trim_start_matches(['"', '\'']).split(['\n', '"', '\'']).next()?;
    (subject.chars().count() >= 8).then(|| subject.chars().take(120).collect())
}

fn is_error(line: &str) -> bool {
    let line = line.to_lowercase();
    ["error", "failed", "failure", "exception", "panicked", "traceback", "not found", "cannot"]
        .iter()
        .any(|word| line.contains(word))
}
