//! The doctor, as a program: finds damage, mends it, and says so by its exit status.

use std::path::{Path, PathBuf};

use recollect_engine::testing::Transcript;

use crate::environment::TestEnvironment;

fn packs(memory: &Path) -> Vec<PathBuf> {
    let mut packs: Vec<PathBuf> = walkdir::WalkDir::new(memory.join("archive"))
        .into_iter()
        .map(|entry| entry.expect("listed").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pack"))
        .collect();
    packs.sort();
    packs
}

#[test]
fn doctor_says_that_a_memory_is_sound() {
    let environment = TestEnvironment::with(&[Transcript::new("a").work("sound", 5)]);
    let health = environment.json(["doctor"]);
    assert_eq!(health["ok"], true, "{health}");
    assert!(health["checks"].as_array().expect("checks").iter().all(|check| check["ok"] == true), "{health}");
    let words = environment.recollect(["doctor"]).done();
    assert!(words.stdout().contains("ok") && words.stdout().contains("packs"), "{words}");
}

#[test]
fn doctor_finds_a_flipped_bit_and_mends_it_from_the_original() {
    let transcript = Transcript::new("a").work("damage", 20);
    let environment = TestEnvironment::with(std::slice::from_ref(&transcript));
    let pack = packs(&environment.memory()).remove(0);
    let mut bytes = fs_err::read(&pack).expect("a pack");
    let middle = bytes.len() / 3;
    bytes[middle] ^= 1;
    fs_err::write(&pack, bytes).expect("written");
    let run = environment.recollect(["doctor"]).exits(1);
    assert!(run.stdout().contains("damaged") || run.stdout().contains("cannot be read"), "{run}");
    assert!(run.stdout().contains("doctor --repair"), "it says what to do: {run}");
    environment.recollect(["doctor", "--repair"]).done();
    environment.recollect(["doctor"]).done();
    let restored = environment.recollect(["restore", transcript.session_id()]).done();
    assert!(restored.bytes() == transcript.bytes(), "byte for byte");
}

#[test]
fn sessions_that_grow_while_another_tidies_and_checks_stay_whole() {
    let environment = TestEnvironment::new();
    let mut grown = Transcript::new("grows");
    for turn in 0..20 {
        grown = grown.user(&format!("question {turn}")).assistant(&format!("answer {turn}"));
        environment.write(&grown);
        environment.recollect(["ingest", "--all"]).done();
    }
    let children: Vec<_> = [vec!["doctor", "--repair"], vec!["ingest", "--all"], vec!["doctor", "--repair"]]
        .iter()
        .map(|arguments| {
            let mut command = environment.binary();
            command.args(arguments).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().expect("a program that starts")
        })
        .collect();
    for child in children {
        environment.ended(child.wait_with_output().expect("a program that ends")).done();
    }
    assert!(packs(&environment.memory()).len() <= 22, "joined: {:?}", packs(&environment.memory()).len());
    let restored = environment.recollect(["restore", grown.session_id()]).done();
    assert!(restored.bytes() == grown.bytes(), "byte for byte");
    environment.recollect(["doctor"]).done();
}

#[test]
fn after_a_program_was_killed_the_memory_is_sound_and_nothing_that_was_reported_is_missing() {
    let environment = TestEnvironment::new();
    let mut reported: Vec<Transcript> = Vec::new();
    let mut moment = 17_u64;
    for round in 0..10 {
        let transcript = Transcript::new(&format!("round {round}")).work("killed", 6);
        environment.write(&transcript);
        environment.recollect(["ingest", "--all"]).done();
        reported.push(transcript);
        environment.write(&Transcript::new(&format!("large {round}")).work("killed in the middle", 60));
        for arguments in [["ingest", "--all"], ["doctor", "--repair"]] {
            let mut command = environment.binary();
            command.args(arguments).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            let mut child = command.spawn().expect("a program that starts");
            // Some moment: whichever it is, what follows must hold.
            moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            std::thread::park_timeout(std::time::Duration::from_micros(moment >> 47));
            child.kill().expect("a program that can be killed");
            child.wait().expect("a program that ended");
        }
        let health = environment.json(["doctor"]);
        assert_eq!(health["ok"], true, "round {round}: {health}");
    }
    for transcript in &reported {
        let restored = environment.recollect(["restore", transcript.session_id()]).done();
        assert!(restored.bytes() == transcript.bytes(), "byte for byte");
    }
}

#[cfg(unix)]
#[test]
fn everything_in_the_memory_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let environment = TestEnvironment::with(&[Transcript::new("a").work("rights", 8)]);
    environment.recollect(["compress", "latest", "--ratio", "4"]).done();
    environment.recollect(["config", "set", "defaults.model", "opus"]).done();
    environment.recollect(["compose", "all", "--budget", "3000", "--session", "latest"]).done();
    for entry in walkdir::WalkDir::new(environment.memory()) {
        let entry = entry.expect("listed");
        let metadata = entry.metadata().expect("there");
        let open = metadata.permissions().mode() & 0o077;
        assert!(metadata.is_symlink() || open == 0, "{} is open to others: {open:o}", entry.path().display());
    }
}

#[test]
fn a_backup_that_lacks_something_is_kept_and_says_so_by_its_status() {
    let environment = TestEnvironment::with(&[Transcript::new("a").work("lost", 5)]);
    let pack = packs(&environment.memory()).remove(0);
    fs_err::remove_file(&pack).expect("removed");
    let run = environment.recollect(["backup", "safe"]).exits(1);
    let name = pack.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(run.stdout().contains("not in it:") && run.stdout().contains(&name), "it says what: {run}");
    let kept = fs_err::read_dir(environment.work().join("safe")).expect("the folder").count();
    assert_eq!(kept, 1, "the rest is kept");
}
