//! Programs that are killed at random moments: the next one finds a sound memory, and nothing that was reported is missing.
//!
//! Two hundred kills in all. The seed is printed; `RECOLLECT_KILL_SEED=… cargo test` takes the same moments again.

use std::collections::HashMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use recollect_engine::testing::Transcript;
use serde_json::Value;

use crate::environment::TestEnvironment;

/// Kills of each kind of work.
const KILLS: u32 = 40;
/// Runs of each kind at most: some end before they are killed.
const RUNS: u32 = 4 * KILLS;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It reported that all was done.
    Reported,
    Killed,
}

/// Runs one kind of work again and again, and kills it at moments spread over the time that it takes.
struct Killer {
    environment: TestEnvironment,
    random: u64,
    /// How long an undisturbed run takes, by command; less and less while runs end earlier.
    usual: HashMap<String, Duration>,
    kills: u32,
    runs: u32,
}

impl Killer {
    #[expect(clippy::print_stdout, reason = "shown when the test fails, so that it can be repeated")]
    fn new(environment: TestEnvironment, kind: u64) -> Self {
        let seed = match option_env!("RECOLLECT_KILL_SEED") {
            Some(seed) => seed.parse().expect("a seed is a number"),
            None => u64::from(std::process::id()),
        };
        println!("RECOLLECT_KILL_SEED={seed}");
        let random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(kind);
        Self { environment, random, usual: HashMap::new(), kills: 0, runs: 0 }
    }

    fn goes_on(&mut self) -> bool {
        if self.kills == KILLS {
            return false;
        }
        assert!(self.runs < RUNS, "{} of {} runs could be killed", self.kills, self.runs);
        self.runs += 1;
        true
    }

    /// Runs to the end, and takes the time.
    fn measure(&mut self, arguments: &[&str]) {
        let start = Instant::now();
        self.environment.run(self.environment.binary().args(arguments)).done();
        self.took(arguments, start.elapsed());
    }

    fn took(&mut self, arguments: &[&str], time: Duration) {
        let usual = self.usual.entry(arguments[0].to_owned()).or_insert(time);
        // Half the way: one quick run must not spare the end of all that follow.
        *usual = (*usual).min((*usual + time) / 2);
    }

    /// Runs and kills.
    fn run(&mut self, arguments: &[&str]) -> End {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (self.random >> 40) as f64 / f64::from(1 << 24);
        let mut command = self.environment.binary();
        let mut child =
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a program that starts");
        // Some moment: whichever it is, what follows must hold.
        let (start, moment) = (Instant::now(), self.usual[arguments[0]].mul_f64(share));
        while start.elapsed() < moment && child.try_wait().expect("a program that can be asked").is_none() {
            std::thread::park_timeout(moment.saturating_sub(start.elapsed()).min(Duration::from_millis(2)));
        }
        let time = start.elapsed();
        child.kill().expect("a program that can be killed");
        let status = child.wait().expect("a program that ended");
        match status.code() {
            Some(0) => {
                // The machine was slower when it was measured.
                self.took(arguments, time);
                End::Reported
            }
            None => {
                self.kills += 1;
                End::Killed
            }
            Some(status) => panic!("{arguments:?} failed with status {status}"),
        }
    }

    #[track_caller]
    fn is_sound(&self) {
        let run = self.environment.run(self.environment.binary().args(["--json", "doctor"]));
        assert!(run.succeeded() && run.json()["ok"] == true, "kill {}, run {}: {run}", self.kills, self.runs);
    }

    #[track_caller]
    fn is_whole(&self, transcript: &Transcript) {
        let restored = self.environment.recollect(["restore", transcript.session_id()]).done();
        assert!(
            restored.bytes() == transcript.bytes(),
            "kill {}: what was reported is there, byte for byte",
            self.kills
        );
    }
}

fn two() -> [Transcript; 2] {
    ["one", "two"].map(|name| Transcript::new(name).work(name, 12))
}

#[test]
fn killed_while_it_takes_sessions_in() {
    let mut killer = Killer::new(TestEnvironment::new(), 1);
    let mut reported: Vec<Transcript> = Vec::new();
    let mut written = vec![Transcript::new("first").work("first", 8)];
    killer.environment.write(&written[0]);
    killer.measure(&["ingest", "--all"]);
    while killer.goes_on() {
        let transcript = Transcript::new(&format!("round {}", killer.runs)).work("killed", 8);
        killer.environment.write(&transcript);
        written.push(transcript);
        if killer.run(&["ingest", "--all"]) == End::Reported {
            reported.append(&mut written);
        }
        killer.is_sound();
        if let Some(last) = reported.last() {
            killer.is_whole(last);
        }
    }
    killer.environment.recollect(["ingest", "--all"]).done();
    killer.is_sound();
    reported.append(&mut written);
    reported.iter().for_each(|transcript| killer.is_whole(transcript));
    assert_eq!(killer.environment.json(["sessions"])["total"], reported.len(), "each once");
}

#[test]
fn killed_while_it_compresses() {
    let sessions = two();
    let mut killer = Killer::new(TestEnvironment::with(&sessions), 2);
    let id = sessions[0].session_id();
    killer.measure(&["compress", id, "--ratio", "4"]);
    let mut reported = 1;
    while killer.goes_on() {
        let ratio = format!("{}", 3 + killer.runs % 20);
        if killer.run(&["compress", id, "--ratio", &ratio]) == End::Reported {
            reported += 1;
        }
        killer.is_sound();
    }
    let versions = killer.environment.json(["versions", id]);
    let versions = versions["versions"].as_array().expect("versions");
    assert!(versions.len() >= reported, "{reported} were reported: {}", versions.len());
    for version in versions {
        let version = version["version_id"].as_str().expect("a version");
        let shown = killer.environment.json(["show", id, "--version", version]);
        assert!(shown["messages"].as_array().is_some_and(|messages| !messages.is_empty()), "{version} can be read");
    }
    killer.is_sound();
    sessions.iter().for_each(|transcript| killer.is_whole(transcript));
}

#[test]
fn killed_while_it_composes() {
    let sessions = two();
    let mut killer = Killer::new(TestEnvironment::with(&sessions), 3);
    let [one, two] = sessions.each_ref().map(Transcript::session_id);
    let compose = |name: &str| -> Vec<String> {
        ["compose", name, "--budget", "3000", "--session", one, "--session", two].map(str::to_owned).into()
    };
    let arguments = compose("first");
    killer.measure(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let mut reported = vec!["first".to_owned()];
    while killer.goes_on() {
        let name = format!("number {}", killer.runs);
        let arguments = compose(&name);
        if killer.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) == End::Reported {
            reported.push(name);
        }
        killer.is_sound();
    }
    for name in &reported {
        killer.environment.recollect(["compositions", "show", name]).done();
    }
    sessions.iter().for_each(|transcript| killer.is_whole(transcript));
}

#[test]
fn killed_while_it_backs_up() {
    let sessions = two();
    let mut killer = Killer::new(TestEnvironment::with(&sessions), 4);
    let folder = killer.environment.work().join("backups");
    killer.measure(&["backup", "backups"]);
    let mut reported = 1;
    while killer.goes_on() {
        if killer.run(&["backup", "backups"]) == End::Reported {
            reported += 1;
        }
        killer.is_sound();
    }
    killer.environment.recollect(["backup", "backups"]).done();
    let names: Vec<String> = fs_err::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.len() > reported, "{reported} were reported: {names:?}");
    for (number, name) in names.iter().enumerate() {
        assert!(name.ends_with(".tar.zst"), "what was half-written is gone: {name}");
        let home = format!("restored-{number}");
        killer.environment.recollect(["--home", &home, "restore-backup", &format!("backups/{name}")]).done();
        let restored = killer.environment.recollect(["--home", &home, "restore", sessions[1].session_id()]).done();
        assert!(restored.bytes() == sessions[1].bytes(), "what has a name is whole");
    }
    let cache = fs_err::read_dir(killer.environment.memory().join("cache")).expect("the cache");
    let left = cache
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("backup-")));
    assert_eq!(left.count(), 0, "no links are left");
}

#[test]
fn killed_while_it_mends_or_makes_the_database_anew() {
    let sessions = two();
    let mut killer = Killer::new(TestEnvironment::with(&sessions), 5);
    let listed = |killer: &Killer| -> Value { killer.environment.json(["sessions"])["sessions"].clone() };
    let before = listed(&killer);
    killer.measure(&["doctor", "--repair"]);
    killer.measure(&["rebuild"]);
    while killer.goes_on() {
        killer.run(if killer.runs.is_multiple_of(3) { &["doctor", "--repair"] } else { &["rebuild"] });
        killer.is_sound();
        assert_eq!(listed(&killer), before, "kill {}: the same sessions", killer.kills);
    }
    sessions.iter().for_each(|transcript| killer.is_whole(transcript));
}
