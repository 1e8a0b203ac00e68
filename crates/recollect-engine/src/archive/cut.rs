//! Where files are cut into pieces: at places that their content decides, so that equal stretches give equal pieces.
//!
//! Pure. A piece's end depends on the bytes from its beginning on and on nothing before, so cutting goes on at the
//! beginning of the last piece of a grown file and gives what cutting the whole file would give.

use fastcdc::v2020::FastCDC;

/// Bytes of the shortest piece but for the last of a file.
const SHORTEST: usize = 16 << 10;
/// Bytes of a piece as a rule.
const USUAL: usize = 64 << 10;
/// Bytes of the longest piece.
pub(super) const LONGEST: usize = 256 << 10;

/// Cuts a stream that comes in parts.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    buffer: Vec<u8>,
}

impl Cutter {
    /// Takes more of the stream; calls `piece` for each piece that is whole now.
    pub(super) fn feed<E>(&mut self, bytes: &[u8], piece: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.buffer.extend_from_slice(bytes);
        self.cut(LONGEST, piece)
    }

    /// Gives what is left, the last piece being cut by the end of the stream.
    pub(super) fn finish<E>(mut self, piece: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.cut(1, piece)
    }

    /// Cuts while at least `least` bytes are there: fewer could be cut elsewhere when more follow.
    fn cut<E>(&mut self, least: usize, mut piece: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut start = 0;
        {
            let cuts = FastCDC::new(&self.buffer, SHORTEST, USUAL, LONGEST);
            while self.buffer.len() - start >= least {
                let (_, end) = cuts.cut(start, self.buffer.len() - start);
                piece(&self.buffer[start..end])?;
                start = end;
            }
        }
        self.buffer.drain(..start);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(parts: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut cutter = Cutter::default();
        let mut keep = |piece: &[u8]| {
            found.push(piece.to_vec());
            Ok::<(), ()>(())
        };
        for part in parts {
            cutter.feed(part, &mut keep).expect("kept");
        }
        cutter.finish(&mut keep).expect("kept");
        found
    }

    fn content(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed | 1;
        (0..length)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn pieces_do_not_depend_on_how_the_stream_comes(seed in any::<u64>(), length in 0..1_500_000_usize, cut in 0.0..1.0f64) {
            let content = content(seed, length);
            let whole = pieces(&[&content]);
            prop_assert!(whole.concat() == content, "nothing is lost");
            prop_assert!(whole.iter().all(|piece| !piece.is_empty() && piece.len() <= LONGEST));
            let (left, right) = content.split_at((length as f64 * cut) as usize);
            prop_assert!(pieces(&[left, right]) == whole, "parts give the same pieces");
            // A grown file: all pieces but the last stay, and cutting goes on there.
            let mut grown = pieces(&[left]);
            let last = grown.pop().unwrap_or_default();
            grown.extend(pieces(&[&last, right]));
            prop_assert!(grown == whole, "a grown file has the pieces of the whole");
        }
    }
}
