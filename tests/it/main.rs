//! The process tests of Recollect: the real binary in an empty environment, and the rules of the sources.

mod environment;

mod messages_api;

mod arguments;
mod bad_files;
mod bad_requests;
mod checkpoints;
mod compositions;
mod compression_corpus;
mod corpus;
mod engines;
mod expiring;
mod exports_corpus;
mod formats;
mod full_disk;
mod health;
mod killed;
mod memory;
mod near_duplicates;
mod real_client;
mod rebuild;
mod search;
mod tidy;
mod together;
mod versions;
mod watch;
mod work;

#[test]
fn no_test_file_is_forgotten() {
    let folder = environment::workspace().join("tests/it");
    let main = fs_err::read_to_string(folder.join("main.rs")).expect("this file");
    for entry in fs_err::read_dir(&folder).expect("the folder of this file") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name in Unicode");
        if path.extension().is_some_and(|ending| ending == "rs") && name != "main" {
            assert!(main.contains(&format!("\nmod {name};\n")), "{name}.rs is not compiled: name it in main.rs");
        }
    }
}
