//! Suggestions from a real memory in a temporary folder, with a fixed clock.

use serde_json::json;

use super::*;
use crate::error::ErrorKind;
use crate::testing::{Memory, Transcript};

fn memory() -> Memory {
    Memory::at(1_800_000_000_000).take(&[
        Transcript::new("ledger")
            .cwd("/srv/shop")
            .user("Build the billing ledger with double entry bookkeeping")
            .work("billing", 6)
            .title("Billing ledger"),
        Transcript::new("tax").cwd("/srv/shop").branch("feature/tax").days_later(20).work("tax", 5).tool(
            "Edit",
            json!({"file_path": "/srv/shop/src/invoice.rs", "old_string": "a", "new_string": "b"}),
            "edited",
        ),
        Transcript::new("search").cwd("/srv/other").days_later(40).work("search", 6).title("Search ranking"),
    ])
}

fn id(name: &str) -> String {
    Transcript::new(name).session_id().to_owned()
}

fn asked(budget: u64) -> SuggestRequest {
    SuggestRequest { budget, ..SuggestRequest::default() }
}

fn suggested(memory: &Memory, request: &SuggestRequest) -> Suggestions {
    let found = memory.call(|call| suggest(call, request)).expect("suggestions");
    assert!(found.total_tokens <= request.budget, "{} of {}", found.total_tokens, request.budget);
    found
}

fn names(found: &Suggestions) -> Vec<String> {
    found.suggestions.iter().map(|suggestion| suggestion.session_id.to_string()).collect()
}

#[test]
fn with_nothing_but_a_folder_its_sessions_come_newest_first() {
    let memory = memory();
    let found = suggested(&memory, &SuggestRequest { folder: Some("/srv/shop".to_owned()), ..asked(8_000) });
    assert_eq!(names(&found), [id("tax"), id("ledger")], "and none of another folder");
    assert_eq!((found.considered, found.more), (3, 0));
    let first = &found.suggestions[0];
    assert_eq!(first.parts.folder, 1.0);
    assert_eq!(first.reasons[0], "ran in this folder");
    assert_eq!(names(&suggested(&memory, &asked(8_000)))[0], id("search"), "with nothing at all, the newest");
}

#[test]
fn a_task_finds_what_says_most_of_it_wherever_it_was() {
    let memory = memory();
    let task = "extend the double entry bookkeeping of the ledger -x folder:nothing \"";
    let found = suggested(&memory, &SuggestRequest { task: Some(task.to_owned()), ..asked(8_000) });
    assert_eq!(names(&found)[0], id("ledger"), "{found:?}");
    assert_eq!(found.suggestions[0].reasons[0], "says most of the task");
    assert!(found.suggestions[0].parts.relevance > 0.5);
    let elsewhere =
        SuggestRequest { folder: Some("/srv/other".to_owned()), task: Some(task.to_owned()), ..asked(8_000) };
    assert!(names(&suggested(&memory, &elsewhere)).contains(&id("ledger")), "another project may say it");
    let unknown = SuggestRequest { task: Some("xylophone quartz".to_owned()), ..asked(8_000) };
    assert!(suggested(&memory, &unknown).suggestions.is_empty(), "nothing says anything of it");
}

#[test]
fn files_and_topics_name_what_they_matched() {
    let memory = memory();
    let request = SuggestRequest {
        folder: Some("/srv/shop".to_owned()),
        files: vec!["src/invoice.rs".to_owned(), "src/none.rs".to_owned()],
        ..asked(8_000)
    };
    let found = suggested(&memory, &request);
    assert_eq!(names(&found)[0], id("tax"));
    assert_eq!(found.suggestions[0].matched_files, ["src/invoice.rs"]);
    assert_eq!(found.suggestions[0].parts.files, 1.0, "what nobody touched tells nothing");
    let whole = SuggestRequest { files: vec!["/srv/shop/src/invoice.rs".to_owned()], ..asked(8_000) };
    assert_eq!(names(&suggested(&memory, &whole)), [id("tax")]);
    let topic = SuggestRequest { topics: vec!["Search ranking".to_owned()], ..asked(8_000) };
    let found = suggested(&memory, &topic);
    assert_eq!(names(&found), [id("search")]);
    assert_eq!(found.suggestions[0].matched_topics, ["Search ranking"]);
}

#[test]
fn the_whole_is_within_the_budget_at_any_size() {
    let memory = memory();
    for budget in [1, 100, 300, 600, 900, 1_500, 4_000, 20_000, 1_000_000] {
        let found = suggested(&memory, &asked(budget));
        assert!(found.suggestions.iter().all(|suggestion| suggestion.suggested_tokens > 0));
        assert_eq!(found.suggestions.len() as u64 + found.more, 3, "what there is no room for is counted: {budget}");
    }
    let whole = suggested(&memory, &asked(1_000_000));
    assert!(whole.suggestions.iter().all(|suggestion| suggestion.version_id.as_str() == "original"));
    let few = suggested(&memory, &SuggestRequest { limit: Some(1), ..asked(1_000_000) });
    assert_eq!((few.suggestions.len(), few.more), (1, 2));
    for wrong in [SuggestRequest { limit: Some(0), ..asked(9) }, asked(0)] {
        let error = memory.call(|call| suggest(call, &wrong)).expect_err("it means nothing");
        assert_eq!(error.kind, ErrorKind::Usage);
    }
}

#[test]
fn of_several_contents_under_one_id_one_is_suggested() {
    let memory = Memory::at(1_800_000_000_000);
    for (folder, words) in [("a", "The first branch of it."), ("b", "Another branch of it.")] {
        let path =
            Transcript::new("twice").user(words).work(folder, 2).write_into(&memory.path(folder)).expect("written");
        memory.ingest(&[&path]);
    }
    let found = suggested(&memory, &asked(8_000));
    assert_eq!((found.considered, found.suggestions.len()), (2, 1), "{:?}", names(&found));
}
