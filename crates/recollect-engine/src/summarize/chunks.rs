//! Which messages a model is asked about together: cut where a turn begins, within a stretch of the settings, under the model's window.

use crate::compress::outside::Told;

/// Messages that are asked about together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The stretch that they are in.
    pub(super) tier: usize,
    /// Place of the first.
    pub(super) first: usize,
    /// One past the place of the last.
    pub(super) end: usize,
    /// Tokens of what is told of them.
    pub(super) tokens: u64,
    /// Tokens that the answer may have.
    pub(super) budget: u64,
}

/// Share of a chunk from which on the next turn begins another one.
const FULL_ENOUGH: f64 = 0.7;

/// The least budget that is worth asking for.
const LEAST_BUDGET: u64 = 16;

/// Cuts. `tokens` are those of what is told of each message, `most` those of a chunk; `room` are the tokens that each stretch
/// has for answers, shared among its chunks by what they are told.
pub(super) fn cut(told: &[Told], tokens: &[u64], ranges: &[(usize, usize)], most: u64, room: &[u64]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for (tier, (from, end)) in ranges.iter().enumerate() {
        let first_chunk = chunks.len();
        let mut first = *from;
        let mut sum = 0;
        for place in *from..*end {
            let next = sum + tokens[place];
            let at_turn = told[place].opens_turn && sum as f64 >= most as f64 * FULL_ENOUGH;
            if sum > 0 && (next > most || at_turn) {
                chunks.push(Chunk { tier, first, end: place, tokens: sum, budget: 0 });
                first = place;
                sum = 0;
            }
            sum += tokens[place];
        }
        if sum > 0 {
            chunks.push(Chunk { tier, first, end: *end, tokens: sum, budget: 0 });
        }
        let all: u64 = chunks[first_chunk..].iter().map(|chunk| chunk.tokens).sum();
        for chunk in &mut chunks[first_chunk..] {
            let share = u128::from(room[tier]) * u128::from(chunk.tokens) / u128::from(all.max(1));
            chunk.budget = u64::try_from(share).unwrap_or(u64::MAX);
        }
    }
    chunks.retain(|chunk| chunk.budget >= LEAST_BUDGET);
    chunks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(turns: &[bool]) -> Vec<Told> {
        turns.iter().map(|turn| Told { text: "words".to_owned(), opens_turn: *turn }).collect()
    }

    #[test]
    fn a_chunk_ends_where_a_turn_begins() {
        let turns = [true, false, false, true, false, true, false];
        let chunks = cut(&told(&turns), &[10; 7], &[(0, 7)], 40, &[700]);
        let places: Vec<_> = chunks.iter().map(|chunk| (chunk.first, chunk.end)).collect();
        assert_eq!(places, [(0, 3), (3, 7)], "30 of 40 are enough to end at the turn; 20 are not");
        assert_eq!(chunks[1].budget, 400, "room is shared by what is told");
    }

    #[test]
    fn stretches_without_room_are_not_asked_about() {
        let chunks = cut(&told(&[true; 4]), &[100; 4], &[(0, 2), (2, 4)], 1000, &[3, 100]);
        assert_eq!(chunks.iter().map(|chunk| chunk.tier).collect::<Vec<_>>(), [1]);
    }

    proptest! {
        #[test]
        fn every_message_that_says_something_is_in_one_chunk_of_its_stretch(
            messages in prop::collection::vec((any::<bool>(), 0_u64..300), 1..80),
            split in 0_usize..80,
            most in 50_u64..1000,
        ) {
            let (turns, tokens): (Vec<bool>, Vec<u64>) = messages.into_iter().unzip();
            let split = split.min(turns.len());
            let ranges = [(0, split), (split, turns.len())];
            let chunks = cut(&told(&turns), &tokens, &ranges, most, &[1_000_000, 1_000_000]);
            for (place, tokens) in tokens.iter().enumerate() {
                let holding: Vec<_> = chunks.iter().filter(|chunk| (chunk.first..chunk.end).contains(&place)).collect();
                prop_assert!(holding.len() <= 1);
                prop_assert!(*tokens == 0 || holding.len() == 1, "message {} is in no chunk", place);
                let in_its_stretch = holding.iter().all(|chunk| {
                    let (from, end) = ranges[chunk.tier];
                    from <= chunk.first && chunk.end <= end
                });
                prop_assert!(in_its_stretch, "message {} is in a chunk of another stretch", place);
            }
            for chunk in &chunks {
                let said = tokens[chunk.first..chunk.end].iter().filter(|tokens| **tokens > 0).count();
                prop_assert!(chunk.tokens <= most || said == 1, "only a message that is larger itself makes a larger chunk");
            }
        }
    }
}
