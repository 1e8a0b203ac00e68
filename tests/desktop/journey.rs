//! The main job as a user does it: from dropped transcripts to a context that the client resumes.

use fantoccini::key::Key;
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

/// Takes sessions in without the mouse, for journeys that begin with a memory.
async fn remember(app: &App, desktop: &Desktop, transcripts: &[Transcript]) {
    app.find("nav[aria-label='Main']").await;
    for transcript in transcripts {
        transcript.write_into(&desktop.folder().join("backup")).expect("a transcript");
    }
    let report = app.call("session_ingest", json!({"paths": [desktop.folder().join("backup")]})).await;
    assert_eq!(report["totals"]["new"], json!(transcripts.len()), "all are taken in: {report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_compressed_with_its_progress_in_sight() {
    let desktop = Desktop::start();
    let app = App::open(&desktop, &[]).await;
    let long =
        Transcript::new("long").title("Rework the ledger").work("ledger", 150).user("##keepit1.00## Never twice.");
    remember(&app, &desktop, std::slice::from_ref(&long)).await;

    app.click("[role=option]", "Rework the ledger").await;
    app.find_text("h1", "Rework the ledger").await;
    app.click("header button", "Compress").await;
    app.find_text("[data-testid=compress-result]", "tokens").await;
    app.picture("compress").await;
    app.listen("engine").await;
    app.click("[data-testid=compress-create]", "").await;
    app.find("[data-testid=compress-progress]").await;
    app.picture("compress-running").await;
    app.find_text("[data-testid=compress-done]", "v001 made").await;
    app.picture("compress-done").await;

    let told = app.heard().await;
    assert!(told.iter().any(|event| event["event"] == "job_progress"), "progress comes from the engine: {told:?}");
    let versions = app.call("version_list", json!({"session": long.session_id()})).await;
    assert_eq!(versions["versions"][0]["version_id"], json!("v001"), "the version is in memory: {versions}");
    app.click("[role=dialog] button", "Open v001").await;
    app.find_text("[data-testid=version-read] article", "ledger").await;
    app.picture("version").await;
    app.click("[data-testid=version-read] button", "Compare").await;
    app.find("[data-testid=version-compare]").await;
    app.picture("compare").await;
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_found_by_the_keyboard_and_opened_at_its_message() {
    let desktop = Desktop::start();
    let app = App::open(&desktop, &[]).await;
    let billing = Transcript::new("billing").title("Bill at month end").work("billing", 40);
    remember(&app, &desktop, &[refresh(), billing]).await;
    app.find_text("[role=option]", "Bill at month end").await;

    app.press(Key::Control, "k").await;
    app.type_text("[role=dialog] input[aria-label=Search]", "lock lives in the session store").await;
    app.find_text("[role=dialog] [role=option]", "Fix the token refresh").await;
    app.picture("search").await;
    app.type_text("[role=dialog] input[aria-label=Search]", &char::from(Key::Enter).to_string()).await;
    app.find_text("h1", "Fix the token refresh").await;
    app.find_text("article", PASSAGE).await;
    app.picture("found").await;
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sessions_are_dragged_into_a_composition_and_composed() {
    let desktop = Desktop::start();
    let app = App::open(&desktop, &[]).await;
    let workplace = desktop.folder().join("my-app");
    fs_err::create_dir_all(&workplace).expect("a folder to work in");
    desktop.install("claude");
    let opened = desktop.install("xdg-terminal-exec");
    let billing = Transcript::new("billing")
        .cwd(&workplace.display().to_string())
        .days_later(1)
        .title("Bill at month end")
        .work("billing", 6);
    remember(&app, &desktop, &[refresh(), billing.clone()]).await;

    app.click("nav[aria-label='Main'] a", "Compositions").await;
    let timeline = app.find("[data-testid=compose-timeline]").await;
    let place = app.middle(&timeline).await;
    for (title, cards) in [("Fix the token refresh", 1), ("Bill at month end", 2)] {
        let row = app.find_text("[data-testid=compose-list-row]", title).await;
        desktop.screen.drag(app.middle(&row).await, place).await;
        until("the card is in the timeline", || async { app.count("[data-testid=compose-card]").await == cards }).await;
    }
    app.fill("input[data-testid=compose-budget], [data-testid=compose-budget] input", "6000").await;
    app.fill("[data-testid=compose-name]", "carry on").await;
    app.find("[data-testid=budget-bar]").await;
    app.picture("compose").await;
    app.click("[data-testid=compose-button]:not([disabled])", "").await;

    let name = json!({"name": "carry on"});
    until("the composition is made", || async {
        app.call("composition_get", name.clone()).await.get("failed").is_none()
    })
    .await;
    app.picture("composed").await;
    let detail = app.call("composition_list", json!({})).await;
    let composition = &detail[0];
    assert!(
        composition["total_tokens"].as_u64().is_some_and(|tokens| tokens <= 6000),
        "the budget is hard: {composition}"
    );
    assert_eq!(composition["components"].as_array().map(Vec::len), Some(2), "both sessions are in it: {composition}");

    app.click("[data-testid=continue-button]:not([disabled])", "").await;
    app.find_text("[data-testid=continue-dialog]", "A terminal is open").await;
    app.picture("continued").await;
    until("the terminal was started", || async { opened.is_file() }).await;
    let called = fs_err::read_to_string(&opened).expect("what the terminal was called with");
    let called: Vec<&str> = called.lines().collect();
    let [folder, client, "--resume", session] = called[..] else { panic!("not what resumes: {called:?}") };
    assert_eq!(fs_err::canonicalize(folder).expect("a folder"), fs_err::canonicalize(&workplace).expect("a folder"));
    assert!(client.ends_with("/claude"), "the client itself is started: {client}");
    let projects = fs_err::read_dir(desktop.claude_home().join("projects")).expect("the client's sessions");
    let written =
        projects.filter_map(Result::ok).any(|project| project.path().join(format!("{session}.jsonl")).is_file());
    assert!(written, "the session that it resumes is there: {session}");
    app.close().await;
}
