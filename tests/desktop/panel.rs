//! The panel of the desktop: hosts tray icons, clicks their menus, receives notifications.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use zbus::blocking::{Connection, Proxy, connection};
use zbus::message::Header;
use zbus::zvariant::{OwnedObjectPath, OwnedValue, Structure, Value};

/// Far more than any of it takes, so that a slow machine does not fail a test.
const PATIENCE: Duration = Duration::from_secs(30);

/// The panel.
pub(crate) struct Panel {
    connection: Connection,
    icons: Receiver<Icon>,
    notifications: Receiver<Notification>,
}

/// A tray icon on the bus.
#[derive(Debug, Clone)]
struct Icon {
    bus_name: String,
    path: String,
}

/// A notification as the user reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notification {
    /// Its first line.
    pub(crate) title: String,
    /// Its text.
    pub(crate) body: String,
}

struct Watcher(Sender<Icon>);

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(&self, service: &str, #[zbus(header)] header: Header<'_>) {
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        let icon = match service.starts_with('/') {
            true => Icon { bus_name: sender, path: service.to_owned() },
            false => Icon { bus_name: service.to_owned(), path: "/StatusNotifierItem".to_owned() },
        };
        let _ = self.0.send(icon);
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        Vec::new()
    }
}

struct Notifications(Sender<Notification>);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Notifications {
    #[expect(clippy::too_many_arguments, reason = "the specification's signature")]
    fn notify(
        &self,
        _program: &str,
        _replaces: u32,
        _icon: &str,
        summary: &str,
        body: &str,
        _actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        let _ = self.0.send(Notification { title: summary.to_owned(), body: body.to_owned() });
        1
    }

    fn close_notification(&self, _id: u32) {}

    #[zbus(name = "GetCapabilities")]
    fn capabilities(&self) -> Vec<String> {
        vec!["body".to_owned()]
    }

    #[zbus(name = "GetServerInformation")]
    fn server_information(&self) -> (String, String, String, String) {
        ("panel".to_owned(), "tests".to_owned(), "1".to_owned(), "1.2".to_owned())
    }
}

impl Panel {
    /// Takes its names on the bus.
    pub(crate) fn start(bus: &str) -> Self {
        let (icon_sender, icons) = channel();
        let (notification_sender, notifications) = channel();
        let connection = connection::Builder::address(bus)
            .and_then(|builder| builder.serve_at("/StatusNotifierWatcher", Watcher(icon_sender)))
            .and_then(|builder| builder.serve_at("/org/freedesktop/Notifications", Notifications(notification_sender)))
            .and_then(|builder| builder.name("org.kde.StatusNotifierWatcher"))
            .and_then(|builder| builder.name("org.freedesktop.Notifications"))
            .and_then(connection::Builder::build)
            .expect("the bus of the test takes the panel");
        Self { connection, icons, notifications }
    }

    /// Waits for the tray icon, which stays for further clicks.
    pub(crate) fn tray(&self) -> Tray<'_> {
        let icon = self.icons.recv_timeout(PATIENCE).expect("the program puts an icon into the tray");
        Tray { panel: self, icon }
    }

    /// Waits for the next notification.
    pub(crate) fn notification(&self) -> Notification {
        self.notifications.recv_timeout(PATIENCE).expect("a notification comes")
    }
}

/// The tray icon of the program.
pub(crate) struct Tray<'a> {
    panel: &'a Panel,
    icon: Icon,
}

impl Tray<'_> {
    /// Labels of the menu, top to bottom, without separators.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.items().into_iter().map(|(label, _)| label).collect()
    }

    /// Clicks an item of the menu.
    pub(crate) fn click(&self, label: &str) {
        let items = self.items();
        let Some((_, id)) = items.iter().find(|(name, _)| name == label) else {
            panic!("the menu has {items:?}, not `{label}`");
        };
        let event = (id, "clicked", Value::I32(0), 0_u32);
        self.menu().call_method("Event", &event).expect("the menu takes the click");
    }

    fn items(&self) -> Vec<(String, i32)> {
        let menu = self.menu();
        menu.call_method("AboutToShow", &(0,)).expect("the menu opens");
        type Node = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);
        let (_revision, (_root, _properties, children)): (u32, Node) =
            menu.call("GetLayout", &(0, -1, Vec::<String>::new())).expect("the menu tells its items");
        children.iter().filter_map(item).collect()
    }

    fn menu(&self) -> Proxy<'_> {
        let icon = Proxy::new(
            &self.panel.connection,
            self.icon.bus_name.as_str(),
            self.icon.path.as_str(),
            "org.kde.StatusNotifierItem",
        );
        let path: OwnedObjectPath = icon.and_then(|icon| icon.get_property("Menu")).expect("the icon has a menu");
        Proxy::new(&self.panel.connection, self.icon.bus_name.clone(), path, "com.canonical.dbusmenu")
            .expect("the menu answers")
    }
}

fn item(child: &OwnedValue) -> Option<(String, i32)> {
    let node: &Structure<'_> = child.downcast_ref().ok()?;
    let [Value::I32(id), Value::Dict(properties), ..] = node.fields() else {
        return None;
    };
    let label: String = properties.get(&"label").ok()??;
    Some((label, *id))
}
