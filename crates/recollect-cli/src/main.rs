//! The command line of Recollect: reads the environment, the clock and the homes, then runs one command.
//!
//! Nothing below this file reads any of them; the engine and the commands are given what they need.

mod arguments;
mod commands;
mod face;
mod output;
mod progress;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use recollect_engine::time::Time;
use recollect_engine::{EngineOptions, Error, Result};
use recollect_models::{Models, Surroundings};

use crate::arguments::{Arguments, Global};
use crate::commands::Outcome;
use crate::face::{Face, Stop};
use crate::output::Terminal;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = Terminal::new(arguments.global.json, arguments.global.quiet, arguments.global.verbose);
    let result = run(arguments, terminal.clone());
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Err(error) => terminal.fail(&error),
    }
}

fn run(arguments: Arguments, terminal: Terminal) -> Result<Outcome> {
    let Arguments { global, command } = arguments;
    if is_caused_by_us() && command.takes_in() {
        terminal.note("Nothing is taken in on behalf of a client that Recollect started itself.");
        return Ok(Outcome::Done);
    }
    let stop = Stop::on_signals()?;
    let face = Face::new(engine_options(global)?, terminal, stop);
    command.run(&face)
}

/// The places and the clock.
fn engine_options(global: Global) -> Result<EngineOptions> {
    let user = dirs::home_dir();
    Ok(EngineOptions {
        home: place(global.home, user.as_deref(), ".claude-memory", "--home")?,
        claude_home: place(global.claude_home, user.as_deref(), ".claude", "--claude-home")?,
        clock: Arc::new(now),
        sink: Arc::new(|_| {}),
        export_folders: export_folders(user.as_deref()),
        models: Arc::new(models()),
    })
}

/// What asks language models, with the keys that the environment holds.
#[expect(clippy::disallowed_methods, reason = "this is where the environment comes in")]
fn models() -> Models {
    Models::new(Surroundings {
        anthropic_key: std::env::var("ANTHROPIC_API_KEY").ok(),
        openai_key: std::env::var("OPENAI_API_KEY").ok(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
    })
}

/// Whether a client that Recollect started has started this, by a hook for example.
#[expect(clippy::disallowed_methods, reason = "this is where the environment comes in")]
fn is_caused_by_us() -> bool {
    std::env::var_os(recollect_models::GUARD).is_some()
}

/// Where people keep what they download and what they work on.
fn export_folders(user: Option<&Path>) -> Vec<PathBuf> {
    let known = [(dirs::download_dir(), "Downloads"), (dirs::desktop_dir(), "Desktop")];
    known.into_iter().filter_map(|(known, name)| known.or_else(|| Some(user?.join(name)))).collect()
}

/// A folder as an absolute path: the one given, else the one of that name in the user's home. An empty one is not given.
fn place(given: Option<OsString>, user: Option<&Path>, name: &str, flag: &str) -> Result<PathBuf> {
    let folder = match (given.filter(|given| !given.is_empty()), user) {
        (Some(given), _) => PathBuf::from(given),
        (None, Some(user)) => user.join(name),
        (None, None) => {
            return Err(Error::usage(format!("there is no home folder in which `{name}` could be"))
                .hint(format!("set HOME, or name the folder with {flag}")));
        }
    };
    Ok(std::path::absolute(folder)?)
}

#[expect(clippy::disallowed_methods, reason = "this is where the clock comes from")]
fn now() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
