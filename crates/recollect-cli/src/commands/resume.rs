//! `recollect resume`.

use std::io::ErrorKind as Io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use recollect_engine::api::composition::{ResumeRequest, Resumed, resume};
use recollect_engine::{Error, ErrorKind, Result};

use super::{Outcome, absolute};
use crate::face::Face;
use crate::output::text;

/// Put a composition where Claude Code finds it as a session
///
/// Writes a new session file into the Claude home and prints the command that continues from it.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The composition's name or id
    name: String,
    /// Folder in which Claude Code will run; the composition's project if not given
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Start Claude Code there at once
    #[arg(long)]
    run: bool,
}

impl Resume {
    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        if self.run && face.terminal.json {
            return Err(Error::usage("--run hands the terminal to Claude Code, so there is no JSON document to write")
                .hint("leave --run away and start the `command` of the document"));
        }
        let cwd = self.cwd.as_deref().map(absolute).transpose()?;
        let resumed = face.call(resume, ResumeRequest { name: self.name, cwd })?;
        if self.run {
            return start(face, &resumed);
        }
        if !face.terminal.json {
            face.terminal.note(format!("Wrote {}\nContinue with:", text::line(&resumed.file)));
        }
        face.terminal.answer(&resumed, |out| out.push_str(&format!("{}\n", text::line(&resumed.command))))?;
        Ok(Outcome::Done)
    }
}

/// Hands the terminal to the client.
fn start(face: &Face, resumed: &Resumed) -> Result<Outcome> {
    let mut client = Command::new("claude");
    client.args(["--resume", resumed.session_id.as_str()]).current_dir(&resumed.cwd);
    client.env("CLAUDE_CONFIG_DIR", &face.options.claude_home);
    let by_hand = format!("start it by hand in {}: {}", resumed.cwd, resumed.command);
    // This process becomes the client, so that signals and the terminal are its own; it returns only when that fails.
    let error = client.exec();
    Err(match error.kind() {
        Io::NotFound => Error::not_found("there is no `claude` on the PATH")
            .hint(format!("install Claude Code (npm install -g @anthropic-ai/claude-code), or {by_hand}")),
        _ => Error::new(ErrorKind::Io, format!("failed to start `claude`: {error}")).hint(by_hand).because(error),
    })
}
