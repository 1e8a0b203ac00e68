//! Reads `tauri.conf.json` for the macros of Tauri.

fn main() {
    // The page becomes part of the program; without this line a program may hold half of an older one.
    println!("cargo:rerun-if-changed=ui/dist");
    tauri_build::build();
}
