//! A desktop of its own for one test: X display, session bus, home, memory.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::panel::Panel;
use crate::screen::Screen;

/// Size of the display: the window's 1280 × 800 and room beside it for what is dragged in.
const SCREEN: &str = "1600x1000x24";

/// Where the programs of this machine are.
const SEARCH_PATH: &str = match option_env!("PATH") {
    Some(path) => path,
    None => "/usr/local/bin:/usr/bin:/bin",
};

/// The theme to draw in, `Adwaita:dark` for example: for whoever looks at the pictures.
#[expect(clippy::disallowed_methods, reason = "who looks at the pictures says in which theme")]
fn theme() -> Option<std::ffi::OsString> {
    std::env::var_os("GTK_THEME")
}

/// A running desktop; everything on it ends with it.
pub(crate) struct Desktop {
    /// Name of the display.
    pub(crate) display: String,
    bus: String,
    folder: tempfile::TempDir,
    /// The panel, with its tray and its notifications.
    pub(crate) panel: Panel,
    /// The screen, with its windows and its mouse.
    pub(crate) screen: Screen,
    _servers: Vec<Server>,
}

/// A program that ends when it is dropped.
pub(crate) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Starts a program of the test tools.
    pub(crate) fn start(command: &mut Command) -> Self {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{program} is needed by these tests ({error}): run scripts/setup"));
        Self(child)
    }

    /// Reads the first line that it says, its address as a rule.
    pub(crate) fn first_line(&mut self) -> String {
        let stdout = self.0.stdout.take().expect("stdout is a pipe");
        let mut reader = BufReader::new(stdout);
        let mut line = String::new();
        reader.read_line(&mut line).expect("what it says is text");
        assert!(!line.is_empty(), "it ended before it said where it is");
        // Kept open: a program that writes to a closed pipe ends.
        std::mem::forget(reader);
        line.trim().to_owned()
    }

    /// Waits until it ends by itself.
    pub(crate) fn wait(mut self) {
        let status = self.0.wait().expect("it runs");
        assert!(status.success(), "it ended with {status}");
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Desktop {
    /// Starts display, bus and panel.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "run", "claude/projects"] {
            fs_err::create_dir_all(folder.path().join(name)).expect("a folder of the desktop");
        }
        let mut server = Server::start(
            Command::new("Xvfb")
                .args(["-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null()),
        );
        let display = format!(":{}", server.first_line());
        let mut daemon = Server::start(
            Command::new("dbus-daemon")
                .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null()),
        );
        let bus = daemon.first_line();
        let panel = Panel::start(&bus);
        Self { screen: Screen::connect(&display), display, bus, folder, panel, _servers: vec![server, daemon] }
    }

    /// A program on this desktop, with nothing of the environment of the tests.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", format!("{}:{}", self.programs().display(), SEARCH_PATH))
            .env("HOME", self.folder.path().join("home"))
            .env("XDG_RUNTIME_DIR", self.folder.path().join("run"))
            .env("LANG", "C.UTF-8")
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("GTK_A11Y", "none")
            .env("NO_AT_BRIDGE", "1")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("RECOLLECT_HOME", self.memory())
            .env("CLAUDE_CONFIG_DIR", self.claude_home());
        if let Some(theme) = theme() {
            command.env("GTK_THEME", theme);
        }
        command
    }

    /// Puts a program of the test where the desktop finds it first; it notes where and with what it was called.
    pub(crate) fn install(&self, name: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let notes = self.folder().join(format!("{name}.called"));
        let path = self.programs().join(name);
        // Whole or not at all, so that who waits for the notes does not read half of them.
        let script = format!(
            "#!/bin/sh\n{{ pwd; printf '%s\\n' \"$@\"; }} > '{0}.part'\nmv '{0}.part' '{0}'\n",
            notes.display()
        );
        fs_err::create_dir_all(self.programs()).expect("a folder of the desktop");
        fs_err::write(&path, script).expect("a program");
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it can be run");
        notes
    }

    fn programs(&self) -> PathBuf {
        self.folder.path().join("programs")
    }

    /// Where the memory is.
    pub(crate) fn memory(&self) -> PathBuf {
        self.folder.path().join("memory")
    }

    /// Where Claude Code keeps its data.
    pub(crate) fn claude_home(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    /// A folder for the files of a test.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}
