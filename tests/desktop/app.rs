//! The program in its window, driven by WebDriver.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::desktop::{Desktop, Server};

/// The program that is tested.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_recollect-desktop");

/// Far more than any step takes, so that a slow machine does not fail a test.
const PATIENCE: Duration = Duration::from_secs(30);

/// The open window.
pub struct App {
    /// Drives the page.
    pub page: Client,
    driver: Server,
}

impl App {
    /// Starts the program with arguments and waits until its page has loaded.
    pub async fn open(desktop: &Desktop, arguments: &[&str]) -> Self {
        let port = free_port();
        let driver = Server::start(
            desktop
                .command("WebKitWebDriver")
                .args([format!("--port={port}"), "--host=127.0.0.1".to_owned()])
                .env("TAURI_AUTOMATION", "true")
                .env("TAURI_WEBVIEW_AUTOMATION", "true")
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        );
        let capabilities =
            json!({"webkitgtk:browserOptions": {"binary": PROGRAM, "args": arguments}});
        let Value::Object(capabilities) = capabilities else {
            unreachable!("it is an object")
        };
        let address = format!("http://127.0.0.1:{port}");
        until("WebKitWebDriver listens", || async {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        })
        .await;
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&address)
            .await
            .expect("the window opens");
        Self { page, driver }
    }

    /// The process of the program: the driver's only child.
    pub fn process(&self) -> u32 {
        let children = format!("/proc/{0}/task/{0}/children", self.driver.id());
        let children = fs_err::read_to_string(children).expect("the driver runs");
        children
            .split_whitespace()
            .next()
            .and_then(|id| id.parse().ok())
            .expect("the program runs under the driver")
    }

    /// Waits for an element by CSS selector.
    pub async fn find(&self, selector: &str) -> Element {
        let found = self
            .page
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::Css(selector))
            .await;
        match found {
            Ok(element) => element,
            Err(error) => {
                let text = self.text("body").await;
                panic!("no `{selector}` in the page ({error}); it says:\n{text}");
            }
        }
    }

    /// Waits for an element that shows `text` and is matched by the CSS selector; the innermost one.
    pub async fn find_text(&self, selector: &str, text: &str) -> Element {
        let script = "const [selector, text] = arguments;
            return [...document.querySelectorAll(selector)].filter((found) => found.innerText.includes(text)).at(-1) ?? null";
        let started = Instant::now();
        loop {
            let found = self
                .page
                .execute(script, vec![json!(selector), json!(text)])
                .await
                .expect("the page runs the question");
            if let Some(id) = found.get(ELEMENT_KEY).and_then(Value::as_str) {
                return Element::from_element_id(self.page.clone(), id.to_owned().into());
            }
            if started.elapsed() > PATIENCE {
                panic!(
                    "no `{selector}` with `{text}`; the page says:\n{}",
                    self.text("body").await
                );
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The text that the first element of a selector shows.
    pub async fn text(&self, selector: &str) -> String {
        let text = self
            .page
            .execute(
                "return document.querySelector(arguments[0])?.innerText ?? ''",
                vec![json!(selector)],
            )
            .await;
        text.ok()
            .and_then(|text| text.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// Calls a command of the engine as the page does.
    pub async fn call(&self, command: &str, request: Value) -> Value {
        self.invoke("rpc", json!({"command": command, "request": request}))
            .await
    }

    /// Calls a Tauri command as the page does; failures come back as `{"failed": …}`.
    pub async fn invoke(&self, command: &str, arguments: Value) -> Value {
        let script = "const [command, given, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(command, given).then(done, (failed) => done({ failed }))";
        self.page
            .execute_async(script, vec![json!(command), arguments])
            .await
            .expect("the page runs the call")
    }

    /// Whether the window is on the screen.
    pub async fn is_visible(&self, desktop: &Desktop) -> bool {
        let found = desktop
            .command("xdotool")
            .args(["search", "--onlyvisible", "--name", "^Recollect$"])
            .output();
        let found = found.expect("xdotool is needed by these tests: run scripts/setup");
        !found.stdout.is_empty()
    }

    /// Writes a picture of the page where `RECOLLECT_PICTURES` says, when it does.
    pub async fn picture(&self, name: &str) {
        let Some(folder) = option_env!("RECOLLECT_PICTURES").map(PathBuf::from) else {
            return;
        };
        let picture = self
            .page
            .screenshot()
            .await
            .expect("the window can be drawn");
        fs_err::create_dir_all(&folder).expect("the folder of the pictures");
        fs_err::write(folder.join(format!("{name}.png")), picture).expect("the picture");
    }

    /// Ends the program.
    pub async fn close(self) {
        // The program may have ended by the test's own doing.
        let _ = self.page.close().await;
    }
}

/// Key of an element in answers of WebDriver, by its specification.
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Waits until something is so.
pub async fn until<Answer: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> Answer) {
    let started = Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < PATIENCE, "waited too long until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port of this machine");
    listener.local_addr().expect("it has an address").port()
}
