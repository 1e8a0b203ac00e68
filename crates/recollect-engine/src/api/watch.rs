//! Following the client: how it stands, pausing it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::event::Progress;

/// What following the client is at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum WatchState {
    /// This program does not follow: it was not asked to, or the setting `watch.enabled` is off.
    #[default]
    Off,
    /// The user paused it, until they go on or the program starts again.
    Paused,
    /// The memory holds nothing yet: what it takes in first is for the user to say.
    Waiting,
    /// Another program follows for this memory; this one takes over when that ends.
    Elsewhere,
    /// Takes in what changed while nobody looked.
    CatchingUp,
    /// Everything is in memory; what is written next will be too.
    Following,
    /// The memory cannot be written to; it is tried again.
    Failing,
}

/// How following the client stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct WatchStatus {
    /// What it is at.
    pub state: WatchState,
    /// Folders that are followed.
    pub folders: Vec<String>,
    /// How far catching up is.
    pub progress: Option<Progress>,
    /// What went wrong, or is not as it should be, in words.
    pub message: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Asks how following stands.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct WatchGetRequest {}

/// Pauses following or goes on with it, until the program ends.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct WatchSetRequest {
    /// Whether nothing is taken in by itself.
    pub paused: bool,
}

/// Tells how following the client stands in this program.
pub fn read(call: &Call<'_>, _request: WatchGetRequest) -> Result<WatchStatus> {
    Ok(call.engine.watch().status())
}

/// Pauses following or goes on with it.
///
/// # Errors
/// `Conflict` when this program does not follow.
pub fn set(call: &Call<'_>, request: WatchSetRequest) -> Result<WatchStatus> {
    call.engine.watch().pause(request.paused)
}
