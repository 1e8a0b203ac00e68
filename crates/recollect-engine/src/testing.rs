//! Makes transcripts as the client writes them, for tests: always the same bytes for the same calls.
//!
//! ```
//! use recollect_engine::testing::Transcript;
//!
//! let transcript = Transcript::new("login")
//!     .user("Fix the login, please.")
//!     .tool("Bash", serde_json::json!({"command": "cargo test"}), "test result: ok")
//!     .assistant("Fixed. ##keepit0.80## Tokens expire after one hour.");
//! assert_eq!(transcript.bytes().iter().filter(|byte| **byte == b'\n').count(), 4);
//! ```

#[cfg(test)]
mod memory;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::Result;
use crate::home::sanitize;
use crate::time::Time;

#[cfg(test)]
pub(crate) use memory::{Memory, message};

const MODEL: &str = "claude-sonnet-4-5-20250929";
const FIRST_TIME: i64 = 1_768_903_200_000;
const STEP: i64 = 60_000;

/// A session's main file in the making, with its sub-agents.
#[derive(Debug, Clone)]
pub struct Transcript {
    session_id: String,
    cwd: String,
    branch: String,
    version: String,
    side_chain: Option<String>,
    next_time: i64,
    parent: Option<String>,
    records: u64,
    bytes: Vec<u8>,
    agents: Vec<(String, Value, Self)>,
    tool_results: Vec<(String, String)>,
}

impl Transcript {
    /// An empty transcript of the project `/home/dev/demo`; its session id follows from the name.
    pub fn new(name: &str) -> Self {
        Self::with_id(&Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()).to_string())
    }

    /// An empty transcript of a session with this id.
    pub fn with_id(session_id: &str) -> Self {
        Self {
            session_id: session_id.to_owned(),
            cwd: "/home/dev/demo".to_owned(),
            branch: "main".to_owned(),
            version: "2.1.100".to_owned(),
            side_chain: None,
            next_time: FIRST_TIME,
            parent: None,
            records: 0,
            bytes: Vec::new(),
            agents: Vec::new(),
            tool_results: Vec::new(),
        }
    }

    /// The working directory of what follows; the project is that of the first record.
    #[must_use]
    pub fn cwd(mut self, cwd: &str) -> Self {
        cwd.clone_into(&mut self.cwd);
        self
    }

    /// The git branch of what follows.
    #[must_use]
    pub fn branch(mut self, branch: &str) -> Self {
        branch.clone_into(&mut self.branch);
        self
    }

    /// The version of the client that writes what follows.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// Lets the next record be written so many days later.
    #[must_use]
    pub fn days_later(mut self, days: i64) -> Self {
        self.next_time += days * 24 * 3_600_000;
        self
    }

    /// What the person says.
    #[must_use]
    pub fn user(self, text: &str) -> Self {
        self.chained(json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    /// What the model answers.
    #[must_use]
    pub fn assistant(self, text: &str) -> Self {
        self.reply(json!({"type": "text", "text": text}))
    }

    /// What the model thinks; empty text is what the client keeps of it as a rule.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.reply(json!({"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"}))
    }

    /// A call of a tool and its result.
    #[must_use]
    pub fn tool(self, name: &str, input: Value, result: &str) -> Self {
        self.tool_call(name, input, json!(result), false)
    }

    /// A call of a tool that fails.
    #[must_use]
    pub fn failing_tool(self, name: &str, input: Value, result: &str) -> Self {
        self.tool_call(name, input, json!(result), true)
    }

    /// A call of a tool that returns a picture of one pixel.
    #[must_use]
    pub fn picture(self, path: &str) -> Self {
        let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        self.tool_call("Read", json!({"file_path": path}), json!([{"type": "image", "source": source}]), false)
    }

    /// A sub-agent: the call that starts it, its own file, and its report as the result.
    #[must_use]
    pub fn agent(mut self, id: &str, prompt: &str, work: impl FnOnce(Self) -> Self, report: &str) -> Self {
        let mut chain = Self::with_id(&self.session_id).cwd(&self.cwd).branch(&self.branch).version(&self.version);
        chain.side_chain = Some(id.to_owned());
        chain.next_time = self.next_time + STEP / 2;
        chain.records = 1000 * (self.agents.len() as u64 + 1);
        let meta = json!({"agentType": "general-purpose", "description": prompt});
        self.agents.push((id.to_owned(), meta, work(chain.user(prompt)).assistant(report)));
        let input = json!({"description": prompt, "prompt": prompt, "subagent_type": "general-purpose"});
        let result = json!([{"type": "text", "text": report}]);
        let extra =
            json!({"toolUseResult": {"status": "completed", "prompt": prompt, "agentId": id, "content": result}});
        let call_id = self.call_id();
        let call = json!({"type": "tool_use", "id": call_id, "name": "Task", "input": input});
        self.reply(call).chained(merged(tool_result(&call_id, &result, false), extra))
    }

    /// A large result of a tool that the client put into a file of its own.
    #[must_use]
    pub fn stored_result(mut self, file: &str, content: &str) -> Self {
        self.tool_results.push((file.to_owned(), content.to_owned()));
        let note = format!("<persisted-output>Output too large. Full output saved to: tool-results/{file}");
        self.tool("Bash", json!({"command": "cat large.log"}), &note)
    }

    /// The client compacts its context: a boundary and the summary that opens the new one.
    #[must_use]
    pub fn compaction(mut self, summary: &str) -> Self {
        let before = self.parent.take();
        let boundary = json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "level": "info",
            "logicalParentUuid": before, "compactMetadata": {"trigger": "auto", "preTokens": 155_000}
        });
        let summary = json!({
            "type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": summary}
        });
        self.chained(boundary).chained(summary)
    }

    /// Text that the client puts in for the model.
    #[must_use]
    pub fn meta(self, text: &str) -> Self {
        self.chained(json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": text}}))
    }

    /// The title that the client gives the session.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        let session_id = self.session_id.clone();
        self.line(&json!({"type": "ai-title", "aiTitle": title, "sessionId": session_id}).to_string())
    }

    /// A progress record, of which older clients wrote many.
    #[must_use]
    pub fn progress(self) -> Self {
        self.chained(
            json!({"type": "progress", "data": {"type": "bash_progress", "output": "", "elapsedTimeSeconds": 3}}),
        )
    }

    /// A snapshot record, which says nothing.
    #[must_use]
    pub fn snapshot(self) -> Self {
        let record = json!({
            "type": "file-history-snapshot", "messageId": "none", "isSnapshotUpdate": false,
            "snapshot": {"messageId": "none", "trackedFileBackups": {}, "timestamp": "2026-01-20T10:00:00.000Z"}
        });
        self.line(&record.to_string())
    }

    /// A line as it is given, with its line end.
    #[must_use]
    pub fn line(self, line: &str) -> Self {
        self.raw(line.as_bytes()).raw(b"\n")
    }

    /// Bytes as they are given.
    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// A torn line: only the tail of a record, as a client that was killed leaves it.
    #[must_use]
    pub fn torn(self) -> Self {
        self.line(r#"s","timestamp":"2026-01-20T10:00:00.000Z","uuid":"torn"}"#)
    }

    /// Takes the last line end away: the client is still writing.
    #[must_use]
    pub fn unfinished(mut self) -> Self {
        if self.bytes.last() == Some(&b'\n') {
            self.bytes.pop();
        }
        self
    }

    /// So many turns of plausible work on a subject: requests, calls with results, answers.
    #[must_use]
    pub fn work(mut self, subject: &str, turns: u32) -> Self {
        let mut words = Words::new(subject);
        for turn in 0..turns {
            let file = format!("src/{subject}/{}.rs", words.noun());
            self = self
                .user(&format!("{} Please look at {file} in step {turn}.", words.sentence()))
                .assistant(&words.paragraph(3))
                .tool("Read", json!({"file_path": file}), &words.listing(24));
            self = if turn % 5 == 4 {
                let error = format!("error[E0308]: mismatched types in `{}`\n{}", words.noun(), words.listing(6));
                self.failing_tool("Bash", json!({"command": format!("cargo test {subject}")}), &error)
            } else {
                let output = format!("{}\ntest result: ok. {} passed", words.listing(12), turn + 1);
                self.tool("Bash", json!({"command": format!("cargo test {subject} -- {turn}")}), &output)
            };
            self = self.assistant(&format!("Decision {turn} on {subject}: {}", words.paragraph(4)));
        }
        self
    }

    /// The session's id, which is the file's name.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The main file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the main file, its sub-agents and tool results into a Claude home, laid out as the client does; gives the
    /// main file's path.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn write(&self, claude_home: &Path) -> Result<PathBuf> {
        self.write_into(&claude_home.join("projects").join(sanitize(&self.cwd)))
    }

    /// The same, into a project's folder.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn write_into(&self, folder: &Path) -> Result<PathBuf> {
        let own = folder.join(&self.session_id);
        fs_err::create_dir_all(folder)?;
        let main = folder.join(format!("{}.jsonl", self.session_id));
        fs_err::write(&main, &self.bytes)?;
        for (id, meta, chain) in &self.agents {
            let agents = own.join("subagents");
            fs_err::create_dir_all(&agents)?;
            fs_err::write(agents.join(format!("agent-{id}.jsonl")), &chain.bytes)?;
            fs_err::write(agents.join(format!("agent-{id}.meta.json")), meta.to_string())?;
        }
        for (file, content) in &self.tool_results {
            let results = own.join("tool-results");
            fs_err::create_dir_all(&results)?;
            fs_err::write(results.join(file), content)?;
        }
        Ok(main)
    }

    fn tool_call(self, name: &str, input: Value, result: Value, is_error: bool) -> Self {
        let call_id = self.call_id();
        self.reply(json!({"type": "tool_use", "id": call_id, "name": name, "input": input}))
            .chained(merged(tool_result(&call_id, &result, is_error), json!({"toolUseResult": result})))
    }

    fn reply(self, block: Value) -> Self {
        let reply_id = format!("msg_{}", self.made_uuid("reply").simple());
        let usage =
            json!({"input_tokens": 12, "cache_read_input_tokens": 3000, "output_tokens": 40 + self.records % 7});
        self.chained(json!({
            "type": "assistant", "requestId": format!("req_{reply_id}"),
            "message": {"id": reply_id, "type": "message", "role": "assistant", "model": MODEL, "content": [block],
                        "stop_reason": null, "stop_sequence": null, "usage": usage}
        }))
    }

    fn chained(mut self, record: Value) -> Self {
        let uuid = self.made_uuid("record").to_string();
        let mut whole = json!({
            "parentUuid": self.parent, "isSidechain": self.side_chain.is_some(), "userType": "external",
            "cwd": self.cwd, "sessionId": self.session_id, "version": self.version, "gitBranch": self.branch,
        });
        if let Some(id) = &self.side_chain {
            whole = merged(whole, json!({"agentId": id}));
        }
        let time = Time::from_millis(self.next_time).to_string();
        whole = merged(merged(whole, record), json!({"uuid": uuid, "timestamp": time}));
        self.next_time += STEP;
        self.parent = Some(uuid);
        self.records += 1;
        self.line(&whole.to_string())
    }

    fn call_id(&self) -> String {
        format!("toolu_{}", self.made_uuid("call").simple())
    }

    fn made_uuid(&self, what: &str) -> Uuid {
        let agent = self.side_chain.as_deref().unwrap_or_default();
        let name = format!("{}/{agent}/{what}/{}", self.session_id, self.records);
        Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())
    }
}

fn tool_result(call_id: &str, content: &Value, is_error: bool) -> Value {
    let block = json!({"tool_use_id": call_id, "type": "tool_result", "content": content, "is_error": is_error});
    json!({"type": "user", "message": {"role": "user", "content": [block]}})
}

fn merged(mut record: Value, more: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (record.as_object_mut(), more) {
        fields.extend(more);
    }
    record
}

/// Sentences that differ, always the same ones for a subject.
struct Words {
    state: u64,
    subject: String,
}

const NOUNS: [&str; 32] = [
    "parser",
    "cache",
    "session",
    "token",
    "index",
    "schema",
    "router",
    "worker",
    "queue",
    "ledger",
    "scanner",
    "buffer",
    "registry",
    "gateway",
    "planner",
    "cursor",
    "archive",
    "watcher",
    "budget",
    "marker",
    "socket",
    "journal",
    "renderer",
    "snapshot",
    "migration",
    "fixture",
    "endpoint",
    "profile",
    "checksum",
    "manifest",
    "threshold",
    "window",
];
const VERBS: [&str; 16] = [
    "rejects",
    "splits",
    "retries",
    "drops",
    "merges",
    "validates",
    "reorders",
    "leaks",
    "blocks",
    "truncates",
    "escapes",
    "doubles",
    "rewrites",
    "skips",
    "flushes",
    "locks",
];
const REASONS: [&str; 16] = [
    "because the clock goes backwards",
    "when two writers meet",
    "after the third retry",
    "under heavy load",
    "when the file is empty",
    "because the header is missing",
    "as the tests expect",
    "unless the flag is set",
    "on every restart",
    "when the network is slow",
    "because nobody released it",
    "if the path has spaces",
    "while the migration runs",
    "since the last release",
    "when the list is long",
    "for all tenants",
];

impl Words {
    fn new(subject: &str) -> Self {
        // FNV-1a: any spread of the subject's letters will do.
        let spread = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self { state: subject.bytes().fold(0xcbf2_9ce4_8422_2325, spread), subject: subject.to_owned() }
    }

    fn next(&mut self) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 40).unwrap_or_default()
    }

    fn noun(&mut self) -> &'static str {
        NOUNS[self.next() % NOUNS.len()]
    }

    fn sentence(&mut self) -> String {
        let verb = VERBS[self.next() % VERBS.len()];
        let reason = REASONS[self.next() % REASONS.len()];
        let number = self.next() % 900 + 100;
        let (one, other) = (self.noun(), self.noun());
        format!("The {} {one} {verb} the {other} {number} {reason}.", self.subject)
    }

    fn paragraph(&mut self, sentences: usize) -> String {
        (0..sentences).map(|_| self.sentence()).collect::<Vec<_>>().join(" ")
    }

    fn listing(&mut self, lines: usize) -> String {
        let line = |number| format!("{number:>4}: let {}_{} = {}();", self.noun(), self.next() % 100, self.noun());
        (1..=lines).map(line).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::Transcript;

    #[test]
    fn the_same_calls_make_the_same_bytes() {
        let make = || Transcript::new("a").work("login", 3).compaction("So far so good.").title("Login");
        assert_eq!(make().bytes(), make().bytes());
        assert_ne!(make().bytes(), Transcript::new("b").work("login", 3).bytes());
    }

    #[test]
    fn records_are_chained_and_timed() {
        let transcript = Transcript::new("a").user("one").tool("Bash", Value::Null, "two").assistant("three");
        let records: Vec<Value> = transcript
            .bytes()
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        assert_eq!(records.len(), 4);
        for pair in records.windows(2) {
            assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"], "each record follows the one before it");
            assert!(pair[0]["timestamp"].as_str() < pair[1]["timestamp"].as_str());
        }
    }

    #[test]
    fn files_lie_as_the_client_lays_them() {
        let home = tempfile::tempdir().expect("a folder");
        let transcript =
            Transcript::new("a").agent("a1b2c3", "Look", |agent| agent, "Found").stored_result("x.txt", "long");
        let main = transcript.write(home.path()).expect("a written transcript");
        let own = main.with_extension("");
        for file in ["subagents/agent-a1b2c3.jsonl", "subagents/agent-a1b2c3.meta.json", "tool-results/x.txt"] {
            assert!(own.join(file).is_file(), "{file} is missing");
        }
        assert!(main.starts_with(home.path().join("projects/-home-dev-demo")));
    }
}
