//! Where a database is made, and how it takes the place of the one that is there.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::home::{Home, make_private, sync_folder};
use crate::time::Time;

/// What SQLite keeps beside a database.
pub(super) const BESIDE: [&str; 3] = ["", "-wal", "-shm"];

/// Where it is made.
pub(super) fn target(home: &Home) -> PathBuf {
    home.database().with_extension("db.rebuilding")
}

pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Files that changed their names.
#[derive(Debug, Default)]
pub(super) struct Moved {
    renames: Vec<(PathBuf, PathBuf)>,
    /// Where the database is that was there before.
    pub aside: Option<PathBuf>,
}

impl Moved {
    fn rename(&mut self, from: PathBuf, to: PathBuf) -> Result<()> {
        fs_err::rename(&from, &to)?;
        self.renames.push((from, to));
        Ok(())
    }

    /// Gives every file the name back that it had.
    pub(super) fn put_back(&self) {
        for (from, to) in self.renames.iter().rev() {
            // As many as can be: what stays is under a name that says what it is.
            let _ = fs_err::rename(to, from);
        }
    }
}

/// Puts the new database in its place; says where the old one is.
///
/// # Errors
/// When a file cannot be renamed; then all have the names that they had.
pub(super) fn take_place(home: &Home, now: Time) -> Result<Moved> {
    fs_err::File::open(target(home))?.sync_all()?;
    let mut moved = Moved::default();
    if let Err(error) = rename_all(home, now, &mut moved) {
        moved.put_back();
        return Err(error);
    }
    // Done already: that it may not outlast a loss of power does not undo it.
    let _ = sync_folder(home.root());
    Ok(moved)
}

fn rename_all(home: &Home, now: Time, moved: &mut Moved) -> Result<()> {
    let database = home.database();
    let time: String = now.to_string().chars().take(19).filter(|one| *one != ':').collect();
    let mut aside = database.with_extension(format!("db.{time}"));
    let mut number = 1;
    while BESIDE.iter().any(|ending| beside(&aside, ending).exists()) {
        number += 1;
        aside = database.with_extension(format!("db.{time}-{number}"));
    }
    for ending in BESIDE {
        let old = beside(&database, ending);
        // What is empty holds nothing.
        if fs_err::metadata(&old).is_ok_and(|metadata| metadata.len() > 0) {
            moved.rename(old, beside(&aside, ending))?;
            // Its folder is the owner's only; `recollect doctor` tells of a file that is not.
            let _ = make_private(&beside(&aside, ending));
            moved.aside = Some(aside.clone());
        } else if old.exists() {
            fs_err::remove_file(&old)?;
        }
    }
    moved.rename(target(home), database)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_half_way_leaves_every_file_under_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = Home::open(folder.path()).expect("a home");
        fs_err::write(home.database(), "old").expect("written");
        fs_err::write(beside(&home.database(), "-wal"), "old too").expect("written");
        // A folder cannot be replaced by a file.
        fs_err::create_dir(target(&home)).expect("made");
        let mut moved = Moved::default();
        moved.rename(home.database(), folder.path().join("aside")).expect("renamed");
        moved.rename(target(&home), beside(&home.database(), "-wal")).expect_err("a folder over a file");
        moved.put_back();
        assert_eq!(fs_err::read_to_string(home.database()).expect("back in its place"), "old");
        fs_err::remove_dir(target(&home)).expect("removed");
        fs_err::write(target(&home), "new").expect("written");
        let moved = take_place(&home, Time::from_millis(0)).expect("in its place");
        assert_eq!(fs_err::read_to_string(home.database()).expect("there"), "new");
        assert_eq!(fs_err::read_to_string(moved.aside.as_ref().expect("aside")).expect("kept"), "old");
        moved.put_back();
        assert_eq!(fs_err::read_to_string(home.database()).expect("there"), "old");
        assert_eq!(fs_err::read_to_string(target(&home)).expect("there"), "new", "it can be tried again");
    }
}
