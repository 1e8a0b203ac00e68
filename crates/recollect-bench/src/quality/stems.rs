//! Stems of what a text says: the words that a judge looks for.

use std::collections::HashSet;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

/// Words that say nothing by themselves.
const STOP: &str = "a an the is are was were be been being am i you he she it we they me him her us them my your his its our \
    their this that these those of in on at to for from by with as and or but if so than then there here do does did doing \
    have has had having not no nor can could will would shall should may might must what which who whom whose when where why \
    how about into over after before up down out off again just very too also s t d m ll re ve don";

static STOPPED: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.split_whitespace().collect());
static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));

/// The stems of a text's ASCII words, without those that say nothing.
pub(super) fn stems(text: &str) -> HashSet<String> {
    let lower = text.to_lowercase();
    lower
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !STOPPED.contains(word))
        .map(|word| STEMMER.stem(word).into_owned())
        .collect()
}
