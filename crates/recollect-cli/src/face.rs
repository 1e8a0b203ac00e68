//! What a command is given: the memory, opened when it is first asked for, and the terminal.

use std::cell::OnceCell;

use recollect_engine::api::session::{SessionListRequest, SessionSummary};
use recollect_engine::engine::{Call, Cancel, Work};
use recollect_engine::{Engine, EngineOptions, Result, api};

use crate::output::Terminal;
use crate::progress::Report;

/// The memory and the terminal of one run.
pub(crate) struct Face {
    /// Where output goes.
    pub(crate) terminal: Terminal,
    /// The places.
    pub(crate) options: EngineOptions,
    cancel: Cancel,
    engine: OnceCell<Engine>,
}

impl Face {
    pub(crate) fn new(options: EngineOptions, terminal: Terminal, cancel: Cancel) -> Self {
        Self { terminal, options, cancel, engine: OnceCell::new() }
    }

    /// Calls the engine; its progress goes to standard error.
    pub(crate) fn call<Request, Response>(
        &self,
        function: impl FnOnce(&Call<'_>, Request) -> Result<Response>,
        request: Request,
    ) -> Result<Response> {
        let engine = match self.engine.get() {
            Some(engine) => engine,
            None => {
                let engine = Engine::open(self.options.clone())?;
                self.engine.get_or_init(|| engine)
            }
        };
        let report = Report::new(&self.terminal);
        let result =
            function(&Call { engine, progress: &|progress| report.hear(&progress), cancel: &self.cancel }, request);
        report.finish();
        result
    }

    /// Does what needs no open memory; its progress goes to standard error.
    pub(crate) fn work<Response>(&self, function: impl FnOnce(&Work<'_>) -> Result<Response>) -> Result<Response> {
        let report = Report::new(&self.terminal);
        let result = function(&Work { progress: &|progress| report.hear(&progress), cancel: &self.cancel });
        report.finish();
        result
    }

    /// All sessions in memory.
    pub(crate) fn sessions(&self) -> Result<Vec<SessionSummary>> {
        Ok(self.call(api::session::list, SessionListRequest::default())?.sessions)
    }
}
