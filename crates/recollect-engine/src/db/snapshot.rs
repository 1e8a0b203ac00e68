//! The database as it was at one moment, however much is written meanwhile.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{Db, Rows, connect, failed};
use crate::error::{Error, Result};

/// Pages that are copied at once: about a megabyte.
const PAGES: i32 = 256;

/// A view of the database on a connection of its own; nobody waits for it.
pub struct Snapshot {
    connection: Connection,
}

impl Db {
    /// Holds on to the database as it is now.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let connection = connect(&self.path)?;
        // The first read is the moment.
        connection.execute_batch("BEGIN; SELECT count(*) FROM fact;").map_err(failed)?;
        Ok(Snapshot { connection })
    }
}

impl Snapshot {
    /// Asks it.
    pub fn read<T>(&self, work: impl FnOnce(&Rows<'_>) -> Result<T>) -> Result<T> {
        work(&Rows { connection: &self.connection })
    }

    /// Writes it to a file; `step` hears how many pages are done, of how many, and may stop it by an error.
    pub fn copy_to(&self, path: &Path, mut step: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
        crate::home::open_private(path)?;
        let mut copy = Connection::open(path).map_err(failed)?;
        copy.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
        let backup = Backup::new(&self.connection, &mut copy).map_err(failed)?;
        loop {
            match backup.step(PAGES).map_err(failed)? {
                StepResult::Done => return Ok(()),
                StepResult::More => {}
                _ => return Err(Error::conflict("the database is locked by another program").hint("try again")),
            }
            let progress = backup.progress();
            let total = u64::try_from(progress.pagecount).unwrap_or_default();
            step(total.saturating_sub(u64::try_from(progress.remaining).unwrap_or_default()), total)?;
        }
    }
}

impl Rows<'_> {
    /// The number of the format of the tables.
    pub fn format(&self) -> Result<u64> {
        self.connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)
    }

    /// How many sessions there are.
    pub fn session_count(&self) -> Result<u64> {
        self.connection.query_row("SELECT count(*) FROM session", [], |row| row.get(0)).map_err(failed)
    }

    /// Notes that the files that mirror the projects are behind, all of them.
    pub fn mark_all_dirty(&self) -> Result<()> {
        self.connection.execute("UPDATE project SET dirty = dirty + 1", []).map_err(failed)?;
        Ok(())
    }
}
