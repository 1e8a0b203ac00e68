//! A memory with a bit of everything, before and after its database was made anew.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::api::dispatch;
use crate::engine::Cancel;
use crate::testing::Transcript;
use crate::time::Time;

const EXPORT: &str = "
 ▐▛███▜▌   Claude Code v2.0.76
▝▜█████▛▘  Sonnet 4.5 · Claude Max
  ▘▘ ▝▝    /home/dev/other

> Paint the shed, please. ##keepit0.90##It must be green.

● I paint the shed now.
";

struct Memory {
    folder: tempfile::TempDir,
    engine: Engine,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = open_at(folder.path()).expect("a fresh memory opens");
        Self { folder, engine }
    }

    /// A memory in which everything was used that a database can hold.
    fn full() -> Self {
        let memory = Self::new();
        let login = Transcript::new("login")
            .work("login", 30)
            .assistant("Done. ##keepit1.00## Tokens expire after one hour.")
            .assistant("And this. ##keepit0.10## The weather was fine.")
            .agent("ab12", "Look at the tests", |agent| agent.work("tests", 3), "They pass.")
            .stored_result("toolu_1.txt", "a large result")
            .torn()
            .user("Go on");
        let id = login.session_id().to_owned();
        login.write(&memory.path("claude")).expect("written");
        memory.ingest("claude");
        // Grown, with an unfinished line, and a copy elsewhere.
        let grown = login.work("more of it", 10).user("still writing").unfinished();
        grown.write(&memory.path("claude")).expect("written");
        memory.ingest("claude");
        grown.write_into(&memory.path("copies")).expect("written");
        memory.ingest("copies");
        let other = Transcript::new("other").cwd("/home/dev/other").days_later(1).work("other", 20);
        other.write(&memory.path("claude")).expect("written");
        // Another content under the same id.
        Transcript::with_id(&id)
            .user("another machine")
            .assistant("yes")
            .write_into(&memory.path("elsewhere"))
            .expect("written");
        memory.ingest("claude");
        memory.ingest("elsewhere");
        memory.file("exports/2026-01-20-shed.txt", EXPORT);
        memory.file("exports/2026-01-21-shed.txt", &format!("{EXPORT}\n> Thanks!\n\n● You are welcome.\n"));
        memory.file("exports/talk.txt", "Human: what is it\nAssistant: A talk.\n");
        memory.ingest("exports");
        let said = json!([{"uuid": "77777777-1111-4111-8111-111111111111", "name": "A talk", "created_at": "2026-01-02T10:00:00Z",
            "updated_at": "2026-01-02T10:00:00Z", "chat_messages": [
                {"uuid": "a1", "sender": "human", "text": "Why?", "created_at": "2026-01-02T10:00:00Z"},
                {"uuid": "a2", "sender": "assistant", "text": "Because.", "created_at": "2026-01-02T10:00:01Z"}]},
            {"uuid": "88888888-1111-4111-8111-111111111111", "name": "Another", "created_at": "2026-01-03T10:00:00Z",
            "updated_at": "2026-01-03T10:00:00Z", "chat_messages": [
                {"uuid": "b1", "sender": "human", "text": "Where?", "created_at": "2026-01-03T10:00:00Z"}]}]);
        memory.file("data/conversations.json", &said.to_string());
        memory.ingest("data/conversations.json");
        memory.file(
            "history/history.jsonl",
            "{\"display\":\"an old prompt\",\"timestamp\":1767000000000,\"project\":\"/home/dev/old\",\
             \"sessionId\":\"99999999-1111-4111-8111-111111111111\"}\n",
        );
        memory.ingest("history/history.jsonl");
        memory.file(
            "MEMORY-CONTEXT/dedup_state/global_hashes.json",
            &json!(["ab".repeat(32), "cd".repeat(32)]).to_string(),
        );
        memory.file("MEMORY-CONTEXT/dedup_state/conversation_log.jsonl", "");
        memory.run("context_import", json!({"path": memory.text("MEMORY-CONTEXT"), "project": null}));
        memory.marks(&id, other.session_id());
        memory
    }

    /// What the user did with sessions.
    fn marks(&self, id: &str, other: &str) {
        let keepits = self.run("keepit_list", json!({ "session": id }));
        let marker = |at: usize| keepits[at]["marker_id"].clone();
        self.run("keepit_set", json!({"marker": marker(0), "weight": 0.55}));
        self.run("keepit_remove", json!({"marker": marker(1)}));
        let message = self.run("message_list", json!({"session": id, "limit": 1}))["messages"][0]["uuid"].clone();
        self.run("keepit_add", json!({"session": id, "message": message, "start": 0, "end": 5, "weight": 0.9}));
        self.run("session_update", json!({"session": id, "title": "My title", "distance": 7}));
        self.run("session_update", json!({"session": other, "title": null, "distance": null}));
        for ratio in [4.0, 10.0, 20.0] {
            let settings = json!({"mode": "uniform", "compaction_ratio": ratio});
            self.run("compression_create", json!({"session": id, "settings": settings}));
        }
        self.run("version_remove", json!({"session": id, "versions": ["v003"], "force": false}));
        let components = json!([{"session": id}, {"session": other}]);
        self.run("composition_create", json!({"name": "both", "budget": 6000, "components": components}));
        self.run("composition_create", json!({"name": "one", "budget": 6000, "components": [{"session": id}]}));
        let cwd = self.text("");
        self.run("resume_create", json!({"name": "both", "cwd": cwd}));
        self.run("composition_remove", json!({"name": "one"}));
        self.run("checkpoint_create", json!({"name": "before"}));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn file(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs_err::write(path, content).expect("written");
    }

    fn ingest(&self, name: &str) {
        self.run("session_ingest", json!({"paths": [self.text(name)]}));
    }

    #[track_caller]
    fn run(&self, command: &str, request: Value) -> Value {
        let call = Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() };
        dispatch(&call, command, request).unwrap_or_else(|error| panic!("{command}: {error}: {:?}", error.hint))
    }

    fn content(&self) -> Vec<String> {
        self.engine.db().read(|rows| rows.whole_content()).expect("asked")
    }

    /// Closes the memory, does something to its files, and opens it again.
    fn after(self, change: impl FnOnce(&Home)) -> Self {
        let home = self.engine.home().clone();
        drop(self.engine);
        change(&home);
        let engine = open_at(self.folder.path()).expect("the memory opens");
        Self { folder: self.folder, engine }
    }

    #[track_caller]
    fn is_sound(&self) {
        let health = self.run("health_check", json!({}));
        assert_eq!(health["ok"], true, "{health:#}");
    }
}

fn open_at(folder: &Path) -> Result<Engine> {
    Engine::open(options(folder))
}

fn options(folder: &Path) -> EngineOptions {
    EngineOptions {
        home: folder.join("memory"),
        claude_home: folder.join("claude"),
        export_folders: Vec::new(),
        clock: Arc::new(|| Time::from_millis(1_800_000_000_000)),
        sink: Arc::new(|_| {}),
        models: Arc::new(crate::language_model::NoModels),
    }
}

#[track_caller]
fn same(before: &[String], after: &[String]) {
    let missing: Vec<&String> = before.iter().filter(|row| !after.contains(row)).collect();
    let more: Vec<&String> = after.iter().filter(|row| !before.contains(row)).collect();
    assert!(missing.is_empty() && more.is_empty(), "missing: {missing:#?}\nmore: {more:#?}");
    assert_eq!(before.len(), after.len(), "each as often");
}

fn lose_database(home: &Home) {
    for ending in BESIDE {
        let _ = fs_err::remove_file(beside(&home.database(), ending));
    }
}

#[test]
fn a_lost_database_is_made_anew_from_files_with_equal_content() {
    let memory = Memory::full();
    let before = memory.content();
    assert!(before.len() > 100, "there is something to lose: {}", before.len());
    memory.is_sound();
    let memory = memory.after(lose_database);
    same(&before, &memory.content());
    memory.is_sound();
    let again = memory.run(
        "session_ingest",
        json!({"paths": [memory.text("copies"), memory.text("elsewhere"), memory.text("exports")]}),
    );
    assert_eq!(again["totals"]["new_unique"], 0, "everything is known: {again:#}");
    assert_eq!(again["totals"]["bytes_read"], 0, "and where it was found");
}

#[test]
fn manifests_that_are_lost_are_written_anew_with_equal_content() {
    let memory = Memory::full();
    let before = memory.content();
    let memory = memory.after(|home| {
        for entry in fs_err::read_dir(home.projects()).expect("listed") {
            let _ = fs_err::remove_file(entry.expect("an entry").path().join("manifest.json"));
        }
    });
    memory.is_sound();
    // They are as good as those before: the database can be made of them.
    let memory = memory.after(lose_database);
    same(&before, &memory.content());
}

#[test]
fn a_lost_index_is_made_anew_and_finds_the_same() {
    let memory = Memory::full();
    let find = |memory: &Memory| {
        let mut answer = memory.run("search_query", json!({"query": "tokens expire"}));
        // How often words occur is counted over what the index once had.
        answer["hits"].as_array_mut().expect("hits").iter_mut().for_each(|hit| drop(hit["score"].take()));
        answer["hits"].clone()
    };
    let before = find(&memory);
    assert!(before.as_array().is_some_and(|hits| !hits.is_empty()), "there is something to find");
    let memory = memory.after(|home| fs_err::remove_dir_all(home.search()).expect("removed"));
    assert_eq!(find(&memory), before);
    let memory = memory.after(lose_database);
    assert_eq!(find(&memory), before, "also with a database that was made anew");
    memory.is_sound();
}

#[test]
fn a_database_is_made_anew_while_the_memory_is_open_and_the_old_one_is_kept() {
    let memory = Memory::full();
    let before = memory.content();
    let rebuilt = memory.run("memory_rebuild", json!({}));
    assert!(rebuilt["issues"].as_array().is_some_and(Vec::is_empty), "{rebuilt:#}");
    same(&before, &memory.content());
    let aside = PathBuf::from(rebuilt["set_aside"].as_str().expect("a path"));
    assert!(aside.is_file(), "the old one is kept");
    memory.is_sound();
    memory.ingest("copies");
}

#[test]
fn a_memory_that_another_program_uses_is_not_rebuilt() {
    let memory = Memory::full();
    let other = open_at(memory.folder.path()).expect("opened twice");
    let call = Call { engine: &memory.engine, progress: &|_| {}, cancel: &Cancel::default() };
    let error = open(&call).expect_err("another has it open");
    assert_eq!(error.kind, ErrorKind::Conflict);
    let work = Work { progress: &|_| {}, cancel: &Cancel::default() };
    assert_eq!(closed(&options(memory.folder.path()), &work).expect_err("both have it").kind, ErrorKind::Conflict);
    drop(other);
    open(&call).expect("alone again");
}

#[test]
fn a_damaged_database_says_how_to_make_it_anew() {
    let memory = Memory::full();
    let before = memory.content();
    let home = memory.engine.home().clone();
    let Memory { folder, engine } = memory;
    drop(engine);
    fs_err::write(home.database(), "this is no database, but something else of some length").expect("written");
    let error = open_at(folder.path()).err().expect("it does not open");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("recollect rebuild")), "{error:?}");
    let rebuilt =
        closed(&options(folder.path()), &Work { progress: &|_| {}, cancel: &Cancel::default() }).expect("made");
    assert_eq!(rebuilt.issues, Vec::<String>::new());
    let memory = Memory { engine: open_at(folder.path()).expect("it opens"), folder };
    same(&before, &memory.content());
    memory.is_sound();
}

#[test]
fn what_a_newer_program_wrote_is_refused_and_left_as_it_is() {
    let memory = Memory::full();
    let home = memory.engine.home().clone();
    let Memory { folder, engine } = memory;
    let project = engine.db().read(|rows| rows.all_projects()).expect("asked").remove(0);
    drop(engine);
    let path = home.manifest(&project);
    let text = fs_err::read_to_string(&path).expect("a manifest");
    fs_err::write(&path, text.replace("\"version\": \"1.0.0\"", "\"version\": \"2.0.0\"")).expect("written");
    lose_database(&home);
    let newer = fs_err::read(&path).expect("there");
    let error = open_at(folder.path()).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::NewerMemory, "{error:?}");
    assert!(fs_err::read(&path).expect("there") == newer, "it is as it was");
    fs_err::write(&path, text).expect("written");
    let pack = walkdir::WalkDir::new(home.archive()).into_iter().filter_map(std::result::Result::ok);
    let pack =
        pack.map(walkdir::DirEntry::into_path).find(|path| path.extension().is_some_and(|ending| ending == "pack"));
    let pack = pack.expect("a pack");
    let mut bytes = fs_err::read(&pack).expect("read");
    bytes[7] = b'2';
    fs_err::write(&pack, &bytes).expect("written");
    let error = open_at(folder.path()).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::NewerMemory, "{error:?}");
    bytes[7] = b'1';
    fs_err::write(&pack, &bytes).expect("written");
    open_at(folder.path()).expect("as before");
}

#[test]
fn without_a_pack_everything_else_is_there_and_what_is_missing_is_told_and_mended() {
    let memory = Memory::full();
    let home = memory.engine.home().clone();
    let sessions = |memory: &Memory| memory.run("session_list", json!({}))["total"].clone();
    let before = sessions(&memory);
    let memory = memory.after(|_| {
        lose_database(&home);
        let packs = walkdir::WalkDir::new(home.archive()).sort_by_file_name().into_iter();
        let mut packs = packs.filter_map(std::result::Result::ok).map(walkdir::DirEntry::into_path);
        let pack = packs.find(|path| path.extension().is_some_and(|ending| ending == "pack"));
        fs_err::remove_file(pack.expect("a pack")).expect("removed");
    });
    assert_eq!(sessions(&memory), before, "every session is listed");
    let health = memory.run("health_check", json!({}));
    assert_eq!(health["ok"], false, "what is missing is found");
    let mended = memory.run("health_repair", json!({}));
    assert_eq!(mended["ok"], true, "read again from the originals: {mended:#}");
}

#[test]
fn every_table_has_its_place_in_the_description() {
    let memory = Memory::new();
    let text =
        fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rebuild.md")).expect("the page");
    for table in memory.engine.db().read(|rows| rows.tables()).expect("asked") {
        assert!(text.contains(&format!("| `{table}` |")), "docs/rebuild.md says where `{table}` comes from");
    }
}

/// Something that only the database says: its manifest is behind.
fn change_unseen(memory: &Memory) {
    memory
        .engine
        .db()
        .write(|rows| {
            let id = rows.all_projects()?.remove(0);
            let project = rows.project(&id)?.expect("a project");
            rows.set_project(&ProjectRow { display_name: "named a moment ago".to_owned(), ..project })?;
            rows.mark_dirty(&id)
        })
        .expect("changed");
}

#[test]
fn what_only_a_sound_database_says_outlasts_making_it_anew() {
    let memory = Memory::full();
    change_unseen(&memory);
    let before = memory.content();
    memory.run("memory_rebuild", json!({}));
    same(&before, &memory.content());
    let home = memory.engine.home().clone();
    let before: Vec<String> = before.iter().map(|row| row.replace("named a moment ago", "another name")).collect();
    memory
        .engine
        .db()
        .write(|rows| {
            let id = rows.all_projects()?.remove(0);
            let project = rows.project(&id)?.expect("a project");
            rows.set_project(&ProjectRow { display_name: "another name".to_owned(), ..project })?;
            rows.mark_dirty(&id)
        })
        .expect("changed");
    let Memory { folder, engine } = memory;
    let lost = home.manifest(&engine.db().read(|rows| rows.all_projects()).expect("asked").remove(1));
    drop(engine);
    fs_err::remove_file(lost).expect("removed");
    closed(&options(folder.path()), &Work { progress: &|_| {}, cancel: &Cancel::default() }).expect("made");
    let memory = Memory { engine: open_at(folder.path()).expect("it opens"), folder };
    same(&before, &memory.content());
    memory.is_sound();
}

#[test]
fn the_database_of_a_newer_program_is_not_made_anew() {
    let memory = Memory::full();
    let home = memory.engine.home().clone();
    let newer = Db::newest_format() + 1;
    memory.engine.db().set_format(newer);
    let call = Call { engine: &memory.engine, progress: &|_| {}, cancel: &Cancel::default() };
    assert_eq!(open(&call).expect_err("refused").kind, ErrorKind::NewerMemory, "while it is open");
    let Memory { folder, engine } = memory;
    drop(engine);
    let work = Work { progress: &|_| {}, cancel: &Cancel::default() };
    let error = closed(&options(folder.path()), &work).expect_err("refused");
    assert_eq!(error.kind, ErrorKind::NewerMemory, "{error:?}");
    assert_eq!(Db::look(&home.database()).map(|look| look.format), Some(newer), "it is where it was");
}

#[test]
fn a_database_without_tables_is_as_good_as_lost() {
    let memory = Memory::full();
    let before = memory.content();
    let memory = memory.after(|home| {
        lose_database(home);
        Db::make_empty(&home.database());
        assert!(fs_err::metadata(home.database()).is_ok_and(|metadata| metadata.len() > 0), "a file of some length");
    });
    same(&before, &memory.content());
    memory.is_sound();
}

#[test]
fn programs_that_start_at_once_on_a_lost_database_all_open_it() {
    let mut memory = Memory::full();
    let before = memory.content();
    for _ in 0..3 {
        let home = memory.engine.home().clone();
        let Memory { folder, engine } = memory;
        drop(engine);
        lose_database(&home);
        let barrier = std::sync::Barrier::new(4);
        let start = || {
            barrier.wait();
            open_at(folder.path()).map(drop)
        };
        let opened: Vec<Result<()>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
        memory = Memory { engine: open_at(folder.path()).expect("it opens"), folder };
        same(&before, &memory.content());
    }
}

#[test]
fn two_at_once_in_one_program_come_one_after_the_other() {
    let memory = Memory::full();
    let before = memory.content();
    let make_anew = || {
        let call = Call { engine: &memory.engine, progress: &|_| {}, cancel: &Cancel::default() };
        open(&call).map(drop)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(make_anew)).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic").expect("made"));
    });
    same(&before, &memory.content());
    let work = Work { progress: &|_| {}, cancel: &Cancel::default() };
    let error = closed(&options(memory.folder.path()), &work).expect_err("it still says that it is in use");
    assert_eq!(error.kind, ErrorKind::Conflict, "{error:?}");
}
