//! `recollect suggest`.

use std::path::PathBuf;

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::composition::{ComponentRequest, Composition, CompositionRequest, Order, create};
use recollect_engine::api::suggest::{SuggestRequest, Suggestion, Suggestions, context};
use serde::Serialize;

use super::{absolute, compose, window};
use crate::arguments::{Budget, budget};
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{count, counted};
use crate::output::{NAME, paint};

/// Suggest sessions for what you are about to do
///
/// By the folder, files, topics and task: the sessions that would make a good context within the budget, each with its
/// reasons. `--compose NAME` makes a composition of them at once.
#[derive(Debug, Args)]
pub(crate) struct Suggest {
    /// Folder that is worked in [default: this one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// A file that is worked on, whole or below the folder; may be given several times
    #[arg(long = "file", value_name = "F")]
    files: Vec<String>,
    /// A topic; may be given several times
    #[arg(long = "topic", value_name = "T")]
    topics: Vec<String>,
    /// What is to be done, in any words
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The most tokens that all of them may have together: `16000`, `16k`, or a share of a model's window, `20%`
    #[arg(long, value_name = "N", value_parser = budget, allow_negative_numbers = true)]
    budget: Budget,
    /// The model whose window a share is of
    #[arg(long, value_name = "ID")]
    for_model: Option<String>,
    /// Sessions at most [default: 8]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Compose them under this name
    #[arg(long, value_name = "NAME")]
    compose: Option<String>,
    /// Replace a composition of the same name
    #[arg(long, requires = "compose")]
    replace: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    suggestions: &'a Suggestions,
    #[serde(skip_serializing_if = "Option::is_none")]
    composition: Option<&'a Composition>,
}

impl Suggest {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let budget = window::tokens(face, self.budget, self.for_model.as_deref())?;
        let folder = absolute(self.cwd.as_deref().unwrap_or(std::path::Path::new(".")))?;
        let request = SuggestRequest {
            folder: Some(folder),
            files: self.files,
            topics: self.topics,
            task: self.task.clone(),
            budget,
            limit: self.limit,
        };
        let found = face.call(context, request)?;
        let composition = match self.compose {
            Some(_) if found.suggestions.is_empty() => {
                face.terminal.note("Nothing was composed: there is nothing to suggest.".to_owned());
                None
            }
            Some(name) => {
                let component = |suggestion: &Suggestion| ComponentRequest {
                    session: suggestion.session_id.to_string(),
                    version: None,
                    tokens: Some(suggestion.suggested_tokens),
                    settings: None,
                };
                let request = CompositionRequest {
                    name,
                    budget,
                    components: found.suggestions.iter().map(component).collect(),
                    allocation: None,
                    task: self.task,
                    order: Some(Order::ByTime),
                    format: None,
                    replace: self.replace,
                };
                Some(face.call(create, request)?)
            }
            None => None,
        };
        let document = Document { suggestions: &found, composition: composition.as_ref() };
        face.terminal.answer(&document, |out| {
            describe(face, &found, out);
            if let Some(composition) = &composition {
                out.push_str(&format!("\nComposed {}\n", paint(NAME, cell(&composition.name))));
                compose::describe(composition, out);
            }
        })
    }
}

fn describe(face: &Face, found: &Suggestions, out: &mut String) {
    if found.suggestions.is_empty() {
        out.push_str(&format!("Nothing to suggest: {} looked at.\n", counted(found.considered, "session")));
        return;
    }
    let columns = [
        ("SCORE", Align::Right),
        ("SESSION", Align::Left),
        ("TITLE", Align::Left),
        ("LAST", Align::Left),
        ("TAKE", Align::Left),
        ("TOKENS", Align::Right),
        ("OF", Align::Right),
        ("WHY", Align::Left),
    ];
    let row = |suggestion: &Suggestion| {
        vec![
            format!("{:.2}", suggestion.score),
            paint(NAME, &suggestion.session_id),
            cell(&short(&suggestion.title)),
            face.terminal.time(suggestion.last_timestamp),
            suggestion.version_id.to_string(),
            count(suggestion.suggested_tokens),
            count(suggestion.original_tokens),
            cell(&suggestion.reasons.join(", ")),
        ]
    };
    out.push_str(&table(&columns, found.suggestions.iter().map(row).collect()));
    out.push_str(&format!("\n{} of {} tokens", count(found.total_tokens), count(found.budget)));
    if found.more > 0 {
        out.push_str(&format!(", {} more that fit the task less or have no room", counted(found.more, "session")));
    }
    out.push('\n');
}

/// A title as a column holds it.
fn short(title: &str) -> String {
    match title.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
        None => title.to_owned(),
    }
}

/// Characters of a title that are shown.
const LONGEST: usize = 50;
