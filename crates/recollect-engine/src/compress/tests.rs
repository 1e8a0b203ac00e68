//! Properties of whole compressions: the budget, keepits word for word, the same bytes again, sources that exist.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::api::compression::{CompressionSettings, VersionMessageKind};
use crate::error::ErrorKind;
use crate::keepit::verdict::verdict;
use crate::keepit::{Decay, Ratio, Weight};
use crate::session::{Block, Role};
use crate::tokens::Counter;

fn counter() -> Counter {
    Counter::for_model("claude-sonnet-4-5")
}

fn settings(value: serde_json::Value) -> Resolved {
    let settings: CompressionSettings = serde_json::from_value(value).expect("settings");
    resolve(&settings, 3).expect("good settings")
}

fn uniform(ratio: f64) -> Resolved {
    settings(json!({"mode": "uniform", "compaction_ratio": ratio}))
}

fn head() -> SessionHead {
    SessionHead {
        id: "11111111-1111-4111-8111-111111111111".into(),
        title: "Fix the login".to_owned(),
        project_path: "/home/dev/app".to_owned(),
        branch: Some("main".to_owned()),
        first: None,
        last: None,
    }
}

fn message(index: u32, role: Role, blocks: Vec<Block>) -> Message {
    Message { index, uuid: format!("uuid-{index}"), role, ..crate::testing::message(blocks) }
}

fn text(index: u32, role: Role, text: &str) -> Message {
    message(index, role, vec![Block::Text { text: text.to_owned() }])
}

/// Some work: a request, calls with long results, a reply; over and over.
fn work(turns: u32) -> Vec<Message> {
    let mut messages = Vec::new();
    for turn in 0..turns {
        let next = messages.len() as u32;
        let id = format!("call-{turn}");
        let output: String = (0..40).map(|line| format!("   Compiling part_{turn}_{line} v0.{line}.1\n")).collect();
        messages.push(text(
            next,
            Role::User,
            &format!("Please make module{turn} read the settings from file{turn}.toml."),
        ));
        messages.push(text(
            next + 1,
            Role::Assistant,
            &format!("I will look at module{turn} first. Then I change it."),
        ));
        messages.push(message(
            next + 2,
            Role::Assistant,
            vec![Block::ToolUse {
                id: id.clone(),
                name: "Bash".to_owned(),
                input: json!({"command": format!("cargo test -p module{turn}")}),
            }],
        ));
        messages.push(message(
            next + 3,
            Role::Tool,
            vec![Block::ToolResult {
                tool_use_id: id,
                text: format!("{output}error[E0{turn:03}]: cannot find value `setting{turn}`\ntest result: FAILED"),
                is_error: true,
            }],
        ));
        messages.push(text(next + 4, Role::Assistant, &format!(
            "The cause was that setting{turn} is read before the file is there. I moved it into load{turn}(), because that runs later."
        )));
    }
    messages
}

fn tokens(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| counter().count(&message.text())).collect()
}

fn go(messages: &[Message], keepits: &[Marked], settings: &Resolved) -> Result<Outcome> {
    let (head, tokens) = (head(), tokens(messages));
    let input = Input { session: &head, messages, tokens: &tokens, keepits, origins: None };
    run(&input, settings, &Decay::default(), counter(), &|_, _, _| Ok(()))
}

/// What must hold of every result.
fn check(messages: &[Message], settings: &Resolved, outcome: &Outcome) {
    let total: u64 = tokens(messages).iter().sum();
    assert!(outcome.output_tokens <= outcome.budget, "{} over {}", outcome.output_tokens, outcome.budget);
    assert!(counter().count(&outcome.markdown) <= outcome.budget, "the record itself is within the budget");
    let said: u64 = outcome.messages.iter().map(|message| counter().count(&message.text)).sum();
    assert!(said <= outcome.budget, "the messages are within the budget");
    if !settings.tiered {
        assert_eq!(outcome.budget, (total as f64 / settings.tiers[0].ratio).floor() as u64);
    }
    for (tier, asked) in outcome.tiers.iter().zip(&settings.tiers) {
        let most = (tier.original_tokens as f64 / asked.ratio).floor() as u64;
        assert!(!settings.tiered || tier.output_tokens <= most, "messages {}–{} are over", tier.first, tier.last);
    }
    let mut before = None;
    for message in &outcome.messages {
        for (uuid, index) in message.sources.iter().zip(&message.source_indexes) {
            assert_eq!(messages[*index as usize].uuid, *uuid, "every source is a message of the session");
            assert_eq!(messages[*index as usize].role, message.role, "roles stay");
        }
        assert!(!message.sources.is_empty() && message.source_indexes.first() > before.as_ref(), "order stays");
        before = message.source_indexes.first().copied();
    }
    let left_out: u64 = outcome.left_out.iter().map(|left| left.messages).sum();
    assert_eq!(left_out + outcome.messages.len() as u64, messages.len() as u64, "each message is there or counted");
    assert_eq!(
        outcome.output_map.iter().sum::<u64>(),
        outcome.messages.iter().map(|message| message.tokens).sum::<u64>()
    );
}

#[test]
fn work_is_told_by_its_requests_failures_and_causes() {
    let messages = work(12);
    let settings = uniform(10.0);
    let outcome = go(&messages, &[], &settings).expect("a result");
    check(&messages, &settings, &outcome);
    assert!(outcome.output_tokens * 10 >= outcome.budget * 9, "{} of {}", outcome.output_tokens, outcome.budget);
    for turn in 0..12 {
        assert!(
            outcome.markdown.contains(&format!("file{turn}.toml")),
            "the request of turn {turn}: {}",
            outcome.markdown
        );
        assert!(outcome.markdown.contains(&format!("setting{turn}`")), "the failure of turn {turn}");
    }
    assert!(!outcome.markdown.contains("part_3_7"), "what compiled is not told");
}

#[test]
fn each_tier_meets_its_own_ratio_and_has_its_heading() {
    let messages = work(40);
    let settings = settings(json!({"mode": "tiered", "tier_preset": "standard"}));
    let outcome = go(&messages, &[], &settings).expect("a result");
    check(&messages, &settings, &outcome);
    assert_eq!(outcome.tiers.len(), 5);
    assert_eq!((outcome.tiers[0].first, outcome.tiers[0].last, outcome.tiers[1].first), (0, 49, 50));
    assert!(outcome.markdown.contains("## Messages 181–200, 3:1 light"), "{}", outcome.markdown);
    for tier in &outcome.tiers {
        let most = tier.original_tokens as f64 / tier.ratio;
        assert!(
            tier.output_tokens as f64 > 0.8 * most,
            "messages {}–{} hold {} of {most}",
            tier.first,
            tier.last,
            tier.output_tokens
        );
    }
}

fn mark(messages: &mut [Message], at: usize, number: usize, weight: u8, content: &str) -> Marked {
    let Some(Block::Text { text }) = messages[at].blocks.first_mut() else { panic!("message {at} has no text") };
    text.push('\n');
    let marker = format!("##keepit{}.{:02}## {content}", weight / 100, weight % 100);
    let start = text.chars().count() as u64;
    text.push_str(&marker);
    Marked {
        marker_id: format!("m{number}").into(),
        message: at as u32,
        start,
        end: text.chars().count() as u64,
        content: content.to_owned(),
        weight: f64::from(weight) / 100.0,
    }
}

#[test]
fn keepits_over_the_budget_are_named_with_what_they_need() {
    let mut messages = work(3);
    let long = "Never log a token, not even its hash prefix, whatever the level of the log is. ".repeat(20);
    let keepit = mark(&mut messages, 0, 0, 100, long.trim());
    let error = go(&messages, std::slice::from_ref(&keepit), &uniform(40.0)).expect_err("it cannot fit");
    assert_eq!(error.kind, ErrorKind::OverBudget);
    assert!(error.message.contains("Never log a token") && error.message.contains("1.00"), "{}", error.message);
    let needed: u64 =
        error.message.split(" need ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a number");
    let total: u64 = tokens(&messages).iter().sum();
    let roomy = (total as f64 / needed as f64 * 100.0).floor() / 100.0;
    let outcome = go(&messages, &[keepit], &uniform(roomy)).expect("what it says it needs is enough");
    assert!(outcome.markdown.contains(long.trim()));
}

#[test]
fn what_cannot_be_compressed_says_why() {
    let nothing = [message(0, Role::Assistant, vec![Block::Thinking { text: String::new() }])];
    assert_eq!(go(&nothing, &[], &uniform(2.0)).expect_err("nothing").kind, ErrorKind::Usage);
    assert_eq!(go(&[], &[], &uniform(2.0)).expect_err("no messages").kind, ErrorKind::Usage);
    let tiny = [text(0, Role::User, "a longer sentence that says something"), text(1, Role::Assistant, "yes it does")];
    assert_eq!(go(&tiny, &[], &uniform(1000.0)).expect_err("no room").kind, ErrorKind::Usage);
    let skipped = settings(json!({"mode": "uniform", "compaction_ratio": 2.0, "skip_first_messages": 2}));
    assert_eq!(go(&tiny, &[], &skipped).expect_err("all skipped").kind, ErrorKind::Usage);
}

#[test]
fn a_cancelled_compression_stops() {
    let (head, messages) = (head(), work(3));
    let tokens = tokens(&messages);
    let input = Input { session: &head, messages: &messages, tokens: &tokens, keepits: &[], origins: None };
    let stop = |_: &str, _: u64, _: u64| Err(crate::Error::new(ErrorKind::Cancelled, "cancelled"));
    let error = run(&input, &uniform(4.0), &Decay::default(), counter(), &stop).expect_err("stopped");
    assert_eq!(error.kind, ErrorKind::Cancelled);
}

#[test]
fn a_version_reads_back_as_it_was_written() {
    let outcome = go(&work(6), &[], &uniform(4.0)).expect("a result");
    let lines = to_jsonl(&head(), &outcome.messages).expect("records");
    assert_eq!(from_jsonl(&lines).expect("messages"), outcome.messages);
    let mut parent = serde_json::Value::Null;
    for line in lines.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(record["parentUuid"], parent, "the chain is unbroken");
        assert!(record["timestamp"].is_string(), "the client needs an instant on every record");
        parent = record["uuid"].clone();
    }
    assert!(from_jsonl("{\"a\":1}").is_err(), "what is no version is said");
}

#[test]
fn a_message_kept_whole_is_verbatim() {
    let messages =
        [text(0, Role::User, "First line.\n\n- one\n- two"), text(1, Role::Assistant, "Very well then, it is done.")];
    let outcome = go(&messages, &[], &uniform(1.01));
    // The budget is a token or so short of everything: one of both stays whole.
    let outcome = outcome.expect("a result");
    assert!(outcome.messages.iter().any(|message| message.kind == VersionMessageKind::Verbatim), "{outcome:?}");
}

fn odd_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,80}",
        "[a-z .,\n\t`#*|<>-]{0,200}",
        Just(String::new()),
        Just("\u{202e}עברית وعربي\u{0}\u{7}\u{1b}[31m".to_owned()),
        Just("```\nnever closed".to_owned()),
        Just("<command-name>/x</command-name><system-reminder>".to_owned()),
        Just("word ".repeat(600)),
        Just("x".repeat(5000)),
    ]
}

fn odd_block() -> impl Strategy<Value = Block> {
    let name = prop_oneof![
        Just("Bash"),
        Just("Edit"),
        Just("Read"),
        Just("TodoWrite"),
        Just("Task"),
        Just("mcp__a__b"),
        Just("")
    ];
    let id = "[ab]";
    prop_oneof![
        odd_text().prop_map(|text| Block::Text { text }),
        odd_text().prop_map(|text| Block::Thinking { text }),
        (id, name, odd_text(), odd_text()).prop_map(|(id, name, one, two)| Block::ToolUse {
            id,
            name: name.to_owned(),
            input: json!({"command": one, "file_path": two, "old_string": one, "new_string": two, "todos": [{"content": one}], "prompt": two}),
        }),
        (id, odd_text(), any::<bool>()).prop_map(|(id, text, is_error)| Block::ToolResult { tool_use_id: id, text, is_error }),
        Just(Block::Attachment { media_type: "image/png".to_owned(), bytes: 9 }),
    ]
}

fn odd_session() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::Tool), Just(Role::System)];
    let one = (role, prop::collection::vec(odd_block(), 0..3));
    prop::collection::vec(one, 0..14)
        .prop_map(|all| all.into_iter().zip(0..).map(|((role, blocks), index)| message(index, role, blocks)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_session_is_too_odd(messages in odd_session(), ratio in 1.01_f64..60.0, tiered in any::<bool>()) {
        let settings = if tiered { settings(json!({"mode": "tiered", "tier_preset": "gentle"})) } else { uniform(ratio) };
        match go(&messages, &[], &settings) {
            Ok(outcome) => {
                check(&messages, &settings, &outcome);
                prop_assert_eq!(go(&messages, &[], &settings).expect("again"), outcome, "the same again");
            }
            Err(error) => prop_assert_eq!(error.kind, ErrorKind::Usage, "{}", error.message),
        }
    }

    #[test]
    fn the_surviving_keepits_are_those_of_the_formula_and_stand_word_for_word(
        marks in prop::collection::vec((0_usize..20, 0_u8..=100, "[A-Za-z ,.\n]{1,40}[a-z]"), 1..6),
        ratio in 2_u32..80,
        distance in 1_u32..15,
        mode in prop_oneof![Just("decay"), Just("preserve-all"), Just("ignore")],
    ) {
        let mut messages = work(20);
        let mut keepits = Vec::new();
        for (number, (turn, weight, content)) in marks.iter().enumerate() {
            // A message holds one: a marker runs to the next one or to the end.
            if keepits.iter().all(|keepit: &Marked| keepit.message != (turn * 5) as u32) {
                keepits.push(mark(&mut messages, turn * 5, number, *weight, content.trim()));
            }
        }
        keepits.sort_by_key(|keepit| keepit.message);
        let settings = settings(json!({
            "mode": "uniform", "compaction_ratio": ratio, "session_distance": distance, "keepit_mode": mode,
        }));
        let outcome = match go(&messages, &keepits, &settings) {
            Ok(outcome) => outcome,
            Err(error) => {
                prop_assert_eq!(error.kind, ErrorKind::OverBudget, "{}", error.message);
                return Ok(());
            }
        };
        check(&messages, &settings, &outcome);
        let ratio = Ratio::of(f64::from(ratio)).expect("a ratio");
        for (keepit, told) in keepits.iter().zip(&outcome.keepits) {
            let weight = Weight::of(keepit.weight).expect("a weight");
            let by_formula = verdict(&Decay::default(), weight, ratio, ratio.level(), distance).survives();
            let survives = match mode { "decay" => by_formula, mode => mode == "preserve-all" };
            prop_assert_eq!(told.survives, survives);
            if survives {
                let found = outcome.messages.iter().any(|message| {
                    message.source_indexes.contains(&keepit.message) && message.text.contains(&keepit.content)
                });
                prop_assert!(found, "`{}` is not in its message: {:?}", keepit.content, outcome.messages);
            }
        }
        prop_assert!(!outcome.markdown.contains("##keepit"), "markers are taken out");
    }
}
