//! Conversations whose questions name the turns that answer them: how much of those turns a compression keeps.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::Context;
use recollect_engine::compress::Passes;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::memory::Memory;
use super::peers::{Peer, Unit};
use super::stems::stems;
use super::table::{self, Table};

/// A conversation, in the neutral form that evaluation data is kept in.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Conversation {
    /// Its name.
    pub(super) id: String,
    /// What was said.
    pub(super) turns: Vec<Turn>,
    /// What is asked of it.
    pub(super) questions: Vec<Question>,
}

/// What somebody said.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Turn {
    /// Its name in the conversation.
    pub(super) id: String,
    /// Who said it.
    pub(super) speaker: String,
    /// The words.
    pub(super) text: String,
    /// When.
    pub(super) timestamp: String,
}

/// A question.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Question {
    /// Its answer.
    #[serde(default, deserialize_with = "any_text")]
    pub(super) answer: String,
    /// Turns that hold the answer.
    pub(super) evidence: Vec<String>,
    /// Of which kind it is.
    #[serde(default)]
    pub(super) category: String,
}

fn any_text<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match serde_json::Value::deserialize(from)? {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    })
}

/// Shares of what is asked for that were kept, one for each question.
#[derive(Debug, Default)]
struct Kept {
    /// Of the words of the turns.
    some: Vec<f64>,
    /// 1 where of each turn at least half is there.
    all: Vec<f64>,
    /// Of the words of the answer.
    answer: Vec<f64>,
}

impl Kept {
    fn add(
        &mut self,
        conversation: &Conversation,
        full: &HashMap<&str, HashSet<String>>,
        text: &HashMap<&str, String>,
    ) {
        let nothing = HashSet::new();
        let kept: HashMap<&str, HashSet<String>> = text
            .iter()
            .map(|(id, text)| (*id, stems(text).intersection(full.get(id).unwrap_or(&nothing)).cloned().collect()))
            .collect();
        let of = |turn: &str| (kept.get(turn).unwrap_or(&nothing), full.get(turn).unwrap_or(&nothing));
        for question in &conversation.questions {
            let shares: Vec<f64> = question
                .evidence
                .iter()
                .map(|turn| of(turn))
                .map(|(kept, full)| if full.is_empty() { 1.0 } else { kept.len() as f64 / full.len() as f64 })
                .collect();
            self.some.push(shares.iter().sum::<f64>() / shares.len().max(1) as f64);
            self.all.push(f64::from(u8::from(shares.iter().all(|share| *share >= 0.5))));
            if question.category == "adversarial" {
                continue;
            }
            let (mut there, mut asked) = (0, 0);
            for stem in stems(&question.answer) {
                if question.evidence.iter().any(|turn| of(turn).1.contains(&stem)) {
                    asked += 1;
                    there += u32::from(question.evidence.iter().any(|turn| of(turn).0.contains(&stem)));
                }
            }
            if asked > 0 {
                self.answer.push(f64::from(there) / f64::from(asked));
            }
        }
    }
}

/// Reads conversations.
pub(super) fn read(file: &Path) -> anyhow::Result<Vec<Conversation>> {
    let bytes = fs_err::read(file)?;
    serde_json::from_slice(&bytes).with_context(|| format!("`{}` holds no conversations", file.display()))
}

/// Compresses each conversation at each ratio, and tells what is kept, beside peers at the same budget of characters.
pub(super) fn judge(
    conversations: &[Conversation],
    ratios: &[f64],
    variants: &[(String, Passes)],
    peers: &[Peer],
) -> anyhow::Result<Vec<Table>> {
    let folder = tempfile::tempdir()?;
    let memory = Memory::open(folder.path())?;
    let mut kept: Vec<Vec<Kept>> = Vec::new();
    kept.resize_with(variants.len() + peers.len(), || ratios.iter().map(|_| Kept::default()).collect());
    let mut fill = vec![Vec::new(); ratios.len()];
    for conversation in conversations {
        let full: HashMap<&str, HashSet<String>> =
            conversation.turns.iter().map(|turn| (turn.id.as_str(), stems(&turn.text))).collect();
        let uuids: HashMap<String, &str> =
            conversation.turns.iter().map(|turn| (uuid(&conversation.id, &turn.id), turn.id.as_str())).collect();
        let characters: usize = conversation.turns.iter().map(|turn| said(turn).chars().count()).sum();
        let source = memory.take_in(&conversation.id, &transcript(conversation)?)?;
        let units: Vec<Unit> = conversation.turns.iter().map(|turn| Unit::new(&said(turn))).collect();
        for (at, ratio) in ratios.iter().enumerate() {
            for (number, (_, passes)) in variants.iter().enumerate() {
                let outcome = memory.compress(&source, *ratio, *passes)?;
                let mut text: HashMap<&str, String> = HashMap::new();
                for message in &outcome.messages {
                    for id in message.sources.iter().filter_map(|source| uuids.get(source)) {
                        let text = text.entry(id).or_default();
                        text.push(' ');
                        text.push_str(&message.text);
                    }
                }
                kept[number][at].add(conversation, &full, &text);
                if number == 0 {
                    let written: usize = outcome.messages.iter().map(|message| message.text.chars().count()).sum();
                    fill[at].push(written as f64 * ratio / characters as f64 / 100.0);
                }
            }
            for (number, peer) in peers.iter().enumerate() {
                let chosen = peer.choose(&units, (characters as f64 / ratio) as usize);
                let text =
                    chosen.iter().map(|at| (conversation.turns[*at].id.as_str(), conversation.turns[*at].text.clone()));
                kept[variants.len() + number][at].add(conversation, &full, &text.collect());
            }
        }
    }
    let names: Vec<String> =
        variants.iter().map(|(name, _)| name.clone()).chain(peers.iter().map(|peer| peer.name().to_owned())).collect();
    let columns: Vec<String> = ratios.iter().map(|ratio| format!("{ratio}:1")).collect();
    let rows = |of: fn(&Kept) -> &Vec<f64>| -> Vec<(String, Vec<f64>)> {
        names
            .iter()
            .zip(&kept)
            .map(|(name, kept)| (name.clone(), kept.iter().map(|kept| table::percent(of(kept))).collect()))
            .collect()
    };
    let mut some = rows(|kept| &kept.some);
    some.push(("characters × ratio / all".to_owned(), fill.iter().map(|fill| table::percent(fill) * 100.0).collect()));
    let table = |title: &str, rows| Table { title: title.to_owned(), columns: columns.clone(), rows };
    Ok(vec![
        table("Talk: share of the evidence's words that is kept (%)", some),
        table("Talk: questions of which each turn is at least half kept (%)", rows(|kept| &kept.all)),
        table("Talk: words of the answers kept in those turns (%)", rows(|kept| &kept.answer)),
    ])
}

fn said(turn: &Turn) -> String {
    format!("{}: {}", turn.speaker, turn.text)
}

fn uuid(conversation: &str, turn: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{conversation}/{turn}").as_bytes()).to_string()
}

/// The conversation as the client would have written it: who speaks first is the user.
fn transcript(conversation: &Conversation) -> anyhow::Result<String> {
    let first = conversation.turns.first().context("a conversation without turns")?;
    let mut lines = String::new();
    let mut parent: Option<String> = None;
    for turn in &conversation.turns {
        let role = if turn.speaker == first.speaker { "user" } else { "assistant" };
        let own = uuid(&conversation.id, &turn.id);
        let text = said(turn);
        let content = if role == "user" { json!(text) } else { json!([{"type": "text", "text": text}]) };
        let record = json!({
            "type": role, "uuid": own, "parentUuid": parent, "timestamp": turn.timestamp, "sessionId": uuid(&conversation.id, ""),
            "cwd": format!("/home/dev/{}", conversation.id), "version": "2.1.0", "gitBranch": "main", "isSidechain": false,
            "userType": "external", "message": {"role": role, "content": content},
        });
        lines.push_str(&record.to_string());
        lines.push('\n');
        parent = Some(own);
    }
    Ok(lines)
}
