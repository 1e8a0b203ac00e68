//! `history.jsonl` of the Claude home: what the user typed, of all sessions, those that the client deleted included.
//!
//! A session that is made of it holds only prompts (product decision 12).

use serde_json::{Map, Value};

use super::claude_code::Record;
use super::conversation::{Conversation, Placed, message};
use super::json;
use super::lines::Batch;
use crate::session::{Block, Issue, MessageKind, Role};
use crate::time::Time;

/// Something that the user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The session; older clients did not name it.
    pub session_id: Option<String>,
    /// The working directory.
    pub project: Option<String>,
    /// When.
    pub timestamp: Option<Time>,
    /// What, with what was pasted into it.
    pub text: String,
}

/// Whether the beginning of a file is that of a history: records with `display` and `project` or `timestamp`.
pub(super) fn is_history(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    line.and_then(|line| json::read_line(line).ok()).is_some_and(|read| {
        let Value::Object(object) = read.value else { return false };
        object.get("display").is_some_and(Value::is_string)
            && !object.contains_key("type")
            && (object.contains_key("project") || object.contains_key("timestamp"))
    })
}

/// Reads one line; the failure says in words what is wrong with it.
pub fn prompt(line: &[u8]) -> Result<Prompt, String> {
    let read = json::read_line(line)?;
    let Value::Object(object) = &read.value else { return Err("is JSON, but not a record; kept as it is".to_owned()) };
    let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(display) = text("display") else { return Err("names no prompt; kept as it is".to_owned()) };
    let timestamp = match object.get("timestamp") {
        Some(Value::Number(millis)) => millis.as_i64().map(Time::from_millis),
        Some(Value::String(time)) => Time::parse(time),
        _ => None,
    };
    Ok(Prompt {
        session_id: text("sessionId").map(str::to_owned),
        project: text("project").map(str::to_owned),
        timestamp,
        text: with_pasted(display, object),
    })
}

/// Puts what was pasted after what was typed, where the client only wrote `[Pasted text #1 +5 lines]`.
fn with_pasted(display: &str, object: &Map<String, Value>) -> String {
    let mut text = display.trim_end().to_owned();
    let Some(Value::Object(pasted)) = object.get("pastedContents") else { return text };
    for (number, paste) in pasted {
        if let Some(content) = paste.get("content").and_then(Value::as_str).filter(|content| !content.is_empty()) {
            text.push_str(&format!("\n\n[Pasted text #{number}]\n{content}"));
        }
    }
    text
}

/// Reads lines of one session.
pub(super) fn read(bytes: &[u8]) -> Conversation {
    let mut conversation = Conversation::default();
    let batch = Batch { bytes: bytes.to_vec(), start: 0 };
    let mut count = 0;
    for (at, line) in batch.lines().into_iter().enumerate().filter(|(_, line)| !line.bytes.trim_ascii().is_empty()) {
        let number = at as u64 + 1;
        let prompt = match prompt(line.bytes) {
            Ok(prompt) => prompt,
            Err(message) => {
                conversation.issues.push((Issue { line: number, message }, line.start));
                continue;
            }
        };
        let mut made = message(count, Role::User, MessageKind::Turn, vec![Block::Text { text: prompt.text }]);
        made.timestamp = prompt.timestamp;
        count += 1;
        conversation.records.push(Placed {
            record: Record {
                record: "prompt".to_owned(),
                session_id: prompt.session_id,
                cwd: prompt.project,
                message: Some(made),
                ..Record::default()
            },
            start: line.start,
            bytes: line.bytes.len() as u64,
            lines: number..number + 1,
        });
    }
    conversation
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prompts_carry_session_folder_time_and_what_was_pasted() {
        let line = br##"{"display":"fix [Pasted text #1 +2 lines]","pastedContents":{"1":{"id":1,"type":"text","content":"a\nb"}},"timestamp":1768903200000,"project":"/home/ada/app","sessionId":"s"}"##;
        assert!(is_history(line));
        let read = prompt(line).expect("a prompt");
        assert_eq!(read.text, "fix [Pasted text #1 +2 lines]\n\n[Pasted text #1]\na\nb");
        assert_eq!((read.session_id.as_deref(), read.project.as_deref()), (Some("s"), Some("/home/ada/app")));
        assert_eq!(read.timestamp, Some(Time::from_millis(1_768_903_200_000)));
        assert!(prompt(b"{\"display\":").is_err_and(|message| message.contains("cut off")));
        assert!(!is_history(br#"{"type":"user","display":"x","timestamp":1}"#), "a record of a transcript is none");
    }

    proptest! {
        #[test]
        fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            read(&bytes);
            is_history(&bytes);
        }
    }
}
