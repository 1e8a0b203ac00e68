//! `recollect keepit`.

use clap::{Args, Subcommand};
use recollect_engine::Result;
use recollect_engine::api::keepit::{
    KeepitAddRequest, KeepitMarker, KeepitRemoveRequest, KeepitSetRequest, KeepitSource, add, list, remove, set,
};
use recollect_engine::api::session::SessionRequest;
use serde::Serialize;

use crate::arguments::weight;
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::{FAINT, NAME, paint};

/// List, add, weigh and remove keepit marks
///
/// A mark says how much a passage matters: weight 1 is never lost, 0 is lost first. Marks stand in the transcript as
/// ##keepit0.80## or are laid over it in the memory; the transcript itself stays as it is.
#[derive(Debug, Args)]
pub(crate) struct Keepit {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the marks of a session
    List {
        /// The session: its id, a unique prefix of it, or `latest`
        session: String,
    },
    /// Mark a passage of a message
    Add {
        /// The session: its id, a unique prefix of it, or `latest`
        session: String,
        /// The message's uuid, as `show --json` gives it
        #[arg(long, value_name = "UUID")]
        message: String,
        /// First character of the passage in the message's text
        #[arg(long, value_name = "N")]
        start: u64,
        /// One past its last character
        #[arg(long, value_name = "N")]
        end: u64,
        /// How much it matters, 0 to 1
        #[arg(long, value_name = "W", value_parser = weight, allow_negative_numbers = true)]
        weight: f64,
    },
    /// Set the weight of a mark
    Set {
        /// The mark, as `keepit list` names it
        marker: String,
        /// How much it matters, 0 to 1
        #[arg(long, value_name = "W", value_parser = weight, allow_negative_numbers = true)]
        weight: f64,
        /// Also write it into the transcript: only the mark's own characters, with a backup, and only when nobody
        /// has changed the file
        #[arg(long)]
        write_transcript: bool,
    },
    /// Remove a mark; one in the transcript is ignored from then on
    Rm {
        /// The mark, as `keepit list` names it
        marker: String,
    },
}

#[derive(Serialize)]
struct Document<'a> {
    keepits: &'a [KeepitMarker],
}

impl Keepit {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        match self.action {
            Action::List { session } => {
                let keepits = face.call(list, SessionRequest { session })?;
                face.terminal.answer(&Document { keepits: &keepits }, |out| describe(&keepits, out))
            }
            Action::Add { session, message, start, end, weight } => {
                let marker = face.call(add, KeepitAddRequest { session, message, start, end, weight })?;
                face.terminal.answer(&marker, |out| out.push_str(&sentence("Marked", &marker)))
            }
            Action::Set { marker, weight, write_transcript } => {
                let request = KeepitSetRequest { marker: marker.into(), weight, write_transcript };
                let marker = face.call(set, request)?;
                face.terminal.answer(&marker, |out| out.push_str(&sentence("Set", &marker)))
            }
            Action::Rm { marker } => {
                let marker = face.call(remove, KeepitRemoveRequest { marker: marker.into() })?;
                face.terminal.answer(&marker, |out| out.push_str(&sentence("Removed", &marker)))
            }
        }
    }
}

fn sentence(done: &str, marker: &KeepitMarker) -> String {
    let name = paint(NAME, &marker.marker_id);
    format!("{done} {name}, weight {:.2}: {}\n", marker.weight, cell(&marker.content))
}

fn describe(keepits: &[KeepitMarker], out: &mut String) {
    if keepits.is_empty() {
        out.push_str("No marks in this session.\n");
        return;
    }
    let columns = [
        ("MARK", Align::Left),
        ("WEIGHT", Align::Right),
        ("MESSAGE", Align::Right),
        ("FROM", Align::Left),
        ("KEPT IN", Align::Left),
        ("LOST IN", Align::Left),
        ("CONTENT", Align::Left),
    ];
    let versions = |versions: &[recollect_engine::ids::VersionId]| match versions {
        [] => paint(FAINT, "-"),
        versions => versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    };
    let row = |marker: &KeepitMarker| {
        let source = match (marker.source, marker.text_weight) {
            (KeepitSource::Text, None) => "transcript".to_owned(),
            (KeepitSource::Text, Some(weight)) => format!("transcript ({weight:.2} there)"),
            (KeepitSource::Overlay, _) => "memory".to_owned(),
        };
        vec![
            paint(NAME, &marker.marker_id),
            format!("{:.2}", marker.weight),
            format!("#{}", marker.message_index),
            source,
            versions(&marker.survived_in),
            versions(&marker.summarized_in),
            cell(&marker.content),
        ]
    };
    out.push_str(&table(&columns, keepits.iter().map(row).collect()));
}
