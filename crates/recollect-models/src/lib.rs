//! Asks language models for the engine: over HTTP (`anthropic`, `openai`), or through the Claude Code client (`claude`).
//!
//! Calls happen only for a compression that chose such an engine. Keys come from the environment that a `main` read, or from the
//! system's keyring; they are in no file, no log and no error. Everything that waits looks at the caller's wish to stop.

mod anthropic;
mod claude;
mod http;
mod keys;
mod openai;
mod retry;

use std::ffi::OsString;
use std::time::Duration;

use recollect_engine::engine::Cancel;
use recollect_engine::language_model::{Answer, Endpoint, LanguageModels, ModelEngine, Question, Readiness};
use recollect_engine::{Error, Result};

use keys::Keys;
use retry::Patience;

/// Variable that every process has that was started by a client of ours: our own programs do nothing on behalf of it.
pub const GUARD: &str = "RECOLLECT_SPAWNED";

/// What a `main` read of its environment.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// `ANTHROPIC_API_KEY`.
    pub anthropic_key: Option<String>,
    /// `OPENAI_API_KEY`.
    pub openai_key: Option<String>,
    /// `PATH`, in which the client is looked for.
    pub search_path: OsString,
}

/// Asks language models.
pub struct Models {
    keys: Keys,
    search_path: OsString,
    patience: Patience,
}

impl Models {
    /// With what the environment says.
    pub fn new(surroundings: Surroundings) -> Self {
        Self {
            keys: Keys::new(surroundings.anthropic_key, surroundings.openai_key),
            search_path: surroundings.search_path,
            patience: Patience { first: Duration::from_secs(1), times: 5 },
        }
    }
}

impl LanguageModels for Models {
    fn readiness(&self, endpoint: &Endpoint) -> Readiness {
        match endpoint.engine {
            ModelEngine::Claude => claude::readiness(endpoint, &self.search_path),
            ModelEngine::Anthropic => self.keys.readiness(endpoint, true),
            ModelEngine::Openai => self.keys.readiness(endpoint, false),
        }
    }

    fn ask(
        &self,
        endpoint: &Endpoint,
        question: &Question<'_>,
        cancel: &Cancel,
        lost: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Answer> {
        let patience = match endpoint.engine {
            // It repeats by itself.
            ModelEngine::Claude => Patience { times: self.patience.times.min(1), ..self.patience },
            ModelEngine::Anthropic | ModelEngine::Openai => self.patience,
        };
        retry::patiently(patience, cancel, lost, || match endpoint.engine {
            ModelEngine::Claude => claude::ask(endpoint, question, &self.search_path, cancel),
            ModelEngine::Anthropic => {
                let key = self.keys.key(endpoint)?.ok_or_else(|| keys::missing(endpoint))?;
                anthropic::ask(endpoint, question, &key, cancel)
            }
            ModelEngine::Openai => {
                // Servers on one's own machine want none; what cannot be read from a keyring is then no reason to fail.
                let key = match self.keys.key(endpoint) {
                    Ok(key) => key,
                    Err(error) if endpoint.leaves_machine() => return Err(error.into()),
                    Err(_) => None,
                };
                openai::ask(endpoint, question, key.as_deref(), cancel)
            }
        })
    }

    fn set_key(&self, endpoint: &Endpoint, key: &str) -> Result<()> {
        keys::set(endpoint, key)
    }

    fn remove_key(&self, endpoint: &Endpoint) -> Result<bool> {
        keys::remove(endpoint)
    }
}

/// The failure of an answer that is not what the other side's interface says.
fn not_understood(endpoint: &Endpoint, what: &str) -> Error {
    Error::new(recollect_engine::ErrorKind::Io, format!("{} answered {what}", endpoint.address))
        .hint(format!("check the address of the engine {} in the settings", endpoint.engine.name()))
}

#[cfg(test)]
mod tests;
