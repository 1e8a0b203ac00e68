# Shortcuts; `just` without a name lists them. Everything here also works without just.

_list:
    @just --list

# Builds and opens the app
run *arguments:
    scripts/run {{ arguments }}

# Every check
test:
    scripts/test

# The app with hot reload of its interface
dev:
    scripts/setup run
    npm --prefix ui exec -- tauri dev

# Format, lints, types: the quick part of the checks
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --features recollect-desktop/custom-protocol -- -D warnings
    npm run --prefix ui check

# Writes the TypeScript of the command table and of the shell
bindings:
    cargo bindings
    cargo bindings-desktop

# Tests of the real window only
desktop *filter:
    npm run --prefix ui build
    cargo test -p recollect-desktop --features custom-protocol --test desktop {{ filter }}

# The package for Debian and Ubuntu
deb:
    scripts/package

# All icons from the drawings
icons:
    npm --prefix ui exec -- tauri icon icons/recollect.svg -o target/icons
    cp target/icons/{32x32,128x128,128x128@2x,icon}.png target/icons/icon.ic* icons/
    npm --prefix ui exec -- tauri icon icons/tray.svg --png 64 -o target/icons/tray
    cp target/icons/tray/64x64.png icons/tray.png
