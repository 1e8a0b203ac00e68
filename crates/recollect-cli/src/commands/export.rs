//! `recollect export`.

use std::path::PathBuf;

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::context::{ContextExportRequest, ContextExported, export};

use super::{absolute, project};
use crate::face::Face;
use crate::output::units::{bytes, count, counted};

/// Write the memory as a MEMORY-CONTEXT folder
///
/// Original files (exports-archive), each session as JSON and Markdown with what was decided, done and touched (sessions),
/// hashes and watermarks (dedup_state), topics, entities and the timeline (index). What a folder holds already is added to:
/// other sessions stay, and a state that is not understood is never written over.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The folder; made when it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only sessions of this project: an id, a folder or the folder's last part
    #[arg(long, value_name = "P")]
    project: Option<String>,
}

impl Export {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let project = self.project.map(|name| project::known(face, &name)).transpose()?;
        let report = face.call(export, ContextExportRequest { path: absolute(&self.folder)?, project })?;
        face.terminal.answer(&report, |out| describe(&report, out))
    }
}

fn describe(report: &ContextExported, out: &mut String) {
    out.push_str(&format!(
        "{} with {}, {} ({}), {} and {} written to {}\n",
        counted(report.sessions, "session"),
        counted(report.messages, "message"),
        counted(report.files, "original file"),
        bytes(report.bytes),
        counted(report.topics, "topic"),
        if report.entities == 1 { "1 entity".to_owned() } else { format!("{} entities", count(report.entities)) },
        crate::output::text::line(&report.path)
    ));
}
