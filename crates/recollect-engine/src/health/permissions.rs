//! Who may read the memory: its owner only.

use std::path::{Path, PathBuf};

use crate::error::Result;

/// Files and folders that others have rights on.
#[cfg(unix)]
pub(super) fn open_to_others(root: &Path) -> Result<Vec<PathBuf>> {
    use std::os::unix::fs::PermissionsExt;
    let mut open = Vec::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
        // What goes while it is listed is no concern.
        let Ok(entry) = entry else { continue };
        let Ok(metadata) = entry.metadata() else { continue };
        if !metadata.is_symlink() && metadata.permissions().mode() & 0o077 != 0 {
            open.push(entry.into_path());
        }
    }
    Ok(open)
}

/// Takes the rights of others; returns from how many.
#[cfg(unix)]
pub(super) fn mend(root: &Path) -> Result<usize> {
    use std::os::unix::fs::PermissionsExt;
    let open = open_to_others(root)?;
    for path in &open {
        let mut permissions = fs_err::metadata(path)?.permissions();
        permissions.set_mode(permissions.mode() & !0o077);
        fs_err::set_permissions(path, permissions)?;
    }
    Ok(open.len())
}

/// Other systems give a user's own folders to the user alone.
#[cfg(not(unix))]
pub(super) fn open_to_others(_root: &Path) -> Result<Vec<PathBuf>> {
    Ok(Vec::new())
}

/// Other systems give a user's own folders to the user alone.
#[cfg(not(unix))]
pub(super) fn mend(_root: &Path) -> Result<usize> {
    Ok(0)
}
