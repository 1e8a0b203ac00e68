//! The program in its window, driven by WebDriver.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::key::Key;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::desktop::{Desktop, Server};
use crate::screen::Place;

/// The program that is tested.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_recollect-desktop");

/// Far more than any step takes, so that a slow machine does not fail a test.
const PATIENCE: Duration = Duration::from_secs(30);

/// The open window.
pub(crate) struct App {
    /// Drives the page.
    pub(crate) page: Client,
    driver: Server,
    display: String,
}

impl App {
    /// Starts the program with arguments and waits until its page has loaded.
    pub(crate) async fn open(desktop: &Desktop, arguments: &[&str]) -> Self {
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
        let capabilities = json!({"webkitgtk:browserOptions": {"binary": PROGRAM, "args": arguments}});
        let Value::Object(capabilities) = capabilities else { unreachable!("it is an object") };
        let address = format!("http://127.0.0.1:{port}");
        until("WebKitWebDriver listens", || async { std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() }).await;
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&address)
            .await
            .expect("the window opens");
        Self { page, driver, display: desktop.display.clone() }
    }

    /// The process of the program: the driver's only child.
    pub(crate) fn process(&self) -> u32 {
        let children = format!("/proc/{0}/task/{0}/children", self.driver.id());
        let children = fs_err::read_to_string(children).expect("the driver runs");
        children.split_whitespace().next().and_then(|id| id.parse().ok()).expect("the program runs under the driver")
    }

    /// Waits for an element by CSS selector.
    pub(crate) async fn find(&self, selector: &str) -> Element {
        self.find_text(selector, "").await
    }

    /// Waits for the last element of a CSS selector that is drawn and shows `text`.
    pub(crate) async fn find_text(&self, selector: &str, text: &str) -> Element {
        let script = "const [selector, text] = arguments;
            const isDrawn = (found) => found.getClientRects().length > 0;
            const fits = (found) => isDrawn(found) && (found.innerText ?? found.textContent).includes(text);
            return [...document.querySelectorAll(selector)].filter(fits).at(-1) ?? null";
        let started = Instant::now();
        loop {
            let found = self.page.execute(script, vec![json!(selector), json!(text)]).await.expect("the page answers");
            if let Some(id) = found.get(ELEMENT_KEY).and_then(Value::as_str) {
                return Element::from_element_id(self.page.clone(), id.to_owned().into());
            }
            if started.elapsed() > PATIENCE {
                self.picture("not-found").await;
                panic!("no `{selector}` with `{text}`; the page says:\n{}", self.text("body").await);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits for such an element, and clicks it.
    pub(crate) async fn click(&self, selector: &str, text: &str) {
        let element = self.find_text(selector, text).await;
        element.click().await.unwrap_or_else(|error| panic!("`{selector}` with `{text}` is not clicked: {error}"));
    }

    /// Waits for a field, and types into it instead of what it holds.
    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        let field = self.find(selector).await;
        field.click().await.expect("the field takes the focus");
        let control_a = format!("{}a{}", char::from(Key::Control), char::from(Key::Null));
        field.send_keys(&control_a).await.expect("its text is selected");
        field.send_keys(text).await.expect("it takes text");
    }

    /// Presses a key while another is held, wherever the focus is.
    pub(crate) async fn press(&self, held: Key, key: &str) {
        let chord = format!("{}{key}{}", char::from(held), char::from(Key::Null));
        self.find("body").await.send_keys(&chord).await.expect("the page takes keys");
    }

    /// Waits for a field, and types into it.
    pub(crate) async fn type_text(&self, selector: &str, text: &str) {
        self.find(selector).await.send_keys(text).await.expect("it takes text");
    }

    /// The text that the first element of a selector shows.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0])?.innerText ?? ''";
        let text = self.page.execute(script, vec![json!(selector)]).await.expect("the page answers");
        text.as_str().map(str::to_owned).unwrap_or_default()
    }

    /// How many elements of a selector there are.
    pub(crate) async fn count(&self, selector: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        let count = self.page.execute(script, vec![json!(selector)]).await.expect("the page answers");
        count.as_u64().unwrap_or_default()
    }

    /// The middle of an element on the screen; without a window manager the page begins at the window's corner.
    pub(crate) async fn middle(&self, element: &Element) -> Place {
        let (x, y, width, height) = element.rectangle().await.expect("the element is drawn");
        ((x + width / 2.0) as i64, (y + height / 2.0) as i64)
    }

    /// Calls a command of the engine as the page does.
    pub(crate) async fn call(&self, command: &str, request: Value) -> Value {
        self.invoke("rpc", json!({"command": command, "request": request})).await
    }

    /// Calls a Tauri command as the page does; failures come back as `{"failed": …}`.
    pub(crate) async fn invoke(&self, command: &str, arguments: Value) -> Value {
        let script = "const [command, given, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(command, given).then(done, (failed) => done({ failed }))";
        self.page.execute_async(script, vec![json!(command), arguments]).await.expect("the page runs the call")
    }

    /// From now on remembers what the page is told by an event.
    pub(crate) async fn listen(&self, event: &str) {
        let script = "const [event, done] = arguments;
            const tauri = window.__TAURI_INTERNALS__;
            window.heard = [];
            const handler = tauri.transformCallback(({ payload }) => window.heard.push(Array.isArray(payload) ? payload : { ...payload, response: undefined }));
            tauri.invoke('plugin:event|listen', { event, target: { kind: 'Any' }, handler }).then(done, (failed) => done({ failed }))";
        let answer = self.page.execute_async(script, vec![json!(event)]).await.expect("the page runs the call");
        assert!(answer.is_number(), "the page may listen: {answer}");
    }

    /// What the page was told since it listens.
    pub(crate) async fn heard(&self) -> Vec<Value> {
        let heard = self.page.execute("return window.heard", vec![]).await.expect("the page remembers");
        heard.as_array().cloned().unwrap_or_default()
    }

    /// Writes a picture of the screen into the folder that `RECOLLECT_PICTURES` names, when it does. Not by the driver:
    /// its screenshots wait for ever where the page has nothing new to draw.
    #[expect(clippy::disallowed_methods, reason = "who looks at the pictures says where they go")]
    pub(crate) async fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("RECOLLECT_PICTURES").map(PathBuf::from) else { return };
        fs_err::create_dir_all(&folder).expect("the folder of the pictures");
        // What the last step changed is drawn by then.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut import = Command::new("import");
        import.env("DISPLAY", &self.display).args(["-window", "root"]).arg(folder.join(format!("{name}.png")));
        Server::start(&mut import).wait();
    }

    /// Ends the program.
    pub(crate) async fn close(self) {
        // The program may have ended by the test's own doing.
        let _ = self.page.close().await;
    }
}

/// Key of an element in answers of WebDriver, by its specification.
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Waits until something is so.
pub(crate) async fn until<Answer: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> Answer) {
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
