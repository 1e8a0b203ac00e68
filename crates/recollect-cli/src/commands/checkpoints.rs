//! `recollect checkpoints`.

use clap::{Args, Subcommand};
use recollect_engine::Result;
use recollect_engine::api::checkpoint::{
    Checkpoint, CheckpointDiff, CheckpointDiffRequest, CheckpointListRequest, CheckpointRequest, SessionState, create,
    diff, list, remove,
};
use serde::Serialize;

use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{bytes, count, counted};
use crate::output::{BAD, GOOD, NAME, paint};

/// Note what the memory holds under a name, and see later what came of it
///
/// A checkpoint says which sessions there were and what they held; it is no copy of them. Without an action, lists the
/// checkpoints.
#[derive(Debug, Args)]
pub(crate) struct Checkpoints {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Note the memory as it is
    Add {
        /// A name, for example "before import"
        name: String,
    },
    /// Say what was added, changed and removed since a checkpoint
    Diff {
        /// The earlier checkpoint
        name: String,
        /// The later one; the memory as it is now if not given
        to: Option<String>,
    },
    /// Forget a checkpoint; the memory itself does not change
    Rm {
        /// Its name
        name: String,
    },
}

#[derive(Serialize)]
struct Document<'a> {
    checkpoints: &'a [Checkpoint],
}

impl Checkpoints {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        match self.action {
            None => {
                let checkpoints = face.call(list, CheckpointListRequest::default())?;
                face.terminal.answer(&Document { checkpoints: &checkpoints }, |out| describe(face, &checkpoints, out))
            }
            Some(Action::Add { name }) => {
                let made = face.call(create, CheckpointRequest { name })?;
                face.terminal.answer(&made, |out| {
                    let name = paint(NAME, cell(&made.name));
                    out.push_str(&format!("Noted {name}: {}\n", sums(&made)));
                })
            }
            Some(Action::Diff { name, to }) => {
                let difference = face.call(diff, CheckpointDiffRequest { from: name, to })?;
                face.terminal.answer(&difference, |out| compare(&difference, out))
            }
            Some(Action::Rm { name }) => {
                let removed = face.call(remove, CheckpointRequest { name })?;
                face.terminal.answer(&removed, |out| {
                    out.push_str(&format!("Forgot {}\n", paint(NAME, cell(&removed.name))));
                })
            }
        }
    }
}

fn sums(checkpoint: &Checkpoint) -> String {
    format!(
        "{}, {} ({} different), {}",
        counted(checkpoint.sessions, "session"),
        counted(checkpoint.messages, "message"),
        count(checkpoint.unique_messages),
        bytes(checkpoint.bytes)
    )
}

fn describe(face: &Face, checkpoints: &[Checkpoint], out: &mut String) {
    if checkpoints.is_empty() {
        out.push_str("No checkpoints yet: `recollect checkpoints add NAME` makes one.\n");
        return;
    }
    let columns = [
        ("CHECKPOINT", Align::Left),
        ("MADE", Align::Left),
        ("SESSIONS", Align::Right),
        ("MESSAGES", Align::Right),
        ("DIFFERENT", Align::Right),
        ("SIZE", Align::Right),
    ];
    let rows = checkpoints.iter().map(|checkpoint| {
        vec![
            paint(NAME, cell(&checkpoint.name)),
            face.terminal.time(Some(checkpoint.created_at)),
            count(checkpoint.sessions),
            count(checkpoint.messages),
            count(checkpoint.unique_messages),
            bytes(checkpoint.bytes),
        ]
    });
    out.push_str(&table(&columns, rows.collect()));
}

fn compare(difference: &CheckpointDiff, out: &mut String) {
    let name = |checkpoint: &Checkpoint| match checkpoint.name.as_str() {
        "" => "Now".to_owned(),
        name => cell(name),
    };
    for state in [&difference.from, &difference.to] {
        out.push_str(&format!("{}: {}\n", paint(NAME, name(state)), sums(state)));
    }
    let held = |state: &SessionState| format!("{}, {}", counted(state.messages, "message"), bytes(state.bytes));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |what: String, state: &SessionState, how: String| {
        rows.push(vec![what, paint(NAME, &state.session_id), how, cell(&state.title)]);
    };
    for state in &difference.added {
        row(paint(GOOD, "added"), state, held(state));
    }
    for change in &difference.changed {
        let (before, after) = (&change.before, &change.after);
        let steps = [
            ("messages", before.messages, after.messages),
            ("keepits", before.keepits, after.keepits),
            ("versions", before.versions, after.versions),
        ];
        let steps: Vec<String> = steps
            .iter()
            .filter(|(_, before, after)| before != after)
            .map(|(what, before, after)| format!("{} → {} {what}", count(*before), count(*after)))
            .collect();
        let how = if steps.is_empty() {
            format!("{} → {}", bytes(before.bytes), bytes(after.bytes))
        } else {
            steps.join(", ")
        };
        row("changed".to_owned(), after, how);
    }
    for state in &difference.removed {
        row(paint(BAD, "removed"), state, held(state));
    }
    if rows.is_empty() {
        out.push_str("Nothing changed between them.\n");
        return;
    }
    let columns = [("WHAT", Align::Left), ("SESSION", Align::Left), ("HOW", Align::Left), ("TITLE", Align::Left)];
    out.push('\n');
    out.push_str(&table(&columns, rows));
}
