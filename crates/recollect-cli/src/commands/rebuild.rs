//! `recollect rebuild`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::rebuild::{Rebuilt, rebuild_closed};

use super::Outcome;
use crate::face::Face;
use crate::output::units::counted;
use crate::output::{BAD, NAME, paint, text};

/// Make the database anew from the archive and the manifests
///
/// For a memory.db that is damaged or lost. The one that is there is set aside, not deleted; no other file is changed. Close
/// Recollect's window and every `recollect watch` first. Exit status 1 when something could not be read or found.
#[derive(Debug, Args)]
pub(crate) struct Rebuild {}

impl Rebuild {
    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        let rebuilt = face.work(|work| rebuild_closed(&face.options, work))?;
        face.terminal.answer(&rebuilt, |out| describe(&rebuilt, out))?;
        Ok(if rebuilt.issues.is_empty() { Outcome::Done } else { Outcome::Failed })
    }
}

fn describe(rebuilt: &Rebuilt, out: &mut String) {
    out.push_str(&format!(
        "Made anew from {}: {} with {}, {} and {}\n",
        counted(rebuilt.packs, "pack"),
        counted(rebuilt.sessions, "session"),
        counted(rebuilt.messages, "message"),
        counted(rebuilt.versions, "version"),
        counted(rebuilt.compositions, "composition")
    ));
    if let Some(aside) = &rebuilt.set_aside {
        out.push_str(&format!("The one before is {}\n", paint(NAME, text::line(aside))));
    }
    for issue in &rebuilt.issues {
        out.push_str(&format!("{} {}\n", paint(BAD, "not found:"), text::line(issue)));
    }
}
