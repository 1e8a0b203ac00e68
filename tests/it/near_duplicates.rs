//! `recollect near-duplicates`.

use recollect_engine::testing::Transcript;
use serde_json::json;

use crate::environment::{TestEnvironment, refused};

const PLAN: &str = "Please move the session cache of the login service from the file system into Redis and keep the old \
                    one readable for a week";

#[test]
fn messages_that_say_nearly_the_same_are_shown_as_groups_and_stay_what_they_are() {
    let one = Transcript::new("one").title("First plan").user(PLAN).assistant("Done.");
    let other =
        Transcript::new("other").title("Second plan").days_later(1).user(&format!("{PLAN}, but not in staging."));
    let environment = TestEnvironment::with(&[one.clone(), other.clone()]);
    let found = environment.json(["near-duplicates"]);
    assert_eq!((&found["total"], &found["messages"]), (&json!(1), &json!(2)));
    let messages = &found["groups"][0]["messages"];
    assert_eq!(messages[1]["session_id"], json!(other.session_id()));
    assert_eq!(messages[1]["only_here"], json!(["but not in staging"]));
    let shown = environment.recollect(["near-duplicates"]).done();
    for expected in ["First plan", "Second plan", "+ but not in staging", "1 group of 2 messages among 2 messages"] {
        assert!(shown.stdout().contains(expected), "{expected}: {shown}");
    }
    for transcript in [one, other] {
        let restored = environment.recollect(["restore", transcript.session_id()]).done();
        assert_eq!(restored.stdout().as_bytes(), transcript.bytes(), "nothing is merged");
    }
    assert_eq!(environment.json(["near-duplicates", "--similarity", "1"])["total"], json!(0));
    refused(&environment, &["near-duplicates", "--similarity", "0.1"], 2, &["from 0.5 to 1"]);
}
