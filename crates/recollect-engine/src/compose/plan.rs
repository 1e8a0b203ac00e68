//! Decides what each component gives: shares, choices and new compressions, until the shares that some cannot use are used by others.

use super::allocate::{Need, shares};
use super::select::{Candidate, Choice, Pick, choose, fitting};
use super::tighten::{for_tokens, tightened};
use super::words::grouped;
use crate::api::compression::{CompressionSettings, LeftOut, VersionMessage};
use crate::compress::Needs;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::VersionId;

/// What a component is asked to be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    /// What suits best (4.3).
    Auto,
    /// The session as it is, or one version.
    Fixed(Pick),
    /// A new compression, with settings of the user's own or by its share.
    New(Option<CompressionSettings>),
}

/// A version of a session, ready to be joined.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rendition {
    pub(super) messages: Vec<VersionMessage>,
    /// What they take of the budget.
    pub(super) tokens: u64,
    pub(super) left_out: Vec<LeftOut>,
}

/// A session as a component.
pub(super) struct Part<'a> {
    /// As errors call it.
    pub(super) name: String,
    pub(super) wanted: Wanted,
    pub(super) wish: Option<u64>,
    pub(super) weight: u64,
    /// For the decay of keepits in a new compression, where its settings do not say.
    pub(super) distance: u32,
    /// Tokens of the session.
    pub(super) original_tokens: u64,
    pub(super) candidates: Vec<Candidate>,
    /// It has others that are not among them: they lack what is newer, and it was asked for.
    pub(super) has_outgrown: bool,
    /// Gives the original or a version.
    pub(super) existing: &'a dyn Fn(&Pick) -> Result<Rendition>,
    /// Makes a compression; nothing is stored.
    pub(super) compress: &'a dyn Fn(&CompressionSettings) -> Result<Rendition>,
}

/// What a component gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Taken {
    pub(super) pick: Pick,
    pub(super) reason: String,
    pub(super) share: u64,
    pub(super) rendition: Rendition,
    /// Of a new compression.
    pub(super) settings: Option<CompressionSettings>,
    pub(super) warning: Option<String>,
    pub(super) fix: Option<VersionId>,
}

/// A new compression that uses this much less of its share than it was given cannot use it.
const UNUSED_PART: u64 = 40;

struct Seat<'p, 'a> {
    part: &'p Part<'a>,
    need: Need,
    /// Decided for good.
    settled: bool,
    taken: Option<Taken>,
}

/// Chooses for all components within `available` tokens.
///
/// # Errors
/// `OverBudget` when keepits that must stay do not fit, naming them; whatever reading and compressing gives.
pub(super) fn take(available: u64, parts: &[Part<'_>]) -> Result<Vec<Taken>> {
    let mut seats = parts.iter().map(Seat::new).collect::<Result<Vec<_>>>()?;
    warn(available, &mut seats);
    // Each round settles a component, or raises what one needs by a quarter at least.
    for _ in 0..parts.len() * 8 + 8 {
        let given = allot(available, &seats);
        let mut changed = false;
        for (seat, share) in seats.iter_mut().zip(&given).filter(|(seat, _)| !seat.settled) {
            changed |= seat.settle_with_existing(*share)?;
        }
        if changed {
            continue;
        }
        for at in 0..seats.len() {
            if !seats[at].settled {
                let others: u64 =
                    seats.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, seat)| seat.need.least).sum();
                changed |= match seats[at].compress(given[at], available.saturating_sub(others)) {
                    Err(error) if error.kind == ErrorKind::OverBudget => {
                        return Err(with_others(error, available, &seats, at));
                    }
                    outcome => outcome?,
                };
            }
        }
        if !changed {
            break;
        }
    }
    use_what_is_left(available, &mut seats)?;
    seats.into_iter().map(|seat| seat.taken.ok_or_else(|| Error::internal("a component was not decided"))).collect()
}

/// Names the other components that leave one too little room: it may be one of them that has to change.
fn with_others(error: Error, available: u64, seats: &[Seat<'_, '_>], at: usize) -> Error {
    let mut others: Vec<&Seat<'_, '_>> =
        seats.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, seat)| seat).collect();
    others.retain(|seat| seat.need.least > 0);
    if others.is_empty() || seats[at].part.wish.is_some() {
        return error;
    }
    others.sort_by_key(|seat| std::cmp::Reverse(seat.need.least));
    let more = others.len().saturating_sub(MOST_NAMED);
    let mut names: Vec<String> =
        others.iter().take(MOST_NAMED).map(|seat| format!("{} {}", seat.part.name, grouped(seat.need.least))).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let needs = format!("of the {} tokens others need theirs: {}", grouped(available), names.join(", "));
    Error { message: format!("{}; {needs}", error.message), ..error }
}

/// Other components that an error names.
const MOST_NAMED: usize = 3;

fn allot(available: u64, seats: &[Seat<'_, '_>]) -> Vec<u64> {
    shares(available, &seats.iter().map(|seat| seat.need).collect::<Vec<_>>())
}

/// Says of versions that were asked for what does not fit the share that they would have, with one that does.
fn warn(available: u64, seats: &mut [Seat<'_, '_>]) {
    let free: Vec<Need> = seats.iter().map(|seat| Need { least: 0, ..seat.need }).collect();
    for (seat, share) in seats.iter_mut().zip(shares(available, &free)) {
        let part = seat.part;
        let Some(taken) = &mut seat.taken else { continue };
        taken.share = share;
        let size = taken.rendition.tokens;
        if size > share {
            let version = taken.pick.version_id();
            taken.warning =
                Some(format!("{version} has {} tokens, {} more than its share", grouped(size), grouped(size - share)));
            let fix = fitting(part.original_tokens, &part.candidates, share, &version);
            taken.fix = Some(fix.unwrap_or_else(|| Pick::New.version_id()));
        }
    }
}

/// Lets components, the last one first, take something larger where others left tokens.
fn use_what_is_left(available: u64, seats: &mut [Seat<'_, '_>]) -> Result<()> {
    let used = |seats: &[Seat<'_, '_>]| {
        seats.iter().filter_map(|seat| seat.taken.as_ref()).map(|taken| taken.rendition.tokens).sum::<u64>()
    };
    for at in (0..seats.len()).rev() {
        let left = available.saturating_sub(used(seats));
        let part = seats[at].part;
        let Some(taken) = &seats[at].taken else { continue };
        if part.wanted != Wanted::Auto || taken.pick == Pick::Original || left == 0 {
            continue;
        }
        let share = part.wish.unwrap_or(u64::MAX).min(taken.rendition.tokens + left);
        let (choice, rendition) = part.chosen(share)?;
        if let Some(rendition) = rendition.filter(|rendition| rendition.tokens > taken.rendition.tokens) {
            seats[at].settle(choice, share, rendition);
        }
    }
    Ok(())
}

impl Pick {
    /// As requests and records name it.
    pub(super) fn version_id(&self) -> VersionId {
        match self {
            Self::Original => VersionId::from("original"),
            Self::Version(version) => version.clone(),
            Self::New => VersionId::from("new"),
        }
    }
}

impl Part<'_> {
    /// The best choice for a share, with its rendition unless it has to be made.
    fn chosen(&self, share: u64) -> Result<(Choice, Option<Rendition>)> {
        let mut candidates = self.candidates.clone();
        let mut original = self.original_tokens;
        loop {
            let choice = choose(original, &candidates, share, None);
            if choice.pick == Pick::New {
                return Ok((choice, None));
            }
            let rendition = (self.existing)(&choice.pick)?;
            if rendition.tokens <= share {
                return Ok((choice, Some(rendition)));
            }
            // With the names of the speakers it is over: choose again with its real size.
            match &choice.pick {
                Pick::Version(version) => candidates
                    .iter_mut()
                    .filter(|candidate| candidate.version_id == *version)
                    .for_each(|candidate| candidate.output_tokens = rendition.tokens),
                Pick::Original | Pick::New => original = rendition.tokens,
            }
        }
    }
}

impl<'p, 'a> Seat<'p, 'a> {
    fn new(part: &'p Part<'a>) -> Result<Self> {
        // Rendered, with the names of the speakers, an original has some more.
        let most = part.original_tokens + part.original_tokens / 16 + 24;
        let need = Need { wish: part.wish, weight: part.weight, least: 0, most };
        let mut seat = Self { part, need, settled: false, taken: None };
        if let Wanted::Fixed(pick) = &part.wanted {
            let rendition = (part.existing)(pick)?;
            let reason = format!("{}: as asked for", pick.version_id());
            seat.settle(Choice { pick: pick.clone(), reason }, 0, rendition);
        }
        Ok(seat)
    }

    fn settle(&mut self, choice: Choice, share: u64, rendition: Rendition) {
        self.need.least = rendition.tokens;
        self.need.most = rendition.tokens;
        self.settled = true;
        let Choice { pick, reason } = choice;
        self.taken = Some(Taken { pick, reason, share, rendition, settings: None, warning: None, fix: None });
    }

    /// Settles on the original or on a version, where one suits the share.
    fn settle_with_existing(&mut self, share: u64) -> Result<bool> {
        if self.part.wanted != Wanted::Auto {
            return Ok(false);
        }
        let (choice, rendition) = self.part.chosen(share)?;
        let Some(rendition) = rendition else { return Ok(false) };
        self.settle(choice, share, rendition);
        Ok(true)
    }

    /// Makes a compression for a share. True when the shares have to be dealt again: it cannot use its share, or needs more.
    /// `room` is what the others do not need.
    fn compress(&mut self, share: u64, room: u64) -> Result<bool> {
        if self.taken.as_ref().is_some_and(|taken| taken.share == share) {
            return Ok(false);
        }
        let made = match self.squeezed(share) {
            Ok(made) => made,
            // Settings were checked before: there is too little of it to leave anything out, or too little room.
            Err(error) if error.kind == ErrorKind::Usage => return self.settle_uncompressed(share, room),
            Err(error) => return self.raise_need(error, room),
        };
        let (settings, rendition) = made;
        let reason = match &self.part.wanted {
            Wanted::New(Some(asked)) if *asked == settings => "new: with the settings asked for".to_owned(),
            Wanted::New(Some(_)) => "new: with the settings asked for, tightened to fit its share".to_owned(),
            Wanted::New(None) => "new: as asked for".to_owned(),
            _ => match choose(self.part.original_tokens, &self.part.candidates, share, None) {
                _ if self.part.has_outgrown && self.part.candidates.is_empty() => {
                    "new: its versions lack what is newer".to_owned()
                }
                Choice { pick: Pick::New, reason } => reason,
                // By its count alone something fits; rendered, with what stands between messages, it does not.
                _ => format!("new: nothing that is there fits {} tokens as it is rendered", grouped(share)),
            },
        };
        let unused = share - rendition.tokens;
        let cannot_use = unused > share / UNUSED_PART && unused > 16;
        if cannot_use {
            // What it has is its own: others that need more later cannot be dealt a part of it.
            (self.need.least, self.need.most) = (rendition.tokens, rendition.tokens);
            self.settled = true;
        }
        let pick = Pick::New;
        self.taken = Some(Taken { pick, reason, share, rendition, settings: Some(settings), warning: None, fix: None });
        Ok(cannot_use)
    }

    /// Asks for more where a compression says what it needs.
    fn raise_need(&mut self, error: Error, room: u64) -> Result<bool> {
        let Some(Needs(needed)) = error.source.as_deref().and_then(|source| source.downcast_ref::<Needs>()).copied()
        else {
            return Err(self.named(error));
        };
        if self.part.wish.is_some() {
            // A share that was wished for is not overstepped.
            let hint = format!("give it at least {} tokens, or lower the weights of its keepits", grouped(needed));
            return Err(self.named(error).hint(hint));
        }
        if needed > room || self.need.least >= room {
            let missing = grouped(needed.saturating_sub(room).max(1));
            let hint =
                format!("give a budget that is at least {missing} tokens larger, or lower the weights of keepits");
            return Err(self.named(error).hint(hint));
        }
        // With the names of the speakers it is a little more.
        let raised = (needed + needed / 16 + 24).max(self.need.least + self.need.least / 4);
        self.need.least = raised.min(room);
        self.need.most = self.need.most.max(self.need.least);
        Ok(true)
    }

    /// Takes a session as it is that cannot be compressed.
    fn settle_uncompressed(&mut self, share: u64, room: u64) -> Result<bool> {
        let rendition = (self.part.existing)(&Pick::Original)?;
        let most = self.part.wish.map_or(room, |wish| wish.min(room));
        if rendition.tokens > most {
            let message =
                format!("nothing of it fits {} tokens, all of it has {}", grouped(share), grouped(rendition.tokens));
            let error = Error::new(ErrorKind::OverBudget, message).hint("give a larger budget, or take fewer sessions");
            return Err(self.named(error));
        }
        let reason = "original: too short to be compressed".to_owned();
        self.settle(Choice { pick: Pick::Original, reason }, share.max(rendition.tokens), rendition);
        Ok(true)
    }

    /// A compression with at most `share` tokens, and its settings: made again with them it is the same.
    fn squeezed(&self, share: u64) -> Result<(CompressionSettings, Rendition)> {
        let part = self.part;
        let mut settings = match &part.wanted {
            Wanted::New(Some(settings)) => settings.clone(),
            _ => for_tokens(part.original_tokens, share)?,
        };
        settings.session_distance.get_or_insert(part.distance);
        let mut last = 0;
        for _ in 0..8 {
            let rendition = (part.compress)(&settings)?;
            last = rendition.tokens;
            if last <= share {
                return Ok((settings, rendition));
            }
            match tightened(&settings, last as f64 / share.max(1) as f64) {
                Some(tighter) => settings = tighter,
                None => break,
            }
        }
        let message = format!(
            "{} tokens are the least that it can be compressed to, its share is {}",
            grouped(last),
            grouped(share)
        );
        Err(Error::new(ErrorKind::OverBudget, message)
            .hint("give a larger budget or fewer sessions")
            .because(Needs(last)))
    }

    fn named(&self, error: Error) -> Error {
        Error { message: format!("{}: {}", self.part.name, error.message), ..error }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A session of so many tokens with versions of so many, whose compressions come out somewhat larger than asked for.
    #[derive(Debug, Clone)]
    struct Session {
        tokens: u64,
        versions: Vec<u64>,
        wanted: Wanted,
        wish: Option<u64>,
        weight: u64,
        /// Keepits that no compression may lose.
        pinned: u64,
        /// Nothing more can be said, however large the share.
        most: u64,
    }

    fn rendition(tokens: u64) -> Rendition {
        Rendition { messages: Vec::new(), tokens, left_out: Vec::new() }
    }

    impl Session {
        fn new(tokens: u64) -> Self {
            Self {
                tokens,
                versions: Vec::new(),
                wanted: Wanted::Auto,
                wish: None,
                weight: 1,
                pinned: 0,
                most: u64::MAX,
            }
        }

        fn existing(&self, pick: &Pick) -> Result<Rendition> {
            Ok(rendition(match pick {
                Pick::Version(version) => {
                    let number: usize = version.as_str()[1..].parse().expect("a number");
                    // Names of speakers come on top.
                    self.versions[number] + self.versions[number] / 50
                }
                Pick::Original | Pick::New => self.tokens,
            }))
        }

        fn compress(&self, settings: &CompressionSettings) -> Result<Rendition> {
            let budget = (self.tokens as f64 / settings.compaction_ratio.expect("uniform")).floor() as u64;
            if self.pinned > budget {
                let message = format!("keepits need {} tokens", self.pinned);
                return Err(Error::new(ErrorKind::OverBudget, message).because(Needs(self.pinned)));
            }
            let said = budget.min(self.most);
            Ok(rendition((said + said / 40).max(1)))
        }
    }

    fn taken(available: u64, sessions: &[Session]) -> Result<Vec<Taken>> {
        let existing: Vec<_> = sessions.iter().map(|session| |pick: &Pick| session.existing(pick)).collect();
        let compress: Vec<_> =
            sessions.iter().map(|session| |settings: &CompressionSettings| session.compress(settings)).collect();
        let parts: Vec<Part<'_>> = sessions
            .iter()
            .enumerate()
            .map(|(at, session)| Part {
                name: format!("session {at}"),
                wanted: session.wanted.clone(),
                wish: session.wish,
                weight: session.weight,
                distance: (sessions.len() - at) as u32,
                original_tokens: session.tokens,
                candidates: (0..session.versions.len())
                    .map(|number| Candidate {
                        version_id: format!("v{number:03}").into(),
                        output_tokens: session.versions[number],
                        ratio: session.tokens as f64 / session.versions[number] as f64,
                        preserved: 1,
                        summarized: 0,
                        covered: 1.0,
                    })
                    .collect(),
                has_outgrown: false,
                existing: &existing[at],
                compress: &compress[at],
            })
            .collect();
        take(available, &parts)
    }

    fn figures(taken: &[Taken]) -> Vec<(String, u64)> {
        taken.iter().map(|taken| (taken.pick.version_id().to_string(), taken.rendition.tokens)).collect()
    }

    #[test]
    fn what_an_original_leaves_goes_to_new_compressions() {
        let taken = taken(9_000, &[Session::new(1_000), Session::new(100_000), Session::new(80_000)]).expect("fits");
        assert_eq!(taken[0].pick, Pick::Original);
        assert!(
            taken[1..].iter().all(|taken| taken.share == 4_000 && taken.rendition.tokens > 3_900),
            "{:?}",
            figures(&taken)
        );
        assert_eq!(taken[1].reason, "new: there is no version yet");
        let distances: Vec<_> =
            taken[1..].iter().filter_map(|taken| taken.settings.as_ref()?.session_distance).collect();
        assert_eq!(distances, [2, 1], "the oldest is the farthest");
    }

    #[test]
    fn a_share_that_grew_is_chosen_for_again() {
        // At an even share v000 is best; with what the first leaves, the original fits.
        let second = Session { versions: vec![4_500], ..Session::new(8_000) };
        let taken = taken(9_500, &[Session::new(1_000), second]).expect("fits");
        assert_eq!(figures(&taken), [("original".to_owned(), 1_000), ("original".to_owned(), 8_000)]);
    }

    #[test]
    fn a_session_that_cannot_fill_its_share_leaves_it_to_the_others() {
        let thin = Session { most: 500, ..Session::new(50_000) };
        let taken = taken(8_000, &[thin, Session::new(90_000)]).expect("fits");
        assert!(taken[0].rendition.tokens < 600 && taken[1].rendition.tokens > 7_200, "{:?}", figures(&taken));
    }

    #[test]
    fn a_version_that_is_too_large_is_taken_with_a_warning_and_a_way_out() {
        let asked = Session {
            versions: vec![7_000, 3_000],
            wanted: Wanted::Fixed(Pick::Version("v000".into())),
            ..Session::new(100_000)
        };
        let taken = taken(10_000, &[asked, Session::new(90_000)]).expect("fits");
        assert_eq!(taken[0].warning.as_deref(), Some("v000 has 7,140 tokens, 2,140 more than its share"));
        assert_eq!((taken[0].share, taken[0].fix.clone()), (5_000, Some("v001".into())));
        assert_eq!(taken[0].reason, "v000: as asked for");
        assert!(taken[1].rendition.tokens <= 2_860, "the others give way: the total is hard");
    }

    #[test]
    fn a_session_that_is_too_short_to_be_compressed_is_taken_as_it_is() {
        let short = Session { wanted: Wanted::New(None), ..Session::new(1) };
        let taken_ = taken(3_000, &[short.clone(), Session::new(90_000)]).expect("fits");
        assert_eq!(taken_[0].pick, Pick::Original);
        assert_eq!(taken_[0].reason, "original: too short to be compressed");
        assert_eq!(taken(0, &[short]).expect_err("no room at all").kind, ErrorKind::OverBudget);
    }

    #[test]
    fn keepits_take_what_they_need_from_the_others_but_not_more_than_was_wished() {
        let pinned = Session { pinned: 3_000, ..Session::new(100_000) };
        let taken_ = taken(4_000, &[pinned.clone(), Session::new(90_000)]).expect("fits");
        assert!(
            taken_[0].rendition.tokens >= 3_000
                && figures(&taken_).iter().map(|(_, tokens)| tokens).sum::<u64>() <= 4_000
        );
        let wished = Session { wish: Some(2_000), ..pinned.clone() };
        let error = taken(4_000, &[wished, Session::new(90_000)]).expect_err("it was wished");
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::OverBudget, "session 0: keepits need 3000 tokens")
        );
        assert_eq!(error.hint.as_deref(), Some("give it at least 3,000 tokens, or lower the weights of its keepits"));
        let error = taken(5_000, &[pinned.clone(), pinned]).expect_err("both need 3,000");
        assert!(
            error.message.contains("session 0") && error.message.contains("session 1"),
            "whichever fails: {}",
            error.message
        );
        assert!(error.kind == ErrorKind::OverBudget && error.hint.is_some_and(|hint| hint.contains("tokens larger")));
    }

    #[test]
    fn settings_of_the_users_own_are_kept_where_they_fit_and_tightened_where_not() {
        let asked = |ratio: f64| CompressionSettings {
            compaction_ratio: Some(ratio),
            ..for_tokens(1_000, 100).expect("settings")
        };
        let session = |ratio| Session { wanted: Wanted::New(Some(asked(ratio))), ..Session::new(100_000) };
        let taken_ = taken(8_000, &[session(50.0), Session::new(90_000)]).expect("fits");
        assert_eq!(taken_[0].settings.as_ref().and_then(|settings| settings.compaction_ratio), Some(50.0));
        assert!(taken_[1].rendition.tokens > 5_500, "what it leaves is used: {:?}", figures(&taken_));
        let taken_ = taken(8_000, &[session(5.0), Session::new(90_000)]).expect("fits");
        assert!(taken_[0].rendition.tokens <= 4_000);
        assert_eq!(taken_[0].reason, "new: with the settings asked for, tightened to fit its share");
    }

    fn sessions() -> impl Strategy<Value = Vec<Session>> {
        let session = (
            1_u64..200_000,
            prop::collection::vec(1_u64..20_000, 0..4),
            prop::option::of(1_u64..9_000),
            1_u64..2_000_000_000,
            0_u64..400,
            200_u64..90_000,
        )
            .prop_map(|(tokens, versions, wish, weight, pinned, most)| Session {
                versions: versions.into_iter().map(|version| version.min(tokens)).collect(),
                wish,
                weight,
                pinned: pinned.min(tokens),
                most: most.max(pinned),
                ..Session::new(tokens)
            });
        prop::collection::vec(session, 1..9)
    }

    proptest! {
        #[test]
        fn what_is_chosen_and_made_never_exceeds_the_budget(available in 500_u64..60_000, sessions in sessions()) {
            let first = taken(available, &sessions);
            let Ok(first) = first else {
                prop_assert_eq!(first.map_err(|error| error.kind == ErrorKind::OverBudget).err(), Some(true));
                return Ok(());
            };
            let total: u64 = first.iter().map(|taken| taken.rendition.tokens).sum();
            prop_assert!(total <= available, "{} of {}: {:?}", total, available, figures(&first));
            for (taken, session) in first.iter().zip(&sessions) {
                if let Some(wish) = session.wish {
                    prop_assert!(taken.rendition.tokens <= wish);
                }
            }
            prop_assert_eq!(taken(available, &sessions).ok(), Some(first), "the same each time");
        }
    }
}
