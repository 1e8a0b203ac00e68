//! `recollect import`.

use std::path::PathBuf;

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::context::{ContextImportRequest, ContextImported, import};
use recollect_engine::api::ingest::IngestStatus;

use super::{Outcome, absolute, project};
use crate::face::Face;
use crate::output::text;
use crate::output::units::{bytes, count, counted};

/// Take over a MEMORY-CONTEXT folder
///
/// Its exports and sessions come into the memory; its hashes and watermarks too, so that what it had seen is not taken
/// for new. The folder itself is only read.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The folder, or one that holds MEMORY-CONTEXT
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Put the sessions into this project (an id or a folder) instead of the ones that they name
    #[arg(long, value_name = "P")]
    project: Option<String>,
}

impl Import {
    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        let project = self.project.map(|name| project::known_or_new(face, &name)).transpose()?;
        let request = ContextImportRequest { path: absolute(&self.folder)?, project };
        let report = face.call(import, request)?;
        face.terminal.answer(&report, |out| describe(&report, out))?;
        for file in report.ingest.files.iter().filter(|file| file.status == IngestStatus::Failed) {
            face.terminal.failed(&file.path, file.error.as_deref().unwrap_or("could not be read"));
        }
        Ok(if report.ingest.totals.failed == 0 { Outcome::Done } else { Outcome::Failed })
    }
}

fn describe(report: &ContextImported, out: &mut String) {
    let totals = &report.ingest.totals;
    out.push_str(&format!(
        "{} new, {} updated, {} unchanged from {}; {} read\n",
        counted(totals.new, "session"),
        count(totals.updated),
        count(totals.unchanged + report.known_sessions),
        counted(totals.files, "file"),
        bytes(totals.bytes_read)
    ));
    out.push_str(&format!(
        "{} known there, {} of them new here; {}\n",
        counted(report.hashes, "message"),
        count(report.new_hashes),
        counted(report.watermarks, "watermark")
    ));
    for issue in &report.issues {
        out.push_str(&format!("{}\n", text::line(issue)));
    }
}
