//! The screen as the user has it: which windows are on it, asking one to close, the mouse.

use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConnectionExt as _, EventMask,
    MOTION_NOTIFY_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

/// Moves in steps of so many pixels: programs start a drag after some distance, and look where the pointer is on the way.
const STEP: i64 = 24;

/// A hand takes its time, and programs read motion in batches.
const PACE: Duration = Duration::from_millis(20);

/// A place on the screen, in pixels from its top left corner.
pub(crate) type Place = (i64, i64);

/// A connection to the X server.
pub(crate) struct Screen {
    connection: RustConnection,
    root: Window,
}

impl Screen {
    /// Connects to a display.
    pub(crate) fn connect(display: &str) -> Self {
        let (connection, number) = RustConnection::connect(Some(display)).expect("the display of the test answers");
        let root = connection.setup().roots[number].root;
        Self { connection, root }
    }

    /// Titles of the windows that are on the screen.
    pub(crate) fn titles(&self) -> Vec<String> {
        self.windows().into_iter().map(|(_, title)| title).collect()
    }

    /// Whether a window with this title is on the screen.
    pub(crate) fn shows(&self, title: &str) -> bool {
        self.titles().iter().any(|found| found == title)
    }

    /// Asks a window to close, as the cross in its title bar does.
    pub(crate) fn close(&self, title: &str) {
        let windows = self.windows();
        let (window, _) = windows.iter().find(|(_, found)| found == title).expect("the window is on the screen");
        let atom = |name: &str| {
            let reply = self.connection.intern_atom(false, name.as_bytes()).expect("the display answers").reply();
            reply.expect("names have atoms").atom
        };
        let data = [atom("WM_DELETE_WINDOW"), x11rb::CURRENT_TIME, 0, 0, 0];
        let message = ClientMessageEvent::new(32, *window, atom("WM_PROTOCOLS"), data);
        self.connection.send_event(false, *window, EventMask::NO_EVENT, message).expect("the window is asked");
        self.connection.flush().expect("the display answers");
    }

    /// Presses at one place, moves, and releases at another.
    pub(crate) async fn drag(&self, from: Place, to: Place) {
        self.fake(MOTION_NOTIFY_EVENT, 0, from).await;
        self.fake(BUTTON_PRESS_EVENT, 1, from).await;
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = (dx.abs().max(dy.abs()) / STEP).max(8);
        for step in 1..=steps {
            self.fake(MOTION_NOTIFY_EVENT, 0, (from.0 + dx * step / steps, from.1 + dy * step / steps)).await;
        }
        // Once more where it already is: a target answers to the last motion before the release.
        for _ in 0..5 {
            self.fake(MOTION_NOTIFY_EVENT, 0, to).await;
        }
        self.fake(BUTTON_RELEASE_EVENT, 1, to).await;
    }

    async fn fake(&self, event: u8, button: u8, (x, y): Place) {
        let place = |value: i64| i16::try_from(value).expect("it is on the screen");
        let sent = self.connection.xtest_fake_input(event, button, 0, self.root, place(x), place(y), 0);
        sent.expect("the display answers").check().expect("the display has a mouse");
        tokio::time::sleep(PACE).await;
    }

    fn windows(&self) -> Vec<(Window, String)> {
        let tree = self.connection.query_tree(self.root).expect("the display answers").reply();
        let children = tree.expect("it has a root window").children;
        children.into_iter().filter_map(|window| Some((window, self.title_when_visible(window)?))).collect()
    }

    /// `None` for a window that is hidden, untitled, or gone since it was listed.
    fn title_when_visible(&self, window: Window) -> Option<String> {
        let attributes = self.connection.get_window_attributes(window).ok()?.reply().ok()?;
        if attributes.map_state != MapState::VIEWABLE {
            return None;
        }
        let title = self.connection.get_property(false, window, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 256).ok()?;
        let title = String::from_utf8_lossy(&title.reply().ok()?.value).into_owned();
        (!title.is_empty()).then_some(title)
    }
}
