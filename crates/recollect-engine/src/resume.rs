//! Puts a session where Claude Code finds it: a new file in the client's folder for a working directory.
//!
//! Nothing that exists is ever touched. The client's rules are those that the real one was seen to follow.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;
use uuid::Uuid;

use crate::error::{Error, ErrorKind, Result};
use crate::home::create_private;
use crate::time::Time;
use crate::transcript;

/// Where a folder's name is cut, in characters of UTF-16, which after munging are bytes.
const LONGEST: usize = 200;

/// The folder in which the client runs, as it names it itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingFolder {
    /// Its path, links resolved.
    pub path: String,
    /// The branch that is checked out in it; empty when there is none.
    pub git_branch: String,
}

impl WorkingFolder {
    /// Resolves a folder.
    ///
    /// # Errors
    /// `NotFound` when it is no folder, `Usage` when its path is not UTF-8: the client could not name it.
    pub fn resolve(folder: &Path) -> Result<Self> {
        let hint = "give the folder in which Claude Code is to run with --cwd";
        let missing = |_| Error::not_found(format!("there is no folder `{}`", folder.display())).hint(hint);
        let path = fs_err::canonicalize(folder).map_err(missing)?;
        if !path.is_dir() {
            return Err(Error::not_found(format!("`{}` is not a folder", folder.display())).hint(hint));
        }
        let git_branch = branch_of(&path).unwrap_or_default();
        let path = path.into_os_string().into_string().map_err(|path| {
            Error::usage(format!("the path `{}` is not text", Path::new(&path).display()))
                .hint("rename the folder, or choose another with --cwd")
        })?;
        Ok(Self { path, git_branch })
    }
}

/// The branch that is checked out in the repository around a folder.
fn branch_of(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let git = if git.is_file() {
        // A worktree: the file names where its data is.
        let pointer = fs_err::read_to_string(&git).ok()?;
        git.parent()?.join(pointer.strip_prefix("gitdir:")?.trim())
    } else {
        git
    };
    let head = fs_err::read_to_string(git.join("HEAD")).ok()?;
    head.strip_prefix("ref: refs/heads/").map(|branch| branch.trim().to_owned())
}

/// The folder in which the client looks for sessions of a working directory.
///
/// Clients before 2.1 did not cut long names, and some of 2.1 composed letters and marks (NFC): a folder that such a
/// client made is used on.
pub fn project_folder(claude_home: &Path, working_folder: &str) -> PathBuf {
    let projects = claude_home.join("projects");
    let composed: String = working_folder.nfc().collect();
    let names = [cut(working_folder), cut(&composed), munged(working_folder), munged(&composed)];
    let existing = names.iter().map(|name| projects.join(name)).find(|folder| folder.is_dir());
    existing.unwrap_or_else(|| projects.join(&names[0]))
}

/// The client's name for a path: each unit of UTF-16 outside `[A-Za-z0-9]` becomes `-`.
fn munged(path: &str) -> String {
    let dashed = |unit: u16| char::from_u32(u32::from(unit)).filter(char::is_ascii_alphanumeric).unwrap_or('-');
    path.encode_utf16().map(dashed).collect()
}

/// The name, cut where it is long: then a hash of the whole path follows.
fn cut(path: &str) -> String {
    let name = munged(path);
    if name.len() <= LONGEST {
        return name;
    }
    format!("{}-{}", &name[..LONGEST], hash(path))
}

/// The 32-bit hash of the units of UTF-16 with multiplier 31, its magnitude in base 36.
fn hash(path: &str) -> String {
    let hash = path.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    let mut rest = hash.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(rest % 36, 36).unwrap_or('0'));
        rest /= 36;
        if rest == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// Makes a session's lines those of another session in another folder. The last record is given the time `now`, so that
/// the client shows the session as its latest.
///
/// # Errors
/// `Io` when a line is not a record.
pub fn readdressed(lines: &str, session_id: Uuid, folder: &WorkingFolder, now: Time) -> Result<String> {
    let mut records = Vec::new();
    for (at, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let record: Map<String, Value> = serde_json::from_str(line).map_err(|error| {
            Error::new(ErrorKind::Io, format!("line {} of the composition is damaged: {error}", at + 1))
                .hint("compose it again")
        })?;
        records.push(record);
    }
    let last = records.iter().rposition(|record| record.contains_key("timestamp"));
    let mut text = String::with_capacity(lines.len());
    for (at, record) in records.iter_mut().enumerate() {
        for name in ["uuid", "parentUuid", "leafUuid"] {
            if let Some(Value::String(uuid)) = record.get_mut(name) {
                // Another file of the same composition may be in the same folder.
                *uuid = Uuid::new_v5(&session_id, uuid.as_bytes()).to_string();
            }
        }
        for (name, value) in [
            ("sessionId", session_id.to_string()),
            ("cwd", folder.path.clone()),
            ("gitBranch", folder.git_branch.clone()),
        ] {
            if let Some(field) = record.get_mut(name) {
                *field = value.into();
            }
        }
        if last == Some(at) {
            record.insert("timestamp".to_owned(), now.to_string().into());
        }
        text.push_str(&serde_json::to_string(record)?);
        text.push('\n');
    }
    Ok(text)
}

/// Whether a session of the client ends with a record of a composition: it was started from one, and nobody has gone on.
/// Only its end is read.
pub fn is_untouched(path: &Path) -> Result<bool> {
    let mut file = fs_err::File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut window = 1 << 16;
    loop {
        let start = bytes.saturating_sub(window);
        file.seek(SeekFrom::Start(start))?;
        let mut end = Vec::new();
        (&mut file).take(bytes - start).read_to_end(&mut end)?;
        let whole = end.trim_ascii_end();
        let line = match memchr::memrchr(b'\n', whole) {
            Some(before) => &whole[before + 1..],
            None if start == 0 => whole,
            None => {
                window *= 4;
                continue;
            }
        };
        let record = serde_json::from_slice::<Map<String, Value>>(line);
        return Ok(record.is_ok_and(|record| transcript::is_composed(&record)));
    }
}

/// Writes a session of the client: the whole file appears at once, and only where there was none.
///
/// # Errors
/// `Conflict` when there is one already, `Io` when the folder cannot be written to; nothing is left then.
pub fn write_new(folder: &Path, session_id: Uuid, lines: &str) -> Result<PathBuf> {
    create_private(folder)?;
    let path = folder.join(format!("{session_id}.jsonl"));
    let mut temporary = tempfile::Builder::new().prefix(".recollect-").tempfile_in(folder)?;
    temporary.write_all(lines.as_bytes())?;
    temporary.as_file().sync_all()?;
    match temporary.persist_noclobber(&path) {
        Ok(_) => Ok(path),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Error::conflict(format!("`{}` exists already", path.display())).hint("nothing was changed; try again"))
        }
        Err(error) => Err(error.error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the real client made of these paths: 2.1.330 for all, 2.0.76 the same where nothing is cut.
    #[test]
    fn folders_are_named_as_the_client_names_them() {
        let (e, f) = ("e".repeat(90), "f".repeat(88));
        for (path, name) in [
            ("/home/ada/my app_1.2", "-home-ada-my-app-1-2".to_owned()),
            ("/tmp/compose-client/l/😀é😀é😀é/short", "-tmp-compose-client-l-----------short".to_owned()),
            (&format!("/tmp/compose-client/l/{e}/{}", &f[..87]), format!("-tmp-compose-client-l-{e}-{}", &f[..87])),
            (&format!("/tmp/compose-client/l/{e}/{f}"), format!("-tmp-compose-client-l-{e}-{}-to9b1m", &f[..87])),
            (
                &format!(
                    "/tmp/compose-client/l/{}/{}/{}/{}",
                    "a".repeat(50),
                    "b".repeat(50),
                    "c".repeat(50),
                    "d".repeat(50)
                ),
                format!(
                    "-tmp-compose-client-l-{}-{}-{}-{}-jju52i",
                    "a".repeat(50),
                    "b".repeat(50),
                    "c".repeat(50),
                    "d".repeat(25)
                ),
            ),
            (
                &format!("/tmp/compose-client/l/{}/{}/x", "😀".repeat(40), "f".repeat(120)),
                format!("-tmp-compose-client-l-{}-{}-9ocdob", "-".repeat(80), "f".repeat(97)),
            ),
        ] {
            assert_eq!(cut(path), name, "{path}");
        }
    }

    #[test]
    fn a_folder_that_an_older_client_made_is_used_on() {
        let home = tempfile::tempdir().expect("a folder");
        let path = format!("/srv/{}", "x".repeat(220));
        let new = project_folder(home.path(), &path);
        assert!(new.to_string_lossy().len() < home.path().to_string_lossy().len() + 220, "cut when there is none");
        let old = home.path().join("projects").join(munged(&path));
        fs_err::create_dir_all(&old).expect("the folder of an older client");
        assert_eq!(project_folder(home.path(), &path), old);
        fs_err::create_dir_all(&new).expect("the folder of a newer client");
        assert_eq!(project_folder(home.path(), &path), new, "the newer client's goes first");
    }

    #[test]
    fn what_exists_is_never_touched() {
        let home = tempfile::tempdir().expect("a folder");
        let id = Uuid::from_u128(5);
        let path = write_new(home.path(), id, "one\n").expect("written");
        let error = write_new(home.path(), id, "two\n").expect_err("it exists");
        assert_eq!(error.kind, ErrorKind::Conflict);
        assert_eq!(fs_err::read_to_string(path).expect("the first"), "one\n");
        assert_eq!(fs_err::read_dir(home.path()).expect("the folder").count(), 1, "no temporary is left");
    }

    #[test]
    fn a_session_is_untouched_until_something_stands_after_what_was_written() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("s.jsonl");
        let ours = format!(
            "{{\"type\":\"assistant\",\"text\":\"{}\",\"recollect\":{{\"composition\":\"c\"}}}}\n",
            "x".repeat(300_000)
        );
        for (text, untouched) in [
            (ours.clone(), true),
            (format!("{{\"type\":\"summary\"}}\n{ours}"), true),
            (format!("{ours}{{\"type\":\"user\"}}\n"), false),
            (format!("{ours}{{\"type\":\"us"), false),
            (String::new(), false),
        ] {
            fs_err::write(&path, text.as_bytes()).expect("written");
            assert_eq!(is_untouched(&path).expect("read"), untouched, "{}", &text[text.len().saturating_sub(60)..]);
        }
    }

    #[test]
    fn a_working_folder_is_resolved_and_knows_its_branch() {
        let home = tempfile::tempdir().expect("a folder");
        let root = fs_err::canonicalize(home.path()).expect("its path");
        let (app, tree) = (root.join("app"), root.join("tree"));
        fs_err::create_dir_all(app.join(".git/worktrees/tree")).expect("a repository");
        fs_err::write(app.join(".git/HEAD"), "ref: refs/heads/topic/one\n").expect("its head");
        fs_err::write(app.join(".git/worktrees/tree/HEAD"), "ref: refs/heads/two\n").expect("a worktree's head");
        fs_err::create_dir_all(tree.join("src")).expect("a worktree");
        fs_err::write(tree.join(".git"), format!("gitdir: {}\n", app.join(".git/worktrees/tree").display()))
            .expect("its pointer");
        assert_eq!(WorkingFolder::resolve(&app).expect("the folder").git_branch, "topic/one");
        assert_eq!(WorkingFolder::resolve(&tree.join("src")).expect("the folder").git_branch, "two");
        #[cfg(unix)]
        {
            fs_err::os::unix::fs::symlink(&app, root.join("link")).expect("a link");
            let linked = WorkingFolder::resolve(&root.join("link")).expect("the folder");
            assert_eq!(linked.path, app.to_string_lossy(), "the client resolves links too");
        }
        assert_eq!(WorkingFolder::resolve(&root.join("none")).expect_err("no folder").kind, ErrorKind::NotFound);
    }

    #[test]
    fn lines_are_given_to_another_session_and_keep_their_chain() {
        let lines = concat!(
            r#"{"type":"summary","summary":"t","leafUuid":"b"}"#,
            "\n",
            r#"{"parentUuid":null,"cwd":"/a","sessionId":"s","gitBranch":"m","uuid":"a","timestamp":"2026-01-01T10:00:00.000Z"}"#,
            "\n",
            r#"{"parentUuid":"a","cwd":"/a","sessionId":"s","gitBranch":"m","uuid":"b","timestamp":"2026-01-01T10:00:01.000Z"}"#,
            "\n",
        );
        let folder = WorkingFolder { path: "/b".to_owned(), git_branch: "main".to_owned() };
        let now = Time::parse("2026-02-01T00:00:00Z").expect("an instant");
        let text = readdressed(lines, Uuid::from_u128(9), &folder, now).expect("good lines");
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
        assert_eq!(records[2]["parentUuid"], records[1]["uuid"]);
        assert_eq!(records[0]["leafUuid"], records[2]["uuid"]);
        assert_ne!(records[1]["uuid"], "a");
        assert_eq!(records[1]["parentUuid"], Value::Null);
        assert_eq!(records[1]["timestamp"], "2026-01-01T10:00:00.000Z");
        assert_eq!(records[2]["timestamp"], "2026-02-01T00:00:00.000Z", "the latest of all");
        for (name, value) in
            [("cwd", "/b"), ("gitBranch", "main"), ("sessionId", "00000000-0000-0000-0000-000000000009")]
        {
            assert_eq!(records[1][name], value);
        }
        assert_eq!(readdressed("{torn", Uuid::from_u128(9), &folder, now).expect_err("torn").kind, ErrorKind::Io);
    }
}
