//! The tray: open the window, take in what is newest, pause following the client, quit.

use std::sync::Arc;

use recollect_engine::api::ingest::{IngestReport, IngestRequest, IngestStatus};
use recollect_engine::api::watch::{WatchState, WatchStatus};
use recollect_engine::error::{Error, WireError};
use tauri::image::Image;
use tauri::menu::{MenuBuilder, MenuItem, MenuItemBuilder};
use tauri::tray::{MouseButton, MouseButtonState, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, Wry};
use tauri_plugin_notification::NotificationExt;

use crate::rpc::Memory;

const OPEN: &str = "open";
const INGEST_LATEST: &str = "ingest_latest";
const PAUSE: &str = "pause";
const QUIT: &str = "quit";

/// Puts the icon into the panel.
///
/// # Errors
/// When the platform has no tray.
pub(crate) fn install(app: &AppHandle) -> tauri::Result<()> {
    let pause = MenuItemBuilder::with_id(PAUSE, PAUSE_WATCHING).enabled(false).build(app)?;
    let menu = MenuBuilder::new(app)
        .item(&MenuItemBuilder::with_id(OPEN, "Open Recollect").build(app)?)
        .separator()
        .item(&MenuItemBuilder::with_id(INGEST_LATEST, "Ingest latest export").build(app)?)
        .item(&pause)
        .separator()
        .item(&MenuItemBuilder::with_id(QUIT, "Quit").build(app)?)
        .build()?;
    TrayIconBuilder::with_id("recollect")
        .icon(Image::from_bytes(include_bytes!("../../icons/tray.png"))?)
        .tooltip("Recollect")
        .menu(&menu)
        .show_menu_on_left_click(false)
        .on_menu_event(|app, event| match event.id().as_ref() {
            OPEN => show_window(app),
            INGEST_LATEST => ingest_latest(app.clone()),
            PAUSE => pause_or_go_on(app.clone()),
            QUIT => app.exit(0),
            _ => {}
        })
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click { button: MouseButton::Left, button_state: MouseButtonState::Up, .. } = event {
                show_window(tray.app_handle());
            }
        })
        .build(app)?;
    app.manage(PauseItem(pause));
    let memory = app.state::<Arc<Memory>>().inner().clone();
    let app = app.clone();
    // The memory may have opened before this item was there to be told.
    tauri::async_runtime::spawn_blocking(move || {
        if let Ok(status) = watch_status(&memory) {
            show_watch(&app, status.state);
        }
    });
    Ok(())
}

/// The item that pauses following the client.
struct PauseItem(MenuItem<Wry>);

const PAUSE_WATCHING: &str = "Pause watching";
const RESUME_WATCHING: &str = "Resume watching";

/// Lets the tray say what clicking does now. Returns at once, on whatever thread.
pub(crate) fn show_watch(app: &AppHandle, state: WatchState) {
    let on_main = app.clone();
    // Fails only while the program ends.
    let _ = app.run_on_main_thread(move || {
        let Some(item) = on_main.try_state::<PauseItem>() else { return };
        let label = if state == WatchState::Paused { RESUME_WATCHING } else { PAUSE_WATCHING };
        if item.0.text().is_ok_and(|shown| shown != label) {
            let _ = item.0.set_text(label);
        }
        let can_pause = state != WatchState::Off;
        if item.0.is_enabled().is_ok_and(|enabled| enabled != can_pause) {
            let _ = item.0.set_enabled(can_pause);
        }
    });
}

fn watch_status(memory: &Memory) -> Result<WatchStatus, WireError> {
    let status = memory.call("watch_get", serde_json::json!({}))?;
    serde_json::from_value(status).map_err(|error| Error::from(error).to_wire())
}

fn pause_or_go_on(app: AppHandle) {
    tauri::async_runtime::spawn_blocking(move || {
        let memory = app.state::<Arc<Memory>>();
        let paused = watch_status(&memory).is_ok_and(|status| status.state == WatchState::Paused);
        // What came of it is told by an event, to the page and to this menu.
        let _ = memory.call("watch_set", serde_json::json!({ "paused": !paused }));
    });
}

/// Brings the window to the front, wherever it was.
pub(crate) fn show_window(app: &AppHandle) {
    if let Some(window) = app.get_webview_window("main") {
        // Each may fail when the desktop forbids it; the others still help.
        let _ = window.unminimize();
        let _ = window.show();
        let _ = window.set_focus();
    }
}

fn ingest_latest(app: AppHandle) {
    tauri::async_runtime::spawn_blocking(move || {
        let notice = Notice::new(run_ingest(&app.state::<Arc<Memory>>()));
        // A desktop without notifications still shows the new session in the list.
        let _ = app.notification().builder().title(notice.title).body(notice.body).show();
    });
}

fn run_ingest(memory: &Memory) -> Result<IngestReport, WireError> {
    let internal = |error: serde_json::Error| Error::from(error).to_wire();
    let request = IngestRequest { latest: true, ..IngestRequest::default() };
    let response = memory.call("session_ingest", serde_json::to_value(request).map_err(internal)?)?;
    serde_json::from_value(response).map_err(internal)
}

/// What the notification says.
#[derive(Debug, PartialEq, Eq)]
struct Notice {
    title: String,
    body: String,
}

impl Notice {
    fn new(outcome: Result<IngestReport, WireError>) -> Self {
        let report = match outcome {
            Ok(report) => report,
            Err(error) => return Self::failure(&error.message, error.hint.as_deref()),
        };
        let taken = |status: IngestStatus| matches!(status, IngestStatus::New | IngestStatus::Updated);
        let Some(session) = report.sessions.iter().find(|session| taken(session.status)) else {
            let failed = report.sessions.iter().find_map(|session| session.error.as_deref());
            return match failed.or_else(|| report.files.iter().find_map(|file| file.error.as_deref())) {
                Some(error) => Self::failure(error, None),
                None => Self {
                    title: "Nothing new".to_owned(),
                    body: "Every transcript and export is in memory.".to_owned(),
                },
            };
        };
        let title =
            if session.status == IngestStatus::New { "Kept a new session" } else { "Kept what is new in a session" };
        let mut body =
            format!("{}\n{}, {} new", session.title, counted(session.messages, "message"), grouped(session.new_unique));
        if session.keepits > 0 {
            body.push_str(&format!(", {}", counted(session.keepits, "keepit")));
        }
        Self { title: title.to_owned(), body }
    }

    fn failure(message: &str, hint: Option<&str>) -> Self {
        let body = match hint {
            Some(hint) => format!("{message}\n{hint}"),
            None => message.to_owned(),
        };
        Self { title: "The latest export was not kept".to_owned(), body }
    }
}

fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(count))
}

/// A count with a separator after each three digits.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let head = digits.len() % 3;
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && position % 3 == head {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use recollect_engine::api::ingest::{IngestedSession, Repeats};
    use recollect_engine::error::ErrorKind;

    use super::*;

    fn session(status: IngestStatus) -> IngestedSession {
        IngestedSession {
            session_id: "7c41e0b2".into(),
            project_id: "-code-my-app".into(),
            title: "Fix the token refresh".to_owned(),
            format: "claude-code".to_owned(),
            messages: 1_450,
            new_unique: 1,
            duplicates: 0,
            repeats: Repeats::default(),
            bytes: 10,
            keepits: 2,
            status,
            error: None,
        }
    }

    #[test]
    fn a_new_session_is_named_with_its_figures() {
        let report = IngestReport { sessions: vec![session(IngestStatus::New)], ..IngestReport::default() };
        let notice = Notice::new(Ok(report));
        assert_eq!(notice.title, "Kept a new session", "the title alone must say what happened");
        assert_eq!(
            notice.body, "Fix the token refresh\n1,450 messages, 1 new, 2 keepits",
            "the user wants to know which, and how much"
        );
    }

    #[test]
    fn nothing_new_is_said_and_not_silent() {
        let report = IngestReport { sessions: vec![session(IngestStatus::Unchanged)], ..IngestReport::default() };
        assert_eq!(Notice::new(Ok(report)).title, "Nothing new", "a click that seems to do nothing looks broken");
        assert_eq!(Notice::new(Ok(IngestReport::default())).title, "Nothing new", "an empty report is no failure");
    }

    #[test]
    fn a_failure_is_said_with_what_to_do() {
        let error = WireError {
            kind: ErrorKind::Io,
            message: "the disk is full".to_owned(),
            hint: Some("free some space".to_owned()),
        };
        assert_eq!(Notice::new(Err(error)).body, "the disk is full\nfree some space", "a hint is what helps");
    }

    #[test]
    fn counts_are_grouped() {
        let expected = [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")];
        for (count, text) in expected {
            assert_eq!(grouped(count), text, "figures are read at a glance");
        }
    }
}
