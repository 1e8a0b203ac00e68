//! `recollect man`.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;
use recollect_engine::{Error, Result};

use crate::arguments::Arguments;
use crate::face::Face;

/// Write the manual
///
/// The main page goes to standard output; with --output, it and a page for each command go into a folder.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder for the pages, such as ~/.local/share/man/man1
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let Some(folder) = self.output else {
            let mut page = Vec::new();
            Page::new(Arguments::command()).render(&mut page)?;
            return face.terminal.text(&String::from_utf8_lossy(&page));
        };
        fs_err::create_dir_all(&folder)?;
        clap_mangen::generate_to(Arguments::command(), &folder)
            .map_err(|error| Error::from(error).hint("name a folder that can be written to"))?;
        face.terminal.note(format!("Wrote the pages to {}", folder.display()));
        Ok(())
    }
}
