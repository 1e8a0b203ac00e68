//! Compositions on a real memory in a temporary folder, with a fixed clock.

use std::path::Path;

use serde_json::Value;

mod renew;
mod shares;

use super::*;
use crate::api::composition::{ComponentRequest, ResumeRequest};
use crate::api::ingest::IngestRequest;
use crate::registry;
use crate::testing::{Memory, Transcript};

/// A memory in 2027 that holds transcripts.
fn memory(transcripts: &[Transcript]) -> Memory {
    Memory::at(1_800_000_000_000).take(transcripts)
}

impl Memory {
    fn create(&self, request: &CompositionRequest) -> Result<Composition> {
        self.call(|call| create(call, request))
    }

    fn preview(&self, request: &CompositionRequest) -> Result<CompositionPreview> {
        self.call(|call| preview(call, request))
    }

    fn tokens(&self, path: &str) -> u64 {
        self.engine.counter().count(&text(path))
    }

    fn versions(&self, session: &str) -> Vec<crate::api::compression::Version> {
        versions::list(&self.engine, &session.into()).expect("versions").versions
    }
}

fn text(path: &str) -> String {
    fs_err::read_to_string(path).expect("a file of the composition")
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).expect("a document")
}

fn session(name: &str, turns: u32) -> Transcript {
    Transcript::new(name)
        .work(name, turns)
        .assistant(&format!("##keepit1.00## {name} stays word for word. ##/keepit##"))
}

fn request(name: &str, budget: u64, transcripts: &[&Transcript]) -> CompositionRequest {
    let component = |transcript: &&Transcript| ComponentRequest {
        session: transcript.session_id().to_owned(),
        version: None,
        tokens: None,
        settings: None,
    };
    CompositionRequest {
        name: name.to_owned(),
        budget,
        components: transcripts.iter().map(component).collect(),
        allocation: None,
        task: None,
        order: None,
        format: None,
        replace: false,
    }
}

/// What is said in a session's lines.
fn said(lines: &str) -> Vec<String> {
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    let content = |record: Value| {
        let content = &record["message"]["content"];
        content.as_str().or_else(|| content[0]["text"].as_str()).map(str::to_owned)
    };
    records.filter_map(content).collect()
}

#[test]
fn a_composition_is_within_its_budget_and_its_preview_is_exact() {
    let sessions = [session("storage", 40), session("search", 25), session("notes", 0)];
    let memory = memory(&sessions);
    let request = request("feature x", 6_000, &sessions.iter().collect::<Vec<_>>());
    let preview = memory.preview(&request).expect("a preview");
    assert!(memory.versions(sessions[0].session_id()).is_empty(), "a preview makes nothing");
    let made = memory.create(&request).expect("made");

    assert_eq!(
        (made.total_tokens, made.total_messages),
        (preview.total_tokens, preview.total_messages),
        "previews are exact"
    );
    assert!(
        made.total_tokens <= 6_000 && made.total_tokens > 5_400,
        "{} of 6,000: the budget is used",
        made.total_tokens
    );
    let [markdown, lines, document] = made.files.as_slice() else { panic!("three files: {:?}", made.files) };
    let spoken: u64 = said(&text(lines)).iter().map(|words| memory.engine.counter().count(words)).sum();
    assert_eq!(memory.tokens(markdown).max(spoken), made.total_tokens, "counted over what was really written");

    let versions: Vec<_> = made.components.iter().map(|component| component.version_id.to_string()).collect();
    assert_eq!(versions, ["v001", "v001", "original"], "what fits stays as it is");
    for (component, before) in made.components.iter().zip(&preview.components) {
        assert!(component.token_contribution <= component.share, "{component:?}");
        assert_eq!((component.keepits_kept, component.keepits_total), (1, 1), "pinned words stay");
        assert_eq!((component.token_contribution, &component.reason), (before.token_contribution, &before.reason));
    }
    let version = &memory.versions(sessions[0].session_id())[0];
    assert!(version.auto_created && version.last_used == Some(made.created_at) && version.used_in == ["feature x"]);
    assert_eq!(version.settings.session_distance, Some(1), "the most recent is the nearest, wherever it stands");

    let document = json(document);
    assert_eq!(document["compositionId"], made.composition_id.as_str());
    assert_eq!(document["outputFile"], "composed.md");
    assert_eq!(document["components"][0]["tokenContribution"], made.components[0].token_contribution);
    let request: CompositionRequest =
        serde_json::from_value(document::snake(document["request"].clone())).expect("the request");
    assert_eq!(request.components.len(), 3, "it can be made again");
    for words in ["storage stays word for word.", "## 3. ", "search stays word for word."] {
        assert!(text(markdown).contains(words), "{words}");
    }
}

#[test]
fn budgets_are_hard_at_any_size() {
    let sessions = [session("storage", 12), session("search", 30), session("notes", 2)];
    let memory = memory(&sessions);
    let all: Vec<_> = sessions.iter().collect();
    for budget in [400, 700, 1_100, 1_600, 2_500, 4_100, 7_300, 12_000, 40_000, 1_000_000] {
        match memory.preview(&request("x", budget, &all)) {
            Ok(preview) => {
                assert!(preview.total_tokens <= budget && preview.over == 0, "{} of {budget}", preview.total_tokens);
                let given: u64 = preview.components.iter().map(|component| component.token_contribution).sum();
                assert!(given + preview.overhead_tokens >= preview.total_tokens);
                for component in preview.components.iter().filter(|component| component.created) {
                    assert!(component.token_contribution <= component.share, "{component:?}");
                }
            }
            Err(error) => assert!(budget < 1_000 && error.kind == ErrorKind::OverBudget, "{budget}: {}", error.message),
        }
    }
    let whole = memory.preview(&request("x", 1_000_000, &all)).expect("fits");
    assert!(whole.components.iter().all(|component| component.version_id.as_str() == "original"));
}

#[test]
fn what_cannot_fit_is_named_with_what_it_needs() {
    let pinned = "the whole of this must stay ".repeat(200);
    let large = Transcript::new("pinned").work("pinned", 10).assistant(&format!("##keepit1.00## {pinned}##/keepit##"));
    let memory = memory(&[large.clone(), session("other", 20)]);
    let error = memory.create(&request("x", 900, &[&large])).expect_err("too small");
    assert_eq!(error.kind, ErrorKind::OverBudget);
    assert!(
        error.message.contains("the whole of this must stay") && error.message.contains("need"),
        "{}",
        error.message
    );
    assert_eq!(memory.create(&request("x", 0, &[&large])).expect_err("no budget").kind, ErrorKind::Usage);
    assert_eq!(memory.create(&request("x", 20, &[&large])).expect_err("no room").kind, ErrorKind::OverBudget);

    let mut fixed = request("x", 1_500, &[&large]);
    fixed.components[0].version = Some("original".to_owned());
    let preview = memory.preview(&fixed).expect("figures all the same");
    assert!(preview.over > 0 && preview.components[0].warning.is_some());
    let error = memory.create(&fixed).expect_err("it does not fit");
    assert!(error.kind == ErrorKind::OverBudget && error.message.contains("original of"), "{}", error.message);
    assert!(
        list(&memory.engine).expect("a list").is_empty() && memory.versions(large.session_id()).is_empty(),
        "nothing is left behind"
    );
}

#[test]
fn names_are_taken_once_whatever_their_letter_case() {
    let only = session("notes", 1);
    let memory = memory(std::slice::from_ref(&only));
    let first = memory.create(&request("Plan", 4_000, &[&only])).expect("made");
    for (name, kind) in [
        ("Plan", ErrorKind::Conflict),
        ("plan", ErrorKind::Conflict),
        ("../../x", ErrorKind::Usage),
        ("", ErrorKind::Usage),
    ] {
        let error = memory.create(&request(name, 4_000, &[&only])).expect_err(name);
        assert!(error.kind == kind && error.hint.is_some(), "{name}: {}", error.message);
    }
    let second =
        memory.create(&CompositionRequest { replace: true, ..request("plan", 5_000, &[&only]) }).expect("replaced");
    assert_ne!(second.composition_id, first.composition_id);
    let names: Vec<_> = list(&memory.engine).expect("a list").into_iter().map(|composition| composition.name).collect();
    assert_eq!(names, ["plan"]);
    assert!(!Path::new(&first.files[0]).exists() && Path::new(&second.files[0]).exists());
}

#[test]
fn what_two_sessions_share_stands_once() {
    let parent = session("shared", 6);
    let id = "22222222-2222-4222-8222-222222222222";
    let fork = String::from_utf8(parent.bytes().to_vec()).expect("text").replace(parent.session_id(), id);
    let more = Transcript::with_id(id).days_later(1).user("Only the fork says this.").assistant("And answers.");
    let memory = memory(std::slice::from_ref(&parent));
    let path = memory.path(&format!("fork/{id}.jsonl"));
    fs_err::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs_err::write(&path, [fork.as_bytes(), more.bytes()].concat()).expect("written");
    let paths = vec![path.display().to_string()];
    memory.call(|call| registry::ingest(call, &IngestRequest { paths, ..IngestRequest::default() })).expect("taken in");

    let forked = Transcript::with_id(id);
    let made = memory.create(&request("both", 60_000, &[&parent, &forked])).expect("made");
    assert_eq!(made.components[1].messages, 2, "only what is new: {:?}", made.components[1]);
    let markdown = text(&made.files[0]);
    assert_eq!(markdown.matches("shared stays word for word.").count(), 1);
    assert!(markdown.contains("Only the fork says this."));
    let preview = memory.preview(&request("both", 60_000, &[&parent, &forked])).expect("a preview");
    assert_eq!(preview.shared_messages, made.components[0].messages);
    assert!(preview.left_out.iter().any(|left| left.reason == "stands in another session"));
}

#[test]
fn a_session_of_the_client_goes_on_from_a_composition() {
    let sessions = [session("storage", 10), session("notes", 1)];
    let memory = memory(&sessions);
    let app = memory.path("app");
    fs_err::create_dir_all(&app).expect("a working folder");
    let made = memory.create(&request("go on", 3_000, &sessions.iter().collect::<Vec<_>>())).expect("made");
    let gone = resume(&memory.engine, &ResumeRequest { name: "go on".to_owned(), cwd: None })
        .expect_err("/home/dev/demo is not here");
    assert!(gone.kind == ErrorKind::NotFound && gone.hint.is_some_and(|hint| hint.contains("--cwd")));
    let asked = ResumeRequest { name: "GO ON".to_owned(), cwd: Some(app.display().to_string()) };
    let resumed = resume(&memory.engine, &asked).expect("resumed");
    let again = resume(&memory.engine, &asked).expect("a second one");
    assert_ne!(resumed.file, again.file, "always a new file");
    assert_eq!(resumed.command, format!("claude --resume {}", resumed.session_id));
    assert_eq!(said(&text(&resumed.file)), said(&text(&made.files[1])), "all that was composed");
    let records: Vec<Value> =
        text(&resumed.file).lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert!(
        records.iter().all(|record| record["sessionId"] == resumed.session_id.as_str() || record["type"] == "summary")
    );
    assert_eq!(records.last().expect("records")["type"], "assistant");
    let used = [resumed.session_id.to_string(), again.session_id.to_string()];
    assert_eq!(detail(&memory.engine, "go on").expect("it").composition.used_in_sessions, used);
    assert_eq!(json(&made.files[2])["usedInSessions"], serde_json::json!(used), "in its document too");
    assert_eq!(
        memory.engine.db().read(|rows| rows.caused_sessions()).expect("caused"),
        used,
        "never taken for the user's own"
    );
    let paths = vec![resumed.file];
    let asked = IngestRequest { paths, ..IngestRequest::default() };
    let taken_in = memory.call(|call| registry::ingest(call, &asked)).expect("asked for");
    let note = taken_in.files[0].note.as_deref().unwrap_or_default();
    assert!(note.contains("composition"), "taken in only with a word about it: {note}");
}

#[test]
fn markdown_alone_can_be_gone_on_from_and_lines_alone_can_be_read() {
    let only = session("notes", 2);
    let memory = memory(std::slice::from_ref(&only));
    let cwd = Some(memory.folder.path().display().to_string());
    for (format, name, files) in [(CompositionFormat::Markdown, "md", 2), (CompositionFormat::Jsonl, "lines", 2)] {
        let made = memory
            .create(&CompositionRequest { format: Some(format), ..request(name, 9_000, &[&only]) })
            .expect("made");
        assert_eq!(made.files.len(), files);
        assert!(detail(&memory.engine, name).expect("it").markdown.contains("notes stays word for word."));
        let resumed =
            resume(&memory.engine, &ResumeRequest { name: name.to_owned(), cwd: cwd.clone() }).expect("resumed");
        assert!(said(&text(&resumed.file)).concat().contains("notes stays word for word."));
    }
}

#[test]
fn removing_frees_versions_and_a_composition_outlives_its_sessions() {
    let only = session("storage", 20);
    let memory = memory(std::slice::from_ref(&only));
    let made = memory.create(&request("kept", 2_000, &[&only])).expect("made");
    let forced =
        crate::api::session::SessionRemoveRequest { session: only.session_id().to_owned(), purge: true, force: true };
    assert_eq!(memory.versions(only.session_id())[0].used_in, ["kept"]);
    registry::remove(&memory.engine, &forced).expect("the session goes");
    assert!(
        detail(&memory.engine, made.composition_id.as_str()).expect("by its id").markdown.contains("storage stays")
    );
    let removed = remove(&memory.engine, "kept").expect("removed");
    assert!(!Path::new(&removed.files[0]).exists());
    assert_eq!(remove(&memory.engine, "kept").expect_err("gone").kind, ErrorKind::NotFound);
}
