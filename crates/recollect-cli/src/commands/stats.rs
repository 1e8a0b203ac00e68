//! `recollect stats`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::memory::{StatsRequest, stats};

use crate::face::Face;
use crate::output::table::pairs;
use crate::output::units::{bytes, count, percent};

/// Show what the memory holds and what it takes on disk
#[derive(Debug, Args)]
pub(crate) struct Stats {}

impl Stats {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let stats = face.call(stats, StatsRequest::default())?;
        face.terminal.answer(&stats, |out| {
            let repeats = percent(stats.dedup_ratio);
            out.push_str(&pairs(&[
                ("Projects", count(stats.projects)),
                ("Sessions", count(stats.sessions)),
                (
                    "Messages",
                    format!(
                        "{} ({} different, {repeats} repeats)",
                        count(stats.messages),
                        count(stats.unique_messages)
                    ),
                ),
                ("Tokens", count(stats.tokens)),
                ("Keepits", count(stats.keepits)),
                ("Versions", count(stats.versions)),
                ("Compositions", count(stats.compositions)),
                ("Archived", format!("{} files, {}", count(stats.files), bytes(stats.original_bytes))),
                ("On disk", bytes(stats.stored_bytes)),
            ]));
        })
    }
}
