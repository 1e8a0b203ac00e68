//! Compositions used again: refreshed, copied, exported, gone on from.

use super::*;
use crate::api::composition::{
    CompositionDuplicateRequest, CompositionExportRequest, CompositionRefreshRequest, ExportFormat,
};

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
    let long = copied(&"long ".repeat(19)[..94]).expect("a long name");
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

#[test]
fn a_session_that_goes_on_from_a_composition_holds_only_what_is_new() {
    let only = session("storage", 4);
    let memory = memory(std::slice::from_ref(&only));
    memory.create(&request("go on", 3_000, &[&only])).expect("made");
    let app = memory.path("app");
    fs_err::create_dir_all(&app).expect("a working folder");
    let asked = ResumeRequest { name: "go on".to_owned(), cwd: Some(app.display().to_string()) };
    let resumed = resume(&memory.engine, &asked).expect("resumed");
    let file = std::path::PathBuf::from(&resumed.file);
    let behind = || {
        let transcripts = memory.path("claude/projects");
        let followed = registry::Followed { transcripts: transcripts.clone(), exports: Vec::new() };
        registry::behind(&memory.engine, &[transcripts], &followed).expect("told").len()
    };
    assert_eq!(behind(), 0, "nobody has gone on");
    memory.engine.db().write(|rows| rows.put_fact(&bytes_written(resumed.session_id.as_str()), "")).expect("forgotten");
    assert_eq!(behind(), 0, "its end tells it too, after the database was made anew");
    let line = serde_json::json!({"type": "user", "uuid": "9b2d7b40-0000-4000-8000-000000000001", "timestamp": "2027-01-16T10:00:00.000Z",
        "sessionId": resumed.session_id, "cwd": app, "message": {"role": "user", "content": "And now the cache."}});
    let before = fs_err::read_to_string(&file).expect("its lines");
    fs_err::write(&file, format!("{before}{line}\n")).expect("gone on with");
    assert_eq!(behind(), 1, "now it is the user's");
    memory.ingest(&[&file]);
    let row = memory.engine.db().read(|rows| rows.session(&resumed.session_id)).expect("read").expect("in memory");
    assert_eq!(row.messages, 3, "the boundary, what it opens with, and what is new");
    let keepits = memory.engine.db().read(|rows| rows.keepits(&resumed.session_id)).expect("read");
    assert!(keepits.is_empty(), "no mark is doubled");
}
