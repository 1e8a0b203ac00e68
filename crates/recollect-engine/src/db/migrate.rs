//! Numbered migrations, never edited after a release; all that are missing run in one transaction.

use rusqlite::{Connection, TransactionBehavior};

use super::failed;
use crate::error::{Error, ErrorKind, Result};

/// In order; the number of a migration is its place here, from 1, and stands in `PRAGMA user_version`.
const MIGRATIONS: &[&str] = &[include_str!("../../migrations/0001_foundation.sql")];

/// The number of the last migration.
pub(super) fn newest() -> u64 {
    MIGRATIONS.len() as u64
}

/// Fails when a newer program wrote a database of this format.
pub(super) fn check(format: u64) -> Result<()> {
    if format <= newest() {
        return Ok(());
    }
    let message = format!("this memory has format {format}; this program knows formats up to {}", newest());
    Err(Error::new(ErrorKind::NewerMemory, message).hint("update Recollect; the memory was not touched"))
}

/// Brings the tables up to date.
pub(super) fn migrate(connection: &mut Connection) -> Result<()> {
    let newest = MIGRATIONS.len();
    if version(connection)? == newest {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another program may have migrated while this one waited for the lock.
    let current = version(&transaction)?;
    check(current as u64)?;
    for migration in &MIGRATIONS[current..] {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    transaction.pragma_update(None, "user_version", newest).map_err(failed)?;
    transaction.commit().map_err(failed)
}

fn version(connection: &Connection) -> Result<usize> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_memory_is_refused_and_left_alone() {
        let mut connection = Connection::open_in_memory().expect("a database in memory");
        migrate(&mut connection).expect("a fresh database migrates");
        connection.pragma_update(None, "user_version", 99).expect("the version can be set");
        let error = migrate(&mut connection).expect_err("a newer format must be refused");
        assert_eq!(error.kind, ErrorKind::NewerMemory);
        assert_eq!(version(&connection).expect("a version"), 99, "a refused memory must not be touched");
    }
}
