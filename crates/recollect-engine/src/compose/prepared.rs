//! Sessions that were prepared for compositions, kept for the next: whoever moves a slider sees a preview each time, and
//! reading and compressing the sessions anew each time would be most of the wait.
//!
//! What is kept is of one state of a session, by everything that it is made from; of another state it is not found.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::api::compression::CompressionSettings;
use crate::compress::Outcome;
use crate::ids::SessionId;
use crate::time::Time;
use crate::versions::Source;

/// Tokens that all that is kept may have; the memory that they take is some bytes for each.
const MOST_TOKENS: u64 = 4_000_000;

/// Compressions of one session that are kept.
const MOST_OUTCOMES: usize = 24;

/// What nobody asked for in so many milliseconds goes with the next request.
const UNUSED: i64 = 10 * 60 * 1000;

/// Prepared sessions, those used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    sessions: Mutex<Vec<Session>>,
}

#[derive(Debug)]
struct Session {
    id: SessionId,
    /// Tells the state of the session from all others.
    state: [u8; 32],
    source: Arc<Source>,
    outcomes: Vec<(CompressionSettings, Arc<Outcome>)>,
    used: Time,
}

impl Session {
    fn tokens(&self) -> u64 {
        let made: u64 = self.outcomes.iter().map(|(_, outcome)| outcome.output_tokens * 2).sum();
        self.source.tokens.iter().sum::<u64>() + made
    }
}

impl Prepared {
    /// A session in a state, read by `read` unless it is here.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn source<E>(
        &self,
        id: &SessionId,
        state: [u8; 32],
        now: Time,
        read: impl FnOnce() -> Result<Source, E>,
    ) -> Result<Arc<Source>, E> {
        if let Some(source) = self.with(id, state, now, |session| Arc::clone(&session.source)) {
            return Ok(source);
        }
        let source = Arc::new(read()?);
        let mut sessions = self.sessions();
        // Of an older state nobody will ask again.
        sessions.retain(|session| session.id != *id && now.millis() - session.used.millis() < UNUSED);
        sessions.push(Session { id: id.clone(), state, source: Arc::clone(&source), outcomes: Vec::new(), used: now });
        shrink(&mut sessions);
        Ok(source)
    }

    /// A compression that was made of a session in a state.
    pub(super) fn outcome(
        &self,
        id: &SessionId,
        state: [u8; 32],
        now: Time,
        settings: &CompressionSettings,
    ) -> Option<Arc<Outcome>> {
        let known = |session: &mut Session| {
            session.outcomes.iter().find(|(made, _)| made == settings).map(|(_, outcome)| Arc::clone(outcome))
        };
        self.with(id, state, now, known).flatten()
    }

    /// Keeps a compression of a session that is here.
    pub(super) fn keep(
        &self,
        id: &SessionId,
        state: [u8; 32],
        now: Time,
        settings: &CompressionSettings,
        outcome: &Arc<Outcome>,
    ) {
        self.with(id, state, now, |session| {
            if session.outcomes.len() >= MOST_OUTCOMES {
                session.outcomes.remove(0);
            }
            session.outcomes.push((settings.clone(), Arc::clone(outcome)));
        });
        shrink(&mut self.sessions());
    }

    fn with<T>(&self, id: &SessionId, state: [u8; 32], now: Time, work: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let mut sessions = self.sessions();
        let at = sessions.iter().position(|session| session.id == *id && session.state == state)?;
        let mut session = sessions.remove(at);
        session.used = now;
        let found = work(&mut session);
        sessions.push(session);
        Some(found)
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets those go that were used longest ago, until all have few enough tokens.
fn shrink(sessions: &mut Vec<Session>) {
    let mut tokens: u64 = sessions.iter().map(Session::tokens).sum();
    while tokens > MOST_TOKENS && !sessions.is_empty() {
        tokens -= sessions.remove(0).tokens();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::testing::{Memory, Transcript};

    #[test]
    fn a_session_is_read_once_for_each_of_its_states_and_kept_for_a_while() {
        let transcript = Transcript::new("one").work("one", 2);
        let memory = Memory::at(1_800_000_000_000).take(std::slice::from_ref(&transcript));
        let id: SessionId = transcript.session_id().into();
        let source = Source::load(&memory.engine, &id, None).expect("the session");
        let prepared = Prepared::default();
        let reads = std::cell::Cell::new(0);
        let at = |minutes: i64| Time::from_millis(minutes * 60_000);
        let asked = |name: &str, state: u8, now: Time| {
            prepared
                .source(&name.into(), [state; 32], now, || {
                    reads.set(reads.get() + 1);
                    Ok::<_, Error>(source.clone())
                })
                .expect("a source");
            reads.get()
        };
        assert_eq!((asked("a", 1, at(0)), asked("a", 1, at(1)), asked("b", 1, at(1))), (1, 1, 2));
        assert_eq!(asked("a", 2, at(2)), 3, "another state of it");
        assert_eq!(asked("a", 1, at(2)), 4, "the older one is gone");
        assert_eq!(asked("b", 1, at(9)), 4, "asked for again");
        assert_eq!((asked("c", 1, at(13)), asked("b", 1, at(13)), asked("a", 1, at(13))), (5, 5, 6), "unused ones go");

        let settings = crate::compose::tighten::for_tokens(1_000, 200).expect("settings");
        let call = |call: &crate::engine::Call<'_>| crate::versions::run(call, &source, &settings).expect("compressed");
        let outcome = Arc::new(memory.call(call));
        prepared.keep(&"c".into(), [1; 32], at(14), &settings, &outcome);
        assert_eq!(prepared.outcome(&"c".into(), [1; 32], at(14), &settings), Some(outcome));
        assert_eq!(prepared.outcome(&"c".into(), [2; 32], at(14), &settings), None, "of another state");
    }
}
