//! `recollect watch`.

use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::ingest::{IngestReport, IngestStatus, IngestedSession};
use recollect_engine::api::watch::{WatchState, WatchStatus};
use recollect_engine::watch::{Follow, Told};
use serde_json::json;

use crate::face::Face;
use crate::output::units::{count, counted};
use crate::output::{FAINT, GOOD, NAME, Terminal, paint, text};

/// Take in what Claude Code writes, as it writes it
///
/// First takes in what changed while nobody looked, then each line within a second of being written, until it is stopped
/// (Ctrl-C). Each session that something came in for is a line of output. When another program follows already, such as
/// the desktop, this one waits and takes over when that ends. The desktop does the same while it runs.
///
/// With `--json` each line is a document: `event` is `status` (`state`: `catching_up`, `following`, `elsewhere`, `failing`),
/// `session` (as in `ingest`) or `failed` (`path`, `error`).
#[derive(Debug, Args)]
pub(crate) struct Watch {}

impl Watch {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let Self {} = self;
        let engine = face.engine()?;
        let failure = Arc::new(Mutex::new(None));
        let told = {
            let (terminal, stopper, failure) = (face.terminal.clone(), face.stopper(), Arc::clone(&failure));
            let shown = Mutex::new(WatchState::Off);
            move |told: Told<'_>| {
                let written = match told {
                    Told::Status(status) => {
                        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                        // Progress is no news here, and a look at everything that found nothing neither.
                        let is_news = *shown != status.state && status.state != WatchState::Off;
                        let is_routine = *shown == WatchState::Following && status.state == WatchState::CatchingUp;
                        if is_news && !is_routine {
                            *shown = status.state;
                            say(&terminal, status)
                        } else {
                            Ok(())
                        }
                    }
                    Told::TookIn(report) => show(&terminal, report),
                };
                if let Err(error) = written {
                    // Nobody reads any more.
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    stopper.send(()).ok();
                }
            }
        };
        engine.watch().start(engine, Follow { at_once: true, told: Arc::new(told) })?;
        face.until_stopped();
        engine.watch().stop();
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), Err)
    }
}

fn say(terminal: &Terminal, status: &WatchStatus) -> Result<()> {
    if terminal.json {
        let mut document = serde_json::to_value(status)?;
        document["event"] = json!("status");
        return terminal.record(&document);
    }
    let folders = status.folders.iter().map(|folder| text::line(folder)).collect::<Vec<_>>().join(", ");
    match status.state {
        WatchState::CatchingUp => terminal.note(paint(FAINT, format!("Catching up with {folders}"))),
        WatchState::Following => terminal.note(paint(FAINT, format!("Following {folders}; Ctrl-C ends it"))),
        WatchState::Elsewhere => terminal.note("Another program follows already; waiting for it to end"),
        _ => {}
    }
    if let Some(message) = &status.message {
        terminal.failed("following", message);
        if let Some(hint) = &status.hint {
            terminal.note(text::lines(hint));
        }
    }
    Ok(())
}

fn show(terminal: &Terminal, report: &IngestReport) -> Result<()> {
    let is_news = |session: &&IngestedSession| matches!(session.status, IngestStatus::New | IngestStatus::Updated);
    for session in report.sessions.iter().filter(is_news) {
        if terminal.json {
            let mut document = serde_json::to_value(session)?;
            document["event"] = json!("session");
            terminal.record(&document)?;
        } else {
            terminal.text(&line(session))?;
        }
    }
    for file in report.files.iter().filter(|file| file.status == IngestStatus::Failed) {
        let why = file.error.as_deref().unwrap_or("could not be read");
        if terminal.json {
            terminal.record(&json!({ "event": "failed", "path": file.path, "error": why }))?;
        } else {
            terminal.failed(&file.path, why);
        }
    }
    Ok(())
}

fn line(session: &IngestedSession) -> String {
    let status = if session.status == IngestStatus::New { "new    " } else { "updated" };
    let came = session.new_unique + session.duplicates;
    format!(
        "{}  {}  +{}  {}  {}\n",
        paint(GOOD, status),
        paint(NAME, &session.session_id),
        counted(came, "message"),
        paint(FAINT, format!("{} in all", count(session.messages))),
        text::line(&session.title)
    )
}
