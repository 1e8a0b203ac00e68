//! Language models that are known.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::models::{self, Model};

/// Asks for the models.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ModelListRequest {}

/// The user's own models, then the current ones of Claude, with context windows and prices.
pub fn list(call: &Call<'_>, _request: ModelListRequest) -> Result<Vec<Model>> {
    Ok(models::all(&call.engine.config()?.own_models))
}
