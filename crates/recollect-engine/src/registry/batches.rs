//! How much is done at once: what is read before it is made known, and what is made known in one transaction.

use super::candidate::Candidate;
use super::{Stat, Taken};

/// So many bytes of sessions are read before they are made known: they share a pack; bounds what a crash has to read again,
/// and memory.
const BYTES_AT_ONCE: u64 = 32 << 20;

/// Cuts groups into batches of about [`BYTES_AT_ONCE`]; a large one is alone.
pub(super) fn in_batches(groups: &[Vec<Candidate>]) -> Vec<&[Vec<Candidate>]> {
    let mut sum = 0;
    let sizes: Vec<u64> = groups
        .iter()
        .map(|group| group.iter().map(|candidate| Stat::of(&candidate.path).map_or(0, |stat| stat.bytes)).sum())
        .collect();
    let mut batches = Vec::new();
    let mut from = 0;
    for (at, size) in sizes.into_iter().enumerate() {
        if sum + size > BYTES_AT_ONCE && from < at {
            batches.push(&groups[from..at]);
            (from, sum) = (at, 0);
        }
        sum += size;
    }
    if from < groups.len() {
        batches.push(&groups[from..]);
    }
    batches
}

/// Messages that are made known in one transaction: many small sessions share one, and nobody waits long for it.
const MESSAGES_AT_ONCE: usize = 4000;

/// Groups, in their order, with what was read of them, in runs of about [`MESSAGES_AT_ONCE`].
pub(super) fn in_transactions(
    groups: &[Vec<Candidate>],
    read: Vec<Vec<Taken>>,
) -> Vec<(&[Vec<Candidate>], Vec<Taken>)> {
    let mut runs = Vec::new();
    let (mut from, mut sum, mut run) = (0, 0, Vec::new());
    for (at, taken) in read.into_iter().enumerate() {
        let messages: usize = taken.iter().map(Taken::messages).sum();
        if sum + messages > MESSAGES_AT_ONCE && from < at {
            runs.push((&groups[from..at], std::mem::take(&mut run)));
            (from, sum) = (at, 0);
        }
        sum += messages;
        run.extend(taken);
    }
    if from < groups.len() {
        runs.push((&groups[from..], run));
    }
    runs
}
