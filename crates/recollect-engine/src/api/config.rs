//! `config.json` (3.3, Appendix B).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::config;
use crate::config::settings::{SETTINGS, SettingRule};
use crate::engine::Call;
use crate::error::Result;
use crate::event::Event;

/// Asks for the configuration.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ConfigGetRequest {}

/// Sets one value.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ConfigSetRequest {
    /// Path of the value: `defaults.compressionPreset`.
    pub key: String,
    /// The value; `null` puts the default back.
    #[ts(type = "unknown")]
    pub value: Value,
}

/// The whole configuration: what the file says, unknown keys included, with defaults where it says nothing.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ConfigState {
    /// The document.
    #[ts(type = "Record<string, unknown>")]
    pub config: Value,
    /// Where it is.
    pub path: String,
    /// Every setting that is known, in the order of the document.
    pub settings: Vec<SettingState>,
}

/// A setting: what it is now, what it is unless set, and what it may be.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SettingState {
    /// Its dotted key.
    pub key: String,
    /// Its value, which counts.
    #[ts(type = "unknown")]
    pub value: Value,
    /// The value when none is set.
    #[ts(type = "unknown")]
    pub default: Value,
    /// What it may be.
    pub rule: SettingRule,
    /// What it may be, in words.
    pub allowed: String,
    /// Why its value is not allowed, as after a change of the file by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl ConfigState {
    pub(crate) fn of(config: Value, path: String) -> Self {
        let settings = SETTINGS.iter().map(|setting| {
            let value = config::value_at(&config, setting.key).clone();
            let fault = setting.check(&value).err().map(|error| error.message);
            let (key, default) = (setting.key.to_owned(), setting.default());
            SettingState { key, value, default, rule: setting.rule(), allowed: setting.in_words(), fault }
        });
        Self { settings: settings.collect(), config, path }
    }
}

/// The configuration as it counts: what the file says, with defaults where it says nothing.
pub fn read(call: &Call<'_>, _request: ConfigGetRequest) -> Result<ConfigState> {
    let path = call.engine.home().config();
    Ok(ConfigState::of(config::effective(&path)?, path.display().to_string()))
}

/// Sets one value and returns the configuration as it then counts.
pub fn set(call: &Call<'_>, request: ConfigSetRequest) -> Result<ConfigState> {
    let home = call.engine.home();
    let path = home.config();
    let config = config::set(&path, &home.lock(), &request.key, &request.value, call.engine.now())?;
    call.engine.emit(Event::ConfigChanged);
    Ok(ConfigState::of(config, path.display().to_string()))
}
