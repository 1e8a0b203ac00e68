//! How a budget is dealt: the weight of each component, with the reason in words.

use super::words::grouped;
use crate::api::composition::{Allocation, CompositionRequest};
use crate::error::{Error, Result};

/// A part of the whole that weighs nothing else: for a session that says nothing of the task, by relevance.
const LEAST: f64 = 0.1;

/// What the parts of a whole are counted in.
const WHOLE: f64 = 1e9;

/// A component, as far as it tells what it is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Claim {
    /// Tokens that the user wished for.
    pub(super) wish: Option<u64>,
    /// Tokens of its session.
    pub(super) tokens: u64,
    /// 1 for the most recent of all, 2 for the one before, …
    pub(super) age: u32,
    /// What its session says of the task: the scores of its matches, added up.
    pub(super) matches: f64,
}

/// What a component is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dealt {
    pub(super) weight: u64,
    pub(super) reason: String,
}

/// How a request wants its budget to be shared.
pub(super) fn allocation(request: &CompositionRequest) -> Allocation {
    let by_task = if task(request).is_some() { Allocation::ByRelevance } else { Allocation::Even };
    request.allocation.unwrap_or(by_task)
}

/// What a request is for.
pub(super) fn task(request: &CompositionRequest) -> Option<&str> {
    request.task.as_deref().map(str::trim).filter(|task| !task.is_empty())
}

/// # Errors
/// `Usage` when the request does not say what its way of sharing needs.
pub(super) fn check(request: &CompositionRequest) -> Result<()> {
    match allocation(request) {
        Allocation::ByRelevance if task(request).is_none() => {
            Err(Error::usage("sharing by relevance needs a task").hint("say what the context is for: --task TEXT"))
        }
        Allocation::Manual => match request.components.iter().find(|component| component.tokens.is_none()) {
            Some(component) => {
                Err(Error::usage(format!("sharing by hand needs tokens for session {}", component.session))
                    .hint("give each session its tokens, as ID=4000, or share in another way"))
            }
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Deals to all components.
pub(super) fn deal(allocation: Allocation, claims: &[Claim]) -> Vec<Dealt> {
    let count = claims.len();
    let all_tokens: u64 = claims.iter().map(|claim| claim.tokens.max(1)).sum();
    let ages: u64 = claims.iter().map(|claim| recency(claim, count)).sum();
    let matches: f64 = claims.iter().map(|claim| claim.matches).sum();
    claims
        .iter()
        .map(|claim| {
            if let Some(wish) = claim.wish {
                return Dealt { weight: 1, reason: format!("{} tokens were wished for", grouped(wish)) };
            }
            let equal = || Dealt { weight: 1, reason: "an equal part".to_owned() };
            match allocation {
                Allocation::Even | Allocation::Manual => equal(),
                Allocation::ByLength => {
                    let weight = claim.tokens.max(1);
                    Dealt { weight, reason: format!("{} of all tokens", percent(weight as f64 / all_tokens as f64)) }
                }
                Allocation::ByRecency => {
                    let weight = recency(claim, count);
                    let part = percent(weight as f64 / ages.max(1) as f64);
                    let age = if claim.age == 1 {
                        "the most recent".to_owned()
                    } else {
                        format!("number {} by age", claim.age)
                    };
                    Dealt { weight, reason: format!("{age}: {part}") }
                }
                Allocation::ByRelevance if matches <= 0.0 => {
                    Dealt { reason: "nothing matches the task: an equal part".to_owned(), ..equal() }
                }
                Allocation::ByRelevance => {
                    let part = claim.matches / matches;
                    let least = LEAST / count as f64;
                    let reason = if claim.matches > 0.0 {
                        format!("{} of the task's matches", percent(part))
                    } else {
                        "no match of the task: the least".to_owned()
                    };
                    Dealt { weight: (part.max(least) * WHOLE) as u64, reason }
                }
            }
        })
        .collect()
}

fn recency(claim: &Claim, count: usize) -> u64 {
    (count as u64 + 1).saturating_sub(claim.age.into()).max(1)
}

fn percent(part: f64) -> String {
    match part * 100.0 {
        small if small > 0.0 && small < 1.0 => "under 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(tokens: u64, age: u32, matches: f64) -> Claim {
        Claim { wish: None, tokens, age, matches }
    }

    fn dealt(allocation: Allocation, claims: &[Claim]) -> Vec<(u64, String)> {
        deal(allocation, claims).into_iter().map(|dealt| (dealt.weight, dealt.reason)).collect()
    }

    #[test]
    fn each_way_of_sharing_says_why() {
        let claims = [claim(1_000, 2, 3.0), claim(3_000, 1, 0.0), claim(0, 3, 1.0)];
        let words = |allocation| dealt(allocation, &claims).into_iter().map(|(_, reason)| reason).collect::<Vec<_>>();
        assert_eq!(words(Allocation::Even), ["an equal part"; 3]);
        assert_eq!(
            words(Allocation::ByLength),
            ["25 % of all tokens", "75 % of all tokens", "under 1 % of all tokens"]
        );
        assert_eq!(
            words(Allocation::ByRecency),
            ["number 2 by age: 33 %", "the most recent: 50 %", "number 3 by age: 17 %"]
        );
        let by_task = dealt(Allocation::ByRelevance, &claims);
        assert_eq!(by_task[0], (750_000_000, "75 % of the task's matches".to_owned()));
        assert_eq!(by_task[1].1, "no match of the task: the least");
        assert!(by_task[1].0 > 0 && by_task[1].0 < by_task[2].0 / 5, "it is heard all the same: {by_task:?}");
        let wished = Claim { wish: Some(4_000), ..claims[0] };
        assert_eq!(dealt(Allocation::Manual, &[wished])[0].1, "4,000 tokens were wished for");
        assert_eq!(
            dealt(Allocation::ByRelevance, &[claim(9, 1, 0.0)])[0],
            (1, "nothing matches the task: an equal part".to_owned())
        );
    }
}
