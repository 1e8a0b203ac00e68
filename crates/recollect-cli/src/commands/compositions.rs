//! `recollect compositions`.

use clap::{Args, Subcommand};
use recollect_engine::Result;
use recollect_engine::api::composition::{
    Composition, CompositionListRequest, CompositionNameRequest, detail, list, remove,
};
use serde::Serialize;

use super::compose::describe;
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::count;
use crate::output::{NAME, paint, text};

/// List the compositions, show one, or delete one
#[derive(Debug, Args)]
pub(crate) struct Compositions {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show a composition: what it was made of, and its text
    Show {
        /// Its name or id
        name: String,
    },
    /// Delete a composition; its sessions and their versions stay
    Rm {
        /// Its name or id
        name: String,
    },
}

#[derive(Serialize)]
struct Document<'a> {
    compositions: &'a [Composition],
}

impl Compositions {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        match self.action {
            None => {
                let compositions = face.call(list, CompositionListRequest::default())?;
                face.terminal.answer(&Document { compositions: &compositions }, |out| {
                    describe_all(face, &compositions, out);
                })
            }
            Some(Action::Show { name }) => {
                let detail = face.call(detail, CompositionNameRequest { name })?;
                face.terminal.answer(&detail, |out| {
                    describe(&detail.composition, out);
                    out.push('\n');
                    out.push_str(&text::lines(detail.markdown.trim_end()));
                    out.push('\n');
                })
            }
            Some(Action::Rm { name }) => {
                let removed = face.call(remove, CompositionNameRequest { name })?;
                face.terminal.answer(&removed, |out| {
                    out.push_str(&format!("Deleted {}\n", paint(NAME, cell(&removed.name))));
                })
            }
        }
    }
}

fn describe_all(face: &Face, compositions: &[Composition], out: &mut String) {
    if compositions.is_empty() {
        out.push_str("No compositions yet: `recollect compose NAME --budget N --session ID…` makes one.\n");
        return;
    }
    let columns = [
        ("COMPOSITION", Align::Left),
        ("MADE", Align::Left),
        ("SESSIONS", Align::Right),
        ("TOKENS", Align::Right),
        ("BUDGET", Align::Right),
        ("MESSAGES", Align::Right),
        ("STARTED", Align::Right),
        ("PROJECT", Align::Left),
    ];
    let row = |composition: &Composition| {
        vec![
            paint(NAME, cell(&composition.name)),
            face.terminal.time(Some(composition.created_at)),
            count(composition.components.len() as u64),
            count(composition.total_tokens),
            count(composition.budget),
            count(composition.total_messages),
            count(composition.used_in_sessions.len() as u64),
            composition.project_id.to_string(),
        ]
    };
    out.push_str(&table(&columns, compositions.iter().map(row).collect()));
}
