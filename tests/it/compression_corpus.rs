//! Properties of compressions of a corpus of real transcripts: at any ratio from 2 to 50 and in every mode, the budget holds,
//! marked passages that survive stand word for word, the same comes out again, and every line says what its sources say.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use recollect_engine::api::compression::{
    CompressionMode, CompressionSettings, KeepitMode, TierConfig, TierPreset, VersionMessageKind,
};
use recollect_engine::api::ingest::{IngestRequest, ingest};
use recollect_engine::api::session::{SessionListRequest, list};
use recollect_engine::compress::{self, Marked, Outcome};
use recollect_engine::engine::{Call, Cancel};
use recollect_engine::session::Message;
use recollect_engine::time::Time;
use recollect_engine::versions::Source;
use recollect_engine::{Engine, EngineOptions, ErrorKind};

/// Settings that are drawn for each session.
const DRAWN: usize = 3;

fn settings() -> impl Strategy<Value = CompressionSettings> {
    let keepits = prop_oneof![Just(KeepitMode::Decay), Just(KeepitMode::PreserveAll), Just(KeepitMode::Ignore)];
    let preset = prop_oneof![Just(TierPreset::Gentle), Just(TierPreset::Standard), Just(TierPreset::Aggressive)];
    let custom = (5.0_f64..95.0, 2.0_f64..50.0, 2.0_f64..50.0).prop_map(|(end, first, second)| {
        let tier = |end_percent, compaction_ratio| TierConfig { end_percent, compaction_ratio, aggressiveness: None };
        vec![tier(end, first), tier(100.0, second)]
    });
    let mode = prop_oneof![
        3 => (2.0_f64..=50.0).prop_map(|ratio| (Some(ratio), None, None)),
        1 => preset.prop_map(|preset| (None, Some(preset), None)),
        1 => custom.prop_map(|custom| (None, Some(TierPreset::Custom), Some(custom))),
    ];
    (mode, keepits, 1_u32..12, 0_u32..3).prop_map(|((ratio, preset, custom), keepit_mode, distance, skip)| {
        CompressionSettings {
            mode: if ratio.is_some() { CompressionMode::Uniform } else { CompressionMode::Tiered },
            compaction_ratio: ratio,
            aggressiveness: None,
            tier_preset: preset,
            custom_tiers: custom,
            skip_first_messages: skip,
            keepit_mode,
            session_distance: Some(distance),
            engine: None,
            model: None,
            max_cost: None,
        }
    })
}

/// Passages to be marked: which message, where in its text, how long, how heavy.
fn passages() -> impl Strategy<Value = Vec<(f64, f64, usize, u32)>> {
    prop::collection::vec((0.0_f64..1.0, 0.0_f64..1.0, 8_usize..200, 0_u32..=100), 0..5)
}

fn mark(messages: &[Message], drawn: &[(f64, f64, usize, u32)]) -> Vec<Marked> {
    let mut marked: Vec<Marked> = Vec::new();
    let mut taken = HashSet::new();
    for (number, (message, place, length, weight)) in drawn.iter().enumerate() {
        let at = (message * messages.len() as f64) as usize;
        let letters: Vec<char> = messages[at].text().chars().collect();
        let start = (place * letters.len() as f64) as usize;
        let end = (start + length).min(letters.len());
        let content: String = letters[start..end].iter().collect();
        // One in a message: those that overlap are another test's.
        if content.trim() != content || content.is_empty() || !taken.insert(at) {
            continue;
        }
        marked.push(Marked {
            marker_id: format!("m{number}").into(),
            message: at as u32,
            start: start as u64,
            end: end as u64,
            content,
            weight: f64::from(*weight) / 100.0,
        });
    }
    marked.sort_by_key(|marked| marked.message);
    marked
}

#[test]
#[cfg_attr(not(feature = "corpus"), ignore = "needs RECOLLECT_CORPUS: --features corpus")]
fn at_any_ratio_and_in_every_mode_a_compression_keeps_its_promises() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Engine::open(EngineOptions {
        home: folder.path().join("memory"),
        claude_home: folder.path().join("client"),
        clock: Arc::new(|| Time::from_millis(1_760_000_000_000)),
        sink: Arc::new(|_| {}),
        export_folders: Vec::new(),
        models: Arc::new(recollect_engine::language_model::NoModels),
    })
    .expect("a memory");
    let call = Call { engine: &engine, progress: &|_| {}, cancel: &Cancel::default() };
    let paths = vec![super::corpus::corpus().display().to_string()];
    ingest(&call, IngestRequest { paths, ..IngestRequest::default() }).expect("the corpus");
    let sessions = list(&call, SessionListRequest::default()).expect("the sessions").sessions;
    let mut runner = TestRunner::deterministic();
    let (mut made, mut kept, mut refused) = (0, 0, 0);
    for session in &sessions {
        let mut source = Source::load(&engine, &session.session_id, None).expect("a session");
        let whole = compress::whole(&source.input(), *engine.counter()).expect("all of it");
        let sayable = engine.counter().count(&whole);
        for _ in 0..DRAWN {
            let settings = settings().new_tree(&mut runner).expect("settings").current();
            let drawn = passages().new_tree(&mut runner).expect("passages").current();
            source.keepits = if source.messages.is_empty() { Vec::new() } else { mark(&source.messages, &drawn) };
            let name = format!("{} {settings:?}", session.session_id);
            let run = || {
                let resolved = compress::resolve(&settings, source.distance)?;
                compress::run(&source.input(), &resolved, &source.decay, *engine.counter(), &|_, _, _| Ok(()))
            };
            match run() {
                Ok(outcome) => {
                    assert!(
                        outcome == run().expect("it was made once"),
                        "{name}: it is the same when it is made again"
                    );
                    kept += check(&source, &settings, &outcome, &name);
                    let uniform = settings.mode == CompressionMode::Uniform;
                    if uniform && outcome.budget >= 2000 && sayable > 2 * outcome.budget {
                        let used = outcome.output_tokens as f64 / outcome.budget as f64;
                        assert!(used >= 0.9, "{name}: {used:.3} of the budget is used, and there is more to say");
                    }
                    made += 1;
                }
                Err(error) => {
                    let tokens: u64 = source.tokens.iter().sum();
                    let small = tokens < 5_000 || !source.keepits.is_empty();
                    assert!(matches!(error.kind, ErrorKind::Usage | ErrorKind::OverBudget) && small, "{name}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(made > 120 && kept > 50, "{made} made, {refused} refused, {kept} keepits kept");
}

/// Checks an outcome; how many marked passages stand in it.
fn check(source: &Source, settings: &CompressionSettings, outcome: &Outcome, name: &str) -> u32 {
    assert!(outcome.output_tokens <= outcome.budget, "{name}: {} of {}", outcome.output_tokens, outcome.budget);
    if settings.mode == CompressionMode::Tiered {
        for tier in &outcome.tiers {
            let budget = (tier.original_tokens as f64 / tier.ratio).floor() as u64;
            assert!(tier.output_tokens <= budget, "{name}: a stretch has {} of {budget}", tier.output_tokens);
        }
    }
    let mut kept = 0;
    for (verdict, marked) in outcome.keepits.iter().zip(&source.keepits) {
        let holds = |message: &&recollect_engine::api::compression::VersionMessage| {
            message.source_indexes.contains(&source.messages[marked.message as usize].index)
                && message.text.contains(&marked.content)
        };
        if verdict.survives {
            assert!(outcome.messages.iter().any(|message| holds(&message)), "{name}: “{}” is kept", marked.content);
            kept += 1;
        }
        match settings.keepit_mode {
            KeepitMode::PreserveAll => assert!(verdict.survives, "{name}: all are kept"),
            KeepitMode::Ignore => assert!(!verdict.survives, "{name}: none is looked at"),
            KeepitMode::Decay => {}
        }
    }
    let mut before = None;
    for message in &outcome.messages {
        let [uuid] = message.sources.as_slice() else { panic!("{name}: one source, not {:?}", message.sources) };
        let [index] = message.source_indexes.as_slice() else { panic!("{name}: one index") };
        assert!(before < Some(*index), "{name}: in the order of the session");
        before = Some(*index);
        let original = source.messages.iter().find(|message| message.index == *index).expect("its source");
        assert_eq!(&original.uuid, uuid, "{name}: the source's uuid and index are of one message");
        // Terminal codes and the bounds of marked passages may cut words.
        let said = spoken(original).to_lowercase();
        let said = format!("{}\n{said}", anstream::adapter::strip_str(&said));
        let strange: Vec<String> =
            words(&message.text).into_iter().filter(|word| !is_ours(word) && !said.contains(word)).collect();
        assert!(strange.is_empty(), "{name}: message {index} does not say {strange:?}: {}", message.text);
        if message.kind == VersionMessageKind::Verbatim {
            assert_eq!(message.text, original.text().trim(), "{name}: word for word");
        }
    }
    kept
}

/// All that a message says, arguments of calls included.
fn spoken(message: &Message) -> String {
    use recollect_engine::session::Block;
    let mut text = message.text();
    for block in &message.blocks {
        match block {
            Block::ToolUse { name, input, .. } => {
                text.push_str(&format!(" {name} "));
                strings(input, &mut text);
            }
            Block::Attachment { media_type, .. } => text.push_str(media_type),
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolResult { .. } => {}
        }
    }
    text
}

fn strings(value: &serde_json::Value, text: &mut String) {
    use serde_json::Value;
    text.push(' ');
    match value {
        Value::String(string) => text.push_str(string),
        Value::Array(values) => values.iter().for_each(|value| strings(value, text)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            text.push_str(key);
            strings(value, text);
        }),
        other => text.push_str(&other.to_string()),
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    lower
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Words of our own that tell a call: its kind, counts, the state of a task.
fn is_ours(word: &str) -> bool {
    let own = ["read", "commit", "tasks", "x", "lines", "line", "asked", "plan", "in", "a", "file", "times"];
    own.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}
