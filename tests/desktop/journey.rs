//! The main job as a user does it: from dropped transcripts to a weighed passage.

use recollect_engine::testing::Transcript;
use serde_json::json;

use crate::app::{App, until};
use crate::desktop::Desktop;
use crate::mouse::drop_files;

const PASSAGE: &str = "The lock lives in the session store.";

fn refresh() -> Transcript {
    Transcript::new("refresh")
        .title("Fix the token refresh")
        .work("refresh", 4)
        .user(&format!("##keepit0.75## {PASSAGE}"))
        .work("lock", 8)
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_transcripts_are_read_and_a_passage_is_given_another_weight() {
    let desktop = Desktop::start();
    let folder = desktop.folder().join("backup");
    let file = refresh().write_into(&folder).expect("a transcript");
    let broken = folder.join("notes.jsonl");
    fs_err::write(&broken, "this is not a transcript\n").expect("a file");
    let app = App::open(&desktop, &[]).await;
    app.find("nav[aria-label='Main']").await;
    app.picture("first-run").await;

    drop_files(&desktop, &[&file, &broken], (640, 400)).await;
    app.find_text("[role=dialog]", "in memory").await;
    app.find_text("[role=dialog] [role=listitem]", &refresh().session_id()[..8]).await;
    app.picture("drop-result").await;
    app.click("[role=dialog] button", "Show").await;

    app.click("[role=option]", "Fix the token refresh").await;
    app.find_text("h1", "Fix the token refresh").await;
    app.find_text("article", "refresh").await;
    app.picture("conversation").await;
    app.click("[role=tab]", "Keepits").await;
    app.click("button[aria-label^='Weight 0.75']", "").await;
    app.find("[data-testid=keepit-popover] [data-testid=decay-chart]").await;
    app.find("[data-testid=decay-matrix]").await;
    app.fill("input[data-testid=keepit-weight], [data-testid=keepit-weight] input", "0.95").await;
    app.picture("keepit").await;
    app.click("[data-testid=keepit-save]", "").await;

    let session = json!({"session": refresh().session_id()});
    until("the weight is in memory", || async {
        app.call("keepit_list", session.clone()).await[0]["weight"] == json!(0.95)
    })
    .await;
    let marker = &app.call("keepit_list", session).await[0];
    assert_eq!(marker["text_weight"], json!(0.75), "the transcript keeps its own weight: {marker}");
    assert!(
        marker["content"].as_str().is_some_and(|content| content.contains(PASSAGE)),
        "it is that passage: {marker}"
    );
    app.close().await;
}
