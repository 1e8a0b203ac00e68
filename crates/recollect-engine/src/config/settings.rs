//! Every setting of `config.json`: its key, its default, and what it may be.

use std::path::Path;
use std::str::FromStr;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::retention::Retention;
use crate::error::{Error, Result};
use crate::keepit::decay::{BASE_DECIMALS, GREATEST_DISTANCE, exact};
use crate::models::OwnModel;

/// Version of the format that is written.
pub const VERSION: &str = "1.0.0";

/// A setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its dotted key.
    pub key: &'static str,
    default: Literal,
    allowed: Allowed,
}

/// A default.
#[derive(Debug, Clone, Copy)]
enum Literal {
    Text(&'static str),
    Truth(bool),
    Whole(u32),
    Number(f64),
    /// A list of nothing.
    Empty,
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
enum Allowed {
    /// One of some words.
    Word(&'static [&'static str]),
    /// Any words.
    Text,
    /// `true` or `false`.
    Truth,
    /// A number from 0 to 1.
    Fraction { decimals: u32 },
    /// A whole number.
    Whole { from: u32, to: u32 },
    /// A number of bytes with its unit.
    Size,
    /// Which versions are kept.
    Retention,
    /// A list of folders, each by its whole path.
    Folders,
    /// US dollars.
    Dollars,
    /// The address of an API.
    Address,
    /// Any words, or none.
    AnyText,
    /// A list of language models with their windows and prices.
    Models,
}

/// What a value may be, for a face that asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(export)]
pub enum SettingRule {
    /// One of some words.
    Word {
        /// The words.
        words: Vec<String>,
    },
    /// Any words.
    Text,
    /// Yes or no.
    Truth,
    /// A number from 0 to 1.
    Fraction {
        /// How many decimals it may have.
        decimals: u32,
    },
    /// A whole number.
    Whole {
        /// The least.
        from: u32,
        /// The greatest.
        to: u32,
    },
    /// US dollars, from 0.
    Dollars,
    /// A number of bytes with its unit.
    Size,
    /// A list of folders, each by its whole path.
    Folders,
    /// A list of language models with their windows and prices.
    Models,
}

const fn setting(key: &'static str, default: Literal, allowed: Allowed) -> Setting {
    Setting { key, default, allowed }
}

const TRUE: Literal = Literal::Truth(true);
const FALSE: Literal = Literal::Truth(false);
const BASE: Allowed = Allowed::Fraction { decimals: BASE_DECIMALS };

/// All settings: those of the document in its order, then our own. `version` and `createdAt` stand before them and are not settings.
pub const SETTINGS: &[Setting] = &[
    setting("storage.maxCacheSize", Literal::Text("1GB"), Allowed::Size),
    setting("storage.compressionRetention", Literal::Text("all"), Allowed::Retention),
    setting(
        "defaults.compressionPreset",
        Literal::Text("standard"),
        Allowed::Word(&["gentle", "standard", "aggressive"]),
    ),
    setting("defaults.keepitDecayEnabled", TRUE, Allowed::Truth),
    setting("defaults.autoRegisterSessions", FALSE, Allowed::Truth),
    setting("defaults.model", Literal::Text("opus"), Allowed::Text),
    setting("keepitDecay.compressionBase.light", Literal::Number(0.1), BASE),
    setting("keepitDecay.compressionBase.moderate", Literal::Number(0.3), BASE),
    setting("keepitDecay.compressionBase.aggressive", Literal::Number(0.5), BASE),
    setting("keepitDecay.maxSessionDistance", Literal::Whole(10), Allowed::Whole { from: 1, to: GREATEST_DISTANCE }),
    setting("keepitDecay.pinnedWeight", Literal::Number(1.0), Allowed::Fraction { decimals: 2 }),
    setting("ui.defaultView", Literal::Text("timeline"), Allowed::Word(&["timeline", "list"])),
    setting("ui.showTokenEstimates", TRUE, Allowed::Truth),
    setting("ui.confirmDestructiveActions", TRUE, Allowed::Truth),
    setting("backup.automatic", TRUE, Allowed::Truth),
    setting("backup.folder", Literal::Text("backups"), Allowed::Text),
    setting("backup.keep", Literal::Whole(3), Allowed::Whole { from: 1, to: 365 }),
    setting("watch.enabled", TRUE, Allowed::Truth),
    setting("watch.exportFolders", Literal::Empty, Allowed::Folders),
    setting("engines.maxCost", Literal::Number(5.0), Allowed::Dollars),
    setting("engines.parallel", Literal::Whole(3), Allowed::Whole { from: 1, to: 4 }),
    setting("engines.patienceSeconds", Literal::Whole(180), Allowed::Whole { from: 5, to: 3600 }),
    setting("engines.claude.program", Literal::Text("claude"), Allowed::Text),
    setting("engines.anthropic.baseUrl", Literal::Text("https://api.anthropic.com"), Allowed::Address),
    setting("engines.openai.baseUrl", Literal::Text("http://localhost:11434/v1"), Allowed::Address),
    setting("engines.openai.model", Literal::Text(""), Allowed::AnyText),
    setting("models.own", Literal::Empty, Allowed::Models),
];

impl Setting {
    /// The value when none is set.
    pub fn default(&self) -> Value {
        match self.default {
            Literal::Text(text) => text.into(),
            Literal::Truth(truth) => truth.into(),
            Literal::Whole(number) => number.into(),
            Literal::Number(number) => number.into(),
            Literal::Empty => Value::Array(Vec::new()),
        }
    }

    /// What a value of it may be.
    pub fn rule(&self) -> SettingRule {
        match self.allowed {
            Allowed::Word(words) => SettingRule::Word { words: words.iter().map(|&word| word.to_owned()).collect() },
            Allowed::Text | Allowed::Retention | Allowed::AnyText | Allowed::Address => SettingRule::Text,
            Allowed::Dollars => SettingRule::Dollars,
            Allowed::Truth => SettingRule::Truth,
            Allowed::Fraction { decimals } => SettingRule::Fraction { decimals },
            Allowed::Whole { from, to } => SettingRule::Whole { from, to },
            Allowed::Size => SettingRule::Size,
            Allowed::Folders => SettingRule::Folders,
            Allowed::Models => SettingRule::Models,
        }
    }

    /// What a value of it may be, in words.
    pub fn in_words(&self) -> String {
        self.allowed.in_words()
    }

    /// Fails, naming key, value and what is allowed, when the setting may not have the value.
    pub fn check(&self, value: &Value) -> Result<()> {
        if self.allowed.accepts(value) {
            return Ok(());
        }
        Err(Error::usage(format!("`{}` cannot be {value}: it must be {}", self.key, self.allowed.in_words())))
    }
}

impl Allowed {
    fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Word(words) => value.as_str().is_some_and(|value| words.contains(&value)),
            Self::Text => value.as_str().is_some_and(|value| !value.trim().is_empty()),
            Self::Truth => value.is_boolean(),
            Self::Fraction { decimals } => value
                .as_f64()
                .and_then(exact)
                .is_some_and(|number| (0.into()..=1.into()).contains(&number) && number.scale() <= decimals),
            Self::Whole { from, to } => {
                value.as_u64().is_some_and(|number| (from.into()..=to.into()).contains(&number))
            }
            Self::Size => bytes(value).is_some(),
            Self::Retention => value.as_str().and_then(Retention::parse).is_some(),
            Self::Folders => value.as_array().is_some_and(|folders| {
                folders.iter().all(|folder| folder.as_str().is_some_and(|folder| Path::new(folder).is_absolute()))
            }),
            Self::Dollars => value.as_f64().is_some_and(|dollars| (0.0..=100_000.0).contains(&dollars)),
            Self::Address => value.as_str().is_some_and(|address| {
                let host = address.trim().strip_prefix("https://").or_else(|| address.trim().strip_prefix("http://"));
                host.is_some_and(|host| !host.is_empty() && !host.contains(char::is_whitespace))
            }),
            Self::AnyText => value.is_string(),
            Self::Models => OwnModel::list(value).is_ok(),
        }
    }

    fn in_words(self) -> String {
        match self {
            Self::Word([word]) => format!("\"{word}\""),
            Self::Word(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Text => "text that is not empty".to_owned(),
            Self::Truth => "true or false".to_owned(),
            Self::Fraction { decimals } => format!("a number from 0 to 1 with at most {decimals} decimals"),
            Self::Whole { from, to } => format!("a whole number from {from} to {to}"),
            Self::Folders => "a list of folders by their whole paths, such as [\"/home/ada/exports\"]".to_owned(),
            Self::Dollars => "a number of US dollars, from 0".to_owned(),
            Self::Address => "an address such as \"http://localhost:11434/v1\"".to_owned(),
            Self::AnyText => "text".to_owned(),
            Self::Models => "a list of models such as \
                [{\"id\": \"qwen3:32b\", \"contextWindow\": 32768, \"inputPrice\": 0, \"outputPrice\": 0}], with prices in \
                dollars for a million tokens"
                .to_owned(),
            Self::Retention => Retention::IN_WORDS.to_owned(),
            Self::Size => "a size such as \"500MB\" or \"1GB\"".to_owned(),
        }
    }
}

/// Bytes of a size as it is written: `1GB`, `512 MiB`.
pub fn bytes(value: &Value) -> Option<u64> {
    ByteSize::from_str(value.as_str()?).ok().map(|size| size.as_u64())
}

/// What setting a key to a value changes: that key, or with `null` every key of a section.
pub fn changes(key: &str, value: &Value) -> Result<Vec<(&'static str, Value)>> {
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) {
        let value = if value.is_null() { setting.default() } else { value.clone() };
        setting.check(&value)?;
        return Ok(vec![(setting.key, value)]);
    }
    if matches!(key, "version" | "createdAt") {
        return Err(Error::usage(format!("`{key}` is written by the program and cannot be set")));
    }
    let section = format!("{key}.");
    let held: Vec<_> = SETTINGS.iter().filter(|setting| setting.key.starts_with(&section)).collect();
    match (held.first(), value) {
        (None, _) => Err(unknown(key)),
        (Some(_), Value::Null) => Ok(held.into_iter().map(|setting| (setting.key, setting.default())).collect()),
        (Some(first), _) => Err(Error::usage(format!("`{key}` is a section of settings and cannot be {value}")).hint(
            format!("set its values one by one, such as `{}`, or the section to null for its defaults", first.key),
        )),
    }
}

/// A key that is not known, with the one that was likely meant.
fn unknown(key: &str) -> Error {
    let distance = |known: &str| {
        let last = known.rsplit('.').next().unwrap_or(known);
        let [key, whole, last] = [key, known, last].map(str::to_ascii_lowercase);
        strsim::damerau_levenshtein(&key, &whole).min(strsim::damerau_levenshtein(&key, &last))
    };
    let nearest = SETTINGS.iter().map(|setting| (distance(setting.key), setting.key)).min();
    let hint = match nearest {
        Some((distance, known)) if distance <= 2 + key.len() / 4 => format!("did you mean `{known}`?"),
        _ => "`recollect config get` shows all settings".to_owned(),
    };
    Error::usage(format!("there is no setting `{key}`")).hint(hint)
}
