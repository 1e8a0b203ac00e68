//! `recollect backup`.

use std::path::PathBuf;

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::backup::{BackupCreateRequest, BackupCreated, create};

use super::{Outcome, absolute};
use crate::face::Face;
use crate::output::units::{bytes, counted};
use crate::output::{BAD, NAME, paint, text};

/// Write the whole memory into one file, while it is in use
///
/// The file holds the memory as it was at one moment, with a checksum for each file in it; it is read again before it gets
/// its name. `recollect restore-backup` makes a memory of it. Exit status 1 when something could not be found: the file is kept,
/// without it.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The folder, made when it is missing [default: that of the setting backup.folder]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Backup {
    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        let folder = self.folder.as_deref().map(absolute).transpose()?;
        let made = face.call(create, BackupCreateRequest { folder })?;
        face.terminal.answer(&made, |out| describe(&made, out))?;
        Ok(if made.missing.is_empty() { Outcome::Done } else { Outcome::Failed })
    }
}

fn describe(made: &BackupCreated, out: &mut String) {
    out.push_str(&format!(
        "{} with {} ({}) written to {}: {}\n",
        counted(made.files, "file"),
        counted(made.sessions, "session"),
        bytes(made.original_bytes),
        paint(NAME, text::line(&made.backup.path)),
        bytes(made.backup.bytes)
    ));
    for missing in &made.missing {
        out.push_str(&format!("{} {}\n", paint(BAD, "not in it:"), text::line(missing)));
    }
}
