//! Keys of APIs: from the environment, else from the system's keyring (Secret Service, Keychain, Credential Manager). Never in
//! a file of ours, never shown, and never told to another host than the one that they are for.

use keyring::Entry;
use recollect_engine::language_model::{Endpoint, ModelEngine, Readiness};
use recollect_engine::{Error, ErrorKind, Result};

/// Name under which the keyring keeps what is ours.
const SERVICE: &str = "recollect";

/// Keys that the environment held, and the way to the others.
pub(crate) struct Keys {
    anthropic: Option<String>,
    openai: Option<String>,
}

impl Keys {
    pub(crate) fn new(anthropic: Option<String>, openai: Option<String>) -> Self {
        let clean = |key: Option<String>| key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        Self { anthropic: clean(anthropic), openai: clean(openai) }
    }

    /// The key of an engine; `None` when there is none.
    ///
    /// # Errors
    /// When the keyring cannot be asked.
    pub(crate) fn key(&self, endpoint: &Endpoint) -> Result<Option<String>> {
        let given = match endpoint.engine {
            ModelEngine::Anthropic => &self.anthropic,
            // Any server can stand behind this engine: the key is for one of them.
            ModelEngine::Openai if endpoint.is_official() => &self.openai,
            ModelEngine::Openai => &None,
            ModelEngine::Claude => return Ok(None),
        };
        if given.is_some() {
            return Ok(given.clone());
        }
        match entry(endpoint)?.get_password() {
            Ok(key) => Ok(Some(key)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(unavailable(endpoint, &error)),
        }
    }

    /// Whether an engine has the key that it needs.
    pub(crate) fn readiness(&self, endpoint: &Endpoint, needs: bool) -> Readiness {
        let error = match self.key(endpoint) {
            Ok(Some(_)) => return Readiness { has_key: true, problem: None, hint: None },
            Ok(None) => missing(endpoint),
            Err(error) => error,
        };
        if !needs {
            return Readiness::default();
        }
        Readiness { has_key: false, problem: Some(error.message), hint: error.hint }
    }
}

/// Keeps a key.
pub(crate) fn set(endpoint: &Endpoint, key: &str) -> Result<()> {
    entry(endpoint)?.set_password(key).map_err(|error| unavailable(endpoint, &error))
}

/// Takes a key out; tells whether there was one.
pub(crate) fn remove(endpoint: &Endpoint) -> Result<bool> {
    match entry(endpoint)?.delete_credential() {
        Ok(()) => Ok(true),
        Err(keyring::Error::NoEntry) => Ok(false),
        Err(error) => Err(unavailable(endpoint, &error)),
    }
}

/// That no key is there.
pub(crate) fn missing(endpoint: &Endpoint) -> Error {
    let name = endpoint.engine.name();
    Error::conflict(format!("there is no key of {}", endpoint.engine.label())).hint(format!(
        "`recollect engines key set {name}` keeps one in the keyring, or set {}",
        variable(endpoint.engine)
    ))
}

/// The keyring's entry for the host of an endpoint.
fn entry(endpoint: &Endpoint) -> Result<Entry> {
    if let Err(error) = Entry::store_status() {
        return Err(unavailable(endpoint, error));
    }
    Entry::new(SERVICE, &name(endpoint)).map_err(|error| unavailable(endpoint, &error))
}

/// Name of an entry: a key of one host is never found for another.
fn name(endpoint: &Endpoint) -> String {
    let engine = endpoint.engine.name();
    if endpoint.is_official() { engine.to_owned() } else { format!("{engine}@{}", endpoint.host()) }
}

/// That there is no keyring, or that it refuses; what the keyring held is not told.
fn unavailable(endpoint: &Endpoint, error: &keyring::Error) -> Error {
    let why = match error {
        keyring::Error::NoStorageAccess(_) => "it is locked or does not answer",
        keyring::Error::BadEncoding(_) | keyring::Error::BadDataFormat(..) => "what it holds is not a key",
        _ => "this system has none that runs (no secret service)",
    };
    Error::new(ErrorKind::Io, format!("the keyring cannot be used: {why}"))
        .hint(format!("set {} in the environment instead, or start a keyring", variable(endpoint.engine)))
}

const fn variable(engine: ModelEngine) -> &'static str {
    match engine {
        ModelEngine::Anthropic => "ANTHROPIC_API_KEY",
        ModelEngine::Openai => "OPENAI_API_KEY (for api.openai.com only)",
        ModelEngine::Claude => "the account of the client",
    }
}
