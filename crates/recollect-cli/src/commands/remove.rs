//! `recollect remove`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::session::{SessionRemoveRequest, remove};

use crate::face::Face;
use crate::output::units::bytes;
use crate::output::{NAME, paint};

/// Take a session out of the memory
///
/// Its versions go with it. The archived bytes stay unless --purge is given, so that ingesting it again brings it back.
/// Claude Code's own file is never touched.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The session: its id, a unique prefix of it, or `latest`
    session: String,
    /// Also delete its archived bytes
    #[arg(long)]
    purge: bool,
    /// Remove it although compositions use its versions
    #[arg(long)]
    force: bool,
}

impl Remove {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let request = SessionRemoveRequest { session: self.session, purge: self.purge, force: self.force };
        let removed = face.call(remove, request)?;
        face.terminal.answer(&removed, |out| {
            let session = paint(NAME, &removed.session_id);
            let archive = if removed.purged {
                format!("its archived bytes are gone too, {} freed", bytes(removed.bytes_freed))
            } else {
                "the archive keeps its bytes".to_owned()
            };
            out.push_str(&format!("Removed {session}; {archive}.\n"));
        })
    }
}
