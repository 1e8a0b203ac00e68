//! `recollect restore-backup`.

use std::path::PathBuf;

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::backup::{BackupRestored, restore};

use super::Outcome;
use crate::face::Face;
use crate::output::units::{bytes, counted};
use crate::output::{BAD, NAME, paint, text};

/// Make a memory of a backup
///
/// Writes into the memory's folder, which must be empty or not there: name another with --home DIR. Every checksum is
/// compared before anything takes its place; of a damaged backup nothing is written. When only the database in it was damaged
/// already, it is made anew of the rest; exit status 1 when something could not be read or found.
#[derive(Debug, Args)]
pub(crate) struct RestoreBackup {
    /// A file that `recollect backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl RestoreBackup {
    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        let restored = face.work(|work| restore(work, &self.file, &face.options.home))?;
        face.terminal.answer(&restored, |out| describe(&restored, out))?;
        let is_whole = restored.rebuilt.as_ref().is_none_or(|rebuilt| rebuilt.issues.is_empty());
        Ok(if is_whole { Outcome::Done } else { Outcome::Failed })
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
    let Some(rebuilt) = &restored.rebuilt else { return };
    out.push_str("The database in it was damaged, and was made anew of the rest\n");
    if let Some(aside) = &rebuilt.set_aside {
        out.push_str(&format!("The damaged one is {}\n", paint(NAME, text::line(aside))));
    }
    for issue in &rebuilt.issues {
        out.push_str(&format!("{} {}\n", paint(BAD, "not found:"), text::line(issue)));
    }
}
