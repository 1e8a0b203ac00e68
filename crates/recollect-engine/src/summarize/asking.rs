//! Asks: some chunks at a time, within what may be spent, and each answer is kept by what it was asked, so that a run that was
//! stopped or killed goes on where it was, and nothing is paid for twice.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Asked, prompt};
use crate::dedup::ContentHash;
use crate::engine::{Call, Cancel};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Progress;
use crate::home::{create_private, write_atomically};
use crate::ids::SessionId;
use crate::language_model::{Answer, Question};
use crate::models::Model;

/// How long a wish to stop may go unseen by whoever waits for others.
const GLANCE: Duration = Duration::from_millis(25);

/// Tokens that a model may write beyond what is wanted: some think before they write, and what they think counts.
const THINKING: u64 = 4_096;

/// What a run has used so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Spent {
    /// Questions that were asked.
    pub(super) calls: u64,
    /// Answers that were there already.
    pub(super) reused: u64,
    /// Tokens read.
    pub(super) input_tokens: u64,
    /// Tokens written.
    pub(super) output_tokens: u64,
    /// Dollars; none when a price is not known.
    pub(super) cost: Option<f64>,
    done: u64,
}

/// What one wish of the user has spent, however many compressions it takes: the cap holds for all of them together.
#[derive(Debug, Default)]
pub struct Account {
    paid: Mutex<Paid>,
    settled: Condvar,
}

#[derive(Debug, Default)]
struct Paid {
    /// Dollars.
    spent: f64,
    /// Dollars that questions on their way may cost at most.
    reserved: f64,
}

impl Account {
    /// Sets aside what a question may cost at most; where only others on their way stand against it, once they are answered.
    ///
    /// # Errors
    /// `Conflict` when it is more than may still be spent; `Cancelled`.
    fn reserve(&self, most: f64, cap: f64, cancel: &Cancel) -> Result<()> {
        let mut paid = self.paid();
        loop {
            cancel.check()?;
            let spent = paid.spent;
            if spent + most > cap {
                return Err(Error::conflict(format!(
                    "stopped before the cost could be over the cap of ${cap:.2}: ${spent:.4} are spent, and what is asked next \
                     could bring it to ${:.4}",
                    spent + most
                ))
                .hint("raise the cap with --max-cost or the setting `engines.maxCost`, or choose a cheaper model"));
            }
            if paid.reserved <= 0.0 || spent + paid.reserved + most <= cap {
                paid.reserved += most;
                return Ok(());
            }
            paid =
                self.settled.wait_timeout(paid, GLANCE).map_or_else(|broken| broken.into_inner().0, |(paid, _)| paid);
        }
    }

    /// What a question has cost of what was set aside for it.
    fn settle(&self, reserved: f64, cost: f64) {
        let mut paid = self.paid();
        paid.spent += cost;
        paid.reserved -= reserved;
        // Sums of fractions come out beside nothing.
        if paid.reserved < 1e-9 {
            paid.reserved = 0.0;
        }
        self.settled.notify_all();
    }

    fn paid(&self) -> MutexGuard<'_, Paid> {
        self.paid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the questions of one run.
pub(super) struct Asking<'a> {
    call: &'a Call<'a>,
    session: &'a SessionId,
    asked: &'a Asked,
    account: &'a Account,
    all: u64,
    spent: Mutex<Spent>,
}

/// Dollars for tokens; none when a price is not known.
pub(super) fn cost(model: &Model, input_tokens: u64, output_tokens: u64) -> Option<f64> {
    Some((input_tokens as f64 * model.input_price? + output_tokens as f64 * model.output_price?) / 1_000_000.0)
}

impl<'a> Asking<'a> {
    pub(super) fn new(
        call: &'a Call<'a>,
        session: &'a SessionId,
        asked: &'a Asked,
        account: &'a Account,
        all: usize,
    ) -> Self {
        let spent = Mutex::new(Spent { cost: Some(0.0), ..Spent::default() });
        Self { call, session, asked, account, all: all as u64, spent }
    }

    /// What was used.
    pub(super) fn spent(&self) -> Spent {
        self.books().clone()
    }

    fn books(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something for each, some at a time, in any order; the results are in the order given. After a failure nothing more
    /// is begun; what is under way ends, since it is paid for.
    pub(super) fn all<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let failed = || failure.lock().unwrap_or_else(PoisonError::into_inner);
        std::thread::scope(|scope| {
            for _ in 0..self.asked.parallel.max(1) {
                scope.spawn(|| {
                    while failed().is_none() {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(item) = items.get(at) else { break };
                        match self.call.cancel.check().and_then(|()| work(item)) {
                            Ok(result) => {
                                results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
                            }
                            Err(error) => {
                                let mut failure = failed();
                                // The first says why; that others were cancelled says nothing.
                                if failure.is_none() {
                                    *failure = Some(error);
                                }
                            }
                        }
                    }
                });
            }
        });
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(self.stopped(error));
        }
        Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect())
    }

    /// Says what of a run that failed is kept.
    fn stopped(&self, error: Error) -> Error {
        let spent = self.spent();
        if spent.done == 0 || error.kind == ErrorKind::Cancelled {
            return error;
        }
        let mut kept = format!(
            "{} of {} answers are kept and not asked for again",
            spent.done.min(self.all),
            self.all.max(spent.done)
        );
        if let Some(cost) = spent.cost.filter(|cost| *cost > 0.0) {
            kept.push_str(&format!(", ${cost:.4} were spent"));
        }
        let hint = error.hint.clone().map_or(kept.clone(), |hint| format!("{hint}; {kept}"));
        error.hint(hint)
    }

    /// Whether the answer to a question is there already.
    pub(super) fn is_kept(&self, question: &str, budget: u64) -> bool {
        self.kept(&self.place(question, self.most(budget))).is_some()
    }

    /// Asks, unless the answer is there already; none when the answer is empty or was cut off, which is not kept.
    pub(super) fn ask(&self, question: &str, budget: u64) -> Result<Option<String>> {
        self.call.cancel.check()?;
        let max_tokens = self.most(budget);
        let place = self.place(question, max_tokens);
        if let Some(answer) = self.kept(&place) {
            let mut spent = self.books();
            spent.reused += 1;
            spent.done += 1;
            drop(spent);
            self.tell();
            return Ok(Some(answer.text));
        }
        let most = self.worst(question, budget)?;
        let reserve = || self.account.reserve(most, self.asked.cap, self.call.cancel);
        reserve()?;
        self.tell();
        let mut is_reserved = true;
        // Nobody says what an attempt cost that broke off: the worst of it is spent.
        let mut lost = || {
            self.account.settle(most, most);
            is_reserved = false;
            self.book(most);
            reserve()?;
            is_reserved = true;
            Ok(())
        };
        let asked = Question { model: &self.asked.model.id, system: prompt::SYSTEM, prompt: question, max_tokens };
        let answer = self.call.engine.language_models().ask(&self.asked.endpoint, &asked, self.call.cancel, &mut lost);
        let reserved = if is_reserved { most } else { 0.0 };
        let answer = answer.inspect_err(|_| self.account.settle(reserved, 0.0))?;
        let used = self.used(&answer, question);
        let paid = answer.cost.or_else(|| cost(&self.asked.model, used.0, used.1)).unwrap_or(most);
        self.account.settle(reserved, paid);
        self.book(paid);
        let mut spent = self.books();
        spent.calls += 1;
        spent.done += 1;
        spent.input_tokens += used.0;
        spent.output_tokens += used.1;
        drop(spent);
        let is_whole = is_whole(&answer);
        if is_whole {
            create_private(&self.call.engine.home().answers(self.session))?;
            write_atomically(&place, &serde_json::to_vec(&answer)?)?;
        }
        self.tell();
        Ok(is_whole.then_some(answer.text))
    }

    fn book(&self, paid: f64) {
        let mut spent = self.books();
        spent.cost = spent.cost.map(|sum| sum + paid);
    }

    /// Tokens read and written; counted where the other side did not say.
    fn used(&self, answer: &Answer, question: &str) -> (u64, u64) {
        let counter = self.call.engine.counter();
        let said = |tokens: u64, text: &str| if tokens > 0 { tokens } else { counter.count(text) };
        (said(answer.input_tokens, question), said(answer.output_tokens, &answer.text))
    }

    /// Dollars that a question costs at most.
    ///
    /// # Errors
    /// `Conflict` when no price is known.
    pub(super) fn worst(&self, question: &str, budget: u64) -> Result<f64> {
        let counter = self.call.engine.counter();
        // Our count of tokens is an estimate: a hard cap needs the worst of it.
        let read = (counter.count(prompt::SYSTEM) + counter.count(question)) * 5 / 4 + 100;
        let model = &self.asked.model;
        cost(model, read, self.most(budget)).ok_or_else(|| {
            Error::conflict(format!("the price of {} is not known, so what it costs cannot be capped", model.id))
                .hint("add it to the setting `models.own` with its prices; 0 for one that costs nothing")
        })
    }

    fn most(&self, budget: u64) -> u64 {
        (budget * 2 + THINKING).min(self.asked.model.context_window / 2)
    }

    fn kept(&self, place: &PathBuf) -> Option<Answer> {
        serde_json::from_slice(&fs_err::read(place).ok()?).ok().filter(is_whole)
    }

    fn place(&self, question: &str, max_tokens: u64) -> PathBuf {
        let engine = self.asked.endpoint.engine.name();
        let key = format!(
            "{}\n{engine}\n{}\n{}\n{max_tokens}\n{}\n{question}",
            prompt::VERSION,
            self.asked.endpoint.address,
            self.asked.model.id,
            prompt::SYSTEM
        );
        self.call.engine.home().answers(self.session).join(format!("{}.json", ContentHash::of(&key)))
    }

    fn tell(&self) {
        let spent = self.spent();
        let tokens = spent.input_tokens + spent.output_tokens;
        let cost = spent.cost.map_or(String::new(), |cost| format!(", ${cost:.4}"));
        (self.call.progress)(Progress {
            done: spent.done.min(self.all),
            total: self.all,
            unit: "calls".to_owned(),
            stage: format!("asking {} ({tokens} tokens{cost})", self.asked.model.id),
        });
    }
}

/// Whether an answer says something, to its end.
fn is_whole(answer: &Answer) -> bool {
    !answer.cut && !answer.text.trim().is_empty()
}
