//! Requests as they should not be: each gets a clear message and its exit status, and nothing is changed.

use recollect_engine::testing::Transcript;

use crate::environment::{TestEnvironment, refused};

fn session() -> Transcript {
    Transcript::new("work")
        .work("login", 10)
        .assistant("##keepit1.00##Never store a password in plain text, whatever the deadline says, and never log one. ##/keepit##")
}

#[test]
fn ratios_out_of_range_are_refused() {
    let environment = TestEnvironment::with(&[session()]);
    for ratio in ["0", "1", "-3", "0.5", "1001"] {
        refused(&environment, &["compress", "latest", "--ratio", ratio], 2, &["ratio"]);
        refused(&environment, &["decay", "latest", "--ratio", ratio], 2, &["ratio"]);
    }
}

#[test]
fn the_greatest_ratio_is_taken_and_kept_or_refused_with_what_it_needs() {
    let environment = TestEnvironment::with(&[Transcript::new("plain").work("plain", 60)]);
    let made = environment.json(["compress", "latest", "--ratio", "1000"]);
    let budget = made["preview"]["budget"].as_u64().expect("a budget");
    assert!(made["output_tokens"].as_u64().is_some_and(|tokens| tokens <= budget), "{made}");
    let pinned = TestEnvironment::with(&[session()]);
    refused(&pinned, &["compress", "latest", "--ratio", "1000"], 1, &["keepit", "token", "hint:"]);
}

#[test]
fn distances_below_zero_are_refused() {
    let environment = TestEnvironment::with(&[session()]);
    refused(&environment, &["decay", "latest", "--ratio", "10", "--distance", "-1"], 2, &["distance"]);
    refused(&environment, &["compress", "latest", "--ratio", "10", "--distance=-1"], 2, &["distance"]);
}

#[test]
fn weights_are_clamped_and_passages_that_are_none_are_refused() {
    let environment = TestEnvironment::with(&[session()]);
    let shown = environment.json(["show", "latest"]);
    let uuid = shown["messages"][0]["uuid"].as_str().expect("a uuid");
    let add = |start, end, weight| {
        ["keepit", "add", "latest", "--message", uuid, "--start", start, "--end", end, "--weight", weight]
    };
    refused(&environment, &add("5", "5", "0.5"), 2, &[]);
    refused(&environment, &add("0", "9999999", "0.5"), 2, &[]);
    refused(
        &environment,
        &["keepit", "add", "latest", "--message", "none", "--start", "0", "--end", "1", "--weight", "1"],
        1,
        &["none"],
    );
    refused(&environment, &["keepit", "set", "none", "--weight", "0.5"], 1, &["none"]);
    refused(&environment, &["keepit", "rm", "none"], 1, &["none"]);
    for (weight, clamped) in [("1.5", 1.0), ("-0.1", 0.0), ("0.456", 0.46)] {
        let marker = environment.run(environment.binary().arg("--json").args(add("0", "5", weight))).done().json();
        assert_eq!(marker["weight"], clamped, "weights lie between 0 and 1 and have two decimals: {marker}");
    }
}

#[test]
fn tiers_that_are_none_are_refused() {
    let environment = TestEnvironment::with(&[session()]);
    for (content, words) in [
        ("not json", "no list of tiers"),
        ("{}", "no list of tiers"),
        ("[]", "tier"),
        (r#"[{"endPercent": 50, "compactionRatio": 10}]"#, "100"),
        (r#"[{"endPercent": 100, "compactionRatio": 0}]"#, "ratio"),
        (r#"[{"endPercent": 60, "compactionRatio": 9}, {"endPercent": 40, "compactionRatio": 5}]"#, "tier"),
        (r#"[{"endPercent": 100, "compactionRatio": 10, "speed": 3}]"#, "speed"),
    ] {
        environment.file("tiers.json", content.as_bytes());
        refused(&environment, &["compress", "latest", "--tiers", "tiers.json"], 2, &[words]);
    }
    refused(&environment, &["compress", "latest", "--tiers", "nowhere.json"], 1, &["nowhere.json"]);
    let tiers = r#"[{"endPercent": 50, "compactionRatio": 20}, {"end_percent": 100, "compaction_ratio": 5, "aggressiveness": "minimal"}]"#;
    let run = environment.recollect_reading(tiers.as_bytes(), ["compress", "latest", "--tiers", "-", "--json"]).done();
    assert_eq!(run.json()["preview"]["tiers"].as_array().map(Vec::len), Some(2), "both spellings are read: {run}");
}

#[test]
fn unknown_engines_versions_and_sessions_are_refused() {
    let environment = TestEnvironment::with(&[session()]);
    refused(&environment, &["compress", "latest", "--ratio", "10", "--engine", "magic"], 2, &["magic"]);
    refused(&environment, &["compress", "latest", "--ratio", "10", "--from", "v007"], 1, &["v007"]);
    refused(&environment, &["compress", "nothing", "--ratio", "10"], 1, &["nothing"]);
    refused(&environment, &["show", "latest", "--version", "v007"], 1, &["v007"]);
    refused(&environment, &["diff", "latest", "original", "v007"], 1, &["v007"]);
    refused(&environment, &["versions", "rm", "latest", "v007"], 1, &["v007"]);
    refused(&environment, &["resume", "nothing"], 1, &["nothing"]);
}

#[test]
fn unknown_values_of_the_configuration_are_refused_and_unknown_keys_kept() {
    let environment = TestEnvironment::with(&[session()]);
    environment.recollect(["config", "set", "defaults.compressionPreset", "gentle"]).done();
    for (key, value) in [
        ("defaults.compressionPreset", "brutal"),
        ("keepitDecay.maxSessionDistance", "0"),
        ("keepitDecay.maxSessionDistance", "far"),
        ("keepitDecay.compressionBase.light", "-1"),
        ("defaults.keepitDecayEnabled", "perhaps"),
    ] {
        refused(&environment, &["config", "set", key, value], 2, &[key.rsplit('.').next().expect("a part")]);
    }
    refused(&environment, &["config", "get", "no.such.thing"], 1, &["no.such.thing"]);
    assert_eq!(environment.json(["config", "get", "defaults.compressionPreset"])["value"], "gentle");
    let path = environment.memory().join("config.json");
    let mut config: serde_json::Value =
        serde_json::from_slice(&fs_err::read(&path).expect("the configuration")).expect("a document");
    config["mine"] = serde_json::json!({"kept": true});
    fs_err::write(&path, config.to_string()).expect("an edited configuration");
    environment.recollect(["config", "set", "defaults.model", "sonnet"]).done();
    assert_eq!(environment.json(["config", "get", "mine.kept"])["value"], true, "unknown keys are kept");
    config["defaults"]["compressionPreset"] = "brutal".into();
    fs_err::write(&path, config.to_string()).expect("an edited configuration");
    let run = environment.recollect(["compress", "latest"]);
    assert!(!run.succeeded() && run.stderr().contains("brutal"), "a wrong value is named when it is needed: {run}");
    fs_err::write(&path, "{ not json").expect("a broken configuration");
    let run = environment.recollect(["config", "get"]).exits(1);
    assert!(run.stderr().contains("config.json"), "the broken file is named: {run}");
    assert_eq!(fs_err::read_to_string(&path).expect("the file"), "{ not json", "and left for its owner to mend");
}

#[test]
fn a_memory_of_a_newer_program_is_left_alone() {
    let environment = TestEnvironment::with(&[session()]);
    let database = environment.memory().join("memory.db");
    // Bytes 60 to 63 of the file's head are `user_version`.
    let mut bytes = fs_err::read(&database).expect("the index");
    bytes[60..64].copy_from_slice(&9999_u32.to_be_bytes());
    fs_err::write(&database, &bytes).expect("an index of the future");
    let run = environment.recollect(["sessions"]).exits(1);
    assert!(run.stderr().contains("update Recollect"), "{run}");
    assert!(fs_err::read(&database).expect("the index") == bytes, "it is not touched");
}
