//! A place of its own for each test: a home, a memory, a Claude home, and the binary run in an empty environment.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use recollect_engine::testing::Transcript;
use serde_json::Value;
use tempfile::TempDir;

/// The folder of the sources.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the folder of the sources")
}

/// A place in which nothing is but what the test put there.
pub(crate) struct TestEnvironment {
    root: TempDir,
}

impl TestEnvironment {
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("recollect-it-").tempdir().expect("a temporary folder");
        for folder in ["home", "work", "tmp"] {
            fs_err::create_dir(root.path().join(folder)).expect("a folder");
        }
        Self { root }
    }

    /// A place with these sessions in its memory.
    pub(crate) fn with(transcripts: &[Transcript]) -> Self {
        let environment = Self::new();
        for transcript in transcripts {
            environment.write(transcript);
        }
        environment.recollect(["ingest", "--all"]).done();
        environment
    }

    /// The folder of everything.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The working directory of the commands.
    pub(crate) fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// The user's home.
    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The memory.
    pub(crate) fn memory(&self) -> PathBuf {
        self.home().join(".claude-memory")
    }

    /// Where Claude Code keeps its data.
    pub(crate) fn claude_home(&self) -> PathBuf {
        self.home().join(".claude")
    }

    /// Writes a transcript where the client would.
    pub(crate) fn write(&self, transcript: &Transcript) -> PathBuf {
        transcript.write(&self.claude_home()).expect("a written transcript")
    }

    /// Writes a file into the working directory.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.work().join(name);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs_err::write(&path, bytes).expect("a written file");
        path
    }

    /// A program in this place.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("TMPDIR", self.root().join("tmp"))
            .env("TZ", "UTC")
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    /// The binary in this place.
    pub(crate) fn binary(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_recollect"))
    }

    /// Runs the binary.
    #[must_use = "either look at the output or assert the exit status"]
    pub(crate) fn recollect<const N: usize>(&self, arguments: [&str; N]) -> Run {
        self.run(self.binary().args(arguments))
    }

    /// Runs a command to its end.
    #[must_use = "either look at the output or assert the exit status"]
    pub(crate) fn run(&self, command: &mut Command) -> Run {
        self.ended(command.output().expect("a program that starts"))
    }

    /// Runs the binary with something on its standard input.
    #[must_use = "either look at the output or assert the exit status"]
    pub(crate) fn recollect_reading<const N: usize>(&self, input: &[u8], arguments: [&str; N]) -> Run {
        let mut command = self.binary();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a program that starts");
        child.stdin.take().expect("its input").write_all(input).expect("input that is read");
        self.ended(child.wait_with_output().expect("a program that ends"))
    }

    /// A run that has come to its end.
    #[must_use = "either look at the output or assert the exit status"]
    pub(crate) fn ended(&self, output: Output) -> Run {
        Run { output, root: self.root().to_owned() }
    }

    /// Runs the binary with `--json`, which must succeed, and reads its document.
    pub(crate) fn json<const N: usize>(&self, arguments: [&str; N]) -> Value {
        self.run(self.binary().arg("--json").args(arguments)).done().json()
    }
}

/// How a run of a program ended.
#[derive(Clone)]
pub(crate) struct Run {
    output: Output,
    root: PathBuf,
}

impl Run {
    /// It must have succeeded.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        self.exits(0)
    }

    /// Whether it succeeded.
    pub(crate) fn succeeded(&self) -> bool {
        self.output.status.success()
    }

    /// It must have ended with this status.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Self {
        assert_eq!(self.output.status.code(), Some(status), "unexpected exit status of this run:\n{self}");
        self
    }

    /// Its standard output, byte for byte.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.output.stdout
    }

    /// Its standard output with what differs from run to run replaced.
    pub(crate) fn stdout(&self) -> String {
        self.normal(&self.output.stdout)
    }

    /// Its standard error with what differs from run to run replaced.
    pub(crate) fn stderr(&self) -> String {
        self.normal(&self.output.stderr)
    }

    /// The one document of its standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_slice(&self.output.stdout) {
            Ok(document) => document,
            Err(error) => panic!("standard output is not one JSON document ({error}):\n{self}"),
        }
    }

    fn normal(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).replace(&self.root.display().to_string(), "$TEST");
        text.lines().map(|line| format!("{}\n", without_now(line).trim_end())).collect()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", beginning(&self.stdout()))?;
        if !self.output.stderr.is_empty() {
            write!(formatter, "--- stderr\n{}", beginning(&self.stderr()))?;
        }
        match self.output.status.code() {
            Some(0) => Ok(()),
            Some(status) => writeln!(formatter, "--- exit status {status}"),
            None => writeln!(formatter, "--- {}", self.output.status),
        }
    }
}

/// Every file of the memory with its bytes, the index and locks aside: what a refused request must leave as it was.
pub(crate) fn files(environment: &TestEnvironment) -> Vec<(String, Vec<u8>)> {
    walkdir::WalkDir::new(environment.root())
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| (entry.path().display().to_string(), fs_err::read(entry.path()).expect("a file")))
        .filter(|(path, _)| !path.contains("/memory.db") && !path.ends_with("lock"))
        .collect()
}

/// Refused with this status and these words, and nothing was written.
#[track_caller]
pub(crate) fn refused(environment: &TestEnvironment, arguments: &[&str], status: i32, words: &[&str]) {
    let before = files(environment);
    let run = environment.run(environment.binary().args(arguments)).exits(status);
    for word in words {
        assert!(run.stderr().contains(word), "{arguments:?} should say `{word}`:\n{run}");
    }
    assert!(run.stderr().starts_with("error: "), "{arguments:?}: an error is called so:\n{run}");
    assert!(run.stdout().is_empty(), "{arguments:?}: there is no answer:\n{run}");
    assert!(files(environment) == before, "{arguments:?} changed something");
}

/// As much of an output as one wants to see in a failed test.
fn beginning(output: &str) -> String {
    match output.char_indices().nth(8000) {
        Some((cut, _)) => format!("{}… ({} bytes more)\n", &output[..cut], output.len() - cut),
        None => output.to_owned(),
    }
}

/// Replaces times outside January 2026, in which all made transcripts lie: they are the time of the test.
fn without_now(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        if is_time(rest) && !rest.starts_with("2026-01-") {
            shown.push_str("(now)           ");
            rest = &rest[16..];
        } else {
            shown.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    shown
}

fn is_time(text: &str) -> bool {
    let fits = |(byte, pattern): (u8, u8)| if pattern == b'0' { byte.is_ascii_digit() } else { byte == pattern };
    text.len() >= 16 && text.bytes().zip(*b"0000-00-00 00:00").all(fits)
}
