//! `recollect stats`.

use clap::{Args, ValueEnum};
use recollect_engine::Result;
use recollect_engine::api::memory::{StatsRequest, stats};
use recollect_engine::api::storage::{MonthStorage, ProjectStorage, StorageReportRequest, StorageShare, report};
use serde::Serialize;

use crate::face::Face;
use crate::output::table::{Align, cell, pairs, table};
use crate::output::units::{bytes, count, counted, percent};
use crate::output::{NAME, STRONG, paint};

/// Show what the memory holds and what it takes on disk
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Show what each project or month takes: as it is, without what is there already, and as it is stored
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// Projects, the largest first
    Project,
    /// Months of the sessions' last messages in UTC, the oldest first
    Month,
}

#[derive(Serialize)]
struct ByProject<'a> {
    total: StorageShare,
    projects: &'a [ProjectStorage],
}

#[derive(Serialize)]
struct ByMonth<'a> {
    total: StorageShare,
    months: &'a [MonthStorage],
}

impl Stats {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        if let Some(by) = self.by {
            return shares(face, by);
        }
        let stats = face.call(stats, StatsRequest::default())?;
        face.terminal.answer(&stats, |out| {
            let repeats = percent(stats.dedup_ratio);
            let sessions = match stats.paired_exports {
                0 => count(stats.sessions),
                paired => format!("{} (and {} of some of them)", count(stats.sessions), counted(paired, "export")),
            };
            out.push_str(&pairs(&[
                ("Projects", count(stats.projects)),
                ("Sessions", sessions),
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

fn shares(face: &Face, by: By) -> Result<()> {
    let found = face.call(report, StorageReportRequest { largest: Some(0) })?;
    match by {
        By::Project => {
            let document = ByProject { total: found.total, projects: &found.by_project };
            face.terminal.answer(&document, |out| {
                let rows = found.by_project.iter().map(|project| {
                    (paint(NAME, cell(&project.display_name)), project.share, cell(&project.original_path))
                });
                out.push_str(&shares_table(&["PROJECT", "PATH"], rows.collect(), found.total));
            })
        }
        By::Month => {
            let document = ByMonth { total: found.total, months: &found.by_month };
            face.terminal.answer(&document, |out| {
                let rows = found.by_month.iter().map(|month| {
                    let name = paint(NAME, month.month.as_deref().unwrap_or("without a date"));
                    (name, month.share, String::new())
                });
                out.push_str(&shares_table(&["MONTH"], rows.collect(), found.total));
            })
        }
    }
}

/// A row for each share with what it is of, and perhaps where; then one for all of them.
fn shares_table(of: &[&str], rows: Vec<(String, StorageShare, String)>, total: StorageShare) -> String {
    let figures = ["SESSIONS", "MESSAGES", "ORIGINAL", "UNIQUE", "STORED", "SHARE"].map(|name| (name, Align::Right));
    let mut columns: Vec<(&str, Align)> = of.iter().map(|name| (*name, Align::Left)).collect();
    columns.splice(1..1, figures);
    let all = (paint(STRONG, "All"), total, String::new());
    let rows = rows.into_iter().chain([all]).map(|(name, share, place)| {
        let mut cells = vec![
            name,
            count(share.sessions),
            count(share.messages),
            bytes(share.original_bytes),
            bytes(share.unique_bytes),
            bytes(share.stored_bytes),
            percent(share.stored_bytes as f64 / share.original_bytes.max(1) as f64),
        ];
        cells.extend((of.len() > 1).then_some(place));
        cells
    });
    table(&columns, rows.collect())
}
