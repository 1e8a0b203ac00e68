//! `dedup_state`: hashes of all messages, watermarks of sessions, checkpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::archive::hex;
use crate::error::Result;

/// The state of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub hashes: BTreeSet<[u8; 32]>,
    pub watermarks: BTreeMap<String, u64>,
    pub checkpoints: Value,
}

impl State {
    /// Reads what is there, and says what is not understood.
    pub(super) fn read(folder: &Path) -> (Self, Vec<String>) {
        let mut issues = Vec::new();
        let mut state =
            Self { hashes: BTreeSet::new(), watermarks: BTreeMap::new(), checkpoints: Value::Object(Map::new()) };
        if let Some(value) = json_in(&folder.join("message_hashes.json"), &mut issues) {
            state.take_hashes(&value, &mut issues);
        }
        match json_in(&folder.join("watermarks.json"), &mut issues) {
            Some(Value::Object(watermarks)) => {
                for (session, messages) in watermarks {
                    match messages.as_u64() {
                        Some(messages) => {
                            state.watermarks.insert(session, messages);
                        }
                        None => issues.push(format!("watermarks.json: `{session}` is not a count")),
                    }
                }
            }
            Some(Value::Array(list)) if list.is_empty() => {}
            Some(_) => issues.push("watermarks.json: is not an object".to_owned()),
            None => {}
        }
        if let Some(value) = json_in(&folder.join("checkpoints.json"), &mut issues) {
            state.checkpoints = value;
        }
        (state, issues)
    }

    /// `{"hashes": […], "count": n}`, or a list as a fresh folder has.
    fn take_hashes(&mut self, value: &Value, issues: &mut Vec<String>) {
        let list = match value {
            Value::Array(list) => list,
            Value::Object(object) => match object.get("hashes") {
                Some(Value::Array(list)) => list,
                _ => return issues.push("message_hashes.json: has no list `hashes`".to_owned()),
            },
            _ => return issues.push("message_hashes.json: is not a list of hashes".to_owned()),
        };
        let mut wrong = 0;
        for item in list {
            match item.as_str().and_then(from_hex) {
                Some(hash) => {
                    self.hashes.insert(hash);
                }
                None => wrong += 1,
            }
        }
        if wrong > 0 {
            issues.push(format!("message_hashes.json: {wrong} entries are no SHA-256"));
        }
    }

    /// Adds checkpoints that were taken over; those that are there stay.
    pub(super) fn add_checkpoints(&mut self, kept: Map<String, Value>) {
        if let Value::Object(there) = &mut self.checkpoints {
            for (name, checkpoint) in kept {
                there.entry(name).or_insert(checkpoint);
            }
        }
    }

    /// Writes the state; what was there before stays beside it as `*.bak`.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let hashes: Vec<String> = self.hashes.iter().map(hex).collect();
        let files = [
            ("message_hashes.json", json!({ "count": hashes.len(), "hashes": hashes })),
            ("watermarks.json", json!(self.watermarks)),
            ("checkpoints.json", self.checkpoints.clone()),
        ];
        for (name, value) in files {
            let path = folder.join(name);
            if let Ok(before) = fs_err::read(&path) {
                crate::home::write_atomically(&folder.join(format!("{name}.bak")), &before)?;
            }
            super::write(&path, &value)?;
        }
        Ok(())
    }
}

/// JSON of a file; `None` when there is none.
fn json_in(path: &Path, issues: &mut Vec<String>) -> Option<Value> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = match fs_err::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            issues.push(format!("{name}: {error}"));
            return None;
        }
    };
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    match serde_json::from_slice(bytes) {
        Ok(value) => Some(value),
        Err(error) => {
            issues.push(format!("{name}: is not JSON ({error})"));
            None
        }
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}
