//! A database file, looked at without changing it, whether or not it is sound.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Db, Rows, failed, migrate};
use crate::error::Result;

/// What a database file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The number of the format of its tables.
    pub format: u64,
    /// It holds any.
    pub has_tables: bool,
}

impl Db {
    /// What a database file says of itself; nothing when there is none, or none that can be read.
    pub fn look(path: &Path) -> Option<Look> {
        let look = |connection: &Connection| -> rusqlite::Result<Look> {
            let format = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            let tables: u64 =
                connection
                    .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'table'", [], |row| row.get(0))?;
            Ok(Look { format, has_tables: tables > 0 })
        };
        look_at(path).ok().and_then(|connection| look(&connection).ok())
    }

    /// Fails when a newer program wrote the database at `path`; one that cannot be read says nothing.
    pub fn check_format(path: &Path) -> Result<()> {
        Self::look(path).map_or(Ok(()), |look| migrate::check(look.format))
    }

    /// Whether the database at `path` has tables, and pages, indexes and references between rows are as they should be.
    pub fn is_sound(path: &Path) -> bool {
        Self::look(path).is_some_and(|look| look.has_tables)
            && look_at(path)
                .and_then(|connection| Rows { connection: &connection }.faults())
                .is_ok_and(|faults| faults.is_empty())
    }

    /// The first thing that is wrong with the pages of the database at `path`; indexes are not compared with tables.
    pub fn damage_at(path: &Path) -> Option<String> {
        let check = |connection: Connection| {
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)).map_err(failed)
        };
        match look_at(path).and_then(check) {
            Ok(word) => (word != "ok").then_some(word),
            Err(error) => Some(error.message),
        }
    }
}

fn look_at(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(failed)?;
    Ok(connection)
}

#[cfg(test)]
impl Db {
    /// Makes a database without tables.
    pub(crate) fn make_empty(path: &Path) {
        crate::home::open_private(path).expect("a file");
        let connection = super::connect(path).expect("it opens");
        connection.execute_batch("CREATE TABLE one (two TEXT); DROP TABLE one;").expect("written");
    }

    /// Writes the number of a format.
    pub(crate) fn set_format(&self, format: u64) {
        super::lock(&self.writer).pragma_update(None, "user_version", format).expect("written");
    }
}
