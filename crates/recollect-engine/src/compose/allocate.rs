//! Shares a budget among components (4.4): wishes first, the rest by weight, what one cannot use goes to the others.

/// What a component asks of the budget, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    /// Asked for by the user.
    pub(super) wish: Option<u64>,
    /// Its part of what is left once wishes are granted.
    pub(super) weight: u64,
    /// It cannot do with less: the size of a version that was chosen, keepits that must stay.
    pub(super) least: u64,
    /// It cannot use more: the size of its original.
    pub(super) most: u64,
}

/// Fraction bits of the level that weights are multiplied by.
const FRACTION: u32 = 40;

/// The share of each component. Every share is at least `least` and at most `most`; the sum is at most `available`
/// unless the `least` alone are more. Where a `wish` is under `least`, `least` stands.
///
/// All that is available is shared out unless nobody can use more.
pub(super) fn shares(available: u64, needs: &[Need]) -> Vec<u64> {
    let mut shares: Vec<u64> = needs.iter().map(|need| need.least).collect();
    let wished: Vec<Bounds> = needs
        .iter()
        .map(|need| match need.wish {
            // In proportion to the wishes, when they cannot all be granted.
            Some(wish) => Bounds { weight: wish.max(1), least: need.least, most: wish.min(need.most).max(need.least) },
            None => Bounds { weight: 0, least: need.least, most: need.least },
        })
        .collect();
    fill(available, &wished, &mut shares);
    let rest: Vec<Bounds> = needs
        .iter()
        .zip(&shares)
        .map(|(need, share)| match need.wish {
            Some(_) => Bounds { weight: 0, least: *share, most: *share },
            None => Bounds { weight: need.weight.max(1), least: need.least, most: need.most.max(need.least) },
        })
        .collect();
    fill(available, &rest, &mut shares);
    shares
}

struct Bounds {
    weight: u64,
    least: u64,
    most: u64,
}

/// Finds the highest level at which `weight × level`, kept within each one's bounds, is within `total`.
fn fill(total: u64, bounds: &[Bounds], shares: &mut [u64]) {
    let at = |level: u128| bounds.iter().map(move |bound| bound.at(level));
    let sum = |level: u128| at(level).map(u128::from).sum::<u128>();
    if sum(0) >= u128::from(total) {
        return;
    }
    let (mut low, mut high) = (0, u128::from(total) << FRACTION);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if sum(middle) <= u128::from(total) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    for (share, granted) in shares.iter_mut().zip(at(low)) {
        *share = granted;
    }
    // What rounding left: less than one token for each.
    let mut left = u128::from(total) - sum(low);
    for (share, bound) in shares.iter_mut().zip(bounds) {
        if left > 0 && bound.weight > 0 && *share < bound.most {
            *share += 1;
            left -= 1;
        }
    }
}

impl Bounds {
    fn at(&self, level: u128) -> u64 {
        let share = (u128::from(self.weight) * level) >> FRACTION;
        u64::try_from(share).unwrap_or(u64::MAX).clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn free(most: u64) -> Need {
        Need { wish: None, weight: 1, least: 0, most }
    }

    #[test]
    fn what_one_cannot_use_goes_to_the_others() {
        assert_eq!(shares(9000, &[free(1_000), free(90_000), free(90_000)]), [1_000, 4_000, 4_000]);
        assert_eq!(shares(9000, &[free(1_000), free(3_500), free(90_000)]), [1_000, 3_500, 4_500], "to the end");
        assert_eq!(shares(9000, &[free(1_000), free(2_000)]), [1_000, 2_000], "nobody gets more than it can use");
        assert_eq!(shares(10, &[free(90), free(90), free(90)]), [4, 3, 3], "the last token is given too");
    }

    #[test]
    fn wishes_are_granted_before_the_rest_is_shared() {
        let wish = |wish| Need { wish: Some(wish), ..free(90_000) };
        assert_eq!(shares(16_000, &[wish(3_000), wish(8_000), free(90_000)]), [3_000, 8_000, 5_000]);
        assert_eq!(shares(16_000, &[wish(3_000), wish(4_000)]), [3_000, 4_000], "what nobody wished stays free");
        assert_eq!(shares(6_000, &[wish(3_000), wish(9_000)]), [1_500, 4_500], "too many wishes shrink alike");
        assert_eq!(shares(9_000, &[Need { most: 500, ..wish(3_000) }, free(90_000)]), [500, 8_500]);
    }

    #[test]
    fn what_cannot_shrink_is_taken_from_the_others() {
        let fixed = Need { wish: None, weight: 1, least: 6_000, most: 6_000 };
        assert_eq!(shares(9_000, &[fixed, free(90_000), free(90_000)]), [6_000, 1_500, 1_500]);
        assert_eq!(shares(5_000, &[fixed, free(90_000)]), [6_000, 0], "more than there is: said by the sum");
    }

    #[test]
    fn weights_share_in_proportion() {
        let weighted = |weight| Need { weight, ..free(900_000) };
        assert_eq!(shares(6_000, &[weighted(1), weighted(2), weighted(3)]), [1_000, 2_000, 3_000]);
    }

    fn needs() -> impl Strategy<Value = Vec<Need>> {
        let need =
            (prop::option::of(0_u64..20_000), 1_u64..2_000_000_000, 0_u64..3_000, 0_u64..2_000_000_000, any::<bool>())
                .prop_map(|(wish, weight, least, more, floor)| {
                    let least = if floor { least } else { 0 };
                    Need { wish, weight, least, most: least + more % 40_000 }
                });
        prop::collection::vec(need, 1..12)
    }

    proptest! {
        #[test]
        fn shares_keep_their_bounds_and_the_budget(available in 0_u64..100_000, needs in needs()) {
            let given = shares(available, &needs);
            prop_assert_eq!(&given, &shares(available, &needs), "the same each time");
            let floors: u64 = needs.iter().map(|need| need.least).sum();
            prop_assert!(given.iter().sum::<u64>() <= available.max(floors));
            for (share, need) in given.iter().zip(&needs) {
                prop_assert!((need.least..=need.most).contains(share));
                if let Some(wish) = need.wish {
                    prop_assert!(*share <= wish.max(need.least), "never more than was wished");
                }
            }
        }

        #[test]
        fn nothing_that_can_be_used_is_left(available in 0_u64..100_000, needs in needs()) {
            let given = shares(available, &needs);
            let full = needs.iter().zip(&given).all(|(need, share)| *share >= need.wish.map_or(need.most, |wish| wish.min(need.most)));
            let floors: u64 = needs.iter().map(|need| need.least).sum();
            prop_assert!(full || given.iter().sum::<u64>() >= available.max(floors).min(available) , "{given:?}");
        }

        #[test]
        fn a_larger_budget_takes_nothing_away(available in 0_u64..100_000, more in 0_u64..10_000, needs in needs()) {
            let (small, large) = (shares(available, &needs), shares(available + more, &needs));
            for (small, large) in small.iter().zip(&large) {
                prop_assert!(*large + 1 >= *small, "but for the token that rounding gives to another");
            }
        }
    }
}
