//! Which session takes which bytes of the archive. Pure.
//!
//! A piece that several sessions have counts for the one whose last message is the oldest (then: whose file was taken in first).
//! A pack's bytes, its index included, belong to its blocks as they lie in the file; a block's bytes are shared by the pieces in
//! it that are still known, in the ratio of their lengths. So all shares, and what no session needs, add up to the packs.

use std::collections::HashMap;

use crate::api::storage::StorageShare;
use crate::archive::PackId;
use crate::db::{PackRow, PieceUse, SessionFiles};
use crate::ids::SessionId;

/// The pieces of the archive, each with the session that it counts for.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Files by age: 0 is the oldest.
    ages: HashMap<i64, usize>,
    sessions: Vec<SessionId>,
    /// Blocks by pack and where they begin in it, with the bytes of their pieces.
    blocks: HashMap<(PackId, u64), u64>,
    owned: Vec<Owned>,
    last: Option<[u8; 32]>,
}

#[derive(Debug)]
struct Owned {
    age: usize,
    bytes: u64,
    block: Option<(PackId, u64)>,
}

/// No file uses it.
const NOBODY: usize = usize::MAX;

impl Pieces {
    /// With the files of the memory, the oldest first.
    pub(super) fn new(files: Vec<(i64, SessionId)>) -> Self {
        let ages = files.iter().enumerate().map(|(age, (file, _))| (*file, age)).collect();
        Self { ages, sessions: files.into_iter().map(|(_, session)| session).collect(), ..Self::default() }
    }

    /// Takes a use of a piece; all uses of one come one after the other.
    pub(super) fn take(&mut self, piece: PieceUse) {
        let age = piece.file_id.and_then(|file| self.ages.get(&file)).copied().unwrap_or(NOBODY);
        if self.last == Some(piece.hash) {
            if let Some(owned) = self.owned.last_mut() {
                owned.age = owned.age.min(age);
            }
            return;
        }
        self.last = Some(piece.hash);
        if let Some(block) = piece.block {
            *self.blocks.entry(block).or_default() += piece.bytes;
        }
        self.owned.push(Owned { age, bytes: piece.bytes, block: piece.block });
    }

    /// The share of each session, in their order; whole bytes that add up to the byte.
    pub(super) fn shares(&self, packs: &[PackRow], sessions: &[SessionFiles]) -> Vec<StorageShare> {
        let stored = self.stored(packs);
        let mut unique: HashMap<&SessionId, (u64, f64)> = HashMap::new();
        for piece in &self.owned {
            let Some(session) = self.sessions.get(piece.age) else { continue };
            let (bytes, kept) = unique.entry(session).or_default();
            *bytes += piece.bytes;
            let ratio = piece.block.and_then(|block| stored.get(&block)).copied().unwrap_or_default();
            *kept += piece.bytes as f64 * ratio;
        }
        let mut exact = 0.0;
        let mut given = 0;
        sessions
            .iter()
            .map(|session| {
                let (unique_bytes, kept) = unique.get(&session.session_id).copied().unwrap_or_default();
                exact += kept;
                let stored_bytes = (exact.round() as u64).saturating_sub(given);
                given += stored_bytes;
                StorageShare {
                    sessions: u64::from(!session.is_twin),
                    messages: if session.is_twin { 0 } else { session.messages },
                    original_bytes: session.bytes,
                    unique_bytes,
                    stored_bytes,
                }
            })
            .collect()
    }

    /// Stored bytes for each byte of a piece, by block.
    fn stored(&self, packs: &[PackRow]) -> HashMap<(PackId, u64), f64> {
        let sizes: HashMap<PackId, u64> = packs.iter().map(|pack| (pack.id, pack.bytes)).collect();
        let mut blocks: Vec<(&(PackId, u64), &u64)> = self.blocks.iter().collect();
        blocks.sort_unstable();
        let mut stored = HashMap::with_capacity(blocks.len());
        for (at, ((pack, start), bytes)) in blocks.iter().enumerate() {
            let is_first = at == 0 || blocks[at - 1].0.0 != *pack;
            let next = blocks.get(at + 1).filter(|(next, _)| next.0 == *pack).map(|(next, _)| next.1);
            let end = next.or_else(|| sizes.get(pack).copied()).unwrap_or(*start);
            let taken = end.saturating_sub(if is_first { 0 } else { *start });
            stored.insert((*pack, *start), taken as f64 / (**bytes).max(1) as f64);
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::ProjectId;

    fn session(id: u8) -> SessionFiles {
        SessionFiles {
            session_id: SessionId::new(format!("s{id}")),
            title: String::new(),
            project_id: ProjectId::new("p"),
            project: String::new(),
            project_path: String::new(),
            month: None,
            last_timestamp: None,
            is_twin: false,
            messages: 0,
            bytes: 0,
        }
    }

    fn pack(id: u8, bytes: u64) -> PackRow {
        PackRow { id: PackId([id; 16]), bytes, original_bytes: 0, purged: false, retired_at: None }
    }

    #[test]
    fn a_blocks_bytes_are_shared_by_length_and_the_rest_of_a_pack_goes_with_its_blocks() {
        let mut pieces = Pieces::new(vec![(1, SessionId::new("s1")), (2, SessionId::new("s2"))]);
        let block = |at| Some((PackId([7; 16]), at));
        pieces.take(PieceUse { hash: [1; 32], bytes: 300, block: block(8), file_id: Some(1) });
        pieces.take(PieceUse { hash: [2; 32], bytes: 100, block: block(8), file_id: Some(2) });
        pieces.take(PieceUse { hash: [3; 32], bytes: 50, block: block(108), file_id: Some(2) });
        let shares = pieces.shares(&[pack(7, 158)], &[session(1), session(2)]);
        assert_eq!(shares[0].stored_bytes, 81, "three quarters of 108 bytes, the head of the pack among them");
        assert_eq!(shares[1].stored_bytes, 27 + 50, "a quarter of it, and the last block with the index behind it");
    }

    proptest! {
        #[test]
        fn shares_add_up_to_the_packs_that_are_needed(
            given in prop::collection::vec(
                (1_u64..1000, 0_u8..3, 0_u64..5, prop::collection::vec(prop::option::of(0_i64..6), 1..4)),
                1..40,
            ),
        ) {
            let mut pieces = Pieces::new((0..6_u8).map(|id| (i64::from(id), SessionId::new(format!("s{id}")))).collect());
            for (at, (bytes, pack, block, files)) in given.iter().enumerate() {
                for file_id in files {
                    let block = Some((PackId([*pack; 16]), 8 + block * 100));
                    pieces.take(PieceUse { hash: [at as u8; 32], bytes: *bytes, block, file_id: *file_id });
                }
            }
            let is_used = |pack: u8| given.iter().any(|piece| piece.1 == pack);
            let packs: Vec<PackRow> = (0..3).filter(|id| is_used(*id)).map(|id| pack(id, 1000)).collect();
            let shares = pieces.shares(&packs, &(0..6).map(session).collect::<Vec<_>>());
            let stored: u64 = shares.iter().map(|share| share.stored_bytes).sum();
            let needed: u64 = given.iter().filter(|piece| piece.3.iter().any(Option::is_some)).map(|piece| piece.0).sum();
            prop_assert_eq!(shares.iter().map(|share| share.unique_bytes).sum::<u64>(), needed, "each piece counts once");
            let whole: u64 = packs.iter().map(|pack| pack.bytes).sum();
            if given.iter().all(|piece| piece.3.iter().any(Option::is_some)) {
                prop_assert_eq!(stored, whole, "nothing of the packs is left over");
            } else {
                prop_assert!(stored <= whole, "never more than there is: {} of {}", stored, whole);
            }
        }
    }
}
