//! What the client deletes soon, and what came last: named, and taken in by one action.

use recollect_engine::testing::Transcript;

use crate::environment::TestEnvironment;

#[test]
fn sessions_that_the_client_deletes_soon_are_listed_and_archived_at_once() {
    let environment = TestEnvironment::new();
    assert!(
        environment.recollect(["sessions", "--expiring"]).done().stdout().contains("deletes no session within 7 days")
    );
    let old = Transcript::new("old").title("Upgrade to Express 5").work("express", 1);
    let path = environment.write(&old);
    environment.run(environment.command("touch").args(["-d", "28 days ago"]).arg(&path)).done();
    environment.write(&Transcript::new("fresh").work("fresh", 1));
    let listed = environment.recollect(["sessions", "--expiring"]).done().stdout();
    for words in
        ["Upgrade to Express 5", "not in memory", "1 session deleted by Claude Code within 7 days, 1 not archived"]
    {
        assert!(listed.contains(words), "it should say `{words}`:\n{listed}");
    }
    assert_eq!(environment.json(["sessions", "--expiring", "1"])["total"], 0, "not within a day");

    let report = environment.json(["ingest", "--expiring"]);
    assert_eq!(report["totals"]["new"], 1, "what is not in danger waits: {report}");
    fs_err::remove_file(&path).expect("the client deletes it");
    assert!(environment.recollect(["restore", old.session_id()]).done().bytes() == old.bytes(), "it outlives that");
    assert!(environment.recollect(["ingest", "--expiring"]).done().stdout().contains("Nothing new"));
}

#[test]
fn the_latest_export_is_found_among_the_downloads() {
    let environment = TestEnvironment::new();
    let downloads = environment.home().join("Downloads");
    fs_err::create_dir_all(&downloads).expect("a folder");
    fs_err::write(downloads.join("talk.txt"), "Human: Where is it?\n\nAssistant: On the tower.\n").expect("written");
    fs_err::write(downloads.join("picture.png"), "no talk").expect("written");
    let report = environment.json(["ingest", "--latest"]);
    assert_eq!(report["sessions"][0]["format"], "plain-export", "{report}");
    let nothing = environment.recollect(["ingest", "--latest"]).done().stdout();
    assert_eq!(nothing, "Nothing new: every transcript and export where they are looked for is in memory.\n");
}
