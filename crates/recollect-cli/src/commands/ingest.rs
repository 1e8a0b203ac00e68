//! `recollect ingest`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::ingest::{
    IngestReport, IngestRequest, IngestStatus, IngestTotals, IngestedSession, Repeats, ingest,
};

use super::{Outcome, absolute, project};
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{bytes, count, counted};
use crate::output::{BAD, FAINT, GOOD, NAME, Terminal, paint, text};

/// Take transcripts and exports into the memory
///
/// Files are read, folders walked; what a file is, is told by what it holds. The bytes are kept, so that a session can be restored when Claude Code has deleted
/// it. What is in memory already is only looked at; a transcript that has grown is read on from where it ended.
/// A line that is not understood is reported and kept; a file that cannot be read is named and all else goes on.
#[derive(Debug, Args)]
pub(crate) struct Ingest {
    /// Transcripts, exports, conversations.json, history.jsonl, and folders of them
    #[arg(value_name = "PATH", required_unless_present_any = ["all", "latest", "expiring"])]
    paths: Vec<PathBuf>,
    /// Take everything under the Claude home
    #[arg(long)]
    all: bool,
    /// Take the newest conversation that is not in memory: a transcript under the Claude home, or an export in the folders of
    /// the setting `watch.exportFolders` (if none: the projects' folders, Downloads, Desktop)
    #[arg(long)]
    latest: bool,
    /// Take what Claude Code deletes within 7 days and is not archived (`recollect sessions --expiring` lists it)
    #[arg(long)]
    expiring: bool,
    /// Put the sessions into this project (an id or a folder) instead of the one they ran in
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    project: Option<String>,
}

impl Ingest {
    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        let project = self.project.map(|name| project::known_or_new(face, &name)).transpose()?;
        let paths = self.paths.iter().map(|path| absolute(path)).collect::<Result<_>>()?;
        let request = IngestRequest { paths, all: self.all, latest: self.latest, expiring: self.expiring, project };
        let report = face.call(ingest, request)?;
        face.terminal.answer(&report, |text| describe(&face.terminal, &report, text))?;
        for file in report.files.iter().filter(|file| file.status == IngestStatus::Failed) {
            face.terminal.failed(&file.path, file.error.as_deref().unwrap_or("could not be read"));
        }
        Ok(if report.totals.failed == 0 { Outcome::Done } else { Outcome::Failed })
    }
}

fn describe(terminal: &Terminal, report: &IngestReport, out: &mut String) {
    // What failed has no session yet and is named by its file.
    let changed = |session: &&IngestedSession| match session.status {
        IngestStatus::New | IngestStatus::Updated => true,
        IngestStatus::Unchanged | IngestStatus::Skipped => terminal.verbose,
        IngestStatus::Failed => !session.session_id.as_str().is_empty(),
    };
    let rows: Vec<_> = report.sessions.iter().filter(changed).map(row).collect();
    if !rows.is_empty() {
        let columns = [
            ("STATUS", Align::Left),
            ("SESSION", Align::Left),
            ("MESSAGES", Align::Right),
            ("NEW", Align::Right),
            ("KEEPITS", Align::Right),
            ("SIZE", Align::Right),
            ("TITLE", Align::Left),
        ];
        out.push_str(&table(&columns, rows));
        out.push('\n');
    }
    if report.files.is_empty() {
        out.push_str("Nothing new: every transcript and export where they are looked for is in memory.\n");
        return;
    }
    out.push_str(&sums(&report.totals));
    notes(terminal, report, out);
}

fn row(session: &IngestedSession) -> Vec<String> {
    vec![
        status(session.status),
        paint(NAME, &session.session_id),
        count(session.messages),
        count(session.new_unique),
        count(session.keepits),
        bytes(session.bytes),
        cell(&session.title),
    ]
}

fn status(status: IngestStatus) -> String {
    match status {
        IngestStatus::New => paint(GOOD, "new"),
        IngestStatus::Updated => paint(GOOD, "updated"),
        IngestStatus::Unchanged => paint(FAINT, "unchanged"),
        IngestStatus::Failed => paint(BAD, "failed"),
        IngestStatus::Skipped => paint(FAINT, "skipped"),
    }
}

fn sums(totals: &IngestTotals) -> String {
    let states = [("new", totals.new), ("updated", totals.updated), ("unchanged", totals.unchanged)];
    let states: Vec<_> = states
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(state, number)| format!("{} {state}", count(*number)))
        .collect();
    let states = if states.is_empty() { String::new() } else { format!(" ({})", states.join(", ")) };
    let mut sums = format!(
        "{}{states} from {}; {} read, {} stored\n",
        counted(totals.sessions, "session"),
        counted(totals.files, "file"),
        bytes(totals.bytes_read),
        bytes(totals.bytes_stored)
    );
    let processed = totals.new_unique + totals.duplicates;
    if processed > 0 {
        sums.push_str(&format!(
            "{} processed: {} new, {}; {} different in memory\n",
            counted(processed, "message"),
            count(totals.new_unique),
            counted(totals.duplicates, "duplicate"),
            count(totals.total_unique)
        ));
    }
    if totals.duplicates > 0 {
        sums.push_str(&format!("Duplicates: {}\n", causes(&totals.repeats)));
    }
    sums
}

/// Why messages are nothing new, the causes that occur.
fn causes(repeats: &Repeats) -> String {
    let causes = [
        (repeats.file, "in files that are kept already"),
        (repeats.beginning, "at the beginning that two files share"),
        (repeats.record, "records that stand in another session too"),
        (repeats.reply, "replies that a resumed session repeats"),
        (repeats.text, "that say what another message says"),
        (repeats.imported, "known by an imported memory"),
    ];
    let causes: Vec<_> = causes
        .iter()
        .filter(|(messages, _)| *messages > 0)
        .map(|(messages, cause)| format!("{} {cause}", count(*messages)))
        .collect();
    causes.join(", ")
}

/// What is out of the ordinary: lines that were not understood, files that are no transcripts.
fn notes(terminal: &Terminal, report: &IngestReport, out: &mut String) {
    if terminal.verbose {
        for file in &report.files {
            let path = text::line(&file.path);
            if let Some(note) = file.note.as_ref().filter(|_| file.issues.is_empty()) {
                out.push_str(&format!("{path}: {}\n", text::line(note)));
            }
            for issue in &file.issues {
                out.push_str(&format!("{path}:{}: {}\n", issue.line, text::line(&issue.message)));
            }
        }
        return;
    }
    if report.totals.issues > 0 {
        let lines = counted(report.totals.issues, "line");
        out.push_str(&format!("{lines} not understood, but kept (--verbose says which)\n"));
    }
    let mut skipped: BTreeMap<&str, u64> = BTreeMap::new();
    for file in report.files.iter().filter(|file| file.status == IngestStatus::Skipped) {
        *skipped.entry(file.note.as_deref().unwrap_or("not a transcript")).or_default() += 1;
    }
    for (reason, files) in skipped {
        out.push_str(&format!("{} left alone: {}\n", counted(files, "file"), text::line(reason)));
    }
}
