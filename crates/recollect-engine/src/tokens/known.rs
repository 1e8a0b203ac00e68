//! Remembers how many tokens short pieces have: a transcript says the same few thousand words again and again.

use std::cell::RefCell;

/// Longest piece that is remembered, in bytes.
const LONGEST: usize = 15;
/// How many pieces are remembered in a thread: half a megabyte, in which a word takes the place of another that falls there.
const PLACES: usize = 1 << 15;
/// The bits of an entry that hold the count.
const COUNT: u128 = 0xf;

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::new(Known { entries: vec![0; PLACES] });
}

/// Short pieces with their counts: four bits of count, four of length, then the bytes. A piece of 15 bytes has at most 15
/// tokens, and no piece is empty, so 0 is no entry.
pub(super) struct Known {
    entries: Vec<u128>,
}

impl Known {
    /// Lends what this thread remembers.
    pub(super) fn lend<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        KNOWN.with_borrow_mut(work)
    }

    /// The count of a piece, from memory or by counting.
    pub(super) fn count(&mut self, piece: &str, count: impl FnOnce(&str) -> u64) -> u64 {
        let Some(key) = key(piece.as_bytes()) else { return count(piece) };
        let Some(entry) = self.entries.get_mut(place(key)) else { return count(piece) };
        if *entry & !COUNT == key {
            return (*entry & COUNT) as u64;
        }
        let counted = count(piece);
        *entry = key | u128::from(counted);
        counted
    }
}

/// A piece as the upper bits of an entry; none when it is too long.
fn key(piece: &[u8]) -> Option<u128> {
    let mut bytes = [0; LONGEST + 1];
    bytes.get_mut(1..=piece.len())?.copy_from_slice(piece);
    bytes[0] = (piece.len() as u8) << 4;
    Some(u128::from_le_bytes(bytes))
}

/// Where an entry stands: Fibonacci hashing of both halves.
fn place(key: u128) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(29);
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_counted_once_and_never_taken_for_another() {
        let mut known = Known { entries: vec![0; PLACES] };
        let mut counted = 0;
        let pieces: Vec<String> = (0..PLACES * 2).map(|number| format!(" w{number:x}")).collect();
        for piece in
            pieces.iter().chain(["a", "a\0", "\0", "fifteen bytes..", "sixteen bytes..."].map(str::to_owned).iter())
        {
            let length = piece.len() as u64 % 7 + 1;
            for _ in 0..2 {
                let count = known.count(piece, |_| {
                    counted += 1;
                    length
                });
                assert_eq!(count, length, "{piece:?}");
            }
        }
        assert_eq!(counted, PLACES * 2 + 4 + 2, "only what is too long is counted again at once");
    }
}
