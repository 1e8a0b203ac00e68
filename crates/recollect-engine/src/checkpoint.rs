//! Checkpoints: what the memory held at a moment, under a name, to see later what came of it ("before import").
//!
//! They are records of what was there, not copies: `checkpoints.json` in the memory's folder, a member for each checkpoint.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::checkpoint::{Checkpoint, CheckpointDiff, SessionChange, SessionState};
use crate::document;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::home;

/// Characters of a name at most.
const LONGEST_NAME: usize = 100;

/// A checkpoint as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    sums: Checkpoint,
    states: Vec<SessionState>,
}

/// Notes the state of the memory under a name.
///
/// # Errors
/// `Usage` for what is no name, `Conflict` when it is taken.
pub fn create(engine: &Engine, name: &str) -> Result<Checkpoint> {
    let name = checked(name)?;
    let _lock = home::hold(&engine.home().lock())?;
    let mut records = load(engine)?;
    if let Some(taken) = records.iter().find(|record| is_named(record, &name)) {
        return Err(Error::conflict(format!("there is a checkpoint `{}` already", taken.sums.name))
            .hint("choose another name, or remove that one first"));
    }
    let record = now(engine, &name)?;
    let sums = record.sums.clone();
    records.push(record);
    save(engine, records)?;
    Ok(sums)
}

/// The sums of all checkpoints, newest first.
pub fn list(engine: &Engine) -> Result<Vec<Checkpoint>> {
    Ok(load(engine)?.into_iter().rev().map(|record| record.sums).collect())
}

/// What became of the memory from one checkpoint to another, or to now.
///
/// # Errors
/// `NotFound` when there is no such checkpoint.
pub fn diff(engine: &Engine, from: &str, to: Option<&str>) -> Result<CheckpointDiff> {
    let from = find(engine, from)?;
    let to = match to {
        Some(to) => find(engine, to)?,
        None => now(engine, "")?,
    };
    Ok(compare(from, to))
}

/// Forgets a checkpoint.
///
/// # Errors
/// `NotFound` when there is no such checkpoint.
pub fn remove(engine: &Engine, name: &str) -> Result<Checkpoint> {
    let _lock = home::hold(&engine.home().lock())?;
    let mut records = load(engine)?;
    let place = records.iter().position(|record| is_named(record, name)).ok_or_else(|| unknown(name))?;
    let removed = records.remove(place);
    save(engine, records)?;
    Ok(removed.sums)
}

/// The memory as it is.
fn now(engine: &Engine, name: &str) -> Result<Record> {
    engine.db().read(|rows| {
        let states = rows.session_states()?;
        let (_, unique_messages) = rows.message_counts()?;
        let sums = Checkpoint {
            name: name.to_owned(),
            created_at: engine.now(),
            sessions: states.len() as u64,
            messages: states.iter().map(|state| state.messages).sum(),
            unique_messages,
            bytes: states.iter().map(|state| state.bytes).sum(),
        };
        Ok(Record { sums, states })
    })
}

fn compare(from: Record, to: Record) -> CheckpointDiff {
    let mut before: BTreeMap<_, _> = from.states.into_iter().map(|state| (state.session_id.clone(), state)).collect();
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    for after in to.states {
        match before.remove(&after.session_id) {
            None => added.push(after),
            Some(before) if is_changed(&before, &after) => changed.push(SessionChange { before, after }),
            Some(_) => {}
        }
    }
    CheckpointDiff { from: from.sums, to: to.sums, added, changed, removed: before.into_values().collect() }
}

/// Whether what is kept of a session changed; a title or a project alone is not what it holds.
fn is_changed(before: &SessionState, after: &SessionState) -> bool {
    (&before.content, before.keepits, before.versions) != (&after.content, after.keepits, after.versions)
}

fn find(engine: &Engine, name: &str) -> Result<Record> {
    load(engine)?.into_iter().find(|record| is_named(record, name)).ok_or_else(|| unknown(name))
}

fn is_named(record: &Record, name: &str) -> bool {
    record.sums.name.to_lowercase() == name.trim().to_lowercase()
}

fn unknown(name: &str) -> Error {
    Error::not_found(format!("there is no checkpoint `{name}`")).hint("`recollect checkpoints` lists them")
}

fn checked(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(Error::usage(format!(
            "the name of a checkpoint has 1 to {LONGEST_NAME} characters and stands on one line"
        ))
        .hint("for example: before import"));
    }
    Ok(name.to_owned())
}

fn load(engine: &Engine) -> Result<Vec<Record>> {
    let path = engine.home().checkpoints();
    let bytes = match fs_err::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    // What is not understood is never written over.
    serde_json::from_slice(&bytes).map(document::snake).and_then(serde_json::from_value).map_err(|error| {
        Error::new(ErrorKind::Io, format!("`{}` cannot be read: {error}", path.display()))
            .hint("move it away to begin anew; the memory itself is not affected")
            .because(error)
    })
}

fn save(engine: &Engine, records: Vec<Record>) -> Result<()> {
    let records = document::camel(serde_json::to_value(records)?);
    home::write_atomically(&engine.home().checkpoints(), (serde_json::to_string_pretty(&records)? + "\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::{ProjectId, SessionId};
    use crate::time::Time;

    fn record(states: &[(u8, u8, u8)]) -> Record {
        let states: Vec<SessionState> = states
            .iter()
            .map(|(id, content, versions)| SessionState {
                session_id: SessionId::new(format!("s{id:03}")),
                project_id: ProjectId::new("p"),
                title: String::new(),
                messages: 1,
                bytes: u64::from(*content),
                keepits: 0,
                versions: u64::from(*versions),
                content: format!("{content}"),
            })
            .collect();
        let sums = Checkpoint {
            name: String::new(),
            created_at: Time::from_millis(0),
            sessions: states.len() as u64,
            messages: states.len() as u64,
            unique_messages: 0,
            bytes: states.iter().map(|state| state.bytes).sum(),
        };
        Record { sums, states }
    }

    proptest! {
        #[test]
        fn a_difference_leads_from_one_state_to_the_other(
            before in prop::collection::btree_map(0_u8..20, (0_u8..4, 0_u8..2), 0..12),
            after in prop::collection::btree_map(0_u8..20, (0_u8..4, 0_u8..2), 0..12),
        ) {
            let flat = |states: &BTreeMap<u8, (u8, u8)>| {
                record(&states.iter().map(|(id, (content, versions))| (*id, *content, *versions)).collect::<Vec<_>>())
            };
            let difference = compare(flat(&before), flat(&after));
            let mut made: BTreeMap<_, _> =
                flat(&before).states.into_iter().map(|state| (state.session_id.clone(), state)).collect();
            for gone in &difference.removed {
                prop_assert!(made.remove(&gone.session_id).is_some(), "only what was there can be gone");
            }
            for change in &difference.changed {
                prop_assert_eq!(made.insert(change.after.session_id.clone(), change.after.clone()), Some(change.before.clone()));
            }
            for new in &difference.added {
                prop_assert!(made.insert(new.session_id.clone(), new.clone()).is_none(), "only what was not there is new");
            }
            prop_assert_eq!(made.into_values().collect::<Vec<_>>(), flat(&after).states);
        }
    }
}
