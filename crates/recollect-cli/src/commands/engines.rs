//! `recollect engines`.

use std::io::Read;

use clap::{Args, Subcommand};
use recollect_engine::api::engine::{
    self, CompressionEngine, EngineKeyRemoveRequest, EngineKeySetRequest, EngineListRequest,
};
use recollect_engine::language_model::ModelEngine;
use recollect_engine::{Error, Result};
use serde::Serialize;

use crate::arguments::choice;
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::{BAD, GOOD, NAME, paint, text};

/// List what can compress, and keep the keys of those that ask a language model
#[derive(Debug, Args)]
pub(crate) struct Engines {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Keep the key of an engine in the keyring of the system, or take it out
    #[command(subcommand)]
    Key(Key),
}

#[derive(Debug, Subcommand)]
enum Key {
    /// Keep a key, which is read from standard input
    Set {
        /// The engine
        #[arg(value_parser = choice::<ModelEngine>(&["anthropic", "openai"]))]
        engine: ModelEngine,
    },
    /// Take the key out
    Rm {
        /// The engine
        #[arg(value_parser = choice::<ModelEngine>(&["anthropic", "openai"]))]
        engine: ModelEngine,
    },
}

#[derive(Serialize)]
struct Document<'a> {
    engines: &'a [CompressionEngine],
}

impl Engines {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let engines = match self.action {
            None => face.call(engine::list, EngineListRequest::default())?,
            Some(Action::Key(Key::Set { engine })) => {
                let request = EngineKeySetRequest { engine, key: key()? };
                face.call(engine::set_key, request)?
            }
            Some(Action::Key(Key::Rm { engine })) => {
                face.call(engine::remove_key, EngineKeyRemoveRequest { engine })?
            }
        };
        face.terminal.answer(&Document { engines: &engines }, |out| out.push_str(&describe(&engines)))
    }
}

/// The key on standard input: it is in no list of processes and in no history of a shell.
fn key() -> Result<String> {
    let mut key = String::new();
    std::io::stdin().take(16 * 1024).read_to_string(&mut key)?;
    if key.trim().is_empty() {
        return Err(Error::usage("there is no key on standard input")
            .hint("for example: recollect engines key set anthropic < key.txt"));
    }
    Ok(key)
}

fn describe(engines: &[CompressionEngine]) -> String {
    let columns = [
        ("ENGINE", Align::Left),
        ("STATE", Align::Left),
        ("KEY", Align::Left),
        ("MODEL", Align::Left),
        ("", Align::Left),
    ];
    let row = |engine: &CompressionEngine| {
        let state = if engine.ready { paint(GOOD, "ready") } else { paint(BAD, "not ready") };
        let key = match (engine.needs_key, engine.has_key) {
            (_, true) => "yes",
            (true, false) => "no",
            (false, false) => "",
        };
        let place = if engine.leaves_machine { "leaves this machine" } else { "stays on this machine" };
        let model = engine.models.first().map_or("", String::as_str);
        vec![paint(NAME, &engine.engine), state, key.to_owned(), cell(model), place.to_owned()]
    };
    let mut words = table(&columns, engines.iter().map(row).collect());
    for engine in engines.iter().filter(|engine| !engine.ready) {
        let problem = engine.problem.as_deref().unwrap_or_default();
        let hint = engine.hint.as_deref().map_or_else(String::new, |hint| format!(": {hint}"));
        words.push_str(&format!("\n{}: {}{}", engine.engine, text::line(problem), text::line(&hint)));
    }
    words.trim_end().to_owned() + "\n"
}
