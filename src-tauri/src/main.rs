//! The desktop program: reads arguments and environment, then runs the window.
//!
//! This is the only place of the shell that looks at the process it runs in.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use recollect_desktop::{Arguments, Surroundings};
use recollect_engine::time::Time;
use recollect_models::Models;

/// WebKit draws a blank window with some graphics drivers unless this is set before it starts.
#[cfg(target_os = "linux")]
const RENDERER_GUARD: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let own_variables = guard_renderer().into_iter().collect();
    match recollect_desktop::run(arguments, surroundings(own_variables), Arc::new(now), Arc::new(models())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "without a window, the terminal is the only place to say so")]
            {
                eprintln!("error: the window cannot be opened: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn surroundings(own_variables: Vec<&'static str>) -> Surroundings {
    Surroundings {
        user_home: dirs::home_dir(),
        export_folders: export_folders(),
        search_path: variable("PATH").unwrap_or_default(),
        terminal: variable("TERMINAL"),
        current_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        own_variables,
    }
}

/// What asks language models, with the keys that the environment holds.
fn models() -> Models {
    let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
    Models::new(recollect_models::Surroundings {
        anthropic_key: text("ANTHROPIC_API_KEY"),
        openai_key: text("OPENAI_API_KEY"),
        search_path: variable("PATH").unwrap_or_default(),
    })
}

/// Downloads and the desktop, where the desktop says they are, else by their usual names.
fn export_folders() -> Vec<PathBuf> {
    let known = [(dirs::download_dir(), "Downloads"), (dirs::desktop_dir(), "Desktop")];
    known.into_iter().filter_map(|(known, name)| known.or_else(|| Some(dirs::home_dir()?.join(name)))).collect()
}

/// Sets the guard unless the user has: the name of the variable if it did. GLib's own call is safe here, as no thread
/// reads the environment yet, and costs nothing; starting again with it would load WebKit's libraries twice.
#[cfg(target_os = "linux")]
fn guard_renderer() -> Option<&'static str> {
    (variable(RENDERER_GUARD).is_none() && glib::setenv(RENDERER_GUARD, "1", true).is_ok()).then_some(RENDERER_GUARD)
}

#[cfg(not(target_os = "linux"))]
fn guard_renderer() -> Option<&'static str> {
    None
}

#[expect(clippy::disallowed_methods, reason = "the main of a face is where the time comes from")]
fn now() -> Time {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the main of a face is where the environment is read")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
