//! What the page asks of the desktop rather than of the engine: choosing files, showing one, opening a terminal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recollect_engine::error::{Error, ErrorKind, WireError};
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager, State, Url};
use tauri_plugin_dialog::{DialogExt, FilePath};
use ts_rs::TS;

use crate::arguments::Surroundings;
use crate::events::OpenedPaths;
use crate::rpc::off_main_thread;
use crate::terminal;

/// A request to the desktop.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export, export_to = "../../host/generated/")]
pub(crate) enum ShellRequest {
    /// The page has loaded: returns the files that the program was started with; later ones come as event `open_paths`.
    OpenedPaths {},
    /// Lets the user choose transcripts and exports, or one folder; no paths when they cancel.
    PickPaths {
        /// Choose a folder instead of files.
        folder: bool,
    },
    /// Lets the user choose where to write a file; no path when they cancel.
    PickSavePath {
        /// The name that is proposed.
        name: String,
    },
    /// Shows a file or folder in the file manager.
    Reveal {
        /// Its path.
        path: String,
    },
    /// Opens a link of the web in the browser.
    OpenLink {
        /// `http:`, `https:` or `mailto:`.
        url: String,
    },
    /// Opens a terminal that runs `claude --resume` in a folder.
    ContinueInTerminal {
        /// The session to resume: a UUID.
        session_id: String,
        /// The folder of the project.
        cwd: String,
    },
    /// Ends the program.
    Quit {},
}

/// What came of a request to the desktop.
#[derive(Debug, Clone, Default, Serialize, TS)]
#[ts(export, export_to = "../../host/generated/")]
pub(crate) struct ShellOutcome {
    /// Paths that were chosen or opened; empty for all other requests.
    pub paths: Vec<String>,
}

/// Does what the page asks of the desktop.
#[tauri::command]
pub(crate) async fn shell(
    app: AppHandle,
    surroundings: State<'_, Arc<Surroundings>>,
    request: ShellRequest,
) -> Result<ShellOutcome, WireError> {
    let surroundings = surroundings.inner().clone();
    off_main_thread(move || perform(&app, &surroundings, request).map_err(|error| error.to_wire())).await
}

fn perform(app: &AppHandle, surroundings: &Surroundings, request: ShellRequest) -> Result<ShellOutcome, Error> {
    let mut outcome = ShellOutcome::default();
    match request {
        ShellRequest::OpenedPaths {} => outcome.paths = app.state::<OpenedPaths>().take(),
        ShellRequest::PickPaths { folder } => outcome.paths = pick_paths(app, folder),
        ShellRequest::PickSavePath { name } => {
            let chosen = dialog(app).set_file_name(name).blocking_save_file();
            outcome.paths = chosen.into_iter().filter_map(path_text).collect();
        }
        ShellRequest::Reveal { path } => reveal(Path::new(&path))?,
        ShellRequest::OpenLink { url } => open_link(&url)?,
        ShellRequest::ContinueInTerminal { session_id, cwd } => {
            terminal::resume(surroundings, &session_id, &PathBuf::from(cwd))?;
        }
        ShellRequest::Quit {} => app.exit(0),
    }
    Ok(outcome)
}

fn dialog(app: &AppHandle) -> tauri_plugin_dialog::FileDialogBuilder<tauri::Wry> {
    let dialog = app.dialog().file();
    match app.get_webview_window("main") {
        Some(window) => dialog.set_parent(&window),
        None => dialog,
    }
}

fn pick_paths(app: &AppHandle, folder: bool) -> Vec<String> {
    let dialog = dialog(app);
    let chosen = if folder {
        dialog.set_title("Choose a folder of transcripts").blocking_pick_folders()
    } else {
        dialog
            .set_title("Choose transcripts")
            .add_filter("Claude Code transcripts", &["jsonl"])
            .add_filter("All files", &["*"])
            .blocking_pick_files()
    };
    chosen.unwrap_or_default().into_iter().filter_map(path_text).collect()
}

fn path_text(path: FilePath) -> Option<String> {
    Some(path.into_path().ok()?.to_string_lossy().into_owned())
}

fn reveal(path: &Path) -> Result<(), Error> {
    if !path.exists() {
        return Err(Error::not_found(format!("{} does not exist any more", path.display())));
    }
    tauri_plugin_opener::reveal_item_in_dir(path).map_err(|error| {
        Error::new(ErrorKind::Io, "the file manager cannot be opened")
            .hint(format!("the file is at {}", path.display()))
            .because(error)
    })
}

/// Transcripts are hostile input: only links that a browser or a mail program opens leave the program.
fn open_link(url: &str) -> Result<(), Error> {
    let address = Url::parse(url).ok().filter(|address| matches!(address.scheme(), "http" | "https" | "mailto"));
    let Some(address) = address else {
        return Err(Error::usage(format!("`{url}` is not a link of the web")));
    };
    tauri_plugin_opener::open_url(address.as_str(), None::<&str>).map_err(|error| {
        Error::new(ErrorKind::Io, "the browser cannot be opened").hint(format!("the link is {address}")).because(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_are_not_of_the_web_stay_closed() {
        for url in ["file:///etc/passwd", "javascript:alert(1)", "vscode://x", "/tmp", ""] {
            let error = open_link(url).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "`{url}` must not leave the program");
        }
    }

    #[test]
    fn unknown_requests_are_refused() {
        let request = serde_json::from_value::<ShellRequest>(serde_json::json!({"action": "run", "program": "rm"}));
        assert!(request.is_err(), "the page has only the actions of the table");
    }
}
