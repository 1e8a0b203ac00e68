//! Brings the index up to what the memory has: only what changed is read, and one program at a time does it.

use std::collections::HashMap;
use std::sync::Mutex;

use rayon::prelude::*;
use tantivy::indexer::{LogMergePolicy, UserOperation};
use tantivy::query::{BooleanQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{IndexWriter, TantivyDocument, TantivyError, Term};

use super::Kind;
use super::passages::{self, Passage};
use super::schema::{Entry, Facts, Fields};
use super::store::{self, OpenIndex, Payload, failed, locked};
use super::terms::Terms;
use crate::api::compression::{VersionMessageKind, VersionMessagesRequest};
use crate::db::{ChangedFile, ChangedSession};
use crate::engine::{Call, Engine};
use crate::error::Result;
use crate::event::{Event, Progress};
use crate::registry;
use crate::session::{Block, Message};
use crate::versions;

/// Bytes of a transcript that are read at once.
const BATCH: u64 = 8 << 20;

/// Bytes of text after which a commit is made: bounds memory, and what an interruption has to do again.
const COMMIT: usize = 48 << 20;

/// Messages from which on it is worth to let two threads write.
const MANY: u64 = 2_000;

/// Passages up to which all segments count as small, and how much larger, as a logarithm to two, those of one layer may be.
const SMALLEST_LAYER: u32 = 200;
const LAYER: f64 = 1.5;

/// Messages that one thread cuts before it looks for the next.
const AT_ONCE: usize = 16;

/// Messages before a file's new ones that are looked at for the calls that the new ones answer.
const LOOK_BACK: u64 = 16;

/// Whether the index lacks anything, or is not there.
pub(super) fn is_needed(engine: &Engine) -> Result<bool> {
    Ok(store::current(engine)?.is_none() || engine.db().read(|rows| rows.search_is_behind())?)
}

/// Brings the index up to date, unless another program is at it; tells whether anything was written.
pub(super) fn catch_up(call: &Call<'_>, purge: bool) -> Result<bool> {
    let mut wrote = false;
    if purge {
        // What was asked to be gone is gone when this returns: another writer is waited for.
        let lock = store::lock_waiting(call.engine)?;
        wrote |= Update::new(call, true)?.run()?;
        drop(lock);
    }
    // Who finds the lock taken leaves the work to its holder, who therefore looks again after letting go.
    for _ in 0..16 {
        if !is_needed(call.engine)? {
            break;
        }
        let Some(lock) = store::lock(call.engine)? else { break };
        wrote |= Update::new(call, false)?.run()?;
        drop(lock);
    }
    if wrote {
        let pending = call.engine.db().read(|rows| rows.search_backlog())?;
        call.engine.emit(Event::IndexChanged { pending });
    }
    Ok(wrote)
}

struct Update<'a> {
    call: &'a Call<'a>,
    index: std::sync::Arc<OpenIndex>,
    fields: Fields,
    /// The index may hold more than was noted.
    ahead: bool,
    /// What was deleted must be gone from the disk.
    purge: bool,
    writer: Option<IndexWriter>,
    /// What cuts texts into terms, when nobody uses it.
    terms: Mutex<Vec<Terms>>,
    commit: u64,
    /// Bytes of text since the last commit.
    text: usize,
    /// Since the last commit: files with the position up to which they are in, and whether that is all.
    files: Vec<(ChangedFile, u64, bool)>,
    sessions: Vec<ChangedSession>,
    done: u64,
    total: u64,
    wrote: bool,
}

impl<'a> Update<'a> {
    fn new(call: &'a Call<'a>, purge: bool) -> Result<Self> {
        let (index, ahead) = store::usable(call.engine)?;
        let commit = index.payload()?.map_or(0, |payload| payload.commit);
        Ok(Self {
            call,
            fields: index.fields,
            index,
            ahead,
            purge,
            writer: None,
            terms: Mutex::default(),
            commit,
            text: 0,
            files: Vec::new(),
            sessions: Vec::new(),
            done: 0,
            total: 0,
            wrote: false,
        })
    }

    fn run(mut self) -> Result<bool> {
        let (files, sessions) =
            self.call.engine.db().read(|rows| Ok((rows.changed_files()?, rows.changed_sessions()?)))?;
        self.total = files.iter().map(|file| file.messages.unwrap_or(0).saturating_sub(file.indexed)).sum();
        for file in files {
            self.file(file)?;
        }
        for session in sessions {
            self.call.cancel.check()?;
            self.session(&session)?;
            self.sessions.push(session);
            self.commit_when(self.text >= COMMIT)?;
        }
        self.commit_when(true)?;
        if self.purge {
            self.writer()?;
        }
        if let Some(writer) = self.writer.take() {
            if self.purge {
                return drop_deleted(writer, &self.index).map(|()| true);
            }
            writer.wait_merging_threads().map_err(failed)?;
        }
        Ok(self.wrote)
    }

    fn writer(&mut self) -> Result<&IndexWriter> {
        if self.writer.is_none() {
            let (threads, bytes) = match self.total {
                0..MANY => (1, 15 << 20),
                _ => (2, 96 << 20),
            };
            let writer = self.index.index.writer_with_num_threads(threads, bytes).map_err(failed)?;
            writer.set_merge_policy(Box::new(merges()));
            self.writer = Some(writer);
        }
        self.wrote = true;
        self.writer.as_ref().ok_or_else(|| failed(TantivyError::SystemError("there is no writer".to_owned())))
    }

    fn file(&mut self, file: ChangedFile) -> Result<()> {
        if file.stale || self.ahead || file.messages.is_none() {
            let query = self.from(file.file_id, file.indexed);
            self.writer()?.delete_query(query).map_err(failed)?;
        }
        let Some(messages) = file.messages else {
            self.files.push((file, 0, true));
            return Ok(());
        };
        let mut paths = HashMap::new();
        if file.indexed > 0 && file.indexed < messages {
            let from = file.indexed.saturating_sub(LOOK_BACK);
            let (before, _) = registry::stored_messages(self.call.engine, file.file_id, from, BATCH)?;
            note_paths(before.iter().filter(|message| u64::from(message.index) < file.indexed), &mut paths);
        }
        let mut from = file.indexed;
        while from < messages {
            self.call.cancel.check()?;
            let (batch, next) = registry::stored_messages(self.call.engine, file.file_id, from, BATCH)?;
            if next <= from {
                break;
            }
            note_paths(batch.iter(), &mut paths);
            self.add(file.file_id, &batch, &paths)?;
            self.done += next - from;
            from = next;
            self.tell();
            if self.text >= COMMIT && from < messages {
                self.files.push((file.clone(), from, false));
                self.commit_when(true)?;
            }
        }
        self.files.push((file, from, true));
        self.commit_when(self.text >= COMMIT)
    }

    fn add(&mut self, file: i64, batch: &[Message], paths: &HashMap<String, String>) -> Result<()> {
        let fields = self.fields;
        let path_of = |id: &str| paths.get(id).cloned();
        let pool = &self.terms;
        let made: Vec<(usize, Vec<TantivyDocument>)> = batch
            .par_chunks(AT_ONCE)
            .map(|messages| {
                let mut terms = locked(pool).pop().unwrap_or_default();
                let (mut bytes, mut documents) = (0, Vec::new());
                for message in messages {
                    for passage in passages::passages(message, &path_of) {
                        bytes += passage.text.len();
                        documents.push(document(&fields, file, message, &passage, &mut terms));
                    }
                }
                locked(pool).push(terms);
                (bytes, documents)
            })
            .collect();
        self.text += made.iter().map(|(bytes, _)| bytes).sum::<usize>();
        // One batch goes into one segment in its order: neighbours in the conversation are neighbours there.
        let operations: Vec<_> =
            made.into_iter().flat_map(|(_, documents)| documents).map(UserOperation::Add).collect();
        self.write(operations)
    }

    /// Hands documents to the writer; one that has stopped is asked why.
    fn write(&mut self, operations: Vec<UserOperation<TantivyDocument>>) -> Result<()> {
        let Err(stopped) = self.writer()?.run(operations) else { return Ok(()) };
        let reason = self.writer.take().and_then(|mut writer| writer.prepare_commit().err());
        Err(failed(reason.unwrap_or(stopped)))
    }

    /// Titles, keepits and versions of a session.
    fn session(&mut self, session: &ChangedSession) -> Result<()> {
        let id = session.session_id.as_str();
        let (row, file, keepits, versions) = self.call.engine.db().read(|rows| {
            let files = rows.files(&session.session_id)?;
            let file = files.first().map(|file| file.file_id);
            Ok((
                rows.session(&session.session_id)?,
                file,
                rows.keepits(&session.session_id)?,
                rows.versions(&session.session_id)?,
            ))
        })?;
        let fields = self.fields;
        let mut terms = locked(&self.terms).pop().unwrap_or_default();
        let mut documents = Vec::new();
        if session.changes > 0 {
            self.writer()?.delete_term(Term::from_field_text(fields.session, id));
        }
        if session.version_changes > 0 {
            self.writer()?.delete_term(Term::from_field_text(fields.versions, id));
        }
        let (Some(row), Some(file)) = (row, file) else { return Ok(()) };
        if session.changes > 0 {
            let title = row.user_title.as_ref().unwrap_or(&row.title);
            let facts = Facts { kind: Kind::Session, role: None, weight: 0, index: 0 };
            let mut document =
                fields.document(&Entry { file, position: None, time: None, facts, body: title, uuid: id }, &mut terms);
            document.add_text(fields.session, id);
            documents.push(document);
            for keepit in keepits {
                let message =
                    self.call.engine.db().read(|rows| rows.messages(file, keepit.message_index.into(), Some(1)))?;
                let message = message.first().filter(|message| message.position == keepit.message_index);
                let facts = Facts {
                    kind: Kind::Keepit,
                    role: message.map(|message| message.role),
                    weight: keepit.weight,
                    index: keepit.message_index,
                };
                let time = message.and_then(|message| message.timestamp).map(crate::time::Time::millis);
                let uuid = &keepit.message_uuid;
                let mut document = fields
                    .document(&Entry { file, position: None, time, facts, body: &keepit.content, uuid }, &mut terms);
                document.add_text(fields.session, id);
                document.add_text(fields.name, keepit.marker_id.as_str());
                documents.push(document);
            }
        }
        if session.version_changes > 0 {
            for version in versions {
                let request = VersionMessagesRequest {
                    session: id.to_owned(),
                    version: version.version_id.clone(),
                    offset: None,
                    limit: None,
                };
                // A version whose file is damaged is mended elsewhere; the rest can be searched.
                let Ok(page) = versions::messages(self.call.engine, &request) else { continue };
                for message in &page.messages {
                    // What a version has word for word is found in the original.
                    if !matches!(message.kind, VersionMessageKind::Summary | VersionMessageKind::Elided) {
                        continue;
                    }
                    let facts = Facts {
                        kind: Kind::Version,
                        role: Some(message.role),
                        weight: 0,
                        index: message.source_indexes.first().copied().unwrap_or(0),
                    };
                    let time = message.timestamp.map(crate::time::Time::millis);
                    let uuid = message.sources.first().map_or("", String::as_str);
                    for body in passages::cut(&message.text) {
                        let body = body.as_str();
                        let mut document =
                            fields.document(&Entry { file, position: None, time, facts, body, uuid }, &mut terms);
                        document.add_text(fields.versions, id);
                        document.add_text(fields.name, version.version_id.as_str());
                        documents.push(document);
                    }
                }
            }
        }
        locked(&self.terms).push(terms);
        self.write(documents.into_iter().map(UserOperation::Add).collect())
    }

    /// All messages of a file from a position on.
    fn from(&self, file: i64, position: u64) -> Box<dyn Query> {
        let file = Term::from_field_u64(self.fields.file, file.unsigned_abs());
        let file: Box<dyn Query> = Box::new(TermQuery::new(file, IndexRecordOption::Basic));
        let first = std::ops::Bound::Included(Term::from_field_u64(self.fields.position, position));
        let after: Box<dyn Query> = Box::new(RangeQuery::new(first, std::ops::Bound::Unbounded));
        Box::new(BooleanQuery::new(vec![(Occur::Must, file), (Occur::Must, after)]))
    }

    fn commit_when(&mut self, due: bool) -> Result<()> {
        if !due || (self.files.is_empty() && self.sessions.is_empty()) {
            return Ok(());
        }
        if let Some(writer) = &mut self.writer {
            self.commit += 1;
            let mut prepared = writer.prepare_commit().map_err(failed)?;
            prepared.set_payload(&serde_json::to_string(&Payload { commit: self.commit })?);
            prepared.commit().map_err(failed)?;
        }
        let (files, sessions) = (std::mem::take(&mut self.files), std::mem::take(&mut self.sessions));
        self.text = 0;
        self.call.engine.db().write(|rows| {
            for (file, indexed, all) in &files {
                rows.file_was_indexed(file, *indexed, *all)?;
            }
            for session in &sessions {
                rows.session_was_indexed(session)?;
            }
            store::note_commit(rows, self.commit)
        })
    }

    fn tell(&self) {
        (self.call.progress)(Progress {
            done: self.done.min(self.total),
            total: self.total,
            unit: "messages".to_owned(),
            stage: "making them searchable".to_owned(),
        });
    }
}

/// Which segments are joined: those of about the same size, so that a line that is appended rewrites some of the lines before
/// it and not thousands of passages.
fn merges() -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_layer_size(SMALLEST_LAYER);
    policy.set_level_log_size(LAYER);
    policy
}

/// The document of a passage.
fn document(fields: &Fields, file: i64, message: &Message, passage: &Passage, terms: &mut Terms) -> TantivyDocument {
    let facts = Facts { kind: passage.kind, role: Some(message.role), weight: 0, index: 0 };
    let time = message.timestamp.map(crate::time::Time::millis);
    let (body, uuid) = (passage.text.as_str(), message.uuid.as_str());
    let mut document = fields.document(&Entry { file, position: Some(message.index), time, facts, body, uuid }, terms);
    for path in &passage.files {
        document.add_text(fields.paths, terms.of_path(path));
    }
    if let Some(call) = &passage.starts {
        document.add_text(fields.call, call);
    }
    document
}

/// Remembers which files calls are about.
fn note_paths<'m>(messages: impl Iterator<Item = &'m Message>, paths: &mut HashMap<String, String>) {
    for block in messages.flat_map(|message| &message.blocks) {
        if let Block::ToolUse { id, input, .. } = block
            && let Some(path) = passages::paths(input).into_iter().next()
        {
            paths.insert(id.clone(), path);
        }
    }
}

/// Writes the segments anew that hold deleted documents, and deletes their files.
fn drop_deleted(writer: IndexWriter, index: &OpenIndex) -> Result<()> {
    // Merges that are under way may be of these very segments.
    writer.wait_merging_threads().map_err(failed)?;
    let mut writer: IndexWriter = index.index.writer_with_num_threads(1, 15 << 20).map_err(failed)?;
    let metas = index.index.searchable_segment_metas().map_err(failed)?;
    for meta in metas.iter().filter(|meta| meta.has_deletes()) {
        writer.merge(&[meta.id()]).wait().map_err(failed)?;
    }
    writer.garbage_collect_files().wait().map_err(failed)?;
    writer.wait_merging_threads().map_err(failed)
}
