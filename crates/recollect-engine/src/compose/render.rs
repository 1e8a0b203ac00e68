//! Renders a composition: as Markdown, and as what is said in a session that Claude Code resumes.

use serde_json::json;

use super::words::{days, grouped, listed, ratio_in_words};
use crate::api::compression::VersionMessage;
use crate::ids::SessionId;
use crate::line::one_line;
use crate::session::Role;
use crate::time::Time;
use crate::transcript::{self, Saying};

/// A composition as it is read.
#[derive(Debug, Clone)]
pub(super) struct Sheet<'a> {
    pub(super) name: &'a str,
    pub(super) composition_id: &'a str,
    /// Names of the projects that its sessions are of, each once.
    pub(super) projects: Vec<&'a str>,
    pub(super) extent: Extent,
    pub(super) sections: Vec<Section<'a>>,
    pub(super) manner: Manner,
}

/// How much of its sessions a composition holds, in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Of the sessions.
    pub(super) all: u64,
    /// Word for word.
    pub(super) whole: u64,
    /// In fewer words.
    pub(super) shortened: u64,
}

/// A component as it is read.
#[derive(Debug, Clone)]
pub(super) struct Section<'a> {
    pub(super) session_id: &'a SessionId,
    pub(super) title: &'a str,
    /// Its project, where the composition has several.
    pub(super) project: Option<&'a str>,
    pub(super) first: Option<Time>,
    pub(super) last: Option<Time>,
    pub(super) version: &'a str,
    /// Tokens of the original for one of the version; none for the original itself.
    pub(super) ratio: Option<f64>,
    pub(super) messages: Vec<&'a VersionMessage>,
}

/// How much headings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Manner {
    /// What this is, how to see more; title, days, version and session of each component.
    Full,
    /// In one line each: where the budget is small.
    Brief,
}

/// The most characters of a title in a heading.
const TITLE: usize = 100;

/// The whole as Markdown.
pub(super) fn markdown(sheet: &Sheet<'_>) -> String {
    let mut text = format!("# {}\n\n{}\n", sheet.name, preamble(sheet));
    for (order, section) in sheet.sections.iter().enumerate() {
        text.push_str("\n## ");
        text.push_str(&heading(section, order, sheet.manner));
        text.push('\n');
        let body = body(section.messages.iter().copied());
        if !body.is_empty() {
            text.push('\n');
            text.push_str(&body);
            text.push('\n');
        }
    }
    text
}

/// The messages of a component as Markdown, without its heading. What it takes of the budget is counted on this.
pub(super) fn body<'m>(messages: impl IntoIterator<Item = &'m VersionMessage>) -> String {
    let mut text = String::new();
    let mut before = None;
    for message in messages.into_iter().filter(|message| !transcript::is_nothing(&message.text)) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if before != Some(message.role) {
            text.push_str("### ");
            text.push_str(speaker(message.role));
            text.push_str("\n\n");
        }
        text.push_str(message.text.trim_end());
        before = Some(message.role);
    }
    text
}

/// What is said in a session that goes on from the composition: its opening, then the messages under the components' headings.
pub(super) fn sayings(sheet: &Sheet<'_>) -> (Saying, Vec<Saying>) {
    let first = sheet.sections.iter().find_map(|section| section.first);
    let opening = Saying {
        role: Role::User,
        text: preamble(sheet),
        time: first,
        origin: json!({ "composition": sheet.composition_id }),
    };
    let mut sayings = Vec::new();
    for (order, section) in sheet.sections.iter().enumerate() {
        let origin =
            json!({ "composition": sheet.composition_id, "session": section.session_id, "version": section.version });
        let heading = heading(section, order, sheet.manner);
        sayings.push(Saying {
            role: Role::System,
            text: format!("## {heading}"),
            time: section.first,
            origin: origin.clone(),
        });
        let mut before = None;
        for message in section.messages.iter().filter(|message| !transcript::is_nothing(&message.text)) {
            let mut origin = origin.clone();
            origin["sources"] = json!(message.sources);
            let words = message.text.trim_end();
            let text = match message.role {
                // Said on the user's side, so it is told who speaks.
                Role::Tool | Role::System if before != Some(message.role) => {
                    format!("{}:\n{words}", speaker(message.role))
                }
                _ => words.to_owned(),
            };
            before = Some(message.role);
            sayings.push(Saying { role: message.role, text, time: message.timestamp, origin });
        }
    }
    transcript::close(&mut sayings);
    (opening, sayings)
}

fn preamble(sheet: &Sheet<'_>) -> String {
    let count = sheet.sections.len();
    let sessions = if count == 1 { "an earlier session".to_owned() } else { format!("{count} earlier sessions") };
    let first = sheet.sections.iter().filter_map(|section| section.first).min();
    let last = sheet.sections.iter().filter_map(|section| section.last).max();
    let when = days(first, last).map(|days| format!(" ({days})")).unwrap_or_default();
    match sheet.manner {
        Manner::Brief => format!("Context from {sessions}{when}, shortened."),
        Manner::Full => {
            let projects = match sheet.projects.as_slice() {
                [] | [_] => String::new(),
                several => format!(" of the projects {}", listed(several)),
            };
            format!(
                "Context from {sessions}{projects}{when}, composed by Recollect as \"{}\": what was said, in order, a heading before each \
                 session. {} `recollect show SESSION` gives the whole of a session.",
                sheet.name,
                extent(&sheet.extent)
            )
        }
    }
}

/// What was left out, in a sentence.
fn extent(extent: &Extent) -> String {
    let Extent { all, whole, shortened } = *extent;
    let whole = format!("Of {} messages {} stand here word for word", grouped(all), grouped(whole));
    if shortened == 0 {
        return format!("{whole}.");
    }
    format!("{whole} and {} shortened; the rest is left out.", grouped(shortened))
}

fn heading(section: &Section<'_>, order: usize, manner: Manner) -> String {
    let title = one_line(section.title, TITLE);
    let number = order + 1;
    let when = days(section.first, section.last);
    let ratio = section.ratio.map(|ratio| format!(" {}", ratio_in_words(ratio))).unwrap_or_default();
    match manner {
        Manner::Brief => format!("{number}. {title}"),
        Manner::Full => {
            let mut facts: Vec<String> = when.into_iter().collect();
            facts.push(format!("{}{ratio}", section.version));
            facts.extend(section.project.map(|project| format!("project {}", one_line(project, TITLE))));
            facts.push(format!("session {}", short(section.session_id)));
            format!("{number}. {title}\n\n{}", facts.join(", "))
        }
    }
}

/// Who speaks, as a heading says it.
fn speaker(role: Role) -> &'static str {
    match role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
        Role::System => "Client",
    }
}

/// The beginning of an id that names the session as a rule, with the part that tells contents under one id apart.
fn short(session: &SessionId) -> &str {
    let id = session.as_str();
    let is_uuid = uuid::Uuid::try_parse(id).is_ok();
    if is_uuid { &id[..8] } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::compression::VersionMessageKind;

    fn message(role: Role, text: &str) -> VersionMessage {
        VersionMessage {
            index: 0,
            uuid: "m".to_owned(),
            role,
            kind: VersionMessageKind::Verbatim,
            timestamp: Time::parse("2026-01-15T10:00:00Z"),
            text: text.to_owned(),
            hash: String::new(),
            tokens: 1,
            sources: vec!["s".to_owned()],
            source_indexes: vec![0],
        }
    }

    fn sheet<'a>(
        session: &'a SessionId,
        version: &'a str,
        messages: Vec<&'a VersionMessage>,
        manner: Manner,
    ) -> Sheet<'a> {
        let section = Section {
            session_id: session,
            title: "Plan the  v2\nauth",
            project: None,
            first: Time::parse("2026-01-15T10:00:00Z"),
            last: Time::parse("2026-01-16T10:00:00Z"),
            version,
            ratio: Some(22.4),
            messages,
        };
        let extent = Extent { all: 1_204, whole: 3, shortened: 1 };
        Sheet { name: "auth", composition_id: "c", projects: vec!["app"], sections: vec![section], extent, manner }
    }

    #[test]
    fn markdown_has_a_heading_for_each_component_and_each_change_of_speaker() {
        let (session, version) = ("0f8fad5b-d9cb-469f-a165-70867728950e".into(), "v002");
        let messages = [
            message(Role::User, "go\n"),
            message(Role::Assistant, "one"),
            message(Role::Assistant, "two"),
            message(Role::Tool, "ok"),
            message(Role::User, " \n"),
        ];
        assert_eq!(
            markdown(&sheet(&session, version, messages.iter().collect(), Manner::Full)),
            "# auth\n\nContext from an earlier session (15 to 16 January 2026), composed by Recollect as \"auth\": what was said, in order, \
             a heading before each session. Of 1,204 messages 3 stand here word for word and 1 shortened; the rest is left out. `recollect show SESSION` gives the whole of a session.\n\n\
             ## 1. Plan the v2 auth\n\n15 to 16 January 2026, v002 22:1, session 0f8fad5b\n\n\
             ### User\n\ngo\n\n### Assistant\n\none\n\ntwo\n\n### Tool\n\nok\n"
        );
        let brief = markdown(&sheet(&session, version, Vec::new(), Manner::Brief));
        assert_eq!(
            brief,
            "# auth\n\nContext from an earlier session (15 to 16 January 2026), shortened.\n\n## 1. Plan the v2 auth\n"
        );
    }

    #[test]
    fn a_session_says_the_same_with_roles_and_ends_with_the_assistant() {
        let (session, version) = ("abc~2".into(), "original");
        let messages = [
            message(Role::User, "go"),
            message(Role::Assistant, "did"),
            message(Role::Tool, "ok"),
            message(Role::Tool, "more"),
        ];
        let (opening, sayings) = sayings(&sheet(&session, version, messages.iter().collect(), Manner::Full));
        assert!(opening.text.starts_with("Context from an earlier session"));
        let said: Vec<_> = sayings.iter().map(|saying| (saying.role, saying.text.as_str())).collect();
        assert_eq!(
            said[0],
            (Role::System, "## 1. Plan the v2 auth\n\n15 to 16 January 2026, original 22:1, session abc~2")
        );
        assert_eq!(
            said[1..],
            [
                (Role::User, "go"),
                (Role::Assistant, "did"),
                (Role::Tool, "Tool:\nok"),
                (Role::Tool, "more"),
                (Role::Assistant, transcript::CLOSING)
            ]
        );
        assert_eq!(sayings[1].origin["sources"][0], "s", "each line can be traced");
    }
}
