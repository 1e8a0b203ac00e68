//! `recollect checkpoints`: named states of the memory.

use recollect_engine::testing::Transcript;
use serde_json::json;

use crate::environment::{TestEnvironment, refused};

#[test]
fn a_checkpoint_tells_later_what_was_added_changed_and_removed() {
    let grown = Transcript::new("grown").title("Grows").work("ledger", 2);
    let gone = Transcript::new("gone").title("Goes").work("parser", 2);
    let same = Transcript::new("same").title("Stays").work("cache", 2);
    let environment = TestEnvironment::with(&[grown.clone(), gone.clone(), same.clone()]);
    let made = environment.json(["checkpoints", "add", "before import"]);
    assert_eq!((&made["name"], &made["sessions"]), (&json!("before import"), &json!(3)));

    let nothing = environment.json(["checkpoints", "diff", "Before Import"]);
    assert_eq!(nothing["added"], json!([]), "nothing happened yet");
    assert_eq!((&nothing["changed"], &nothing["removed"]), (&json!([]), &json!([])));

    environment.write(&grown.work("ledger", 1));
    environment.write(&Transcript::new("new").title("Comes").work("queue", 1));
    environment.recollect(["ingest", "--all"]).done();
    environment.recollect(["remove", gone.session_id()]).done();
    environment.recollect(["compress", same.session_id(), "--mode", "uniform", "--ratio", "4"]).done();

    let difference = environment.json(["checkpoints", "diff", "before import"]);
    let titles = |list: &serde_json::Value, path: &str| -> Vec<String> {
        let states = list.as_array().expect("a list").iter();
        states
            .map(|state| state.pointer(path).and_then(|title| title.as_str()).unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(titles(&difference["added"], "/title"), ["Comes"]);
    assert_eq!(titles(&difference["removed"], "/title"), ["Goes"]);
    let mut changed = titles(&difference["changed"], "/after/title");
    changed.sort();
    assert_eq!(changed, ["Grows", "Stays"], "grown, and with a version more");

    let shown = environment.recollect(["checkpoints", "diff", "before import"]).done();
    assert!(shown.stdout().contains("0 → 1 versions"), "{shown}");
    environment.recollect(["checkpoints", "add", "after import"]).done();
    let between = environment.json(["checkpoints", "diff", "before import", "after import"]);
    assert_eq!(between["added"], difference["added"], "a later checkpoint holds what was there then");
    let listed = environment.json(["checkpoints"]);
    assert_eq!(listed["checkpoints"][0]["name"], json!("after import"), "newest first");
    environment.recollect(["checkpoints", "rm", "before import"]).done();
    assert_eq!(environment.json(["checkpoints"])["checkpoints"].as_array().map(Vec::len), Some(1));
}

#[test]
fn names_are_names_and_a_file_that_is_not_understood_is_left_alone() {
    let environment = TestEnvironment::with(&[Transcript::new("one").work("ledger", 1)]);
    for bad in ["", "  ", "two\nlines"] {
        refused(&environment, &["checkpoints", "add", bad], 2, &["stands on one line"]);
    }
    environment.recollect(["checkpoints", "add", "../../etc/passwd"]).done();
    refused(&environment, &["checkpoints", "add", "../../ETC/passwd"], 1, &["already"]);
    refused(&environment, &["checkpoints", "diff", "never made"], 1, &["there is no checkpoint"]);
    let file = environment.memory().join("checkpoints.json");
    fs_err::write(&file, "not json").expect("written");
    refused(&environment, &["checkpoints", "add", "another"], 1, &["cannot be read"]);
    environment.recollect(["stats"]).done();
}
