//! The Markdown record of a version: a head that says what it is and what is missing, then the conversation.

use super::SessionHead;
use super::assemble::Assembled;
use super::piece::one_line;
use super::settings::{Resolved, level_name};
use crate::api::compression::LeftOut;
use crate::time::Time;

/// What a head tells.
#[derive(Debug)]
pub(super) struct HeadFacts<'h> {
    pub(super) session: &'h SessionHead,
    pub(super) settings: &'h Resolved,
    pub(super) original_tokens: u64,
    pub(super) original_messages: u64,
    pub(super) output_messages: u64,
    pub(super) left_out: &'h [LeftOut],
}

/// How much a head says: as much as a small part of the budget allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HeadSize {
    /// Nothing: there is hardly room for a line.
    None,
    /// The title.
    Title,
    /// Title, day and ratio.
    Brief,
    /// Session, project, days, ratio, what was left out.
    Full,
}

impl HeadSize {
    /// From the most to the least.
    pub(super) const ALL: [Self; 4] = [Self::Full, Self::Brief, Self::Title, Self::None];
}

/// The head, followed by a blank line; empty for [`HeadSize::None`].
pub(super) fn head(facts: &HeadFacts<'_>, size: HeadSize) -> String {
    let session = facts.session;
    let ratio = ratio_words(facts.settings);
    match size {
        HeadSize::None => String::new(),
        HeadSize::Title => format!("# {}\n\n", one_line(&session.title, 40)),
        HeadSize::Brief => {
            let day = session.last.map_or(String::new(), |time| format!("{}, ", day(time)));
            format!("# {} ({day}{ratio})\n\n", one_line(&session.title, 60))
        }
        HeadSize::Full => {
            let mut head = format!("# {}\n\n", one_line(&session.title, 120));
            let mut facts_of: Vec<String> = vec![format!("Session {}", session.id)];
            if !session.project_path.is_empty() {
                facts_of.push(session.project_path.clone());
            }
            if let Some(branch) = &session.branch {
                facts_of.push(format!("branch {branch}"));
            }
            match (session.first, session.last) {
                (Some(first), Some(last)) if day(first) != day(last) => {
                    facts_of.push(format!("{} to {}", day(first), day(last)));
                }
                (Some(time), _) | (None, Some(time)) => facts_of.push(day(time)),
                (None, None) => {}
            }
            head.push_str(&facts_of.join(" · "));
            head.push_str(&format!(
                "  \nCompressed {ratio}: {} of {} messages, from {} tokens. User quoted, tools as items.",
                facts.output_messages, facts.original_messages, facts.original_tokens
            ));
            if !facts.left_out.is_empty() {
                let words: Vec<String> = facts
                    .left_out
                    .iter()
                    .map(|left| format!("{} messages {} ({} tokens)", left.messages, left.reason, left.tokens))
                    .collect();
                head.push_str(&format!("  \nLeft out: {}.", words.join(", ")));
            }
            head.push_str("\n\n");
            head
        }
    }
}

/// The heading of a stretch, followed by a blank line.
pub(super) fn tier_heading(first: u32, last: u32, ratio: f64, level: crate::api::keepit::Aggressiveness) -> String {
    format!("## Messages {}–{}, {}:1 {}\n\n", first + 1, last + 1, number(ratio), level_name(level))
}

/// The messages, joined: calls and outputs follow each other line by line.
pub(super) fn conversation<'a>(messages: impl Iterator<Item = &'a Assembled>) -> String {
    let mut text = String::new();
    let mut tight_before = false;
    for message in messages {
        if !text.is_empty() {
            text.push_str(if message.tight && tight_before { "\n" } else { "\n\n" });
        }
        text.push_str(&message.markdown);
        tight_before = ends_tight(&message.markdown);
    }
    text
}

fn ends_tight(markdown: &str) -> bool {
    let line = markdown.rsplit('\n').next().unwrap_or("");
    line.starts_with("- ") || line.starts_with("  ")
}

fn day(time: Time) -> String {
    time.to_string().chars().take(10).collect()
}

fn ratio_words(settings: &Resolved) -> String {
    let ratios: Vec<String> = settings.tiers.iter().map(|tier| number(tier.ratio)).collect();
    format!("{}:1", ratios.join(", "))
}

/// A ratio without needless zeros.
pub(super) fn number(ratio: f64) -> String {
    let text = format!("{ratio:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
