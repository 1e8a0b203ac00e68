//! Writes records that Claude Code reads as a session of its own: every rule here was tried with the real client.
//!
//! - The chain of `parentUuid` is unbroken and the last record is an assistant's: after any other the client puts words of its own.
//! - Each record has a timestamp, each later than the one before: 2.0.76 takes the latest for the end of the conversation
//!   and the *first* of several equal ones, and then forgets the rest.
//! - Adjacent records of the assistant carry one `message.id`: the client sends them as one message, so that roles alternate.
//!   It joins adjacent records of the user itself.
//! - Text that is not the user's is marked (`isCompactSummary`, `isMeta`); the client sends it but does not show or count it as the user's.
//! - The model is `<synthetic>` and usage is zero, as in records that the client makes up: nothing was billed.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::session::Role;
use crate::time::Time;

/// What all records of a session share.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The session's id; uuids of records follow from it.
    pub session_id: Uuid,
    /// What the client shows for it in its list.
    pub title: &'a str,
    /// Folder in which the client runs.
    pub cwd: &'a str,
    /// Branch there.
    pub git_branch: &'a str,
    /// Version of the client that the records are written for.
    pub client_version: &'a str,
    /// No record is later: what the client adds comes after all of them.
    pub now: Time,
    /// Tokens of what the session stands for.
    pub tokens_before: u64,
}

/// Something said.
#[derive(Debug, Clone, PartialEq)]
pub struct Saying {
    /// By whom; what tools and the client said is given to the model as text of the user's side.
    pub role: Role,
    /// The words, not blank.
    pub text: String,
    /// When; that of the one before when it is not known.
    pub time: Option<Time>,
    /// Written on the record under `recollect`: where the words come from.
    pub origin: Value,
}

impl Saying {
    /// Words of a person, and not what a tool or a program put in.
    fn is_by_user(&self) -> bool {
        self.role == Role::User && self.origin.get("sources").is_some()
    }
}

/// The member of a record that says where its words come from; what the client or the user adds has none.
const ORIGIN: &str = "recollect";

/// Whether a record was written here, of a composition.
pub fn is_composed(record: &Map<String, Value>) -> bool {
    record.get(ORIGIN).is_some_and(|origin| origin.get("composition").is_some_and(Value::is_string))
}

/// What ends a session whose last words are not the assistant's.
pub const CLOSING: &str = "I have read this and go on from here.";

/// Whether the client passes over a text: blank, or its own word for nothing.
pub fn is_nothing(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text == "(no content)"
}

/// Adds what must stand after the last words, when they are not the assistant's.
pub fn close(sayings: &mut Vec<Saying>) {
    if sayings.last().is_none_or(|last| last.role != Role::Assistant) {
        let time = sayings.last().and_then(|last| last.time);
        let origin = sayings.first().map_or(Value::Null, |first| first.origin.clone());
        sayings.push(Saying { role: Role::Assistant, text: CLOSING.to_owned(), time, origin });
    }
}

/// The lines of a session that opens with `opening`, as after a compaction, and goes on with `sayings`, which end with
/// the assistant's (see [`close`]).
pub fn lines(frame: &Frame<'_>, opening: &Saying, sayings: &[Saying]) -> String {
    let uuids: Vec<String> = (0..sayings.len() + 2).map(|at| frame.uuid(at)).collect();
    let known: Vec<Option<Time>> =
        [None, opening.time].into_iter().chain(sayings.iter().map(|saying| saying.time)).collect();
    let times = moments(&known, frame.now);
    let leaf = uuids.last().map_or("", String::as_str);
    let mut lines = String::new();
    let mut push = |record: Value| {
        lines.push_str(&record.to_string());
        lines.push('\n');
    };
    push(json!({ "type": "summary", "summary": frame.title, "leafUuid": leaf }));
    push(json!({ "type": "custom-title", "customTitle": frame.title, "sessionId": frame.session_id.to_string() }));
    push(frame.boundary(&uuids[0], times[0]));
    let mut summary =
        frame.record("user", &uuids[1], Some(&uuids[0]), times[1], json!({ "role": "user", "content": opening.text }));
    summary.insert("isVisibleInTranscriptOnly".to_owned(), true.into());
    summary.insert("isCompactSummary".to_owned(), true.into());
    summary.insert(ORIGIN.to_owned(), opening.origin.clone());
    push(summary.into());
    // The place of the first record of the reply that is being written.
    let mut reply = None;
    for (at, saying) in sayings.iter().enumerate() {
        let (uuid, parent, time) = (&uuids[at + 2], Some(uuids[at + 1].as_str()), times[at + 2]);
        let mut record = if saying.role == Role::Assistant {
            let first = *reply.get_or_insert(at);
            frame.record("assistant", uuid, parent, time, frame.reply(first, &saying.text))
        } else {
            reply = None;
            frame.record("user", uuid, parent, time, json!({ "role": "user", "content": saying.text }))
        };
        if saying.role != Role::Assistant && !saying.is_by_user() {
            record.insert("isMeta".to_owned(), true.into());
        }
        record.insert(ORIGIN.to_owned(), saying.origin.clone());
        push(record.into());
    }
    lines
}

/// What is said in the lines of a session, as Markdown with a heading for each change of speaker.
pub fn as_markdown(lines: &str) -> String {
    let mut text = String::new();
    let mut before = "";
    for record in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let speaker = match record["type"].as_str() {
            Some("assistant") => "Assistant",
            // Headings of sessions and what opens them are nobody's words.
            Some("user") if record[ORIGIN].get("sources").is_none() => "",
            Some("user") if record["isMeta"] == true => "Tool",
            Some("user") => "User",
            _ => continue,
        };
        let content = &record["message"]["content"];
        let words = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if speaker != before && !speaker.is_empty() {
            text.push_str("### ");
            text.push_str(speaker);
            text.push_str("\n\n");
        }
        text.push_str(words);
        before = speaker;
    }
    text.push('\n');
    text
}

impl Frame<'_> {
    /// The uuid of a record, the same whenever the session is written again.
    fn uuid(&self, at: usize) -> String {
        Uuid::new_v5(&self.session_id, format!("record {at}").as_bytes()).to_string()
    }

    fn record(&self, kind: &str, uuid: &str, parent: Option<&str>, time: Time, message: Value) -> Map<String, Value> {
        let mut record = self.chained(kind, uuid, parent, time);
        record.insert("message".to_owned(), message);
        record
    }

    fn chained(&self, kind: &str, uuid: &str, parent: Option<&str>, time: Time) -> Map<String, Value> {
        let fields = [
            ("parentUuid", json!(parent)),
            ("isSidechain", json!(false)),
            ("userType", json!("external")),
            ("cwd", json!(self.cwd)),
            ("sessionId", json!(self.session_id.to_string())),
            ("version", json!(self.client_version)),
            ("gitBranch", json!(self.git_branch)),
            ("type", json!(kind)),
            ("uuid", json!(uuid)),
            ("timestamp", json!(time.to_string())),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn boundary(&self, uuid: &str, time: Time) -> Value {
        let mut record = self.chained("system", uuid, None, time);
        record.insert("subtype".to_owned(), "compact_boundary".into());
        record.insert("content".to_owned(), "Conversation compacted".into());
        record.insert("isMeta".to_owned(), false.into());
        record.insert("level".to_owned(), "info".into());
        record.insert("compactMetadata".to_owned(), json!({ "trigger": "manual", "preTokens": self.tokens_before }));
        record.into()
    }

    fn reply(&self, first: usize, text: &str) -> Value {
        let id = Uuid::new_v5(&self.session_id, format!("reply {first}").as_bytes());
        json!({
            "id": format!("msg_{}", id.simple()),
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{ "type": "text", "text": text }],
            "stop_reason": "end_turn",
            "stop_sequence": null,
            "usage": {
                "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            },
        })
    }
}

/// Strictly rising times, as near to the known ones as that allows, the last not after `now`.
fn moments(known: &[Option<Time>], now: Time) -> Vec<Time> {
    let mut before = known.iter().flatten().next().copied().unwrap_or(now).millis() - 1;
    let mut moments: Vec<i64> = Vec::with_capacity(known.len());
    for time in known {
        before = time.map_or(before, Time::millis).max(before + 1);
        moments.push(before);
    }
    let mut latest = now.millis();
    for moment in moments.iter_mut().rev() {
        *moment = (*moment).min(latest);
        latest -= 1;
    }
    moments.into_iter().map(Time::from_millis).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame() -> Frame<'static> {
        Frame {
            session_id: Uuid::from_u128(7),
            title: "feature-x",
            cwd: "/home/ada/app",
            git_branch: "main",
            client_version: "2.1.0",
            now: Time::from_millis(1_000_000),
            tokens_before: 10,
        }
    }

    fn saying(role: Role, text: &str) -> Saying {
        Saying { role, text: text.to_owned(), time: None, origin: json!({ "sources": [] }) }
    }

    fn records(sayings: &[Saying]) -> Vec<Value> {
        let opening = Saying { origin: json!({ "composition": "c" }), ..saying(Role::User, "what this is") };
        lines(&frame(), &opening, sayings).lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    }

    #[test]
    fn a_session_opens_as_after_a_compaction_and_ends_with_the_assistant() {
        let mut sayings = vec![saying(Role::User, "go"), saying(Role::Tool, "ok")];
        close(&mut sayings);
        close(&mut sayings);
        let records = records(&sayings);
        let kinds: Vec<_> = records.iter().map(|record| record["type"].as_str().unwrap_or_default()).collect();
        assert_eq!(kinds, ["summary", "custom-title", "system", "user", "user", "user", "assistant"]);
        assert_eq!(records[0]["leafUuid"], records[6]["uuid"], "the list's title names the end");
        assert_eq!(records[3]["isCompactSummary"], true);
        assert!(records[4].get("isMeta").is_none(), "the user said it");
        assert_eq!(records[5]["isMeta"], true, "a tool said it");
        assert_eq!(records[6]["message"]["content"][0]["text"], CLOSING);
        let mut parent = Value::Null;
        for record in &records[2..] {
            assert_eq!(record["parentUuid"], parent, "the chain is unbroken");
            assert_eq!(record["sessionId"], "00000000-0000-0000-0000-000000000007");
            parent = record["uuid"].clone();
        }
    }

    #[test]
    fn lines_can_be_read_as_markdown() {
        let opening = Saying { origin: json!({ "composition": "c" }), ..saying(Role::User, "what this is") };
        let heading = Saying { origin: json!({ "composition": "c" }), ..saying(Role::System, "## 1. One") };
        let said = [
            heading,
            saying(Role::User, "go"),
            saying(Role::Assistant, "a"),
            saying(Role::Assistant, "b"),
            saying(Role::Tool, "ok"),
        ];
        assert_eq!(
            as_markdown(&lines(&frame(), &opening, &said)),
            "what this is\n\n## 1. One\n\n### User\n\ngo\n\n### Assistant\n\na\n\nb\n\n### Tool\n\nok\n"
        );
    }

    #[test]
    fn records_of_one_reply_carry_one_id_and_no_others() {
        let records = records(&[
            saying(Role::Assistant, "a"),
            saying(Role::Assistant, "b"),
            saying(Role::User, "c"),
            saying(Role::Assistant, "d"),
        ]);
        let id = |at: usize| records[at]["message"]["id"].clone();
        assert_eq!(id(4), id(5));
        assert_ne!(id(5), id(7), "what the user said between ends a reply");
    }

    proptest! {
        #[test]
        fn times_rise_strictly_and_end_by_now(known in prop::collection::vec(prop::option::of(0_i64..2_000), 1..40), now in 100_i64..3_000) {
            let known: Vec<_> = known.into_iter().map(|time| time.map(Time::from_millis)).collect();
            let moments = moments(&known, Time::from_millis(now));
            prop_assert_eq!(moments.len(), known.len());
            prop_assert!(moments.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(moments.last().is_some_and(|last| last.millis() <= now));
        }
    }
}
