//! Files dragged in from another window, as from a file manager.

use std::path::Path;
use std::process::Stdio;

use crate::desktop::{Desktop, Server};
use crate::screen::Place;

/// Where the window with the files is: right of ours.
const FILES_AT: Place = (1400, 60);

/// Drags files from another window and drops them on a place of the page.
pub(crate) async fn drop_files(desktop: &Desktop, files: &[&Path], to: Place) {
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
    assert_eq!(source.first_line(), "SHOWN", "the window with the files is on the screen");
    desktop.screen.drag((x + 60, y + 60), to).await;
    // The source ends once the target has taken the files.
    source.wait();
}
