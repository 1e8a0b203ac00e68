//! Engines that compress, and what they would cost.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::api::compression::CompressionRequest;
use crate::compress;
use crate::engine::Call;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::language_model::ModelEngine;
use crate::models;
use crate::redact::Redaction;
use crate::versions;

/// Asks for the engines.
#[derive(Debug, Clone, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct EngineListRequest {}

/// An engine that compresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct CompressionEngine {
    /// Its name in settings: `extractive`, `claude`, `anthropic`, `openai`.
    pub engine: String,
    /// Its name for people.
    pub label: String,
    /// What is compressed with it leaves this machine.
    pub leaves_machine: bool,
    /// It can be used.
    pub ready: bool,
    /// Why it cannot.
    pub problem: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Models that it can be asked for, by their names; the first is the one that is asked when none is named.
    pub models: Vec<String>,
    /// A key can be kept for it.
    pub needs_key: bool,
    /// A key is there.
    pub has_key: bool,
}

/// Keeps a key in the system's keyring.
#[derive(Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct EngineKeySetRequest {
    /// The engine.
    pub engine: ModelEngine,
    /// The key.
    pub key: String,
}

impl std::fmt::Debug for EngineKeySetRequest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("EngineKeySetRequest").field("engine", &self.engine).finish_non_exhaustive()
    }
}

/// Takes a key out of the system's keyring.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct EngineKeyRemoveRequest {
    /// The engine.
    pub engine: ModelEngine,
}

/// What a compression would ask a model and cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct CompressionEstimate {
    /// The engine.
    pub engine: String,
    /// The model; none for the built-in engine.
    pub model: Option<String>,
    /// Questions that are asked; those whose answers are kept from an earlier run are not counted. A summary that comes too long is
    /// asked for once more.
    pub calls: u64,
    /// Tokens that the model reads.
    pub input_tokens: u64,
    /// Tokens that it writes.
    pub output_tokens: u64,
    /// US dollars; none when a price is not known.
    pub cost: Option<f64>,
    /// The most that it may cost; none for the built-in engine.
    pub cap: Option<f64>,
    /// It would cost more than it may, or could with one answer as long as it may be, so that it would be stopped; or nobody knows
    /// what it costs.
    pub over_cap: bool,
    /// It leaves this machine.
    pub leaves_machine: bool,
    /// Secrets that are taken out of what is asked, by kind.
    pub redactions: Vec<Redaction>,
}

/// The built-in engine, then those that ask a model.
pub fn list(call: &Call<'_>, _request: EngineListRequest) -> Result<Vec<CompressionEngine>> {
    let config = call.engine.config()?;
    let built_in = CompressionEngine {
        engine: compress::ENGINE.to_owned(),
        label: "Built in".to_owned(),
        leaves_machine: false,
        ready: true,
        problem: None,
        hint: None,
        models: Vec::new(),
        needs_key: false,
        has_key: false,
    };
    let asking = ModelEngine::ALL.into_iter().map(|engine| {
        let endpoint = config.endpoint(engine, call.engine.home().scratch());
        let readiness = call.engine.language_models().readiness(&endpoint);
        let known = models::all(&config.own_models).into_iter();
        let (mut names, default): (Vec<String>, &str) = match engine {
            ModelEngine::Openai => {
                (known.filter(|model| model.own).map(|model| model.id).collect(), &config.engines.openai_model)
            }
            ModelEngine::Claude | ModelEngine::Anthropic => {
                (known.filter(|model| model.id.starts_with("claude-")).map(|model| model.id).collect(), &config.model)
            }
        };
        if !default.is_empty() {
            let default = match models::find(&config.own_models, default) {
                Some(model) if engine == ModelEngine::Anthropic => model.id,
                _ => default.to_owned(),
            };
            names.retain(|name| *name != default);
            names.insert(0, default);
        }
        CompressionEngine {
            engine: engine.name().to_owned(),
            label: engine.label().to_owned(),
            leaves_machine: endpoint.leaves_machine(),
            ready: readiness.problem.is_none(),
            problem: readiness.problem,
            hint: readiness.hint,
            models: names,
            needs_key: engine.takes_key(),
            has_key: readiness.has_key,
        }
    });
    Ok(std::iter::once(built_in).chain(asking).collect())
}

/// Keeps a key; the engines as they then are.
pub fn set_key(call: &Call<'_>, request: EngineKeySetRequest) -> Result<Vec<CompressionEngine>> {
    check_takes_key(request.engine)?;
    let key = request.key.trim();
    if key.is_empty() || key.chars().any(|character| character.is_whitespace() || character.is_control()) {
        return Err(Error::usage("that is no key: a key is one line without spaces"));
    }
    let endpoint = call.engine.config()?.endpoint(request.engine, call.engine.home().scratch());
    call.engine.language_models().set_key(&endpoint, key)?;
    call.engine.emit(Event::ConfigChanged);
    list(call, EngineListRequest::default())
}

/// Takes a key out; the engines as they then are.
///
/// # Errors
/// `NotFound` when there is none.
pub fn remove_key(call: &Call<'_>, request: EngineKeyRemoveRequest) -> Result<Vec<CompressionEngine>> {
    check_takes_key(request.engine)?;
    let endpoint = call.engine.config()?.endpoint(request.engine, call.engine.home().scratch());
    if !call.engine.language_models().remove_key(&endpoint)? {
        return Err(Error::not_found(format!("the keyring has no key of {}", request.engine.name())));
    }
    call.engine.emit(Event::ConfigChanged);
    list(call, EngineListRequest::default())
}

fn check_takes_key(engine: ModelEngine) -> Result<()> {
    if engine.takes_key() {
        return Ok(());
    }
    Err(Error::usage(format!("{} has an account of its own", engine.label()))
        .hint("log in with `claude`, then `/login`"))
}

/// What a compression would ask and cost; nothing is asked.
pub fn estimate(call: &Call<'_>, request: CompressionRequest) -> Result<CompressionEstimate> {
    versions::estimate(call, &request)
}
