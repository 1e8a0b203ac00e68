//! A composition in the making: what each component gives, joined, counted, and made to fit.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::dealing::{self, Claim, Dealt};
use super::join::{Brought, Joined, join};
use super::material::Material;
use super::plan::{Part, Rendition, Taken, Wanted, take};
use super::render::{Extent, Manner, Section, Sheet, markdown, sayings};
use super::select::Pick;
use super::states::{Held, superseded};
use super::words::grouped;
use crate::api::composition::{Allocation, ComponentRequest, CompositionRequest, Order};
use crate::api::compression::{CompressionSettings, LeftOut, VersionMessageKind};
use crate::compress;
use crate::engine::Call;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Progress;
use crate::ids::{CompositionId, VersionId};
use crate::line::one_line;
use crate::registry;
use crate::search;
use crate::tokens::Counter;

/// How often shares are dealt again because the whole did not come out as the sum of its parts.
const ROUNDS: usize = 5;

/// Which versions are fresh enough to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Any; those that a session has outgrown count less.
    Any,
    /// Those of the whole session as it is.
    Whole,
}

/// A request with what is known of its sessions, both in the order of the result.
pub(super) struct Asked<'c> {
    pub(super) request: CompositionRequest,
    /// The request as it is stored: in its own order, each session by its whole id.
    pub(super) stored: CompositionRequest,
    freshness: Freshness,
    pub(super) materials: Vec<Rc<Material<'c>>>,
    /// What each component is given, and its age: 1 for the most recent.
    dealt: Vec<(Dealt, u32)>,
}

/// Reads what is known of the sessions of a request; one that is taken twice is read once.
///
/// # Errors
/// `Usage` for a request that is wrong in itself, `NotFound` for a session that is not there.
pub(super) fn asked<'c>(call: &'c Call<'c>, request: &CompositionRequest, freshness: Freshness) -> Result<Asked<'c>> {
    let mut request = request.clone();
    let mut materials = materials(call, &request)?;
    for (component, material) in request.components.iter_mut().zip(&materials) {
        component.session = material.session.session_id.to_string();
    }
    let stored = request.clone();
    if request.order == Some(Order::ByTime) {
        let mut both: Vec<_> = materials.into_iter().zip(request.components).collect();
        both.sort_by_key(|(material, _)| material.session.first_timestamp.or(material.session.last_timestamp));
        (materials, request.components) = both.into_iter().unzip();
    }
    let matches = match (dealing::allocation(&request), dealing::task(&request)) {
        (Allocation::ByRelevance, Some(task)) => {
            let only: Vec<_> = materials.iter().map(|material| material.session.session_id.clone()).collect();
            search::task_fits(call, task, Some(&only))?
        }
        _ => BTreeMap::new(),
    };
    let ages = ages(&materials);
    let claims: Vec<Claim> = materials
        .iter()
        .zip(&request.components)
        .zip(&ages)
        .map(|((material, component), age)| Claim {
            wish: component.tokens,
            tokens: material.session.tokens,
            age: *age,
            matches: matches.get(&material.session.session_id).map_or(0.0, |fit| fit.matches),
        })
        .collect();
    let dealt = dealing::deal(dealing::allocation(&request), &claims).into_iter().zip(ages).collect();
    Ok(Asked { request, stored, freshness, materials, dealt })
}

/// How old each session is among them: 1 for the most recent. Of equals the later one is the more recent.
fn ages(materials: &[Rc<Material<'_>>]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..materials.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse((materials[*at].session.last_timestamp, *at)));
    let mut ages = vec![0; materials.len()];
    for (age, at) in (1..).zip(order) {
        ages[at] = age;
    }
    ages
}

fn materials<'c>(call: &'c Call<'c>, request: &CompositionRequest) -> Result<Vec<Rc<Material<'c>>>> {
    dealing::check(request)?;
    if request.budget == 0 {
        return Err(
            Error::usage("a budget of 0 tokens has no room for anything").hint("give a budget, for example 16000")
        );
    }
    if request.components.is_empty() {
        return Err(Error::usage("a composition needs at least one session")
            .hint("name sessions by id, unique prefix or `latest`"));
    }
    let mut known: HashMap<_, Rc<Material<'c>>> = HashMap::new();
    let mut materials = Vec::with_capacity(request.components.len());
    for component in &request.components {
        if component.tokens == Some(0) {
            return Err(Error::usage(format!("0 tokens are wished for session {}", component.session))
                .hint("leave the session out, or wish for more"));
        }
        let session = registry::resolve(call.engine, &component.session)?;
        let material = match known.get(&session) {
            Some(material) => Rc::clone(material),
            None => {
                let material = Rc::new(Material::new(call, &session)?);
                known.insert(session, Rc::clone(&material));
                material
            }
        };
        materials.push(material);
    }
    Ok(materials)
}

/// What a request asks a component to be.
fn wanted(component: &ComponentRequest, material: &Material<'_>) -> Result<Wanted> {
    if let Some(settings) = &component.settings {
        compress::resolve(settings, 1)?;
    }
    let fixed = |pick| match &component.settings {
        Some(_) => Err(Error::usage(format!(
            "settings are given for session {}, but a version that is there is asked for",
            component.session
        ))
        .hint("ask for `new`, or leave the settings out")),
        None => Ok(Wanted::Fixed(pick)),
    };
    match component.version.as_deref() {
        // Settings ask for a compression by them (4.4 `recompressSettings`).
        None | Some("auto" | "") => {
            Ok(component.settings.clone().map_or(Wanted::Auto, |settings| Wanted::New(Some(settings))))
        }
        Some("new") => Ok(Wanted::New(component.settings.clone())),
        Some("original") => fixed(Pick::Original),
        Some(version) => {
            let version = VersionId::from(version);
            material.version(&version)?;
            fixed(Pick::Version(version))
        }
    }
}

/// A component of the draft.
pub(super) struct Seat<'c> {
    pub(super) material: Rc<Material<'c>>,
    pub(super) taken: Taken,
    /// The version taken; `new` until it is made.
    pub(super) version_id: VersionId,
    /// Why it was given its share.
    pub(super) share_reason: String,
    /// What it read of files that others have a newer state of.
    pub(super) given_way: Option<LeftOut>,
}

/// A composition in the making.
pub(super) struct Draft<'c> {
    pub(super) seats: Vec<Seat<'c>>,
    pub(super) total_tokens: u64,
    pub(super) budget: u64,
    pub(super) joined: Joined,
    counter: Counter,
    manner: Manner,
    /// Nothing is decided yet: figures stand for the largest that they can be.
    is_estimate: bool,
    /// Of a name that is not settled yet: it counts.
    name: String,
}

impl<'c> Draft<'c> {
    /// Decides what each component gives. The whole is within the budget wherever a new compression can make it so.
    pub(super) fn make(call: &'c Call<'c>, asked: &Asked<'c>) -> Result<Self> {
        let Asked { request, materials, .. } = asked;
        let counter = *call.engine.counter();
        let mut draft = Self {
            seats: Vec::new(),
            total_tokens: 0,
            budget: request.budget,
            counter,
            joined: Joined { stands: Vec::new(), shared: Vec::new() },
            manner: Manner::Full,
            is_estimate: true,
            name: request.name.clone(),
        };
        let wanted = request
            .components
            .iter()
            .zip(materials)
            .map(|(component, material)| wanted(component, material))
            .collect::<Result<Vec<_>>>()?;
        let overhead = draft.overhead(materials);
        draft.is_estimate = false;
        if overhead >= request.budget {
            return Err(Error::new(
                ErrorKind::OverBudget,
                format!(
                    "the headings of {} sessions need {} tokens, the budget is {}",
                    materials.len(),
                    grouped(overhead),
                    grouped(request.budget)
                ),
            )
            .hint("give a larger budget or fewer sessions"));
        }
        let mut available = request.budget - overhead;
        let mut best: Option<Self> = None;
        for round in 0..ROUNDS {
            (call.progress)(Progress {
                done: round as u64,
                total: ROUNDS as u64,
                unit: "rounds".to_owned(),
                stage: "sharing the budget".to_owned(),
            });
            let taken = taken(available, asked, &wanted)?;
            let flexible = taken.iter().any(|taken| taken.pick == Pick::New);
            let next = draft.with(taken, asked)?;
            let total = next.total_tokens;
            let shares = next.shared_messages() > 0 || next.seats.iter().any(|seat| seat.given_way.is_some());
            let fits = total <= request.budget;
            let better = best.as_ref().is_none_or(|best| best.over() > 0 || (fits && total > best.total_tokens));
            if better {
                best = Some(next);
            }
            if !flexible {
                break;
            }
            if fits {
                // Messages that stand once have freed tokens: they are given to those that can use them.
                let free = request.budget - total;
                if !better || !shares || free <= request.budget / 50 {
                    break;
                }
                available += free - free / 8;
            } else {
                available = available.saturating_sub(total - request.budget);
            }
        }
        best.ok_or_else(|| Error::internal("a composition was not decided"))
    }

    /// Chooses how much headings say by the budget, and counts them without any message.
    fn overhead(&mut self, materials: &[Rc<Material<'c>>]) -> u64 {
        let empty = |material: &Rc<Material<'c>>| Seat {
            material: Rc::clone(material),
            taken: Taken {
                pick: Pick::New,
                reason: String::new(),
                share: 0,
                rendition: Rendition { messages: Vec::new(), tokens: 0, left_out: Vec::new() },
                settings: None,
                warning: None,
                fix: None,
            },
            version_id: Pick::New.version_id(),
            share_reason: String::new(),
            given_way: None,
        };
        self.seats = materials.iter().map(empty).collect();
        self.joined = Joined { stands: vec![Vec::new(); materials.len()], shared: vec![Vec::new(); materials.len()] };
        let mut overhead = 0;
        for manner in [Manner::Full, Manner::Brief] {
            self.manner = manner;
            // Between headings and messages stand line breaks.
            overhead = self.count() + 4 * materials.len() as u64;
            if overhead <= self.budget / 8 {
                break;
            }
        }
        overhead
    }

    /// The draft with what was decided, joined and counted. Where not everything fits, older states of files give way.
    fn with(&self, taken: Vec<Taken>, asked: &Asked<'c>) -> Result<Self> {
        let seats: Vec<Seat<'c>> = taken
            .into_iter()
            .zip(&asked.materials)
            .zip(&asked.dealt)
            .map(|((taken, material), (dealt, _))| Seat {
                material: Rc::clone(material),
                version_id: taken.pick.version_id(),
                taken,
                share_reason: dealt.reason.clone(),
                given_way: None,
            })
            .collect();
        let joined = Joined { stands: Vec::new(), shared: Vec::new() };
        let mut draft = Self { seats, joined, name: self.name.clone(), total_tokens: 0, ..*self };
        draft.join()?;
        Ok(draft)
    }

    /// Joins what the components give, and counts.
    pub(super) fn join(&mut self) -> Result<()> {
        let brought: Vec<Brought<'_>> = self
            .seats
            .iter()
            .map(|seat| Brought {
                session_id: &seat.material.session.session_id,
                origins: &seat.material.origins,
                messages: &seat.taken.rendition.messages,
                keepits: &seat.material.keepits,
            })
            .collect();
        self.joined = join(&brought);
        self.total_tokens = self.count();
        if self.over() > 0 || self.seats.iter().any(|seat| seat.taken.pick != Pick::Original) {
            self.give_way()?;
        }
        Ok(())
    }

    /// Makes older states of files give way to the newest that stand, and counts again.
    fn give_way(&mut self) -> Result<()> {
        let mut held = Vec::new();
        for (order, (seat, stands)) in self.seats.iter().zip(&self.joined.stands).enumerate() {
            // Only what is word for word holds a state; in compressions hardly anything that was read is.
            if seat.taken.pick != Pick::Original {
                continue;
            }
            let states = seat.material.states()?;
            for at in stands {
                let message = &seat.taken.rendition.messages[*at];
                let [index] = message.source_indexes.as_slice() else { continue };
                if let Some(state) = states.get(index) {
                    let time = message.timestamp.or(seat.material.session.last_timestamp);
                    held.push(Held { at: (order, *at), state, time });
                }
            }
        }
        let gone = superseded(&held);
        let mut has_gone = false;
        for ((order, at), (newest, _)) in gone {
            let title = self.seats[newest].material.title().to_owned();
            let counter = self.counter;
            let seat = &mut self.seats[order];
            let is_marked = |text: &str| seat.material.keepits.iter().any(|words| text.contains(words.as_str()));
            let message = &mut seat.taken.rendition.messages[at];
            let note = format!("(as it was then; its newest state is in {}. {})", newest + 1, one_line(&title, 60));
            let (before, after) = (message.tokens, counter.count(&note));
            if after * 2 > before || is_marked(&message.text) {
                continue;
            }
            message.text = note;
            message.kind = VersionMessageKind::Elided;
            message.tokens = after;
            let reason = "an older state of a file".to_owned();
            let left = seat.given_way.get_or_insert(LeftOut { reason, messages: 0, tokens: 0 });
            left.messages += 1;
            left.tokens += before - after;
            has_gone = true;
        }
        if has_gone {
            self.total_tokens = self.count();
        }
        Ok(())
    }

    /// Tokens of the whole, in the larger of its two forms.
    fn count(&self) -> u64 {
        let id = CompositionId::from("");
        let sheet = self.sheet(&self.name, &id);
        let (opening, said) = sayings(&sheet);
        let spoken =
            self.counter.count(&opening.text) + said.iter().map(|saying| self.counter.count(&saying.text)).sum::<u64>();
        self.counter.count(&markdown(&sheet)).max(spoken)
    }

    pub(super) fn sheet<'s>(&'s self, name: &'s str, composition_id: &'s CompositionId) -> Sheet<'s> {
        let mut projects: Vec<&str> = Vec::new();
        for seat in &self.seats {
            if !projects.contains(&seat.material.project_name.as_str()) {
                projects.push(&seat.material.project_name);
            }
        }
        let sections = self.seats.iter().zip(&self.joined.stands).map(|(seat, stands)| {
            let messages = &seat.taken.rendition.messages;
            let session = &seat.material.session;
            Section {
                session_id: &session.session_id,
                title: seat.material.title(),
                project: (projects.len() > 1).then_some(seat.material.project_name.as_str()),
                first: session.first_timestamp,
                last: session.last_timestamp,
                // Three digits as any version's: the figures of a preview are those of the result.
                version: if seat.version_id == Pick::New.version_id() { "v000" } else { seat.version_id.as_str() },
                ratio: (seat.taken.pick != Pick::Original).then(|| seat.material.ratio_of(seat.taken.rendition.tokens)),
                messages: stands.iter().map(|at| &messages[*at]).collect(),
            }
        });
        let sections = sections.collect();
        let extent = self.extent();
        Sheet { name, composition_id: composition_id.as_str(), projects, sections, extent, manner: self.manner }
    }

    /// How much of the sessions stands; the most that it can be while nothing is decided.
    fn extent(&self) -> Extent {
        let mut known = std::collections::HashSet::new();
        let sessions = self.seats.iter().filter(|seat| known.insert(&seat.material.session.session_id));
        let all: u64 = sessions.map(|seat| seat.material.session.messages).sum();
        if self.is_estimate {
            return Extent { all, whole: all, shortened: all };
        }
        let (mut whole, mut shortened) = (std::collections::HashSet::new(), std::collections::HashSet::new());
        for (seat, stands) in self.seats.iter().zip(&self.joined.stands) {
            let session = &seat.material.session.session_id;
            for message in stands.iter().map(|at| &seat.taken.rendition.messages[*at]) {
                let set = if message.kind == VersionMessageKind::Verbatim { &mut whole } else { &mut shortened };
                set.extend(message.source_indexes.iter().map(|index| (session, *index)));
            }
        }
        shortened.retain(|source| !whole.contains(source));
        Extent { all, whole: whole.len() as u64, shortened: shortened.len() as u64 }
    }

    /// Tokens over the budget.
    pub(super) fn over(&self) -> u64 {
        self.total_tokens.saturating_sub(self.budget)
    }

    /// # Errors
    /// `OverBudget` with what each component needs.
    pub(super) fn check_budget(&self) -> Result<()> {
        if self.over() == 0 {
            return Ok(());
        }
        let components = self.components();
        let needs: Vec<String> = components
            .iter()
            .map(|component| {
                format!("{} of “{}” {}", component.version_id, component.title, grouped(component.token_contribution))
            })
            .collect();
        let given: u64 = components.iter().map(|component| component.token_contribution).sum();
        let message = format!(
            "the composition needs {} tokens, the budget is {}: {}, headings {}",
            grouped(self.total_tokens),
            grouped(self.budget),
            needs.join(", "),
            grouped(self.total_tokens.saturating_sub(given))
        );
        Err(Error::new(ErrorKind::OverBudget, message).hint(format!(
            "give a budget of {}, or let versions be chosen (`auto`) or made (`new`)",
            grouped(self.total_tokens)
        )))
    }
}

/// Chooses for all components within `available` tokens.
fn taken(available: u64, asked: &Asked<'_>, wanted: &[Wanted]) -> Result<Vec<Taken>> {
    let Asked { request, materials, dealt, .. } = asked;
    let existing: Vec<_> = materials.iter().map(|material| |pick: &Pick| material.existing(pick)).collect();
    let compress: Vec<_> =
        materials.iter().map(|material| |settings: &CompressionSettings| material.compressed(settings)).collect();
    let parts: Vec<Part<'_>> = (0..materials.len())
        .map(|at| {
            let material = &materials[at];
            let candidates = material.candidates(asked.freshness == Freshness::Whole);
            Part {
                name: format!("“{}”", material.title()),
                wanted: wanted[at].clone(),
                wish: request.components[at].tokens,
                weight: dealt[at].0.weight,
                // The oldest is the farthest (the sample of 4.4 has it backwards).
                distance: dealt[at].1,
                original_tokens: material.session.tokens,
                has_outgrown: candidates.len() < material.versions.len(),
                candidates,
                existing: &existing[at],
                compress: &compress[at],
            }
        })
        .collect();
    take(available, &parts)
}
