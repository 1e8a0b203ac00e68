//! What a compression is measured beside: chance, the two ends, and the ranks of LexRank and TextRank, at the same budget.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::stems::stems;
use crate::talk::Numbers;

/// Units that are ranked; of more, as many as that evenly spread, since ranks compare each with each.
const RANKED: usize = 2_000;
/// Damping of the walk, and its rounds (Mihalcea and Tarau 2004, Erkan and Radev 2004).
const DAMPING: f64 = 0.85;
const ROUNDS: usize = 30;

/// A turn or a line that is taken whole or not at all.
#[derive(Debug)]
pub(super) struct Unit {
    stems: Vec<String>,
    characters: usize,
}

impl Unit {
    /// Of a text.
    pub(super) fn new(text: &str) -> Self {
        let mut stems: Vec<String> = stems(text).into_iter().collect();
        stems.sort();
        Self { stems, characters: text.chars().count() }
    }
}

/// A way to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// By chance, always the same one.
    Random,
    /// From the beginning.
    Lead,
    /// From the end.
    Tail,
    /// The walk over sentences joined by the cosine of their tf-idf.
    LexRank,
    /// The walk over sentences joined by the words that they share.
    TextRank,
}

impl Peer {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Random, Self::Lead, Self::Tail, Self::LexRank, Self::TextRank];

    /// What it is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Lead => "lead",
            Self::Tail => "tail",
            Self::LexRank => "LexRank",
            Self::TextRank => "TextRank",
        }
    }

    /// Places of the units that are taken, in order of the text.
    pub(super) fn choose(self, units: &[Unit], budget: usize) -> Vec<usize> {
        let mut chosen = Vec::new();
        let mut used = 0;
        for at in self.order(units) {
            if used + units[at].characters <= budget {
                used += units[at].characters;
                chosen.push(at);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    fn order(self, units: &[Unit]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..units.len()).collect();
        match self {
            Self::Lead => {}
            Self::Tail => order.reverse(),
            Self::Random => {
                let mut numbers = Numbers::new(7);
                for at in (1..order.len()).rev() {
                    order.swap(at, numbers.below(at as u64 + 1) as usize);
                }
            }
            Self::LexRank | Self::TextRank => {
                let every = units.len().div_ceil(RANKED).max(1);
                let ranked: Vec<usize> = (0..units.len()).step_by(every).collect();
                let of: Vec<&Unit> = ranked.iter().map(|at| &units[*at]).collect();
                let weights = if self == Self::LexRank { cosines(&of) } else { overlaps(&of) };
                let ranks = walk(&weights, of.len());
                let mut by_rank: Vec<(u64, usize)> =
                    ranks.iter().zip(&ranked).map(|(rank, at)| (rank.to_bits(), *at)).collect();
                by_rank.sort_unstable_by_key(|(rank, at)| (Reverse(*rank), *at));
                order = by_rank.into_iter().map(|(_, at)| at).collect();
            }
        }
        order
    }
}

/// Edges of a graph: for each unit, the others that are like it and how much.
type Edges = Vec<Vec<(u32, f64)>>;

fn overlaps(units: &[&Unit]) -> Edges {
    let sets: Vec<HashSet<&str>> = units.iter().map(|unit| unit.stems.iter().map(String::as_str).collect()).collect();
    edges(units.len(), |one, other| {
        let shared = sets[one].intersection(&sets[other]).count() as f64;
        let length = (sets[one].len() as f64).ln() + (sets[other].len() as f64).ln();
        if shared > 0.0 && length > 0.0 { shared / length } else { 0.0 }
    })
}

fn cosines(units: &[&Unit]) -> Edges {
    let mut documents: HashMap<&str, f64> = HashMap::new();
    for stem in units.iter().flat_map(|unit| &unit.stems) {
        *documents.entry(stem).or_default() += 1.0;
    }
    let rarity = |stem: &str| (units.len() as f64 / documents.get(stem).copied().unwrap_or(1.0)).ln();
    let vectors: Vec<HashMap<&str, f64>> =
        units.iter().map(|unit| unit.stems.iter().map(|stem| (stem.as_str(), rarity(stem))).collect()).collect();
    let norms: Vec<f64> =
        vectors.iter().map(|vector| vector.values().map(|weight| weight * weight).sum::<f64>().sqrt()).collect();
    edges(units.len(), |one, other| {
        let (small, large) = if vectors[one].len() < vectors[other].len() { (one, other) } else { (other, one) };
        let dot: f64 =
            vectors[small].iter().filter_map(|(stem, weight)| Some(weight * vectors[large].get(stem)?)).sum();
        let cosine = dot / (norms[one] * norms[other]).max(f64::MIN_POSITIVE);
        if cosine > 0.1 { cosine } else { 0.0 }
    })
}

fn edges(units: usize, like: impl Fn(usize, usize) -> f64) -> Edges {
    let mut edges: Edges = vec![Vec::new(); units];
    for one in 0..units {
        for other in one + 1..units {
            let weight = like(one, other);
            if weight > 0.0 {
                edges[one].push((other as u32, weight));
                edges[other].push((one as u32, weight));
            }
        }
    }
    edges
}

/// Where somebody is found who walks along the edges for long (PageRank by power iteration).
fn walk(edges: &Edges, units: usize) -> Vec<f64> {
    let out: Vec<f64> = edges.iter().map(|edges| edges.iter().map(|(_, weight)| weight).sum()).collect();
    let mut ranks = vec![1.0 / units.max(1) as f64; units];
    for _ in 0..ROUNDS {
        let mut next = vec![(1.0 - DAMPING) / units.max(1) as f64; units];
        for (from, edges) in edges.iter().enumerate() {
            for (to, weight) in edges {
                next[*to as usize] += DAMPING * ranks[from] * weight / out[from];
            }
        }
        ranks = next;
    }
    ranks
}
