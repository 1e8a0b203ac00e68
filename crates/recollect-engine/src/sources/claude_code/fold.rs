//! What the lines of a file, one after the other, make known about its session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::Record;
use crate::line::one_line;
use crate::session::{Block, Message, MessageKind, Role};
use crate::time::Time;

/// What is known after some lines; reading goes on from a stored one when the file has grown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fold {
    /// Lines read.
    pub lines: u64,
    /// Messages read, of side chains too.
    pub messages: u64,
    /// Tokens of the main conversation.
    pub tokens: u64,
    /// Earliest message.
    pub first_timestamp: Option<Time>,
    /// Latest message.
    pub last_timestamp: Option<Time>,
    /// The session ids that records name, in order of first sight.
    pub session_ids: Vec<String>,
    /// The sub-agent that all records are of.
    pub agent_id: Option<String>,
    /// The first working directory named.
    pub cwd: Option<String>,
    /// The last branch named.
    pub git_branch: Option<String>,
    /// Versions of the client, in order of first sight.
    pub client_versions: Vec<String>,
    /// Models, in order of first sight.
    pub models: Vec<String>,
    /// The last title that the user gave.
    pub custom_title: Option<String>,
    /// The last title that the client made.
    pub ai_title: Option<String>,
    /// The last summary that an older client made.
    pub summary: Option<String>,
    /// The first thing that the user asked, on one line.
    pub first_request: Option<String>,
    /// The beginning of the first message of a sub-agent's file: its task.
    pub task: Option<String>,
    /// Records that hold no message, by type.
    pub other_records: BTreeMap<String, u64>,
    /// A record of the main conversation was seen: side chains after it are sub-agents'.
    pub main_seen: bool,
}

/// What a message says of calls of sub-agents. Kept beside the fold, which stays as small in a long session as in a short one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentNote {
    /// A sub-agent was called.
    Called {
        /// The id of the call.
        call_id: String,
        /// What it was for, in a few words.
        description: String,
        /// The beginning of its task.
        task: String,
    },
    /// The result of a call names the sub-agent that ran.
    Reported {
        /// The id of the call.
        call_id: String,
        /// The sub-agent.
        agent_id: String,
    },
}

/// Characters of a task that are kept to recognise it.
const TASK: usize = 200;
/// Characters of a title.
const TITLE: usize = 120;
/// Distinct values that are kept of what a file may name without end.
const MANY: usize = 64;

impl Fold {
    /// Takes one more record in; its message gets its index, and its agent when it is on a side chain. Returns what it says of calls
    /// of sub-agents.
    pub fn take(&mut self, record: &mut Record) -> Vec<AgentNote> {
        push_new(&mut self.session_ids, record.session_id.as_deref());
        push_new(&mut self.client_versions, record.client_version.as_deref());
        if self.agent_id.is_none() {
            self.agent_id.clone_from(&record.agent_id);
        }
        if self.cwd.is_none() {
            self.cwd.clone_from(&record.cwd);
        }
        keep_last(&mut self.git_branch, &mut record.git_branch.clone());
        keep_last(&mut self.custom_title, &mut record.custom_title);
        keep_last(&mut self.ai_title, &mut record.ai_title);
        keep_last(&mut self.summary, &mut record.summary);
        let Some(message) = &mut record.message else {
            *self.other_records.entry(record.record.clone()).or_default() += 1;
            return Vec::new();
        };
        message.index = u32::try_from(self.messages).unwrap_or(u32::MAX);
        self.messages += 1;
        if record.sidechain && self.main_seen {
            message.agent_id = Some(record.agent_id.clone().unwrap_or_else(|| "sidechain".to_owned()));
        }
        self.main_seen |= !record.sidechain;
        if let Some(time) = message.timestamp {
            self.first_timestamp = Some(self.first_timestamp.map_or(time, |first| first.min(time)));
            self.last_timestamp = Some(self.last_timestamp.map_or(time, |last| last.max(time)));
        }
        if message.agent_id.is_some() {
            return Vec::new();
        }
        push_new(&mut self.models, message.model.as_deref().filter(|model| *model != "<synthetic>"));
        if self.first_request.is_none() {
            self.first_request = request_of(message);
        }
        if self.task.is_none() && message.role == Role::User {
            self.task = message.blocks.iter().find_map(|block| match block {
                Block::Text { text } => Some(cut(text.trim(), TASK)),
                _ => None,
            });
        }
        agent_notes(message, record.reported_agent.as_deref())
    }

    /// Counts the tokens of the message that was taken in last.
    pub fn count(&mut self, message: &Message, tokens: u64) {
        if message.agent_id.is_none() {
            self.tokens += tokens;
        }
    }

    /// The title: the user's, the client's, its summary, else the first request.
    pub fn title(&self) -> Option<String> {
        [&self.custom_title, &self.ai_title, &self.summary, &self.first_request]
            .into_iter()
            .flatten()
            .map(|title| one_line(title, TITLE))
            .find(|title| !title.is_empty())
    }
}

fn agent_notes(message: &Message, reported: Option<&str>) -> Vec<AgentNote> {
    let mut notes = Vec::new();
    for block in &message.blocks {
        match (block, reported) {
            (Block::ToolUse { id, name, input }, _) if name == "Task" || name == "Agent" => {
                let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or("");
                notes.push(AgentNote::Called {
                    call_id: id.clone(),
                    description: one_line(text("description"), TITLE),
                    task: cut(text("prompt").trim(), TASK),
                });
            }
            (Block::ToolResult { tool_use_id, .. }, Some(agent)) => {
                notes.push(AgentNote::Reported { call_id: tool_use_id.clone(), agent_id: agent.to_owned() });
            }
            _ => {}
        }
    }
    notes
}

/// What the user asked, on one line; the client's own wrappings are no request.
fn request_of(message: &Message) -> Option<String> {
    if message.role != Role::User || message.kind != MessageKind::Turn {
        return None;
    }
    message.blocks.iter().find_map(|block| {
        let Block::Text { text } = block else { return None };
        let text = text.trim();
        if let Some(command) = between(text, "<command-name>", "</command-name>") {
            let arguments = between(text, "<command-args>", "</command-args>").unwrap_or("");
            // A command that only steers the client asks for nothing.
            return (!arguments.trim().is_empty()).then(|| one_line(&format!("{command} {arguments}"), TITLE));
        }
        if text.starts_with('<') || text.starts_with("Caveat:") || text.starts_with("[Request interrupted") {
            return None;
        }
        let line = one_line(text, TITLE);
        (!line.is_empty()).then_some(line)
    })
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let from = text.find(open)? + open.len();
    let to = text[from..].find(close)? + from;
    Some(&text[from..to])
}

fn cut(text: &str, characters: usize) -> String {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end]).to_owned()
}

fn push_new(list: &mut Vec<String>, value: Option<&str>) {
    if let Some(value) = value
        && list.len() < MANY
        && !list.iter().any(|known| known == value)
    {
        list.push(value.to_owned());
    }
}

fn keep_last(slot: &mut Option<String>, value: &mut Option<String>) {
    if value.is_some() {
        *slot = value.take();
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn fold(lines: &[&str]) -> Fold {
        let mut fold = Fold::default();
        for (number, line) in lines.iter().enumerate() {
            let mut record = read(line.as_bytes(), number as u64 + 1).record.expect("a record");
            fold.take(&mut record);
        }
        fold
    }

    #[test]
    fn the_title_is_the_best_that_is_known() {
        let asked = r#"{"type":"user","uuid":"a","message":{"content":"Fix the\n  login"}}"#;
        let caveat =
            r#"{"type":"user","uuid":"c","message":{"content":"<local-command-stdout>x</local-command-stdout>"}}"#;
        let command = r#"{"type":"user","uuid":"d","message":{"content":"<command-name>/clear</command-name><command-args></command-args>"}}"#;
        let summary = r#"{"type":"summary","summary":"Login work"}"#;
        let ai = r#"{"type":"ai-title","aiTitle":"Fix login"}"#;
        let custom = r#"{"type":"custom-title","customTitle":"The login bug"}"#;
        assert_eq!(fold(&[caveat, command, asked]).title().as_deref(), Some("Fix the login"));
        assert_eq!(fold(&[asked, summary]).title().as_deref(), Some("Login work"));
        assert_eq!(fold(&[ai, summary, asked]).title().as_deref(), Some("Fix login"));
        assert_eq!(fold(&[custom, ai, summary, asked]).title().as_deref(), Some("The login bug"));
        assert_eq!(fold(&[summary]).messages, 0);
    }

    #[test]
    fn side_chains_in_a_main_file_are_told_apart_and_an_agent_file_is_its_own_conversation() {
        let main = r#"{"type":"user","uuid":"a","isSidechain":false,"message":{"content":"do it"}}"#;
        let side = r#"{"type":"user","uuid":"b","isSidechain":true,"message":{"content":"sub task"}}"#;
        let mut inline = Fold::default();
        let mut first = read(main.as_bytes(), 1).record.expect("a record");
        let mut second = read(side.as_bytes(), 2).record.expect("a record");
        inline.take(&mut first);
        inline.take(&mut second);
        assert_eq!(second.message.expect("a message").agent_id.as_deref(), Some("sidechain"));
        let mut alone = Fold::default();
        let mut only = read(side.as_bytes(), 1).record.expect("a record");
        alone.take(&mut only);
        assert_eq!(only.message.expect("a message").agent_id, None);
    }

    #[test]
    fn calls_of_sub_agents_and_what_their_results_name_are_noted() {
        let call = r#"{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Task","input":{"description":"look around","prompt":"Look around."}}]}}"#;
        let result = r#"{"type":"user","uuid":"b","toolUseResult":{"agentId":"ag1"},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}}"#;
        let unnamed = r#"{"type":"user","uuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}}"#;
        let notes = |line: &str| Fold::default().take(&mut read(line.as_bytes(), 1).record.expect("a record"));
        let [call_id, description, task] = ["t1", "look around", "Look around."].map(str::to_owned);
        assert_eq!(notes(call), [AgentNote::Called { call_id: call_id.clone(), description, task }]);
        assert_eq!(notes(result), [AgentNote::Reported { call_id, agent_id: "ag1".to_owned() }]);
        assert_eq!(notes(unnamed), [], "an older client names no agent");
    }
}
