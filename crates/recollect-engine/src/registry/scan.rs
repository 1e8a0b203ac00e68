//! Reads a file once: its bytes go to the archive, its lines become messages.

use std::io::{Read, Seek, SeekFrom};

use rayon::prelude::*;

use crate::archive::{Archive, Archiver, Chunk};
use crate::db::MessageRow;
use crate::dedup::ContentHash;
use crate::engine::Cancel;
use crate::error::Result;
use crate::keepit::of_message;
use crate::session::{Issue, Message};
use crate::sources::claude_code::{Fold, Reading, read};
use crate::sources::lines::{Batch, Line, LineBatches};
use crate::tokens::Counter;

/// From where to read a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Start {
    /// Pieces that are archived and stay as they are.
    pub kept: Vec<Chunk>,
    /// Where the first line to read begins.
    pub parsed_bytes: u64,
    /// What is known there.
    pub fold: Fold,
}

/// What reading a file gave.
#[derive(Debug)]
pub(super) struct Scan {
    /// All its pieces, kept ones too.
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
    /// Keepit markers in them.
    pub markers: Vec<FoundMarker>,
    /// Lines that were not understood, with where they begin.
    pub issues: Vec<(Issue, u64)>,
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
    text: String,
    tokens: u64,
    hash: [u8; 32],
}

/// Reads `file` from `start` to its end. Work is spread over the processor's cores a batch at a time.
pub(super) fn scan<R: Read + Seek>(
    mut file: R,
    start: Start,
    archive: &Archive,
    counter: &Counter,
    cancel: &Cancel,
    mut read_on: impl FnMut(u64),
) -> Result<Scan> {
    let chunks_from = start.kept.last().map_or(0, Chunk::end);
    let from = chunks_from.min(start.parsed_bytes);
    file.seek(SeekFrom::Start(from))?;
    let mut batches = LineBatches::new(file, from);
    let mut archiver = Archiver::new(archive, chunks_from);
    let mut scan = Scan {
        chunks: start.kept,
        chunks_from,
        read_from: start.parsed_bytes,
        bytes: from,
        parsed_bytes: start.parsed_bytes,
        fold_at_parsed: start.fold.clone(),
        fold: start.fold,
        messages: Vec::new(),
        markers: Vec::new(),
        issues: Vec::new(),
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
    scan.chunks.extend(archiver.finish()?);
    Ok(scan)
}

/// The part of a batch at and after a place in the file.
fn from_place(batch: &Batch, place: u64) -> &[u8] {
    let skip = usize::try_from(place.saturating_sub(batch.start)).unwrap_or(usize::MAX).min(batch.bytes.len());
    &batch.bytes[skip..]
}

fn parse<'b>(line: Line<'b>, number: u64, counter: &Counter) -> Parsed<'b> {
    let reading = read(line.bytes, number);
    let text =
        reading.record.as_ref().and_then(|record| record.message.as_ref()).map(Message::text).unwrap_or_default();
    let tokens = counter.count(&text);
    let hash = ContentHash::of(&text).0;
    Parsed { line, reading, text, tokens, hash }
}

impl Scan {
    /// Of a file that is as it was read.
    pub(super) fn nothing(chunks: Vec<Chunk>, bytes: u64, parsed_bytes: u64, fold: Fold) -> Self {
        Self {
            chunks,
            chunks_from: bytes,
            read_from: bytes,
            bytes,
            parsed_bytes,
            fold_at_parsed: fold.clone(),
            fold,
            messages: Vec::new(),
            markers: Vec::new(),
            issues: Vec::new(),
            understood: 1,
        }
    }

    /// Keeps only the bytes: the file holds no records, whatever its lines look like.
    pub(super) fn forget_records(&mut self) {
        self.messages.clear();
        self.markers.clear();
        self.issues.clear();
        let lines = self.fold.lines;
        self.fold = Fold { lines, ..Fold::default() };
        self.fold_at_parsed = self.fold.clone();
    }

    fn place(&mut self, parsed: Parsed<'_>) {
        if !parsed.line.terminated {
            // The last line may still be written to: reading goes on from its beginning.
            self.fold_at_parsed = self.fold.clone();
        }
        self.fold.lines += 1;
        if let Some(message) = parsed.reading.issue {
            let cut_off = !parsed.line.terminated && parsed.reading.record.is_none();
            let message = if cut_off { "is the last line and is cut off; kept as it is".to_owned() } else { message };
            self.issues.push((Issue { line: self.fold.lines, message }, parsed.line.start));
        }
        if let Some(mut record) = parsed.reading.record {
            self.understood += 1;
            self.fold.take(&mut record);
            if let Some(message) = &record.message {
                self.fold.count(message, parsed.tokens);
                self.messages.push(MessageRow {
                    position: message.index,
                    line_start: parsed.line.start,
                    line_bytes: parsed.line.bytes.len() as u64,
                    uuid: message.uuid.clone(),
                    role: message.role,
                    kind: message.kind,
                    timestamp: message.timestamp,
                    tokens: parsed.tokens,
                    hash: parsed.hash,
                    reply_id: message.reply_id.clone(),
                    agent_id: message.agent_id.clone(),
                    usage: record.usage,
                });
                self.markers.extend(find_markers(message, &parsed.text));
            }
        }
        if parsed.line.terminated {
            self.parsed_bytes = parsed.line.start + parsed.line.bytes.len() as u64 + 1;
            self.fold_at_parsed.clone_from(&self.fold);
        }
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
