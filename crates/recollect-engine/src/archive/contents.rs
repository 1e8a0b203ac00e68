//! Which contents packs tell of: every file, or every state of one, as its pieces. Pure.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::pack::{Hash, Origin};

/// Tells the pieces of a file, and where they stand, from those of others. Adding and taking away a piece are the same step, so
/// that a grown file costs what is new of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Content(pub [u8; 16]);

impl Content {
    /// Adds a piece, or takes it away.
    pub fn toggle(&mut self, start: u64, hash: &[u8; 32]) {
        let mut piece = Sha256::new();
        piece.update(start.to_le_bytes());
        piece.update(hash);
        for (byte, other) in self.0.iter_mut().zip(piece.finalize()) {
            *byte ^= other;
        }
    }
}

impl std::fmt::Display for Content {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// A file that packs tell of, as it was at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Where it was.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Tells it from others.
    pub content: Content,
    /// Its pieces with their bytes, in order.
    pub pieces: Vec<([u8; 32], u64)>,
}

/// Pieces with their bytes, one after the other.
type Pieces = Vec<([u8; 32], u64)>;

/// The end of a piece in a content: the content, the number of pieces until there, and what those are.
type End = (usize, usize, Content);

/// Puts every content together from stretches: one that continues another is a content of its own, beside the other.
/// Stretches whose beginning is nowhere are left out.
pub(super) fn contents(mut origins: Vec<Origin>) -> Vec<Known> {
    // What a stretch continues began before it.
    origins.sort_by_key(|origin| origin.start);
    let mut found: Vec<Known> = Vec::new();
    let mut ends: HashMap<(u64, Hash), Vec<End>> = HashMap::new();
    for origin in origins {
        let beginnings: Vec<(Pieces, Content)> = match origin.before {
            None if origin.start == 0 => vec![(Vec::new(), Content::default())],
            None => Vec::new(),
            Some(before) => {
                let mut seen = HashSet::new();
                let all = ends.get(&(origin.start, before)).map_or(&[][..], Vec::as_slice).iter();
                all.filter(|(_, _, content)| seen.insert(*content))
                    .map(|(known, count, content)| (found[*known].pieces[..*count].to_vec(), *content))
                    .collect()
            }
        };
        for (mut pieces, mut content) in beginnings {
            let mut at = origin.start;
            for (hash, bytes) in &origin.pieces {
                content.toggle(at, &hash.0);
                at += bytes;
                pieces.push((hash.0, *bytes));
                ends.entry((at, *hash)).or_default().push((found.len(), pieces.len(), content));
            }
            found.push(Known { path: origin.path.clone(), bytes: at, content, pieces });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(path: &str, start: u64, before: Option<u8>, pieces: &[u8]) -> Origin {
        let pieces = pieces.iter().map(|of| (Hash([*of; 32]), 10)).collect();
        let before = before.map(|of| Hash([of; 32]));
        Origin { path: path.to_owned(), project: String::new(), start, before, pieces }
    }

    fn content(pieces: &[u8]) -> Content {
        let mut content = Content::default();
        pieces.iter().enumerate().for_each(|(at, of)| content.toggle(at as u64 * 10, &[*of; 32]));
        content
    }

    #[test]
    fn every_state_of_a_grown_file_is_found_in_whatever_order_packs_tell() {
        let mut origins = vec![
            stretch("a", 30, Some(3), &[4]),
            stretch("copy", 20, Some(2), &[7]),
            stretch("a", 20, Some(2), &[3, 92]),
            stretch("a", 0, None, &[1, 2, 90]),
        ];
        for _ in 0..2 {
            origins.reverse();
            let found = contents(origins.clone());
            for pieces in [&[1, 2, 90][..], &[1, 2, 3, 92], &[1, 2, 3, 4], &[1, 2, 7]] {
                let known = found.iter().find(|known| known.content == content(pieces)).expect("it is told of");
                assert_eq!(known.bytes, pieces.len() as u64 * 10);
                assert!(known.pieces.iter().map(|(hash, _)| hash[0]).eq(pieces.iter().copied()));
            }
            assert_eq!(found.len(), 4);
        }
    }

    #[test]
    fn contents_of_one_place_that_differ_within_are_told_apart() {
        let found = contents(vec![
            stretch("a", 0, None, &[1, 2, 3]),
            stretch("a", 0, None, &[1, 5, 3]),
            stretch("a", 20, Some(5), &[4]),
            stretch("gone", 20, Some(9), &[4]),
        ]);
        let all: Vec<Content> = found.iter().map(|known| known.content).collect();
        assert_eq!(all, [content(&[1, 2, 3]), content(&[1, 5, 3]), content(&[1, 5, 4])]);
        assert_ne!(content(&[1, 2, 3]), content(&[2, 1, 3]), "the order counts");
    }

    #[test]
    fn taking_a_piece_away_is_as_if_it_had_not_been() {
        let mut grown = content(&[1, 2, 90]);
        grown.toggle(20, &[90; 32]);
        grown.toggle(20, &[3; 32]);
        assert_eq!(grown, content(&[1, 2, 3]));
        assert_eq!(content(&[]).to_string(), "0".repeat(32));
    }
}
