//! `recollect near-duplicates`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::near_duplicates::{NearDuplicate, NearDuplicates, NearDuplicatesRequest, find};

use super::project;
use crate::arguments::similarity;
use crate::face::Face;
use crate::output::units::{counted, percent};
use crate::output::{FAINT, GOOD, NAME, STRONG, Terminal, paint, text};

/// Find messages that say nearly the same, in groups
///
/// Compares what people and models said in at least a dozen words, by stretches of three words. Nothing is merged: for each
/// message of a group, what only it says is shown. Messages that are the same word for word are one, with a count.
#[derive(Debug, Args)]
pub(crate) struct NearDuplicatesCommand {
    /// How alike: the least share of stretches in common, 0.5 to 1
    #[arg(long, value_name = "S", default_value_t = 0.75, value_parser = similarity)]
    similarity: f64,
    /// Only of this project: an id, a folder or the folder's last part
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    project: Option<String>,
    /// How many groups at most, the largest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

impl NearDuplicatesCommand {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let project = self.project.as_deref().map(|name| project::known(face, name)).transpose()?;
        let request = NearDuplicatesRequest {
            similarity: Some(self.similarity),
            project,
            limit: Some(self.limit),
            ..NearDuplicatesRequest::default()
        };
        let found = face.call(find, request)?;
        face.terminal.answer(&found, |out| out.push_str(&shown(&face.terminal, &found)))
    }
}

fn shown(terminal: &Terminal, found: &NearDuplicates) -> String {
    let mut shown = String::new();
    for group in &found.groups {
        let said = group.messages.first().map_or("", |first| first.text.as_str());
        shown.push_str(&format!("{}\n", paint(STRONG, text::line(beginning(said, 100)))));
        for message in &group.messages {
            shown.push_str(&format!("  {}\n", place(terminal, message)));
            for piece in &message.only_here {
                shown.push_str(&format!("    {} {}\n", paint(GOOD, "+"), text::line(beginning(piece, 100))));
            }
        }
        shown.push('\n');
    }
    let compared = counted(found.compared, "message");
    let all = match found.total {
        0 => format!("no two of {compared} say nearly the same"),
        total => format!("{} of {} among {compared}", counted(total, "group"), counted(found.messages, "message")),
    };
    let first = match found.groups.len() as u64 {
        listed if listed < found.total => format!(", the largest {listed} shown"),
        _ => String::new(),
    };
    shown.push_str(&paint(FAINT, format!("{all}{first}")));
    shown.push('\n');
    shown
}

fn place(terminal: &Terminal, message: &NearDuplicate) -> String {
    let id: String = message.session_id.as_str().chars().take(8).collect();
    let mut facts = vec![text::line(&message.project).into_owned(), terminal.time(message.timestamp)];
    if message.agent_id.is_some() {
        facts.push("sub-agent".to_owned());
    }
    if message.copies > 0 {
        facts.push(format!("and {} more word for word", counted(message.copies.into(), "time")));
    }
    format!(
        "{:>4} {} {}  {}",
        percent(message.similarity),
        paint(NAME, format!("{id} #{}", message.index)),
        text::line(beginning(&message.session_title, 60)),
        paint(FAINT, facts.join(" · "))
    )
}

fn beginning(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}
