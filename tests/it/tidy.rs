//! The rules of the architecture, checked over the sources.

use std::path::{Path, PathBuf};

use crate::environment::workspace;

/// A source file.
struct Source {
    /// Its path below the workspace.
    path: String,
    /// All of it.
    text: String,
}

impl Source {
    /// Its lines that are code of the product: no comments, nothing of its test module, which stands at its end.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
        lines
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// Files below a folder with one of these endings, without what is generated or installed.
fn sources(folders: &[&str], endings: &[&str]) -> Vec<Source> {
    let root = workspace();
    let mut found = Vec::new();
    for folder in folders {
        let walk = walkdir::WalkDir::new(root.join(folder)).sort_by_file_name().into_iter().filter_entry(|entry| {
            !["target", "node_modules", "generated", "dist", "gen"].iter().any(|name| entry.file_name() == *name)
        });
        for entry in walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_file()) {
            let is_wanted =
                |path: &Path| path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted));
            if is_wanted(entry.path()) {
                let path = entry.path().strip_prefix(&root).expect("a path below the workspace").display().to_string();
                found.push(Source { path, text: fs_err::read_to_string(entry.path()).expect("a readable source") });
            }
        }
    }
    assert!(!found.is_empty(), "no sources below {folders:?}: this test looks at the wrong place");
    found
}

fn rust() -> Vec<Source> {
    sources(&["crates", "src-tauri", "tests"], &["rs"])
}

fn engine() -> Vec<Source> {
    sources(&["crates/recollect-engine/src"], &["rs"])
}

/// Fails with all breaches at once, each with its place.
#[track_caller]
fn none(rule: &str, breaches: Vec<String>) {
    assert!(breaches.is_empty(), "{rule}:\n{}", breaches.join("\n"));
}

fn lines_with(sources: &[Source], words: &[&str]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in sources {
        for (number, line) in source.code() {
            for word in words.iter().filter(|word| line.contains(**word)) {
                breaches.push(format!("{}:{number}: `{word}` in: {}", source.path, line.trim()));
            }
        }
    }
    breaches
}

#[test]
fn the_engine_names_no_face_and_no_surroundings() {
    let words = [
        "tauri",
        "clap::",
        "axum",
        "rmcp",
        "std::env",
        "env::var",
        "println!",
        "eprintln!",
        "print!(",
        "SystemTime::now",
        "Timestamp::now",
        "Zoned::now",
        "std::process::exit",
        "dirs::",
        "tokio",
    ];
    none("time, environment, terminal and window are given to the engine by the faces", lines_with(&engine(), &words));
    let manifest = fs_err::read_to_string(workspace().join("crates/recollect-engine/Cargo.toml")).expect("a manifest");
    let packages = ["tauri", "clap", "axum", "dirs", "tokio", "indicatif", "rmcp", "ureq", "reqwest", "keyring", "nix"];
    let named = |package: &&str| {
        manifest
            .lines()
            .any(|line| line.starts_with(&format!("{package}.")) || line.starts_with(&format!("{package} ")))
    };
    let breaches = packages.iter().filter(|package| named(package)).map(|package| (*package).to_owned()).collect();
    none("the engine depends on no package of a face", breaches);
}

#[test]
fn only_db_speaks_to_sqlite() {
    let outside: Vec<_> =
        rust().into_iter().filter(|source| !source.path.starts_with("crates/recollect-engine/src/db")).collect();
    none(
        "`rusqlite` is named in db/ only",
        lines_with(&outside, &["rusqlite"]).into_iter().filter(|line| !line.starts_with("tests/it/tidy.rs")).collect(),
    );
}

#[test]
fn pure_files_take_values_and_return_values() {
    let pure = [
        "compress/",
        "keepit/",
        "sources/claude_code",
        "sources/json.rs",
        "dedup.rs",
        "session.rs",
        "ids.rs",
        "models.rs",
        "redact.rs",
        "summarize/answer.rs",
        "summarize/chunks.rs",
        "summarize/fit.rs",
        "summarize/prompt.rs",
        "search/words.rs",
        "search/passages.rs",
        "search/language.rs",
        "search/snippet.rs",
        "search/dates.rs",
    ];
    let words = [
        "fs_err",
        "std::fs",
        "std::net",
        "crate::db",
        "crate::engine",
        "crate::archive",
        "crate::registry",
        "crate::home",
        "crate::api::session",
        "Clock",
        ".now()",
    ];
    let below = |source: &Source, path: &str| source.path.starts_with(&format!("crates/recollect-engine/src/{path}"));
    let engine = engine();
    for path in pure {
        assert!(engine.iter().any(|source| below(source, path)), "{path} is named as pure but is not there");
    }
    let sources: Vec<_> = engine.into_iter().filter(|source| pure.iter().any(|path| below(source, path))).collect();
    none("no file, no database, no clock", lines_with(&sources, &words));
}

#[test]
fn files_are_opened_through_fs_err() {
    let words =
        ["use std::fs::", "use std::fs;", "std::fs::read", "std::fs::write", "std::fs::remove", "std::fs::File"];
    let sources: Vec<_> = rust().into_iter().filter(|source| source.path != "tests/it/tidy.rs").collect();
    none("errors of `fs_err` name the path, those of `std::fs` do not", lines_with(&sources, &words));
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = |source: &Source| !source.text.starts_with("//! ");
    none(
        "a file opens with a `//!` line",
        rust().iter().filter(|source| silent(source)).map(|source| source.path.clone()).collect(),
    );
}

#[test]
fn no_file_is_too_long() {
    let mut long = Vec::new();
    let mut limit = |sources: &[Source], most: usize| {
        for source in sources {
            let lines = source.text.lines().count();
            if lines > most {
                long.push(format!("{}: {lines} lines, {most} at most", source.path));
            }
        }
    };
    limit(&rust(), 600);
    limit(&sources(&["ui"], &["vue"]), 300);
    limit(&sources(&["ui"], &["ts"]), 400);
    none("split by concept", long);
}

#[test]
fn modules_are_named_files() {
    let named_mod = |source: &Source| source.path.ends_with("/mod.rs");
    none(
        "`foo.rs` and `foo/`, never `mod.rs`",
        rust().iter().filter(|source| named_mod(source)).map(|source| source.path.clone()).collect(),
    );
}

#[test]
fn nothing_is_allowed_silently_or_left_for_later() {
    let words =
        ["#[allow(", "#![allow(", "todo!(", "unimplemented!(", "dbg!(", "@ts-ignore", "@ts-nocheck", "eslint-disable"];
    let mut all: Vec<_> = rust().into_iter().filter(|source| source.path != "tests/it/tidy.rs").collect();
    all.extend(sources(&["ui"], &["ts", "vue", "js"]));
    none("`#[expect(…, reason)]` where a lint must be passed over; nothing unfinished", lines_with(&all, &words));
}

#[test]
fn names_are_words_of_the_domain() {
    let suffixes = ["Manager", "Service", "Helper", "Util", "Utils", "Handler", "Data", "Info"];
    let mut breaches = Vec::new();
    for source in rust() {
        for (number, line) in source.code() {
            for keyword in ["struct ", "enum ", "trait ", "type "] {
                let Some(declared) = declared_name(line, keyword) else { continue };
                if suffixes.iter().any(|suffix| declared.ends_with(suffix)) {
                    breaches.push(format!("{}:{number}: `{declared}`", source.path));
                }
            }
            // Interfaces of others are implemented by their names.
            let is_given = source.path.starts_with("tests/") || line.contains("fn get_file_handle(&self");
            if line.contains("fn get_") && !is_given {
                breaches.push(format!("{}:{number}: `get_` says nothing: {}", source.path, line.trim()));
            }
        }
    }
    none("name what a thing is", breaches.into_iter().filter(|line| !line.starts_with("tests/it/tidy.rs")).collect());
}

fn declared_name<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    let name = line.strip_prefix(keyword)?;
    Some(name.split(|character: char| !character.is_alphanumeric()).next().unwrap_or(name))
}

#[test]
fn lock_files_hold_no_download_addresses() {
    let mut breaches = Vec::new();
    let root = workspace();
    let locks: Vec<PathBuf> =
        ["ui/package-lock.json", "tests/desktop/package-lock.json", "tests/browser/package-lock.json"]
            .iter()
            .map(|lock| root.join(lock))
            .filter(|lock| lock.exists())
            .collect();
    for lock in locks {
        let text = fs_err::read_to_string(&lock).expect("a readable lock file");
        let resolved = text.lines().filter(|line| line.contains("\"resolved\": \"http")).count();
        if resolved > 0 {
            breaches.push(format!("{}: {resolved} addresses", lock.display()));
        }
    }
    let cargo = fs_err::read_to_string(root.join("Cargo.lock")).expect("a lock file");
    let foreign = |line: &&str| line.starts_with("source = ") && !line.contains("github.com/rust-lang/crates.io-index");
    breaches.extend(cargo.lines().filter(foreign).map(str::to_owned));
    none("who builds chooses where packages come from", breaches);
}
