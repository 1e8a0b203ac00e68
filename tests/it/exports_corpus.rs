//! Real exports: each is taken, comes back byte for byte, and says what the transcript of its conversation says.
//!
//! `RECOLLECT_CORPUS` names the folder of the corpus; `exports/real-client` are copies of conversations in `transcripts/real-client`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::environment::TestEnvironment;

#[expect(clippy::disallowed_methods, reason = "who runs the tests says where the corpus lies")]
fn corpus(part: &str) -> PathBuf {
    let folder = std::env::var_os("RECOLLECT_CORPUS").expect("RECOLLECT_CORPUS names the folder of the corpus");
    let part = Path::new(&folder).join(part);
    assert!(part.is_dir(), "RECOLLECT_CORPUS is set, but there is no folder {}", part.display());
    part
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// Letters and digits of what the user and the assistant said, in order, each with its role: what no terminal changes.
fn turns(environment: &TestEnvironment, session: &str) -> Vec<(String, String)> {
    let mut turns = Vec::new();
    for message in list(&environment.json(["show", session]), "messages") {
        let role = text(message, "role");
        if !matches!(role, "user" | "assistant") || text(message, "kind") != "turn" {
            continue;
        }
        for block in list(message, "blocks").iter().filter(|block| text(block, "type") == "text") {
            let said = text(block, "text").trim();
            let said = match (role, between(said, "<command-name>", "</command-name>")) {
                ("user", Some(command)) => {
                    let arguments = between(said, "<command-args>", "</command-args>").unwrap_or_default();
                    format!("{command} {arguments}")
                }
                ("user", None) => match between(said, "<bash-input>", "</bash-input>") {
                    Some(command) => command.to_owned(),
                    // What the client put in, in the user's name.
                    None if said.starts_with('<') => continue,
                    None => said.to_owned(),
                },
                _ => said.to_owned(),
            };
            turns.push((role.to_owned(), letters(&said)));
        }
    }
    turns
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, after) = text.split_once(open)?;
    after.split_once(close).map(|(inner, _)| inner)
}

/// Letters of Markdown as it is drawn: without fences and tags.
fn letters(markdown: &str) -> String {
    let mut letters = String::new();
    for line in markdown.lines().filter(|line| !line.trim_start().starts_with("```")) {
        let mut in_tag = false;
        for (at, character) in line.char_indices() {
            let opens = || line[at + 1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/');
            in_tag = in_tag || (character == '<' && opens() && line[at..].contains('>'));
            if !in_tag && character.is_alphanumeric() {
                letters.push(character);
            }
            in_tag &= character != '>';
        }
    }
    letters
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn twins_say_what_their_transcripts_say_in_count_order_and_letters() {
    let environment = TestEnvironment::new();
    let folders = [corpus("exports/real-client"), corpus("transcripts/real-client")];
    let [exports, transcripts] = folders.each_ref().map(|folder| folder.to_str().expect("a path in Unicode"));
    environment.recollect(["ingest", exports, transcripts, "-q"]).done();
    let page = environment.json(["sessions"]);
    let (mut said, mut equal, mut twins) = (0, 0, 0);
    for session in list(&page, "sessions").iter().filter(|session| text(session, "format") == "claude-export") {
        let Some(twin) = session["paired_with"].as_str() else { continue };
        twins += 1;
        let (export, transcript) = (turns(&environment, text(session, "session_id")), turns(&environment, twin));
        // An export begins at the last compaction, or at the beginning, and ends where it was made.
        let found = (0..=transcript.len().saturating_sub(export.len()))
            .map(|from| transcript[from..].iter().zip(&export).filter(|(one, other)| one == other).count())
            .max();
        said += export.len();
        equal += found.unwrap_or(0);
    }
    println!("{equal} of {said} turns of {twins} exports stand in their transcripts, in order and without a gap");
    assert!(twins >= 4, "only {twins} exports found their transcripts");
    assert_eq!(equal, said, "every turn of an export must stand in its transcript");
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn every_export_is_recognised_and_comes_back_byte_for_byte() {
    let environment = TestEnvironment::new();
    let files: Vec<PathBuf> = walkdir::WalkDir::new(corpus("exports"))
        .into_iter()
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect();
    assert!(files.len() > 70, "{} exports are not the corpus", files.len());
    let folder = corpus("exports");
    let report = environment.json(["ingest", folder.to_str().expect("a path in Unicode")]);
    assert_eq!(list(&report, "files").len(), files.len());
    for file in list(&report, "files") {
        assert!(matches!(text(file, "status"), "new" | "updated" | "unchanged"), "{file}");
    }
    environment.recollect(["restore", "--all", "--tree", "restored"]).done();
    let kept: std::collections::HashSet<Vec<u8>> = walkdir::WalkDir::new(environment.work().join("restored"))
        .into_iter()
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| fs_err::read(entry.path()).expect("a readable file"))
        .collect();
    for file in &files {
        let bytes = fs_err::read(file).expect("a readable export");
        let whole = kept.iter().any(|kept| kept.starts_with(&bytes));
        assert!(whole, "{} is nowhere in what was restored", file.display());
    }
    for session in list(&environment.json(["sessions"]), "sessions") {
        let id = text(session, "session_id");
        let roles: Vec<String> = list(&environment.json(["show", id]), "messages")
            .iter()
            .map(|message| text(message, "role").to_owned())
            .collect();
        assert!(roles.iter().any(|role| role == "assistant"), "{id} has no word of the assistant: {session}");
        assert_eq!(roles.len() as u64, session["messages"].as_u64().unwrap_or_default());
    }
    let again = environment.json(["ingest", folder.to_str().expect("a path in Unicode")]);
    assert_eq!((&again["totals"]["new"], &again["totals"]["updated"]), (&0.into(), &0.into()), "nothing is new twice");
}
