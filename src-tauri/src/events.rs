//! What the page hears: events of the engine, files dragged over the window, files that the program was started with.

use std::path::PathBuf;
use std::sync::Mutex;

use recollect_engine::event::{Event, EventSink};
use serde::Serialize;
use tauri::{AppHandle, DragDropEvent, Emitter, PhysicalPosition, Window};
use ts_rs::TS;

/// Carries an [`Event`].
const ENGINE: &str = "engine";
/// Carries a [`FileDrop`].
const DROP: &str = "drop";
/// Carries a list of absolute paths.
const OPEN_PATHS: &str = "open_paths";

/// Forwards what the engine tells to the page.
pub(crate) fn sink(app: AppHandle) -> EventSink {
    std::sync::Arc::new(move |event| {
        if let Event::WatchChanged { status } = &event {
            crate::tray::show_watch(&app, status.state);
        }
        // Only fails while the program is shutting down; nobody listens then.
        let _ = app.emit(ENGINE, event);
    })
}

/// Files of the desktop over the window; positions are in CSS pixels from the page's top left corner.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(tag = "phase", rename_all = "snake_case")]
#[ts(export, export_to = "../../host/generated/")]
pub(crate) enum FileDrop {
    /// Files came over the window.
    Enter {
        /// Their paths.
        paths: Vec<String>,
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
    },
    /// They moved.
    Over {
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
    },
    /// They were dropped.
    Drop {
        /// Their paths.
        paths: Vec<String>,
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
    },
    /// They left the window, or the drag was cancelled.
    Leave,
}

impl FileDrop {
    fn new(event: &DragDropEvent, scale: f64) -> Option<Self> {
        Some(match event {
            DragDropEvent::Enter { paths, position } => {
                let (x, y) = css_position(*position, scale);
                Self::Enter { paths: as_text(paths), x, y }
            }
            DragDropEvent::Over { position } => {
                let (x, y) = css_position(*position, scale);
                Self::Over { x, y }
            }
            DragDropEvent::Drop { paths, position } => {
                let (x, y) = css_position(*position, scale);
                Self::Drop { paths: as_text(paths), x, y }
            }
            DragDropEvent::Leave => Self::Leave,
            _ => return None,
        })
    }
}

/// Tells the page about files of the desktop over its window.
pub(crate) fn forward_drop(window: &Window, event: &DragDropEvent) {
    let scale = window.scale_factor().unwrap_or(1.0);
    if let Some(drop) = FileDrop::new(event, scale) {
        let _ = window.emit(DROP, drop);
    }
}

/// GTK counts in logical pixels already, although the type says physical; the others count in physical ones.
fn css_position(position: PhysicalPosition<f64>, scale: f64) -> (f64, f64) {
    let scale = if cfg!(target_os = "linux") { 1.0 } else { scale };
    (position.x / scale, position.y / scale)
}

fn as_text(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Files that the program was asked to open; kept until the page has loaded far enough to ask for them.
#[derive(Default)]
pub(crate) struct OpenedPaths(Mutex<Opened>);

#[derive(Default)]
struct Opened {
    waiting: Vec<String>,
    page_listens: bool,
}

impl OpenedPaths {
    /// Passes paths on to the page, now or when it asks.
    pub(crate) fn open(&self, app: &AppHandle, paths: &[PathBuf]) {
        let paths = as_text(paths);
        if paths.is_empty() {
            return;
        }
        let mut opened = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if opened.page_listens {
            let _ = app.emit(OPEN_PATHS, paths);
        } else {
            opened.waiting.extend(paths);
        }
    }

    /// The page listens from now on; returns what came before.
    pub(crate) fn take(&self) -> Vec<String> {
        let mut opened = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        opened.page_listens = true;
        std::mem::take(&mut opened.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_files_reach_the_page_with_their_place() {
        let event =
            DragDropEvent::Drop { paths: vec!["/tmp/a b.jsonl".into()], position: PhysicalPosition::new(10.0, 20.0) };
        let json = serde_json::to_value(FileDrop::new(&event, 1.0)).unwrap();
        let expected = serde_json::json!({"phase": "drop", "paths": ["/tmp/a b.jsonl"], "x": 10.0, "y": 20.0});
        assert_eq!(json, expected, "the page's types are generated from this shape");
    }

    #[test]
    fn paths_given_before_the_page_listens_are_kept_once() {
        let opened = OpenedPaths::default();
        opened.0.lock().unwrap().waiting.push("/tmp/a.jsonl".to_owned());
        assert_eq!(opened.take(), ["/tmp/a.jsonl"], "the page asks when it is ready");
        assert!(opened.take().is_empty(), "a reload must not open the same files again");
    }
}
