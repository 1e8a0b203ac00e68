//! `recollect compose`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::composition::{
    Allocation, Component, ComponentRequest, Composition, CompositionFormat, CompositionPreview, CompositionRequest,
    Order, create, preview,
};
use recollect_engine::ids::CompositionId;
use serde::Serialize;

use super::window;
use crate::arguments::{Budget, budget, choice, tokens};
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{count, counted};
use crate::output::{CLOSE, NAME, paint, text};

/// Join sessions into a context of at most so many tokens
///
/// For each session a version that fits its share is taken, or made. `recollect resume NAME` starts Claude Code from it.
#[derive(Debug, Args)]
pub(crate) struct Compose {
    /// Name of the composition
    name: String,
    /// The most tokens that it may have: `16000`, `16k`, or a share of a model's window, `20%`
    #[arg(long, value_name = "N", value_parser = budget, allow_negative_numbers = true)]
    budget: Budget,
    /// The model whose window a share is of
    #[arg(long, value_name = "ID")]
    for_model: Option<String>,
    /// A session, in the order of the result; a version of it (`@v001`, `@original`, `@new`) and the tokens wished for
    /// it (`=4000`) may follow
    #[arg(long = "session", value_name = "ID[@V][=TOKENS]", required = true, value_parser = component)]
    components: Vec<ComponentRequest>,
    /// How the budget is shared where a session does not say
    #[arg(long, value_name = "HOW", value_parser = choice::<Allocation>(ALLOCATIONS))]
    allocation: Option<Allocation>,
    /// What the context is for: sessions that say more about it are given more
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Order the sessions by time, the oldest first
    #[arg(long)]
    by_time: bool,
    /// Which files to write
    #[arg(long, value_name = "FORMAT", value_parser = choice::<CompositionFormat>(&["markdown", "jsonl", "both"]))]
    format: Option<CompositionFormat>,
    /// Replace a composition of the same name
    #[arg(long)]
    replace: bool,
    /// Only show what would come out
    #[arg(long)]
    dry_run: bool,
}

/// Ways of sharing a budget.
const ALLOCATIONS: &[&str] = &["even", "by_length", "by_recency", "by_relevance", "manual"];

/// A preview with the fields of a composition.
#[derive(Serialize)]
struct DryRun<'a> {
    dry_run: bool,
    composition_id: Option<CompositionId>,
    name: &'a str,
    files: [String; 0],
    #[serde(flatten)]
    preview: &'a CompositionPreview,
}

impl Compose {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let request = CompositionRequest {
            name: self.name,
            budget: window::tokens(face, self.budget, self.for_model.as_deref())?,
            components: self.components,
            allocation: self.allocation,
            task: self.task,
            order: self.by_time.then_some(Order::ByTime),
            format: self.format,
            replace: self.replace,
        };
        if !self.dry_run {
            let composition = face.call(create, request)?;
            return face.terminal.answer(&composition, |out| {
                out.push_str(&format!("Composed {}\n", paint(NAME, cell(&composition.name))));
                describe(&composition, out);
            });
        }
        let preview = face.call(preview, request.clone())?;
        let document =
            DryRun { dry_run: true, composition_id: None, name: &request.name, files: [], preview: &preview };
        face.terminal.answer(&document, |out| describe_preview(&preview, out))
    }
}

/// A preview for a person.
pub(super) fn describe_preview(preview: &CompositionPreview, out: &mut String) {
    out.push_str("Would compose (nothing is written):\n");
    out.push_str(&components(&preview.components));
    out.push_str(&sum(preview.total_tokens, preview.budget, preview.total_messages));
    if preview.over > 0 {
        out.push_str(&paint(CLOSE, format!("{} tokens over the budget\n", count(preview.over))));
    }
}

/// Reads `ID[@V][=TOKENS]`.
fn component(text: &str) -> Result<ComponentRequest, String> {
    let (name, wished) = match text.rsplit_once('=') {
        Some((name, wished)) => (name, Some(tokens(wished)?)),
        None => (text, None),
    };
    let (session, version) = match name.rsplit_once('@') {
        Some((_, "")) => return Err("a version follows the `@`: `@v001`, `@original`, `@new`".to_owned()),
        Some((session, version)) => (session, Some(version.to_owned())),
        None => (name, None),
    };
    if session.is_empty() {
        return Err("a session comes first: ID, ID@v001, ID=4000 or ID@v001=4000".to_owned());
    }
    Ok(ComponentRequest { session: session.to_owned(), version, tokens: wished, settings: None })
}

/// A composition for a person.
pub(super) fn describe(composition: &Composition, out: &mut String) {
    out.push_str(&components(&composition.components));
    out.push_str(&sum(composition.total_tokens, composition.budget, composition.total_messages));
    for file in &composition.files {
        out.push_str(&format!("{}\n", text::line(file)));
    }
}

fn sum(tokens: u64, budget: u64, messages: u64) -> String {
    format!("\n{} of {} tokens, {}\n", count(tokens), count(budget), counted(messages, "message"))
}

fn components(components: &[Component]) -> String {
    let columns = [
        ("SESSION", Align::Left),
        ("VERSION", Align::Left),
        ("TOKENS", Align::Right),
        ("SHARE", Align::Right),
        ("OF", Align::Right),
        ("MESSAGES", Align::Right),
        ("KEEPITS", Align::Right),
        ("WHY", Align::Left),
    ];
    let row = |component: &Component| {
        vec![
            paint(NAME, &component.session_id),
            component.version_id.to_string(),
            count(component.token_contribution),
            count(component.share),
            count(component.original_tokens),
            count(component.messages),
            format!("{} of {}", component.keepits_kept, component.keepits_total),
            cell(&component.reason),
        ]
    };
    let mut shown = String::new();
    if components.iter().any(|component| component.share_reason != components[0].share_reason) {
        for component in components {
            shown.push_str(&format!("{}: {}\n", cell(&component.title), component.share_reason));
        }
        shown.push('\n');
    }
    shown.push_str(&table(&columns, components.iter().map(row).collect()));
    for component in components {
        if let Some(warning) = &component.warning {
            let fix = component.fix.as_ref().map_or_else(String::new, |fix| format!(" (use @{fix})"));
            let warning = format!("{}: {}{fix}", component.session_id, text::line(warning));
            shown.push_str(&format!("{}\n", paint(CLOSE, warning)));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::component;

    #[test]
    fn a_component_is_a_session_with_an_optional_version_and_share() {
        let read = |text| component(text).map(|component| (component.session, component.version, component.tokens));
        assert_eq!(read("abc"), Ok(("abc".to_owned(), None, None)));
        assert_eq!(read("abc~2@v001=4k"), Ok(("abc~2".to_owned(), Some("v001".to_owned()), Some(4000))));
        assert_eq!(read("latest=0"), Ok(("latest".to_owned(), None, Some(0))));
        for wrong in ["", "@v001", "abc@", "abc=", "abc=-1", "=5"] {
            assert!(read(wrong).is_err(), "`{wrong}` names no component");
        }
    }
}
