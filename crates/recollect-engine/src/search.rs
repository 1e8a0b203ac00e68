//! Full-text search over everything textual: what was said, thought, called and returned, titles, keepits, versions.
//!
//! The index is derived from the database and the archive and can be made anew from them at any time. It is brought up to
//! date after each change and before each search; one program at a time does that, and all others search what is there.

mod answer;
mod dates;
mod directory;
mod language;
mod passages;
mod plan;
mod rank;
mod schema;
mod sessions;
mod snippet;
mod store;
mod terms;
#[cfg(test)]
mod tests;
mod topics;
mod update;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::api::search::{SearchAnswer, SearchRequest, Semantic};
use crate::engine::{Call, Cancel, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::SessionId;

pub(crate) use sessions::{FileTouches, TaskFit};
pub(crate) use store::Search;

/// What a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, rename = "SearchKind")]
pub enum Kind {
    /// Words of the person or the model.
    Text,
    /// The client's summary of a compacted context.
    Summary,
    /// Words that the client put in.
    Notice,
    /// What the model thought.
    Thinking,
    /// A call of a tool.
    ToolInput,
    /// What a tool returned.
    ToolOutput,
    /// A marked passage.
    Keepit,
    /// A passage of a compressed version.
    Version,
    /// The title of a session.
    Session,
}

impl Kind {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Summary,
        Self::Notice,
        Self::Thinking,
        Self::ToolInput,
        Self::ToolOutput,
        Self::Keepit,
        Self::Version,
        Self::Session,
    ];
}

/// Hits when no limit is given.
const USUAL: u32 = 20;
/// Hits at most.
const MOST: u32 = 1000;
/// Messages that the index may lack before a search at once no longer waits for them.
const FEW: u64 = 500;

/// Searches.
///
/// # Errors
/// `Usage` for a filter of the request (not of the query) that means nothing, `Io` when the memory cannot be read.
pub fn query(call: &Call<'_>, request: &SearchRequest) -> Result<SearchAnswer> {
    let start = Instant::now();
    let limit = request.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Error::usage(format!("a limit of {limit} is not between 1 and {MOST}")));
    }
    if request.semantic == Some(Semantic::On) {
        return Err(Error::new(ErrorKind::NotFound, "there is no model to search by meaning with")
            .hint("search by words: leave `--semantic` out, or use `--semantic auto`"));
    }
    let asked = answer::Asked::read(call.engine, request)?;
    let note = make_ready(call, request.at_once)?;
    let ready = start.elapsed();
    let mut answer = match guarded(call.engine, || asked.answer(call.engine, limit as usize)) {
        Ok(answer) => answer,
        Err(Failed { generation: Some(generation), .. }) => {
            // A damaged index is made anew, once.
            store::give_up(call.engine, &generation)?;
            let _ = make_ready(call, request.at_once)?;
            guarded(call.engine, || asked.answer(call.engine, limit as usize)).map_err(|failed| failed.error)?
        }
        Err(Failed { error, .. }) => return Err(error),
    };
    answer.notes.extend(note);
    answer.pending = call.engine.db().read(|rows| rows.search_backlog())?;
    // What was made searchable first is work of its own, which was shown as such.
    let elapsed = if ready.as_millis() > 100 { start.elapsed().saturating_sub(ready) } else { start.elapsed() };
    answer.elapsed_ms = (elapsed.as_secs_f64() * 1e5).round() / 100.0;
    Ok(answer)
}

/// How sessions fit a task; those that do not at all are not named. With `only`, no others are looked at.
///
/// # Errors
/// When the index cannot be read.
pub(crate) fn task_fits(
    call: &Call<'_>,
    task: &str,
    only: Option<&[SessionId]>,
) -> Result<BTreeMap<SessionId, TaskFit>> {
    asking(call, |searcher, fields| sessions::fits(call.engine, searcher, fields, task, only))
}

/// The sessions that are about a file, by a path or the end of one.
///
/// # Errors
/// When the index cannot be read.
pub(crate) fn file_touches(call: &Call<'_>, path: &str) -> Result<BTreeMap<SessionId, FileTouches>> {
    asking(call, |searcher, fields| sessions::touching(call.engine, searcher, fields, path))
}

/// The sessions that are about a topic: their titles name it, or they speak of it several times.
///
/// # Errors
/// When the index cannot be read.
pub(crate) fn about_topic(call: &Call<'_>, topic: &str) -> Result<BTreeSet<SessionId>> {
    asking(call, |searcher, fields| {
        let sessions = sessions::sessions_by_file(call.engine)?;
        let files = topics::files_about(searcher, fields, topic)?;
        Ok(files.iter().filter_map(|file| sessions.get(file).cloned()).collect())
    })
}

/// Asks the index something, once it has what is new; one that is damaged is made anew, once.
fn asking<T: Default>(call: &Call<'_>, ask: impl Fn(&tantivy::Searcher, &schema::Fields) -> Result<T>) -> Result<T> {
    let engine = call.engine;
    make_ready(call, false)?;
    let asked = || {
        let Some(index) = store::current(engine)? else { return Ok(T::default()) };
        ask(&index.searcher(&store::folder(engine, &index.generation))?, &index.fields)
    };
    match guarded(engine, asked) {
        Ok(answer) => Ok(answer),
        Err(Failed { generation: Some(generation), .. }) => {
            store::give_up(engine, &generation)?;
            make_ready(call, false)?;
            guarded(engine, asked).map_err(|failed| failed.error)
        }
        Err(Failed { error, .. }) => Err(error),
    }
}

/// Makes everything that is in memory searchable; when another program is doing so already, leaves it to that one.
///
/// # Errors
/// When the index cannot be written to; the memory itself is not affected.
pub fn catch_up(call: &Call<'_>) -> Result<()> {
    rebuilding(call, || update::catch_up(call, false))
}

/// Makes what a command changed searchable. The change itself is done, so that nothing here can fail it: the next search
/// tries again, and says what went wrong.
pub fn follow(call: &Call<'_>) {
    let _ = catch_up(call);
}

/// The same after a removal: what was removed is gone from the index's files too when this returns.
///
/// # Errors
/// When the index cannot be written to.
pub fn purge(call: &Call<'_>) -> Result<()> {
    rebuilding(call, || update::catch_up(call, true))
}

/// What is wrong with the index's files. A missing or an older index is no fault: the next search makes it.
///
/// # Errors
/// When the database cannot be asked.
pub fn faults(engine: &Engine) -> Result<Vec<String>> {
    store::faults(engine)
}

/// Makes the index anew from the memory.
///
/// # Errors
/// When it cannot be written.
pub fn rebuild(call: &Call<'_>) -> Result<()> {
    if let Some(generation) = store::generation(call.engine) {
        store::give_up(call.engine, &generation)?;
    }
    catch_up(call)
}

/// Runs work on the index; when the index fails, makes it anew.
fn rebuilding(call: &Call<'_>, work: impl Fn() -> Result<bool>) -> Result<()> {
    match guarded(call.engine, &work) {
        Ok(_) => Ok(()),
        Err(Failed { error, .. }) if error.kind == ErrorKind::Cancelled => Err(error),
        Err(Failed { generation: Some(generation), .. }) => {
            store::give_up(call.engine, &generation)?;
            work().map(|_| ())
        }
        Err(Failed { error, .. }) => Err(error),
    }
}

/// A failure, and the index that it is of.
struct Failed {
    error: Error,
    generation: Option<String>,
}

/// Runs work that reads or writes the index: a file of it that is damaged may show itself as a panic of its library.
fn guarded<T>(engine: &Engine, work: impl FnOnce() -> Result<T>) -> std::result::Result<T, Failed> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let (error, is_index) = match outcome {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => {
            let is_index =
                error.source.as_ref().is_some_and(|source| source.downcast_ref::<tantivy::TantivyError>().is_some());
            (error, is_index)
        }
        Err(_) => (Error::internal("the search index stopped unexpectedly"), true),
    };
    let generation = if is_index { store::generation(engine) } else { None };
    Err(Failed { error, generation })
}

/// Makes what changed searchable before a search: at once when that is little, else first or beside it. A note says when
/// that failed: what was searchable before still is.
fn make_ready(call: &Call<'_>, at_once: bool) -> Result<Option<String>> {
    if !update::is_needed(call.engine)? {
        return Ok(None);
    }
    let backlog = call.engine.db().read(|rows| rows.search_backlog())?;
    if at_once && (backlog > FEW || call.engine.search().working.load(Ordering::Relaxed)) {
        return in_background(call.engine).map(|()| None);
    }
    match catch_up(call) {
        Err(error) if error.kind == ErrorKind::Io && store::current(call.engine)?.is_some() => {
            Ok(Some(format!("what is newest cannot be found: {}", error.message)))
        }
        outcome => outcome.map(|()| None),
    }
}

/// Starts a thread that catches up, unless one is at it.
fn in_background(engine: &Engine) -> Result<()> {
    if engine.search().working.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    let own = engine.clone();
    let thread = move || {
        let call = Call { engine: &own, progress: &|_| {}, cancel: &Cancel::default() };
        // What fails is tried again by the next search, which says so.
        let _ = catch_up(&call);
        own.search().working.store(false, Ordering::Release);
    };
    if let Err(error) = std::thread::Builder::new().name("search-index".to_owned()).spawn(thread) {
        engine.search().working.store(false, Ordering::Release);
        return Err(error.into());
    }
    Ok(())
}
