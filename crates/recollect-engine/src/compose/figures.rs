//! What a draft says of itself: its preview, its components, what it leaves out.

use super::draft::{Draft, Seat};
use super::plan::Taken;
use super::select::Pick;
use crate::api::composition::{Component, ComposedMessage, CompositionPreview};
use crate::api::compression::LeftOut;
use crate::event::Event;

impl Draft<'_> {
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
            seat.taken.rendition.left_out.iter().chain(&seat.given_way).for_each(&mut add);
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
        let mut reason = reason.clone();
        if let Some(given_way) = &self.given_way {
            reason.push_str(&format!(
                ", {} older {} of files gave way to the newest",
                given_way.messages,
                if given_way.messages == 1 { "state" } else { "states" }
            ));
        }
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
            reason,
            created: *pick == Pick::New,
            original_tokens: session.tokens,
            original_messages: session.messages,
            share: *share,
            share_reason: self.share_reason.clone(),
            token_contribution: self.material.tokens_of(standing()),
            messages: stands.len() as u64,
            keepits_kept: kept.count() as u64,
            keepits_total: self.material.keepits.len() as u64,
            warning: warning.clone(),
            fix: fix.clone(),
        }
    }
}
