//! `config.json` (3.3, Appendix B).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::config;
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
}

/// The configuration as it counts: what the file says, with defaults where it says nothing.
pub fn read(call: &Call<'_>, _request: ConfigGetRequest) -> Result<ConfigState> {
    let path = call.engine.home().config();
    Ok(ConfigState { config: config::effective(&path)?, path: path.display().to_string() })
}

/// Sets one value and returns the configuration as it then counts.
pub fn set(call: &Call<'_>, request: ConfigSetRequest) -> Result<ConfigState> {
    let home = call.engine.home();
    let path = home.config();
    let config = config::set(&path, &home.lock(), &request.key, &request.value, call.engine.now())?;
    call.engine.emit(Event::ConfigChanged);
    Ok(ConfigState { config, path: path.display().to_string() })
}
