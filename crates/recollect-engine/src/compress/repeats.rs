//! Calls that a later call makes superfluous: the same file read again, the same command with the same result, an older
//! state of a task list.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::calls::{Tool, path_of, tool};
use super::passes::{Pass, Passes};
use crate::session::{Block, Message};

/// What is known of the calls of a session.
#[derive(Debug, Default)]
pub(super) struct Calls<'m> {
    /// By the call's id: the tool's name and its arguments.
    by_id: HashMap<&'m str, (&'m str, &'m Value)>,
    /// Calls that a later one replaces, by id.
    replaced: HashMap<&'m str, ()>,
    /// How often a call stands for itself and earlier ones, by id.
    times: HashMap<&'m str, u32>,
}

impl<'m> Calls<'m> {
    /// Reads all calls of a session.
    pub(super) fn read(messages: &'m [Message], passes: Passes) -> Self {
        let mut calls = Self::default();
        let mut results: HashMap<&str, (&str, bool)> = HashMap::new();
        let mut order: Vec<&str> = Vec::new();
        for block in messages.iter().flat_map(|message| &message.blocks) {
            match block {
                Block::ToolUse { id, name, input } => {
                    if calls.by_id.insert(id, (name, input)).is_none() {
                        order.push(id);
                    }
                }
                Block::ToolResult { tool_use_id, text, is_error } => {
                    results.insert(tool_use_id, (text, *is_error));
                }
                Block::Text { .. } | Block::Thinking { .. } | Block::Attachment { .. } => {}
            }
        }
        if passes.has(Pass::Replaced) {
            calls.find_replaced(&order, &results);
        }
        calls
    }

    fn find_replaced(&mut self, order: &[&'m str], results: &HashMap<&'m str, (&'m str, bool)>) {
        let mut last: BTreeMap<String, (&'m str, u32)> = BTreeMap::new();
        for id in order.iter().rev() {
            let Some((name, input)) = self.by_id.get(id).copied() else { continue };
            let (text, failed) = results.get(id).copied().unwrap_or(("", false));
            let kind = tool(name, input);
            let key = match kind {
                Tool::Tasks => "tasks".to_owned(),
                // A failure is told unless the very same one comes again.
                _ if failed => format!("{name} {input} {text}"),
                Tool::Read => format!("{name} {input}"),
                Tool::Shell | Tool::Find | Tool::Other if text.len() > 40 => format!("{name} {input} {text}"),
                _ => continue,
            };
            let whole = (kind == Tool::Read && !failed)
                .then(|| path_of(input).map(|path| format!("all {name} {path}")))
                .flatten();
            let later = whole.as_ref().and_then(|whole| last.get(whole)).or_else(|| last.get(&key)).copied();
            if let Some((later, _)) = later {
                self.replaced.insert(id, ());
                *self.times.entry(later).or_insert(1) += 1;
                continue;
            }
            let is_whole = input.get("offset").is_none() && input.get("limit").is_none();
            if let Some(whole) = whole.filter(|_| is_whole) {
                last.insert(whole, (id, 1));
            }
            last.insert(key, (id, 1));
        }
    }

    /// The tool's name and arguments of a call.
    pub(super) fn of(&self, id: &str) -> Option<(&'m str, &'m Value)> {
        self.by_id.get(id).copied()
    }

    /// A later call says the same.
    pub(super) fn is_replaced(&self, id: &str) -> bool {
        self.replaced.contains_key(id)
    }

    /// For how many calls this one stands.
    pub(super) fn times(&self, id: &str) -> u32 {
        self.times.get(id).copied().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::message;

    fn session(calls: &[(&str, Value, &str, bool)]) -> Vec<Message> {
        calls
            .iter()
            .enumerate()
            .map(|(at, (name, input, result, failed))| {
                let blocks = vec![
                    Block::ToolUse { id: format!("t{at}"), name: (*name).to_owned(), input: input.clone() },
                    Block::ToolResult { tool_use_id: format!("t{at}"), text: (*result).to_owned(), is_error: *failed },
                ];
                Message { index: at as u32, uuid: format!("u{at}"), ..message(blocks) }
            })
            .collect()
    }

    #[test]
    fn a_file_read_again_is_told_once_with_its_count() {
        let read = json!({"file_path": "a"});
        let part = json!({"file_path": "a", "offset": 3});
        let messages = session(&[
            ("Read", part.clone(), "x", false),
            ("Read", read.clone(), "x", false),
            ("Read", read, "y", false),
            ("Read", part, "z", false),
        ]);
        let calls = Calls::read(&messages, Passes::ALL);
        assert!(calls.is_replaced("t0") && calls.is_replaced("t1"), "the whole file was read later");
        assert!(!calls.is_replaced("t2"), "a later part does not hold the whole");
        assert_eq!(calls.times("t2"), 3, "it stands for the part and the whole before it");
        assert_eq!(calls.times("t3"), 1);
    }

    #[test]
    fn a_failure_is_not_replaced_by_a_success() {
        let run = json!({"command": "cargo test"});
        let long = "x".repeat(50);
        let messages = session(&[
            ("Bash", run.clone(), "boom", true),
            ("Bash", run.clone(), "boom", true),
            ("Bash", run, &long, false),
        ]);
        let calls = Calls::read(&messages, Passes::ALL);
        assert!(calls.is_replaced("t0"), "the very same failure comes again");
        assert!(!calls.is_replaced("t1") && !calls.is_replaced("t2"));
    }

    #[test]
    fn only_the_last_state_of_a_task_list_counts() {
        let messages = session(&[
            ("TodoWrite", json!({"todos": [1]}), "", false),
            ("TodoWrite", json!({"todos": [2]}), "", false),
        ]);
        assert!(Calls::read(&messages, Passes::ALL).is_replaced("t0"));
    }
}
