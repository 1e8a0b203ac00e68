//! The file itself: text that is read as JSON and edited in place.
//!
//! `jsonc-parser` (of Deno) edits, because it keeps every byte beside the value that is set; `serde_json` reads, because
//! it is strict and names the line.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;

use super::settings::{SETTINGS, VERSION};
use super::{check_version, fill, value_at};
use crate::error::{Error, Result};
use crate::time::Time;

/// A document with its text.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its text.
    pub text: String,
    /// What the text says.
    pub value: Value,
}

impl Document {
    /// The document of a new memory: all defaults.
    pub fn new(now: Time) -> Result<Self> {
        let mut value = serde_json::json!({ "version": VERSION, "createdAt": now });
        for setting in SETTINGS {
            fill(&mut value, setting.key, setting.default())?;
        }
        Ok(Self { text: format!("{value:#}\n"), value })
    }

    /// Reads a file; none when it is missing.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let text = match fs_err::read(path) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| damaged(path, "it is not UTF-8 text"))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let value: Value = serde_json::from_str(&text).map_err(|error| damaged(path, &error.to_string()))?;
        if !value.is_object() {
            return Err(damaged(path, "line 1 does not begin an object"));
        }
        check_version(&value)?;
        Ok(Some(Self { text, value }))
    }

    /// Puts a value at a dotted key, making what is missing on the way. Nothing else of the text changes.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<()> {
        let root = CstRootNode::parse(&self.text, &ParseOptions::default())
            .map_err(|error| Error::internal(error.to_string()))?;
        let mut section = root.object_value_or_set();
        let mut parts = key.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_some() {
                section = section.object_value_or_set(part);
            } else if let Some(property) = section.get(part) {
                property.set_value(literal(value));
            } else {
                section.append(part, literal(value));
            }
        }
        let text = root.to_string();
        let edited: Value = serde_json::from_str(&text)?;
        if value_at(&edited, key) != value {
            return Err(Error::conflict(format!("`{key}` stands more than once")).hint("leave one of them in the file"));
        }
        *self = Self { text, value: edited };
        Ok(())
    }
}

/// A value for the editor; settings are words, numbers, `true` and `false`, and lists of them.
fn literal(value: &Value) -> CstInputValue {
    match value {
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Null => CstInputValue::Null,
        Value::Array(values) => CstInputValue::Array(values.iter().map(literal).collect()),
        Value::Number(_) | Value::Object(_) => CstInputValue::Number(value.to_string()),
    }
}

/// The failure of a file that cannot be understood.
fn damaged(path: &Path, what: &str) -> Error {
    Error::conflict(format!("failed to read the configuration {}: {what}", path.display()))
        .hint("mend that line, or move the file away to start from the defaults; it was left as it is")
}
