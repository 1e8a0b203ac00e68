//! A composition in the making: what each component gives, joined, counted, and made to fit.

use std::collections::HashMap;
use std::rc::Rc;

use super::join::{Brought, Joined, join};
use super::material::Material;
use super::plan::{Part, Rendition, Taken, Wanted, take};
use super::render::{Manner, Section, Sheet, markdown, sayings};
use super::select::Pick;
use super::words::grouped;
use crate::api::composition::{
    Allocation, Component, ComponentRequest, ComposedMessage, CompositionPreview, CompositionRequest,
};
use crate::api::compression::{CompressionSettings, LeftOut};
use crate::compress;
use crate::engine::Call;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Progress};
use crate::ids::{CompositionId, VersionId};
use crate::registry;
use crate::tokens::Counter;

/// How often shares are dealt again because the whole did not come out as the sum of its parts.
const ROUNDS: usize = 5;

/// Reads what is known of the sessions of a request; one that is taken twice is read once.
///
/// # Errors
/// `Usage` for a request that is wrong in itself, `NotFound` for a session that is not there.
pub(super) fn materials<'c>(call: &'c Call<'c>, request: &CompositionRequest) -> Result<Vec<Rc<Material<'c>>>> {
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
}

/// A composition in the making.
pub(super) struct Draft<'c> {
    pub(super) seats: Vec<Seat<'c>>,
    pub(super) total_tokens: u64,
    budget: u64,
    counter: Counter,
    joined: Joined,
    manner: Manner,
    /// Of a name that is not settled yet: it counts.
    name: String,
}

impl<'c> Draft<'c> {
    /// Decides what each component gives. The whole is within the budget wherever a new compression can make it so.
    pub(super) fn make(
        call: &'c Call<'c>,
        request: &CompositionRequest,
        materials: &[Rc<Material<'c>>],
    ) -> Result<Self> {
        let counter = *call.engine.counter();
        let mut draft = Self {
            seats: Vec::new(),
            total_tokens: 0,
            budget: request.budget,
            counter,
            joined: Joined { stands: Vec::new(), shared: Vec::new() },
            manner: Manner::Full,
            name: request.name.clone(),
        };
        let wanted = request
            .components
            .iter()
            .zip(materials)
            .map(|(component, material)| wanted(component, material))
            .collect::<Result<Vec<_>>>()?;
        let overhead = draft.overhead(materials);
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
            let taken = taken(available, request, &wanted, materials)?;
            let flexible = taken.iter().any(|taken| taken.pick == Pick::New);
            let next = draft.with(taken, materials);
            let total = next.total_tokens;
            let shares = next.shared_messages() > 0;
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

    /// The draft with what was decided, joined and counted.
    fn with(&self, taken: Vec<Taken>, materials: &[Rc<Material<'c>>]) -> Self {
        let seats: Vec<Seat<'c>> = taken
            .into_iter()
            .zip(materials)
            .map(|(taken, material)| Seat { material: Rc::clone(material), version_id: taken.pick.version_id(), taken })
            .collect();
        let brought: Vec<Brought<'_>> = seats
            .iter()
            .map(|seat| Brought {
                session_id: &seat.material.session.session_id,
                origins: &seat.material.origins,
                messages: &seat.taken.rendition.messages,
                keepits: &seat.material.keepits,
            })
            .collect();
        let joined = join(&brought);
        let mut draft = Self { seats, joined, name: self.name.clone(), total_tokens: 0, ..*self };
        draft.total_tokens = draft.count();
        draft
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
        let sections = self.seats.iter().zip(&self.joined.stands).map(|(seat, stands)| {
            let messages = &seat.taken.rendition.messages;
            let session = &seat.material.session;
            Section {
                session_id: &session.session_id,
                title: seat.material.title(),
                first: session.first_timestamp,
                last: session.last_timestamp,
                // Three digits as any version's: the figures of a preview are those of the result.
                version: if seat.version_id == Pick::New.version_id() { "v000" } else { seat.version_id.as_str() },
                ratio: (seat.taken.pick != Pick::Original).then(|| seat.material.ratio_of(seat.taken.rendition.tokens)),
                messages: stands.iter().map(|at| &messages[*at]).collect(),
            }
        });
        Sheet { name, composition_id: composition_id.as_str(), sections: sections.collect(), manner: self.manner }
    }

    /// Tokens over the budget.
    fn over(&self) -> u64 {
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

    pub(super) fn preview(&self) -> CompositionPreview {
        let components = self.components();
        let given: u64 = components.iter().map(|component| component.token_contribution).sum();
        let messages = self.seats.iter().zip(&self.joined.stands).zip(0..).flat_map(|((seat, stands), component)| {
            let messages = &seat.taken.rendition.messages;
            stands.iter().map(move |at| ComposedMessage { component, message: messages[*at].clone() })
        });
        CompositionPreview {
            budget: self.budget,
            total_tokens: self.total_tokens,
            overhead_tokens: self.total_tokens.saturating_sub(given),
            total_messages: self.total_messages(),
            over: self.over(),
            messages: messages.collect(),
            left_out: self.left_out(),
            shared_messages: self.shared_messages(),
            components,
        }
    }

    pub(super) fn components(&self) -> Vec<Component> {
        self.seats
            .iter()
            .zip(&self.joined.stands)
            .zip(0..)
            .map(|((seat, stands), order)| seat.component(stands, order))
            .collect()
    }

    pub(super) fn total_messages(&self) -> u64 {
        self.joined.stands.iter().map(|stands| stands.len() as u64).sum()
    }

    pub(super) fn shared_messages(&self) -> u64 {
        self.joined.shared.iter().map(|shared| shared.len() as u64).sum()
    }

    /// What is not in it, by reason, over all components.
    pub(super) fn left_out(&self) -> Vec<LeftOut> {
        let mut all: Vec<LeftOut> = Vec::new();
        let mut add = |left: &LeftOut| match all.iter_mut().find(|known| known.reason == left.reason) {
            Some(known) => {
                known.messages += left.messages;
                known.tokens += left.tokens;
            }
            None => all.push(left.clone()),
        };
        for (seat, shared) in self.seats.iter().zip(&self.joined.shared) {
            seat.taken.rendition.left_out.iter().for_each(&mut add);
            if !shared.is_empty() {
                let tokens = shared.iter().map(|at| seat.taken.rendition.messages[*at].tokens).sum();
                add(&LeftOut { reason: "stands in another session".to_owned(), messages: shared.len() as u64, tokens });
            }
        }
        all
    }

    pub(super) fn sessions_changed(&self) -> Event {
        let sessions = || self.seats.iter().map(|seat| &seat.material.session);
        let mut project_ids: Vec<_> = sessions().map(|session| session.project_id.clone()).collect();
        project_ids.sort();
        project_ids.dedup();
        Event::SessionsChanged {
            project_ids,
            session_ids: sessions().map(|session| session.session_id.clone()).collect(),
        }
    }
}

impl Seat<'_> {
    fn component(&self, stands: &[usize], order: u32) -> Component {
        let Taken { pick, reason, share, rendition, warning, fix, .. } = &self.taken;
        let standing = || stands.iter().map(|at| &rendition.messages[*at]);
        let kept = self
            .material
            .keepits
            .iter()
            .filter(|words| standing().any(|message| message.text.contains(words.as_str())));
        let session = &self.material.session;
        Component {
            session_id: session.session_id.clone(),
            title: self.material.title().to_owned(),
            last_timestamp: session.last_timestamp,
            order,
            version_id: self.version_id.clone(),
            reason: reason.clone(),
            created: *pick == Pick::New,
            original_tokens: session.tokens,
            share: *share,
            token_contribution: self.material.tokens_of(standing()),
            messages: stands.len() as u64,
            keepits_kept: kept.count() as u64,
            keepits_total: self.material.keepits.len() as u64,
            warning: warning.clone(),
            fix: fix.clone(),
        }
    }
}

/// Chooses for all components within `available` tokens.
fn taken(
    available: u64,
    request: &CompositionRequest,
    wanted: &[Wanted],
    materials: &[Rc<Material<'_>>],
) -> Result<Vec<Taken>> {
    let count = materials.len();
    let existing: Vec<_> = materials.iter().map(|material| |pick: &Pick| material.existing(pick)).collect();
    let compress: Vec<_> =
        materials.iter().map(|material| |settings: &CompressionSettings| material.compressed(settings)).collect();
    let parts: Vec<Part<'_>> = (0..count)
        .map(|at| {
            let material = &materials[at];
            Part {
                name: format!("“{}”", material.title()),
                wanted: wanted[at].clone(),
                wish: request.components[at].tokens,
                weight: match request.allocation.unwrap_or_default() {
                    Allocation::Even => 1,
                    Allocation::ByLength => material.session.tokens.max(1),
                    Allocation::ByRecency => at as u64 + 1,
                },
                // The first is the oldest, which is the farthest (the sample of 4.4 has it backwards).
                distance: u32::try_from(count - at).unwrap_or(u32::MAX),
                original_tokens: material.session.tokens,
                candidates: material.candidates(),
                existing: &existing[at],
                compress: &compress[at],
            }
        })
        .collect();
    take(available, &parts)
}
