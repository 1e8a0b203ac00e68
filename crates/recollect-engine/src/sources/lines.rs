//! Cuts a stream into lines in batches of whole lines, so that memory holds a batch and not the file.

use std::io::Read;

/// Bytes after which a batch is handed on; a longer line makes a longer batch.
pub const BATCH: usize = 4 << 20;

/// Reads whole lines in batches.
pub struct LineBatches<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where `buffer` begins in the stream.
    start: u64,
    ended: bool,
}

/// Some whole lines of a stream.
pub struct Batch {
    /// Their bytes, line feeds included.
    pub bytes: Vec<u8>,
    /// Where they begin in the stream.
    pub start: u64,
}

/// A line in a batch.
#[derive(Debug, Clone, Copy)]
pub struct Line<'b> {
    /// Its bytes, without the line feed.
    pub bytes: &'b [u8],
    /// Where it begins in the stream.
    pub start: u64,
    /// It ends with a line feed; the last of a file may not.
    pub terminated: bool,
}

impl<R: Read> LineBatches<R> {
    /// Reads from a stream whose first byte stands at `start`.
    pub fn new(reader: R, start: u64) -> Self {
        Self { reader, buffer: Vec::new(), start, ended: false }
    }

    /// The next batch; `None` at the end of the stream.
    pub fn next_batch(&mut self) -> std::io::Result<Option<Batch>> {
        let mut searched = 0;
        while !self.ended {
            if self.buffer.len() >= BATCH
                && let Some(end) = memchr::memrchr(b'\n', &self.buffer[searched..])
            {
                return Ok(Some(self.take(searched + end + 1)));
            }
            if self.buffer.len() >= BATCH {
                searched = self.buffer.len();
            }
            let room = BATCH.max(self.buffer.len() / 2) as u64;
            let read = self.reader.by_ref().take(room).read_to_end(&mut self.buffer)?;
            self.ended = (read as u64) < room;
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        let all = self.buffer.len();
        Ok(Some(self.take(all)))
    }

    fn take(&mut self, end: usize) -> Batch {
        let rest = self.buffer.split_off(end);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let start = self.start;
        self.start += bytes.len() as u64;
        Batch { bytes, start }
    }
}

impl Batch {
    /// Its lines, in order; empty ones too.
    pub fn lines(&self) -> Vec<Line<'_>> {
        self.lines_from(self.start)
    }

    /// Its lines from the one that begins at `place` in the stream; none when that is beyond the batch.
    pub fn lines_from(&self, place: u64) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        let mut from = usize::try_from(place.saturating_sub(self.start)).unwrap_or(usize::MAX).min(self.bytes.len());
        let base = from;
        for end in memchr::memchr_iter(b'\n', &self.bytes[base..]) {
            let end = base + end;
            lines.push(Line { bytes: &self.bytes[from..end], start: self.start + from as u64, terminated: true });
            from = end + 1;
        }
        if from < self.bytes.len() {
            lines.push(Line { bytes: &self.bytes[from..], start: self.start + from as u64, terminated: false });
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out at most `step` bytes at a time, as a slow disk does.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn batches_join_to_the_stream_and_lines_know_their_place() {
        let long = "x".repeat(BATCH + 17);
        let text = format!("one\n\n{long}\nlast without an end");
        for step in [7, 4096, usize::MAX] {
            let mut batches = LineBatches::new(Slow(text.as_bytes(), step.max(4096)), 100);
            let mut joined = Vec::new();
            let mut lines = Vec::new();
            while let Some(batch) = batches.next_batch().expect("memory can be read") {
                for line in batch.lines() {
                    let from = usize::try_from(line.start - 100).expect("a small place");
                    assert_eq!(
                        &text.as_bytes()[from..from + line.bytes.len()],
                        line.bytes,
                        "a line's place must be true"
                    );
                    lines.push((line.bytes.len(), line.terminated));
                }
                joined.extend_from_slice(&batch.bytes);
            }
            assert_eq!(joined, text.as_bytes(), "no byte may be lost between batches");
            assert_eq!(lines, [(3, true), (0, true), (long.len(), true), (19, false)]);
        }
    }
}
