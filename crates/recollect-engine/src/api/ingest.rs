//! Registering transcripts (5.1).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Call;
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::session::Issue;
use crate::{registry, search, storage, versions};

/// Which transcripts to register.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
#[ts(export, optional_fields = nullable)]
pub struct IngestRequest {
    /// Files and folders; a folder is walked.
    pub paths: Vec<String>,
    /// Everything under the Claude home.
    pub all: bool,
    /// The newest conversation that is not yet in memory: a transcript under the Claude home, or an export in the folders of
    /// exports.
    pub latest: bool,
    /// What the client deletes soon and is not archived.
    pub expiring: bool,
    /// Put the sessions into this project instead of the one that their `cwd` names.
    pub project: Option<ProjectId>,
}

/// What became of a file or a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum IngestStatus {
    /// Not in memory before.
    New,
    /// In memory, and had grown or changed.
    Updated,
    /// In memory as it is.
    Unchanged,
    /// Could not be read; see `error`.
    Failed,
    /// Not a transcript; left alone.
    Skipped,
}

/// What was done, session by session and file by file.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct IngestReport {
    /// One for each session that the files belong to.
    pub sessions: Vec<IngestedSession>,
    /// One for each file that was looked at.
    pub files: Vec<IngestedFile>,
    /// The sums.
    pub totals: IngestTotals,
}

/// Why messages that were read are nothing new; the first cause that holds is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Repeats {
    /// Their whole file is kept already: a copy, a backup.
    pub file: u64,
    /// Their file begins as one that is kept: it has grown, or is the shorter copy.
    pub beginning: u64,
    /// The same record stands in another file: a fork, an edited copy.
    pub record: u64,
    /// The same reply stands elsewhere under another uuid: a resumed session repeats it.
    pub reply: u64,
    /// Another message says the same.
    pub text: u64,
    /// A memory that was imported had it.
    pub imported: u64,
}

impl std::ops::AddAssign for Repeats {
    fn add_assign(&mut self, other: Self) {
        self.file += other.file;
        self.beginning += other.beginning;
        self.record += other.record;
        self.reply += other.reply;
        self.text += other.text;
        self.imported += other.imported;
    }
}

impl std::ops::Add for Repeats {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

/// What ingesting did to a session.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct IngestedSession {
    /// The session; empty when a file failed before its session was known.
    pub session_id: SessionId,
    /// Its project.
    pub project_id: ProjectId,
    /// Its title.
    pub title: String,
    /// Format of its source: `claude-code`.
    pub format: String,
    /// Messages that it now has.
    pub messages: u64,
    /// Messages of this ingest whose content the memory did not have.
    pub new_unique: u64,
    /// Messages of this ingest whose content it had.
    pub duplicates: u64,
    /// Why these are duplicates.
    pub repeats: Repeats,
    /// Bytes of its files, sub-agents included.
    pub bytes: u64,
    /// Keepit markers that it now has.
    pub keepits: u64,
    /// What became of it.
    pub status: IngestStatus,
    /// Why it failed.
    pub error: Option<String>,
}

/// What ingesting did with a file.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct IngestedFile {
    /// Where it is.
    pub path: String,
    /// The session that it belongs to.
    pub session_id: Option<SessionId>,
    /// `main`, `agent` or `tool_result`.
    pub part: String,
    /// What became of it.
    pub status: IngestStatus,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Messages that were read.
    pub messages: u64,
    /// Of these, with content that the memory did not have.
    pub new_unique: u64,
    /// Why the others are nothing new.
    pub repeats: Repeats,
    /// Lines that copy messages of sub-agents as progress; they are kept with the file and count as no messages.
    pub agent_copies: u64,
    /// Facts in words, for the result sheet: "one more place remembered", "line 205 is cut off; kept as it is".
    pub note: Option<String>,
    /// Lines that were not understood; they are kept.
    pub issues: Vec<Issue>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Sums of an ingest.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct IngestTotals {
    /// Sessions touched.
    pub sessions: u64,
    /// Files looked at.
    pub files: u64,
    /// Messages of the sessions touched.
    pub messages: u64,
    /// Messages read whose content the memory did not have.
    pub new_unique: u64,
    /// Messages read whose content it had.
    pub duplicates: u64,
    /// Why these are duplicates.
    pub repeats: Repeats,
    /// Lines read that copy messages of sub-agents as progress.
    pub agent_copies: u64,
    /// Messages of different content that the memory has now.
    pub total_unique: u64,
    /// Bytes of the sessions' files.
    pub bytes: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes that the archive grew by.
    pub bytes_stored: u64,
    /// Keepit markers of the sessions touched.
    pub keepits: u64,
    /// Lines that were not understood.
    pub issues: u64,
    /// Sessions that were not in memory before.
    pub new: u64,
    /// Sessions that had grown or changed.
    pub updated: u64,
    /// Sessions as they were.
    pub unchanged: u64,
    /// Files that could not be read.
    pub failed: u64,
    /// Files that are not transcripts.
    pub skipped: u64,
}

impl IngestReport {
    /// Adds what a further ingest did.
    pub(crate) fn append(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.files.extend(other.files);
        self.totals.add(&other.totals);
    }
}

impl IngestTotals {
    fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.files += other.files;
        self.messages += other.messages;
        self.new_unique += other.new_unique;
        self.duplicates += other.duplicates;
        self.repeats += other.repeats;
        self.agent_copies += other.agent_copies;
        self.total_unique = self.total_unique.max(other.total_unique);
        self.bytes += other.bytes;
        self.bytes_read += other.bytes_read;
        self.bytes_stored += other.bytes_stored;
        self.keepits += other.keepits;
        self.issues += other.issues;
        self.new += other.new;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// Registers transcripts; what fails is reported for itself and all else goes on.
pub fn ingest(call: &Call<'_>, request: IngestRequest) -> Result<IngestReport> {
    let report = registry::ingest(call, &request)?;
    search::follow(call);
    // Nobody waits for what is tidied at leisure: what fails is tried again the next time.
    let _ = versions::tidy(call);
    let _ = storage::trim_cache(call.engine);
    Ok(report)
}
