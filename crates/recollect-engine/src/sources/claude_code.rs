//! Claude Code's transcripts: one JSON record a line, of every version seen (1.0 to 2.1).
//!
//! The format is not documented and changes: each line is read for itself and leniently; what it means for the session
//! is folded by [`Fold`], which can be stored and gone on with when the file has grown.

mod block;
mod fold;
mod record;

pub(super) use block::blocks as content_blocks;
pub use fold::{AgentNote, Fold};
pub use record::{Reading, Record, read};
