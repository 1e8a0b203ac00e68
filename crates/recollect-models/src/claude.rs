//! The Claude Code client, headless: no tools, no servers, no hooks, no session file. It runs in a process group of its own,
//! is killed with us, and carries a mark by which our own programs know that they have nothing to do with it.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use recollect_engine::engine::Cancel;
use recollect_engine::home::create_private;
use recollect_engine::language_model::{Answer, Endpoint, Question, Readiness};
use recollect_engine::redact::redact;
use recollect_engine::{Error, ErrorKind};
use serde_json::Value;

use crate::GUARD;
use crate::retry::{Failure, GLANCE};

/// The client says nothing until it is done: it is given so many times the patience with a stream.
const PATIENCE: u32 = 4;

/// Variables of a client that runs us: with them, another one refuses to start, or believes that it is that one.
const OF_A_CLIENT: &[&str] =
    &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"];

/// Whether the client is there.
pub(crate) fn readiness(endpoint: &Endpoint, search_path: &OsStr) -> Readiness {
    match program(endpoint, search_path) {
        Ok(_) => Readiness::default(),
        Err(error) => Readiness { has_key: false, problem: Some(error.message), hint: error.hint },
    }
}

fn program(endpoint: &Endpoint, search_path: &OsStr) -> Result<PathBuf, Error> {
    find(&endpoint.address, search_path).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("Claude Code (`{}`) is not installed", endpoint.address))
            .hint("install it, or set `engines.claude.program` to where it is")
    })
}

fn find(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    which::which_in(name, Some(search_path), "/").ok()
}

/// Asks once.
pub(crate) fn ask(
    endpoint: &Endpoint,
    question: &Question<'_>,
    search_path: &OsStr,
    cancel: &Cancel,
) -> Result<Answer, Failure> {
    let program = program(endpoint, search_path)?;
    create_private(&endpoint.scratch)?;
    let mut command = mortal(program.into_os_string(), search_path);
    command
        .args(["-p", "--output-format", "json", "--model", question.model])
        .args(["--system-prompt", question.system])
        .args(["--tools", "", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"])
        .args(["--settings", r#"{"disableAllHooks": true}"#])
        .current_dir(&endpoint.scratch)
        .env(GUARD, "1")
        .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", question.max_tokens.to_string())
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for variable in OF_A_CLIENT {
        command.env_remove(variable);
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    let mut client = Client(command.spawn().map_err(|error| Failure::Final(error.into()))?);
    let (stdout, stderr) =
        client.talk(question.prompt, Duration::from_secs((endpoint.patience * PATIENCE).into()), cancel)?;
    let status = client.0.wait().map_err(|error| Failure::Final(error.into()))?;
    read(&stdout, &stderr, status.success())
}

/// A command that the system kills when we end, however we end: the setting lasts over the exec of the client.
#[cfg(target_os = "linux")]
fn mortal(program: OsString, search_path: &OsStr) -> Command {
    match find("setpriv", search_path) {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// Elsewhere a client whose reader is gone ends when it writes.
#[cfg(not(target_os = "linux"))]
fn mortal(program: OsString, _search_path: &OsStr) -> Command {
    Command::new(program)
}

/// A client that runs; its whole group is killed when nobody waits for it any more.
struct Client(Child);

impl Client {
    /// Tells it the prompt, and gives back what it wrote until it closed its outputs.
    fn talk(&mut self, prompt: &str, patience: Duration, cancel: &Cancel) -> Result<(String, String), Failure> {
        let gone = || Failure::Final(Error::internal("the client has no pipes"));
        let mut input = self.0.stdin.take().ok_or_else(gone)?;
        let (output, errors) = (self.0.stdout.take().ok_or_else(gone)?, self.0.stderr.take().ok_or_else(gone)?);
        let prompt = prompt.to_owned();
        // A client that ends before it has read all says why by other means.
        std::thread::spawn(move || input.write_all(prompt.as_bytes()).ok());
        let (give, take) = mpsc::channel();
        let also = give.clone();
        std::thread::spawn(move || give.send((true, all_of(output))).ok());
        std::thread::spawn(move || also.send((false, all_of(errors))).ok());
        let begun = Instant::now();
        let (mut stdout, mut stderr) = (None, None);
        while stdout.is_none() || stderr.is_none() {
            cancel.check().map_err(Failure::Lost)?;
            if begun.elapsed() > patience {
                let seconds = patience.as_secs();
                return Err(Failure::Lost(
                    Error::new(ErrorKind::Io, format!("Claude Code gave no answer within {seconds} seconds"))
                        .hint("try again later, or raise the setting `engines.patienceSeconds`"),
                ));
            }
            match take.recv_timeout(GLANCE) {
                Ok((true, text)) => stdout = Some(text),
                Ok((false, text)) => stderr = Some(text),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok((stdout.unwrap_or_default(), stderr.unwrap_or_default()))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Ok(group) = i32::try_from(self.0.id()) {
            // Its own group: whatever it has started goes with it. One that is gone already is no failure.
            nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), nix::sys::signal::Signal::SIGKILL).ok();
        }
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn all_of(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read(stdout: &str, stderr: &str, succeeded: bool) -> Result<Answer, Failure> {
    let io = |message: String| Error::new(ErrorKind::Io, redact(&message).0);
    let shown = |text: &str| text.trim().chars().take(400).collect::<String>();
    let Ok(document) = serde_json::from_str::<Value>(stdout.trim()) else {
        let said = if stderr.trim().is_empty() { shown(stdout) } else { shown(stderr) };
        let said = if said.is_empty() { "nothing".to_owned() } else { said };
        return Err(Failure::Lost(
            io(format!("Claude Code ended without an answer: {said}"))
                .hint("a client from 2.0.76 on is needed: `claude update`"),
        ));
    };
    let text = document["result"].as_str().unwrap_or_default();
    let is_cut = document["stop_reason"] == "max_tokens" || text.contains("output token maximum");
    if !is_cut && (document["is_error"] == true || !succeeded || document["result"].is_null()) {
        let error = io(format!("Claude Code failed: {}", shown(text)));
        let wants_login = text.contains("/login") || text.contains("API key");
        let is_paid = document["total_cost_usd"].as_f64().is_some_and(|cost| cost > 0.0);
        return Err(match (is_busy(&document, text), is_paid) {
            _ if wants_login => Failure::Final(error.hint("log in with `claude`, then `/login`")),
            (true, false) => Failure::Busy(error, None),
            (true, true) => Failure::Broken(error),
            (false, false) => Failure::Final(error),
            (false, true) => Failure::Lost(error),
        });
    }
    let usage = &document["usage"];
    let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    Ok(Answer {
        // What it says of the limit is no summary.
        text: if is_cut && document["is_error"] == true { String::new() } else { text.to_owned() },
        input_tokens: read.iter().filter_map(|name| usage[name].as_u64()).sum(),
        output_tokens: usage["output_tokens"].as_u64().unwrap_or(0),
        cost: document["total_cost_usd"].as_f64(),
        cut: is_cut,
    })
}

/// Whether the API was busy, by the status that the client tells, in a field or at the beginning of its words.
fn is_busy(document: &Value, text: &str) -> bool {
    let told = || {
        let rest = text.split_once("API Error")?.1;
        let rest = rest.trim_start_matches([':', ' ', '(']);
        let rest = rest.strip_prefix("Repeated ").unwrap_or(rest);
        let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 3 { rest[..digits].parse::<u64>().ok() } else { None }
    };
    let status = document["api_error_status"].as_u64().or_else(told);
    status.is_some_and(|status| matches!(status, 408 | 429 | 500..=599))
}
