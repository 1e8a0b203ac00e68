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
    for table in talk::judge(&conversations, judged.talk_ratios, &variants, peers)? {
        table.print();
    }
    let transcripts = match judged.work {
        Some(folder) => work::transcripts(folder, judged.limit)?,
        None => made::work(MADE),
    };
    work::judge(&transcripts, judged.work_ratios, &variants, peers)?.print();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that the first row is above all others, or at the top with them.
    fn is_best(table: &table::Table, kinds: &[&str]) {
        let (ours, peers) = table.rows.split_first().expect("rows");
        for (at, column) in table.columns.iter().enumerate() {
            if kinds.iter().any(|kind| column.starts_with(kind)) {
                for (name, figures) in peers.iter().filter(|(name, _)| Peer::ALL.iter().any(|peer| peer.name() == name))
                {
                    let (own, other) = (ours.1[at], figures[at]);
                    assert!(
                        own > other || own == 100.0,
                        "{}, {column}: {own:.1} beside {other:.1} of {name}",
                        table.title
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_asked_for_later_is_kept_better_than_by_simple_ways() {
        let all = [("recollect".to_owned(), Passes::ALL)];
        let talk = talk::judge(&made::conversations(1), &[4.0, 10.0], &all, &Peer::ALL).expect("judged");
        for table in &talk {
            is_best(table, &["4:1", "10:1"]);
        }
        let work = work::judge(&made::work(1), &[10.0], &all, &Peer::ALL).expect("judged");
        is_best(&work, &["requests", "files", "commits", "errors", "outcome"]);
    }

    #[test]
    fn a_pass_that_is_left_out_is_missed() {
        let rarity = Passes::ALL.without(Pass::Rarity);
        let variants = [("recollect".to_owned(), Passes::ALL), ("without rarity".to_owned(), rarity)];
        let tables = talk::judge(&made::conversations(2), &[10.0], &variants, &[]).expect("judged");
        let [(_, with), (_, without), ..] = tables[0].rows.as_slice() else { panic!("two rows") };
        assert!(with[0] > without[0], "rare words are what is asked for: {with:?} {without:?}");
    }
}
