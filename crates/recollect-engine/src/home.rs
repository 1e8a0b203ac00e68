//! The folder layout of the memory (3.1): every path in it is made here.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::ids::{ProjectId, SessionId};

/// Name of the folder in which clients run that we start; the client names a folder of sessions after it.
pub const SCRATCH: &str = "recollect-asks-a-model";

/// The memory's folder.
#[derive(Debug, Clone)]
pub struct Home(PathBuf);

impl Home {
    /// Makes the folder, readable by its owner only, when it is missing.
    pub fn open(root: &Path) -> Result<Self> {
        create_private(root)?;
        let home = Self(root.to_owned());
        for folder in [home.projects(), home.archive(), home.cache()] {
            create_private(&folder)?;
        }
        Ok(home)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// The index.
    pub fn database(&self) -> PathBuf {
        self.0.join("memory.db")
    }

    /// The configuration.
    pub fn config(&self) -> PathBuf {
        self.0.join("config.json")
    }

    /// Locked while files that mirror the database are written.
    pub fn lock(&self) -> PathBuf {
        self.0.join("memory.lock")
    }

    /// Held by the one program that follows the client.
    pub fn watch_lock(&self) -> PathBuf {
        self.0.join("watch.lock")
    }

    /// Named states of the memory.
    pub fn checkpoints(&self) -> PathBuf {
        self.0.join("checkpoints.json")
    }

    /// Sessions that were taken out, which following leaves out.
    pub fn removed(&self) -> PathBuf {
        self.0.join("removed.json")
    }

    /// Archived bytes.
    pub fn archive(&self) -> PathBuf {
        self.0.join("archive")
    }

    /// What can be made again at any time.
    pub fn cache(&self) -> PathBuf {
        self.0.join("cache")
    }

    /// The full-text index, in a folder for each time it was made anew.
    pub fn search(&self) -> PathBuf {
        self.cache().join("search")
    }

    /// Answers of language models about a session, by what they were asked; they go with it.
    pub fn answers(&self, session: &SessionId) -> PathBuf {
        self.all_answers().join(session.as_str())
    }

    /// Answers of language models, in a folder for each session.
    pub fn all_answers(&self) -> PathBuf {
        self.cache().join("answers")
    }

    /// The folder in which a client runs that we start; sessions of it are never taken in.
    pub fn scratch(&self) -> PathBuf {
        self.cache().join(SCRATCH)
    }

    /// Copies of transcripts, made before the one action that writes into them, and backups that are made by themselves.
    pub fn backups(&self) -> PathBuf {
        self.0.join("backups")
    }

    /// What another installation had seen, as it was taken over.
    pub fn imported(&self) -> PathBuf {
        self.0.join("imported.json")
    }

    /// Locked by every program for as long as it has the memory open; alone by the one that makes the database anew.
    pub fn in_use(&self) -> PathBuf {
        self.0.join("in-use.lock")
    }

    /// Which backup was made last.
    pub fn last_backup(&self) -> PathBuf {
        self.0.join("last-backup.json")
    }

    /// Locked while a backup is made.
    pub fn backup_lock(&self) -> PathBuf {
        self.0.join("backup.lock")
    }

    /// All projects.
    pub fn projects(&self) -> PathBuf {
        self.0.join("projects")
    }

    /// One project.
    pub fn project(&self, project: &ProjectId) -> PathBuf {
        self.projects().join(project.as_str())
    }

    /// A project's manifest (2.2).
    pub fn manifest(&self, project: &ProjectId) -> PathBuf {
        self.project(project).join("manifest.json")
    }

    /// Symlinks to the originals that still exist.
    pub fn originals(&self, project: &ProjectId) -> PathBuf {
        self.project(project).join("originals")
    }

    /// Compression versions of a session.
    pub fn summaries(&self, project: &ProjectId, session: &SessionId) -> PathBuf {
        self.project(project).join("summaries").join(session.as_str())
    }

    /// Compositions of a project.
    pub fn composed(&self, project: &ProjectId) -> PathBuf {
        self.project(project).join("composed")
    }
}

/// Makes a folder and those above it, `0700`.
pub fn create_private(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder).map_err(|error| {
        let message = format!("failed to make the folder `{}`: {error}", folder.display());
        std::io::Error::new(error.kind(), message)
    })?;
    Ok(())
}

/// Makes a folder of an unused name, `0700`, that goes when it is dropped.
pub fn temporary_folder(parent: &Path, prefix: &str) -> Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    Ok(builder.tempdir_in(parent)?)
}

/// Opens a file to write to, `0600` when it is made; what is in it stays.
pub fn open_private(path: &Path) -> Result<fs_err::File> {
    let mut options = fs_err::OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use fs_err::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    Ok(options.open(path)?)
}

/// Takes the rights of others on a file.
#[cfg(unix)]
pub fn make_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o600))?)
}

/// Elsewhere a user's own folders are the user's alone.
#[cfg(not(unix))]
pub fn make_private(_path: &Path) -> Result<()> {
    Ok(())
}

/// Moves a file out of the way that is not understood, under a name that is free; it is never deleted for that.
pub fn set_aside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut number = 1;
    let aside = loop {
        let more = if number > 1 { format!("-{number}") } else { String::new() };
        let aside = path.with_file_name(format!("{name}.damaged{more}"));
        if !aside.exists() {
            break aside;
        }
        number += 1;
    };
    fs_err::rename(path, &aside)?;
    Ok(aside)
}

/// Reads a JSON file of our own; the default when there is none, or none that is understood: that one is set aside.
///
/// # Errors
/// When it cannot be read.
pub fn read_or_set_aside<T: serde::de::DeserializeOwned + Default>(path: &Path) -> Result<T> {
    let bytes = match fs_err::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(error.into()),
    };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(value),
        Err(_) => set_aside(path).map(|_| T::default()),
    }
}

/// Opens a lock file and waits until nobody else holds it; it is let go when it is dropped, by a crash too.
pub fn hold(path: &Path) -> Result<fs_err::File> {
    let lock = open_private(path)?;
    lock.file().lock()?;
    Ok(lock)
}

/// The same without waiting; `None` while somebody else holds it.
pub fn hold_if_free(path: &Path) -> Result<Option<fs_err::File>> {
    let lock = open_private(path)?;
    match lock.file().try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Makes a rename in a folder last through a loss of power.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> Result<()> {
    Ok(fs_err::File::open(folder)?.sync_all()?)
}

/// Elsewhere folders cannot be synced; the files themselves are.
#[cfg(not(unix))]
pub fn sync_folder(_folder: &Path) -> Result<()> {
    Ok(())
}

/// Writes a whole file or nothing: a temporary beside it, `0600`, fsync, rename.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write;
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private(folder)?;
    let mut temporary = tempfile::Builder::new().prefix(".writing-").tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The name that the client gives to a folder: each UTF-16 unit outside `[A-Za-z0-9]` becomes `-`.
pub fn sanitize(path: &str) -> String {
    path.encode_utf16()
        .map(|unit| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from))
        .collect()
}
