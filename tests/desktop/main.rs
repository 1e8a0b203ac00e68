//! The real window on a display of its own: WebDriver for the page, D-Bus for tray and notifications, a real mouse for drags.
//!
//! Needs Xvfb, WebKitWebDriver, dbus-daemon and Python with GTK (`scripts/setup` installs them). A missing one
//! fails the tests: a window nobody looked at is not tested.

mod app;
mod desktop;
mod drop;
mod journey;
mod live;
mod mouse;
mod panel;
mod screen;
mod start;
mod tray;
