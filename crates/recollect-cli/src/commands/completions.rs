//! `recollect completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use recollect_engine::Result;

use crate::arguments::Arguments;
use crate::face::Face;

/// Write completions for a shell to standard output
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "recollect", &mut script);
        face.terminal.text(&String::from_utf8_lossy(&script))
    }
}
