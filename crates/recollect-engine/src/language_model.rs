//! The seam to language models: what the engine asks of them. Faces give what speaks to them; the engine itself has no
//! network, no environment and no processes.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::engine::Cancel;
use crate::error::{Error, ErrorKind, Result};

/// An engine of compression that asks a language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ModelEngine {
    /// The Claude Code client, headless, with the account that it is logged in with.
    Claude,
    /// Anthropic's Messages API.
    Anthropic,
    /// Any endpoint that speaks `OpenAI`'s chat completions: Ollama, llama.cpp, vLLM, LM Studio.
    Openai,
}

impl ModelEngine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Anthropic, Self::Openai];

    /// Its name in requests, settings and versions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
        }
    }

    /// Its name for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Anthropic => "Anthropic API",
            Self::Openai => "OpenAI-compatible endpoint",
        }
    }

    /// Whether a key can be kept for it; the client has an account of its own.
    pub const fn takes_key(self) -> bool {
        !matches!(self, Self::Claude)
    }
}

impl FromStr for ModelEngine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            Error::usage(format!("there is no engine `{name}`"))
                .hint(format!("the built-in engine is `extractive`; those that ask a model are {}", names.join(", ")))
        })
    }
}

/// Where an engine finds its model, from the settings `engines.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The engine.
    pub engine: ModelEngine,
    /// Base URL of an API; the program of the client.
    pub address: String,
    /// The folder in which a client may run, and nothing else is; made when it is missing.
    pub scratch: std::path::PathBuf,
    /// Seconds after which a model that says nothing is given up.
    pub patience: u32,
}

impl Endpoint {
    /// The host that an address names, with its port, in lower case; empty when it names none.
    pub fn host(&self) -> String {
        let host = self.address.split_once("://").map_or("", |(_, rest)| rest);
        let host = host.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        host.rsplit('@').next().unwrap_or_default().to_ascii_lowercase()
    }

    /// It is the API of those who made the engine, over https: what its key is for.
    pub fn is_official(&self) -> bool {
        let official = match self.engine {
            ModelEngine::Anthropic => "api.anthropic.com",
            ModelEngine::Openai => "api.openai.com",
            ModelEngine::Claude => return false,
        };
        let host = self.host();
        self.address.starts_with("https://") && host.strip_suffix(":443").unwrap_or(&host) == official
    }

    /// Whether what is asked leaves this machine; an address that is not understood does.
    pub fn leaves_machine(&self) -> bool {
        if self.engine != ModelEngine::Openai {
            return true;
        }
        let host = self.address.split_once("://").map_or(self.address.as_str(), |(_, rest)| rest);
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        let is_loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        !(is_loopback || host.eq_ignore_ascii_case("localhost"))
    }
}

/// One question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question<'q> {
    /// The model's name.
    pub model: &'q str,
    /// What it is told of its task.
    pub system: &'q str,
    /// What it is asked.
    pub prompt: &'q str,
    /// The most tokens that it may write.
    pub max_tokens: u64,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Its words.
    pub text: String,
    /// Tokens that it read; 0 when it did not say.
    pub input_tokens: u64,
    /// Tokens that it wrote; 0 when it did not say.
    pub output_tokens: u64,
    /// US dollars, when whoever was asked said so.
    pub cost: Option<f64>,
    /// It was cut off by `max_tokens`.
    pub cut: bool,
}

/// Whether an engine can be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readiness {
    /// A key was found.
    pub has_key: bool,
    /// Why it cannot be used; none when it can.
    pub problem: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Asks language models; given by a face.
pub trait LanguageModels: Send + Sync {
    /// Whether an engine can be used, without asking its model anything.
    fn readiness(&self, endpoint: &Endpoint) -> Readiness;

    /// Asks once, with repeats where the other side is only busy. Returns soon after `cancel` is set, whatever it waits for.
    /// `lost` is told of each attempt that failed and may have to be paid for all the same; when it fails, nothing is repeated.
    ///
    /// # Errors
    /// `Cancelled`; those of `lost`; else in words for the user what the other side refused.
    fn ask(
        &self,
        endpoint: &Endpoint,
        question: &Question<'_>,
        cancel: &Cancel,
        lost: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Answer>;

    /// Keeps a key in the system's keyring, for the host of an endpoint and no other.
    ///
    /// # Errors
    /// When there is no keyring, or it is locked.
    fn set_key(&self, endpoint: &Endpoint, key: &str) -> Result<()>;

    /// Takes a key out of it; tells whether there was one.
    ///
    /// # Errors
    /// When there is no keyring, or it is locked.
    fn remove_key(&self, endpoint: &Endpoint) -> Result<bool>;
}

/// What a face gives that asks no models.
#[derive(Debug, Clone, Copy)]
pub struct NoModels;

impl NoModels {
    fn error() -> Error {
        Error::new(ErrorKind::Conflict, "this program asks no language models")
            .hint("use the desktop application or the command line")
    }
}

impl LanguageModels for NoModels {
    fn readiness(&self, _endpoint: &Endpoint) -> Readiness {
        let error = Self::error();
        Readiness { has_key: false, problem: Some(error.message), hint: error.hint }
    }

    fn ask(
        &self,
        _endpoint: &Endpoint,
        _question: &Question<'_>,
        _cancel: &Cancel,
        _lost: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Answer> {
        Err(Self::error())
    }

    fn set_key(&self, _endpoint: &Endpoint, _key: &str) -> Result<()> {
        Err(Self::error())
    }

    fn remove_key(&self, _endpoint: &Endpoint) -> Result<bool> {
        Err(Self::error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_endpoint_on_this_machine_keeps_what_it_is_asked_here() {
        let at = |engine, address: &str| {
            let endpoint = Endpoint { engine, address: address.to_owned(), scratch: "/s".into(), patience: 60 };
            endpoint.leaves_machine()
        };
        for here in ["http://localhost:11434/v1", "http://127.0.0.1/v1", "http://[::1]:8080", "https://LOCALHOST"] {
            assert!(!at(ModelEngine::Openai, here), "{here}");
        }
        for away in [
            "http://192.168.1.4/v1",
            "https://api.openai.com/v1",
            "http://localhost.example.com",
            "http://localhost@x.de",
        ] {
            assert!(at(ModelEngine::Openai, away), "{away}");
        }
        assert!(at(ModelEngine::Anthropic, "http://127.0.0.1"), "a proxy to the real API, as a rule");
        assert!(at(ModelEngine::Claude, "claude"));
    }
}
