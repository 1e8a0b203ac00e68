//! States of files: where a budget is short, what an older session read of a file gives way to the newest state of it
//! that stands in the composition.
//!
//! Only whole results of reading give way, word for word copies of what is no longer so; the newest state always stays,
//! and so does all that somebody said.

use std::collections::HashMap;

use serde_json::Value;

use crate::session::{Block, Message, MessageKind, Role};
use crate::time::Time;

/// Lines that the client reads of a file unless it is told how many.
const READ_LINES: usize = 2000;

/// The state of a file that a message holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) path: String,
    /// Which part of the file; none for the whole.
    pub(super) part: Option<String>,
    /// The message is nothing but what was read: it can give way.
    pub(super) is_reading: bool,
}

/// A state in a composition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<'a> {
    /// Its component and its message there.
    pub(super) at: (usize, usize),
    pub(super) state: &'a FileState,
    /// Of the message, or of its session.
    pub(super) time: Option<Time>,
}

/// The states of files that messages hold, by their indexes.
pub(super) fn states(messages: &[Message]) -> HashMap<u32, FileState> {
    let mut calls: HashMap<&str, (String, Option<String>)> = HashMap::new();
    let mut states = HashMap::new();
    for message in messages.iter().filter(|message| message.kind == MessageKind::Turn) {
        for block in &message.blocks {
            let Block::ToolUse { id, input, .. } = block else { continue };
            let Some(path) = input.get("file_path").and_then(Value::as_str).filter(|path| !path.is_empty()) else {
                continue;
            };
            if input.get("content").is_some_and(Value::is_string) {
                let state = FileState { path: path.to_owned(), part: None, is_reading: false };
                states.insert(message.index, state);
            } else if !["new_string", "edits", "new_source"].iter().any(|key| input.get(key).is_some()) {
                calls.insert(id, (path.to_owned(), part_of(input)));
            }
        }
        if message.role != Role::Tool {
            continue;
        }
        if let [Block::ToolResult { tool_use_id, is_error: false, text }] = message.blocks.as_slice()
            && let Some((path, part)) = calls.remove(tool_use_id.as_str())
        {
            // What lies behind is not in it.
            let cut = text.lines().take(READ_LINES).count() == READ_LINES;
            let part = part.or_else(|| cut.then(|| "beginning".to_owned()));
            states.insert(message.index, FileState { path, part, is_reading: true });
        }
    }
    states
}

/// All that a call of reading says beside the path.
fn part_of(input: &Value) -> Option<String> {
    let object = input.as_object()?;
    let rest: Vec<String> = object
        .iter()
        .filter(|(name, value)| *name != "file_path" && !value.is_null())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    (!rest.is_empty()).then(|| rest.join(" "))
}

/// What gives way, each with what holds the newest state of the same: in another component, or in its own where another
/// has a newer one too.
pub(super) fn superseded(held: &[Held<'_>]) -> Vec<((usize, usize), (usize, usize))> {
    let mut by_path: HashMap<&str, Vec<&Held<'_>>> = HashMap::new();
    for one in held {
        by_path.entry(&one.state.path).or_default().push(one);
    }
    let mut gives_way = Vec::new();
    for one in held.iter().filter(|one| one.state.is_reading) {
        let covers = |other: &&&Held<'_>| {
            (other.state.part.is_none() || other.state.part == one.state.part) && age(other) > age(one)
        };
        let newer: Vec<_> = by_path[one.state.path.as_str()].iter().filter(covers).collect();
        if newer.iter().any(|other| other.at.0 != one.at.0)
            && let Some(newest) = newer.iter().max_by_key(|other| age(other))
        {
            gives_way.push((one.at, newest.at));
        }
    }
    gives_way
}

fn age(held: &Held<'_>) -> (Option<Time>, (usize, usize)) {
    (held.time, held.at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn message(index: u32, role: Role, block: Block) -> Message {
        Message {
            index,
            uuid: format!("m{index}"),
            role,
            kind: MessageKind::Turn,
            timestamp: None,
            reply_id: None,
            model: None,
            agent_id: None,
            cut_lines: None,
            blocks: vec![block],
        }
    }

    fn call(index: u32, id: &str, input: Value) -> Message {
        message(index, Role::Assistant, Block::ToolUse { id: id.to_owned(), name: "Tool".to_owned(), input })
    }

    fn result(index: u32, id: &str, is_error: bool) -> Message {
        let block = Block::ToolResult { tool_use_id: id.to_owned(), text: "fn main() {}".to_owned(), is_error };
        message(index, Role::Tool, block)
    }

    #[test]
    fn a_reading_that_was_cut_at_the_clients_limit_is_not_the_whole() {
        let long = Block::ToolResult { tool_use_id: "a".to_owned(), text: "x\n".repeat(READ_LINES), is_error: false };
        let short =
            Block::ToolResult { tool_use_id: "a".to_owned(), text: "x\n".repeat(READ_LINES - 1), is_error: false };
        let part = |block| {
            let states = states(&[call(0, "a", json!({"file_path": "/a.rs"})), message(1, Role::Tool, block)]);
            states[&1].part.clone()
        };
        assert!(part(long).is_some(), "an older reading of what lies behind does not give way to it");
        assert_eq!(part(short), None);
    }

    #[test]
    fn readings_and_whole_writings_are_states_and_edits_and_failures_are_not() {
        let messages = [
            call(0, "a", json!({"file_path": "/a.rs"})),
            result(1, "a", false),
            call(2, "b", json!({"file_path": "/a.rs", "offset": 10, "limit": 5})),
            result(3, "b", false),
            call(4, "c", json!({"file_path": "/a.rs", "old_string": "x", "new_string": "y"})),
            result(5, "c", false),
            call(6, "d", json!({"file_path": "/a.rs", "content": "all of it"})),
            result(7, "d", false),
            call(8, "e", json!({"file_path": "/b.rs"})),
            result(9, "e", true),
            call(10, "f", json!({"command": "cat /a.rs"})),
            result(11, "f", false),
        ];
        let states = states(&messages);
        let mut known: Vec<_> =
            states.iter().map(|(at, state)| (*at, state.is_reading, state.part.is_some())).collect();
        known.sort_unstable();
        assert_eq!(known, [(1, true, false), (3, true, true), (6, false, false)]);
    }

    proptest! {
        #[test]
        fn the_newest_state_stays_and_nothing_else_than_an_older_reading_goes(
            facts in prop::collection::vec((0_usize..4, 0_u8..3, prop::option::of(0_u8..2), any::<bool>(), prop::option::of(0_i64..9)), 0..24)
        ) {
            let states: Vec<_> = facts.iter().map(|(_, path, part, is_reading, _)| FileState {
                path: path.to_string(),
                part: part.map(|part| part.to_string()).filter(|_| *is_reading),
                is_reading: *is_reading,
            }).collect();
            let held: Vec<Held<'_>> = facts.iter().zip(&states).enumerate().map(|(at, ((component, .., time), state))| Held {
                at: (*component, at), state, time: time.map(Time::from_millis),
            }).collect();
            let gone = superseded(&held);
            prop_assert_eq!(&gone, &superseded(&held), "the same each time");
            let find = |at: (usize, usize)| held.iter().find(|one| one.at == at).expect("one of them");
            for (loser, newest) in &gone {
                let (loser, newest) = (find(*loser), find(*newest));
                prop_assert!(loser.state.is_reading && loser.state.path == newest.state.path);
                prop_assert!(age(newest) > age(loser), "only what is newer takes its place");
                prop_assert!(newest.state.part.is_none() || newest.state.part == loser.state.part, "and holds as much");
                prop_assert!(!gone.iter().any(|(gone, _)| *gone == newest.at), "what takes its place stays");
            }
            for path in 0_u8..3 {
                let newest = held.iter().filter(|one| one.state.path == path.to_string()).max_by_key(|one| age(one));
                prop_assert!(newest.is_none_or(|newest| !gone.iter().any(|(gone, _)| *gone == newest.at)));
            }
        }
    }
}
