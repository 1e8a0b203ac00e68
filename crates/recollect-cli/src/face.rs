//! What a command is given: the memory, opened when it is first asked for, and the terminal.

use std::cell::OnceCell;
use std::sync::mpsc::{Receiver, Sender};

use recollect_engine::api::session::{SessionListRequest, SessionSummary};
use recollect_engine::engine::{Call, Cancel, Work};
use recollect_engine::{Engine, EngineOptions, Error, Result, api};

use crate::output::Terminal;
use crate::progress::Report;

/// The memory and the terminal of one run.
pub(crate) struct Face {
    /// Where output goes.
    pub(crate) terminal: Terminal,
    /// The places.
    pub(crate) options: EngineOptions,
    stop: Stop,
    engine: OnceCell<Engine>,
}

/// What ends a run before its work is done.
pub(crate) struct Stop {
    cancel: Cancel,
    asked: Receiver<()>,
    ask: Sender<()>,
}

impl Stop {
    /// The first Ctrl-C (or termination) asks the work to stop where nothing is half-written; the second stops at once.
    pub(crate) fn on_signals() -> Result<Self> {
        let cancel = Cancel::default();
        let (ask, asked) = std::sync::mpsc::channel();
        let (own, signalled) = (cancel.clone(), ask.clone());
        ctrlc::set_handler(move || {
            if own.check().is_err() {
                std::process::exit(130);
            }
            own.cancel();
            // Nobody waits but what goes on until it is stopped.
            signalled.send(()).ok();
        })
        .map_err(|error| Error::internal("failed to listen for Ctrl-C").because(error))?;
        Ok(Self { cancel, asked, ask })
    }
}

impl Face {
    pub(crate) fn new(options: EngineOptions, terminal: Terminal, stop: Stop) -> Self {
        Self { terminal, options, stop, engine: OnceCell::new() }
    }

    /// The memory.
    pub(crate) fn engine(&self) -> Result<&Engine> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let engine = self.work(|work| Engine::open_watched(self.options.clone(), work))?;
        Ok(self.engine.get_or_init(|| engine))
    }

    /// Lets [`Face::until_stopped`] return.
    pub(crate) fn stopper(&self) -> Sender<()> {
        self.stop.ask.clone()
    }

    /// Waits for Ctrl-C, termination, or a [`Face::stopper`].
    pub(crate) fn until_stopped(&self) {
        self.stop.asked.recv().ok();
    }

    /// Calls the engine; its progress goes to standard error.
    pub(crate) fn call<Request, Response>(
        &self,
        function: impl FnOnce(&Call<'_>, Request) -> Result<Response>,
        request: Request,
    ) -> Result<Response> {
        let engine = self.engine()?;
        let report = Report::new(&self.terminal);
        let call = Call { engine, progress: &|progress| report.hear(&progress), cancel: &self.stop.cancel };
        let result = function(&call, request);
        report.finish();
        result
    }

    /// Does what needs no open memory; its progress goes to standard error.
    pub(crate) fn work<Response>(&self, function: impl FnOnce(&Work<'_>) -> Result<Response>) -> Result<Response> {
        let report = Report::new(&self.terminal);
        let result = function(&Work { progress: &|progress| report.hear(&progress), cancel: &self.stop.cancel });
        report.finish();
        result
    }

    /// All sessions in memory.
    pub(crate) fn sessions(&self) -> Result<Vec<SessionSummary>> {
        Ok(self.call(api::session::list, SessionListRequest::default())?.sessions)
    }
}
