//! Which backup was made last: `last-backup.json`. Losing it loses what the Storage page says, and which backups may go.

use serde::{Deserialize, Serialize};

use crate::api::backup::{Backup, BackupFailure};
use crate::engine::Engine;
use crate::error::Result;
use crate::home::{read_or_set_aside, write_atomically};
use crate::time::Time;

/// The record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Last {
    /// The backup.
    pub backup: Option<Backup>,
    /// The state that it holds.
    pub state: Option<String>,
    /// When it was found that nothing had changed since.
    pub looked_at: Option<Time>,
    /// Why the last try failed.
    pub failure: Option<BackupFailure>,
    /// Tells backups of this memory from those of others in one folder; made once, and of no meaning. It is in no backup: a
    /// memory that is made of one has its own.
    pub memory: String,
}

impl Last {
    /// Nothing when there is none, or none that is understood: that one is moved aside.
    pub(super) fn load(engine: &Engine) -> Result<Self> {
        read_or_set_aside(&engine.home().last_backup())
    }

    /// The same, for who is to make one: the memory has its name then. Only for who holds the lock of backups.
    pub(super) fn claim(engine: &Engine) -> Result<Self> {
        let mut last = Self::load(engine)?;
        if last.memory.is_empty() {
            last.memory = uuid::Uuid::new_v4().simple().to_string().chars().take(8).collect();
            last.save(engine)?;
        }
        Ok(last)
    }

    pub(super) fn save(&self, engine: &Engine) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        write_atomically(&engine.home().last_backup(), text.as_bytes())
    }
}
