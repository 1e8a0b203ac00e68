//! Versions of sessions that grow: joined, proven, pruned, with the real binary.

use recollect_engine::testing::Transcript;
use serde_json::json;

use crate::environment::TestEnvironment;

fn session() -> Transcript {
    Transcript::new("growing").work("the login", 30).assistant("Noted. ##keepit1.00## Tokens expire after one hour.")
}

#[test]
fn a_grown_session_is_extended_shown_as_a_tree_and_proven() {
    let environment = TestEnvironment::with(&[session()]);
    environment.recollect(["compress", "latest", "--ratio", "5"]).done();
    environment.write(&session().work("the search", 20));
    environment.recollect(["ingest", "--all"]).done();
    let behind = environment.json(["versions", "latest"])["versions"][0]["behind"].clone();
    assert!(behind["messages"].as_u64().is_some_and(|messages| messages > 0), "{behind}");

    let dry = environment.json(["compress", "latest", "--ratio", "5", "--dry-run"]);
    assert_eq!((&dry["source_version"], &dry["preview"]["lineage"]), (&json!("v001"), &json!("extended")));
    let shown = environment.recollect(["compress", "latest", "--ratio", "5"]).done().stdout();
    assert!(shown.contains("v001 with what is new:"), "{shown}");
    environment.recollect(["compress", "latest", "--ratio", "20", "--part", "v002:1"]).done();
    environment.recollect(["compress", "latest", "--ratio", "5", "--full"]).done();
    let list = environment.json(["versions", "latest"]);
    let lineages: Vec<_> = (0..4).map(|at| list["versions"][at]["lineage"].clone()).collect();
    assert_eq!(lineages, ["original", "extended", "part", "original"]);
    let tree = environment.recollect(["versions", "latest"]).done().stdout();
    for line in ["\nv001", "\n└ v002", "\n  └ v003", "\nv004"] {
        assert!(tree.contains(line), "{line:?} in {tree}");
    }
    assert!(tree.contains("v002, part 1 anew"), "{tree}");

    let proven = environment.json(["versions", "verify", "latest"]);
    assert_eq!((&proven["identical"], proven["versions"].as_array().map(Vec::len)), (&json!(true), Some(4)));
    let file = list["versions"][1]["paths"][0].as_str().expect("a path");
    let text = fs_err::read_to_string(file).expect("its Markdown");
    assert!(text.contains("· from v001\n") && text.contains("· new\n"), "{text}");
    fs_err::write(file, text.replace("one hour", "two hours")).expect("written");
    let run = environment.recollect(["versions", "verify", "latest", "v002"]).exits(1);
    assert!(run.stdout().contains("made again, it is not the same") && run.stdout().contains("two hours"), "{run}");
    let sick = environment.recollect(["doctor"]).exits(1).stdout();
    assert!(sick.contains("the files of v002 of session"), "{sick}");
    fs_err::write(file, text).expect("written");
    environment.recollect(["doctor"]).done();

    // Parts and what it takes to prove them outlive the database.
    let before = environment.json(["versions", "latest"]);
    environment.recollect(["rebuild"]).done();
    assert_eq!(environment.json(["versions", "latest"]), before);
    assert_eq!(environment.json(["versions", "verify", "latest"])["identical"], true);
}

#[test]
fn pruning_follows_its_rule_and_spares_what_compositions_use() {
    let environment = TestEnvironment::with(&[session()]);
    for ratio in ["5", "9", "12"] {
        environment.recollect(["compress", "latest", "--ratio", ratio]).done();
    }
    environment.recollect(["compose", "used", "--budget", "20000", "--session", "latest@v001"]).done();
    let none = environment.json(["versions", "prune"]);
    assert_eq!((&none["keep"], &none["removed"]), (&json!("all"), &json!([])));
    let refused = environment.recollect(["versions", "prune", "--keep", "newest"]).exits(2);
    assert!(refused.stderr().contains("last:N"), "{refused}");
    let shown = environment.recollect(["versions", "prune", "--keep", "used", "--dry-run"]).done().stdout();
    assert!(shown.contains("Would delete 2 versions"), "{shown}");
    environment.recollect(["config", "set", "storage.compressionRetention", "\"last:1\""]).done();
    let pruned = environment.json(["versions", "prune", "latest"]);
    assert_eq!(pruned["removed"].as_array().map(Vec::len), Some(1));
    assert_eq!(pruned["removed"][0]["version_id"], "v002");
    assert_eq!(pruned["kept"][0]["why"], "used in used");
    let left = environment.json(["versions", "latest"]);
    assert_eq!(left["versions"].as_array().map(Vec::len), Some(2));
    assert_eq!(environment.json(["doctor"])["ok"], true);
}
