//! Versions whose parts a language model made: it is asked about what is new, and about nothing twice.

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};

use crate::api::compression::{CompressionCreated, CompressionRequest, Lineage, PartRequest};
use crate::api::version::{VerifiedBy, VersionVerifyRequest};
use crate::engine::{Call, Cancel, Engine, EngineOptions};
use crate::error::{ErrorKind, Result};
use crate::keepit::Weight;
use crate::language_model::{Answer, Endpoint, LanguageModels, Question, Readiness};
use crate::registry;
use crate::testing::Transcript;
use crate::time::Time;
use crate::versions;

/// Counts what it is asked, and says something of each message.
#[derive(Default)]
struct Counting {
    asked: Mutex<u64>,
    /// The memory, and the weight that its marks get while it answers.
    meanwhile: OnceLock<(Engine, f64)>,
}

impl LanguageModels for Counting {
    fn readiness(&self, _endpoint: &Endpoint) -> Readiness {
        Readiness { has_key: true, problem: None, hint: None }
    }

    fn ask(
        &self,
        _endpoint: &Endpoint,
        question: &Question<'_>,
        _cancel: &Cancel,
        _lost: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Answer> {
        *self.asked.lock().expect("asked") += 1;
        if let Some((engine, weight)) = self.meanwhile.get() {
            let sessions = engine.db().read(|rows| rows.sessions_by_prefix("", 1))?;
            for keepit in engine.db().read(|rows| rows.keepits(&sessions[0]))? {
                registry::weigh_keepit(engine, &keepit.marker_id, Weight::of(*weight)?)?;
            }
        }
        let record = question.prompt.split("<record>").nth(1).unwrap_or_default();
        let numbers = record.lines().filter_map(|line| line.strip_prefix('[')?.split(']').next());
        let text = numbers.map(|number| format!("- said in message {number} [{number}]\n")).collect();
        Ok(Answer { text, input_tokens: 1000, output_tokens: 100, cost: None, cut: false })
    }

    fn set_key(&self, _endpoint: &Endpoint, _key: &str) -> Result<()> {
        Ok(())
    }

    fn remove_key(&self, _endpoint: &Endpoint) -> Result<bool> {
        Ok(false)
    }
}

struct Memory {
    folder: tempfile::TempDir,
    engine: Engine,
    models: Arc<Counting>,
    transcript: Transcript,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let models = Arc::new(Counting::default());
        let engine = Engine::open(EngineOptions {
            home: folder.path().join("memory"),
            claude_home: folder.path().join("claude"),
            clock: Arc::new(|| Time::from_millis(1_768_900_000_000)),
            sink: Arc::new(|_| {}),
            export_folders: Vec::new(),
            models: models.clone(),
        })
        .expect("a memory opens");
        let transcript =
            Transcript::new("asked").work("the login", 40).assistant("##keepit0.90## Tokens expire after one hour.");
        let mut memory = Self { folder, engine, models, transcript };
        memory.set("engines.openai.model", json!("small"));
        memory.grow(|transcript| transcript);
        memory
    }

    fn grow(&mut self, more: impl FnOnce(Transcript) -> Transcript) {
        self.transcript = more(self.transcript.clone());
        let path = self.folder.path().join(format!("{}.jsonl", self.transcript.session_id()));
        fs_err::write(&path, self.transcript.bytes()).expect("written");
        let request = crate::api::ingest::IngestRequest {
            paths: vec![path.display().to_string()],
            ..crate::api::ingest::IngestRequest::default()
        };
        self.call(|call| registry::ingest(call, &request)).expect("ingest works");
    }

    fn set(&self, key: &str, value: Value) {
        let request = crate::api::config::ConfigSetRequest { key: key.to_owned(), value };
        self.call(|call| crate::api::config::set(call, request)).expect("a setting");
    }

    fn call<T>(&self, work: impl FnOnce(&Call<'_>) -> T) -> T {
        work(&Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() })
    }

    fn request(&self, engine: &str) -> CompressionRequest {
        let settings = json!({"mode": "uniform", "compaction_ratio": 5, "engine": engine});
        CompressionRequest {
            session: self.transcript.session_id().to_owned(),
            from: None,
            settings: serde_json::from_value(settings).expect("settings"),
            full: false,
            part: None,
        }
    }

    fn try_create(&self, request: &CompressionRequest) -> Result<CompressionCreated> {
        self.call(|call| versions::create(call, request))
    }

    fn create(&self, engine: &str) -> CompressionCreated {
        self.try_create(&self.request(engine)).expect("a version")
    }

    fn asked(&self) -> u64 {
        *self.models.asked.lock().expect("asked")
    }
}

#[test]
fn a_model_is_asked_about_what_is_new_and_what_it_cost_before_is_still_told() {
    let mut memory = Memory::new();
    let first = memory.create("openai").version.model_run.expect("how it was made");
    assert!(first.calls > 0 && first.calls == memory.asked(), "{first:?}");
    memory.grow(|transcript| transcript.work("the search", 30));
    let version = memory.create("openai").version;
    assert_eq!((version.lineage, version.parts.len()), (Lineage::Extended, 2));
    let run = version.model_run.expect("how both parts were made");
    assert_eq!(run.calls, memory.asked(), "of the part that was taken over too");
    assert_eq!(run.input_tokens, 1000 * memory.asked());

    let before = memory.asked();
    let error = memory.try_create(&memory.request("openai")).expect_err("nothing is new");
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.hint.is_some_and(|hint| hint.contains("--full")), "what else can be done is said");
    assert_eq!(memory.asked(), before, "nothing is paid for again");
    let full = CompressionRequest { full: true, ..memory.request("openai") };
    assert_eq!(memory.try_create(&full).expect("a version").version.parts.len(), 1);
}

#[test]
fn parts_of_another_model_are_not_joined_with_those_of_the_one_that_is_set_now() {
    let mut memory = Memory::new();
    memory.create("openai");
    memory.grow(|transcript| transcript.work("the search", 30));
    memory.set("engines.openai.model", json!("large"));
    let created = memory.create("openai");
    assert_eq!(created.version.parts.len(), 1, "all of it by the one model");
    assert_eq!(created.preview.anew, ["v001 was made by the model small"]);
    memory.grow(|transcript| transcript.work("the menu", 30));
    memory.set("engines.openai.baseUrl", json!("http://127.0.0.1:9/v1"));
    let created = memory.create("openai");
    assert!(created.preview.anew[0].starts_with("v002 was made by a model at http"), "{:?}", created.preview.anew);
}

#[test]
fn to_verify_asks_no_model() {
    let mut memory = Memory::new();
    memory.create("extractive");
    memory.grow(|transcript| transcript.work("the search", 30));
    memory.create("extractive");
    let part = PartRequest { version: "v002".into(), number: 2 };
    let request = CompressionRequest { part: Some(part), ..memory.request("openai") };
    let version = memory.try_create(&request).expect("a version").version;
    assert_eq!(version.engine, "extractive", "as a whole");
    let before = memory.asked();
    assert!(before > 0, "one part is a model's");
    let request = VersionVerifyRequest { session: version.session_id.to_string(), version: version.version_id };
    let verified = memory.call(|call| versions::verify(call, &request)).expect("verified");
    assert_eq!((verified.by, verified.identical), (VerifiedBy::Input, true), "{verified:?}");
    assert_eq!(memory.asked(), before);
}

#[test]
fn what_is_marked_while_a_model_answers_is_not_taken_for_what_it_was_told() {
    let mut memory = Memory::new();
    assert!(memory.models.meanwhile.set((memory.engine.clone(), 0.01)).is_ok());
    memory.create("openai");
    assert!(memory.asked() > 0);
    memory.grow(|transcript| transcript.work("the search", 30));
    let anew = memory.create("openai").preview.anew;
    assert!(anew.iter().any(|why| why.starts_with("marks changed in messages 1–")), "{anew:?}");
}
