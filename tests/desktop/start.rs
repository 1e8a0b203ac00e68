//! The window opens, is one, and hears what it is started with.

use serde_json::json;

use crate::app::{App, PROGRAM, until};
use crate::desktop::Desktop;

#[tokio::test(flavor = "multi_thread")]
async fn the_window_opens_with_its_page_and_an_open_memory() {
    let desktop = Desktop::start();
    let app = App::open(&desktop, &[]).await;
    assert_eq!(app.page.title().await.expect("a title"), "Recollect", "the page is ours");
    let overview = app.call("memory_overview", json!({})).await;
    assert_eq!(overview["home"], json!(desktop.memory()), "the environment says where the memory is: {overview}");
    until("the window is on the screen", || async { desktop.screen.shows("Recollect") }).await;
    app.find("nav[aria-label='Main']").await;
    app.picture("start").await;
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_win_over_the_environment() {
    let desktop = Desktop::start();
    let elsewhere = desktop.folder().join("elsewhere");
    let app = App::open(&desktop, &["--home", &elsewhere.to_string_lossy()]).await;
    let overview = app.call("memory_overview", json!({})).await;
    assert_eq!(overview["home"], json!(elsewhere), "a flag is said for this one start: {overview}");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_cross_as_kind_message_and_hint() {
    let desktop = Desktop::start();
    let app = App::open(&desktop, &[]).await;
    let answer = app.call("no_such_command", json!({})).await;
    assert_eq!(answer["failed"]["kind"], json!("usage"), "the page branches on the kind: {answer}");
    let answer = app.invoke("shell", json!({"request": {"action": "open_link", "url": "file:///etc/passwd"}})).await;
    assert_eq!(answer["failed"]["kind"], json!("usage"), "only links of the web leave the program: {answer}");
    let answer = app.invoke("plugin:fs|read_text_file", json!({"path": "/etc/passwd"})).await;
    assert!(answer.get("failed").is_some(), "the page has no file system of its own: {answer}");
    let answer = app.invoke("plugin:dialog|open", json!({"options": {}})).await;
    assert!(answer.get("failed").is_some(), "the page opens no dialogs of its own: {answer}");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_shows_the_first_window_and_passes_its_files_on() {
    let desktop = Desktop::start();
    let app = App::open(&desktop, &[]).await;
    let tray = desktop.panel.tray();
    until("the window is on the screen", || async { desktop.screen.shows("Recollect") }).await;
    desktop.screen.close("Recollect");
    until("the window is closed", || async { !desktop.screen.shows("Recollect") }).await;
    assert!(tray.labels().contains(&"Quit".to_owned()), "closing the window keeps the tray");

    app.listen("open_paths").await;
    app.invoke("shell", json!({"request": {"action": "opened_paths"}})).await;

    let status =
        desktop.command(PROGRAM).arg("a session.jsonl").current_dir(desktop.folder()).status().expect("it starts");
    assert!(status.success(), "the second start ends by itself, well: {status}");
    until("the first window is back", || async { desktop.screen.shows("Recollect") }).await;
    let expected = json!([[desktop.folder().join("a session.jsonl")]]);
    until("the page hears of the file", || async { !app.heard().await.is_empty() }).await;
    assert_eq!(json!(app.heard().await), expected, "paths are those of the second start's folder");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webkit_starts_with_the_renderer_that_never_leaves_a_window_blank() {
    let desktop = Desktop::start();
    let app = App::open(&desktop, &[]).await;
    app.find("nav[aria-label='Main']").await;
    let environments: Vec<String> = children(app.process())
        .into_iter()
        .map(|child| fs_err::read(format!("/proc/{child}/environ")).expect("it runs"))
        .map(|environment| String::from_utf8_lossy(&environment).into_owned())
        .collect();
    assert!(!environments.is_empty(), "WebKit draws in processes of its own");
    for environment in environments {
        assert!(
            environment.split('\0').any(|variable| variable == "WEBKIT_DISABLE_DMABUF_RENDERER=1"),
            "set before WebKit starts: {environment}"
        );
    }
    app.close().await;
}

/// The processes that a process started and that run.
fn children(parent: u32) -> Vec<u32> {
    let tasks = fs_err::read_dir(format!("/proc/{parent}/task")).expect("the process runs");
    tasks
        .filter_map(|task| fs_err::read_to_string(task.ok()?.path().join("children")).ok())
        .flat_map(|children| children.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}
