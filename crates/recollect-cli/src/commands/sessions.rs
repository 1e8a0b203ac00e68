//! `recollect sessions`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::session::{SessionListRequest, SessionPage, SessionSort, SessionSummary, list};

use super::project;
use crate::arguments::choice;
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{count, counted};
use crate::output::{CLOSE, FAINT, GOOD, NAME, paint};

/// List the sessions in memory, newest first
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    /// Only of this project: an id, a folder or the folder's last part
    #[arg(long, value_name = "P")]
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
}

impl Sessions {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let project = self.project.map(|name| project::known(face, &name)).transpose()?;
        let request =
            SessionListRequest { project, filter: self.filter, sort: self.sort, offset: None, limit: self.limit };
        let page = face.call(list, request)?;
        let all = if face.terminal.json { Vec::new() } else { face.sessions()? };
        face.terminal.answer(&page, |out| describe(face, &page, &all, out))
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
    let columns = [
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
    let row = |session: &SessionSummary| {
        vec![
            paint(NAME, shortest(session.session_id.as_str(), all)),
            face.terminal.time(session.last_timestamp),
            count(session.messages),
            count(session.tokens),
            count(session.keepits),
            count(session.versions),
            original(session),
            session.git_branch.as_deref().map_or_else(|| paint(FAINT, "-"), cell),
            cell(&session.title),
        ]
    };
    out.push_str(&table(&columns, page.sessions.iter().map(row).collect()));
    let shown = page.sessions.len() as u64;
    if shown < page.total {
        out.push_str(&format!("\n{} of {}\n", count(shown), counted(page.total, "session")));
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
