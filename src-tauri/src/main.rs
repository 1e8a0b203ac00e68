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

/// WebKit draws a blank window with some graphics drivers unless this is set before it starts.
#[cfg(target_os = "linux")]
const RENDERER_GUARD: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Says that this program, not the user, set [`RENDERER_GUARD`].
#[cfg(target_os = "linux")]
const RENDERER_GUARD_IS_OURS: &str = "RECOLLECT_RENDERER_GUARD";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    #[cfg(target_os = "linux")]
    guard_renderer();

    match recollect_desktop::run(arguments, surroundings(), Arc::new(now)) {
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

fn surroundings() -> Surroundings {
    Surroundings {
        user_home: dirs::home_dir(),
        search_path: variable("PATH").unwrap_or_default(),
        terminal: variable("TERMINAL"),
        current_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        #[cfg(target_os = "linux")]
        own_variables: match variable(RENDERER_GUARD_IS_OURS) {
            Some(_) => vec![RENDERER_GUARD, RENDERER_GUARD_IS_OURS],
            None => Vec::new(),
        },
        #[cfg(not(target_os = "linux"))]
        own_variables: Vec::new(),
    }
}

/// Starts this program again with the guard in its environment: WebKit's own threads read the environment, so it
/// must be there before the first of them. Returns when there is nothing to do, or when starting again is impossible.
#[cfg(target_os = "linux")]
fn guard_renderer() {
    use std::os::unix::process::CommandExt;

    if variable(RENDERER_GUARD).is_some() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        // Only returns when it failed; then the window opens without the guard, which is well with most drivers.
        let _failure = std::process::Command::new(program)
            .args(std::env::args_os().skip(1))
            .env(RENDERER_GUARD, "1")
            .env(RENDERER_GUARD_IS_OURS, "1")
            .exec();
    }
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
