//! Versions on a real memory in a temporary folder, with a fixed clock.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::api::compression::{VersionMessagesRequest, VersionRemoveRequest};
use crate::api::ingest::IngestRequest;
use crate::api::version::VersionDiffRequest;
use crate::engine::{Cancel, EngineOptions};
use crate::error::ErrorKind;
use crate::testing::Transcript;
use crate::time::Time;

mod asked;
mod growth;

struct Memory {
    folder: tempfile::TempDir,
    engine: Engine,
    session: String,
}

fn open(folder: &std::path::Path) -> Engine {
    Engine::open(EngineOptions {
        home: folder.join("memory"),
        claude_home: folder.join("claude"),
        clock: Arc::new(|| Time::from_millis(1_768_900_000_000)),
        sink: Arc::new(|_| {}),
        export_folders: Vec::new(),
        models: Arc::new(crate::language_model::NoModels),
    })
    .expect("a memory opens")
}

impl Memory {
    /// A memory with one session of some work and two marks.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut transcript = Transcript::new("login").user("Fix the login, please. It fails since the last release.");
        for turn in 0..30 {
            transcript = transcript
                .user(&format!("Now look at part {turn} of the login and tell me why it is slow."))
                .tool(
                    "Bash",
                    json!({"command": format!("cargo test part{turn}")}),
                    &"   Compiling something\n".repeat(30),
                )
                .assistant(&format!(
                    "Part {turn} was slow because it read file{turn}.toml each time. I cached it in cache{turn}."
                ));
        }
        let transcript = transcript
            .assistant("Done. ##keepit1.00## Tokens expire after one hour.")
            .assistant("And this. ##keepit0.10## The weather was fine.");
        let path = folder.path().join(format!("{}.jsonl", uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, b"login")));
        fs_err::write(&path, transcript.bytes()).expect("written");
        let engine = open(folder.path());
        let memory = Self { folder, engine, session: "latest".to_owned() };
        let request = IngestRequest { paths: vec![path.display().to_string()], ..IngestRequest::default() };
        let report = memory.call(|call| registry::ingest(call, &request)).expect("ingest works");
        Self { session: report.sessions[0].session_id.to_string(), ..memory }
    }

    fn call<T>(&self, work: impl FnOnce(&Call<'_>) -> T) -> T {
        work(&Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() })
    }

    fn request(&self, settings: Value, from: Option<&str>) -> CompressionRequest {
        CompressionRequest {
            session: self.session.clone(),
            from: from.map(VersionId::from),
            settings: serde_json::from_value(settings).expect("settings"),
            full: false,
            part: None,
        }
    }

    fn create(&self, settings: Value, from: Option<&str>) -> CompressionCreated {
        self.call(|call| create(call, &self.request(settings, from))).expect("a version")
    }

    fn id(&self) -> SessionId {
        self.session.as_str().into()
    }

    fn summaries(&self) -> PathBuf {
        let row = self.engine.db().read(|rows| rows.session(&self.id())).expect("read").expect("a session");
        self.engine.home().summaries(&row.project_id, &self.id())
    }

    fn records(&self) -> Value {
        let bytes = fs_err::read(self.summaries().join("versions.json")).expect("versions.json");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn remove(&self, version: &str, force: bool) -> Result<VersionList> {
        let request = VersionRemoveRequest { session: self.session.clone(), versions: vec![version.into()], force };
        remove(&self.engine, &request)
    }
}

fn uniform(ratio: u32) -> Value {
    json!({"mode": "uniform", "compaction_ratio": ratio})
}

#[test]
fn a_version_has_its_files_its_row_and_its_record() {
    let memory = Memory::new();
    let created = memory.create(uniform(5), None);
    let version = &created.version;
    assert_eq!(version.version_id.as_str(), "v001");
    assert_eq!(version.file, format!("v001_uniform-light_{}k", version.output_tokens / 1000));
    assert!(version.paths.iter().all(|path| std::path::Path::new(path).is_file()), "{:?}", version.paths);
    let markdown = fs_err::read_to_string(&version.paths[0]).expect("Markdown");
    assert_eq!(memory.engine.counter().count(&markdown).max(version.output_tokens), version.output_tokens);
    assert!(markdown.contains("Tokens expire after one hour."), "{markdown}");
    let records = memory.records();
    assert_eq!(records["sessionId"], json!(memory.session));
    let record = &records["versions"][0];
    assert_eq!(record["versionId"], "v001");
    assert_eq!(record["settings"]["compactionRatio"], json!(5.0));
    assert_eq!(record["settings"]["keepitMode"], "decay");
    assert_eq!(record["settings"]["skipFirstMessages"], 0);
    assert_eq!(record["keepitStats"]["preserved"], 1);
    assert_eq!(record["keepitStats"]["weights"], json!({"0.10": 0, "1.00": 1}));
    let page = messages(
        &memory.engine,
        &VersionMessagesRequest {
            session: memory.session.clone(),
            version: "v001".into(),
            offset: Some(1),
            limit: Some(2),
        },
    )
    .expect("messages");
    assert_eq!((page.messages.len(), page.total), (2, version.output_messages));
}

#[test]
fn a_preview_gives_the_same_and_writes_nothing() {
    let memory = Memory::new();
    let preview = memory.call(|call| preview(call, &memory.request(uniform(5), None))).expect("a preview");
    assert!(!memory.summaries().exists(), "nothing was written");
    let created = memory.create(uniform(5), None);
    assert_eq!(preview.output_tokens, created.version.output_tokens);
    assert_eq!(preview.left_out, created.preview.left_out);
}

#[test]
fn made_again_a_version_is_the_same_byte_for_byte() {
    let memory = Memory::new();
    let tiered = json!({"mode": "tiered", "tier_preset": "gentle"});
    let (first, second) = (memory.create(tiered.clone(), None).version, memory.create(tiered, None).version);
    assert_ne!(first.version_id, second.version_id);
    for (left, right) in first.paths.iter().zip(&second.paths) {
        assert_eq!(fs_err::read(left).expect("bytes"), fs_err::read(right).expect("bytes"), "{left}");
    }
    assert!(first.file.starts_with("v001_tiered-gentle_"), "{}", first.file);
}

#[test]
fn markers_know_in_which_versions_they_survived() {
    let memory = Memory::new();
    memory.create(uniform(5), None);
    let keepits = || memory.engine.db().read(|rows| rows.keepits(&memory.id())).expect("markers");
    let of = |weight: u8| keepits().into_iter().find(|keepit| keepit.weight == weight).expect("the marker");
    assert_eq!(of(100).survived_in, [VersionId::from("v001")]);
    assert_eq!(of(10).summarized_in, [VersionId::from("v001")]);
    memory.remove("v001", false).expect("removed");
    assert!(of(100).survived_in.is_empty() && of(10).summarized_in.is_empty(), "they forget versions that are gone");
}

#[test]
fn a_version_of_a_version_leads_back_to_the_original_messages() {
    let memory = Memory::new();
    memory.create(uniform(3), None);
    let second = memory.create(uniform(3), Some("v001")).version;
    assert_eq!(second.source_version, Some("v001".into()));
    assert!(second.output_tokens * 3 <= second.original_tokens);
    let request =
        VersionMessagesRequest { session: memory.session.clone(), version: "v002".into(), offset: None, limit: None };
    let page = messages(&memory.engine, &request).expect("messages");
    let original = registry::load(&memory.engine, &memory.id()).expect("the session");
    for message in &page.messages {
        for (uuid, index) in message.sources.iter().zip(&message.source_indexes) {
            let source =
                original.messages.iter().find(|source| source.index == *index).expect("a message of the session");
            assert_eq!(source.uuid, *uuid);
        }
    }
    assert!(page.messages.iter().any(|message| message.text.contains("Tokens expire after one hour.")));
}

#[test]
fn numbers_are_never_given_twice_and_files_go_with_their_row() {
    let memory = Memory::new();
    let first = memory.create(uniform(5), None).version;
    assert_eq!(memory.remove("v001", false).expect("removed").versions, []);
    assert!(!std::path::Path::new(&first.paths[0]).exists());
    assert_eq!(memory.records()["versions"], json!([]));
    assert_eq!(memory.create(uniform(5), None).version.version_id.as_str(), "v002");
    assert_eq!(memory.remove("v009", false).expect_err("unknown").kind, ErrorKind::NotFound);
}

#[test]
fn what_an_interruption_left_is_mended() {
    let memory = Memory::new();
    memory.create(uniform(5), None);
    let folder = memory.summaries();
    fs_err::write(folder.join("v007_uniform-light_1k.md"), "an orphan").expect("written");
    fs_err::write(folder.join("notes.md"), "the user's own").expect("written");
    fs_err::remove_file(folder.join("versions.json")).expect("removed");
    let list = list(&memory.engine, &memory.id()).expect("a list");
    assert_eq!(list.versions.len(), 1);
    assert!(!folder.join("v007_uniform-light_1k.md").exists(), "files without a row are deleted");
    assert!(folder.join("notes.md").exists(), "files that are not ours stay");
    assert_eq!(memory.records()["versions"][0]["versionId"], "v001", "the record is written again");
}

#[test]
fn a_lost_database_gets_its_versions_back_from_their_records() {
    let memory = Memory::new();
    let version = memory.create(uniform(5), None).version;
    memory.engine.db().write(|rows| rows.drop_version(&memory.id(), &"v001".into())).expect("lost");
    let found = list(&memory.engine, &memory.id()).expect("a list").versions;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0], version);
    assert_eq!(memory.create(uniform(5), None).version.version_id.as_str(), "v002", "its number counts as given");
}

#[test]
fn a_version_is_compared_with_the_original() {
    let memory = Memory::new();
    memory.create(uniform(5), None);
    let request = VersionDiffRequest { session: memory.session.clone(), left: "original".into(), right: "v001".into() };
    let compared = diff(&memory.engine, &request).expect("a comparison");
    assert!(compared.removed > 10, "most lines of the original are gone");
    assert!(compared.left_tokens > 4 * compared.right_tokens);
    let unknown = VersionDiffRequest { right: "v003".into(), ..request };
    assert_eq!(diff(&memory.engine, &unknown).expect_err("unknown").kind, ErrorKind::NotFound);
}

#[test]
fn a_damaged_version_says_what_to_do() {
    let memory = Memory::new();
    let version = memory.create(uniform(5), None).version;
    fs_err::write(&version.paths[1], "{\"torn").expect("written");
    let request =
        VersionMessagesRequest { session: memory.session.clone(), version: "v001".into(), offset: None, limit: None };
    let error = messages(&memory.engine, &request).expect_err("damaged");
    assert!(error.message.contains("damaged") && error.hint.is_some(), "{error:?}");
    assert!(memory.folder.path().exists());
}
