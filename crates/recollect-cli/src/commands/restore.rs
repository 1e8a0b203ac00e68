//! `recollect restore`.

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use recollect_engine::api::session::{RestoreReport, SessionRequest, SessionRestoreRequest, restore, restore_to};
use recollect_engine::{Error, Result};

use super::absolute;
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{bytes, count, counted};
use crate::output::{NAME, paint};

/// Give back the original bytes of a session
///
/// Without -o and --tree, the bytes of the session's main file go to standard output. Files that exist with other
/// content are never written over unless --force is given.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).args(["session", "all"]))]
pub(crate) struct Restore {
    /// The session: its id, a unique prefix of it, or `latest`
    session: Option<String>,
    /// Every session in memory
    #[arg(long, requires = "tree")]
    all: bool,
    /// Write the main file here
    #[arg(short, long, value_name = "FILE", conflicts_with = "tree")]
    output: Option<PathBuf>,
    /// Write the session with its sub-agents and tool results into this folder, laid out as Claude Code does
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Write over files that exist with other content
    #[arg(long)]
    force: bool,
}

impl Restore {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let to_standard_output = match &self.output {
            Some(file) => file.as_os_str() == "-",
            None => self.tree.is_none(),
        };
        if to_standard_output {
            return self.print(face);
        }
        let request = SessionRestoreRequest {
            session: self.session,
            all: self.all,
            output: self.output.as_deref().map(absolute).transpose()?,
            tree: self.tree.as_deref().map(absolute).transpose()?,
            force: self.force,
        };
        let report = face.call(restore, request)?;
        face.terminal.answer(&report, |out| describe(&report, face.terminal.verbose, out))
    }

    fn print(self, face: &Face) -> Result<()> {
        if face.terminal.json {
            return Err(Error::usage("the bytes of a session are no JSON document")
                .hint("name a file with -o or a folder with --tree, or leave --json away"));
        }
        let Some(session) = self.session else {
            return Err(Error::usage("all sessions can only be restored into a folder").hint("name it with --tree DIR"));
        };
        let mut out = std::io::stdout().lock();
        face.call(|call, request| restore_to(call, request, &mut out), SessionRequest { session })?;
        Ok(out.flush()?)
    }
}

fn describe(report: &RestoreReport, is_verbose: bool, out: &mut String) {
    let sum = report.files.iter().map(|file| file.bytes).sum();
    if is_verbose || report.files.len() <= 20 {
        let columns = [("SESSION", Align::Left), ("BYTES", Align::Right), ("FILE", Align::Left)];
        let rows = report
            .files
            .iter()
            .map(|file| vec![paint(NAME, &file.session_id), count(file.bytes), cell(&file.path)])
            .collect();
        out.push_str(&table(&columns, rows));
        out.push('\n');
    }
    out.push_str(&format!("{} restored, {}\n", counted(report.files.len() as u64, "file"), bytes(sum)));
}
