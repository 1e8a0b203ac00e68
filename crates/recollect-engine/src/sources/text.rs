//! Text files as programs write them: UTF-8 with or without a byte order mark, UTF-16 of Windows terminals, either line end.

/// A line of a text file, decoded, with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLine {
    /// Its text, without the line end.
    pub text: String,
    /// Where it begins in the file.
    pub start: u64,
    /// Where it ends in the file, the line end left out.
    pub end: u64,
}

/// A text file, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// Its lines, in order; empty ones too.
    pub lines: Vec<TextLine>,
    /// What had to be mended to read it, in words, with the first line (from 1) that needed it.
    pub mended: Option<(u64, &'static str)>,
}

/// How a file's characters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8 { mark: usize },
    Utf16 { mark: usize, big: bool },
}

impl Text {
    /// Decodes a file; never fails: what cannot be read is shown as U+FFFD, and said.
    pub fn decode(bytes: &[u8]) -> Self {
        match encoding(bytes) {
            Encoding::Utf8 { mark } => decode_utf8(bytes, mark),
            Encoding::Utf16 { mark, big } => decode_utf16(bytes, mark, big),
        }
    }

    /// The lines joined by line feeds.
    pub fn joined(&self) -> String {
        let mut joined = String::new();
        for line in &self.lines {
            joined.push_str(&line.text);
            joined.push('\n');
        }
        joined
    }
}

/// Whether bytes are no text at all: zero bytes that are not those of UTF-16.
pub fn is_binary(bytes: &[u8]) -> bool {
    matches!(encoding(bytes), Encoding::Utf8 { .. }) && memchr::memchr(0, bytes).is_some()
}

fn encoding(bytes: &[u8]) -> Encoding {
    match bytes {
        [0xEF, 0xBB, 0xBF, ..] => return Encoding::Utf8 { mark: 3 },
        [0xFF, 0xFE, ..] => return Encoding::Utf16 { mark: 2, big: false },
        [0xFE, 0xFF, ..] => return Encoding::Utf16 { mark: 2, big: true },
        _ => {}
    }
    // Without a mark: mostly Latin text has a zero in every other byte.
    let sample = &bytes[..bytes.len().min(4096) & !1];
    let zeros = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), sample.len() / 2);
    if pairs >= 4 && odd * 10 >= pairs * 7 && even * 10 <= pairs {
        return Encoding::Utf16 { mark: 0, big: false };
    }
    if pairs >= 4 && even * 10 >= pairs * 7 && odd * 10 <= pairs {
        return Encoding::Utf16 { mark: 0, big: true };
    }
    Encoding::Utf8 { mark: 0 }
}

fn decode_utf8(bytes: &[u8], mark: usize) -> Text {
    let mut text = Text::default();
    let mut from = mark;
    let ends = memchr::memchr_iter(b'\n', bytes).chain((bytes.last() != Some(&b'\n')).then_some(bytes.len()));
    for end in ends.filter(|end| *end >= mark) {
        let line = &bytes[from..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let decoded = String::from_utf8_lossy(line);
        if matches!(decoded, std::borrow::Cow::Owned(_)) && text.mended.is_none() {
            let number = text.lines.len() as u64 + 1;
            text.mended = Some((number, "is not valid UTF-8; unreadable characters are shown as \u{fffd}"));
        }
        text.lines.push(TextLine { text: decoded.into_owned(), start: from as u64, end: (from + line.len()) as u64 });
        from = end + 1;
    }
    text
}

fn decode_utf16(bytes: &[u8], mark: usize, big: bool) -> Text {
    let (pairs, odd) = bytes[mark..].as_chunks::<2>();
    let units: Vec<u16> =
        pairs.iter().map(|pair| if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) }).collect();
    let mut text = Text::default();
    let place = |unit: usize| (mark + unit * 2) as u64;
    let mut from = 0;
    for part in units.split(|unit| *unit == u16::from(b'\n')) {
        let after = from + part.len() + 1;
        // What `split` gives after the last line feed is no line.
        if part.is_empty() && after > units.len() && from > 0 {
            break;
        }
        let line = part.strip_suffix(&[u16::from(b'\r')]).unwrap_or(part);
        if char::decode_utf16(line.iter().copied()).any(|character| character.is_err()) && text.mended.is_none() {
            let number = text.lines.len() as u64 + 1;
            text.mended = Some((number, "holds half of a surrogate pair; it is shown as \u{fffd}"));
        }
        text.lines.push(TextLine {
            text: String::from_utf16_lossy(line),
            start: place(from),
            end: place(from + line.len()),
        });
        from = after;
    }
    if !odd.is_empty() && text.mended.is_none() {
        text.mended = Some((text.lines.len() as u64, "ends in the middle of a character"));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn utf16(text: &str, mark: bool, big: bool) -> Vec<u8> {
        let units = mark.then_some(0xFEFF).into_iter().chain(text.encode_utf16());
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    fn texts(bytes: &[u8]) -> Vec<String> {
        Text::decode(bytes).lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn every_way_to_write_a_text_reads_the_same() {
        let text = "> grüße ●\n\nzweite\n";
        let expected = ["> grüße ●", "", "zweite"];
        let marked = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
        for bytes in [
            text.as_bytes().to_vec(),
            text.trim_end().as_bytes().to_vec(),
            text.replace('\n', "\r\n").into_bytes(),
            marked,
            utf16(text, true, false),
            utf16(text, true, true),
            utf16(&text.replace('\n', "\r\n"), false, false),
        ] {
            assert_eq!(texts(&bytes), expected, "{bytes:?}");
            assert!(!is_binary(&bytes));
        }
        assert!(is_binary(b"\x7fELF\x00\x01\x02\x00abc"));
        assert_eq!(Text::decode(b"a\n\xff\n").mended.map(|(line, _)| line), Some(2));
    }

    proptest! {
        #[test]
        fn decoding_never_panics_and_places_are_in_order(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let text = Text::decode(&bytes);
            let mut before = 0;
            for line in &text.lines {
                prop_assert!(line.start >= before && line.end >= line.start && line.end <= bytes.len() as u64);
                before = line.end;
            }
        }
    }
}
