//! The tray: its menu does what it says, and a notification tells what came of it.

use recollect_engine::testing::Transcript;
use serde_json::json;

use crate::app::{App, until};
use crate::desktop::Desktop;

#[tokio::test(flavor = "multi_thread")]
async fn ingest_latest_takes_the_newest_session_and_says_so() {
    let desktop = Desktop::start();
    let transcript = Transcript::new("refresh")
        .title("Fix the token refresh")
        .work("refresh", 2)
        .user("##keepit0.75## One lock per session.");
    transcript.write(&desktop.claude_home()).expect("a transcript of the client");
    let app = App::open(&desktop, &[]).await;
    let tray = desktop.panel.tray();
    assert_eq!(
        tray.labels(),
        ["Open Recollect", "Ingest latest export", "Pause watching", "Quit"],
        "the tray offers what the window offers, shortly"
    );

    tray.click("Ingest latest export");
    let notification = desktop.panel.notification();
    assert_eq!(notification.title, "Kept a new session", "{notification:?}");
    assert_eq!(
        notification.body, "Fix the token refresh\n15 messages, 15 new, 1 keepit",
        "which session, and how much"
    );
    let sessions = app.call("session_list", json!({})).await;
    assert!(sessions.to_string().contains(transcript.session_id()), "it is in memory: {sessions}");

    tray.click("Ingest latest export");
    assert_eq!(desktop.panel.notification().title, "Nothing new", "the second time there is nothing to take");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn open_brings_a_closed_window_back_and_quit_ends_the_program() {
    let desktop = Desktop::start();
    let app = App::open(&desktop, &[]).await;
    let tray = desktop.panel.tray();
    until("the window is on the screen", || async { desktop.screen.shows("Recollect") }).await;
    desktop.screen.close("Recollect");
    until("the window is closed", || async { !desktop.screen.shows("Recollect") }).await;

    tray.click("Open Recollect");
    until("the window is back", || async { desktop.screen.shows("Recollect") }).await;

    let process = format!("/proc/{}/stat", app.process());
    tray.click("Quit");
    until("the program has ended", || async {
        fs_err::read_to_string(&process).map_or(true, |stat| stat.contains(") Z "))
    })
    .await;
    app.close().await;
}
