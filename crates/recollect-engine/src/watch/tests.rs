//! Following on real folders: each test waits for what it is told, or for what the memory says, never for time to pass.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::{Follow, Told, WatchState};
use crate::api::ingest::{IngestRequest, IngestStatus};
use crate::api::search::SearchRequest;
use crate::api::session::SessionRemoveRequest;
use crate::engine::{Call, Cancel, Engine, EngineOptions};
use crate::event::Event;
use crate::ids::SessionId;
use crate::testing::Transcript;
use crate::time::Time;
use crate::{registry, search};

/// Far more than anything takes here.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was told, for waiting on it.
#[derive(Default)]
struct Heard {
    news: Mutex<Vec<News>>,
    came: Condvar,
}

#[derive(Debug, Clone, PartialEq)]
enum News {
    State(WatchState),
    File(PathBuf, IngestStatus),
    Event(Event),
}

impl Heard {
    fn add(&self, news: impl IntoIterator<Item = News>) {
        self.news.lock().expect("not poisoned").extend(news);
        self.came.notify_all();
    }

    /// Waits until what was told fulfils a condition.
    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn(&[News]) -> bool) {
        let news = self.news.lock().expect("not poisoned");
        let (news, waited) = self.came.wait_timeout_while(news, PATIENCE, |news| !is_so(news)).expect("not poisoned");
        assert!(!waited.timed_out(), "waited too long until {what}; told was: {news:#?}");
    }

    #[track_caller]
    fn until_state(&self, state: WatchState) {
        self.until(&format!("{state:?}"), |news| {
            news.iter().rfind(|news| matches!(news, News::State(_))) == Some(&News::State(state))
        });
    }

    fn count(&self, news: &News) -> usize {
        self.news.lock().expect("not poisoned").iter().filter(|told| *told == news).count()
    }
}

struct Memory {
    folder: PathBuf,
    engine: Engine,
    heard: Arc<Heard>,
}

impl Memory {
    /// One program on the memory in a folder.
    fn open(folder: &Path) -> Self {
        let heard = Arc::new(Heard::default());
        let events = Arc::clone(&heard);
        let engine = Engine::open(EngineOptions {
            home: folder.join("memory"),
            claude_home: folder.join("client"),
            clock: Arc::new(|| Time::from_millis(1_768_990_000_000)),
            sink: Arc::new(move |event| {
                if !matches!(event, Event::WatchChanged { .. }) {
                    events.add([News::Event(event)]);
                }
            }),
            export_folders: Vec::new(),
            models: Arc::new(crate::language_model::NoModels),
        })
        .expect("the memory opens");
        Self { folder: folder.to_owned(), engine, heard }
    }

    fn follow(&self, at_once: bool) {
        let heard = Arc::clone(&self.heard);
        let told = Arc::new(move |told: Told<'_>| match told {
            Told::Status(status) => heard.add([News::State(status.state)]),
            Told::TookIn(report) => {
                heard.add(report.files.iter().map(|file| News::File(PathBuf::from(&file.path), file.status)));
            }
        });
        self.engine.watch().start(&self.engine, Follow { at_once, told }).expect("it follows");
    }

    fn client(&self) -> PathBuf {
        self.folder.join("client")
    }

    fn write(&self, transcript: &Transcript) -> PathBuf {
        transcript.write(&self.client()).expect("a written transcript")
    }

    /// Waits until the memory gives a session back byte for byte.
    #[track_caller]
    fn until_kept(&self, transcript: &Transcript) {
        let session = SessionId::new(transcript.session_id());
        let started = Instant::now();
        loop {
            let mut bytes = Vec::new();
            if registry::restore_to(&self.engine, &session, &mut bytes).is_ok() && bytes == transcript.bytes() {
                return;
            }
            let news = self.heard.news.lock().expect("not poisoned");
            let (news, _) = self.heard.came.wait_timeout(news, Duration::from_millis(100)).expect("not poisoned");
            assert!(started.elapsed() < PATIENCE, "waited too long for {session}; told was {news:#?}");
        }
    }

    fn finds(&self, words: &str) -> bool {
        let call = Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() };
        let request = SearchRequest { query: words.to_owned(), at_once: true, ..SearchRequest::default() };
        !search::query(&call, &request).expect("an answer").hits.is_empty()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.engine.watch().stop();
    }
}

fn append(path: &Path, from: &Transcript, to: &Transcript) {
    let mut file = fs_err::OpenOptions::new().append(true).open(path).expect("an open transcript");
    file.write_all(&to.bytes()[from.bytes().len()..]).expect("written on");
}

#[test]
fn what_was_written_before_is_caught_up_with_and_what_follows_is_kept_listed_and_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path());
    let before = Transcript::new("one").user("Fix the login.").assistant("Done.");
    let path = memory.write(&before);
    memory.follow(true);
    memory.heard.until_state(WatchState::Following);
    memory.until_kept(&before);

    let after = before.clone().user("Now the peregrine falcon.");
    append(&path, &before, &after);
    memory.until_kept(&after);
    memory.heard.until("it can be searched", |news| {
        news.iter().filter(|news| matches!(news, News::Event(Event::IndexChanged { .. }))).count() >= 2
    });
    assert!(memory.finds("peregrine"), "what was appended is found");
    let other = Transcript::new("two").user("Another project.").cwd("/home/dev/other");
    memory.write(&other);
    memory.until_kept(&other);

    memory.engine.watch().stop();
    let dirty = memory.engine.db().read(|rows| rows.dirty_projects()).expect("asked");
    assert_eq!(dirty, [], "when it ends, the files say what the database says");
    assert_eq!(memory.engine.watch().status().state, WatchState::Off);
}

#[test]
fn a_folder_that_comes_goes_and_comes_again_is_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path());
    memory.follow(true);
    memory.heard.until_state(WatchState::Following);
    let transcripts: Vec<Transcript> =
        ["a", "b", "c"].iter().map(|name| Transcript::new(name).user(&format!("Request {name}."))).collect();
    memory.write(&transcripts[0]);
    memory.until_kept(&transcripts[0]);
    fs_err::remove_dir_all(memory.client().join("projects")).expect("removed");
    memory.write(&transcripts[1]);
    memory.until_kept(&transcripts[1]);
    fs_err::remove_dir_all(memory.client()).expect("removed");
    memory.write(&transcripts[2]);
    memory.until_kept(&transcripts[2]);
    memory.until_kept(&transcripts[0]);
}

#[test]
fn one_program_follows_and_another_takes_over_and_tells_what_the_first_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Memory::open(folder.path());
    first.follow(true);
    first.heard.until_state(WatchState::Following);
    let second = Memory::open(folder.path());
    second.follow(true);
    second.heard.until_state(WatchState::Elsewhere);

    let one = Transcript::new("one").user("Seen by the first.");
    first.write(&one);
    let session = SessionId::new(one.session_id());
    second.heard.until("the second tells its faces of it", |news| {
        news.iter().any(|news| {
            matches!(news, News::Event(Event::SessionsChanged { session_ids, .. }) if session_ids.contains(&session))
        })
    });
    first.engine.watch().stop();
    second.heard.until_state(WatchState::Following);
    let two = Transcript::new("two").user("Seen by the second.");
    second.write(&two);
    second.until_kept(&two);
}

#[test]
fn an_empty_memory_waits_for_the_word_of_the_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path());
    let transcript = Transcript::new("one").user("Not before I say so.");
    memory.write(&transcript);
    memory.follow(false);
    memory.heard.until_state(WatchState::Waiting);
    // Another program takes the first session in, as the user says.
    let other = Memory::open(folder.path());
    let mine =
        Transcript::new("mine").user("Take this.").write_into(&folder.path().join("elsewhere")).expect("written");
    let call = Call { engine: &other.engine, progress: &|_| {}, cancel: &Cancel::default() };
    let request = IngestRequest { paths: vec![mine.display().to_string()], ..IngestRequest::default() };
    registry::ingest(&call, &request).expect("taken in");
    memory.until_kept(&transcript);
}

#[test]
fn while_paused_nothing_comes_in_and_afterwards_all_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path());
    memory.follow(true);
    memory.heard.until_state(WatchState::Following);
    let status = memory.engine.watch().pause(true).expect("paused");
    assert_eq!(status.state, WatchState::Paused);
    memory.heard.until_state(WatchState::Paused);
    let transcript = Transcript::new("one").user("Written in the pause.");
    memory.write(&transcript);
    // Another program may follow in the meantime.
    let other = Memory::open(folder.path());
    other.follow(true);
    other.until_kept(&transcript);
    other.engine.watch().stop();
    memory.engine.watch().pause(false).expect("goes on");
    memory.heard.until_state(WatchState::Following);
    let next = Transcript::new("two").user("Written afterwards.");
    memory.write(&next);
    memory.until_kept(&next);
}

#[test]
fn a_file_that_cannot_be_read_stops_nothing_and_is_not_read_again_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path());
    let project = memory.client().join("projects/-home-dev-demo");
    fs_err::create_dir_all(&project).expect("a folder");
    let broken = project.join("11111111-1111-4111-8111-111111111111.jsonl");
    fs_err::write(&broken, "this is no record\n").expect("written");
    let sound = Transcript::new("sound").user("All else goes on.");
    memory.write(&sound);
    memory.follow(true);
    memory.heard.until_state(WatchState::Following);
    memory.until_kept(&sound);
    let failed = News::File(broken, IngestStatus::Failed);
    assert_eq!(memory.heard.count(&failed), 1, "it was named once");
    // Another look at everything.
    memory.engine.watch().pause(true).expect("paused");
    memory.heard.until_state(WatchState::Paused);
    memory.engine.watch().pause(false).expect("goes on");
    memory.heard.until_state(WatchState::Following);
    assert_eq!(memory.heard.count(&failed), 1, "as it is, it is not read again");
    let mended = Transcript::with_id("11111111-1111-4111-8111-111111111111").user("Mended.");
    memory.write(&mended);
    memory.until_kept(&mended);
}

#[test]
fn exports_in_folders_of_the_settings_are_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path());
    let exports = folder.path().join("exports");
    fs_err::create_dir_all(exports.join("deep")).expect("a folder");
    memory.follow(true);
    memory.heard.until_state(WatchState::Following);
    let home = memory.engine.home();
    let value = serde_json::json!([exports]);
    crate::config::set(&home.config(), &home.lock(), "watch.exportFolders", &value, memory.engine.now()).expect("set");
    let talk = "Human: Where is the kestrel?\n\nAssistant: On the tower.\n";
    fs_err::write(exports.join("deep/passed over.txt"), talk).expect("written");
    fs_err::write(exports.join("notes.txt"), "Nothing was said here.\n").expect("written");
    fs_err::write(exports.join("talk.txt"), talk).expect("written");
    let taken = News::File(exports.join("talk.txt"), IngestStatus::New);
    memory.heard.until("the export is taken in", |news| news.contains(&taken));
    let sessions = memory.engine.db().read(|rows| rows.counts()).expect("asked").0;
    assert_eq!(sessions, 1, "what holds no conversation, or lies deeper, is left alone");
}

#[test]
fn what_the_user_took_out_stays_out_until_it_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Memory::open(folder.path());
    let gone = Transcript::new("gone").user("Forget this, please.").assistant("Done.");
    let path = memory.write(&gone);
    memory.follow(true);
    memory.until_kept(&gone);
    let session = SessionId::new(gone.session_id());
    let request = SessionRemoveRequest { session: session.to_string(), purge: true, force: false };
    registry::remove(&memory.engine, &request).expect("removed");

    let longer = gone.clone().user("And this.");
    append(&path, &gone, &longer);
    let other = Transcript::new("other").user("Another session.").assistant("Good.");
    memory.write(&other);
    memory.until_kept(&other);
    // At the latest when it begins anew it looks at everything.
    memory.engine.watch().stop();
    memory.follow(true);
    let last = Transcript::new("last").user("One more session.").assistant("Good.");
    memory.write(&last);
    memory.until_kept(&last);
    assert!(registry::summary(&memory.engine, &session).is_err(), "nobody asked for it");

    let call = Call { engine: &memory.engine, progress: &|_| {}, cancel: &Cancel::default() };
    let request = IngestRequest { paths: vec![path.display().to_string()], ..IngestRequest::default() };
    registry::ingest(&call, &request).expect("asked for");
    memory.until_kept(&longer);
    let longest = longer.clone().user("And that.");
    append(&path, &longer, &longest);
    memory.until_kept(&longest);
}
