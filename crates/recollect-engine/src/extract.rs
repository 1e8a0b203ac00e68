//! What a session decided, did and touched (extraction pipeline of export-deduplication.md), told by records and their
//! structure: calls of tools, their results, lists of tasks, fenced code. No word of a language decides anything here.

use std::collections::BTreeMap;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::db::KeepitRow;
use crate::session::{Block, Message, MessageKind, Role};

/// What was taken out of a session; each entry names the message that it comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Extracted {
    /// Answers of the user to questions, plans that were approved, passages that were marked.
    pub decisions: Vec<Found>,
    /// Tasks and what became of them.
    pub tasks: Vec<TaskFound>,
    /// Files that were written or changed.
    pub code_changes: Vec<FileChanged>,
    /// Commits that were made.
    pub git_changes: Vec<Commit>,
    /// Code in replies.
    pub code_artifacts: Vec<CodeArtifact>,
    /// Files that were read or changed, by how often.
    pub files: BTreeMap<String, u32>,
    /// What failed.
    pub errors: Vec<Found>,
}

/// A text with the message that it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Found {
    /// Position of the message.
    pub index: u32,
    /// The text.
    pub text: String,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TaskFound {
    /// Position of the message that named it last.
    pub index: u32,
    /// What was to be done.
    pub text: String,
    /// `pending`, `in_progress`, `completed`, or as the record says.
    pub status: String,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FileChanged {
    /// Its path.
    pub path: String,
    /// How often.
    pub times: u32,
    /// Position of the last change.
    pub index: u32,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Commit {
    /// Position of the message that says so.
    pub index: u32,
    /// Its hash, as git shortened it.
    pub hash: String,
    /// Its branch.
    pub branch: String,
    /// The first line of its message.
    pub subject: String,
}

/// A block of code in a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CodeArtifact {
    /// Position of the message.
    pub index: u32,
    /// The language that the fence names.
    pub language: String,
    /// Lines.
    pub lines: u32,
    /// The code.
    pub code: String,
}

/// Characters of a text that are kept.
const LONGEST: usize = 600;

/// Takes out of a session what can be told by its structure.
pub fn extract(messages: &[Message], keepits: &[KeepitRow]) -> Extracted {
    let mut reader = Reader::default();
    for message in messages.iter().filter(|message| message.kind == MessageKind::Turn) {
        for block in &message.blocks {
            match block {
                Block::ToolUse { id, name, input } => reader.call(message.index, id, name, input),
                Block::ToolResult { tool_use_id, text, is_error } => {
                    reader.result(message.index, tool_use_id, text, *is_error);
                }
                Block::Text { text } if message.role == Role::Assistant => reader.prose(message.index, text),
                _ => {}
            }
        }
    }
    let marked = keepits.iter().map(|keepit| Found { index: keepit.message_index, text: cut(&keepit.content) });
    reader.extracted.decisions.extend(marked);
    reader.extracted.decisions.sort_by_key(|found| found.index);
    reader.extracted
}

#[derive(Default)]
struct Reader {
    extracted: Extracted,
    /// Calls whose results tell more: what they were.
    open: BTreeMap<String, Open>,
}

enum Open {
    /// A question to the user, or a plan.
    Ask {
        plan: Option<String>,
    },
    /// A task that gets its number with the result: its place in the list.
    Task(usize),
    Shell,
}

impl Reader {
    fn call(&mut self, index: u32, id: &str, name: &str, input: &Value) {
        let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or("");
        if let Some(todos) = input.get("todos").and_then(Value::as_array) {
            for todo in todos {
                let of = |key: &str| todo.get(key).and_then(Value::as_str).unwrap_or("");
                self.task(index, of("content"), of("status"));
            }
            return;
        }
        match name {
            "TaskCreate" => {
                self.task(index, text("subject"), "pending");
                let place = self.extracted.tasks.iter().position(|task| task.text == cut(text("subject")));
                self.open.extend(place.map(|place| (id.to_owned(), Open::Task(place))));
            }
            "TaskUpdate" => {
                let number = text("taskId");
                let place = self.open.get(&format!("task {number}"));
                if let (Some(Open::Task(place)), status) = (place, text("status"))
                    && let Some(task) = self.extracted.tasks.get_mut(*place)
                    && !status.is_empty()
                {
                    (task.index, task.status) = (index, status.to_owned());
                }
            }
            "AskUserQuestion" => {
                self.open.insert(id.to_owned(), Open::Ask { plan: None });
            }
            "ExitPlanMode" | "exit_plan_mode" => {
                self.open.insert(id.to_owned(), Open::Ask { plan: Some(cut(text("plan"))) });
            }
            _ if input.get("command").is_some_and(Value::is_string) => {
                self.open.insert(id.to_owned(), Open::Shell);
            }
            _ => self.file(index, input),
        }
    }

    fn file(&mut self, index: u32, input: &Value) {
        let path = ["file_path", "notebook_path"].iter().find_map(|key| input.get(key)?.as_str());
        let Some(path) = path.filter(|path| !path.is_empty()) else { return };
        *self.extracted.files.entry(path.to_owned()).or_default() += 1;
        let changes = ["content", "new_string", "edits", "new_source"].iter().any(|key| input.get(key).is_some());
        if !changes {
            return;
        }
        match self.extracted.code_changes.iter_mut().find(|change| change.path == path) {
            Some(change) => (change.times, change.index) = (change.times + 1, index),
            None => self.extracted.code_changes.push(FileChanged { path: path.to_owned(), times: 1, index }),
        }
    }

    fn result(&mut self, index: u32, id: &str, text: &str, is_error: bool) {
        if is_error {
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
            self.extracted.errors.push(Found { index, text: cut(first.trim()) });
        }
        match self.open.remove(id) {
            Some(Open::Shell) => self.extracted.git_changes.extend(text.lines().filter_map(|line| commit(index, line))),
            Some(Open::Ask { plan }) if !is_error => {
                let text = plan.filter(|plan| !plan.is_empty()).unwrap_or_else(|| cut(text.trim()));
                self.extracted.decisions.push(Found { index, text });
            }
            Some(Open::Task(place)) => {
                let number: String =
                    text.split('#').nth(1).unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
                self.open.insert(format!("task {number}"), Open::Task(place));
            }
            _ => {}
        }
    }

    fn task(&mut self, index: u32, text: &str, status: &str) {
        let text = cut(text.trim());
        if text.is_empty() {
            return;
        }
        let status = if status.is_empty() { "pending" } else { status }.to_owned();
        match self.extracted.tasks.iter_mut().find(|task| task.text == text) {
            Some(task) => (task.index, task.status) = (index, status),
            None => self.extracted.tasks.push(TaskFound { index, text, status }),
        }
    }

    /// Fenced code, and lists with check boxes.
    fn prose(&mut self, index: u32, markdown: &str) {
        let mut code: Option<(String, String)> = None;
        let mut item: Option<(bool, String)> = None;
        for event in Parser::new_ext(markdown, Options::ENABLE_TASKLISTS) {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    let language = language.split_whitespace().next().unwrap_or("").to_owned();
                    code = Some((language, String::new()));
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some((language, code)) = code.take() {
                        let lines = u32::try_from(code.lines().count()).unwrap_or(u32::MAX);
                        self.extracted.code_artifacts.push(CodeArtifact { index, language, lines, code });
                    }
                }
                Event::TaskListMarker(done) => item = Some((done, String::new())),
                Event::End(TagEnd::Item) => {
                    if let Some((done, text)) = item.take() {
                        self.task(index, &text, if done { "completed" } else { "pending" });
                    }
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some((_, code)) = &mut code {
                        code.push_str(&text);
                    } else if let Some((_, item)) = &mut item {
                        item.push_str(&text);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A line in which git says that it made a commit: `[main 1a2b3c4] subject`, `[main (root-commit) 1a2b3c4] subject`.
fn commit(index: u32, line: &str) -> Option<Commit> {
    let (inner, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = inner.rsplit_once(' ')?;
    let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let branch = branch.strip_suffix(" (root-commit)").unwrap_or(branch);
    (is_hash && !branch.is_empty() && !branch.contains(['[', ']']) && !subject.is_empty()).then(|| Commit {
        index,
        hash: hash.to_owned(),
        branch: branch.to_owned(),
        subject: subject.to_owned(),
    })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sources::claude_code::read;

    fn messages(records: &[Value]) -> Vec<Message> {
        let read = records.iter().enumerate().map(|(at, record)| {
            let mut message =
                read(record.to_string().as_bytes(), 1).record.and_then(|record| record.message).expect("a message");
            message.index = u32::try_from(at).expect("few");
            message
        });
        read.collect()
    }

    fn call(id: &str, name: &str, input: Value) -> Value {
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
    }

    fn result(id: &str, text: &str, is_error: bool) -> Value {
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}]}})
    }

    #[test]
    fn structure_tells_what_was_decided_done_and_touched() {
        let said = messages(&[
            call(
                "a",
                "TodoWrite",
                json!({"todos": [{"content": "write", "status": "pending"}, {"content": "test", "status": "pending"}]}),
            ),
            call("b", "Edit", json!({"file_path": "/p/a.rs", "old_string": "x", "new_string": "y"})),
            call("c", "Read", json!({"file_path": "/p/b.rs"})),
            call("d", "Bash", json!({"command": "git commit -m 'Fix it'"})),
            result("d", "[feature/login (root-commit) 1a2b3c4] Fix it\n 1 file changed", false),
            call("e", "AskUserQuestion", json!({"questions": []})),
            result("e", "\"Which?\"=\"That\"", false),
            call("f", "TodoWrite", json!({"todos": [{"content": "write", "status": "completed"}]})),
            call("g", "TaskCreate", json!({"subject": "ship"})),
            result("g", "Task #7 created successfully: ship", false),
            call("h", "TaskUpdate", json!({"taskId": "7", "status": "completed"})),
            call("i", "Bash", json!({"command": "exit 1"})),
            result("i", "\nError: no such file\nmore", true),
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "- [x] docs\n\n```rust\nfn a() {}\n```\n"}]}}),
        ]);
        let found = extract(&said, &[]);
        let tasks: Vec<_> = found.tasks.iter().map(|task| (task.text.as_str(), task.status.as_str())).collect();
        assert_eq!(tasks, [("write", "completed"), ("test", "pending"), ("ship", "completed"), ("docs", "completed")]);
        assert_eq!(found.code_changes, [FileChanged { path: "/p/a.rs".to_owned(), times: 1, index: 1 }]);
        assert_eq!(found.files.keys().collect::<Vec<_>>(), ["/p/a.rs", "/p/b.rs"]);
        assert_eq!(found.git_changes.len(), 1);
        assert_eq!(
            (found.git_changes[0].hash.as_str(), found.git_changes[0].branch.as_str()),
            ("1a2b3c4", "feature/login")
        );
        assert_eq!(found.decisions[0].text, "\"Which?\"=\"That\"");
        assert_eq!(found.errors, [Found { index: 12, text: "Error: no such file".to_owned() }]);
        assert_eq!((found.code_artifacts[0].language.as_str(), found.code_artifacts[0].lines), ("rust", 1));
    }

    #[test]
    fn only_what_git_writes_is_a_commit() {
        assert_eq!(commit(0, "[main 1a2b3c4] Fix").map(|commit| commit.subject), Some("Fix".to_owned()));
        for line in ["[INFO 2026] started", "[main xyz] no", "[1a2b3c4] x", "main 1a2b3c4"] {
            assert_eq!(commit(0, line), None, "{line}");
        }
    }
}
