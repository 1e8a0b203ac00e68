//! What people do with sessions: mark, weigh, compress, compare.

use std::path::Path;

use insta::assert_snapshot;
use recollect_engine::testing::Transcript;
use serde_json::{Value, json};

use crate::environment::{Run, TestEnvironment};

fn billing() -> Transcript {
    Transcript::new("billing")
        .user("Let us build the billing. ##keepit1.00##Never charge a card twice.##/keepit## Start with the ledger.")
        .work("billing", 8)
        .assistant("The ledger is done. ##keepit0.45##Amounts are integers of cents.##/keepit## Tests pass.")
        .title("Billing ledger")
}

/// Hides the figures that change whenever the compression gets better; what they are is tested where they are made.
fn without_figures(run: &Run) -> String {
    let is_figure = |word: &str| {
        let word = word.trim_matches(|character| "();".contains(character));
        let word = word.strip_suffix(":1").unwrap_or(word);
        word.starts_with(|first: char| first.is_ascii_digit())
            && word.chars().all(|one| one.is_ascii_digit() || ",.".contains(one))
    };
    let line = |line: &str| {
        let words = line.split_whitespace().map(|word| if is_figure(word) { "9" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    run.to_string().lines().map(line).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn has_fields(value: &Value, wanted: &[&str]) {
    for field in wanted {
        assert!(value.get(field).is_some(), "`{field}` is in the contract but not in {value}");
    }
}

#[test]
fn marks_are_found_weighed_and_removed() {
    let environment = TestEnvironment::with(&[billing()]);
    assert_snapshot!(environment.recollect(["keepit", "list", "latest"]).done(), @r##"
    MARK           WEIGHT  MESSAGE  FROM        KEPT IN  LOST IN  CONTENT
    kac864e6569db    1.00       #0  transcript  -        -        Never charge a card twice.
    k70d81de28cf5    0.45      #57  transcript  -        -        Amounts are integers of cents.
    "##);
    let listed = environment.json(["keepit", "list", "latest"]);
    let contract = ["marker_id", "message_uuid", "weight", "content", "start", "end", "source"];
    has_fields(&listed["keepits"][0], &contract);
    let marker = listed["keepits"][1]["marker_id"].as_str().expect("an id");
    let set = environment.json(["keepit", "set", marker, "--weight", "0.9"]);
    assert_eq!((&set["weight"], &set["text_weight"]), (&json!(0.9), &json!(0.45)), "{set}");
    let original = environment.recollect(["restore", "latest"]).done();
    assert!(original.bytes() == billing().bytes(), "a weight lies over the transcript and does not change it");
    environment.recollect(["keepit", "rm", marker]).done();
    assert_eq!(environment.json(["keepit", "list", "latest"])["keepits"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_passage_is_marked_by_its_characters() {
    let environment = TestEnvironment::with(&[Transcript::new("a").user("Größe: immer 1024 Pixel, nie mehr.")]);
    let shown = environment.json(["show", "latest"]);
    let uuid = shown["messages"][0]["uuid"].as_str().expect("a uuid");
    let marker = environment.json([
        "keepit",
        "add",
        "latest",
        "--message",
        uuid,
        "--start",
        "7",
        "--end",
        "23",
        "--weight",
        "0.8",
    ]);
    assert_eq!(marker["content"], "immer 1024 Pixel", "positions count characters, not bytes");
    assert_eq!((&marker["source"], &marker["weight"]), (&json!("overlay"), &json!(0.8)));
}

#[test]
fn a_weight_is_written_into_the_transcript_only_when_it_is_asked_for() {
    let environment = TestEnvironment::new();
    let path = environment.write(&billing());
    set_old(&path);
    environment.recollect(["ingest", "--all"]).done();
    let listed = environment.json(["keepit", "list", "latest"]);
    let marker = listed["keepits"][1]["marker_id"].as_str().expect("an id").to_owned();
    environment.recollect(["keepit", "set", &marker, "--weight", "0.7"]).done();
    assert!(fs_err::read(&path).expect("the transcript") == billing().bytes());
    environment.recollect(["keepit", "set", &marker, "--weight", "0.7", "--write-transcript"]).done();
    let expected =
        String::from_utf8(billing().bytes().to_vec()).expect("Unicode").replace("##keepit0.45##", "##keepit0.70##");
    assert!(fs_err::read_to_string(&path).expect("the transcript") == expected, "only the marker's characters change");
}

/// Gives a file the age of one that nobody writes to any more.
fn set_old(path: &Path) {
    let file = fs_err::OpenOptions::new().append(true).open(path).expect("the file");
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_768_990_000);
    file.file().set_modified(old).expect("another time");
}

#[test]
fn decay_tells_which_marks_survive_and_why() {
    let environment = TestEnvironment::with(&[billing()]);
    assert_snapshot!(environment.recollect(["decay", "latest", "--ratio", "30:1", "--distance", "10"]).done(), @r##"
    Marks of weight 0.800 and more survive a aggressive compression of 30:1 at distance 10.

    MARK           WEIGHT  NEEDS  MARGIN  VERDICT     CONTENT
    kac864e6569db    1.00  0.800  +0.200  survives    Never charge a card twice.
    k70d81de28cf5    0.45  0.800  -0.350  summarized  Amounts are integers of cents.

    1 of 2 marks survives
    "##);
    let preview = environment.json(["decay", "latest", "--ratio", "30", "--distance", "5"]);
    assert_eq!(preview["threshold"], 0.65, "0.5 + 0.30 × 5 / 10");
    has_fields(&preview["markers"][0], &["marker_id", "weight", "survives", "margin"]);
}

#[test]
fn a_compression_is_shown_before_it_is_made() {
    let environment = TestEnvironment::with(&[billing()]);
    assert_snapshot!(without_figures(&environment.recollect(["compress", "latest", "--ratio", "5", "--dry-run"]).done()), @r##"
    Would make a version (nothing is written):
    9 tokens in 9 messages → 9 tokens in 9 messages 9 budget 9 tokens; distance 9

    MARK WEIGHT NEEDS MARGIN VERDICT CONTENT
    kac864e6569db 9 9 +0.895 survives Never charge a card twice.
    k70d81de28cf5 9 9 +0.345 survives Amounts are integers of cents.

    LEFT OUT MESSAGES TOKENS
    over budget 9 9
    "##);
    assert_snapshot!(environment.recollect(["versions", "latest"]).done(), @r##"
    Original of a869d9b3-90bc-5a7e-983c-104a2cb71562: 7,194 tokens in 58 messages
    No versions yet.
    "##);
    let preview = environment.json(["compress", "latest", "--ratio", "5", "--dry-run"]);
    let contract = [
        "output_tokens",
        "output_messages",
        "compression_ratio",
        "keepit_stats",
        "source_version",
        "version_id",
        "file",
    ];
    has_fields(&preview, &contract);
    let made = environment.json(["compress", "latest", "--ratio", "5"]);
    has_fields(&made, &contract);
    for figure in ["output_tokens", "output_messages", "keepit_stats"] {
        assert_eq!(made[figure], preview[figure], "`{figure}` is as the preview said");
    }
}

#[test]
fn versions_are_made_listed_shown_compared_and_deleted() {
    let environment = TestEnvironment::with(&[billing()]);
    assert_snapshot!(without_figures(&environment.recollect(["compress", "latest", "--mode", "tiered", "--preset", "standard"]).done()), @r##"
    Made v001 of a869d9b3-90bc-5a7e-983c-104a2cb71562
    9 tokens in 9 messages → 9 tokens in 9 messages 9 budget 9 tokens; distance 9

    STRETCH RATIO LEVEL MARKS FROM TOKENS BECOME
    #0 to #14 9 aggressive 9 9 9
    #15 to #28 9 aggressive 9 9 9
    #29 to #43 9 moderate 9 9 9
    #44 to #51 9 moderate 9 9 9
    #52 to #57 9 light 9 9 9

    MARK WEIGHT NEEDS MARGIN VERDICT CONTENT
    kac864e6569db 9 9 +0.475 survives Never charge a card twice.
    k70d81de28cf5 9 9 +0.347 survives Amounts are integers of cents.

    LEFT OUT MESSAGES TOKENS
    over budget 9 9

    $TEST/home/.claude-memory/projects/-home-dev-demo/summaries/a869d9b3-90bc-5a7e-983c-104a2cb71562/v001_tiered-standard_0k.md
    $TEST/home/.claude-memory/projects/-home-dev-demo/summaries/a869d9b3-90bc-5a7e-983c-104a2cb71562/v001_tiered-standard_0k.jsonl
    "##);
    environment
        .recollect(["compress", "latest", "--mode", "uniform", "--ratio", "3", "--keepit", "preserve-all"])
        .done();
    environment.recollect(["compress", "latest", "--ratio", "2", "--from", "v002"]).done();
    assert_snapshot!(without_figures(&environment.recollect(["versions", "latest"]).done()), @r##"
    Original of a869d9b3-90bc-5a7e-983c-104a2cb71562: 9 tokens in 9 messages

    VERSION MADE HOW FROM TOKENS RATIO MESSAGES KEEPITS SIZE BEHIND LAST USED USED IN
    v001 (now) tiered standard original 9 9 9 9 of 9 9 kB - - -
    v002 (now) uniform 9 original 9 9 9 9 of 9 9 kB - - -
    └ v003 (now) uniform 9 v002 9 9 9 9 of 9 9 kB - - -
    "##);
    let versions = environment.json(["versions", "latest"]);
    let contract = [
        "version_id",
        "file",
        "created_at",
        "settings",
        "output_tokens",
        "output_messages",
        "compression_ratio",
        "keepit_stats",
        "source_version",
        "last_used",
        "used_in",
    ];
    has_fields(&versions["versions"][0], &contract);
    assert_eq!(versions["versions"][2]["source_version"], "v002");

    let shown = environment.json(["show", "latest", "--version", "v002"]);
    has_fields(
        &shown["messages"][0],
        &["index", "uuid", "role", "timestamp", "text", "hash", "tokens", "sources", "kind"],
    );
    let whole: Vec<_> =
        shown["messages"].as_array().expect("messages").iter().filter_map(|message| message["text"].as_str()).collect();
    assert!(whole.join("\n").contains("Never charge a card twice."), "a pinned passage is there word for word");
    assert!(
        shown["left_out"].as_object().is_some_and(|reasons| reasons.values().all(Value::is_u64)),
        "{}",
        shown["left_out"]
    );
    assert!(environment.recollect(["show", "latest", "--version", "v002"]).done().stdout().contains("verbatim"));

    let diff = environment.recollect(["diff", "latest", "original", "v002"]).done().stdout();
    assert!(diff.starts_with("--- original (") && diff.contains("\n+++ v002 (") && diff.contains("\n-"), "{diff}");
    let original = environment.json(["show", "latest", "--version", "original"]);
    assert_eq!(original, environment.json(["show", "latest"]), "the original is a version too");
    let diff = environment.json(["diff", "latest", "v002", "v002"]);
    assert_eq!((&diff["added"], &diff["removed"]), (&json!(0), &json!(0)), "a version is itself");

    let left = environment.json(["versions", "rm", "latest", "v001", "v003"]);
    assert_eq!(left["versions"].as_array().map(Vec::len), Some(1));
    let next = environment.json(["compress", "latest", "--ratio", "4"]);
    assert_eq!(next["version_id"], "v004", "a number is never given twice");
}

#[test]
fn the_preset_of_the_configuration_is_used_when_nothing_is_said() {
    let environment = TestEnvironment::with(&[billing()]);
    environment.recollect(["config", "set", "defaults.compressionPreset", "gentle"]).done();
    let made = environment.json(["compress", "latest"]);
    assert_eq!((&made["settings"]["mode"], &made["settings"]["tier_preset"]), (&json!("tiered"), &json!("gentle")));
}
