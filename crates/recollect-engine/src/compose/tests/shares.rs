//! How a budget is shared, in which order, among which projects, and what gives way.

use super::*;
use crate::api::composition::{Allocation, Order};

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

#[test]
fn previews_from_what_was_prepared_are_those_of_the_session_as_it_is() {
    let sessions = [session("storage", 8), session("search", 5)];
    let memory = memory(&sessions);
    let all: Vec<_> = sessions.iter().collect();
    let first = memory.preview(&request("x", 3_000, &all)).expect("a preview");
    let moved = memory.preview(&request("x", 2_000, &all)).expect("after the slider was moved");
    assert!(moved.total_tokens <= 2_000 && moved.total_tokens < first.total_tokens);
    let again = memory.preview(&request("x", 3_000, &all)).expect("and back");
    assert_eq!(serde_json::to_value(&again).ok(), serde_json::to_value(&first).ok());
    let markers = memory.engine.db().read(|rows| rows.keepits(&sessions[0].session_id().into())).expect("keepits");
    let lowered = crate::api::keepit::KeepitSetRequest {
        marker: markers[0].marker_id.clone(),
        weight: 0.0,
        write_transcript: false,
    };
    memory.call(|call| crate::api::keepit::set(call, lowered)).expect("lowered");
    let unmarked = memory.preview(&request("x", 2_000, &all)).expect("of another state");
    let other = Engine::open(memory.engine.options().clone()).expect("another program");
    let call = Call { engine: &other, progress: &|_| {}, cancel: &crate::engine::Cancel::default() };
    let fresh = preview(&call, &request("x", 2_000, &all)).expect("that has prepared nothing");
    assert_eq!(serde_json::to_value(&unmarked).ok(), serde_json::to_value(&fresh).ok());
}
