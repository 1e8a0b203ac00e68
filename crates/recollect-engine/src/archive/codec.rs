//! A block of bytes, compressed: streams of fields where that gives the bytes back exactly, else the bytes as one stream.
//!
//! Pure. The layout is described in `docs/archive-format.md`.

use zstd::zstd_safe::CParameter;

use super::fields::{self, STREAMS, Streams};

/// More is never in one block; a length beyond it is damage.
pub(super) const LARGEST: usize = 1 << 26;

/// How hard blocks are compressed: as small as the goal asks for, at more than a processor reads transcripts with.
const LEVEL: i32 = 9;

/// Matches may reach back through a whole block.
const WINDOW: u32 = 24;

const PLAIN: u8 = 0;
const FIELDS: u8 = 1;

/// Compresses a block.
pub(super) fn encode(raw: &[u8]) -> std::io::Result<Vec<u8>> {
    let streams = fields::encode(raw);
    // Checked before it is trusted: nothing is stored that does not come back.
    let exact = fields::decode(&streams, raw.len()).is_some_and(|back| back == raw);
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.set_parameter(CParameter::WindowLog(WINDOW))?;
    compressor.set_parameter(CParameter::ChecksumFlag(true))?;
    let mut out = vec![if exact { FIELDS } else { PLAIN }];
    out.extend_from_slice(&length(raw.len())?);
    let mut data = Vec::new();
    let one: [&[u8]; 1] = [raw];
    let six: Streams<&[u8]> = std::array::from_fn(|stream| streams[stream].as_slice());
    for stream in if exact { six.as_slice() } else { one.as_slice() } {
        let compressed = if stream.is_empty() { Vec::new() } else { compressor.compress(stream)? };
        let stored = if compressed.len() < stream.len() { compressed.as_slice() } else { stream };
        out.extend_from_slice(&length(stream.len())?);
        out.extend_from_slice(&length(stored.len())?);
        data.extend_from_slice(stored);
    }
    out.append(&mut data);
    Ok(out)
}

fn length(bytes: usize) -> std::io::Result<[u8; 4]> {
    u32::try_from(bytes).map(u32::to_le_bytes).map_err(|_| std::io::Error::other("a block of more than 4 GB"))
}

/// Decompresses a block; `None` when it is damaged.
pub(super) fn decode(stored: &[u8]) -> Option<Vec<u8>> {
    let mut rest = stored;
    let kind = take(&mut rest, 1)?[0];
    let raw = take_length(&mut rest)?;
    let count = match kind {
        PLAIN => 1,
        FIELDS => STREAMS,
        _ => return None,
    };
    let lengths: Vec<(usize, usize)> =
        (0..count).map(|_| Some((take_length(&mut rest)?, take_length(&mut rest)?))).collect::<Option<_>>()?;
    let mut streams: Vec<Vec<u8>> = Vec::with_capacity(count);
    for (length, stored) in lengths {
        let bytes = take(&mut rest, stored)?;
        streams.push(if stored == length { bytes.to_vec() } else { zstd::bulk::decompress(bytes, length).ok()? });
    }
    if !rest.is_empty() || streams.iter().map(Vec::len).sum::<usize>() > 2 * LARGEST {
        return None;
    }
    if kind == PLAIN {
        return streams.pop().filter(|bytes| bytes.len() == raw);
    }
    fields::decode(&streams.try_into().ok()?, raw)
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

fn take_length(rest: &mut &[u8]) -> Option<usize> {
    let bytes: [u8; 4] = take(rest, 4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok().filter(|length| *length <= 2 * LARGEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
            prop_assert_eq!(decode(&encode(&bytes).expect("encoded")), Some(bytes));
        }

        #[test]
        fn a_flipped_byte_is_never_taken_for_the_content(text in "[ -~]{50,400}", at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
            let raw = text.repeat(5).into_bytes();
            let mut stored = encode(&raw).expect("encoded");
            let at = at.index(stored.len());
            stored[at] ^= flip;
            // Streams too short to compress carry no checksum of their own: the hash of each piece finds those.
            if let Some(other) = decode(&stored) {
                prop_assert!(other.len() == raw.len());
            }
        }
    }
}
