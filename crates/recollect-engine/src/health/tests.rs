//! The doctor on a real memory in a temporary folder.

use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::engine::{Cancel, Engine, EngineOptions};
use crate::ids::SessionId;
use crate::testing::Transcript;
use crate::time::Time;

struct Memory {
    folder: tempfile::TempDir,
    engine: Engine,
    transcripts: Vec<Transcript>,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = open(folder.path());
        let transcripts = vec![Transcript::new("one").work("one", 30), Transcript::new("two").work("two", 30)];
        for transcript in &transcripts {
            transcript.write(&folder.path().join("claude")).expect("a written transcript");
        }
        let memory = Self { folder, engine, transcripts };
        for transcript in &memory.transcripts {
            // Each in a pack of its own.
            let paths = vec![memory.original(transcript).display().to_string()];
            memory
                .call(|call| registry::ingest(call, &IngestRequest { paths, ..IngestRequest::default() }))
                .expect("ingested");
        }
        memory
    }

    fn call<T>(&self, work: impl FnOnce(&Call<'_>) -> T) -> T {
        work(&Call { engine: &self.engine, progress: &|_| {}, cancel: &Cancel::default() })
    }

    fn original(&self, transcript: &Transcript) -> PathBuf {
        let name = format!("{}.jsonl", transcript.session_id());
        walkdir::WalkDir::new(self.folder.path().join("claude"))
            .into_iter()
            .map(|entry| entry.expect("listed").into_path())
            .find(|path| path.ends_with(&name))
            .expect("the transcript")
    }

    /// As another program opens it.
    fn reopened(mut self) -> Self {
        self.engine = open(self.folder.path());
        self
    }

    fn packs(&self) -> Vec<PathBuf> {
        let mut packs: Vec<PathBuf> = walkdir::WalkDir::new(self.engine.home().archive())
            .into_iter()
            .map(|entry| entry.expect("listed").into_path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "pack"))
            .collect();
        packs.sort();
        packs
    }

    #[track_caller]
    fn finds(&self, name: &str) {
        let health = self.call(check).expect("checked");
        let wrong: Vec<&HealthFinding> = health.checks.iter().filter(|check| !check.ok).collect();
        assert!(!health.ok && wrong.iter().any(|check| check.name == name), "{name} is found: {health:?}");
        assert!(wrong.iter().all(|check| check.remedy.is_some() && !check.problems.is_empty()), "{health:?}");
    }

    #[track_caller]
    fn mends(&self) {
        let health = self.call(repair).expect("repaired");
        assert!(health.ok, "{health:?}");
        assert!(!health.mended.is_empty(), "it says what it did");
        for transcript in &self.transcripts {
            let mut out = Vec::new();
            registry::restore_to(&self.engine, &SessionId::new(transcript.session_id()), &mut out).expect("restored");
            assert!(out == transcript.bytes(), "every session is whole");
        }
    }
}

fn open(folder: &Path) -> Engine {
    Engine::open(EngineOptions {
        home: folder.join("memory"),
        claude_home: folder.join("claude"),
        clock: Arc::new(|| Time::from_millis(1_768_900_000_000)),
        sink: Arc::new(|_| {}),
        export_folders: Vec::new(),
        models: Arc::new(crate::language_model::NoModels),
    })
    .expect("the memory opens")
}

#[test]
fn a_memory_in_use_is_sound() {
    let memory = Memory::new();
    let health = memory.call(check).expect("checked");
    assert!(health.ok, "{health:?}");
    let names: Vec<&str> = health.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(
        names,
        ["database", "packs", "watermarks", "index", "manifests", "originals", "versions", "permissions", "backup"]
    );
}

#[test]
fn damaged_packs_are_mended_from_originals() {
    for damage in ["flip", "cut", "remove"] {
        let memory = Memory::new();
        let pack = &memory.packs()[0];
        let mut bytes = fs_err::read(pack).expect("a pack");
        match damage {
            "flip" => {
                let middle = bytes.len() / 3;
                bytes[middle] ^= 1;
                fs_err::write(pack, bytes).expect("written");
            }
            "cut" => fs_err::write(pack, &bytes[..bytes.len() / 2]).expect("written"),
            _ => fs_err::remove_file(pack).expect("removed"),
        }
        let memory = memory.reopened();
        memory.finds("packs");
        memory.mends();
        let aside = memory.engine.home().archive().join("damaged");
        assert_eq!(aside.exists(), damage != "remove", "what is damaged is set aside, not deleted");
    }
}

#[test]
fn what_cannot_be_mended_is_said_and_the_rest_is_whole() {
    let memory = Memory::new();
    let transcript = &memory.transcripts[0];
    fs_err::remove_file(memory.original(transcript)).expect("the client deleted it");
    let size = |path: &PathBuf| fs_err::metadata(path).expect("there").len();
    // The pack of the session whose original is gone: its session is the one that can no longer be read.
    for pack in memory.packs() {
        let bytes = fs_err::read(&pack).expect("a pack");
        fs_err::remove_file(&pack).expect("removed");
        let fresh = open(memory.folder.path());
        let lost =
            registry::restore_to(&fresh, &SessionId::new(transcript.session_id()), &mut std::io::sink()).is_err();
        if lost {
            break;
        }
        fs_err::write(&pack, bytes).expect("put back");
        assert!(size(&pack) > 0);
    }
    let memory = memory.reopened();
    let health = memory.call(repair).expect("repaired as far as it goes");
    let packs = health.checks.iter().find(|check| check.name == "packs").expect("the check");
    assert!(!health.ok && packs.remedy.as_ref().is_some_and(|remedy| remedy.contains("copy")), "{health:?}");
    let mut out = Vec::new();
    let other = &memory.transcripts[1];
    registry::restore_to(&memory.engine, &SessionId::new(other.session_id()), &mut out).expect("restored");
    assert!(out == other.bytes());
}

#[test]
fn mirrors_of_the_database_are_written_anew() {
    let memory = Memory::new();
    let project = memory.engine.db().read(|rows| rows.projects()).expect("projects")[0].project.project_id.clone();
    let manifest = memory.engine.home().manifest(&project);
    fs_err::remove_file(&manifest).expect("removed");
    memory.finds("manifests");
    memory.mends();
    fs_err::write(&manifest, "{ not JSON").expect("written");
    memory.finds("manifests");
    memory.mends();
    assert!(manifest.with_extension("json.damaged").exists(), "what is not understood is set aside");
    let originals = memory.engine.home().originals(&project);
    let link = fs_err::read_dir(&originals).expect("links").next().expect("a link").expect("a link").path();
    fs_err::remove_file(&link).expect("removed");
    memory.finds("originals");
    memory.mends();
}

#[test]
fn a_watermark_that_is_wrong_is_read_again() {
    let memory = Memory::new();
    let session = SessionId::new(memory.transcripts[0].session_id());
    let file = memory.engine.db().read(|rows| rows.main_file(&session)).expect("asked").expect("a file");
    let wrong = crate::db::FileRow { bytes: file.bytes + 7, parsed_bytes: file.bytes + 7, ..file };
    memory.engine.db().write(|rows| rows.put_file(&wrong)).expect("written");
    memory.finds("watermarks");
    memory.mends();
}

#[cfg(unix)]
#[test]
fn rights_of_others_are_found_and_taken() {
    use std::os::unix::fs::PermissionsExt;
    let memory = Memory::new();
    let pack = memory.packs().remove(0);
    fs_err::set_permissions(&pack, std::fs::Permissions::from_mode(0o644)).expect("set");
    memory.finds("permissions");
    memory.mends();
    assert_eq!(fs_err::metadata(&pack).map(|metadata| metadata.permissions().mode() & 0o777).unwrap_or(0o600), 0o600);
}
