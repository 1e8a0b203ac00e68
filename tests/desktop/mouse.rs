//! The user's mouse: real pointer events of the X server, and files dragged from another window.

use std::path::Path;
use std::process::Stdio;

use fantoccini::elements::Element;

use crate::app::App;
use crate::desktop::{Desktop, Server};

/// Where the window with the files is: right of ours.
const FILES_AT: (i64, i64) = (1400, 60);

/// Moves in steps: programs start a drag after some distance, and look where the pointer is on the way.
const STEP: i64 = 24;

/// Drags files from another window and drops them on a place of the page.
pub fn drop_files(desktop: &Desktop, files: &[&Path], to: (i64, i64)) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/desktop/drag_source.py");
    let (x, y) = FILES_AT;
    let mut source = Server::start(
        desktop
            .command("/usr/bin/python3")
            .arg(script)
            .args([x.to_string(), y.to_string()])
            .args(files)
            .stdout(Stdio::piped()),
    );
    assert_eq!(
        source.first_line(),
        "SHOWN",
        "the window with the files is on the screen"
    );
    drag(desktop, (x + 60, y + 60), to);
    // The source ends once the target has taken the files.
    source.wait();
}

/// Presses at one place, moves, and releases at another.
pub fn drag(desktop: &Desktop, from: (i64, i64), to: (i64, i64)) {
    let mut script = vec![
        format!("mousemove {} {}", from.0, from.1),
        "sleep 0.1".to_owned(),
        "mousedown 1".to_owned(),
    ];
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = (dx.abs().max(dy.abs()) / STEP).max(4);
    for step in 1..=steps {
        script.push("sleep 0.02".to_owned());
        script.push(format!(
            "mousemove {} {}",
            from.0 + dx * step / steps,
            from.1 + dy * step / steps
        ));
    }
    script.extend(["sleep 0.2".to_owned(), "mouseup 1".to_owned()]);
    let words = script.iter().flat_map(|line| line.split(' '));
    let status = desktop
        .command("xdotool")
        .args(words)
        .status()
        .expect("xdotool is needed by these tests: run scripts/setup");
    assert!(status.success(), "the mouse moved");
}

/// The middle of an element on the screen; without a window manager the page begins at the window's corner.
pub async fn middle(app: &App, element: &Element) -> (i64, i64) {
    let (x, y, width, height) = element.rectangle().await.expect("the element is drawn");
    let corner = app
        .page
        .execute("return [window.screenX, window.screenY]", vec![])
        .await
        .expect("the page knows its place");
    let corner = |index: usize| {
        corner
            .get(index)
            .and_then(serde_json::Value::as_f64)
            .unwrap_or_default()
    };
    (
        (x + width / 2.0 + corner(0)) as i64,
        (y + height / 2.0 + corner(1)) as i64,
    )
}
