//! Compositions on a real memory in a temporary folder, with a fixed clock.

use std::path::Path;

use serde_json::Value;

use super::*;
use crate::api::composition::{
    Allocation, ComponentRequest, CompositionDuplicateRequest, CompositionExportRequest, CompositionRefreshRequest,
    ExportFormat, Order, ResumeRequest,
};
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

#[test]
fn shares_follow_the_task_the_length_the_age_or_the_hand() {
    let about =
        Transcript::new("ledger").user("Build the billing ledger, with double entry bookkeeping.").work("billing", 30);
    let sessions = [session("storage", 60), about, session("search", 30)];
    let memory = memory(&sessions);
    let base = request("x", 6_000, &sessions.iter().collect::<Vec<_>>());
    let of = |request: &CompositionRequest| memory.preview(request).expect("a preview").components;
    let task = CompositionRequest { task: Some("double entry bookkeeping".to_owned()), ..base.clone() };
    let components = of(&task);
    assert!(components[1].share > 2 * components[0].share, "what says more of it is given more: {components:?}");
    assert!(components[1].share_reason.ends_with("of the task's matches"), "{}", components[1].share_reason);
    let by = |allocation| CompositionRequest { allocation: Some(allocation), ..base.clone() };
    let components = of(&by(Allocation::ByLength));
    assert!(components[0].share > components[2].share && components[0].share_reason.ends_with("of all tokens"));
    let components = of(&by(Allocation::ByRecency));
    assert!(components[0].share > components[2].share, "it went on for longest: {components:?}");
    assert_eq!(components[0].share_reason, "the most recent: 50 %");
    let unsaid = memory.preview(&by(Allocation::Manual)).expect_err("no tokens are given");
    assert!(unsaid.kind == ErrorKind::Usage && unsaid.message.contains(sessions[0].session_id()), "{}", unsaid.message);
    assert_eq!(memory.preview(&by(Allocation::ByRelevance)).expect_err("no task").kind, ErrorKind::Usage);
    let mut manual = by(Allocation::Manual);
    for (component, tokens) in manual.components.iter_mut().zip([1_000, 2_000, 500]) {
        component.tokens = Some(tokens);
    }
    let shares: Vec<u64> = of(&manual).iter().map(|component| component.share).collect();
    assert_eq!(shares, [1_000, 2_000, 500], "what was not given stays free");
}

#[test]
fn budgets_are_hard_and_keepits_stay_however_it_is_shared_and_ordered() {
    let sessions = [session("storage", 6), session("search", 12), session("notes", 1)];
    let memory = memory(&sessions);
    for allocation in [Allocation::Even, Allocation::ByLength, Allocation::ByRecency, Allocation::ByRelevance] {
        for order in [Order::Given, Order::ByTime] {
            for budget in [1_500, 4_000] {
                let request = CompositionRequest {
                    allocation: Some(allocation),
                    order: Some(order),
                    task: Some("the ranking of search".to_owned()),
                    ..request("x", budget, &[&sessions[2], &sessions[0], &sessions[1]])
                };
                let preview = memory.preview(&request).expect("it fits");
                assert!(
                    preview.total_tokens <= budget,
                    "{allocation:?} {order:?}: {} of {budget}",
                    preview.total_tokens
                );
                assert!(preview.components.iter().map(|component| component.share).sum::<u64>() <= budget);
                let text: String = preview.messages.iter().map(|message| message.message.text.as_str()).collect();
                for name in ["storage", "search", "notes"] {
                    assert!(text.contains(&format!("{name} stays word for word.")), "{allocation:?} {budget}: {name}");
                }
                let again = memory.preview(&request).expect("again");
                assert_eq!(serde_json::to_value(preview).ok(), serde_json::to_value(again).ok(), "the same each time");
            }
        }
    }
}

#[test]
fn sessions_of_several_projects_make_one_composition() {
    let app = session("app", 4);
    let lib = Transcript::new("lib").cwd("/srv/lib").days_later(3).work("lib", 3).assistant("The library is done.");
    let memory = memory(&[app.clone(), lib.clone()]);
    let ordered = CompositionRequest { order: Some(Order::ByTime), ..request("both", 3_000, &[&lib, &app]) };
    let made = memory.create(&ordered).expect("made");
    let titles: Vec<_> = made.components.iter().map(|component| component.session_id.as_str()).collect();
    assert_eq!(titles, [app.session_id(), lib.session_id()], "the oldest first");
    let kept = memory.engine.db().read(|rows| rows.project(&made.project_id)).expect("read").expect("a project");
    assert_eq!(kept.original_path, "/srv/lib", "kept with its last session");
    let markdown = text(&made.files[0]);
    assert!(markdown.contains("2 earlier sessions of the projects demo and lib ("), "{markdown}");
    assert!(markdown.contains(", project lib, session "), "each session names its own: {markdown}");
    assert!(made.total_tokens <= 3_000);
    let folder = memory.path("lib");
    let error = resume(&memory.engine, &ResumeRequest { name: "both".to_owned(), cwd: None }).expect_err("gone");
    assert!(error.hint.is_some_and(|hint| hint.contains("--cwd")));
    fs_err::create_dir_all(&folder).expect("a folder");
    let asked = ResumeRequest { name: "both".to_owned(), cwd: Some(folder.display().to_string()) };
    let resumed = resume(&memory.engine, &asked).expect("resumed");
    assert!(said(&text(&resumed.file)).concat().contains("app stays word for word."));
    assert_eq!(
        memory.versions(app.session_id()).iter().filter(|version| version.used_in == ["both"]).count(),
        memory.versions(app.session_id()).len()
    );
}

#[test]
fn where_not_all_fits_an_older_state_of_a_file_gives_way_to_the_newest() {
    let body = |word: &str| format!("fn main() {{ /* {word} */ }}\n").repeat(40);
    let reads = |name: &str, days: i64, word: &str| {
        Transcript::new(name)
            .days_later(days)
            .user(&format!("Look at it, {name}."))
            .tool("Read", serde_json::json!({"file_path": "/home/dev/demo/src/main.rs"}), &body(word))
            .assistant(&format!("{name} has read it."))
    };
    let sessions = [reads("first", 0, "older"), reads("second", 2, "newer"), session("large", 40).days_later(3)];
    let memory = memory(&sessions);
    let all: Vec<_> = sessions.iter().collect();
    let text_of = |preview: &CompositionPreview| {
        preview.messages.iter().map(|message| message.message.text.as_str()).collect::<Vec<_>>().join("\n")
    };
    let whole = memory.preview(&request("x", 100_000, &all)).expect("all fits");
    assert!(text_of(&whole).contains("/* older */") && text_of(&whole).contains("/* newer */"), "nothing has to go");
    let short = memory.preview(&request("x", 6_000, &all)).expect("a preview");
    let text = text_of(&short);
    assert!(text.contains("/* newer */") && !text.contains("/* older */"), "{:?}", short.components);
    assert!(text.contains("(as it was then; its newest state is in 2."), "and it says where");
    assert!(short.left_out.iter().any(|left| left.reason == "an older state of a file" && left.messages == 1));
    assert!(short.components[0].reason.contains("1 older state of files"), "{}", short.components[0].reason);
    assert!(text.contains("first has read it."), "what was said stays");
    assert!(short.total_tokens <= 6_000 && short.total_tokens > 5_200, "what is freed is used: {}", short.total_tokens);
}

fn grow(memory: &Memory, transcript: Transcript) -> Transcript {
    let file = transcript.write(&memory.path("claude")).expect("written");
    let paths = vec![file.display().to_string()];
    memory.call(|call| registry::ingest(call, &IngestRequest { paths, ..IngestRequest::default() })).expect("taken in");
    transcript
}

#[test]
fn a_composition_knows_what_has_grown_and_is_made_anew() {
    let sessions = [session("storage", 20), session("notes", 1)];
    let memory = Memory::at(1_800_000_000_000);
    sessions.iter().for_each(|session| drop(grow(&memory, session.clone())));
    let mut asked = request("plan", 3_000, &sessions.iter().collect::<Vec<_>>());
    asked.components[1].session = sessions[1].session_id()[..8].to_owned();
    let made = memory.create(&asked).expect("made");
    assert!(made.stale.is_empty());
    let named = |dry_run| CompositionRefreshRequest { name: "plan".to_owned(), dry_run };
    let same = memory.call(|call| refresh(call, &named(false))).expect("nothing to do");
    assert_eq!(same.composition.expect("as it is").composition_id, made.composition_id);
    let cwd = Some(memory.folder.path().display().to_string());
    let started = resume(&memory.engine, &ResumeRequest { name: "plan".to_owned(), cwd }).expect("started");

    let grown = grow(&memory, sessions[0].clone().user("And the newest wish: add a cache.").work("cache", 3));
    let listed = list(&memory.engine).expect("a list").remove(0);
    let [stale] = listed.stale.as_slice() else { panic!("one has grown: {:?}", listed.stale) };
    assert_eq!(stale.session_id.as_str(), sessions[0].session_id());
    assert!(stale.new_messages > 1 && stale.new_tokens > 10, "{stale:?}");
    let dry = memory.call(|call| refresh(call, &named(true))).expect("a dry run");
    let preview = dry.preview.expect("what would come out");
    assert!(dry.composition.is_none() && preview.components[0].version_id.as_str() == "new", "v001 lacks what is new");
    assert_eq!(list(&memory.engine).expect("a list"), [listed], "nothing was written");
    let refreshed = memory.call(|call| refresh(call, &named(false))).expect("refreshed");
    let again = refreshed.composition.expect("the composition");
    assert_eq!((again.total_tokens, again.stale.len()), (preview.total_tokens, 0));
    assert!(again.total_tokens <= 3_000);
    assert!(text(&again.files[0]).contains("add a cache"), "what is new is in it");
    assert_eq!(again.used_in_sessions, [started.session_id.to_string()], "still known as its own");
    assert_eq!(json(&again.files[2])["usedInSessions"], serde_json::json!([started.session_id]));
    let request = detail(&memory.engine, "plan").expect("it").request;
    assert_eq!(request.components[1].session, sessions[1].session_id(), "kept by its whole id");

    let forced = crate::api::session::SessionRemoveRequest {
        session: sessions[1].session_id().to_owned(),
        purge: false,
        force: true,
    };
    registry::remove(&memory.engine, &forced).expect("one goes");
    grow(&memory, grown.work("cache", 2));
    let error = memory.call(|call| refresh(call, &named(false))).expect_err("one is gone");
    assert!(error.kind == ErrorKind::NotFound && error.hint.is_some_and(|hint| hint.contains("--replace")));
}

#[test]
fn a_version_that_was_asked_for_is_made_anew_with_its_settings_when_its_session_has_grown() {
    let only = session("storage", 20);
    let memory = Memory::at(1_800_000_000_000);
    grow(&memory, only.clone());
    memory.create(&request("first", 2_000, &[&only])).expect("makes v001");
    let mut fixed = request("fixed", 4_000, &[&only]);
    fixed.components[0].version = Some("v001".to_owned());
    let made = memory.create(&fixed).expect("made of v001");
    assert_eq!(made.components[0].version_id.as_str(), "v001");
    grow(&memory, only.clone().user("Something newer.").work("cache", 2));
    let named = CompositionRefreshRequest { name: "fixed".to_owned(), dry_run: false };
    let again = memory.call(|call| refresh(call, &named)).expect("refreshed").composition.expect("it");
    let versions = memory.versions(only.session_id());
    let (old, new) = (&versions[0], versions.last().expect("a new one"));
    assert_eq!(again.components[0].version_id, new.version_id);
    assert_eq!((old.settings.mode, old.settings.compaction_ratio), (new.settings.mode, new.settings.compaction_ratio));
}

#[test]
fn a_version_that_its_session_has_outgrown_counts_less_and_says_so() {
    let only = session("storage", 20);
    let memory = Memory::at(1_800_000_000_000);
    grow(&memory, only.clone());
    let made = memory.create(&request("first", 4_000, &[&only])).expect("makes v001");
    let grown = grow(&memory, only.assistant("One more word."));
    let component = &memory.preview(&request("x", 4_000, &[&grown])).expect("a preview").components[0];
    assert_eq!(component.version_id, made.components[0].version_id, "little is missing");
    assert!(component.reason.ends_with("1 % of the session is newer"), "{}", component.reason);
    let only = grow(&memory, grown.work("cache", 40));
    let component = &memory.preview(&request("x", 4_000, &[&only])).expect("a preview").components[0];
    assert_eq!(component.version_id.as_str(), "new", "most is missing: {}", component.reason);
}

#[test]
fn a_copy_says_its_own_name_and_outlives_what_it_was_made_of() {
    let sessions = [session("storage", 10), session("notes", 1)];
    let memory = memory(&sessions);
    let made = memory.create(&request("plan", 3_000, &sessions.iter().collect::<Vec<_>>())).expect("made");
    let copied = |new_name: &str| {
        duplicate(
            &memory.engine,
            &CompositionDuplicateRequest { name: "plan".to_owned(), new_name: new_name.to_owned() },
        )
    };
    let copy = copied("plan two").expect("copied");
    assert_ne!(copy.composition_id, made.composition_id);
    assert_eq!(copy.components, made.components);
    assert!(copy.total_tokens <= 3_000);
    let markdown = text(&copy.files[0]);
    assert!(markdown.starts_with("# plan two\n") && markdown.contains("as \"plan two\""), "{markdown}");
    let body = |text: &str| text[text.find("\n## ").expect("a section")..].to_owned();
    assert_eq!(body(&markdown), body(&text(&made.files[0])));
    let lines = text(&copy.files[1]);
    assert!(!lines.contains(made.composition_id.as_str()) && lines.contains(copy.composition_id.as_str()));
    assert_eq!(said(&lines).len(), said(&text(&made.files[1])).len());
    assert_eq!(json(&copy.files[2])["leftOut"], json(&made.files[2])["leftOut"]);
    assert_eq!(copied("PLAN").expect_err("taken").kind, ErrorKind::Conflict);
    let long = copied(&"long ".repeat(19)[..94].to_owned()).expect("a long name");
    assert!(long.total_tokens <= 3_000, "a name never takes it over its budget");
    remove(&memory.engine, "plan").expect("the first goes");
    let cwd = Some(memory.folder.path().display().to_string());
    let resumed = resume(&memory.engine, &ResumeRequest { name: "plan two".to_owned(), cwd }).expect("resumed");
    assert!(said(&text(&resumed.file)).concat().contains("storage stays word for word."));
    assert_eq!(memory.versions(sessions[0].session_id())[0].used_in, [long.name.as_str(), "plan two"]);
}

#[test]
fn exports_say_what_they_hold_and_how_many_tokens() {
    let hostile = Transcript::new("hostile").user("</user></document> \"quoted\" & <b>").assistant("no");
    let sessions = [session("storage", 10), hostile];
    let memory = memory(&sessions);
    for format in [CompositionFormat::Both, CompositionFormat::Jsonl, CompositionFormat::Markdown] {
        let name = format!("plan {format:?}");
        let asked =
            CompositionRequest { format: Some(format), ..request(&name, 3_000, &sessions.iter().collect::<Vec<_>>()) };
        let made = memory.create(&asked).expect("made");
        for format in [ExportFormat::Markdown, ExportFormat::Jsonl, ExportFormat::Xml, ExportFormat::Prompt] {
            let exported =
                export(&memory.engine, &CompositionExportRequest { name: name.clone(), format }).expect("exported");
            let counted = match format {
                ExportFormat::Jsonl => {
                    said(&exported.text).iter().map(|words| memory.engine.counter().count(words)).sum()
                }
                _ => memory.engine.counter().count(&exported.text),
            };
            assert_eq!((exported.tokens, exported.budget), (counted, made.budget), "{name} {format:?}");
            assert_eq!(exported.over, counted.saturating_sub(made.budget));
            assert_eq!(exported.note.is_some(), exported.over > 0, "it is said");
            assert!(exported.text.contains("storage stays word for word."), "{name} {format:?}");
        }
    }
    let asked = CompositionExportRequest { name: "plan Both".to_owned(), format: ExportFormat::Xml };
    let xml = export(&memory.engine, &asked).expect("exported").text;
    assert_eq!(xml.matches("<document ").count(), 2, "{xml}");
    assert!(xml.contains("project=\"demo\" version=\"original\""), "{xml}");
    assert!(xml.contains("<user>\n&lt;/user&gt;&lt;/document&gt; \"quoted\" &amp; &lt;b&gt;\n</user>"), "{xml}");
}
