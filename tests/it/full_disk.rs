//! No room left: a clear error, nothing half-written, and the work goes on once there is room.

use recollect_engine::testing::Transcript;

use crate::environment::{Run, TestEnvironment};

/// Ingests a small session, then a large one with room for a part of it, then again with room for all.
/// `LIMIT` and `FREE` are filled in by the way the disk is made small.
const STORY: &str = r#"
recollect() { "$RECOLLECT" --home "$MEMORY" "$@"; }
recollect ingest small --json > small.out 2> small.err; echo "small $?"
LIMIT
recollect ingest large --json > large.out 2> large.err; echo "large $?"
FREE
recollect sessions --json > sessions.out 2> sessions.err; echo "sessions $?"
recollect restore "$SMALL" > restored.out 2> restored.err; echo "restore $?"
recollect ingest large --json > again.out 2> again.err; echo "again $?"
recollect restore "$LARGE" > whole.out 2> whole.err; echo "whole $?"
find "$MEMORY" -name '.writing-*' -o -name '*.tmp' -o -name '.tmp*' | sort > left.out
"#;

#[test]
fn a_full_disk_is_named_and_leaves_nothing_half_written() {
    let environment = TestEnvironment::new();
    let small = Transcript::new("small").user("small").assistant("talk");
    small.write_into(&environment.work().join("small")).expect("a written transcript");
    let large = Transcript::new("large").user(&noise(5_000_000)).assistant("seen");
    large.write_into(&environment.work().join("large")).expect("a written transcript");
    let memory = environment.root().join("disk/memory");
    fs_err::create_dir(environment.root().join("disk")).expect("a folder");
    let story = |limit: &str, free: &str| STORY.replace("LIMIT", limit).replace("FREE", free);
    let tell = |program: &[&str], story: String| -> Run {
        let mut command = environment.command(program[0]);
        command.args(&program[1..]).args(["sh", "-c", &story]);
        command.env("RECOLLECT", env!("CARGO_BIN_EXE_recollect")).env("MEMORY", &memory);
        command.env("SMALL", small.session_id()).env("LARGE", large.session_id());
        environment.run(&mut command)
    };
    // A disk of its own where the system lets us mount one, else files that may not grow: both really fail.
    let has_mounts = environment.run(environment.command("unshare").args(["-Urm", "true"])).succeeded();
    let run = if has_mounts {
        let mount = "mount -t tmpfs -o size=16m none ../disk || exit 9\n";
        let story = story("head -c 13500000 /dev/zero > ../disk/filler", "rm ../disk/filler");
        tell(&["unshare", "-Urm"], format!("{mount}{story}"))
    } else {
        // Each command in the limit's own shell; blocks of 512 bytes, so no file of more than 300 kB.
        let limited = story("", "").replacen(
            r#"recollect ingest large --json > large.out"#,
            r#"(trap '' XFSZ; ulimit -f 600; recollect ingest large --json) > large.out"#,
            1,
        );
        tell(&["env"], limited)
    };
    let out = |name: &str| fs_err::read(environment.work().join(name)).expect("an output");
    let words = |name: &str| String::from_utf8_lossy(&out(name)).into_owned();
    assert_eq!(
        run.clone().done().stdout(),
        "small 0\nlarge 1\nsessions 0\nrestore 0\nagain 0\nwhole 0\n",
        "{run}\n{}{}{}",
        words("large.err"),
        words("sessions.err"),
        words("again.err")
    );
    let error = words("large.err");
    assert!(error.contains("No space left") || error.contains("File too large") || error.contains("full"), "{error}");
    assert!(error.contains("hint:"), "it is said what to do: {error}");
    let listed: serde_json::Value = serde_json::from_slice(&out("sessions.out")).expect("a document");
    assert_eq!(listed["total"], 1, "the session that did not fit is not half there: {listed}");
    assert!(out("restored.out") == small.bytes(), "what was there before is whole");
    assert!(out("whole.out") == large.bytes(), "with room, all of it is taken");
    assert_eq!(words("left.out"), "", "no temporary file is left");
}

/// Each work with a full disk, then with room. `FULL`, `LIMITED` and `FREE` are filled in.
const EACH_STORY: &str = r#"
recollect() { "$RECOLLECT" --home "$MEMORY" "$@"; }
limited() { LIMITED; }
recollect ingest one two > /dev/null 2> begun.err; echo "begun $?"
FULL
limited ingest three > full.out 2> ingest.err; echo "ingest $?"
limited compress "$ONE" --ratio 10 > full.out 2> compress.err; echo "compress $?"
limited compose both --budget 3000 --session "$ONE" --session "$TWO" > full.out 2> compose.err; echo "compose $?"
limited backup "$BACKUPS" > full.out 2> backup.err; echo "backup $?"
FREE
find "$MEMORY" "$BACKUPS" -name '.writing-*' -o -name '.recollect-writing-*' -o -name '.composing-*' -o -name 'backup-*' > left.out 2> /dev/null
recollect doctor > doctor.out 2>&1; echo "doctor $?"
recollect ingest three > again.out 2>&1; echo "ingest $?"
recollect compress "$ONE" --ratio 10 >> again.out 2>&1; echo "compress $?"
recollect compose both --budget 3000 --session "$ONE" --session "$TWO" >> again.out 2>&1; echo "compose $?"
recollect backup "$BACKUPS" >> again.out 2>&1; echo "backup $?"
recollect doctor >> doctor.out 2>&1; echo "doctor $?"
recollect restore "$ONE" > one.out; echo "restore $?"
"#;

#[test]
fn on_a_full_disk_each_work_fails_clearly_and_can_be_done_once_there_is_room() {
    let environment = TestEnvironment::new();
    let sessions = ["one", "two", "three"].map(|name| Transcript::new(name).user(&noise(400_000)).work(name, 6));
    for (name, transcript) in ["one", "two", "three"].iter().zip(&sessions) {
        transcript.write_into(&environment.work().join(name)).expect("a written transcript");
    }
    let disk = environment.root().join("disk");
    fs_err::create_dir(&disk).expect("a folder");
    // A disk of its own where the system lets us mount one, else files that may not grow: both really fail.
    let has_mounts = environment.run(environment.command("unshare").args(["-Urm", "true"])).succeeded();
    let (program, begin, full, limited, free): (&[&str], _, _, _, _) = if has_mounts {
        (
            &["unshare", "-Urm"],
            "mount -t tmpfs -o size=24m none ../disk || exit 9",
            "cat /dev/zero > ../disk/filler 2> /dev/null; truncate -s -40k ../disk/filler",
            r#"recollect "$@""#,
            "rm ../disk/filler",
        )
    } else {
        (&["env"], ":", ":", r#"(trap '' XFSZ; ulimit -f 8; recollect "$@")"#, ":")
    };
    let story = EACH_STORY.replace("LIMITED", limited).replace("FULL", full).replace("FREE", free);
    let mut command = environment.command(program[0]);
    command.args(&program[1..]).args(["sh", "-c", &format!("{begin}\n{story}")]);
    command.env("RECOLLECT", env!("CARGO_BIN_EXE_recollect"));
    command.env("MEMORY", disk.join("memory")).env("BACKUPS", disk.join("backups"));
    command.env("ONE", sessions[0].session_id()).env("TWO", sessions[1].session_id());
    let run = environment.run(&mut command);
    let words = |name: &str| {
        let bytes = fs_err::read(environment.work().join(name)).unwrap_or_default();
        format!("{name}: {}\n", String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]))
    };
    let told =
        ["begun.err", "ingest.err", "compress.err", "compose.err", "backup.err", "doctor.out", "again.out"].map(words);
    assert_eq!(
        run.clone().done().stdout(),
        "begun 0\ningest 1\ncompress 1\ncompose 1\nbackup 1\ndoctor 0\ningest 0\ncompress 0\ncompose 0\nbackup 0\ndoctor 0\nrestore 0\n",
        "{run}{}",
        told.concat()
    );
    for error in &told[1..5] {
        assert!(error.contains("error: ") && error.contains("hint: "), "it is said what to do: {error}");
    }
    assert_eq!(words("left.out"), "left.out: \n", "nothing half-written is left");
    let restored = fs_err::read(environment.work().join("one.out")).expect("the session");
    assert!(restored == sessions[0].bytes(), "what was there before is whole");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let environment = TestEnvironment::with(&[Transcript::new("a").work("output", 3)]);
    for arguments in [["restore", "latest"], ["show", "latest"], ["sessions", "--json"]] {
        let full = fs_err::OpenOptions::new().write(true).open("/dev/full").expect("the full device");
        let mut command = environment.binary();
        command.args(arguments).stdout(std::process::Stdio::from(full.into_file()));
        let run = environment.run(&mut command).exits(1);
        assert!(run.stderr().contains("No space left"), "{arguments:?}: {run}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let environment = TestEnvironment::with(&[Transcript::new("a").work("pipes", 200)]);
    let mut command = environment.command("sh");
    let script = r#"{ "$RECOLLECT" show latest; echo "$?" >&2; } | head -n 1 > /dev/null"#;
    let run = environment.run(command.args(["-c", script]).env("RECOLLECT", env!("CARGO_BIN_EXE_recollect"))).done();
    assert_eq!(run.stderr(), "0\n", "quiet, as `head` expects");
}

/// Text that no compression makes small, always the same.
fn noise(length: usize) -> String {
    let mut state: u64 = 7;
    let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -";
    let letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(letters[usize::try_from(state >> 58).unwrap_or_default()])
    };
    std::iter::repeat_with(letter).take(length).collect()
}
