//! Several programs on one memory at once, and programs that are ended in the middle.

use std::process::{Child, Stdio};

use recollect_engine::testing::Transcript;

use crate::environment::{Run, TestEnvironment};

fn transcript(number: usize) -> Transcript {
    Transcript::new(&format!("session {number}"))
        .days_later(i64::try_from(number).unwrap_or_default())
        .work("together", 8)
}

fn start(environment: &TestEnvironment, arguments: &[&str]) -> Child {
    let mut command = environment.binary();
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("a program that starts")
}

fn end(environment: &TestEnvironment, child: Child) -> Run {
    environment.ended(child.wait_with_output().expect("a program that ends"))
}

#[test]
fn many_programs_take_in_the_same_and_other_sessions_at_once() {
    let environment = TestEnvironment::new();
    let transcripts: Vec<_> = (0..12).map(transcript).collect();
    for (number, transcript) in transcripts.iter().enumerate() {
        // Each lies in two folders: two programs take in the same session.
        for folder in [number % 4, (number + 1) % 4] {
            transcript.write_into(&environment.work().join(folder.to_string())).expect("a written transcript");
        }
    }
    let children: Vec<_> = ["0", "1", "2", "3", "0", "2"].map(|folder| start(&environment, &["ingest", folder])).into();
    for child in children {
        end(&environment, child).done();
    }
    assert_eq!(environment.json(["sessions"])["total"], 12, "each session once");
    for transcript in &transcripts {
        let restored = environment.recollect(["restore", transcript.session_id()]).done();
        assert!(restored.bytes() == transcript.bytes(), "each is whole");
    }
    let again = environment.json(["ingest", "."]);
    assert_eq!((&again["totals"]["new"], &again["totals"]["updated"]), (&0.into(), &0.into()), "{}", again["totals"]);
}

#[test]
fn programs_compress_compose_and_take_in_at_once() {
    let environment = TestEnvironment::with(&[transcript(0), transcript(1)]);
    transcript(2).write_into(&environment.work()).expect("a written transcript");
    let (one, two) = (transcript(0), transcript(1));
    let (one, two) = (one.session_id(), two.session_id());
    let children: Vec<_> = [
        vec!["compress", one, "--ratio", "4"],
        vec!["compress", one, "--ratio", "10"],
        vec!["compress", one, "--ratio", "20"],
        vec!["compress", two, "--preset", "standard"],
        vec!["compose", "both", "--budget", "3000", "--session", one, "--session", two],
        vec!["ingest", "."],
        vec!["sessions"],
        vec!["stats"],
    ]
    .iter()
    .map(|arguments| start(&environment, arguments))
    .collect();
    for child in children {
        end(&environment, child).done();
    }
    let versions = environment.json(["versions", one]);
    let mut names: Vec<_> = versions["versions"]
        .as_array()
        .expect("versions")
        .iter()
        .map(|version| version["version_id"].to_string())
        .collect();
    let count = names.len();
    names.dedup();
    assert!(count >= 3 && names.len() == count, "three versions, each with its own name: {versions}");
    for version in versions["versions"].as_array().expect("versions") {
        for path in version["paths"].as_array().expect("paths") {
            assert!(std::path::Path::new(path.as_str().expect("a path")).is_file(), "{path} is there");
        }
    }
    assert_eq!(environment.json(["compositions"])["compositions"].as_array().map(Vec::len), Some(1));
    assert_eq!(environment.json(["sessions"])["total"], 3);
}

#[test]
fn eight_programs_write_at_once_and_the_memory_is_sound() {
    let transcripts: Vec<_> = (0..8).map(transcript).collect();
    let environment = TestEnvironment::with(&transcripts[..2]);
    for (number, transcript) in transcripts.iter().enumerate().skip(2) {
        // The last ones lie in both folders.
        let folders: &[&str] = if number < 4 { &["left"] } else { &["left", "right"] };
        for folder in folders {
            transcript.write_into(&environment.work().join(folder)).expect("a written transcript");
        }
    }
    let (one, two) = (transcripts[0].session_id(), transcripts[1].session_id());
    let message = environment.json(["show", one, "--limit", "1"])["messages"][0]["uuid"].clone();
    let message = message.as_str().expect("a message").to_owned();
    for round in 0..3 {
        let ratio = format!("{}", 4 + round);
        let name = format!("round {round}");
        let (start_at, end_at) = (format!("{round}"), format!("{}", round + 9));
        let children: Vec<_> = [
            vec!["ingest", "left"],
            vec!["ingest", "right"],
            vec![
                "keepit",
                "add",
                one,
                "--message",
                &message,
                "--start",
                &start_at,
                "--end",
                &end_at,
                "--weight",
                "0.9",
            ],
            vec!["compress", one, "--ratio", &ratio],
            vec!["compose", &name, "--budget", "3000", "--session", one, "--session", two],
            vec!["backup", "backups"],
            vec!["doctor", "--repair"],
            vec!["checkpoints", "add", &name],
        ]
        .iter()
        .map(|arguments| start(&environment, arguments))
        .collect();
        for child in children {
            end(&environment, child).done();
        }
    }
    environment.recollect(["doctor"]).done();
    assert_eq!(environment.json(["sessions"])["total"], 8, "each session once");
    let messages: u64 = environment.json(["sessions"])["sessions"]
        .as_array()
        .expect("sessions")
        .iter()
        .map(|session| session["messages"].as_u64().expect("a count"))
        .sum();
    assert_eq!(environment.json(["stats"])["messages"], messages, "the sums are right");
    assert_eq!(environment.json(["keepit", "list", one])["keepits"].as_array().map(Vec::len), Some(3));
    assert_eq!(environment.json(["compositions"])["compositions"].as_array().map(Vec::len), Some(3));
    assert_eq!(environment.json(["checkpoints"])["checkpoints"].as_array().map(Vec::len), Some(3));
    assert!(environment.json(["versions", one])["versions"].as_array().is_some_and(|versions| versions.len() >= 3));
    assert_eq!(fs_err::read_dir(environment.work().join("backups")).expect("backups").count(), 3);
    for transcript in &transcripts {
        let restored = environment.recollect(["restore", transcript.session_id()]).done();
        assert!(restored.bytes() == transcript.bytes(), "each is whole");
    }
}

#[test]
fn a_program_that_is_killed_leaves_a_memory_that_works() {
    let environment = TestEnvironment::new();
    let transcripts: Vec<_> = (0..40).map(transcript).collect();
    for transcript in &transcripts {
        environment.write(transcript);
    }
    for millis in [5, 20, 60, 120, 250] {
        let mut child = start(&environment, &["ingest", "--all"]);
        // Killed at some moment; whichever it is, what follows must hold.
        std::thread::park_timeout(std::time::Duration::from_millis(millis));
        child.kill().expect("a program that can be killed");
        let _ = end(&environment, child);
        let listed = environment.json(["sessions"]);
        for session in listed["sessions"].as_array().expect("sessions") {
            let id = session["session_id"].as_str().expect("an id");
            let whole = transcripts.iter().find(|transcript| transcript.session_id() == id).expect("one of ours");
            assert!(environment.recollect(["restore", id]).done().bytes() == whole.bytes(), "what is listed is whole");
        }
    }
    environment.recollect(["ingest", "--all"]).done();
    assert_eq!(environment.json(["sessions"])["total"], 40, "the next run takes in the rest");
}

#[test]
fn a_program_that_is_interrupted_says_so_and_leaves_nothing_half_written() {
    let environment = TestEnvironment::new();
    for number in 0..60 {
        environment.write(&transcript(number));
    }
    let child = start(&environment, &["ingest", "--all"]);
    let pid = child.id().to_string();
    let database = environment.memory().join("memory.db");
    while !database.exists() {
        std::thread::yield_now();
    }
    environment.run(environment.command("kill").args(["-INT", &pid])).done();
    let run = end(&environment, child);
    if !run.succeeded() {
        // It may have been through before the signal came; else it says that it was stopped.
        let run = run.exits(1);
        assert!(run.stderr().contains("cancelled"), "{run}");
    }
    environment.recollect(["ingest", "--all"]).done();
    assert_eq!(environment.json(["sessions"])["total"], 60);
}
