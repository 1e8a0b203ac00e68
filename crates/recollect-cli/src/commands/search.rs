//! `recollect search`.

use anstyle::Style;
use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::search::{SearchAnswer, SearchHit, SearchKind, SearchRequest, Semantic, query};
use recollect_engine::session::Role;

use super::project;
use crate::arguments::{choice, weight};
use crate::face::Face;
use crate::output::units::{count, counted};
use crate::output::{CLOSE, FAINT, NAME, STRONG, Terminal, paint, text};

/// Find what was said, thought, called and returned, in all sessions
///
/// No word is required: what has more of them, and rarer ones, comes first. "several words" must stand together, +word must
/// be there, -word must not, begin* is the beginning of a word. Filters can be written into the query as well:
/// project: branch: role: file: topic: session: kind: since: until: keepit:, each also with a minus before it. Kinds are text,
/// thinking, call, result, summary, keepit, version and session. Of a message of more than 1 MiB its beginning and its end
/// are searched.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for; without words all that the filters leave is listed, newest first
    #[arg(required = true)]
    query: Vec<String>,
    /// Only of this project: an id, a folder or the folder's last part
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    project: Option<String>,
    /// Only of sessions on this branch; `fix/*` stands for all that begin so
    #[arg(long, value_name = "B")]
    branch: Option<String>,
    /// Only what this role says
    #[arg(long, value_name = "R", value_parser = choice::<Role>(&["user", "assistant", "tool", "system"]))]
    role: Option<Role>,
    /// Only what is about this file: a path, or the end of one
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only of sessions that are about this: their title names it, or it is spoken of several times
    #[arg(long, value_name = "T")]
    topic: Option<String>,
    /// Not before this date: 2026-01-20, 7d, "2 weeks ago", yesterday
    #[arg(long, value_name = "D")]
    since: Option<String>,
    /// Not after this date; a day counts to its end
    #[arg(long, value_name = "D")]
    until: Option<String>,
    /// Only marked passages of at least this weight
    #[arg(long, value_name = "W", value_parser = weight)]
    keepit_min: Option<f64>,
    /// How many hits at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Search by meaning as well: when a model is there, always, or never
    #[arg(long, value_name = "WHEN", value_parser = choice::<Semantic>(&["auto", "on", "off"]))]
    semantic: Option<Semantic>,
}

impl Search {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let project = self.project.map(|name| project::known(face, &name)).transpose()?;
        let request = SearchRequest {
            query: self.query.join(" "),
            project: project.map(|project| project.to_string()),
            branch: self.branch,
            role: self.role,
            file: self.file,
            topic: self.topic,
            since: self.since,
            until: self.until,
            keepit_min: self.keepit_min,
            limit: Some(self.limit),
            semantic: self.semantic,
            time_zone: face.terminal.time_zone(),
            ..SearchRequest::default()
        };
        let answer = face.call(query, request)?;
        face.terminal.answer(&answer, |out| out.push_str(&shown(&face.terminal, &answer)))?;
        for correction in &answer.corrections {
            face.terminal.note(format!(
                "nothing has `{}`; looked for {}",
                text::line(&correction.typed),
                correction.words.join(", ")
            ));
        }
        for note in &answer.notes {
            face.terminal.note(text::line(note));
        }
        if answer.pending > 0 {
            let pending = counted(answer.pending, "message");
            face.terminal.note(format!("{pending} cannot be found yet: another program is making them searchable"));
        }
        Ok(())
    }
}

fn shown(terminal: &Terminal, answer: &SearchAnswer) -> String {
    let mut shown = String::new();
    for hit in &answer.hits {
        shown.push_str(&format!("{}\n  {}\n\n", heading(terminal, hit), marked(&hit.snippet, &hit.highlights)));
    }
    let what = match (answer.total, answer.every_word) {
        (0, _) => "nothing found".to_owned(),
        (total, true) => counted(total, "passage"),
        (total, false) => format!("no passage has every word, {} some", count(total)),
    };
    let first = if answer.total > answer.hits.len() as u64 {
        format!(", the best {} shown", count(answer.hits.len() as u64))
    } else {
        String::new()
    };
    shown.push_str(&paint(FAINT, format!("{what}{first} ({:.1} ms)", answer.elapsed_ms)));
    shown.push('\n');
    shown
}

fn heading(terminal: &Terminal, hit: &SearchHit) -> String {
    let id: String = hit.session_id.as_str().chars().take(8).collect();
    let place = match hit.index {
        Some(index) => format!("{id} #{index}"),
        None => id,
    };
    let mut facts = vec![text::line(&hit.project).into_owned(), kind(hit), terminal.time(hit.timestamp)];
    if hit.copies > 0 {
        facts.push(format!("also in {}", counted(hit.copies.into(), "other session")));
    }
    format!(
        "{} {}  {}",
        paint(NAME, place),
        paint(STRONG, text::line(&hit.session_title)),
        paint(FAINT, facts.join(" · "))
    )
}

fn kind(hit: &SearchHit) -> String {
    let role = match hit.role {
        Some(Role::User) => "user",
        Some(Role::Assistant) => "assistant",
        Some(Role::Tool) => "tool",
        Some(Role::System) | None => "client",
    };
    let kind = match (hit.kind, hit.weight, &hit.version_id) {
        (SearchKind::Text, ..) => role.to_owned(),
        (SearchKind::Thinking, ..) => "thinking".to_owned(),
        (SearchKind::ToolInput, ..) => "tool call".to_owned(),
        (SearchKind::ToolOutput, ..) => "tool result".to_owned(),
        (SearchKind::Summary, ..) => "summary of the client".to_owned(),
        (SearchKind::Notice, ..) => "notice of the client".to_owned(),
        (SearchKind::Keepit, Some(weight), _) => format!("keepit {weight:.2}"),
        (SearchKind::Keepit, ..) => "keepit".to_owned(),
        (SearchKind::Version, _, Some(version)) => format!("version {version}"),
        (SearchKind::Version, ..) => "version".to_owned(),
        (SearchKind::Session, ..) => "session".to_owned(),
    };
    match &hit.agent_id {
        Some(_) => format!("{kind} of a sub-agent"),
        None => kind,
    }
}

/// The snippet with what was looked for set off; a pipe gets the words alone.
fn marked(snippet: &str, highlights: &[(u32, u32)]) -> String {
    let style: Style = CLOSE.underline();
    let characters: Vec<char> = snippet.chars().collect();
    let part = |from: usize, to: usize| characters.get(from..to).unwrap_or_default().iter().collect::<String>();
    let mut shown = String::new();
    let mut at = 0;
    for (start, end) in highlights {
        let (start, end) = (*start as usize, *end as usize);
        shown.push_str(&text::line(&part(at, start)));
        shown.push_str(&paint(style, text::line(&part(start, end))));
        at = end;
    }
    shown.push_str(&text::line(&part(at, characters.len())));
    shown
}
