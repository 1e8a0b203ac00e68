//! Files dropped on the window reach the page with their paths.

use recollect_engine::testing::Transcript;
use serde_json::{Value, json};

use crate::app::{App, until};
use crate::desktop::Desktop;
use crate::mouse::drop_files;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_dragged_from_another_window_is_announced_and_dropped_with_its_path() {
    let desktop = Desktop::start();
    let folder = desktop.folder().join("a folder & more");
    let file = Transcript::new("refresh").work("refresh", 2).write_into(&folder).expect("a transcript");
    let app = App::open(&desktop, &[]).await;
    until("the window is on the screen", || async { desktop.screen.shows("Recollect") }).await;
    app.listen("drop").await;

    drop_files(&desktop, &[&file], (640, 400)).await;

    until("the page hears of the drop", || async { app.heard().await.iter().any(|event| event["phase"] == "drop") })
        .await;
    let heard = app.heard().await;
    let phases: Vec<&str> = heard.iter().filter_map(|event| event["phase"].as_str()).collect();
    assert_eq!(phases.first(), Some(&"enter"), "what will happen is shown before the drop: {phases:?}");
    assert!(phases.contains(&"over"), "the place under the pointer can be shown: {phases:?}");
    let dropped: Vec<&Value> = heard.iter().filter(|event| event["phase"] == "drop").collect();
    assert_eq!(dropped.len(), 1, "a file dropped once is taken once: {heard:?}");
    assert_eq!(dropped[0]["paths"], json!([file]), "the path is decoded");
    let x = dropped[0]["x"].as_f64().unwrap_or_default();
    assert!((x - 640.0).abs() < 2.0, "the place is that of the pointer: {x}");
    app.close().await;
}
