//! Following the client: what it writes is seen in the window, until that is paused.

use std::io::Write;

use fantoccini::Locator;
use recollect_engine::testing::Transcript;
use serde_json::json;

use crate::app::{App, until};
use crate::desktop::Desktop;

#[tokio::test(flavor = "multi_thread")]
async fn an_appended_line_is_seen_in_the_window_and_pausing_is_said() {
    let desktop = Desktop::start();
    let before = Transcript::new("live").title("Fix the token refresh").work("refresh", 2);
    let path = before.write(&desktop.claude_home()).expect("a transcript of the client");
    let app = App::open(&desktop, &[]).await;
    app.find_text("h1", "1 session in 1 project").await;
    app.click("button", "Keep all").await;
    app.click("[role=dialog] button", "Show").await;
    app.click("[role=option]", "Fix the token refresh").await;
    app.find_text("article", "refresh").await;
    app.find_text("[data-testid=watch-foot]", "Watching").await;
    app.find("[role=option] .live-dot").await;

    let after = before.clone().user("Does the osprey nest here?");
    let mut file = fs_err::OpenOptions::new().append(true).open(&path).expect("the transcript");
    file.write_all(&after.bytes()[before.bytes().len()..]).expect("the client writes on");
    app.find_text("article", "Does the osprey nest here?").await;
    app.picture("live").await;
    let other = Transcript::new("other").title("Another session begins").work("other", 1);
    other.write(&desktop.claude_home()).expect("a transcript of the client");
    app.find_text("[role=option]", "Another session begins").await;

    let tray = desktop.panel.tray();
    tray.click("Pause watching");
    app.find_text("[data-testid=watch-foot]", "Paused").await;
    until("the tray offers to go on", || async { tray.labels().contains(&"Resume watching".to_owned()) }).await;
    let unseen = Transcript::new("unseen").title("Written in the pause").work("unseen", 1);
    unseen.write(&desktop.claude_home()).expect("a transcript of the client");
    app.click("[data-testid=watch-foot] button", "Resume").await;
    app.find_text("[role=option]", "Written in the pause").await;
    assert!(app.page.find(Locator::Css("[data-testid=watch-foot]")).await.is_ok(), "the foot stays");
    let found = app.call("search_query", json!({"query": "osprey"})).await;
    assert_eq!(found["hits"][0]["session_id"], json!(before.session_id()), "what was appended is found: {found}");
    app.close().await;
}
