//! What packs say of files: joining stretches that follow one another. Pure.

use std::collections::{BTreeMap, HashMap};

use super::pack::{Hash, Origin};

/// Joins stretches of files that continue one another, the older first. A last piece gives way to what the file had grown to
/// when nothing needs it any more; a stretch of which nothing is needed goes.
pub(super) fn fold(origins: Vec<Origin>, is_needed: impl Fn(&Hash) -> bool) -> Vec<Origin> {
    let mut by_path: BTreeMap<String, Vec<Origin>> = BTreeMap::new();
    for origin in origins {
        let stretches = by_path.entry(origin.path.clone()).or_default();
        if stretches.contains(&origin) {
            continue;
        }
        let earlier = stretches.iter_mut().find_map(|earlier| Some((place_in(earlier, &origin, &is_needed)?, earlier)));
        match earlier {
            Some((place, earlier)) => {
                earlier.pieces.truncate(place);
                earlier.pieces.extend(origin.pieces);
                if !origin.project.is_empty() {
                    earlier.project = origin.project;
                }
            }
            None => stretches.push(origin),
        }
    }
    by_path.into_values().flatten().filter(|origin| origin.pieces.iter().any(|(hash, _)| is_needed(hash))).collect()
}

/// How many pieces of `earlier` stay when `later` continues it.
fn place_in(earlier: &Origin, later: &Origin, is_needed: impl Fn(&Hash) -> bool) -> Option<usize> {
    let mut at = earlier.start;
    let mut before = earlier.before;
    let mut place = 0;
    while at < later.start {
        let (hash, bytes) = earlier.pieces.get(place)?;
        (at, before) = (at + bytes, Some(*hash));
        place += 1;
    }
    let replaced = &earlier.pieces[place..];
    (at == later.start
        && before == later.before
        && replaced.len() <= 1
        && !replaced.iter().any(|(hash, _)| is_needed(hash)))
    .then_some(place)
}

/// The place of each piece in the order of files, the first file that has it counting: pieces of one file stand together.
pub(super) fn order(origins: &[Origin]) -> HashMap<[u8; 32], (usize, u64)> {
    let mut places = HashMap::new();
    for (file, origin) in origins.iter().enumerate() {
        let mut at = origin.start;
        for (hash, bytes) in &origin.pieces {
            places.entry(hash.0).or_insert((file, at));
            at += bytes;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(of: u8) -> Hash {
        Hash([of; 32])
    }

    fn stretch(path: &str, start: u64, before: Option<u8>, pieces: &[u8]) -> Origin {
        let pieces = pieces.iter().map(|of| (hash(*of), 10)).collect();
        Origin { path: path.to_owned(), project: String::new(), start, before: before.map(hash), pieces }
    }

    #[test]
    fn a_grown_file_is_one_stretch_without_its_old_end() {
        let grown = fold(
            vec![
                stretch("a", 0, None, &[1, 2, 90]),
                stretch("a", 20, Some(2), &[91]),
                stretch("b", 20, Some(2), &[5]),
                stretch("a", 20, Some(2), &[3, 92]),
                stretch("a", 30, Some(3), &[4]),
            ],
            |of| !(90..100).contains(&of.0[0]),
        );
        assert_eq!(grown, [stretch("a", 0, None, &[1, 2, 3, 4]), stretch("b", 20, Some(2), &[5])]);
    }

    #[test]
    fn another_content_at_the_same_place_stays_beside_it() {
        let both = vec![stretch("a", 0, None, &[1]), stretch("a", 0, None, &[2]), stretch("a", 10, Some(9), &[3])];
        assert_eq!(fold(both.clone(), |_| true), both, "each is needed");
        assert_eq!(fold(both, |of| of.0[0] == 3).len(), 1, "what nothing needs goes");
    }
}
