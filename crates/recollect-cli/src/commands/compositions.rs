//! `recollect compositions`.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use recollect_engine::api::composition::{
    Composition, CompositionDuplicateRequest, CompositionExportRequest, CompositionListRequest, CompositionNameRequest,
    CompositionRefreshRequest, CompositionRefreshed, ExportFormat, Grown, detail, duplicate, export, list, refresh,
    remove,
};
use recollect_engine::{Error, Result};
use serde::Serialize;

use super::compose::{describe, describe_preview};
use crate::arguments::choice;
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{count, counted};
use crate::output::{NAME, paint, text};

/// List the compositions; show, refresh, copy, export or delete one
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
    /// Make a composition anew where its sessions have grown
    Refresh {
        /// Its name or id
        name: String,
        /// Only show what would come out
        #[arg(long)]
        dry_run: bool,
    },
    /// Copy a composition under another name
    Duplicate {
        /// Its name or id
        name: String,
        /// Name of the copy
        new_name: String,
    },
    /// Write a composition as a text: Markdown, a session's lines, documents in XML tags, or a plain prompt
    Export {
        /// Its name or id
        name: String,
        /// Which text
        #[arg(long, value_name = "FORMAT", value_parser = choice::<ExportFormat>(&["markdown", "jsonl", "xml", "prompt"]))]
        format: ExportFormat,
        /// Write it into this file, which must not exist; to standard output if not given
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Write over the file if it exists
        #[arg(long, requires = "output")]
        force: bool,
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
                    for grown in &detail.composition.stale {
                        out.push_str(&format!("{} has grown: {}\n", text::line(&grown.title), news(grown)));
                    }
                    out.push('\n');
                    out.push_str(&text::lines(detail.markdown.trim_end()));
                    out.push('\n');
                })
            }
            Some(Action::Refresh { name, dry_run }) => {
                let refreshed = face.call(refresh, CompositionRefreshRequest { name, dry_run })?;
                face.terminal.answer(&refreshed, |out| describe_refreshed(&refreshed, out))
            }
            Some(Action::Duplicate { name, new_name }) => {
                let copy = face.call(duplicate, CompositionDuplicateRequest { name, new_name })?;
                face.terminal.answer(&copy, |out| {
                    out.push_str(&format!("Copied to {}\n", paint(NAME, cell(&copy.name))));
                    describe(&copy, out);
                })
            }
            Some(Action::Export { name, format, output, force }) => {
                write_export(face, CompositionExportRequest { name, format }, output, force)
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

/// What an export says with `--json`; the text is in the file when one was named.
#[derive(Serialize)]
struct Exported<'a> {
    name: &'a str,
    format: ExportFormat,
    tokens: u64,
    budget: u64,
    over: u64,
    media_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

fn write_export(face: &Face, request: CompositionExportRequest, output: Option<PathBuf>, force: bool) -> Result<()> {
    let exported = face.call(export, request)?;
    let file = match &output {
        Some(path) => {
            let mut options = fs_err::OpenOptions::new();
            options.write(true).create(true).truncate(true).create_new(!force);
            let mut file = options.open(path).map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => Error::conflict(format!("`{}` exists already", path.display()))
                    .hint("choose another name, or write over it with --force"),
                _ => error.into(),
            })?;
            file.write_all(exported.text.as_bytes())?;
            Some(super::absolute(path)?)
        }
        None => None,
    };
    if let Some(note) = &exported.note {
        face.terminal.note(note.clone());
    }
    let document = Exported {
        name: &exported.name,
        format: exported.format,
        tokens: exported.tokens,
        budget: exported.budget,
        over: exported.over,
        media_type: &exported.media_type,
        text: file.is_none().then_some(&*exported.text),
        file,
    };
    face.terminal.answer(&document, |out| match &document.file {
        Some(file) => out.push_str(&format!("{} tokens in {}\n", count(exported.tokens), text::line(file))),
        // A terminal obeys what a text may hold.
        None if std::io::stdout().is_terminal() => out.push_str(&text::lines(&exported.text)),
        None => out.push_str(&exported.text),
    })
}

fn describe_refreshed(refreshed: &CompositionRefreshed, out: &mut String) {
    if refreshed.grown.is_empty() {
        out.push_str("Nothing to refresh: none of its sessions has changed.\n");
    }
    for grown in &refreshed.grown {
        out.push_str(&format!("{}: {}\n", text::line(&grown.title), news(grown)));
    }
    if let Some(preview) = &refreshed.preview {
        out.push('\n');
        describe_preview(preview, out);
    } else if let Some(composition) = refreshed.composition.as_ref().filter(|_| !refreshed.grown.is_empty()) {
        out.push_str(&format!("\nRefreshed {}\n", paint(NAME, cell(&composition.name))));
        describe(composition, out);
    }
}

fn news(grown: &Grown) -> String {
    format!("{} and {} tokens more", counted(grown.new_messages, "message"), count(grown.new_tokens))
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
        ("GROWN", Align::Right),
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
            count(composition.stale.len() as u64),
            composition.project_id.to_string(),
        ]
    };
    out.push_str(&table(&columns, compositions.iter().map(row).collect()));
}
