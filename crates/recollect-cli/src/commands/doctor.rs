//! `recollect doctor`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::health::{Health, HealthCheckRequest, HealthRepairRequest, check, repair};

use super::Outcome;
use crate::face::Face;
use crate::output::{BAD, FAINT, GOOD, paint, text};

/// Check that everything in the memory is sound
///
/// Looks at the database, every archived piece, watermarks, manifests, links to originals and permissions, and changes
/// nothing. Exit status 1 when something is wrong.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Mend what can be mended; damaged files are set aside, never deleted
    #[arg(long)]
    repair: bool,
}

impl Doctor {
    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        let health = if self.repair {
            face.call(repair, HealthRepairRequest::default())?
        } else {
            face.call(check, HealthCheckRequest::default())?
        };
        face.terminal.answer(&health, |out| tell(&health, out))?;
        Ok(if health.ok { Outcome::Done } else { Outcome::Failed })
    }
}

fn tell(health: &Health, out: &mut String) {
    for what in &health.mended {
        out.push_str(&format!("{} {}\n", paint(GOOD, "mended"), text::line(what)));
    }
    for check in &health.checks {
        let verdict = if check.ok { paint(GOOD, "ok    ") } else { paint(BAD, "wrong ") };
        let summary = paint(FAINT, text::line(&check.summary));
        out.push_str(&format!("{verdict} {:<12} {summary}\n", check.name));
        for problem in &check.problems {
            out.push_str(&format!("       {}\n", text::line(problem)));
        }
        if let Some(remedy) = &check.remedy {
            out.push_str(&format!("       hint: {}\n", text::line(remedy)));
        }
    }
}
