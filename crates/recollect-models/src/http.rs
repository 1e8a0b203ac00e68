//! One POST over HTTP whose answer comes line by line, and that can be stopped at any moment.
//!
//! ureq is blocking and needs no runtime; its agents can be shut down from another thread, which ends whatever they wait for.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use recollect_engine::engine::Cancel;
use recollect_engine::language_model::Endpoint;
use recollect_engine::redact::redact;
use recollect_engine::{Error, ErrorKind};
use serde_json::Value;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

use crate::retry::{Failure, GLANCE};

/// Most bytes of an answer that are read: a model writes far less.
const MOST_BYTES: u64 = 64 << 20;

/// An answer may take so many times the patience as a whole: one that drips for ever is none.
const WHOLE: u32 = 10;

/// A header: its name and value.
pub(crate) type Header = (&'static str, String);

/// What came back.
struct Reply {
    status: u16,
    retry_after: Option<Duration>,
    body: String,
}

/// Posts a document; the body of the answer, when it is one of success.
///
/// # Errors
/// `Busy` for 408, 429, 5xx and 529, `Broken` for an answer that broke off, `Lost` for one that did not come in time; else `Final`.
pub(crate) fn post(
    endpoint: &Endpoint,
    path: &str,
    headers: Vec<Header>,
    document: &Value,
    cancel: &Cancel,
) -> Result<String, Failure> {
    let agent = agent(endpoint);
    let url = format!("{}{path}", endpoint.address);
    let body = document.to_string();
    let (give, take) = mpsc::channel();
    let working = agent.clone();
    let work = move || {
        // Nobody listens any more when the caller has stopped.
        give.send(send(&working, &url, &headers, &body)).ok();
    };
    std::thread::Builder::new()
        .name("ask a model".to_owned())
        .spawn(work)
        .map_err(|error| Failure::Final(error.into()))?;
    let reply = loop {
        if let Err(error) = cancel.check() {
            agent.shutdown();
            return Err(Failure::Lost(error));
        }
        match take.recv_timeout(GLANCE) {
            Ok(reply) => break reply,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::Final(Error::internal("asking a model stopped unexpectedly")));
            }
        }
    };
    let reply = reply.map_err(|error| failed(endpoint, error))?;
    if (200..300).contains(&reply.status) {
        return Ok(reply.body);
    }
    Err(refused(endpoint, &reply))
}

fn agent(endpoint: &Endpoint) -> Agent {
    let patience = Some(Duration::from_secs(endpoint.patience.into()));
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .tls_config(tls)
        .timeout_connect(Some(Duration::from_secs(20)))
        .timeout_global(patience.map(|patience| patience * WHOLE))
        .timeout_per_read(patience)
        .timeout_per_write(patience)
        .user_agent(concat!("recollect/", env!("CARGO_PKG_VERSION")));
    // What is asked on this machine goes through nobody else's.
    let is_here = ["://localhost", "://127.", "://[::1]"].iter().any(|host| endpoint.address.contains(host));
    let config = if is_here { config.proxy(None::<Proxy>) } else { config };
    config.build().new_agent()
}

fn send(agent: &Agent, url: &str, headers: &[Header], body: &str) -> Result<Reply, ureq::Error> {
    let mut request = agent.post(url).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let response = request.send(body)?;
    let status = response.status().as_u16();
    let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let retry_after = header.and_then(|value| value.trim().parse::<f64>().ok());
    let retry_after = retry_after.filter(|seconds| (0.0..1e6).contains(seconds)).map(Duration::from_secs_f64);
    let mut text = Vec::new();
    BufReader::new(response.into_body().into_reader()).take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(Reply { status, retry_after, body: String::from_utf8_lossy(&text).into_owned() })
}

/// In words, what went wrong on the way.
fn failed(endpoint: &Endpoint, error: ureq::Error) -> Failure {
    let address = &endpoint.address;
    let seconds = endpoint.patience;
    let io = |message: String| Error::new(ErrorKind::Io, message);
    match error {
        ureq::Error::HostNotFound => Failure::Final(
            io(format!("{address} cannot be found"))
                .hint("check the network, and the address in the settings `engines.*`"),
        ),
        ureq::Error::Timeout(ureq::Timeout::Global) => Failure::Lost(
            io(format!("{address} was not done after {} seconds", u64::from(seconds) * u64::from(WHOLE)))
                .hint("try again later, or raise the setting `engines.patienceSeconds`"),
        ),
        ureq::Error::Timeout(_) => Failure::Lost(
            io(format!("{address} said nothing for {seconds} seconds"))
                .hint("try again later, or raise the setting `engines.patienceSeconds`"),
        ),
        ureq::Error::ConnectionFailed => unreachable(endpoint, "the connection failed"),
        ureq::Error::Io(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused
            | std::io::ErrorKind::HostUnreachable
            | std::io::ErrorKind::NetworkUnreachable => unreachable(endpoint, &error.to_string()),
            _ => Failure::Broken(io(format!("the connection to {address} broke off: {error}"))),
        },
        ureq::Error::Protocol(error) => {
            Failure::Broken(io(format!("{address} broke off in the middle of its answer: {error}")))
        }
        error => Failure::Final(io(format!("{address} cannot be asked: {}", redact(&error.to_string()).0))),
    }
}

fn unreachable(endpoint: &Endpoint, why: &str) -> Failure {
    let hint = if endpoint.leaves_machine() {
        "check the network, and the address in the settings `engines.*`"
    } else {
        "start the server of your model, or set `engines.openai.baseUrl` to where it is"
    };
    Failure::Final(Error::new(ErrorKind::Io, format!("{} cannot be reached: {why}", endpoint.address)).hint(hint))
}

/// What the other side said no with.
fn refused(endpoint: &Endpoint, reply: &Reply) -> Failure {
    let document: Value = serde_json::from_str(&reply.body).unwrap_or_default();
    let said = ["/error/message", "/error", "/message", "/detail"]
        .iter()
        .find_map(|pointer| document.pointer(pointer).and_then(Value::as_str))
        .map_or_else(|| "without a reason that can be read".to_owned(), |said| said.chars().take(400).collect());
    let status = reply.status;
    // Some echo the key that they refuse.
    let said = redact(&said).0;
    let error = Error::new(ErrorKind::Io, format!("{} answered {status}: {said}", endpoint.address));
    match status {
        401 | 403 => Failure::Final(error.hint(format!(
            "the key was refused: `recollect engines key set {}` takes another",
            endpoint.engine.name()
        ))),
        404 => Failure::Final(error.hint("check the name of the model, and the address in the settings `engines.*`")),
        413 => Failure::Final(
            error.hint("the model reads less at once: put its context window into the setting `models.own`"),
        ),
        408 | 409 | 425 | 429 | 500.. => Failure::Busy(error, reply.retry_after),
        _ => Failure::Final(error),
    }
}

/// The documents of an event stream, in order. Comments, names of events and what is no JSON are passed over; `[DONE]` is not JSON.
pub(crate) fn events(body: &str) -> Vec<Value> {
    // Blocking readers of event streams are not to be had; of the format, only its data lines matter here.
    let mut documents = Vec::new();
    let mut data = String::new();
    for line in BufReader::new(body.as_bytes()).lines().map_while(Result::ok).chain(std::iter::once(String::new())) {
        if let Some(piece) = line.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(piece.strip_prefix(' ').unwrap_or(piece));
        } else if line.trim().is_empty() && !data.is_empty() {
            documents.extend(serde_json::from_str::<Value>(&data));
            data.clear();
        }
    }
    documents
}
