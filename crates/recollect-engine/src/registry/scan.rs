//! Reads a file once: its bytes go to the archive, its lines become messages.

use std::io::{Read, Seek, SeekFrom};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::archive::{Archiver, Chunk};
use crate::db::MessageRow;
use crate::dedup::ContentHash;
use crate::engine::Cancel;
use crate::error::Result;
use crate::keepit::of_message;
use crate::pairing;
use crate::session::{Issue, Message};
use crate::sources::claude_code::{AgentNote, Fold, Reading, Record, read};
use crate::sources::conversation::Placed;
use crate::sources::lines::{Batch, Line, LineBatches};
use crate::sources::{Format, read_whole};
use crate::tokens::Counter;

/// From where to read a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Start {
    /// The last of the pieces that are archived and stay as they are.
    pub kept: Option<Chunk>,
    /// Where the first line to read begins.
    pub parsed_bytes: u64,
    /// What is known there.
    pub fold: Fold,
}

/// What reading a file gave.
#[derive(Debug)]
pub(super) struct Scan {
    /// What the file is.
    pub format: Format,
    /// SHA-256 of its bytes, where it was read as a whole.
    pub content: Option<[u8; 32]>,
    /// Its pieces from `chunks_from` on.
    pub chunks: Vec<Chunk>,
    /// Where the first new piece begins.
    pub chunks_from: u64,
    /// Where the first line that was read begins.
    pub read_from: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Up to where whole lines were read.
    pub parsed_bytes: u64,
    /// What is known there: reading a grown file goes on from it.
    pub fold_at_parsed: Fold,
    /// What is known at the end, an unfinished last line included.
    pub fold: Fold,
    /// The messages that were read.
    pub messages: Vec<MessageRow>,
    /// What they say of calls of sub-agents, with where their lines begin.
    pub agent_notes: Vec<(AgentNote, u64)>,
    /// Keepit markers in them.
    pub markers: Vec<FoundMarker>,
    /// Lines that were not understood, with where they begin.
    pub issues: Vec<(Issue, u64)>,
    /// Lines that copy a sub-agent's messages, which older clients wrote into the transcript as progress.
    pub agent_copies: u64,
    /// Lines that were read as JSON.
    pub understood: u64,
}

/// A keepit marker in a message.
#[derive(Debug, Clone)]
pub(super) struct FoundMarker {
    pub message_uuid: String,
    pub message_index: u32,
    pub weight: u8,
    /// Characters of the message's text: where the marker begins, where its content ends.
    pub start: u64,
    pub end: u64,
    pub content: String,
    pub context: String,
}

/// A line that was read, with what is costly to make.
struct Parsed<'b> {
    line: Line<'b>,
    reading: Reading,
    figures: Figures,
}

/// What is made of a record's message.
struct Figures {
    text: String,
    tokens: u64,
    hash: [u8; 32],
    spoken: Option<i64>,
}

impl Figures {
    fn of(record: Option<&Record>, counter: &Counter) -> Self {
        let message = record.and_then(|record| record.message.as_ref());
        let text = message.map(Message::text).unwrap_or_default();
        Self {
            tokens: counter.count(&text),
            hash: ContentHash::of(&text).0,
            spoken: message.filter(|_| record.is_some_and(|record| !record.sidechain)).and_then(pairing::spoken),
            text,
        }
    }
}

/// Reads `file` from `start` to its end. Work is spread over the processor's cores a batch at a time.
pub(super) fn scan<R: Read + Seek>(
    mut file: R,
    start: Start,
    mut archiver: Archiver<'_, '_>,
    counter: &Counter,
    cancel: &Cancel,
    mut read_on: impl FnMut(u64),
) -> Result<Scan> {
    let chunks_from = start.kept.as_ref().map_or(0, Chunk::end);
    let from = chunks_from.min(start.parsed_bytes);
    file.seek(SeekFrom::Start(from))?;
    let mut batches = LineBatches::new(file, from);
    let mut scan = Scan {
        format: Format::ClaudeCode,
        content: None,
        chunks: Vec::new(),
        chunks_from,
        read_from: start.parsed_bytes,
        bytes: from,
        parsed_bytes: start.parsed_bytes,
        fold_at_parsed: start.fold.clone(),
        fold: start.fold,
        messages: Vec::new(),
        agent_notes: Vec::new(),
        markers: Vec::new(),
        issues: Vec::new(),
        agent_copies: 0,
        understood: 0,
    };
    while let Some(batch) = batches.next_batch()? {
        cancel.check()?;
        let end = batch.start + batch.bytes.len() as u64;
        let (archived, parsed) = rayon::join(
            || archiver.feed(from_place(&batch, chunks_from)),
            || {
                let first_line = scan.fold.lines + 1;
                let lines: Vec<Line<'_>> = batch.lines_from(scan.read_from);
                lines
                    .into_par_iter()
                    .enumerate()
                    .map(|(at, line)| parse(line, first_line + at as u64, counter))
                    .collect::<Vec<_>>()
            },
        );
        archived?;
        for line in parsed {
            scan.place(line);
        }
        scan.bytes = end;
        read_on(batch.bytes.len() as u64);
    }
    if scan.parsed_bytes == scan.bytes {
        scan.fold_at_parsed.clone_from(&scan.fold);
    }
    scan.chunks = archiver.finish(scan.fold.cwd.as_deref().unwrap_or_default())?;
    Ok(scan)
}

/// The part of a batch at and after a place in the file.
fn from_place(batch: &Batch, place: u64) -> &[u8] {
    let skip = usize::try_from(place.saturating_sub(batch.start)).unwrap_or(usize::MAX).min(batch.bytes.len());
    &batch.bytes[skip..]
}

fn parse<'b>(line: Line<'b>, number: u64, counter: &Counter) -> Parsed<'b> {
    let reading = read(line.bytes, number);
    let figures = Figures::of(reading.record.as_ref(), counter);
    Parsed { line, reading, figures }
}

/// Reads a conversation of a format that is read as a whole.
pub(super) fn scan_whole(
    bytes: &[u8],
    format: Format,
    mut archiver: Archiver<'_, '_>,
    counter: &Counter,
) -> Result<Scan> {
    let (archived, read) = rayon::join(
        || archiver.feed(bytes),
        || {
            let conversation = read_whole(format, bytes);
            let placed: Vec<(Placed, Figures)> = conversation
                .records
                .into_par_iter()
                .map(|placed| {
                    let figures = Figures::of(Some(&placed.record), counter);
                    (placed, figures)
                })
                .collect();
            (placed, conversation.issues)
        },
    );
    archived?;
    let (placed, issues) = read;
    let end = bytes.len() as u64;
    let content = Some(Sha256::digest(bytes).into());
    let mut scan =
        Scan { format, content, issues, read_from: 0, understood: 0, ..Scan::nothing(end, end, Fold::default()) };
    scan.fold.lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
    for (placed, figures) in placed {
        scan.message(placed.record, figures, placed.start, placed.bytes);
    }
    scan.understood = scan.messages.len() as u64;
    scan.fold_at_parsed.clone_from(&scan.fold);
    scan.chunks = archiver.finish(scan.fold.cwd.as_deref().unwrap_or_default())?;
    scan.chunks_from = 0;
    Ok(scan)
}

impl Scan {
    /// Of a file that is as it was read.
    pub(super) fn nothing(bytes: u64, parsed_bytes: u64, fold: Fold) -> Self {
        Self {
            format: Format::ClaudeCode,
            content: None,
            chunks: Vec::new(),
            chunks_from: bytes,
            read_from: bytes,
            bytes,
            parsed_bytes,
            fold_at_parsed: fold.clone(),
            fold,
            messages: Vec::new(),
            agent_notes: Vec::new(),
            markers: Vec::new(),
            issues: Vec::new(),
            agent_copies: 0,
            understood: 1,
        }
    }

    /// Keeps only the bytes: the file holds no records, whatever its lines look like.
    pub(super) fn forget_records(&mut self) {
        self.messages.clear();
        self.agent_notes.clear();
        self.markers.clear();
        self.issues.clear();
        let lines = self.fold.lines;
        self.fold = Fold { lines, ..Fold::default() };
        self.fold_at_parsed = self.fold.clone();
    }

    fn place(&mut self, parsed: Parsed<'_>) {
        if !parsed.line.terminated {
            // The last line may still be written to: reading goes on from its beginning.
            self.fold_at_parsed.clone_from(&self.fold);
        }
        self.fold.lines += 1;
        if let Some(message) = parsed.reading.issue {
            let cut_off = !parsed.line.terminated && parsed.reading.record.is_none();
            let message = if cut_off { "is the last line and is cut off; kept as it is".to_owned() } else { message };
            self.issues.push((Issue { line: self.fold.lines, message }, parsed.line.start));
        }
        if let Some(record) = parsed.reading.record {
            self.understood += 1;
            self.agent_copies += u64::from(record.record == "progress/agent_progress");
            self.message(record, parsed.figures, parsed.line.start, parsed.line.bytes.len() as u64);
        }
        if parsed.line.terminated {
            self.parsed_bytes = parsed.line.start + parsed.line.bytes.len() as u64 + 1;
        }
    }

    /// Takes a record in, and its message, which stands at a place in the file.
    fn message(&mut self, mut record: Record, figures: Figures, line_start: u64, line_bytes: u64) {
        let notes = self.fold.take(&mut record);
        self.agent_notes.extend(notes.into_iter().map(|note| (note, line_start)));
        let Some(message) = &record.message else { return };
        self.fold.count(message, figures.tokens);
        self.messages.push(MessageRow {
            position: message.index,
            line_start,
            line_bytes,
            uuid: message.uuid.clone(),
            role: message.role,
            kind: message.kind,
            timestamp: message.timestamp,
            tokens: figures.tokens,
            hash: figures.hash,
            reply_id: message.reply_id.clone(),
            agent_id: message.agent_id.clone(),
            usage: record.usage,
            spoken: figures.spoken,
        });
        self.markers.extend(find_markers(message, &figures.text));
    }

    /// What was said in it, for telling conversations apart.
    pub(super) fn spoken(&self) -> Vec<i64> {
        self.messages.iter().filter_map(|message| message.spoken).collect()
    }
}

/// Markers in a message of the main conversation, placed in its text.
pub(super) fn find_markers(message: &Message, text: &str) -> Vec<FoundMarker> {
    if message.agent_id.is_some() || !text.contains("##") {
        return Vec::new();
    }
    of_message(message)
        .into_iter()
        .map(|marker| FoundMarker {
            message_uuid: message.uuid.clone(),
            message_index: message.index,
            weight: marker.weight.hundredths(),
            start: marker.syntax.characters.start as u64,
            end: marker.content.characters.end as u64,
            content: text[marker.content.bytes.clone()].to_owned(),
            context: context(text, marker.syntax.bytes.start, marker.content.bytes.end),
        })
        .collect()
}

/// Some characters on either side of a passage, for display.
pub(super) fn context(text: &str, start: usize, end: usize) -> String {
    const AROUND: usize = 60;
    let from = text[..start].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let to = text[end..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| end + at);
    text[from..to].to_owned()
}
