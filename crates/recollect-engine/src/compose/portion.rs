//! What several sessions would be given of a budget, told from the database alone: nothing is read or made.

use super::allocate::{Need, shares};
use super::select::{Candidate, Pick, choose};
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{SessionId, VersionId};
use crate::versions;

/// Tokens that the preamble takes, and the headings of a component.
const PREAMBLE: u64 = 110;
const HEADING: u64 = 45;

/// A session is worth its place with so many tokens, or with all that it has.
const WORTHWHILE: u64 = 400;

/// What the names of speakers add to a version, as a part of it.
const NAMES: u64 = 32;

/// A session that would be composed.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) session: SessionId,
    /// How much it counts beside the others.
    pub(crate) weight: f64,
}

/// What sessions would be given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Portions {
    /// Of the first so many wishes: for the others there is no room.
    pub(crate) portions: Vec<Portion>,
    /// Tokens of all, with headings: at most the budget.
    pub(crate) total_tokens: u64,
}

/// What a session would be given.
#[derive(Debug, Clone)]
pub(crate) struct Portion {
    pub(crate) version_id: VersionId,
    /// Tokens of what would be taken; of a new version, its share.
    pub(crate) tokens: u64,
    pub(crate) reason: String,
}

/// Shares a budget among as many of the wishes, from the first, as are given something worthwhile.
pub(crate) fn portions(engine: &Engine, budget: u64, wishes: &[Wish]) -> Result<Portions> {
    let known = engine.db().read(|rows| {
        let mut known = Vec::with_capacity(wishes.len());
        for wish in wishes {
            let tokens = rows.session(&wish.session)?.map_or(0, |session| session.tokens);
            let mut candidates = Vec::new();
            for row in rows.versions(&wish.session)? {
                let behind = versions::behind(rows, &row)?.map_or(0, |behind| behind.tokens);
                candidates.push(Candidate::of(&row, tokens, behind));
            }
            known.push((tokens, candidates, wish.weight));
        }
        Ok(known)
    })?;
    let mut count = known.len();
    while count > 0 {
        let headings = PREAMBLE + HEADING * count as u64;
        let given = deal(budget.saturating_sub(headings), &known[..count]);
        let is_worthwhile =
            given.iter().zip(&known).all(|(portion, (tokens, ..))| portion.tokens >= WORTHWHILE.min(*tokens).max(1));
        if is_worthwhile {
            let total_tokens = headings + given.iter().map(|portion| portion.tokens).sum::<u64>();
            return Ok(Portions { portions: given, total_tokens });
        }
        count -= 1;
    }
    Ok(Portions::default())
}

/// Chooses for shares, and shares again what was not used, until it is.
fn deal(available: u64, known: &[(u64, Vec<Candidate>, f64)]) -> Vec<Portion> {
    let mut needs: Vec<Need> = known
        .iter()
        .map(|(tokens, _, weight)| Need {
            wish: None,
            weight: (weight * 1e6) as u64 + 1,
            least: 0,
            most: tokens + tokens / NAMES,
        })
        .collect();
    loop {
        let given = shares(available, &needs);
        let mut has_settled = false;
        let portions: Vec<Portion> = known
            .iter()
            .zip(&given)
            .zip(&mut needs)
            .map(|(((tokens, candidates, _), share), need)| {
                let choice = choose(tokens + tokens / NAMES, candidates, *share, None);
                let size = match &choice.pick {
                    Pick::Original => tokens + tokens / NAMES,
                    Pick::Version(version) => candidates
                        .iter()
                        .find(|candidate| candidate.version_id == *version)
                        .map_or(*share, |candidate| candidate.output_tokens),
                    Pick::New => *share,
                };
                if need.least != need.most && choice.pick != Pick::New {
                    (need.least, need.most, has_settled) = (size, size, true);
                }
                Portion { version_id: choice.pick.version_id(), tokens: size, reason: choice.reason }
            })
            .collect();
        if !has_settled {
            return portions;
        }
    }
}
