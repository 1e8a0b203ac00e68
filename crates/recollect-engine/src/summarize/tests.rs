//! Compressions by a model that answers from a script: on a real memory, with a fixed clock, without a network.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::Account;
use crate::api::compression::{
    CompressionCreated, CompressionRequest, CompressionSettings, VersionMessage, VersionMessageKind,
    VersionMessagesRequest, create,
};
use crate::api::engine::{EngineListRequest, estimate, list};
use crate::engine::{Call, Cancel, Engine, EngineOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::language_model::{Answer, Endpoint, LanguageModels, Question, Readiness};
use crate::testing::Transcript;
use crate::time::Time;

/// At the end of an answer that was cut off there.
const CUT: &str = "✂";

type Script = Box<dyn Fn(usize, &str, &Cancel) -> Result<String> + Send + Sync>;

/// A model whose answers are a function of what it is asked.
struct Scripted {
    asked: Mutex<Vec<String>>,
    number: AtomicUsize,
    script: Script,
    /// Attempts that break off before the first answer.
    broken: AtomicUsize,
}

impl LanguageModels for Scripted {
    fn readiness(&self, _endpoint: &Endpoint) -> Readiness {
        Readiness { has_key: true, problem: None, hint: None }
    }

    fn ask(
        &self,
        _endpoint: &Endpoint,
        question: &Question<'_>,
        cancel: &Cancel,
        lost: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Answer> {
        self.asked.lock().expect("asked").push(question.prompt.to_owned());
        for _ in 0..self.broken.swap(0, Ordering::SeqCst) {
            lost()?;
        }
        let text = (self.script)(self.number.fetch_add(1, Ordering::SeqCst), question.prompt, cancel)?;
        let whole = text.strip_suffix(CUT);
        let cut = whole.is_some();
        let text = whole.unwrap_or(&text).to_owned();
        Ok(Answer { text, input_tokens: 1000, output_tokens: 100, cost: None, cut })
    }

    fn set_key(&self, _endpoint: &Endpoint, _key: &str) -> Result<()> {
        Ok(())
    }

    fn remove_key(&self, _endpoint: &Endpoint) -> Result<bool> {
        Ok(false)
    }
}

const PINNED: &str = "Tokens expire after one hour; never store them in plain text.";

/// Put together, so that no file holds what looks like a real secret.
fn secret() -> String {
    ["sk-", "ant-api03-", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"].concat()
}

struct Memory {
    folder: tempfile::TempDir,
    transcript: Transcript,
    engine: Engine,
    session: String,
    models: Arc<Scripted>,
}

impl Memory {
    /// A session of several chunks, with a secret in it and a passage that is pinned.
    fn new(script: impl Fn(usize, &str, &Cancel) -> Result<String> + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let models = Arc::new(Scripted {
            asked: Mutex::default(),
            number: 0.into(),
            script: Box::new(script),
            broken: 0.into(),
        });
        let engine = Engine::open(EngineOptions {
            home: folder.path().join("memory"),
            claude_home: folder.path().join("claude"),
            clock: Arc::new(|| Time::from_millis(1_768_900_000_000)),
            sink: Arc::new(|_| {}),
            export_folders: Vec::new(),
            models: models.clone(),
        })
        .expect("a memory opens");
        let mut transcript = Transcript::new("login").user(&format!("Fix the login. The key is {}.", secret()));
        for turn in 0..12 {
            transcript = transcript.user(&format!("Now look at part {turn}.")).assistant(&format!(
                "Part {turn} was slow. {}",
                format!("It read file{turn}.toml each time, which I measured and cached in cache{turn}. ").repeat(30)
            ));
            if turn == 6 {
                transcript = transcript.assistant(&format!("##keepit1.00## {PINNED}"));
            }
        }
        let session = transcript.session_id().to_owned();
        let memory = Self { folder, transcript, engine, session, models };
        memory.take(&memory.transcript);
        let own = json!([{"id": "small", "contextWindow": 8000, "inputPrice": 1, "outputPrice": 10}]);
        memory.set("models.own", own);
        // In order, so that a script knows what comes when.
        memory.set("engines.parallel", json!(1));
        memory
    }

    fn take(&self, transcript: &Transcript) {
        let path = transcript.write(&self.folder.path().join("claude")).expect("written");
        let request = crate::api::ingest::IngestRequest {
            paths: vec![path.display().to_string()],
            ..crate::api::ingest::IngestRequest::default()
        };
        self.call(&Cancel::default(), |call| crate::registry::ingest(call, &request)).expect("ingest works");
    }

    fn set(&self, key: &str, value: Value) {
        let request = crate::api::config::ConfigSetRequest { key: key.to_owned(), value };
        self.call(&Cancel::default(), |call| crate::api::config::set(call, request)).expect("a setting");
    }

    fn call<T>(&self, cancel: &Cancel, work: impl FnOnce(&Call<'_>) -> T) -> T {
        work(&Call { engine: &self.engine, progress: &|_| {}, cancel })
    }

    fn request(&self, more: Value) -> CompressionRequest {
        let mut settings = json!({"mode": "uniform", "compaction_ratio": 6.0, "engine": "anthropic", "model": "small"});
        for (key, value) in more.as_object().expect("settings") {
            settings[key] = value.clone();
        }
        CompressionRequest {
            session: self.session.clone(),
            from: None,
            settings: serde_json::from_value(settings).expect("settings"),
            full: false,
            part: None,
        }
    }

    fn create(&self, more: Value) -> Result<CompressionCreated> {
        self.call(&Cancel::default(), |call| create(call, self.request(more)))
    }

    fn messages(&self, created: &CompressionCreated) -> Vec<VersionMessage> {
        let request = VersionMessagesRequest {
            session: self.session.clone(),
            version: created.version.version_id.clone(),
            offset: None,
            limit: None,
        };
        self.call(&Cancel::default(), |call| crate::api::compression::messages(call, request)).expect("read").messages
    }

    fn asked(&self) -> Vec<String> {
        self.models.asked.lock().expect("asked").clone()
    }
}

/// A summary as it should be: a line for each message, with its number; each mark on a line of its own.
fn good(_: usize, prompt: &str, _: &Cancel) -> Result<String> {
    let mut answer = String::new();
    for line in record(prompt).lines() {
        if let Some((number, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            answer.push_str(&format!("- said in message {number} [{number}]\n"));
        } else if line.contains("⟦K1⟧") {
            answer.push_str("⟦K1⟧\n");
        }
    }
    Ok(answer)
}

fn record(prompt: &str) -> &str {
    prompt.split("<record>").nth(1).and_then(|rest| rest.split("</record>").next()).unwrap_or_default()
}

#[track_caller]
fn holds_the_pinned_passage(messages: &[VersionMessage]) {
    let kept: Vec<_> = messages.iter().filter(|message| message.kind == VersionMessageKind::Keepit).collect();
    assert_eq!(kept.len(), 1, "once");
    assert_eq!(kept[0].text, PINNED, "word for word");
}

#[test]
fn a_summary_names_the_messages_of_each_line_and_what_it_was_made_with() {
    let memory = Memory::new(good);
    let created = memory.create(json!({})).expect("a version");
    let messages = memory.messages(&created);
    holds_the_pinned_passage(&messages);
    for message in messages.iter().filter(|message| message.kind == VersionMessageKind::Summary) {
        let number: u32 = message.text.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number");
        assert_eq!(message.source_indexes, [number - 1], "{}", message.text);
        assert_eq!(message.sources.len(), 1);
    }
    assert!(created.version.output_tokens <= created.preview.budget, "the budget is hard");
    let run = created.version.model_run.expect("how it was made");
    assert_eq!((run.engine.as_str(), run.model.as_str(), run.prompt_version), ("anthropic", "small", 1));
    assert!(run.calls >= 3 && run.calls == memory.asked().len() as u64, "several chunks: {}", run.calls);
    assert_eq!(run.input_hash.len(), 64);
    let cost = run.cost.expect("a price");
    assert!((cost - run.calls as f64 * 0.002).abs() < 1e-9, "1000 × $1 + 100 × $10 for a million each: {cost}");
}

#[test]
fn secrets_are_not_sent_and_are_counted() {
    let memory = Memory::new(good);
    let created = memory.create(json!({})).expect("a version");
    assert!(memory.asked().iter().all(|prompt| !prompt.contains(&secret())), "it left the machine");
    assert!(memory.asked()[0].contains("[redacted: anthropic key]"), "that there was one is told");
    let run = created.version.model_run.expect("how it was made");
    assert_eq!(
        run.redactions.iter().map(|one| (one.kind.as_str(), one.count)).collect::<Vec<_>>(),
        [("anthropic key", 1)]
    );
}

#[test]
fn marked_passages_survive_whatever_the_model_does_to_them() {
    type Tamper = fn(&str) -> String;
    let tampers: [(&str, Tamper); 4] = [
        ("lost", |answer| answer.replace("⟦K1⟧", "")),
        ("reworded", |answer| answer.replace("⟦K1⟧", "- Tokens last an hour, keep them safe.")),
        ("changed", |answer| answer.replace("⟦K1⟧", "⟦K1: Tokens expire after two hours⟧")),
        ("said twice", |answer| answer.replace("⟦K1⟧", "⟦K1⟧\n⟦K1⟧\n⟦K9⟧")),
    ];
    for (what, tamper) in tampers {
        let memory = Memory::new(move |number, prompt, cancel| Ok(tamper(&good(number, prompt, cancel)?)));
        let created = memory.create(json!({})).expect(what);
        holds_the_pinned_passage(&memory.messages(&created));
        assert_eq!(created.version.keepit_stats.preserved, 1, "{what}");
    }
}

#[test]
fn a_summary_that_is_too_long_is_asked_for_once_more_and_then_trimmed() {
    let memory = Memory::new(|_, prompt, _| {
        let line =
            |(at, number): (usize, &str)| format!("- {} says {} [{number}]\n", at, "many different words ".repeat(20));
        let numbers = record(prompt).lines().filter_map(|line| line.strip_prefix('[')?.split(']').next());
        Ok(numbers.enumerate().map(line).collect::<String>().repeat(4))
    });
    let created = memory.create(json!({})).expect("a version");
    let run = created.version.model_run.clone().expect("how it was made");
    let again = memory.asked().iter().filter(|prompt| prompt.contains("Write it again, shorter")).count() as u64;
    assert_eq!(run.calls, again * 2, "each chunk once more, not oftener");
    assert!(run.trimmed >= again, "the built-in engine trimmed them");
    assert!(created.version.output_tokens <= created.preview.budget, "the budget is hard");
    holds_the_pinned_passage(&memory.messages(&created));
}

#[test]
fn what_cannot_be_read_is_replaced_by_what_the_built_in_engine_keeps() {
    let memory = Memory::new(|_, _, _| Ok("```\n\n```".to_owned()));
    let created = memory.create(json!({})).expect("a version");
    assert!(created.version.output_tokens > 0 && created.version.output_tokens <= created.preview.budget);
    assert!(created.version.model_run.as_ref().is_some_and(|run| run.trimmed > 0), "and it is said");
    holds_the_pinned_passage(&memory.messages(&created));
}

#[test]
fn budgets_hold_at_every_ratio_and_in_every_stretch() {
    for ratio in [1.5, 2.0, 4.0, 20.0, 50.0] {
        let memory = Memory::new(good);
        let created = memory.create(json!({"compaction_ratio": ratio})).expect("a version");
        assert!(created.version.output_tokens <= created.preview.budget, "{ratio}");
    }
    let memory = Memory::new(good);
    let tiered = json!({"mode": "tiered", "compaction_ratio": null, "tier_preset": "gentle"});
    let created = memory.create(tiered).expect("a version");
    for tier in &created.preview.tiers {
        assert!(tier.output_tokens as f64 <= tier.original_tokens as f64 / tier.ratio, "{tier:?}");
    }
    holds_the_pinned_passage(&memory.messages(&created));
}

#[test]
fn a_run_that_failed_goes_on_where_it_was() {
    let memory = Memory::new(|number, prompt, cancel| match number {
        2 => Err(Error::new(ErrorKind::Io, "the line broke")),
        _ => good(number, prompt, cancel),
    });
    let error = memory.create(json!({})).expect_err("the third call fails");
    assert!(error.message.contains("broke") && error.hint.expect("a hint").contains("2 of"), "what is kept is said");
    let before = memory.asked().len();
    let created = memory.create(json!({})).expect("a version");
    let run = created.version.model_run.expect("how it was made");
    assert_eq!(run.reused, 2, "the first two are not asked for again");
    assert_eq!(memory.asked().len() - before, run.calls as usize, "only those that were missing");
    let again = memory.create(json!({})).expect("another");
    assert_eq!(again.version.model_run.map(|run| (run.calls, run.cost)), Some((0, Some(0.0))), "nothing is paid twice");
}

#[test]
fn it_stops_before_a_call_that_could_cost_more_than_it_may() {
    let memory = Memory::new(good);
    let cost = memory.call(&Cancel::default(), |call| estimate(call, memory.request(json!({})))).expect("an estimate");
    assert!(memory.asked().is_empty(), "an estimate asks nothing");
    assert!(cost.calls >= 3 && !cost.over_cap && cost.leaves_machine, "{cost:?}");
    assert_eq!(cost.redactions.len(), 1, "{cost:?}");
    // Room for one call: what it may write at most is most of its price.
    let error = memory.create(json!({"max_cost": 0.047})).expect_err("the cap");
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.message.contains("over the cap of"), "{}", error.message);
    let asked = memory.asked().len();
    assert!(asked >= 1 && (asked as u64) < cost.calls, "{asked} of {}", cost.calls);
    assert!(error.hint.expect("a hint").contains("are kept"), "and what was paid for stays");
    let versions = memory.call(&Cancel::default(), |call| {
        crate::versions::list(call.engine, &memory.session.as_str().into()).expect("versions").versions
    });
    assert!(versions.is_empty(), "no half version");
}

#[test]
fn an_answer_that_was_cut_off_or_is_empty_is_asked_for_once_more_and_never_kept() {
    for bad in ["- half of it [1]✂", ""] {
        let memory = Memory::new(move |number, prompt, cancel| match prompt.contains("An earlier answer was empty") {
            true => good(number, prompt, cancel),
            false => Ok(bad.to_owned()),
        });
        let created = memory.create(json!({})).expect("a version");
        let text = |message: &VersionMessage| message.text.clone();
        let said: Vec<String> = memory.messages(&created).iter().map(text).collect();
        assert!(said.iter().any(|text| text.contains("said in message")), "the second is taken: {said:?}");
        assert!(!said.iter().any(|text| text.contains("half of it")), "{bad:?}: {said:?}");
        let asked = memory.asked().len();
        memory.create(json!({})).expect("another");
        assert_eq!(memory.asked().len(), asked + asked / 2, "what was whole is kept, the other asked for again");

        let memory = Memory::new(move |_, _, _| Ok(bad.to_owned()));
        let created = memory.create(json!({})).expect("a version");
        assert!(created.version.model_run.as_ref().is_some_and(|run| run.trimmed > 0), "by the built-in engine");
        assert!(!memory.messages(&created).iter().any(|message| message.text.contains("half of it")));
        holds_the_pinned_passage(&memory.messages(&created));
    }
}

#[test]
fn questions_wait_for_what_others_have_set_aside() {
    let memory = Memory::new(good);
    memory.set("engines.parallel", json!(4));
    // Room for the worst of one at a time, and for what all really cost.
    let created = memory.create(json!({"max_cost": 0.06})).expect("nothing is over the cap");
    assert!(created.version.model_run.is_some_and(|run| run.calls >= 3));
}

#[test]
fn an_attempt_that_broke_off_is_paid_for_at_its_worst() {
    let memory = Memory::new(good);
    memory.models.broken.store(1, Ordering::SeqCst);
    let error = memory.create(json!({"max_cost": 0.06})).expect_err("no room for two of them");
    assert!(error.message.contains("over the cap"), "{}", error.message);
    assert!(memory.asked().len() == 1, "and it is not repeated");
    memory.models.broken.store(2, Ordering::SeqCst);
    let run = memory.create(json!({"max_cost": 0.5})).expect("a version").version.model_run.expect("how");
    let told = run.calls as f64 * 0.002;
    assert!(run.cost.is_some_and(|cost| cost > told + 0.08), "both are booked: {:?}", run.cost);
}

#[test]
fn several_compressions_of_one_wish_have_one_cap() {
    let memory = Memory::new(good);
    let request = memory.request(json!({"max_cost": 0.06}));
    let source = crate::versions::Source::load(&memory.engine, &memory.session.as_str().into(), None).expect("source");
    let account = Account::default();
    let runs = (0..20).map(|number| {
        let ratio = Some(f64::from(number).mul_add(0.3, 4.0));
        let settings = CompressionSettings { compaction_ratio: ratio, ..request.settings.clone() };
        memory.call(&Cancel::default(), |call| crate::versions::run_within(call, &source, &settings, &account))
    });
    let error = runs.filter_map(Result::err).next().expect("the cap holds for all of them");
    assert!(error.message.contains("over the cap of $0.06"), "{}", error.message);
}

#[test]
fn an_estimate_says_that_a_run_would_be_stopped() {
    let memory = Memory::new(good);
    let at = |cap: f64| {
        let request = memory.request(json!({"max_cost": cap}));
        memory.call(&Cancel::default(), |call| estimate(call, request)).expect("an estimate")
    };
    let likely = at(1.0).cost.expect("a price");
    assert!(at(likely + 0.001).over_cap, "not even one call could be asked with what is left");
    assert!(!at(likely + 0.05).over_cap);
}

#[test]
fn secrets_are_found_before_texts_are_shortened() {
    let memory = Memory::new(good);
    let secrets = format!("{} ", secret()).repeat(400);
    let long = memory.transcript.clone().user(&format!("Keys: {secrets}"));
    memory.take(&long);
    memory.create(json!({})).expect("a version");
    let half = &secret()[13..20];
    assert!(memory.asked().iter().all(|prompt| !prompt.contains(half)), "half a secret left the machine");
}

#[test]
fn names_of_models_are_told_to_the_api_as_it_knows_them() {
    let memory = Memory::new(good);
    for (name, id) in [
        ("sonnet[1m]", "claude-sonnet-5-5"),
        ("opus", "claude-opus-5-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("claude-opus-4-5-20251101", "claude-opus-4-5-20251101"),
        ("small", "small"),
    ] {
        let settings = memory.request(json!({"model": name})).settings;
        let asked = super::asked(&memory.engine, &settings).expect("an engine").expect("one that asks");
        assert_eq!(asked.model.id, id, "{name}");
    }
}

#[test]
fn answers_go_with_their_session() {
    let memory = Memory::new(good);
    memory.create(json!({})).expect("a version");
    let answers = memory.engine.home().answers(&memory.session.as_str().into());
    assert!(answers.read_dir().is_ok_and(|files| files.count() > 0), "they are kept");
    let request =
        crate::api::session::SessionRemoveRequest { session: memory.session.clone(), purge: false, force: false };
    crate::registry::remove(&memory.engine, &request).expect("removed");
    assert!(!answers.exists());
}

#[test]
fn a_composition_made_with_a_model_is_refreshed_without_one() {
    let memory = Memory::new(good);
    let settings = memory.request(json!({})).settings;
    let request = serde_json::from_value(json!({
        "name": "login", "budget": 4000, "components": [{"session": memory.session, "version": "new", "settings": settings}],
    }))
    .expect("a request");
    memory.call(&Cancel::default(), |call| crate::compose::create(call, &request)).expect("a composition");
    let asked = memory.asked().len();
    assert!(asked > 0, "it is made with the model that was asked for");
    memory.take(&memory.transcript.clone().user("One thing more.").assistant("It is done."));
    let request = serde_json::from_value(json!({"name": "login"})).expect("a request");
    let refreshed =
        memory.call(&Cancel::default(), |call| crate::compose::refresh(call, &request)).expect("it is refreshed");
    assert!(refreshed.composition.is_some() && refreshed.grown.len() == 1);
    assert_eq!(memory.asked().len(), asked, "nobody has agreed to pay again");
}

#[test]
fn what_has_no_price_is_not_asked() {
    let memory = Memory::new(good);
    let error = memory.create(json!({"model": "unheard-of"})).expect_err("no price");
    assert!(error.message.contains("price of unheard-of") && memory.asked().is_empty(), "{}", error.message);
    let here = memory.create(json!({"engine": "openai", "model": "unheard-of"})).expect("on this machine it is free");
    assert_eq!(here.version.model_run.and_then(|run| run.cost), Some(0.0));
}

#[test]
fn cancelled_means_nothing_more_is_asked() {
    let cancel = Cancel::default();
    let own = cancel.clone();
    let memory = Memory::new(move |_, _, cancel| {
        own.cancel();
        Err(cancel.check().expect_err("cancelled"))
    });
    let request = memory.request(json!({}));
    let error = memory.call(&cancel, |call| create(call, request)).expect_err("cancelled");
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert_eq!(memory.asked().len(), 1);
}

#[test]
fn a_preview_asks_nothing_and_what_the_built_in_engine_refuses_is_not_paid_for() {
    let memory = Memory::new(good);
    let request = memory.request(json!({}));
    memory.call(&Cancel::default(), |call| crate::api::compression::preview(call, request)).expect("a preview");
    let error = memory.create(json!({"compaction_ratio": 999.0})).expect_err("the pinned passage does not fit");
    assert_eq!(error.kind, ErrorKind::OverBudget);
    assert!(memory.asked().is_empty());
}

#[test]
fn engines_are_listed_with_what_they_need() {
    let memory = Memory::new(good);
    let engines = memory.call(&Cancel::default(), |call| list(call, EngineListRequest::default())).expect("engines");
    let names: Vec<&str> = engines.iter().map(|engine| engine.engine.as_str()).collect();
    assert_eq!(names, ["extractive", "claude", "anthropic", "openai"]);
    assert_eq!(engines[2].models[0], "claude-opus-5-5", "the model of the settings, by its whole name");
    assert!(!engines[3].leaves_machine, "by default it is a server of one's own");
    assert!(memory.create(json!({"engine": "magic"})).is_err_and(|error| error.kind == ErrorKind::Usage));
}
