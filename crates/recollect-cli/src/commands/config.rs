//! `recollect config`.

use clap::{Args, Subcommand};
use recollect_engine::api::config::{ConfigGetRequest, ConfigSetRequest, read, set};
use recollect_engine::{Error, Result};
use serde::Serialize;
use serde_json::Value;

use crate::face::Face;
use crate::output::text;

/// Read and change the configuration
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the configuration, or one value of it
    Get {
        /// Path of the value, such as `defaults.compressionPreset`
        key: Option<String>,
    },
    /// Set one value
    Set {
        /// Path of the value, such as `defaults.compressionPreset`
        key: String,
        /// The value: JSON, or else text; `null` puts the default back
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

#[derive(Serialize)]
struct Setting<'a> {
    key: &'a str,
    value: &'a Value,
}

impl Config {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        match self.action {
            Action::Get { key: None } => {
                let state = face.call(read, ConfigGetRequest::default())?;
                face.terminal.answer(&state, |out| {
                    out.push_str(&text::lines(&format!("{:#}\n", state.config)));
                })
            }
            Action::Get { key: Some(key) } => {
                let state = face.call(read, ConfigGetRequest::default())?;
                show(face, &state.config, &key)
            }
            Action::Set { key, value } => {
                let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
                let state = face.call(set, ConfigSetRequest { key: key.clone(), value })?;
                show(face, &state.config, &key)
            }
        }
    }
}

fn show(face: &Face, config: &Value, key: &str) -> Result<()> {
    let value = key.split('.').try_fold(config, |value, part| value.get(part)).ok_or_else(|| {
        Error::not_found(format!("there is no setting `{key}`")).hint("`recollect config get` shows all of them")
    })?;
    face.terminal.answer(&Setting { key, value }, |out| match value {
        Value::String(value) => out.push_str(&format!("{}\n", text::lines(value))),
        value => out.push_str(&text::lines(&format!("{value:#}\n"))),
    })
}
