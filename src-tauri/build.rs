//! Reads `tauri.conf.json` for the macros of Tauri.

fn main() {
    tauri_build::build();
}
