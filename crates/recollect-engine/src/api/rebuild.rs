//! Making the database anew from files alone.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::{Call, EngineOptions, Work};
use crate::error::Result;
use crate::rebuild;

/// Asks to make the database anew.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct RebuildRequest {}

/// A database that was made anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Rebuilt {
    /// Sessions in it.
    pub sessions: u64,
    /// Their messages, with those of sub-agents.
    pub messages: u64,
    /// Compression versions.
    pub versions: u64,
    /// Compositions.
    pub compositions: u64,
    /// Packs that were read.
    pub packs: u64,
    /// Where the database is that was there before; none when there was none.
    pub set_aside: Option<String>,
    /// What could not be read or found, in words.
    pub issues: Vec<String>,
}

/// Makes the database anew from packs, manifests and the other files; the one that is there is set aside.
///
/// # Errors
/// `Conflict` while other programs use the memory; `NewerMemory` when a newer program wrote a file of it. Then nothing changes.
pub fn rebuild(call: &Call<'_>, request: RebuildRequest) -> Result<Rebuilt> {
    let RebuildRequest {} = request;
    rebuild::open(call)
}

/// The same for a memory that does not open.
pub fn rebuild_closed(options: &EngineOptions, work: &Work<'_>) -> Result<Rebuilt> {
    rebuild::closed(options, work)
}
