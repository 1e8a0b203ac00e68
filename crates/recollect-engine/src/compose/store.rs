//! Folders of compositions: each appears whole, and goes whole.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::home::create_private;

/// Begins the name of a folder that is being written; what is left of one means nothing.
const WRITING: &str = ".composing-";

/// Begins the name of a folder that gives way to another; it is put back when that one did not come.
const ASIDE: &str = ".replaced-";

/// A folder that was put in its place and can still be taken away again.
#[derive(Debug)]
pub(super) struct Placed {
    folder: PathBuf,
    /// Where what stood there is, and where it stood.
    aside: Option<(PathBuf, PathBuf)>,
}

/// Writes the files of the composition `name` under `parent`, all or none. `replaced` gives way to it.
/// Only one program may do this at a time.
pub(super) fn place(parent: &Path, name: &str, files: &[(&str, String)], replaced: Option<&Path>) -> Result<Placed> {
    create_private(parent)?;
    sweep(parent)?;
    if let Some(other) = replaced.and_then(Path::parent).filter(|other| *other != parent && other.is_dir()) {
        sweep(other)?;
    }
    let temporary = crate::home::temporary_folder(parent, WRITING)?;
    for (file, content) in files {
        let mut file = crate::home::open_private(&temporary.path().join(file))?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
    }
    let folder = parent.join(name);
    let aside = match replaced.filter(|replaced| replaced.exists()) {
        Some(replaced) => Some(set_aside(replaced)?),
        None => None,
    };
    let placed = Placed { folder, aside };
    if let Err(error) = fs_err::rename(temporary.path(), &placed.folder) {
        placed.put_back();
        return Err(error.into());
    }
    // Renamed: there is nothing to delete any more.
    let _ = temporary.keep();
    Ok(placed)
}

/// Takes a composition's folder away.
pub(super) fn remove(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    // Gone in one step; deleting what is in it may take longer, or fail half-way.
    let gone = tempfile::Builder::new().prefix(WRITING).tempdir_in(folder.parent().unwrap_or(folder))?;
    fs_err::rename(folder, gone.path().join("gone"))?;
    gone.close()?;
    Ok(())
}

impl Placed {
    /// Keeps it; what stood there goes.
    pub(super) fn keep(self) -> Result<()> {
        if let Some((aside, _)) = &self.aside {
            fs_err::remove_dir_all(aside)?;
        }
        Ok(())
    }

    /// Makes it as it was before.
    pub(super) fn undo(self) {
        // What cannot be taken away now means nothing to the next start.
        let _ = remove(&self.folder);
        self.put_back();
    }

    fn put_back(&self) {
        if let Some((aside, place)) = &self.aside {
            let _ = fs_err::rename(aside, place);
        }
    }
}

fn set_aside(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let aside = folder.with_file_name(format!("{ASIDE}{name}"));
    fs_err::rename(folder, &aside)?;
    Ok((aside, folder.to_owned()))
}

/// Clears what an interruption left.
fn sweep(parent: &Path) -> Result<()> {
    for entry in fs_err::read_dir(parent)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let Some(name) = file_name.to_str() else { continue };
        if name.starts_with(WRITING) {
            fs_err::remove_dir_all(entry.path())?;
        } else if let Some(place) = name.strip_prefix(ASIDE).map(|name| parent.join(name)) {
            if place.exists() {
                fs_err::remove_dir_all(entry.path())?;
            } else {
                fs_err::rename(entry.path(), place)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<(&'static str, String)> {
        vec![("composed.md", text.to_owned()), ("composition.json", "{}".to_owned())]
    }

    fn names(parent: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs_err::read_dir(parent)
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn text(parent: &Path, name: &str) -> String {
        fs_err::read_to_string(parent.join(name).join("composed.md")).expect("its Markdown")
    }

    #[test]
    fn a_composition_gives_way_only_when_the_new_one_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let parent = root.path().join("composed");
        place(&parent, "a", &files("one"), None).expect("placed").keep().expect("kept");
        let second = place(&parent, "A b", &files("two"), Some(&parent.join("a"))).expect("placed");
        assert_eq!(text(&parent, "A b"), "two");
        second.undo();
        assert_eq!((names(&parent), text(&parent, "a")), (vec!["a".to_owned()], "one".to_owned()));
        place(&parent, "a", &files("three"), Some(&parent.join("a"))).expect("placed").keep().expect("kept");
        assert_eq!((names(&parent), text(&parent, "a")), (vec!["a".to_owned()], "three".to_owned()));
    }

    #[test]
    fn what_an_interruption_left_is_cleared() {
        let root = tempfile::tempdir().expect("a folder");
        let parent = root.path();
        fs_err::create_dir_all(parent.join(".composing-x1")).expect("half-written");
        fs_err::create_dir_all(parent.join(".replaced-lost")).expect("set aside, its successor never came");
        fs_err::write(parent.join(".replaced-lost/composed.md"), "kept").expect("its Markdown");
        place(parent, "new", &files("n"), None).expect("placed").keep().expect("kept");
        assert_eq!(names(parent), ["lost", "new"]);
        assert_eq!(text(parent, "lost"), "kept");
        remove(&parent.join("lost")).expect("removed");
        remove(&parent.join("lost")).expect("gone already");
        assert_eq!(names(parent), ["new"]);
    }

    #[test]
    fn a_folder_that_is_there_is_not_overwritten() {
        let root = tempfile::tempdir().expect("a folder");
        place(root.path(), "a", &files("one"), None).expect("placed").keep().expect("kept");
        place(root.path(), "a", &files("two"), None).expect_err("it is there");
        assert_eq!((names(root.path()), text(root.path(), "a")), (vec!["a".to_owned()], "one".to_owned()));
    }
}
