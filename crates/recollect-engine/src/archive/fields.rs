//! Takes out of records what repeats nowhere and what repeats everywhere: uuids, ids of messages and calls, times, base64.
//!
//! A transcript's records are one another's copies but for these. Taken out into streams of their own, written in as few bits
//! as they carry, they leave records that are really equal, which a compressor then sees as such. Pure and exact: what
//! [`decode`] cannot give back byte for byte is not taken out. The streams are described in `docs/archive-format.md`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use uuid::Uuid;

/// How many streams there are.
pub(super) const STREAMS: usize = 6;

/// The streams, in the order in which they are stored.
pub(super) type Streams<T> = [T; STREAMS];

const TEXT: usize = 0;
const AGAIN: usize = 1;
const UUIDS: usize = 2;
const IDS: usize = 3;
const TIMES: usize = 4;
const BINARY: usize = 5;

// Bytes of the text stream that stand for something; JSON never holds them as they are.
const AS_IS: u8 = 1;
const FIELD_AGAIN: u8 = 2;
const NEW_UUID: u8 = 3;
const NEW_ID: u8 = 4;
const TIME: u8 = 5;
const BASE64: u8 = 6;

/// How many of the latest uuids and ids can be named by one byte.
const RECENT: usize = 256;
/// Shorter base64 is left in the text.
const SHORTEST_BASE64: usize = 96;
const ID_LENGTHS: std::ops::RangeInclusive<usize> = 16..=40;
const TIME_LENGTH: usize = 24;
const TIME_FORMAT: &str = "%Y-%m-%dT%H:%M:%S%.3fZ";

/// Splits bytes into streams.
pub(super) fn encode(input: &[u8]) -> Streams<Vec<u8>> {
    let mut encoder =
        Encoder { input, literal: 0, recent: Vec::with_capacity(RECENT), time: 0, out: Default::default() };
    encoder.out[TEXT].reserve(input.len());
    for at in memchr::memchr3_iter(b'-', b'_', b'"', input) {
        // Within a field that was just taken out.
        if at < encoder.literal {
            continue;
        }
        match input[at] {
            b'-' => encoder.uuid_or_time(at),
            b'_' => encoder.id(at),
            _ => encoder.base64(at + 1),
        }
    }
    encoder.literal_to(input.len());
    encoder.out
}

struct Encoder<'a> {
    input: &'a [u8],
    /// From where bytes were not written yet.
    literal: usize,
    /// Uuids and ids, the latest first.
    recent: Vec<&'a [u8]>,
    time: i64,
    out: Streams<Vec<u8>>,
}

impl<'a> Encoder<'a> {
    fn literal_to(&mut self, end: usize) {
        let mut rest = &self.input[self.literal..end];
        while let Some(at) = next_sign(rest) {
            self.out[TEXT].extend_from_slice(&rest[..at]);
            self.out[TEXT].extend_from_slice(&[AS_IS, rest[at]]);
            rest = &rest[at + 1..];
        }
        self.out[TEXT].extend_from_slice(rest);
        self.literal = end;
    }

    /// The bytes of a field that would begin `before` ahead of `at`.
    fn field(&self, at: usize, before: usize, length: usize) -> Option<(usize, &'a [u8])> {
        let start = at.checked_sub(before).filter(|start| *start >= self.literal)?;
        Some((start, self.input.get(start..start + length)?))
    }

    fn uuid_or_time(&mut self, at: usize) {
        if let Some((start, text)) = self.field(at, 8, 36)
            && text[13] == b'-'
            && let Some(uuid) = uuid_of(text)
        {
            self.literal_to(start);
            self.name(text, NEW_UUID, |out| out[UUIDS].extend_from_slice(uuid.as_bytes()));
            self.literal = start + text.len();
        } else if let Some((start, text)) = self.field(at, 4, TIME_LENGTH)
            && text[10] == b'T'
            && let Some(time) = time_of(text)
        {
            self.literal_to(start);
            self.out[TEXT].push(TIME);
            put_signed(&mut self.out[TIMES], time.wrapping_sub(self.time));
            self.time = time;
            self.literal = start + text.len();
        }
    }

    fn id(&mut self, at: usize) {
        let before = &self.input[self.literal..at];
        if ![b"toolu".as_slice(), b"msg", b"req"].iter().any(|prefix| before.ends_with(prefix)) {
            return;
        }
        let tail = &self.input[at + 1..];
        let length = tail.iter().take(ID_LENGTHS.end() + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if !ID_LENGTHS.contains(&length) {
            return;
        }
        // What all ids of a kind begin with stays in the text, where it costs nothing.
        let common =
            [b"011C".as_slice(), b"01"].iter().find(|common| tail.starts_with(common)).map_or(0, |it| it.len());
        self.literal_to(at + 1 + common);
        let text = &tail[common..length];
        self.name(text, NEW_ID, |out| {
            // At most 40: it fits.
            out[TEXT].push(text.len() as u8);
            out[IDS].extend_from_slice(text);
        });
        self.literal = at + 1 + length;
    }

    /// Writes a uuid or an id: by its place among the latest, or as it is.
    fn name(&mut self, text: &'a [u8], sign: u8, write: impl FnOnce(&mut Streams<Vec<u8>>)) {
        if let Some(place) = self.recent.iter().position(|recent| *recent == text) {
            self.out[TEXT].push(FIELD_AGAIN);
            self.out[AGAIN].push(place as u8);
            self.recent[..=place].rotate_right(1);
        } else {
            self.out[TEXT].push(sign);
            write(&mut self.out);
            self.recent.truncate(RECENT - 1);
            self.recent.insert(0, text);
        }
    }

    fn base64(&mut self, start: usize) {
        let rest = &self.input[start..];
        let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        if !rest.get(..SHORTEST_BASE64).is_some_and(|begin| begin.iter().all(is_digit)) {
            return;
        }
        let digits = rest.iter().position(|byte| !is_digit(byte)).unwrap_or(rest.len());
        let padding = rest[digits..].iter().take(2).take_while(|byte| **byte == b'=').count();
        let padded = digits + padding;
        let length = if padded % 4 == 0 { padded } else { digits - digits % 4 };
        // Strict: what decodes is written in the one way in which it would be encoded again.
        let Ok(bytes) = STANDARD.decode(&rest[..length]) else { return };
        self.literal_to(start);
        self.out[TEXT].push(BASE64);
        put_unsigned(&mut self.out[TEXT], bytes.len() as u64);
        self.out[BINARY].extend_from_slice(&bytes);
        self.literal = start + length;
    }
}

/// Joins streams again; `None` when they do not fit each other.
pub(super) fn decode(streams: &Streams<Vec<u8>>, length: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(length);
    let mut rest: Streams<&[u8]> = std::array::from_fn(|stream| streams[stream].as_slice());
    let mut recent: Vec<(usize, usize)> = Vec::with_capacity(RECENT);
    let mut time = 0_i64;
    loop {
        let Some(at) = next_sign(rest[TEXT]) else {
            out.extend_from_slice(rest[TEXT]);
            break;
        };
        out.extend_from_slice(&rest[TEXT][..at]);
        let sign = rest[TEXT][at];
        rest[TEXT] = &rest[TEXT][at + 1..];
        let from = out.len();
        match sign {
            AS_IS => out.push(take(&mut rest[TEXT], 1)?[0]),
            FIELD_AGAIN => {
                let place = usize::from(take(&mut rest[AGAIN], 1)?[0]);
                let (start, end) = *recent.get(place)?;
                out.extend_from_within(start..end);
                recent[..=place].rotate_right(1);
            }
            NEW_UUID => {
                let uuid = Uuid::from_slice(take(&mut rest[UUIDS], 16)?).ok()?;
                out.extend_from_slice(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
            }
            NEW_ID => {
                let count = usize::from(take(&mut rest[TEXT], 1)?[0]);
                out.extend_from_slice(take(&mut rest[IDS], count)?);
            }
            TIME => {
                time = time.wrapping_add(take_signed(&mut rest[TIMES])?);
                out.extend_from_slice(time_text(time)?.as_bytes());
            }
            _ => {
                let count = usize::try_from(take_unsigned(&mut rest[TEXT])?).ok()?;
                let bytes = take(&mut rest[BINARY], count)?;
                out.resize(from + bytes.len().div_ceil(3) * 4, 0);
                STANDARD.encode_slice(bytes, &mut out[from..]).ok()?;
            }
        }
        if matches!(sign, NEW_UUID | NEW_ID) {
            recent.truncate(RECENT - 1);
            recent.insert(0, (from, out.len()));
        }
    }
    (out.len() == length && rest[AGAIN..].iter().all(|rest| rest.is_empty())).then_some(out)
}

/// Where the next byte stands that means something in the text stream.
fn next_sign(bytes: &[u8]) -> Option<usize> {
    // Blocks first, without a branch for each byte: this runs over everything that is written and read back.
    const BLOCK: usize = 64;
    let is_sign = |byte: u8| byte.wrapping_sub(AS_IS) < BASE64;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let has_sign = |block: &[u8; BLOCK]| block.iter().fold(0, |found, byte| found | u8::from(is_sign(*byte))) != 0;
    let start = match blocks.iter().position(has_sign) {
        Some(block) => block * BLOCK,
        None => bytes.len() - rest.len(),
    };
    bytes[start..].iter().position(|byte| is_sign(*byte)).map(|at| start + at)
}

fn uuid_of(text: &[u8]) -> Option<Uuid> {
    let uuid = Uuid::try_parse_ascii(text).ok()?;
    (uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes() == text).then_some(uuid)
}

/// Milliseconds since 1970 of a time as the client writes it; `None` for any other way to write it.
fn time_of(text: &[u8]) -> Option<i64> {
    let time: jiff::Timestamp = std::str::from_utf8(text).ok()?.parse().ok()?;
    let millis = time.as_millisecond();
    (time_text(millis)?.as_bytes() == text).then_some(millis)
}

fn time_text(millis: i64) -> Option<String> {
    Some(jiff::Timestamp::from_millisecond(millis).ok()?.strftime(TIME_FORMAT).to_string())
}

fn take<'a>(stream: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = stream.split_at_checked(count)?;
    *stream = rest;
    Some(taken)
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn put_unsigned(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_unsigned(stream: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take(stream, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The sign goes to the lowest bit, so that small differences are short either way.
fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_unsigned(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn take_signed(stream: &mut &[u8]) -> Option<i64> {
    let value = take_unsigned(stream)?;
    Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round(input: &[u8]) -> Streams<Vec<u8>> {
        let streams = encode(input);
        assert_eq!(
            decode(&streams, input.len()).as_deref(),
            Some(input),
            "the same bytes again: {}",
            String::from_utf8_lossy(input)
        );
        streams
    }

    /// Pieces that look like fields, whole, cut, and almost.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}".prop_map(String::into_bytes),
            "[0-9A-F]{8}-[0-9a-f]{4}-[0-9a-f]{4}".prop_map(String::into_bytes),
            "(toolu|msg|req)_[0-9A-Za-z]{14,42}".prop_map(String::into_bytes),
            "2[0-9]{3}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{3}Z".prop_map(String::into_bytes),
            "-?[0-9]{4}-[0-9]{2}-[0-9]{2}T".prop_map(String::into_bytes),
            "\"[A-Za-z0-9+/]{90,220}={0,3}\"".prop_map(String::into_bytes),
            prop::collection::vec(0..12_u8, 0..6),
            prop::collection::vec(any::<u8>(), 0..40),
            Just(br#"{"parentUuid":"00000000-0000-0000-0000-000000000000","timestamp":"#.to_vec()),
        ]
    }

    proptest! {
        #[test]
        fn whatever_looks_like_a_field_comes_back(pieces in prop::collection::vec(piece(), 0..40), again in any::<u8>()) {
            let mut input = pieces.concat();
            let repeated = input[..input.len() * usize::from(again) / 255].to_vec();
            input.extend(repeated);
            round(&input);
        }

        #[test]
        fn damaged_streams_are_refused_and_never_panic(pieces in prop::collection::vec(piece(), 1..20), stream in 0..STREAMS, at in any::<prop::sample::Index>(), byte in any::<u8>(), length in 0..5000_usize) {
            let mut streams = encode(&pieces.concat());
            if !streams[stream].is_empty() {
                let at = at.index(streams[stream].len());
                streams[stream][at] = byte;
            }
            let _ = decode(&streams, length);
        }
    }

    #[test]
    fn a_record_leaves_only_what_it_says() {
        let uuid = "12345678-90ab-4cde-8f01-234567890abc";
        let id = "toolu_01AbCdEfGhIjKlMnOpQrStUv";
        let time = "2026-01-20T10:00:00.123Z";
        let image = STANDARD.encode((0..=255_u8).collect::<Vec<u8>>());
        let record = format!(r#"{{"uuid":"{uuid}","parent":"{uuid}","id":"{id}","at":"{time}","data":"{image}"}}"#);
        let streams = round(record.as_bytes());
        assert_eq!(streams[UUIDS].len(), 16, "a uuid is its 16 bytes, once");
        assert_eq!(streams[AGAIN], [0], "the second time it is the latest");
        assert_eq!(streams[IDS], id.as_bytes()[8..], "an id without what all ids begin with");
        assert!(streams[TIMES].len() <= 7, "a time is a difference: {:?}", streams[TIMES]);
        assert_eq!(streams[BINARY].len(), 256, "base64 is its bytes");
        assert!(!streams[TEXT].iter().any(u8::is_ascii_uppercase), "nothing of them stays in the text");
    }

    #[test]
    fn what_is_written_in_another_way_stays_text() {
        for text in [
            "12345678-90AB-4cde-8f01-234567890abc",
            "2026-01-20T24:00:00.123Z",
            "2026-02-30T10:00:00.123Z",
            "2026-01-20T10:00:60.123Z",
            "2026-01-20t10:00:00.123z",
        ] {
            let streams = round(text.as_bytes());
            assert_eq!(streams[TEXT], text.as_bytes(), "left as it is");
        }
    }
}
