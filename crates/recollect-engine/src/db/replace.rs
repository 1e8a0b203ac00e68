//! Another database takes the place of an open one.

use std::sync::atomic::Ordering;

use rusqlite::Connection;

use super::{Db, connect, failed, lock};
use crate::error::Result;

impl Db {
    /// Puts another database in the place of this one, for everything that shares it: nobody writes while `make` makes that
    /// one, and nobody reads while the files change places. `put_back` undoes that, when the other one does not open. Only
    /// when no other program has it open.
    ///
    /// # Errors
    /// When any of it fails; then it is as it was. `change_places` undoes itself what it did when it fails.
    pub fn replace<T>(
        &self,
        make: impl FnOnce() -> Result<()>,
        change_places: impl FnOnce() -> Result<T>,
        put_back: impl FnOnce(&T),
    ) -> Result<T> {
        let mut writer = lock(&self.writer);
        make()?;
        let mut reader = lock(&self.reader);
        let nowhere = || Connection::open_in_memory().map_err(failed);
        (*writer, *reader) = (nowhere()?, nowhere()?);
        let connect = || -> Result<_> { Ok((connect(&self.path)?, connect(&self.path)?)) };
        let changed = change_places().and_then(|places| match connect() {
            Ok(both) => Ok((places, both)),
            Err(error) => {
                put_back(&places);
                Err(error)
            }
        });
        match changed {
            Ok((places, both)) => {
                self.generation.fetch_add(1, Ordering::AcqRel);
                (*writer, *reader) = both;
                Ok(places)
            }
            Err(error) => {
                // Should it not open any more, every call says so until the program is started again.
                if let Ok(both) = connect() {
                    (*writer, *reader) = both;
                }
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn what_fails_leaves_the_database_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, aside) = (folder.path().join("memory.db"), folder.path().join("aside"));
        let db = Db::open(&path).expect("it opens");
        db.write(|rows| rows.put_fact("a", "1")).expect("written");
        let fact = || db.read(|rows| rows.fact("a")).expect("it can be asked");
        let failure = || Err(Error::internal("no room"));
        db.replace(failure, || Ok(()), |()| {}).expect_err("not made");
        assert_eq!(fact().as_deref(), Some("1"), "not made");
        db.replace(|| Ok(()), failure, |()| {}).expect_err("not moved");
        assert_eq!(fact().as_deref(), Some("1"), "not moved");
        for other in [None, Some("this is no database, but something else of some length")] {
            let away = || {
                fs_err::rename(&path, &aside)?;
                other.map_or(Ok(()), |text| Ok(fs_err::write(&path, text)?))
            };
            let back = |(): &()| fs_err::rename(&aside, &path).expect("moved back");
            db.replace(|| Ok(()), away, back).expect_err("it does not open");
            assert_eq!(fact().as_deref(), Some("1"), "{other:?}");
            db.write(|rows| rows.put_fact("b", "2")).expect("it can be written to");
        }
    }

    #[test]
    fn a_database_that_is_gone_does_not_become_an_empty_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("memory.db");
        connect(&path).expect_err("there is none");
        assert!(!path.exists());
    }
}
