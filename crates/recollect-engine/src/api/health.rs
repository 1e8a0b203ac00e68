//! Whether the memory is sound, and mending it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::health;

/// Asks for a check of everything.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct HealthCheckRequest {}

/// Asks to mend what a check finds.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct HealthRepairRequest {}

/// What was checked, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Health {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// The checks.
    pub checks: Vec<HealthFinding>,
    /// What mending did, in words; empty after a mere check.
    pub mended: Vec<String>,
}

/// A check and what it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct HealthFinding {
    /// What was checked: `database`, `packs`, `watermarks`, `index`, `manifests`, `originals`,
    /// `versions`, `permissions`, `backup`.
    pub name: String,
    /// Whether it is sound.
    pub ok: bool,
    /// What was looked at, in words.
    pub summary: String,
    /// What is wrong, each in words.
    pub problems: Vec<String>,
    /// What to do about it; also advice where nothing is wrong.
    pub remedy: Option<String>,
}

/// Checks database, packs, watermarks, manifests, links to originals and permissions; changes nothing.
pub fn check(call: &Call<'_>, request: HealthCheckRequest) -> Result<Health> {
    let HealthCheckRequest {} = request;
    health::check(call)
}

/// Mends what can be mended, sets damaged files aside, and checks again.
pub fn repair(call: &Call<'_>, request: HealthRepairRequest) -> Result<Health> {
    let HealthRepairRequest {} = request;
    health::repair(call)
}
