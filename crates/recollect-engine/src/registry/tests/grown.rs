//! Files that have grown: their end is read, and what lies before it is not believed blindly.

use super::super::{list, restore_to, stored_messages};
use super::{ID, Memory, line};
use crate::ids::SessionId;

/// Some hundred kilobytes of lines: several pieces.
fn long(first: &str) -> String {
    let rest: String = (0..6000).map(|number| line(&format!("u{number}"), &format!("line {number} of many"))).collect();
    line("first", first) + &rest
}

#[test]
fn a_beginning_that_changed_in_a_file_that_also_grew_is_found() {
    let memory = Memory::new();
    let path = memory.put(&format!("p/{ID}.jsonl"), &long("as it was"));
    memory.ingest(&[&path]);
    // Written over, not replaced: the inode is the same, and the end is too.
    let changed = long("as it is now, and longer");
    memory.put(&format!("p/{ID}.jsonl"), &changed);
    memory.ingest(&[&path]);
    let other = format!("{ID}~2");
    assert_eq!(
        memory.ids(),
        [ID.to_owned(), other.clone()],
        "what was kept stays, what is there now is kept beside it"
    );
    let mut restored = Vec::new();
    restore_to(&memory.engine, &SessionId::new(other), &mut restored).expect("restored");
    assert!(restored == changed.as_bytes(), "byte for byte");
}

#[test]
fn what_a_line_adds_is_all_that_is_read_of_a_long_file() {
    let memory = Memory::new();
    let before = long("as it was");
    let path = memory.put(&format!("p/{ID}.jsonl"), &before);
    memory.ingest(&[&path]);
    memory.put(&format!("p/{ID}.jsonl"), &(before.clone() + &line("last", "one more")));
    let report = memory.ingest(&[&path]);
    assert_eq!((report.totals.updated, report.totals.messages), (1, 6002));
    assert!(
        report.totals.bytes_read < 600_000,
        "only the end is read: {} of {}",
        report.totals.bytes_read,
        before.len()
    );
    let detail = list::detail(&memory.engine, &SessionId::new(ID)).expect("its figures");
    assert_eq!(detail.summary.messages, 6002);
    let file = memory.engine.db().read(|rows| rows.main_file(&SessionId::new(ID))).expect("asked").expect("there");
    let (last, _) = stored_messages(&memory.engine, file.file_id, 6001, 1 << 20).expect("read");
    assert_eq!(last[0].text(), "one more");
}
