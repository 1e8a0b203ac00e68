//! `recollect watch`: the real program follows what the client writes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use recollect_engine::testing::Transcript;
use serde_json::Value;

use crate::environment::TestEnvironment;

/// Far more than anything takes here.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that follows, and what it says.
struct Watcher {
    /// None once it was waited for.
    child: Option<Child>,
    lines: Receiver<Value>,
}

impl Watcher {
    fn start(environment: &TestEnvironment) -> Self {
        let mut command = environment.binary();
        command.args(["watch", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a program that starts");
        let out = child.stdout.take().expect("its output");
        let (say, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let document = serde_json::from_str(&line).expect("each line is a document");
                if say.send(document).is_err() {
                    return;
                }
            }
        });
        Self { child: Some(child), lines }
    }

    /// Waits for a line.
    #[track_caller]
    fn until(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if is_it(&line) => return line,
                Ok(line) => said.push(line),
                Err(RecvTimeoutError::Timeout) => panic!("waited too long for {what}; said was {said:#?}"),
                Err(RecvTimeoutError::Disconnected) => panic!("it ended before {what}; said was {said:#?}"),
            }
        }
    }

    #[track_caller]
    fn until_state(&self, state: &str) -> Value {
        self.until(state, |line| line["event"] == "status" && line["state"] == state)
    }

    #[track_caller]
    fn until_session(&self, transcript: &Transcript, status: &str) -> Value {
        self.until(transcript.session_id(), |line| {
            line["event"] == "session" && line["session_id"] == transcript.session_id() && line["status"] == status
        })
    }

    fn signal(&self, environment: &TestEnvironment, signal: &str) {
        let pid = self.child.as_ref().expect("a program that runs").id().to_string();
        environment.run(environment.command("kill").args([signal, &pid])).done();
    }

    /// Asks it to end, as a system that shuts down does.
    fn terminate(mut self, environment: &TestEnvironment) {
        self.signal(environment, "-TERM");
        let child = self.child.take().expect("a program that runs");
        let output = child.wait_with_output().expect("a program that ends");
        let run = environment.ended(output).done();
        assert!(run.stderr().is_empty(), "it ends without complaint: {run}");
    }
}

impl Drop for Watcher {
    /// A test that fails leaves no program behind.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn append(path: &Path, from: &Transcript, to: &Transcript) {
    let mut file = fs_err::OpenOptions::new().append(true).open(path).expect("an open transcript");
    file.write_all(&to.bytes()[from.bytes().len()..]).expect("written on");
}

#[test]
fn an_appended_line_is_found_and_restored_while_it_follows() {
    let environment = TestEnvironment::new();
    let before = Transcript::new("live").work("login", 3);
    let path = environment.write(&before);
    let watcher = Watcher::start(&environment);
    let said = watcher.until_session(&before, "new");
    assert_eq!(said["messages"], said["new_unique"], "all of it is new: {said}");
    watcher.until_state("following");

    let after = before.clone().user("Where does the gyrfalcon nest?");
    append(&path, &before, &after);
    let said = watcher.until_session(&after, "updated");
    assert_eq!(said["new_unique"], 1, "one line came: {said}");
    let restored = environment.recollect(["restore", after.session_id()]).done();
    assert!(restored.bytes() == after.bytes(), "the archive has it byte for byte");
    let hits = environment.json(["search", "gyrfalcon"]);
    assert_eq!(hits["hits"][0]["session_id"], after.session_id(), "{hits}");
    watcher.terminate(&environment);
    let doctor = environment.json(["doctor"]);
    assert_eq!(doctor["ok"], true, "what it left is sound: {doctor}");
}

#[test]
fn the_folder_may_be_missing_and_be_removed_and_made_again() {
    let environment = TestEnvironment::new();
    let watcher = Watcher::start(&environment);
    watcher.until_state("following");
    for name in ["first", "second", "third"] {
        let transcript = Transcript::new(name).work(name, 1);
        environment.write(&transcript);
        watcher.until_session(&transcript, "new");
        fs_err::remove_dir_all(environment.claude_home()).expect("removed");
    }
    watcher.terminate(&environment);
    assert_eq!(environment.json(["sessions"])["total"], 3, "what was kept stays");
}

#[test]
fn when_the_one_that_follows_is_killed_another_takes_over() {
    let environment = TestEnvironment::new();
    let first = Watcher::start(&environment);
    first.until_state("following");
    let second = Watcher::start(&environment);
    second.until_state("elsewhere");
    let seen = Transcript::new("seen").work("seen", 1);
    environment.write(&seen);
    first.until_session(&seen, "new");

    first.signal(&environment, "-KILL");
    drop(first);
    second.until_state("following");
    let next = Transcript::new("next").work("next", 1);
    environment.write(&next);
    second.until_session(&next, "new");
    second.terminate(&environment);
    assert_eq!(environment.json(["doctor"])["ok"], true, "nothing was left half-done");
}

#[test]
fn who_reads_no_more_ends_it_and_people_get_lines() {
    let environment = TestEnvironment::new();
    let transcript = Transcript::new("people").title("Mend the fence").work("fence", 2);
    environment.write(&transcript);
    let mut command = environment.binary();
    command.arg("watch").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a program that starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("new") && line.contains("Mend the fence"), "a line for a session: {line}");
    // The output is closed now: the next line has no reader.
    environment.write(&Transcript::new("unread").work("unread", 1));
    let status = child.wait().expect("a program that ends");
    assert!(status.success(), "a reader that went away is no failure: {status}");
}
