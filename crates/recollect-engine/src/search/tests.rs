//! The index on a whole memory: what is found, what is no longer, and how it mends itself.

use serde_json::json;

use super::*;
use crate::api;
use crate::api::ingest::IngestRequest;
use crate::api::keepit::{KeepitAddRequest, KeepitRemoveRequest};
use crate::api::search::SearchHit;
use crate::api::session::{SessionRemoveRequest, SessionUpdateRequest};
use crate::engine::EngineOptions;
use crate::testing::Transcript;
use crate::time::Time;

struct Memory {
    folder: tempfile::TempDir,
    engine: Engine,
}

impl Memory {
    fn new(transcripts: &[Transcript]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = open(folder.path());
        let memory = Self { folder, engine };
        memory.take(transcripts);
        memory
    }

    fn take(&self, transcripts: &[Transcript]) {
        for transcript in transcripts {
            let path = transcript.write(&self.folder.path().join("client")).expect("a transcript");
            let beside = path.with_extension("");
            let beside = beside.is_dir().then_some(beside);
            let paths = std::iter::once(path).chain(beside).map(|path| path.display().to_string()).collect();
            self.call(|call| api::ingest::ingest(call, IngestRequest { paths, ..IngestRequest::default() }))
                .expect("a transcript that can be read");
        }
    }

    fn call<T>(&self, work: impl FnOnce(&Call<'_>) -> Result<T>) -> Result<T> {
        work(&Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() })
    }

    fn search(&self, query: &str) -> SearchAnswer {
        self.ask(SearchRequest { query: query.to_owned(), ..SearchRequest::default() })
    }

    fn ask(&self, request: SearchRequest) -> SearchAnswer {
        let answer = self.call(|call| query(call, &request)).expect("an answer");
        assert!(!answer.notes.iter().any(|note| note.contains("newest")), "{:?}", answer.notes);
        answer
    }

    /// Snippets of the hits, in order.
    fn found(&self, query: &str) -> Vec<String> {
        snippets(&self.search(query).hits)
    }
}

fn snippets(hits: &[SearchHit]) -> Vec<String> {
    hits.iter().map(|hit| hit.snippet.clone()).collect()
}

fn open(folder: &std::path::Path) -> Engine {
    Engine::open(EngineOptions {
        home: folder.join("memory"),
        claude_home: folder.join("client"),
        clock: std::sync::Arc::new(|| Time::from_millis(1_769_000_000_000)),
        sink: std::sync::Arc::new(|_| {}),
        export_folders: Vec::new(),
        models: std::sync::Arc::new(crate::language_model::NoModels),
    })
    .expect("a memory")
}

fn login() -> Transcript {
    Transcript::new("login")
        .branch("fix/login")
        .user("Why does the login fail since Monday?")
        .thinking("Perhaps the session cookie expired.")
        .tool("Read", json!({"file_path": "/home/dev/demo/src/auth/token_store.rs"}), "pub fn parseConfigFile() {}")
        .assistant(
            "Commit 3f2a9c1d4e names it: refreshToken is called twice. ##keepit0.80## Tokens expire after an hour.",
        )
        .title("Login fails since Monday")
}

fn shop() -> Transcript {
    Transcript::new("shop").cwd("/home/dev/shop").days_later(40).user("Add a basket to the shop.").assistant("Added.")
}

#[test]
fn everything_that_was_said_thought_called_and_returned_is_found() {
    let memory = Memory::new(&[login(), shop()]);
    let kinds = |query: &str| memory.search(query).hits.first().map(|hit| hit.kind);
    for (query, kind) in [
        ("kind:text login fails", Kind::Text),
        ("cookie", Kind::Thinking),
        ("kind:call token_store", Kind::ToolInput),
        ("parseConfigFile", Kind::ToolOutput),
        ("kind:session monday", Kind::Session),
        ("tokens expire hour", Kind::Keepit),
    ] {
        assert_eq!(kinds(query), Some(kind), "{query}");
    }
}

#[test]
fn identifiers_are_found_whole_by_parts_and_by_their_beginnings() {
    let memory = Memory::new(&[login()]);
    for query in [
        "parse config file",
        "parseconfig*",
        "config",
        "refresh_token",
        "refresh token",
        "3f2a9c1",
        "3f2a9c1d4e",
        "token_store.rs",
        "src/auth/token_store.rs",
        "\"parse config\"",
        "parseConfgFile",
    ] {
        assert!(!memory.found(query).is_empty(), "{query}");
    }
}

#[test]
fn no_word_is_required_but_what_is_quoted_or_excluded() {
    let memory = Memory::new(&[login(), shop()]);
    assert!(memory.found("where do I put the basket in this?")[0].contains("basket"));
    assert_eq!(memory.found("\"a basket\" login kind:text").len(), 1, "only what holds the phrase");
    assert!(memory.found("\"basket a\"").is_empty(), "words of a phrase stand in their order");
    assert!(memory.found("basket -shop").is_empty());
    assert!(memory.found("-basket -login kind:text").iter().all(|text| !text.contains("basket")));
    let answer = memory.search("basket login");
    assert!(!answer.every_word && answer.total >= 2, "no passage has both: {answer:?}");
}

#[test]
fn a_misspelt_word_finds_what_was_meant_and_says_so() {
    let memory = Memory::new(&[shop()]);
    let answer = memory.search("baskte");
    assert!(snippets(&answer.hits)[0].contains("basket"));
    assert_eq!((answer.corrections[0].typed.as_str(), answer.corrections[0].words[0].as_str()), ("baskte", "basket"));
}

#[test]
fn a_word_that_is_being_typed_is_the_beginning_of_others() {
    let memory = Memory::new(&[shop()]);
    let ask = |query: &str, typing| memory.ask(SearchRequest { query: query.into(), typing, ..Default::default() });
    assert!(ask("bas", true).hits[0].snippet.contains("basket"));
    assert_eq!(ask("bas", true).hits[0].highlights, [(6, 12)], "the word that begins so is what was looked for");
    assert!(ask("bas", false).hits.is_empty());
}

#[test]
fn filters_narrow_by_project_branch_role_file_date_and_weight() {
    let memory = Memory::new(&[login(), shop()]);
    let count = |query: &str| memory.search(query).hits.len();
    let all = memory.ask(SearchRequest { query: "since:2000".into(), ..Default::default() }).hits.len();
    assert!(all >= 8, "filters alone show all that they leave");
    for (query, expected) in [
        ("project:shop basket kind:text", 1),
        ("project:/home/dev/demo basket", 0),
        ("branch:fix/* basket", 0),
        ("branch:fix/login monday kind:session", 1),
        ("role:user login", 1),
        ("-role:user basket -kind:session", 0),
        ("file:token_store.rs", 2),
        ("file:auth/token_store.rs parse", 1),
        ("file:other.rs", 0),
        ("until:2026-02-01 basket", 0),
        ("since:2026-02-01 basket kind:text", 1),
        ("keepit:0.8", 1),
        ("keepit:0.85", 0),
        ("session:00000000", 0),
        ("topic:shop basket kind:text", 1),
        ("-topic:shop basket kind:text", 0),
        ("topic:\"session cookie\" login", 0),
        ("topic:zebra", 0),
    ] {
        assert_eq!(count(query), expected, "{query}");
    }
    memory.take(&[Transcript::new("cook")
        .user("Bake bread.")
        .user("What of the bread?")
        .user("Cut the bread.")
        .title("Food")]);
    assert_eq!(count("topic:bread kind:text"), 3, "what is spoken of several times is a topic");
    assert_eq!(count("topic:basket bread"), 0, "other sessions are about other things");
    let wrong = memory.call(|call| query(call, &SearchRequest { since: Some("soon".into()), ..Default::default() }));
    assert_eq!(wrong.expect_err("an option that means nothing").kind, ErrorKind::Usage);
    assert!(
        memory.search("since:soon basket").notes[0].contains("no date"),
        "in the query it is said, and the rest is done"
    );
}

#[test]
fn a_grown_session_costs_its_new_messages_and_a_changed_one_loses_the_old() {
    let memory = Memory::new(&[shop()]);
    memory.take(&[shop().user("And a checkout.")]);
    assert_eq!(memory.found("checkout").len(), 1);
    assert_eq!(memory.found("basket kind:text").len(), 1, "what was there is there once");
    let other =
        Transcript::new("shop").cwd("/home/dev/shop").days_later(40).user("Add a till to the shop.").user("Done?");
    memory.take(&[other]);
    assert_eq!(memory.found("till kind:text").len(), 1);
    assert!(
        memory.search("basket").hits.iter().all(|hit| hit.session_id.as_str().len() <= 38),
        "kept as its own session"
    );
}

#[test]
fn titles_keepits_and_removals_are_followed() {
    let memory = Memory::new(&[login()]);
    let session = login().session_id().to_owned();
    memory
        .call(|call| {
            let request =
                SessionUpdateRequest { session: session.clone(), title: Some("The zebra bug".into()), distance: None };
            api::session::update(call, request)
        })
        .expect("a title");
    assert_eq!(memory.found("zebra"), ["The zebra bug"]);
    assert!(memory.found("kind:session monday").is_empty(), "the old title is gone");
    let message = memory.search("cookie").hits[0].message_uuid.clone().expect("a message");
    let added = memory
        .call(|call| {
            let request = KeepitAddRequest { session: session.clone(), message, start: 0, end: 7, weight: 0.9 };
            api::keepit::add(call, request)
        })
        .expect("a keepit");
    assert_eq!(memory.found("kind:keepit perhaps"), ["Perhaps"]);
    memory
        .call(|call| api::keepit::remove(call, KeepitRemoveRequest { marker: added.marker_id.clone() }))
        .expect("removed");
    assert!(memory.found("kind:keepit perhaps").is_empty());
}

#[test]
fn what_is_purged_is_in_no_file_of_the_index() {
    let memory = Memory::new(&[login(), shop()]);
    assert_eq!(memory.found("cookie").len(), 1);
    let request = SessionRemoveRequest { session: login().session_id().to_owned(), purge: true, force: false };
    memory.call(|call| api::session::remove(call, request)).expect("removed");
    assert!(memory.found("cookie").is_empty() && memory.found("kind:session monday").is_empty());
    assert!(!memory.found("basket").is_empty(), "the others are still found");
    let folder = memory.engine.home().search();
    for entry in walkdir::WalkDir::new(folder).into_iter().filter_map(std::result::Result::ok) {
        let Ok(bytes) = fs_err::read(entry.path()) else { continue };
        let is_in = bytes.windows(6).any(|window| window == b"cookie");
        assert!(!is_in, "{} still holds a word that was purged", entry.path().display());
    }
}

#[test]
fn a_lost_a_damaged_and_an_old_index_are_made_anew() {
    let memory = Memory::new(&[login(), shop()]);
    let folder = memory.engine.home().search();
    type Damage = fn(&std::path::Path);
    let damage: [(&str, Damage); 3] = [
        ("lost", |folder| fs_err::remove_dir_all(folder).expect("a folder")),
        ("cut", |folder| {
            for entry in walkdir::WalkDir::new(folder).into_iter().filter_map(std::result::Result::ok) {
                if entry.file_type().is_file() && entry.path().extension().is_some() {
                    fs_err::write(entry.path(), b"x").expect("damaged on purpose");
                }
            }
        }),
        ("half", |folder| {
            for entry in walkdir::WalkDir::new(folder).into_iter().filter_map(std::result::Result::ok) {
                if entry.path().extension().is_some_and(|extension| extension == "idx" || extension == "store") {
                    fs_err::remove_file(entry.path()).expect("damaged on purpose");
                }
            }
        }),
    ];
    for (how, damage) in damage {
        damage(&folder);
        let engine = open(memory.folder.path());
        let again = Memory { folder: tempfile::tempdir().expect("a folder"), engine };
        assert!(!again.found("basket").is_empty(), "{how}: the index was not made anew");
        assert_eq!(again.found("cookie").len(), 1, "{how}: the index was made anew in part");
    }
}

#[test]
fn damage_is_found_before_a_search_meets_it_and_files_are_their_owners_only() {
    let memory = Memory::new(&[login()]);
    assert_eq!(faults(&memory.engine).expect("a check"), Vec::<String>::new());
    let mut store = None;
    for entry in walkdir::WalkDir::new(memory.engine.home().search()).into_iter().filter_map(std::result::Result::ok) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = entry.metadata().expect("a file").permissions().mode();
            assert_eq!(mode & 0o077, 0, "others have rights on {}", entry.path().display());
        }
        if entry.path().extension().is_some_and(|extension| extension == "store") {
            store = Some(entry.into_path());
        }
    }
    let store = store.expect("the file of texts");
    let mut bytes = fs_err::read(&store).expect("its bytes");
    bytes[20] ^= 0x40;
    fs_err::write(&store, bytes).expect("damaged on purpose");
    let found = faults(&memory.engine).expect("a check");
    assert!(found[0].contains(".store") && found[0].contains("damaged"), "{found:?}");
    memory.call(rebuild).expect("made anew");
    assert_eq!(faults(&memory.engine).expect("a check"), Vec::<String>::new());
    assert_eq!(memory.found("cookie").len(), 1);
}

#[test]
fn an_index_that_is_older_than_the_database_says_is_not_believed() {
    let memory = Memory::new(&[shop()]);
    memory.engine.db().write(|rows| store::note_commit(rows, 1000)).expect("noted");
    memory.take(&[login()]);
    assert_eq!((memory.found("cookie").len(), memory.found("basket kind:text").len()), (1, 1));
}

#[test]
fn while_another_program_writes_the_index_searches_go_on() {
    let memory = Memory::new(&[shop()]);
    let lock = store::lock(&memory.engine).expect("a lock").expect("nobody else has it");
    memory.take(&[login()]);
    assert!(memory.found("cookie").is_empty(), "left to who has the lock");
    assert!(!memory.found("basket").is_empty());
    assert!(memory.search("cookie").pending > 0, "and said");
    drop(lock);
    assert_eq!(memory.found("cookie").len(), 1);
}

#[test]
fn neighbours_lift_a_message() {
    let talk = Transcript::new("talk")
        .user("Where did we put the zebra?")
        .assistant("It is in the barn.")
        .user("Unrelated things about the barn and its roof.")
        .assistant("Yes, the roof.");
    let hits = Memory::new(&[talk]).found("zebra barn");
    let place = |text: &str| hits.iter().position(|hit| hit.contains(text)).expect("found");
    assert!(place("in the barn") < place("its roof"), "what stands beside the question comes first: {hits:?}");
}

#[test]
fn copies_of_one_record_are_one_hit() {
    let memory = Memory::new(&[shop()]);
    let copy = String::from_utf8(shop().bytes().to_vec()).expect("text");
    let id = "11111111-0000-4000-8000-000000000001";
    let path = memory.folder.path().join(format!("{id}.jsonl"));
    fs_err::write(&path, copy.replace(shop().session_id(), id)).expect("a file");
    let request = IngestRequest { paths: vec![path.display().to_string()], ..Default::default() };
    memory.call(|call| api::ingest::ingest(call, request)).expect("ingested");
    let hits = memory.search("basket kind:text").hits;
    assert_eq!((hits.len(), hits[0].copies), (1, 1));
}

#[test]
fn a_hit_of_a_sub_agent_leads_to_the_call_that_started_it() {
    let work = Transcript::new("agents").user("Look around.").agent(
        "a1b2c3",
        "Find the token code",
        |agent| agent.assistant("The walrus is in src."),
        "Done.",
    );
    let hits = Memory::new(&[work]).search("walrus").hits;
    assert_eq!((hits[0].agent_id.as_deref(), hits[0].parent_index), (Some("a1b2c3"), Some(1)));
}
