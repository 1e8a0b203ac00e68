//! Near-duplicates over an open memory.

use crate::api::near_duplicates::{NearDuplicates, NearDuplicatesRequest};
use crate::engine::{Call, Cancel};
use crate::error::ErrorKind;
use crate::testing::{Memory, Transcript};

const PLAN: &str = "Please move the session cache of the login service from the file system into Redis and keep the old \
                    one readable for a week";

fn found(memory: &Memory, request: NearDuplicatesRequest) -> NearDuplicates {
    memory.call(|call| super::find(call, &request)).expect("found")
}

fn memory() -> Memory {
    let first = Transcript::new("first").title("First").user(PLAN).assistant("Done.");
    let second = Transcript::new("second").title("Second").days_later(1).user(&format!("{PLAN}, but not in staging."));
    let third = Transcript::new("third").title("Third").days_later(2).user(PLAN).user(
        "Something else entirely that also has more than a dozen words in it and is said only here, in this session",
    );
    Memory::new().take(&[first, second, third])
}

#[test]
fn what_says_nearly_the_same_is_a_group_with_what_each_says_alone() {
    let found = found(&memory(), NearDuplicatesRequest::default());
    assert_eq!((found.total, found.messages, found.compared), (1, 2, 3), "{found:?}");
    let [first, second] = found.groups[0].messages.as_slice() else { panic!("{found:?}") };
    assert_eq!((first.session_title.as_str(), first.copies, first.similarity), ("First", 1, 1.0), "the earliest first");
    assert_eq!(second.only_here, ["but not in staging"]);
    assert!(first.only_here.is_empty() && second.similarity < 1.0 && second.similarity > 0.75, "{second:?}");
}

#[test]
fn how_alike_and_which_project_can_be_chosen() {
    let memory = memory();
    let request =
        |similarity| NearDuplicatesRequest { similarity: Some(similarity), ..NearDuplicatesRequest::default() };
    assert_eq!(found(&memory, request(0.99)).total, 0, "they differ in some words");
    let elsewhere = NearDuplicatesRequest { project: Some("-home-dev-other".into()), ..request(0.6) };
    assert_eq!(found(&memory, elsewhere).compared, 0);
    let call = Call { engine: &memory.engine, progress: &|_| {}, cancel: &Cancel::default() };
    let refused = super::find(&call, &request(0.2)).expect_err("not alike at all");
    assert_eq!(refused.kind, ErrorKind::Usage);
    call.cancel.cancel();
    assert_eq!(super::find(&call, &request(0.6)).expect_err("cancelled").kind, ErrorKind::Cancelled);
}
