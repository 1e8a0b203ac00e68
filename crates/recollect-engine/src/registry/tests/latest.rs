//! The latest conversation, and those that the client deletes soon.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;

use super::super::{expiring, ingest};
use super::Memory;
use crate::api::ingest::{IngestReport, IngestRequest, IngestStatus};
use crate::testing::Transcript;

const DAY: i64 = 86_400_000;
const TALK: &str = "Human: Where is the kestrel?\n\nAssistant: On the tower.\n";

/// Lets a file be as old as so many milliseconds.
fn aged(memory: &Memory, path: &Path, age: i64) {
    let then = u64::try_from(memory.engine.now().millis() - age).expect("after 1970");
    let file = fs_err::OpenOptions::new().append(true).open(path).expect("the file");
    file.file().set_modified(UNIX_EPOCH + Duration::from_millis(then)).expect("its time is set");
}

fn taken(memory: &Memory, request: &IngestRequest) -> IngestReport {
    memory.call(|call| ingest(call, request)).expect("ingest works")
}

fn latest(memory: &Memory) -> IngestReport {
    taken(memory, &IngestRequest { latest: true, ..IngestRequest::default() })
}

fn titles(report: &IngestReport) -> Vec<(&str, IngestStatus)> {
    report.sessions.iter().map(|session| (session.format.as_str(), session.status)).collect()
}

#[test]
fn the_latest_is_the_newest_of_transcripts_and_exports_and_nothing_is_said_when_all_are_known() {
    let memory = Memory::new();
    let client = memory.folder.path().join("claude");
    let exports = memory.path("exports/none");
    let exports = exports.parent().expect("a folder");
    let home = memory.engine.home();
    crate::config::set(&home.config(), &home.lock(), "watch.exportFolders", &json!([exports]), memory.engine.now())
        .expect("set");
    let transcript = Transcript::new("one").user("The older one.").write(&client).expect("written");
    aged(&memory, &transcript, 2 * DAY);
    let export = memory.put("exports/talk.txt", TALK);
    aged(&memory, &export, DAY);
    memory.put("exports/notes.txt", "Nothing was said here.\n");
    memory.put("exports/deep/other.txt", "Human: Deeper.\n\nAssistant: Not looked for.\n");
    memory.put("exports/picture.png", "Human: no\n\nAssistant: no\n");

    assert_eq!(titles(&latest(&memory)), [("plain-export", IngestStatus::New)], "the export is newer");
    // A copy is known already, and does not stand before what is not.
    let copy = memory.put("exports/talk (1).txt", TALK);
    aged(&memory, &copy, DAY / 2);
    assert_eq!(titles(&latest(&memory)), [("claude-code", IngestStatus::New)], "then the transcript");
    let nothing = latest(&memory);
    assert!(nothing.sessions.is_empty() && nothing.files.is_empty(), "there is nothing more: {nothing:?}");
}

#[test]
fn without_folders_in_the_settings_those_of_known_projects_are_looked_into() {
    let memory = Memory::new();
    let project = memory.path("code/app/x");
    let project = project.parent().expect("a folder");
    let transcript = Transcript::new("one").cwd(&project.display().to_string()).user("Hello.");
    let path = transcript.write(&memory.folder.path().join("claude")).expect("written");
    aged(&memory, &path, DAY);
    assert_eq!(titles(&latest(&memory)), [("claude-code", IngestStatus::New)]);
    memory.put("code/app/2026-01-20-talk.txt", TALK);
    assert_eq!(titles(&latest(&memory)), [("plain-export", IngestStatus::New)], "/export writes into the project");
}

#[test]
fn what_the_client_deletes_soon_is_named_until_it_is_archived() {
    let memory = Memory::new();
    let client = memory.folder.path().join("claude");
    let write = |name: &str, days: i64| {
        let path =
            Transcript::new(name).title(&format!("About {name}")).user("Hello.").write(&client).expect("written");
        aged(&memory, &path, days * DAY);
        path
    };
    write("fresh", 3);
    write("soon", 28);
    write("sooner", 29);
    write("overdue", 90);
    let found = expiring(&memory.engine, None).expect("found");
    assert_eq!((found.kept_days, found.total, found.unarchived), (30.0, 3, 3));
    let named: Vec<_> = found.sessions.iter().map(|session| (session.title.as_str(), session.days_left)).collect();
    assert_eq!(named, [("About overdue", 0), ("About sooner", 1), ("About soon", 2)], "the first to go stands first");
    assert_eq!(found.sessions[0].session_id, None, "nothing of it is in memory");

    let report = taken(&memory, &IngestRequest { expiring: true, ..IngestRequest::default() });
    assert_eq!(report.totals.new, 3, "one action archives all, and nothing else");
    let found = expiring(&memory.engine, None).expect("found");
    assert_eq!((found.total, found.unarchived), (3, 0));
    let again = taken(&memory, &IngestRequest { expiring: true, ..IngestRequest::default() });
    assert!(again.files.is_empty(), "then there is nothing to do");

    fs_err::write(client.join("settings.json"), "{\"cleanupPeriodDays\": 365, \"other\": [1]}").expect("written");
    let found = expiring(&memory.engine, None).expect("found");
    assert_eq!((found.kept_days, found.total), (365.0, 0), "the client's own setting counts");
    fs_err::write(client.join("settings.json"), "{ not json").expect("written");
    assert_eq!(expiring(&memory.engine, Some(1)).expect("found").total, 2, "else its default does");
}
