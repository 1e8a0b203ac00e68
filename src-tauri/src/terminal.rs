//! Continues a session in Claude Code: a terminal of the desktop that runs `claude --resume`.
//!
//! Arguments go to programs as they are; where a platform insists on a command line, they are quoted.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use recollect_engine::error::{Error, ErrorKind};

use crate::arguments::Surroundings;

/// A terminal that cannot open says so at once; one that runs this long has opened.
const SETTLED: Duration = Duration::from_millis(600);

/// Opens a terminal in `cwd` in which Claude Code resumes the session.
///
/// # Errors
/// When the session's id or the folder is not one, when there is no client, or no terminal that opens.
pub(crate) fn resume(surroundings: &Surroundings, session_id: &str, cwd: &Path) -> Result<(), Error> {
    let session_id = uuid::Uuid::parse_str(session_id)
        .map_err(|_| Error::usage(format!("`{session_id}` is not the id of a session that Claude Code can resume")))?
        .to_string();
    if !cwd.is_dir() {
        return Err(Error::not_found(format!("{} is not a folder any more", cwd.display()))
            .hint("choose another folder to continue in"));
    }
    let client = find_client(surroundings)?;
    let commands = terminals(surroundings, &client, &session_id, cwd);
    if commands.is_empty() {
        return Err(Error::not_found("there is no terminal program on this machine").hint(by_hand(&session_id, cwd)));
    }
    let mut last = None;
    for mut command in commands {
        for variable in &surroundings.own_variables {
            command.env_remove(variable);
        }
        command.current_dir(cwd).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn().and_then(settle) {
            Ok(()) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    let error = Error::new(ErrorKind::Io, "no terminal could be opened").hint(by_hand(&session_id, cwd));
    Err(match last {
        Some(source) => error.because(source),
        None => error,
    })
}

/// Waits a moment for a terminal that fails at once; the terminal itself lives on without us.
fn settle(mut child: Child) -> std::io::Result<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
        // Nobody may listen any more: waiting on is what keeps the ended terminal from staying a zombie.
        let _ = sender.send(child.wait());
    })?;
    match receiver.recv_timeout(SETTLED) {
        Ok(Ok(status)) if !status.success() => Err(std::io::Error::other(format!("the terminal ended with {status}"))),
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

fn by_hand(session_id: &str, cwd: &Path) -> String {
    format!("in a terminal in {}, run: claude --resume {session_id}", cwd.display())
}

fn find_program(surroundings: &Surroundings, name: impl AsRef<OsStr>) -> Option<PathBuf> {
    which::which_in(name, Some(&surroundings.search_path), &surroundings.current_dir).ok()
}

/// The client, also where its installers put it without telling the desktop's `PATH`.
fn find_client(surroundings: &Surroundings) -> Result<PathBuf, Error> {
    let usual_places = [".local/bin/claude", ".claude/local/claude", ".npm-global/bin/claude"];
    find_program(surroundings, "claude")
        .or_else(|| {
            let home = surroundings.user_home.as_ref()?;
            usual_places.iter().map(|place| home.join(place)).find(|path| path.is_file())
        })
        .ok_or_else(|| {
            Error::not_found("Claude Code is not installed, or not where programs are looked for")
                .hint("install it with `npm install -g @anthropic-ai/claude-code`, then try again")
        })
}

/// Ways to open a terminal, the most wanted first: program, and what stands before the client's own command line.
#[cfg(all(unix, not(target_os = "macos")))]
fn terminals(surroundings: &Surroundings, client: &Path, session_id: &str, cwd: &Path) -> Vec<Command> {
    let folder = cwd.as_os_str();
    let joined = |option: &str| {
        let mut text = OsString::from(option);
        text.push(folder);
        text
    };
    let plain = |arguments: &[&str]| arguments.iter().map(OsString::from).collect::<Vec<_>>();
    let mut ways: Vec<(OsString, Vec<OsString>)> = Vec::new();
    if let Some(terminal) = &surroundings.terminal {
        ways.push((terminal.clone(), plain(&["-e"])));
    }
    ways.extend([
        ("xdg-terminal-exec".into(), plain(&[])),
        ("x-terminal-emulator".into(), plain(&["-e"])),
        ("gnome-terminal".into(), vec![joined("--working-directory="), "--".into()]),
        ("ptyxis".into(), vec!["--new-window".into(), "--working-directory".into(), folder.into(), "--".into()]),
        ("kgx".into(), vec![joined("--working-directory="), "--".into()]),
        ("konsole".into(), vec!["--workdir".into(), folder.into(), "-e".into()]),
        ("xfce4-terminal".into(), vec![joined("--working-directory="), "-x".into()]),
        ("kitty".into(), vec!["--directory".into(), folder.into()]),
        ("alacritty".into(), vec!["--working-directory".into(), folder.into(), "-e".into()]),
        ("ghostty".into(), vec![joined("--working-directory="), "-e".into()]),
        ("wezterm".into(), vec!["start".into(), "--cwd".into(), folder.into(), "--".into()]),
        ("foot".into(), vec!["-D".into(), folder.into()]),
        ("xterm".into(), plain(&["-e"])),
    ]);
    let commands = ways.into_iter().filter_map(|(program, before)| {
        let mut command = Command::new(find_program(surroundings, program)?);
        command.args(before).arg(client).args(["--resume", session_id]);
        Some(command)
    });
    commands.collect()
}

/// Terminal takes a command line, so AppleScript quotes each part.
#[cfg(target_os = "macos")]
fn terminals(_surroundings: &Surroundings, client: &Path, session_id: &str, cwd: &Path) -> Vec<Command> {
    let script = [
        "on run argv",
        "set commandLine to \"cd \" & quoted form of item 1 of argv & \" && exec \" & quoted form of item 2 of argv & \" --resume \" & quoted form of item 3 of argv",
        "tell application \"Terminal\" to do script commandLine",
        "tell application \"Terminal\" to activate",
        "end run",
    ];
    let mut command = Command::new("/usr/bin/osascript");
    for line in script {
        command.args(["-e", line]);
    }
    command.arg(cwd).arg(client).arg(session_id);
    vec![command]
}

/// Windows Terminal, else the console; `;` separates commands in the former and is escaped.
#[cfg(windows)]
fn terminals(surroundings: &Surroundings, client: &Path, session_id: &str, cwd: &Path) -> Vec<Command> {
    let escaped = |path: &Path| OsString::from(path.to_string_lossy().replace(';', "\\;"));
    let mut commands = Vec::new();
    if let Some(program) = find_program(surroundings, "wt.exe") {
        let mut command = Command::new(program);
        command.arg("-d").arg(escaped(cwd)).arg(escaped(client)).args(["--resume", session_id]);
        commands.push(command);
    }
    let mut console = Command::new("cmd.exe");
    console.args(["/c", "start", "Claude Code", "cmd.exe", "/k"]).arg(client).args(["--resume", session_id]);
    commands.push(console);
    commands
}

#[cfg(test)]
#[cfg(all(unix, not(target_os = "macos")))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const SESSION: &str = "7c41e0b2-0000-4000-8000-000000000001";

    struct Machine {
        folder: tempfile::TempDir,
        surroundings: Surroundings,
    }

    impl Machine {
        fn new(programs: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (name, script) in programs {
                let path = folder.path().join(name);
                fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
                fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
            let surroundings = Surroundings {
                user_home: None,
                export_folders: Vec::new(),
                search_path: folder.path().as_os_str().to_owned(),
                terminal: None,
                current_dir: folder.path().to_owned(),
                own_variables: vec![],
            };
            Self { folder, surroundings }
        }

        fn folder(&self, name: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            fs_err::create_dir_all(&path).unwrap();
            path
        }
    }

    #[test]
    fn the_terminal_runs_the_client_in_the_folder_with_arguments_as_they_are() {
        let machine = Machine::new(&[
            ("claude", ""),
            ("xterm", "pwd > told; for part in \"$@\"; do echo \"[$part]\" >> told; done"),
        ]);
        let cwd = machine.folder("a $(touch owned); `b` 'c'");
        resume(&machine.surroundings, SESSION, &cwd).unwrap();
        let told = fs_err::read_to_string(cwd.join("told")).unwrap();
        let client = machine.folder.path().join("claude");
        let expected = format!("{}\n[-e]\n[{}]\n[--resume]\n[{SESSION}]\n", cwd.display(), client.display());
        assert_eq!(told, expected, "nothing may be read by a shell on the way");
        assert!(!cwd.join("owned").exists(), "a folder's name is never run");
    }

    #[test]
    fn a_terminal_that_fails_gives_way_to_the_next() {
        let machine = Machine::new(&[("claude", ""), ("x-terminal-emulator", "exit 1"), ("xterm", ": > opened")]);
        let cwd = machine.folder("project");
        resume(&machine.surroundings, SESSION, &cwd).unwrap();
        assert!(cwd.join("opened").exists(), "one broken terminal must not hide a working one");
    }

    #[test]
    fn what_is_missing_is_said_with_the_command_to_run_by_hand() {
        let without_client = Machine::new(&[("xterm", "")]);
        let error = resume(&without_client.surroundings, SESSION, &without_client.folder("p")).unwrap_err();
        assert!(error.message.contains("Claude Code is not installed"), "{}", error.message);

        let without_terminal = Machine::new(&[("claude", "")]);
        let error = resume(&without_terminal.surroundings, SESSION, &without_terminal.folder("p")).unwrap_err();
        assert!(error.message.contains("no terminal"), "{}", error.message);
        assert!(
            error.hint.unwrap_or_default().contains(&format!("claude --resume {SESSION}")),
            "the user can go on by hand"
        );
    }

    #[test]
    fn ids_that_are_not_uuids_and_folders_that_are_gone_are_refused() {
        let machine = Machine::new(&[("claude", ""), ("xterm", ": > opened")]);
        let cwd = machine.folder("p");
        assert_eq!(
            resume(&machine.surroundings, "--dangerous", &cwd).unwrap_err().kind,
            ErrorKind::Usage,
            "an option is not an id"
        );
        let gone = resume(&machine.surroundings, SESSION, &machine.folder.path().join("gone")).unwrap_err();
        assert_eq!(gone.kind, ErrorKind::NotFound, "a terminal elsewhere would not find the session");
        assert!(!cwd.join("opened").exists(), "nothing is opened for a refused request");
    }
}
