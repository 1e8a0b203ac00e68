//! `recollect sessions`.

use clap::{Args, Subcommand};
use recollect_engine::Result;
use recollect_engine::api::session::{
    Expiring, ExpiringRequest, SessionListRequest, SessionPage, SessionSort, SessionSummary, SessionUpdateRequest,
    expiring, list, update,
};

use super::project;
use crate::arguments::{choice, distance};
use crate::face::Face;
use crate::output::source;
use crate::output::table::{Align, cell, table};
use crate::output::units::{bytes, count, counted};
use crate::output::{CLOSE, FAINT, GOOD, NAME, paint};

/// List the sessions in memory, newest first, or set what is yours to say about one
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only of this project: an id, a folder or the folder's last part
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    project: Option<String>,
    /// Only those whose title, branch or id holds this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Order of the list
    #[arg(long, value_name = "ORDER", value_parser = choice::<SessionSort>(&["newest", "oldest", "largest", "title"]))]
    sort: Option<SessionSort>,
    /// How many at most
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Only those that Claude Code deletes within so many days, in memory or not
    #[arg(long, value_name = "DAYS", num_args = 0..=1, default_missing_value = "7", conflicts_with_all = ["project", "filter", "sort", "limit"])]
    expiring: Option<u32>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Set the title or the distance of a session
    Set {
        /// The session: its id, a unique prefix of it, or `latest`
        session: String,
        /// A title of your own; an empty one puts the computed one back
        #[arg(long, required_unless_present = "distance")]
        title: Option<String>,
        /// How many sessions ago it counts as, for the decay of marks; 0 puts its rank in the project back
        #[arg(long, value_name = "D", value_parser = distance, allow_negative_numbers = true)]
        distance: Option<u32>,
    },
}

impl Sessions {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        if let Some(Action::Set { session, title, distance }) = self.action {
            let session = face.call(update, SessionUpdateRequest { session, title, distance })?;
            return face.terminal.answer(&session, |out| {
                let id = paint(NAME, &session.session_id);
                out.push_str(&format!("{id}: {}, distance {}\n", cell(&session.title), session.distance));
            });
        }
        if let Some(days) = self.expiring {
            let found = face.call(expiring, ExpiringRequest { within_days: Some(days) })?;
            return face.terminal.answer(&found, |out| describe_expiring(&found, out));
        }
        let project = self.project.map(|name| project::known(face, &name)).transpose()?;
        let request =
            SessionListRequest { project, filter: self.filter, sort: self.sort, offset: None, limit: self.limit };
        let page = face.call(list, request)?;
        let all = if face.terminal.json { Vec::new() } else { face.sessions()? };
        face.terminal.answer(&page, |out| describe(face, &page, &all, out))
    }
}

fn describe_expiring(found: &Expiring, out: &mut String) {
    let within = counted(u64::from(found.within_days), "day");
    if found.total == 0 {
        out.push_str(&format!("Claude Code deletes no session within {within}.\n"));
        return;
    }
    let columns = [
        ("IN DAYS", Align::Right),
        ("ARCHIVED", Align::Left),
        ("SIZE", Align::Right),
        ("PROJECT", Align::Left),
        ("SESSION", Align::Left),
        ("TITLE", Align::Left),
    ];
    let rows = found.sessions.iter().map(|session| {
        let archived = if session.archived { paint(GOOD, "yes") } else { paint(CLOSE, "no") };
        let id = session.session_id.as_ref().map_or_else(|| paint(FAINT, "not in memory"), |id| paint(NAME, id));
        let days = count(u64::from(session.days_left));
        vec![days, archived, bytes(session.bytes), cell(&session.project), id, cell(&session.title)]
    });
    out.push_str(&table(&columns, rows.collect()));
    out.push_str(&format!(
        "\n{} deleted by Claude Code within {within}, {} not archived\n",
        counted(found.total, "session"),
        count(found.unarchived)
    ));
    if found.unarchived > 0 {
        out.push_str("`recollect ingest --expiring` archives them all\n");
    }
}

fn describe(face: &Face, page: &SessionPage, all: &[SessionSummary], out: &mut String) {
    if all.is_empty() {
        out.push_str("No sessions in memory yet: `recollect ingest --all` takes all that Claude Code has.\n");
        return;
    }
    if page.sessions.is_empty() {
        out.push_str("No session is like that.\n");
        return;
    }
    // Most people have transcripts only, and need no column that says so.
    let formats = page.sessions.iter().any(|session| !source::short(&session.format).is_empty());
    let mut columns = vec![
        ("SESSION", Align::Left),
        ("LAST MESSAGE", Align::Left),
        ("MESSAGES", Align::Right),
        ("TOKENS", Align::Right),
        ("KEEPITS", Align::Right),
        ("VERSIONS", Align::Right),
        ("ORIGINAL", Align::Left),
        ("BRANCH", Align::Left),
        ("TITLE", Align::Left),
    ];
    if formats {
        columns.insert(7, ("FORMAT", Align::Left));
    }
    let row = |session: &SessionSummary| {
        let mut row = vec![
            paint(NAME, shortest(session.session_id.as_str(), all)),
            face.terminal.time(session.last_timestamp),
            count(session.messages),
            count(session.tokens),
            count(session.keepits),
            count(session.versions),
            original(session),
            session.git_branch.as_deref().map_or_else(|| paint(FAINT, "-"), cell),
            cell(&session.title),
        ];
        if formats {
            row.insert(7, format(session, all));
        }
        row
    };
    out.push_str(&table(&columns, page.sessions.iter().map(row).collect()));
    let shown = page.sessions.len() as u64;
    if shown < page.total {
        out.push_str(&format!("\n{} of {}\n", count(shown), counted(page.total, "session")));
    }
}

/// What a session comes from, and which transcript it is a copy of.
fn format(session: &SessionSummary, all: &[SessionSummary]) -> String {
    let short = source::short(&session.format);
    match &session.paired_with {
        Some(transcript) => format!("{short} of {}", shortest(transcript.as_str(), all)),
        None if short.is_empty() => paint(FAINT, "-"),
        None => short.to_owned(),
    }
}

fn original(session: &SessionSummary) -> String {
    match (session.original_present, session.live) {
        (true, true) => paint(GOOD, "live"),
        (true, false) => "there".to_owned(),
        (false, _) => paint(CLOSE, "gone"),
    }
}

/// The shortest beginning of an id, of at least eight characters, that names only it.
fn shortest<'a>(id: &'a str, all: &[SessionSummary]) -> &'a str {
    let others = || all.iter().map(|session| session.session_id.as_str()).filter(|other| *other != id);
    let shared = |other: &str| id.bytes().zip(other.bytes()).take_while(|(one, two)| one == two).count();
    let least = others().map(shared).max().map_or(8, |shared| (shared + 1).max(8));
    id.get(..least).unwrap_or(id)
}
