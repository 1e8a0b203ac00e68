//! Sessions that grow after a version was made: only what is new is compressed.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::api::compression::{
    CompressionCreated, CompressionRequest, Lineage, PartRequest, Version, VersionMessage, VersionMessagesRequest,
};
use crate::api::version::{VerifiedBy, VersionDiffRequest, VersionPruneRequest, VersionVerified, VersionVerifyRequest};
use crate::error::{ErrorKind, Result};
use crate::ids::{SessionId, VersionId};
use crate::keepit::Weight;
use crate::registry;
use crate::testing::{Memory, Transcript};
use crate::versions;

const NAME: &str = "growing";

/// A session that is written on.
struct Growing {
    memory: Memory,
    transcript: Transcript,
}

impl Growing {
    fn new(transcript: Transcript) -> Self {
        let growing = Self { memory: Memory::new(), transcript };
        growing.write();
        growing
    }

    fn write(&self) {
        let path = self.memory.path(&format!("{}.jsonl", self.transcript.session_id()));
        fs_err::write(&path, self.transcript.bytes()).expect("written");
        self.memory.ingest(&[&path]);
    }

    fn grow(&mut self, more: impl FnOnce(Transcript) -> Transcript) {
        self.transcript = more(self.transcript.clone());
        self.write();
    }

    fn id(&self) -> SessionId {
        self.transcript.session_id().into()
    }

    fn request(&self, settings: &Value) -> CompressionRequest {
        CompressionRequest {
            session: self.id().to_string(),
            from: None,
            settings: serde_json::from_value(settings.clone()).expect("settings"),
            full: false,
            part: None,
        }
    }

    fn try_create(&self, request: &CompressionRequest) -> Result<CompressionCreated> {
        self.memory.call(|call| versions::create(call, request))
    }

    fn create(&self, settings: &Value) -> CompressionCreated {
        self.try_create(&self.request(settings)).expect("a version")
    }

    fn messages(&self, version: &VersionId) -> Vec<VersionMessage> {
        let request = VersionMessagesRequest {
            session: self.id().to_string(),
            version: version.clone(),
            offset: None,
            limit: None,
        };
        versions::messages(&self.memory.engine, &request).expect("messages").messages
    }

    fn verify(&self, version: &str) -> VersionVerified {
        let request = VersionVerifyRequest { session: self.id().to_string(), version: version.into() };
        self.memory.call(|call| versions::verify(call, &request)).expect("verified")
    }

    fn markdown(version: &Version) -> String {
        fs_err::read_to_string(&version.paths[0]).expect("Markdown")
    }

    fn weigh(&self, content: &str, weight: f64) {
        let keepits = self.memory.engine.db().read(|rows| rows.keepits(&self.id())).expect("marks");
        let marker = keepits.into_iter().find(|keepit| keepit.content.contains(content)).expect("the mark").marker_id;
        let weight = Weight::of(weight).expect("a weight");
        registry::weigh_keepit(&self.memory.engine, &marker, weight).expect("weighed");
    }
}

fn uniform(ratio: u32) -> Value {
    json!({"mode": "uniform", "compaction_ratio": ratio})
}

fn session(turns: u32) -> Transcript {
    Transcript::new(NAME).work("the login", turns).assistant("Noted. ##keepit1.00## Tokens expire after one hour.")
}

/// Words of Markdown that stand below the heading of a part.
fn below<'m>(markdown: &'m str, heading: &str) -> &'m str {
    let after = markdown.split_once(heading).unwrap_or_else(|| panic!("{heading:?} is in {markdown}")).1;
    after.split("\n\n## Messages").next().unwrap_or(after).trim()
}

#[test]
fn only_what_is_new_is_compressed_and_joined() {
    let mut growing = Growing::new(session(40));
    let first = growing.create(&uniform(5)).version;
    assert_eq!((first.lineage, first.parts.len(), first.behind), (Lineage::Original, 1, None));
    growing.grow(|transcript| transcript.work("the search", 30));
    let list = versions::list(&growing.memory.engine, &growing.id()).expect("a list");
    let behind = list.versions[0].behind.expect("the session has grown");
    assert_eq!(behind.messages, list.original_messages - u64::from(first.parts[0].last) - 1);

    let created = growing.create(&uniform(5));
    let second = &created.version;
    assert_eq!((second.lineage, second.source_version.clone()), (Lineage::Extended, Some("v001".into())));
    assert_eq!((second.parts.len(), second.behind), (2, None));
    assert_eq!(second.parts[0].made_in.as_str(), "v001");
    assert_eq!(second.parts[1].made_in.as_str(), "v002");
    assert_eq!(second.parts[1].first, first.parts[0].last + 1, "parts follow each other");
    assert_eq!(second.parts[1].original_tokens, behind.tokens);
    assert_eq!(second.original_tokens, list.original_tokens, "the whole session is told of");
    assert!(second.output_tokens * 5 <= second.original_tokens, "the ratio of the whole holds");

    let (before, after) = (growing.messages(&"v001".into()), growing.messages(&"v002".into()));
    assert_eq!(after[..before.len()], before, "what was there is carried over word for word");
    let markdown = Growing::markdown(second);
    let last = first.parts[0].last + 1;
    let old = below(&markdown, &format!("## Messages 1–{last} · from v001"));
    assert!(Growing::markdown(&first).contains(old), "the part stands as it stood in v001");
    assert!(old.contains("Tokens expire after one hour."));
    let new = below(&markdown, &format!("## Messages {}–{} · new", last + 1, second.parts[1].last + 1));
    assert!(new.contains("search"), "{new}");
    assert_eq!(created.preview.output_map.iter().sum::<u64>(), after.iter().map(|message| message.tokens).sum::<u64>());
    assert_eq!(created.preview.anew, Vec::<String>::new());

    growing.grow(|transcript| transcript.work("the menu", 30));
    let third = growing.create(&uniform(5)).version;
    let made_in: Vec<&str> = third.parts.iter().map(|part| part.made_in.as_str()).collect();
    assert_eq!(made_in, ["v001", "v002", "v003"]);
    assert_eq!(growing.messages(&"v003".into())[..after.len()], after);
}

#[test]
fn a_full_compression_is_a_choice_and_other_settings_start_anew() {
    let mut growing = Growing::new(session(30));
    growing.create(&uniform(5));
    growing.grow(|transcript| transcript.work("the search", 20));
    let full = CompressionRequest { full: true, ..growing.request(&uniform(5)) };
    let version = growing.try_create(&full).expect("a version").version;
    assert_eq!((version.lineage, version.parts.len(), version.source_version), (Lineage::Original, 1, None));
    let other = growing.create(&uniform(6)).version;
    assert_eq!((other.lineage, other.parts.len()), (Lineage::Original, 1));
    let engine = json!({"mode": "uniform", "compaction_ratio": 5, "engine": "extractive"});
    growing.grow(|transcript| transcript.work("the menu", 20));
    assert_eq!(growing.create(&engine).version.source_version, Some("v002".into()), "the one that reaches farthest");
}

#[test]
fn a_part_whose_marks_changed_is_compressed_anew_and_says_so() {
    let mut growing = Growing::new(session(30));
    growing.create(&uniform(5));
    growing.grow(|transcript| transcript.work("the search", 20).assistant("##keepit0.90## Rank by date."));
    growing.create(&uniform(5));
    growing.grow(|transcript| transcript.work("the menu", 20));
    growing.weigh("Rank by date", 0.01);
    let created = growing.create(&uniform(5));
    let made_in: Vec<&str> = created.version.parts.iter().map(|part| part.made_in.as_str()).collect();
    assert_eq!(made_in, ["v001", "v003", "v003"], "only the part with the mark, and what is new");
    assert!(created.preview.anew[0].starts_with("marks changed in messages "), "{:?}", created.preview.anew);
    growing.weigh("Rank by date", 0.02);
    growing.grow(|transcript| transcript.work("the list", 20));
    let created = growing.create(&uniform(5));
    assert_eq!(created.version.parts.len(), 4, "a weight that decides nothing changes nothing");
    assert_eq!(created.preview.anew, Vec::<String>::new());
    growing.weigh("Tokens expire", 0.0);
    let lost = growing.create(&uniform(5));
    let made_in: Vec<&str> = lost.version.parts.iter().map(|part| part.made_in.as_str()).collect();
    assert_eq!(made_in, ["v005", "v003", "v003", "v004"], "without growth too only what changed");
    assert_eq!((lost.version.lineage, lost.version.source_version), (Lineage::Part, Some("v004".into())));
    assert!(lost.preview.anew[0].starts_with("marks changed in messages 1–"), "{:?}", lost.preview.anew);
    assert_eq!(growing.create(&uniform(5)).version.lineage, Lineage::Original, "asked for again, made again");
}

#[test]
fn what_is_not_as_it_was_is_not_taken_over() {
    let mut growing = Growing::new(session(30));
    growing.create(&uniform(5));
    growing.grow(|transcript| transcript.work("the search", 30));
    let damaged = growing.create(&uniform(7)).version;
    fs_err::write(&damaged.paths[0], "edited").expect("written");
    growing.grow(|transcript| transcript.work("the menu", 30));
    let created = growing.create(&uniform(7));
    assert_eq!((created.version.lineage, created.version.parts.len()), (Lineage::Original, 1));
    assert_eq!(created.preview.anew, ["the files of v002 were changed since it was made"]);
    let id = growing.id();
    let said = |rows: &crate::db::Rows<'_>| {
        let mut row = rows.version(&id, &"v001".into())?.expect("the version");
        row.parts[0].messages_hash = "of other words".to_owned();
        rows.put_version(&row)
    };
    growing.memory.engine.db().write(said).expect("written");
    let created = growing.create(&uniform(5));
    assert_eq!((created.version.lineage, created.version.parts.len()), (Lineage::Original, 1));
    let why = &created.preview.anew[0];
    assert!(why.starts_with("something was said otherwise in messages 1–") && why.ends_with(" since v001"), "{why}");
    let reasons = growing.verify("v001").reasons;
    assert_eq!(reasons, [] as [String; 0], "what can be made again, byte for byte, is the same whatever was noted");
}

#[test]
fn one_part_is_compressed_alone() {
    let mut growing = Growing::new(session(40));
    growing.create(&uniform(5));
    growing.grow(|transcript| transcript.work("the search", 40));
    growing.create(&uniform(5));
    let part = |number: u32, ratio: u32| CompressionRequest {
        part: Some(PartRequest { version: "v002".into(), number }),
        ..growing.request(&uniform(ratio))
    };
    let version = growing.try_create(&part(1, 20)).expect("a version").version;
    assert_eq!((version.lineage, version.source_version.clone()), (Lineage::Part, Some("v002".into())));
    let made_in: Vec<&str> = version.parts.iter().map(|part| part.made_in.as_str()).collect();
    assert_eq!(made_in, ["v003", "v002"]);
    let own = version.parts[0].settings.as_ref().expect("its own settings");
    assert_eq!((own.compaction_ratio, version.settings.compaction_ratio), (Some(20.0), Some(5.0)));
    assert!(version.parts[0].output_tokens * 20 <= version.parts[0].original_tokens);
    let markdown = Growing::markdown(&version);
    assert!(markdown.contains("· new · 20:1\n"), "{markdown}");
    let texts = |id: &str| growing.messages(&id.into()).into_iter().map(|message| message.text).collect::<Vec<_>>();
    let kept = version.parts[1].output_messages as usize;
    let (before, after) = (texts("v002"), texts("v003"));
    assert_eq!(after[after.len() - kept..], before[before.len() - kept..], "the other part stays as it is");
    let messages = growing.messages(&"v003".into());
    let uuids: std::collections::HashSet<_> = messages.iter().map(|message| &message.uuid).collect();
    assert_eq!(uuids.len(), messages.len(), "each message has a name of its own");
    assert!(messages.iter().zip(0..).all(|(message, at)| message.index == at));
    assert_eq!(growing.try_create(&part(3, 20)).expect_err("two parts").kind, ErrorKind::NotFound);
    let both = CompressionRequest { full: true, ..part(1, 20) };
    assert_eq!(growing.try_create(&both).expect_err("not both").kind, ErrorKind::Usage);
}

#[test]
fn a_new_part_too_small_to_stand_alone_means_all_anew() {
    let mut growing = Growing::new(session(30));
    growing.create(&uniform(30));
    growing.grow(|transcript| transcript.assistant("Good."));
    let created = growing.create(&uniform(30));
    assert_eq!((created.version.lineage, created.version.parts.len()), (Lineage::Original, 1));
    assert!(created.preview.anew[0].starts_with("the new part cannot stand alone: "), "{:?}", created.preview.anew);
    assert_eq!(created.version.behind, None);
}

#[test]
fn tiers_are_laid_over_each_part_by_itself() {
    let mut growing = Growing::new(session(60));
    let tiered = json!({"mode": "tiered", "tier_preset": "gentle"});
    let first = growing.create(&tiered);
    growing.grow(|transcript| transcript.work("the search", 60));
    let second = growing.create(&tiered);
    assert_eq!(second.version.parts.len(), 2);
    assert_eq!(second.preview.tiers.len(), 10);
    assert_eq!(second.preview.tiers[..5], first.preview.tiers, "what a part had it keeps");
    let part = &second.version.parts[1];
    assert_eq!((second.preview.tiers[5].first, second.preview.tiers[9].last), (part.first, part.last));
    for tier in &second.preview.tiers {
        assert!(tier.output_tokens as f64 * tier.ratio <= tier.original_tokens as f64, "{tier:?}");
    }
    assert!(second.version.output_tokens <= second.preview.budget);
}

#[test]
fn every_kind_of_version_is_proven_by_making_it_again() {
    let mut growing = Growing::new(session(40));
    growing.create(&uniform(5));
    growing.grow(|transcript| transcript.title("Renamed since").work("the search", 40));
    growing.create(&uniform(5));
    let part = PartRequest { version: "v002".into(), number: 2 };
    let request = CompressionRequest { part: Some(part), ..growing.request(&uniform(12)) };
    growing.try_create(&request).expect("a version");
    let from = CompressionRequest { from: Some("v002".into()), ..growing.request(&uniform(3)) };
    growing.try_create(&from).expect("a version");
    growing.grow(|transcript| transcript.work("the menu", 10));
    for version in ["v001", "v002", "v003", "v004"] {
        let verified = growing.verify(version);
        assert!(verified.identical && verified.by == VerifiedBy::Text, "{verified:?}");
        assert_eq!((&verified.reasons[..], &verified.difference), (&[][..], &None));
        assert!(verified.behind.is_some(), "what came since is left out, and that is said");
    }
}

#[test]
fn what_differs_says_why() {
    let mut growing = Growing::new(session(40).assistant("##keepit0.60## Colours are green."));
    let first = growing.create(&uniform(5)).version;
    let request = CompressionRequest { from: Some("v001".into()), ..growing.request(&uniform(3)) };
    growing.try_create(&request).expect("a version");
    let markdown = Growing::markdown(&first);
    fs_err::write(&first.paths[0], markdown.replace("one hour", "two hours")).expect("written");
    let verified = growing.verify("v001");
    assert!(!verified.identical);
    assert_eq!(verified.reasons, ["its files are not as they were written: changed, damaged or gone"]);
    let difference = verified.difference.expect("a difference");
    assert!(difference.stored.is_some_and(|line| line.contains("two hours")), "the line as it is");
    assert!(difference.made_again.is_some_and(|line| line.contains("one hour")), "and as it was");
    assert!(growing.verify("v002").identical, "it was made from the messages, which are as they were");
    fs_err::write(&first.paths[0], markdown).expect("written");
    let jsonl = fs_err::read_to_string(&first.paths[1]).expect("JSONL");
    fs_err::write(&first.paths[1], jsonl.replace("one hour", "two hours")).expect("written");
    let reasons = growing.verify("v002").reasons;
    assert_eq!(reasons, ["v001, from which it was made, is not as it was"]);
    fs_err::write(&first.paths[1], jsonl).expect("written");
    assert!(growing.verify("v001").identical && growing.verify("v002").identical);

    growing.weigh("Colours", 0.01);
    let reasons = growing.verify("v001").reasons;
    assert!(reasons[0].starts_with("marks in messages 1–") && reasons[0].ends_with("changed since"), "{reasons:?}");
    growing.weigh("Colours", 0.6);
    let id = growing.id();
    let raise = |revision: u32| {
        growing.memory.engine.db().write(|rows| {
            let mut row = rows.version(&id, &"v001".into())?.expect("the version");
            row.provenance.revision = revision;
            rows.put_version(&row)
        })
    };
    raise(0).expect("written");
    assert!(growing.verify("v001").identical, "an older revision that gives the same is the same");
    growing.grow(|transcript| transcript.work("the search", 30));
    let created = growing.create(&uniform(5));
    assert_eq!(created.preview.anew, ["v001 was made by an older revision of the engine"]);
    versions::remove(
        &growing.memory.engine,
        &crate::api::compression::VersionRemoveRequest {
            session: id.to_string(),
            versions: vec!["v001".into()],
            force: false,
        },
    )
    .expect("removed");
    let verified = growing.verify("v002");
    assert!(!verified.identical);
    assert!(verified.reasons.iter().any(|reason| reason == "v001, from which it was made, is gone"), "{verified:?}");
}

#[test]
fn pruning_shows_first_and_deletes_what_the_rule_does_not_keep() {
    let mut growing = Growing::new(session(40));
    growing.create(&uniform(5));
    growing.create(&uniform(9));
    growing.grow(|transcript| transcript.work("the search", 40));
    growing.create(&uniform(5));
    let prune = |keep: Option<&str>, dry_run| {
        let request = VersionPruneRequest { session: None, keep: keep.map(str::to_owned), dry_run };
        growing.memory.call(|call| versions::prune(call, &request))
    };
    let ids = || -> Vec<String> {
        let list = versions::list(&growing.memory.engine, &growing.id()).expect("a list");
        list.versions.iter().map(|version| version.version_id.to_string()).collect()
    };
    assert_eq!(prune(None, false).expect("pruned").removed, [], "all are kept unless the user says otherwise");
    assert_eq!(prune(Some("newest"), true).expect_err("no rule").kind, ErrorKind::Usage);
    let shown = prune(Some("last:1"), true).expect("shown");
    assert_eq!(ids(), ["v001", "v002", "v003"], "nothing was deleted");
    let pruned = prune(Some("last:1"), false).expect("pruned");
    assert_eq!((&pruned.removed, pruned.bytes), (&shown.removed, shown.bytes), "as it was shown");
    assert!(pruned.bytes > 0);
    assert!(pruned.removed[0].why.ends_with("; v003 has its parts itself"), "{:?}", pruned.removed);
    assert_eq!(ids(), ["v003"]);
    assert!(growing.verify("v003").identical, "it needs those that it came from no more");
    let tidied = growing.memory.call(versions::tidy).expect("tidied");
    assert_eq!(tidied.removed, [], "by itself only what the setting says");
}

#[test]
fn what_is_wrong_with_one_session_keeps_the_others_from_nothing() {
    let growing = Growing::new(session(40));
    let other = Transcript::new("other").work("the menu", 40);
    let path = growing.memory.path("other.jsonl");
    fs_err::write(&path, other.bytes()).expect("written");
    growing.memory.ingest(&[&path]);
    for id in [growing.id(), other.session_id().into()] {
        for _ in 0..2 {
            let request = CompressionRequest { session: id.to_string(), ..growing.request(&uniform(5)) };
            growing.try_create(&request).expect("a version");
        }
    }
    let sessions = growing.memory.engine.db().read(|rows| rows.sessions_with_versions()).expect("sessions");
    let folder = {
        let list = versions::list(&growing.memory.engine, &sessions[0]).expect("a list");
        std::path::Path::new(&list.versions[0].paths[0]).parent().expect("a folder").to_owned()
    };
    fs_err::remove_file(folder.join(".lock")).expect("removed");
    fs_err::create_dir(folder.join(".lock")).expect("in the way");
    let request = VersionPruneRequest { session: None, keep: Some("last:1".to_owned()), dry_run: false };
    growing.memory.call(|call| versions::prune(call, &request)).expect_err("what failed is told");
    let left =
        |session: &SessionId| growing.memory.engine.db().read(|rows| rows.versions(session)).expect("rows").len();
    assert_eq!((left(&sessions[0]), left(&sessions[1])), (2, 1), "the session after it was pruned");
}

#[test]
fn comparing_tells_messages_and_keepits_apart() {
    let growing = Growing::new(session(40).assistant("##keepit0.30## Colours are green."));
    growing.create(&uniform(3));
    growing.create(&uniform(30));
    let request = VersionDiffRequest { session: growing.id().to_string(), left: "v001".into(), right: "v002".into() };
    let compared = versions::diff(&growing.memory.engine, &request).expect("a comparison");
    let told = |version: &str| {
        let messages = growing.messages(&version.into());
        messages.into_iter().flat_map(|message| message.source_indexes).collect::<std::collections::BTreeSet<u32>>()
    };
    let (left, right) = (told("v001"), told("v002"));
    assert_eq!(compared.messages.both + compared.messages.left_only, left.len() as u64);
    assert_eq!(compared.messages.both + compared.messages.right_only, right.len() as u64);
    let kept: Vec<(f64, bool, bool)> =
        compared.keepits.iter().map(|keepit| (keepit.weight, keepit.left, keepit.right)).collect();
    assert_eq!(kept, [(1.0, true, true), (0.3, true, false)]);
    let whole = VersionDiffRequest { left: "original".into(), right: "v001".into(), ..request };
    let compared = versions::diff(&growing.memory.engine, &whole).expect("a comparison");
    assert_eq!(compared.messages.right_only, 0);
    assert!(compared.keepits.iter().all(|keepit| keepit.left), "the session has all of its marks");
}

/// What a session of the property test grows by.
#[derive(Debug, Clone)]
struct Step {
    turns: u32,
    mark: Option<u32>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (3_u32..25, prop::option::of(0_u32..=100)).prop_map(|(turns, mark)| Step { turns, mark });
    prop::collection::vec(step, 2..4)
}

fn settings() -> impl Strategy<Value = Value> {
    let keepit = prop::sample::select(vec!["decay", "preserve-all", "ignore"]);
    let mode = prop_oneof![
        (2_u32..50).prop_map(|ratio| json!({"mode": "uniform", "compaction_ratio": ratio})),
        prop::sample::select(vec!["gentle", "standard", "aggressive"])
            .prop_map(|preset| json!({"mode": "tiered", "tier_preset": preset})),
    ];
    (mode, keepit, 0_u32..6, 1_u32..12).prop_map(|(mut settings, keepit, skip, distance)| {
        settings["keepit_mode"] = json!(keepit);
        settings["skip_first_messages"] = json!(skip);
        settings["session_distance"] = json!(distance);
        settings
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn grown_versions_keep_every_promise(steps in steps(), settings in settings()) {
        let mut growing = Growing::new(Transcript::new(NAME).work("the beginning", 20));
        let mut before: Option<Version> = None;
        for (number, step) in steps.iter().enumerate() {
            growing.grow(|transcript| {
                let grown = transcript.work(&format!("part {number}"), step.turns);
                match step.mark {
                    Some(weight) => grown.assistant(&format!("So. ##keepit{:.2}## Decision {number} holds.", f64::from(weight) / 100.0)),
                    None => grown,
                }
            });
            let created = match growing.try_create(&growing.request(&settings)) {
                Ok(created) => created,
                // What cannot be kept within the budget is an error that names it, in parts and as a whole.
                Err(error) => {
                    prop_assert!(matches!(error.kind, ErrorKind::OverBudget | ErrorKind::Usage), "{error:?}");
                    continue;
                }
            };
            let version = &created.version;
            let messages = growing.messages(&version.version_id);
            let markdown = Growing::markdown(version);
            let count = |text: &str| growing.memory.engine.counter().count(text);
            let tokens = count(&markdown).max(messages.iter().map(|message| message.tokens).sum());
            prop_assert_eq!(tokens, version.output_tokens, "counted over all that is rendered");
            prop_assert!(tokens <= created.preview.budget, "{} of {}", tokens, created.preview.budget);
            for verdict in created.preview.keepits.iter().filter(|verdict| verdict.survives) {
                prop_assert!(markdown.contains(&verdict.content), "{} is not in {markdown}", verdict.content);
                prop_assert!(messages.iter().any(|message| message.text.contains(&verdict.content)));
            }
            // Each message leads to messages of its part.
            let original = registry::load(&growing.memory.engine, &growing.id()).expect("the session");
            let mut at = 0;
            for part in &version.parts {
                for message in &messages[at..at + part.output_messages as usize] {
                    for (uuid, index) in message.sources.iter().zip(&message.source_indexes) {
                        prop_assert!((part.first..=part.last).contains(index), "{index} is outside {part:?}");
                        prop_assert!(original.messages.iter().any(|source| source.index == *index && source.uuid == *uuid));
                    }
                }
                at += part.output_messages as usize;
            }
            prop_assert_eq!(at, messages.len(), "each message belongs to a part");
            let verified = growing.verify(version.version_id.as_str());
            prop_assert!(verified.identical, "made again it is the same: {:?}", verified);
            prop_assert_eq!(version.parts.iter().map(|part| part.original_tokens).sum::<u64>(), version.original_tokens);
            // What an extended version took over is what it was.
            if version.lineage == Lineage::Extended {
                let before = before.as_ref().expect("a version to extend");
                prop_assert_eq!(&version.parts[..before.parts.len()], &before.parts[..]);
                let old = growing.messages(&before.version_id);
                prop_assert_eq!(&messages[..old.len()], &old[..]);
            }
            before = Some(created.version);
        }
    }
}
