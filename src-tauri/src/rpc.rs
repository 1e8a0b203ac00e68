//! The one door of the page to the engine: command and request in, response or failure out.

use std::sync::OnceLock;

use recollect_engine::api;
use recollect_engine::engine::{Call, Cancel};
use recollect_engine::error::{Error, WireError};
use recollect_engine::watch::{Follow, Told};
use recollect_engine::{Engine, EngineOptions};
use serde_json::Value;
use tauri::State;

/// The memory, open or about to be: it opens beside the window, and the first calls wait for it.
#[derive(Default)]
pub(crate) struct Memory {
    engine: OnceLock<Result<Engine, WireError>>,
}

impl Memory {
    /// Opens the memory and begins to follow the client; a failure is what every call is then answered with, so that the page can show it.
    pub(crate) fn open(&self, options: EngineOptions) {
        let engine = self.engine.get_or_init(|| Engine::open(options).map_err(|error| error.to_wire()));
        if let Ok(engine) = engine {
            let told = std::sync::Arc::new(|_: Told<'_>| {});
            // Without a thread nothing is followed, which the page shows; all else works.
            let _ = engine.watch().start(engine, Follow { at_once: false, told });
        }
    }

    /// Ends what goes on beside calls, after what must not be left half-done.
    pub(crate) fn close(&self) {
        if let Some(Ok(engine)) = self.engine.get() {
            engine.watch().stop();
        }
    }

    /// Runs a command, waiting for the memory to be open. Blocks: never call it on the main thread.
    pub(crate) fn call(&self, command: &str, request: Value) -> Result<Value, WireError> {
        let engine = self.engine.wait().as_ref().map_err(WireError::clone)?;
        let call = Call { engine, progress: &|_| {}, cancel: &Cancel::default() };
        api::dispatch(&call, command, request).map_err(|error| error.to_wire())
    }
}

/// Runs a command of the engine's table off the main thread.
#[tauri::command]
pub(crate) async fn rpc(
    memory: State<'_, std::sync::Arc<Memory>>,
    command: String,
    request: Value,
) -> Result<Value, WireError> {
    let memory = memory.inner().clone();
    off_main_thread(move || memory.call(&command, request)).await
}

/// Runs blocking work away from the window; a panic in it becomes a failure of that one call.
pub(crate) async fn off_main_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WireError> + Send + 'static,
) -> Result<T, WireError> {
    tauri::async_runtime::spawn_blocking(work).await.unwrap_or_else(|failure| {
        let error = Error::internal(format!("the program stopped at a defect: {failure}"));
        Err(error.hint("nothing half-made was stored; please report it").to_wire())
    })
}
