//! `config.json` (3.3, Appendix B).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;

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

/// The whole configuration, unknown keys included, as it stands in the file.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ConfigState {
    /// The document.
    #[ts(type = "Record<string, unknown>")]
    pub config: Value,
    /// Where it is.
    pub path: String,
}

/// Bound by the next step.
pub fn read(_call: &Call<'_>, _request: ConfigGetRequest) -> Result<ConfigState> {
    Err(crate::error::Error::internal("not built yet"))
}

/// Bound by the next step.
pub fn set(_call: &Call<'_>, _request: ConfigSetRequest) -> Result<ConfigState> {
    Err(crate::error::Error::internal("not built yet"))
}
