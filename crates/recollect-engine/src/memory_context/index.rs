//! `index`: topics by TF-IDF over what was said, entities that records name, and the timeline.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::Sessions;
use crate::error::{Error, Result};
use crate::extract::Extracted;
use crate::registry::Loaded;
use crate::session::{Block, MessageKind, Role};

/// Topics of a session.
const TOPICS: usize = 10;
/// A word that is said less often is no topic.
const LEAST: u32 = 3;
/// A topic is at least so rare: logarithm of messages by messages that say it. A word of every seventh message is none.
const RAREST: f64 = 2.0;

/// The index in the making.
#[derive(Debug, Default)]
pub(super) struct Index {
    topics: Sessions,
    entities: Sessions,
    timeline: BTreeMap<String, Vec<String>>,
    /// Words of each session with how often they were said.
    said: Vec<(String, HashMap<String, u32>)>,
    /// In how many messages a word stands.
    messages_with: HashMap<String, u32>,
    messages: u32,
}

impl Index {
    /// Reads what other sessions have there.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let map = |name: &str| -> Result<Sessions> {
            match fs_err::read(folder.join(name)) {
                Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                    Error::conflict(format!("`{}` is not understood: {error}", folder.join(name).display()))
                        .hint("nothing was written; choose another folder, or mend that file")
                }),
                Err(_) => Ok(Sessions::new()),
            }
        };
        let timeline = match fs_err::read(folder.join("timeline.json")) {
            Ok(bytes) => {
                let days: Vec<Value> = serde_json::from_slice(&bytes).unwrap_or_default();
                days.iter()
                    .filter_map(|day| {
                        let sessions = serde_json::from_value(day.get("sessions")?.clone()).ok()?;
                        Some((day.get("date")?.as_str()?.to_owned(), sessions))
                    })
                    .collect()
            }
            Err(_) => BTreeMap::new(),
        };
        Ok(Self { topics: map("topics.json")?, entities: map("entities.json")?, timeline, ..Self::default() })
    }

    /// Takes a session in; what was known of it is made anew.
    pub(super) fn take(&mut self, loaded: &Loaded, extracted: &Extracted) {
        let session = loaded.session.session_id.to_string();
        for map in [&mut self.topics, &mut self.entities, &mut self.timeline] {
            for sessions in map.values_mut() {
                sessions.retain(|known| *known != session);
            }
            map.retain(|_, sessions| !sessions.is_empty());
        }
        if let Some(time) = loaded.session.last_timestamp {
            let date = time.to_string().chars().take(10).collect();
            self.timeline.entry(date).or_default().push(session.clone());
        }
        let files = extracted.files.keys().map(|path| near(path, &loaded.project_path).to_owned());
        let commits = extracted.git_changes.iter().map(|commit| commit.hash.clone());
        let branch = loaded.session.git_branch.iter().cloned();
        for entity in files.chain(commits).chain(branch) {
            let sessions = self.entities.entry(entity).or_default();
            if !sessions.contains(&session) {
                sessions.push(session.clone());
            }
        }
        self.words(session, loaded);
    }

    fn words(&mut self, session: String, loaded: &Loaded) {
        let mut said: HashMap<String, u32> = HashMap::new();
        for message in &loaded.messages {
            if message.kind != MessageKind::Turn || !matches!(message.role, Role::User | Role::Assistant) {
                continue;
            }
            let mut here: HashMap<String, u32> = HashMap::new();
            for block in &message.blocks {
                let Block::Text { text } = block else { continue };
                for word in text.unicode_words().filter(|word| is_topic(word)) {
                    *here.entry(word.to_lowercase()).or_default() += 1;
                }
            }
            if here.is_empty() {
                continue;
            }
            self.messages += 1;
            for (word, times) in here {
                *self.messages_with.entry(word.clone()).or_default() += 1;
                *said.entry(word).or_default() += times;
            }
        }
        said.retain(|_, times| *times >= LEAST);
        self.said.push((session, said));
    }

    /// Writes the index; returns how many topics and entities it has.
    pub(super) fn write(mut self, folder: &Path) -> Result<(u64, u64)> {
        for (session, said) in std::mem::take(&mut self.said) {
            let mut topics: Vec<(f64, String)> = said
                .into_iter()
                .filter_map(|(word, times)| {
                    let with = self.messages_with.get(&word).copied().unwrap_or(1).max(1);
                    let rare = (f64::from(self.messages) / f64::from(with)).ln();
                    (rare >= RAREST).then(|| ((1.0 + f64::from(times).ln()) * rare, word))
                })
                .collect();
            topics.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
            for (_, topic) in topics.into_iter().take(TOPICS) {
                self.topics.entry(topic).or_default().push(session.clone());
            }
        }
        let timeline: Vec<Value> =
            self.timeline.iter().rev().map(|(date, sessions)| json!({ "date": date, "sessions": sessions })).collect();
        super::write(&folder.join("topics.json"), &json!(self.topics))?;
        super::write(&folder.join("entities.json"), &json!(self.entities))?;
        super::write(&folder.join("timeline.json"), &json!(timeline))?;
        Ok((self.topics.len() as u64, self.entities.len() as u64))
    }
}

/// Whether a word can be a topic: of letters, and not one or two.
fn is_topic(word: &str) -> bool {
    let letters = word.chars().filter(|one| one.is_alphabetic()).count();
    letters >= 3 && word.len() <= 40 && letters * 2 > word.chars().count()
}

/// A path as seen from the project.
fn near<'p>(path: &'p str, project: &str) -> &'p str {
    match path.strip_prefix(project) {
        Some(rest) if !project.is_empty() && rest.starts_with(['/', '\\']) && rest.len() > 1 => &rest[1..],
        _ => path,
    }
}
