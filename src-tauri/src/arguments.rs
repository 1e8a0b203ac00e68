//! What the program was started with: the contract of the command line, and files to take in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;
use tauri::Url;

/// The window of Recollect, the long-term memory of people who work with Claude Code.
#[derive(Debug, Clone, Parser)]
#[command(name = "recollect-desktop", version)]
pub struct Arguments {
    /// Folder of the memory [default: ~/.claude-memory]
    #[arg(long, value_name = "DIR", env = "RECOLLECT_HOME", hide_env_values = true)]
    pub home: Option<PathBuf>,

    /// Folder in which Claude Code keeps its data [default: ~/.claude]
    #[arg(long, value_name = "DIR", env = "CLAUDE_CONFIG_DIR", hide_env_values = true)]
    pub claude_home: Option<PathBuf>,

    /// Transcripts, exports or folders to take into the memory
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// What `main` found around the process.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Home folder of the user.
    pub user_home: Option<PathBuf>,
    /// Where the user keeps what was downloaded and what is worked on.
    pub export_folders: Vec<PathBuf>,
    /// Where programs are looked for.
    pub search_path: OsString,
    /// The terminal that the user prefers, by `TERMINAL`.
    pub terminal: Option<OsString>,
    /// Folder that the program was started in.
    pub current_dir: PathBuf,
    /// Environment variables that this program set for itself; programs that it starts must not inherit them.
    pub own_variables: Vec<&'static str>,
}

/// Turns a path or a `file:` address, as desktops pass them, into an absolute path.
pub(crate) fn absolute_path(argument: &OsString, current_dir: &Path) -> PathBuf {
    let from_address = argument
        .to_str()
        .filter(|text| text.starts_with("file:"))
        .and_then(|text| Url::parse(text).ok())
        .and_then(|address| address.to_file_path().ok());
    match from_address {
        Some(path) => path,
        None => current_dir.join(argument),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_taken_from_the_folder_of_the_start() {
        let path = absolute_path(&"session.jsonl".into(), Path::new("/home/dev"));
        assert_eq!(path, Path::new("/home/dev/session.jsonl"), "a second start has another folder than the first");
    }

    #[test]
    fn addresses_of_files_are_decoded() {
        let path = absolute_path(&"file:///home/ada/my%20session.jsonl".into(), Path::new("/home/dev"));
        assert_eq!(path, Path::new("/home/ada/my session.jsonl"), "desktops pass addresses, not paths");
    }

    #[test]
    fn arguments_of_a_second_start_are_read_like_those_of_the_first() {
        let arguments = Arguments::try_parse_from(["recollect-desktop", "a.jsonl", "--home", "/m", "b.jsonl"]);
        let paths = arguments.map(|arguments| arguments.paths).unwrap_or_default();
        assert_eq!(paths, ["a.jsonl", "b.jsonl"], "options are not files");
    }
}
