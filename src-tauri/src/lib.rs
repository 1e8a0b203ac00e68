//! The desktop shell: a window, a tray, and nothing that is not translation between the desktop and the engine.

mod arguments;
mod events;
mod rpc;
mod shell;
mod terminal;
mod tray;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use recollect_engine::EngineOptions;
use recollect_engine::language_model::LanguageModels;
use recollect_engine::time::Clock;
use tauri::webview::PageLoadEvent;
use tauri::{AppHandle, Manager, RunEvent, Window, WindowEvent};
use tauri_plugin_window_state::{AppHandleExt, StateFlags};

pub use arguments::{Arguments, Surroundings};
use events::OpenedPaths;
use rpc::Memory;

/// Runs the window until the user quits.
///
/// # Errors
/// When the desktop gives no window.
pub fn run(
    arguments: Arguments,
    surroundings: Surroundings,
    clock: Clock,
    models: Arc<dyn LanguageModels>,
) -> tauri::Result<()> {
    let surroundings = Arc::new(surroundings);
    tauri::Builder::default()
        // First, so that a second start ends before it does anything.
        .plugin(tauri_plugin_single_instance::init(|app, command_line, current_dir| {
            second_start(app, &command_line, Path::new(&current_dir));
        }))
        .plugin(tauri_plugin_window_state::Builder::new().with_state_flags(remembered()).build())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .manage(Arc::new(Memory::default()))
        .manage(OpenedPaths::default())
        .manage(surroundings.clone())
        .invoke_handler(tauri::generate_handler![rpc::rpc, shell::shell])
        .setup(move |app| {
            open_memory(app.handle(), engine_options(app.handle(), &arguments, &surroundings, clock, models)?);
            open_paths(app.handle(), &arguments, &surroundings.current_dir);
            let tray = catch_unwind(AssertUnwindSafe(|| tray::install(app.handle())));
            app.manage(HasTray(matches!(tray, Ok(Ok(())))));
            Ok(())
        })
        // Shown when there is something to see: no white flash in a dark desktop.
        .on_page_load(|webview, load| {
            if load.event() == PageLoadEvent::Finished {
                let _ = webview.window().show();
            }
        })
        .on_window_event(window_event)
        .build(tauri::generate_context!())?
        .run(|app, event| {
            if matches!(event, RunEvent::Exit) {
                app.state::<Arc<Memory>>().close();
            }
        });
    Ok(())
}

/// Whether closing the window leaves a way back; false where the library of the tray is missing.
struct HasTray(bool);

fn remembered() -> StateFlags {
    StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN
}

fn engine_options(
    app: &AppHandle,
    arguments: &Arguments,
    surroundings: &Surroundings,
    clock: Clock,
    models: Arc<dyn LanguageModels>,
) -> Result<EngineOptions, &'static str> {
    let place = |given: &Option<PathBuf>, name: &str| match (given, &surroundings.user_home) {
        (Some(path), _) => Ok(surroundings.current_dir.join(path)),
        (None, Some(user_home)) => Ok(user_home.join(name)),
        (None, None) => Err("the home folder of the user is not known: give --home and --claude-home"),
    };
    Ok(EngineOptions {
        home: place(&arguments.home, ".claude-memory")?,
        claude_home: place(&arguments.claude_home, ".claude")?,
        clock,
        sink: events::sink(app.clone()),
        export_folders: surroundings.export_folders.clone(),
        models,
    })
}

fn open_memory(app: &AppHandle, options: EngineOptions) {
    let memory = app.state::<Arc<Memory>>().inner().clone();
    tauri::async_runtime::spawn_blocking(move || memory.open(options));
}

fn open_paths(app: &AppHandle, arguments: &Arguments, current_dir: &Path) {
    let paths: Vec<PathBuf> = arguments.paths.iter().map(|path| arguments::absolute_path(path, current_dir)).collect();
    app.state::<OpenedPaths>().open(app, &paths);
}

fn second_start(app: &AppHandle, command_line: &[String], current_dir: &Path) {
    tray::show_window(app);
    if let Ok(arguments) = Arguments::try_parse_from(command_line) {
        open_paths(app, &arguments, current_dir);
    }
}

fn window_event(window: &Window, event: &WindowEvent) {
    match event {
        WindowEvent::DragDrop(drag) => events::forward_drop(window, drag),
        WindowEvent::CloseRequested { api, .. } => {
            // The program may end without a word from here on, with the session of the desktop.
            let _ = window.app_handle().save_window_state(remembered());
            if window.state::<HasTray>().0 {
                api.prevent_close();
                let _ = window.hide();
            }
        }
        _ => {}
    }
}
