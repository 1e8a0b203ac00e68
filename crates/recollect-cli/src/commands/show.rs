//! `recollect show`.

use std::collections::BTreeMap;

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::compression::{self, LeftOut, VersionMessage, VersionMessagesRequest};
use recollect_engine::api::session::{self, MessageListRequest, MessageView, SessionDetail, SessionRequest};
use recollect_engine::ids::SessionId;
use recollect_engine::sources::Format;
use serde::Serialize;

use crate::face::Face;
use crate::output::table::{cell, pairs};
use crate::output::units::{count, counted};
use crate::output::{FAINT, NAME, STRONG, paint, text};
use crate::output::{conversation, source};

/// Show the messages of a session, or of a version of it
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session: its id, a unique prefix of it, or `latest`
    session: String,
    /// Of this compression version; `original` is the session itself
    #[arg(long, value_name = "V", conflicts_with = "agent")]
    version: Option<String>,
    /// Of this sub-agent instead of the main conversation
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Index of the first message
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
    /// How many messages at most
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// Messages of a session.
#[derive(Serialize)]
struct Original {
    session_id: String,
    title: String,
    /// Format of its source.
    format: String,
    /// Of an export: the session whose transcript is preferred.
    paired_with: Option<SessionId>,
    /// Exports of it that are in memory.
    exports: Vec<SessionId>,
    messages: Vec<MessageView>,
    total: u64,
}

/// Messages of a version.
#[derive(Serialize)]
struct Compressed {
    session_id: String,
    version_id: String,
    title: String,
    messages: Vec<VersionMessage>,
    total: u64,
    /// How many messages of the source are not in it, by reason.
    left_out: BTreeMap<String, u64>,
    /// How many tokens these have, by reason.
    left_out_tokens: BTreeMap<String, u64>,
}

impl Show {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let detail = face.call(session::detail, SessionRequest { session: self.session.clone() })?;
        match self.version.clone().filter(|version| version != "original") {
            Some(version) => self.version(face, &detail, version),
            None => self.original(face, &detail),
        }
    }

    fn original(self, face: &Face, detail: &SessionDetail) -> Result<()> {
        let request = MessageListRequest {
            session: self.session,
            agent: self.agent,
            offset: self.offset,
            limit: self.limit,
            longest: None,
        };
        let is_main = request.agent.is_none();
        let page = face.call(session::messages, request)?;
        let document = Original {
            session_id: detail.summary.session_id.to_string(),
            title: detail.summary.title.clone(),
            format: detail.summary.format.clone(),
            paired_with: detail.summary.paired_with.clone(),
            exports: detail.exports.clone(),
            messages: page.messages,
            total: page.total,
        };
        face.terminal.answer(&document, |out| {
            if is_main {
                out.push_str(&heading(face, detail));
            }
            for message in &document.messages {
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(&conversation::message(&face.terminal, message));
            }
            out.push_str(&rest(document.messages.len(), document.total));
        })
    }

    fn version(self, face: &Face, detail: &SessionDetail, version: String) -> Result<()> {
        let request = VersionMessagesRequest {
            session: self.session,
            version: version.clone().into(),
            offset: self.offset,
            limit: self.limit,
        };
        let page = face.call(compression::messages, request)?;
        let sums = |figure: fn(&LeftOut) -> u64| {
            let mut sums = BTreeMap::new();
            for left_out in &page.left_out {
                *sums.entry(left_out.reason.clone()).or_default() += figure(left_out);
            }
            sums
        };
        let document = Compressed {
            session_id: detail.summary.session_id.to_string(),
            version_id: version,
            title: detail.summary.title.clone(),
            left_out: sums(|left_out| left_out.messages),
            left_out_tokens: sums(|left_out| left_out.tokens),
            messages: page.messages,
            total: page.total,
        };
        face.terminal.answer(&document, |out| {
            out.push_str(&heading(face, detail));
            for message in &document.messages {
                out.push('\n');
                out.push_str(&conversation::version_message(&face.terminal, message));
            }
            out.push_str(&rest(document.messages.len(), document.total));
            for (reason, messages) in &document.left_out {
                out.push_str(&format!("\nLeft out, {}: {}", text::line(reason), counted(*messages, "message")));
            }
            if !document.left_out.is_empty() {
                out.push('\n');
            }
        })
    }
}

fn heading(face: &Face, detail: &SessionDetail) -> String {
    let summary = &detail.summary;
    let when =
        format!("{} to {}", face.terminal.time(summary.first_timestamp), face.terminal.time(summary.last_timestamp));
    let size = format!("{}, {} tokens", counted(summary.messages, "message"), count(summary.tokens));
    let mut rows = vec![
        ("Session", paint(NAME, &summary.session_id)),
        ("Title", cell(&summary.title)),
        (
            "Project",
            if detail.project_path.is_empty() { cell(summary.project_id.as_str()) } else { cell(&detail.project_path) },
        ),
        ("When", when),
        ("Size", size),
    ];
    if summary.format != Format::ClaudeCode.as_str() {
        rows.push(("Source", source::sentence(&summary.format).to_owned()));
    }
    if let Some(transcript) = &summary.paired_with {
        rows.push(("Copy of", paint(NAME, transcript)));
    }
    if !detail.exports.is_empty() {
        let exports: Vec<_> = detail.exports.iter().map(|export| paint(NAME, export)).collect();
        rows.push(("Exports", exports.join(" ")));
    }
    if let Some(branch) = &summary.git_branch {
        rows.push(("Branch", cell(branch)));
    }
    if !detail.models.is_empty() {
        rows.push(("Models", cell(&detail.models.join(", "))));
    }
    if summary.keepits > 0 {
        rows.push(("Keepits", count(summary.keepits)));
    }
    let mut heading = pairs(&rows);
    for agent in &detail.agents {
        let size = counted(agent.messages, "message");
        heading.push_str(&format!(
            "{}  {}  {} ({size})\n",
            paint(STRONG, "Sub-agent"),
            paint(NAME, cell(&agent.agent_id)),
            cell(&agent.title)
        ));
    }
    for issue in detail.issues.iter().filter(|_| face.terminal.verbose) {
        heading.push_str(&format!("Line {}: {}\n", issue.line, text::line(&issue.message)));
    }
    if !face.terminal.verbose && !detail.issues.is_empty() {
        let lines = counted(detail.issues.len() as u64, "line");
        heading.push_str(&paint(FAINT, format!("{lines} not understood, but kept (--verbose says which)")));
        heading.push('\n');
    }
    heading
}

fn rest(shown: usize, total: u64) -> String {
    let shown = shown as u64;
    if shown >= total {
        return String::new();
    }
    format!("\n{}\n", paint(FAINT, format!("{} of {}", count(shown), counted(total, "message"))))
}
