//! `recollect-bench quality`: what compressions keep of what is asked for later, beside simple ways to choose and with each
//! pass left out.

mod made;
mod memory;
mod peers;
mod stems;
mod table;
mod talk;
mod work;

use std::path::Path;

use recollect_engine::compress::{Pass, Passes};

pub(crate) use self::made::long_work as made_work;
pub(crate) use self::memory::Memory;
use self::peers::Peer;

/// Made sessions of each kind.
const MADE: u64 = 6;

/// What is judged, and how.
#[derive(Debug)]
pub(crate) struct Judged<'j> {
    /// Conversations with questions; made ones when there are none.
    pub(crate) talk: Option<&'j Path>,
    /// A folder of transcripts; made ones when there is none.
    pub(crate) work: Option<&'j Path>,
    /// Transcripts at most.
    pub(crate) limit: usize,
    /// Ratios for talk.
    pub(crate) talk_ratios: &'j [f64],
    /// Ratios for work.
    pub(crate) work_ratios: &'j [f64],
    /// Leave out each pass once.
    pub(crate) passes: bool,
    /// Choose in simple ways as well.
    pub(crate) peers: bool,
}

/// Judges and prints the tables.
pub(crate) fn run(judged: &Judged<'_>) -> anyhow::Result<()> {
    let mut variants = vec![("recollect".to_owned(), Passes::ALL)];
    if judged.passes {
        variants.extend(Pass::ALL.map(|pass| (format!("without {}", pass.name()), Passes::ALL.without(pass))));
    }
    let peers: &[Peer] = if judged.peers { &Peer::ALL } else { &[] };
    let conversations = match judged.talk {
        Some(file) => talk::read(file)?,
        None => made::conversations(MADE),
    };
    talk::judge(&conversations, judged.talk_ratios, &variants, peers)?;
    let transcripts = match judged.work {
        Some(folder) => work::transcripts(folder, judged.limit)?,
        None => made::work(MADE),
    };
    work::judge(&transcripts, judged.work_ratios, &variants, peers)
}
