//! Joins parts of a session that were compressed one by one: one record, with a heading that says how far each part reaches.

use uuid::Uuid;

use super::SessionHead;
use super::markdown::{self, HeadFacts, HeadSize};
use super::settings::Resolved;
use crate::api::compression::LeftOut;
use crate::ids::{SessionId, VersionId};
use crate::tokens::Counter;

/// A compressed part of a session.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    /// Index of the first message that it tells of.
    pub first: u32,
    /// Index of the last.
    pub last: u32,
    /// The version that it was made in; `None` for the one that is being made.
    pub made_in: Option<&'a VersionId>,
    /// How it was compressed, when not as the whole.
    pub differs: Option<&'a str>,
    /// Its Markdown without a head; may be empty.
    pub body: &'a str,
}

/// What is joined.
#[derive(Debug, Clone, Copy)]
pub struct Joining<'a> {
    /// The session, as the head tells it.
    pub session: &'a SessionHead,
    /// The settings of the whole.
    pub settings: &'a Resolved,
    /// Tokens of the session.
    pub original_tokens: u64,
    /// Messages of the session.
    pub original_messages: u64,
    /// Messages of the result.
    pub output_messages: u64,
    /// Tokens of all messages of the result.
    pub spoken: u64,
    /// What is not in it.
    pub left_out: &'a [LeftOut],
    /// The most tokens that the result may have.
    pub budget: u64,
    /// The parts, in order.
    pub sections: &'a [Section<'a>],
}

/// Parts as one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The record.
    pub markdown: String,
    /// Bytes of it before the first part's heading.
    pub head_bytes: usize,
    /// Where the body of each part stands in it: first byte, one past the last.
    pub bodies: Vec<(u64, u64)>,
    /// Tokens of the record, or of all messages where that is more.
    pub output_tokens: u64,
}

/// How much is said of where the parts reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Headings {
    /// The range, and where the part comes from.
    Full,
    /// The range.
    Range,
    /// Nothing: there is hardly room for the parts.
    None,
}

/// Joins parts, with as large a head and headings as the budget has room for; `None` when the parts alone are over it.
pub fn join(joining: &Joining<'_>, counter: Counter) -> Option<Joined> {
    let facts = HeadFacts {
        session: joining.session,
        settings: joining.settings,
        original_tokens: joining.original_tokens,
        original_messages: joining.original_messages,
        output_messages: joining.output_messages,
        left_out: joining.left_out,
    };
    let sizes = HeadSize::ALL.map(|size| (size, Headings::Full)).into_iter();
    for (size, headings) in sizes.chain([(HeadSize::None, Headings::Range), (HeadSize::None, Headings::None)]) {
        let head = markdown::head(&facts, size);
        if counter.count(&head) > joining.budget / 16 {
            continue;
        }
        let (markdown, bodies) = render(joining.sections, &head, headings);
        let output_tokens = counter.count(&markdown).max(joining.spoken);
        if output_tokens <= joining.budget {
            return Some(Joined { markdown, head_bytes: head.len(), bodies, output_tokens });
        }
    }
    None
}

fn render(sections: &[Section<'_>], head: &str, headings: Headings) -> (String, Vec<(u64, u64)>) {
    let mut markdown = head.to_owned();
    let mut bodies = Vec::with_capacity(sections.len());
    let mut is_first = true;
    for section in sections {
        let heading = heading(section, headings);
        if !heading.is_empty() || !section.body.is_empty() {
            if !std::mem::take(&mut is_first) {
                markdown.push_str("\n\n");
            }
            markdown.push_str(&heading);
            if !heading.is_empty() && !section.body.is_empty() {
                markdown.push_str("\n\n");
            }
        }
        let start = markdown.len() as u64;
        markdown.push_str(section.body);
        bodies.push((start, markdown.len() as u64));
    }
    markdown.push('\n');
    (markdown, bodies)
}

fn heading(section: &Section<'_>, headings: Headings) -> String {
    let range = format!("## Messages {}–{}", section.first + 1, section.last + 1);
    match headings {
        Headings::None => String::new(),
        Headings::Range => range,
        Headings::Full => {
            let origin = section.made_in.map_or("new".to_owned(), |version| format!("from {version}"));
            let differs = section.differs.map_or(String::new(), |how| format!(" · {how}"));
            format!("{range} · {origin}{differs}")
        }
    }
}

/// The uuid of a message of a version: the same whenever it is made again.
pub fn message_uuid(session: &SessionId, number: u32, sources: &[String], text: &str) -> String {
    let name = format!("{session}\n{number}\n{}\n{text}", sources.join(" "));
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::{resolve, uniform_within};

    fn joined(budget: u64, bodies: &[&str]) -> Option<Joined> {
        let session = SessionHead {
            id: "s".into(),
            title: "The login".to_owned(),
            project_path: "/p".to_owned(),
            branch: None,
            first: None,
            last: None,
        };
        let settings = uniform_within(10_000, 1_000).expect("settings");
        let settings = resolve(&settings, 1).expect("settings");
        let version = VersionId::from("v001");
        let sections: Vec<Section<'_>> = bodies
            .iter()
            .enumerate()
            .map(|(at, body)| Section {
                first: at as u32 * 10,
                last: at as u32 * 10 + 9,
                made_in: (at == 0).then_some(&version),
                differs: (at == 2).then_some("30:1"),
                body,
            })
            .collect();
        let joining = Joining {
            session: &session,
            settings: &settings,
            original_tokens: 10_000,
            original_messages: 30,
            output_messages: 3,
            spoken: 0,
            left_out: &[],
            budget,
            sections: &sections,
        };
        join(&joining, Counter::for_model("opus"))
    }

    #[test]
    fn each_part_says_how_far_it_reaches_and_where_it_comes_from() {
        let joined = joined(5_000, &["> First.", "", "> Third."]).expect("it fits");
        let (head, parts) = joined.markdown.split_at(joined.head_bytes);
        assert!(head.starts_with("# The login\n\nSession s"), "{head}");
        assert_eq!(
            parts,
            "## Messages 1–10 · from v001\n\n> First.\n\n## Messages 11–20 · new\n\n## Messages 21–30 · new · 30:1\n\n> Third.\n"
        );
        let bodies: Vec<&str> =
            joined.bodies.iter().map(|(from, to)| &joined.markdown[*from as usize..*to as usize]).collect();
        assert_eq!(bodies, ["> First.", "", "> Third."], "bodies stand where it is said");
    }

    #[test]
    fn less_room_means_less_around_the_parts_and_never_more_than_the_budget() {
        let bodies = ["> First words of it, and some more of them.", "> Other words, also with some more of them."];
        let counter = Counter::for_model("opus");
        let mut before = String::new();
        for budget in (1..200).rev() {
            match joined(budget, &bodies) {
                Some(joined) => {
                    assert!(counter.count(&joined.markdown) <= budget, "{budget} is the most");
                    assert!(bodies.iter().all(|body| joined.markdown.contains(body)), "the parts are whole");
                    before = joined.markdown;
                }
                None => break,
            }
        }
        assert_eq!(before, format!("{}\n\n{}\n", bodies[0], bodies[1]), "the least is the parts alone");
    }
}
