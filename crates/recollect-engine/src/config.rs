//! `config.json` (3.3, Appendix B): what it may say, what it says, and how a value of it is changed.
//!
//! The file belongs to the user: changing a value changes the bytes of that value and nothing else, keys that are not
//! known stay where and as they are, and a file that cannot be read is never written over.

pub mod document;
pub mod retention;
pub mod settings;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use rust_decimal::Decimal;
use serde_json::Value;

use crate::api::compression::TierPreset;
use crate::error::{Error, ErrorKind, Result};
use crate::home::write_atomically;
use crate::keepit::decay::exact;
use crate::keepit::{Decay, Weight};
use crate::language_model::{Endpoint, ModelEngine};
use crate::models::OwnModel;
use crate::time::Time;

use document::Document;
use retention::Retention;
use settings::{SETTINGS, VERSION};

/// The configuration as the engine uses it: every value checked, defaults for what the file does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Most bytes that the cache may take.
    pub max_cache_bytes: u64,
    /// Which versions are kept.
    pub retention: Retention,
    /// Whether the memory is backed up once a day by itself.
    pub auto_backup: bool,
    /// Where to: a folder, below the memory's when it is not an absolute path.
    pub backup_folder: String,
    /// How many backups that were made by themselves are kept.
    pub keep_backups: u32,
    /// Tiers of a compression for which none were chosen.
    pub compression_preset: TierPreset,
    /// Whether keepits decay unless a compression says otherwise; if not, all are preserved.
    pub keepit_decay_enabled: bool,
    /// Whether a memory that holds nothing yet begins by itself; if not, the first sessions are taken in when the user says so.
    pub auto_register_sessions: bool,
    /// Whether the desktop follows the client while it runs.
    pub watch: bool,
    /// Folders of exports that are followed too; none lets the latest export be looked for where people keep them.
    pub export_folders: Vec<PathBuf>,
    /// Engines that ask a language model.
    pub engines: Engines,
    /// The user's own language models.
    pub own_models: Vec<OwnModel>,
    /// The model that language-model engines ask.
    pub model: String,
    /// How keepits decay.
    pub decay: Decay,
}

/// How engines that ask a language model are used.
#[derive(Debug, Clone, PartialEq)]
pub struct Engines {
    /// The most US dollars that a run may cost.
    pub max_cost: f64,
    /// Questions that are asked at a time.
    pub parallel: u32,
    /// Seconds after which a model that says nothing is given up.
    pub patience: u32,
    /// Base URL of Anthropic's API.
    pub anthropic_address: String,
    /// Base URL of an API like `OpenAI`'s.
    pub openai_address: String,
    /// The model that it is asked for when none is named; may be empty.
    pub openai_model: String,
    /// The program of Claude Code.
    pub claude_program: String,
}

impl Config {
    /// Where an engine finds its model.
    pub fn endpoint(&self, engine: ModelEngine, scratch: PathBuf) -> Endpoint {
        let address = match engine {
            ModelEngine::Claude => &self.engines.claude_program,
            ModelEngine::Anthropic => &self.engines.anthropic_address,
            ModelEngine::Openai => &self.engines.openai_address,
        };
        Endpoint { engine, address: address.trim_end_matches('/').to_owned(), scratch, patience: self.engines.patience }
    }

    /// Reads and checks the file; the defaults when there is none.
    ///
    /// # Errors
    /// When it is not JSON or a value in it is not allowed: with its name, the line or the key, and what to do.
    pub fn load(path: &Path) -> Result<Self> {
        Self::of(&effective(path)?).map_err(|error| in_file(path, error))
    }

    /// Checks a whole document in which no known key is missing.
    fn of(document: &Value) -> Result<Self> {
        for setting in SETTINGS {
            setting.check(value_at(document, setting.key))?;
        }
        Ok(Self {
            max_cache_bytes: settings::bytes(value_at(document, "storage.maxCacheSize")).unwrap_or(u64::MAX),
            retention: value_at(document, "storage.compressionRetention")
                .as_str()
                .and_then(Retention::parse)
                .unwrap_or_default(),
            auto_backup: truth(document, "backup.automatic"),
            backup_folder: value_at(document, "backup.folder").as_str().unwrap_or_default().to_owned(),
            keep_backups: serde_json::from_value(value_at(document, "backup.keep").clone())?,
            compression_preset: serde_json::from_value(value_at(document, "defaults.compressionPreset").clone())?,
            keepit_decay_enabled: truth(document, "defaults.keepitDecayEnabled"),
            auto_register_sessions: truth(document, "defaults.autoRegisterSessions"),
            watch: truth(document, "watch.enabled"),
            export_folders: serde_json::from_value(value_at(document, "watch.exportFolders").clone())?,
            engines: Engines {
                max_cost: number(document, "engines.maxCost"),
                parallel: serde_json::from_value(value_at(document, "engines.parallel").clone())?,
                patience: serde_json::from_value(value_at(document, "engines.patienceSeconds").clone())?,
                anthropic_address: text(document, "engines.anthropic.baseUrl"),
                openai_address: text(document, "engines.openai.baseUrl"),
                openai_model: text(document, "engines.openai.model"),
                claude_program: text(document, "engines.claude.program"),
            },
            own_models: OwnModel::list(value_at(document, "models.own"))?,
            model: value_at(document, "defaults.model").as_str().unwrap_or_default().to_owned(),
            decay: Decay {
                light: decimal(document, "keepitDecay.compressionBase.light")?,
                moderate: decimal(document, "keepitDecay.compressionBase.moderate")?,
                aggressive: decimal(document, "keepitDecay.compressionBase.aggressive")?,
                max_distance: serde_json::from_value(value_at(document, "keepitDecay.maxSessionDistance").clone())?,
                pinned_weight: Weight::of(number(document, "keepitDecay.pinnedWeight"))?,
            },
        })
    }
}

/// The whole document as it counts: what the file says, with defaults where it says nothing. Values are not checked, so that
/// a face can show those that are wrong.
///
/// # Errors
/// When the file is there and cannot be read, is not JSON, or was written by a newer program.
pub fn effective(path: &Path) -> Result<Value> {
    let mut document = Document::read(path)?.map_or_else(|| Value::Object(serde_json::Map::new()), |file| file.value);
    for setting in SETTINGS {
        fill(&mut document, setting.key, setting.default()).map_err(|error| in_file(path, error))?;
    }
    Ok(document)
}

/// Sets one value, `null` its default; a section set to `null` gets all its defaults. Makes the file when there is none.
/// Returns the document as it then counts. One program changes the file at a time: `lock` is held meanwhile.
///
/// # Errors
/// Usage, when the key is not known or the value not allowed; as [`effective`] for the file itself.
pub fn set(path: &Path, lock: &Path, key: &str, value: &Value, now: Time) -> Result<Value> {
    let changes = settings::changes(key, value)?;
    let _lock = crate::home::hold(lock)?;
    let mut document = match Document::read(path)? {
        Some(document) => document,
        None => Document::new(now)?,
    };
    for (key, value) in &changes {
        document.set(key, value).map_err(|error| in_file(path, error))?;
    }
    // A link to a file that is kept elsewhere stays a link.
    let target = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    write_atomically(&target, document.text.as_bytes())?;
    effective(path)
}

/// Fails when the document was written by a newer program.
fn check_version(document: &Value) -> Result<()> {
    let major = |version: &str| version.split('.').next().and_then(|major| major.parse::<u64>().ok());
    let Some(version) = document.get("version").and_then(Value::as_str) else { return Ok(()) };
    if major(version) > major(VERSION) {
        let message = format!("the configuration is of version {version}, this program knows version {VERSION}");
        return Err(Error::new(ErrorKind::NewerMemory, message).hint("use the newer program, or update this one"));
    }
    Ok(())
}

/// Puts a value where there is none.
fn fill(document: &mut Value, key: &str, value: Value) -> Result<()> {
    let mut place = document;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let Value::Object(object) = place else { return Err(not_a_section(key, part, place)) };
        if parts.peek().is_none() {
            object.entry(part).or_insert(value);
            return Ok(());
        }
        place = object.entry(part).or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    Ok(())
}

/// The failure that what holds `part` of a key is a value.
fn not_a_section(key: &str, part: &str, found: &Value) -> Error {
    let section = key.split('.').take_while(|piece| *piece != part).collect::<Vec<_>>().join(".");
    let section = if section.is_empty() { "the configuration".to_owned() } else { format!("`{section}`") };
    Error::usage(format!("{section} is {found}; it must be an object that holds `{part}`"))
}

/// Names the file in which a value is wrong.
fn in_file(path: &Path, error: Error) -> Error {
    let message = format!("{} in {}", error.message, path.display());
    let hint = error.hint.unwrap_or_else(|| {
        "mend the value in the file, or `recollect config set KEY null` puts the default back".into()
    });
    Error::new(error.kind, message).hint(hint)
}

/// The value at a dotted key; `null` when there is none.
pub(crate) fn value_at<'a>(document: &'a Value, key: &str) -> &'a Value {
    key.split('.').try_fold(document, |value, part| value.get(part)).unwrap_or(&Value::Null)
}

fn text(document: &Value, key: &str) -> String {
    value_at(document, key).as_str().unwrap_or_default().trim().to_owned()
}

fn truth(document: &Value, key: &str) -> bool {
    value_at(document, key).as_bool().unwrap_or_default()
}

fn number(document: &Value, key: &str) -> f64 {
    value_at(document, key).as_f64().unwrap_or_default()
}

fn decimal(document: &Value, key: &str) -> Result<Decimal> {
    exact(number(document, key)).ok_or_else(|| Error::usage(format!("`{key}` has too many digits")))
}
