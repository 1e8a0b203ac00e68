//! `recollect restore-backup`.

use std::path::PathBuf;

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::backup::{BackupRestored, restore};

use crate::face::Face;
use crate::output::units::{bytes, counted};
use crate::output::{NAME, paint, text};

/// Make a memory of a backup
///
/// Writes into the memory's folder, which must be empty or not there: name another with --home DIR. Every checksum is
/// compared before anything takes its place; of a damaged backup nothing is written.
#[derive(Debug, Args)]
pub(crate) struct RestoreBackup {
    /// A file that `recollect backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl RestoreBackup {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let restored = face.work(|work| restore(work, &self.file, &face.options.home))?;
        face.terminal.answer(&restored, |out| describe(&restored, out))
    }
}

fn describe(restored: &BackupRestored, out: &mut String) {
    out.push_str(&format!(
        "{} ({}, {}) as of {} restored into {}\n",
        counted(restored.sessions, "session"),
        counted(restored.files, "file"),
        bytes(restored.bytes),
        restored.at,
        paint(NAME, text::line(&restored.home))
    ));
}
