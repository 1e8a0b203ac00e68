//! `recollect-bench compress`: how long compressions of sessions of growing length take, from the archive to the last line,
//! beside counting the tokens of the same words.

use std::time::Instant;

use recollect_engine::compress::Passes;

use crate::clock::most_memory;
use crate::quality::{Memory, made_work};

/// The ratio.
const RATIO: f64 = 10.0;

/// Measures at each number of tokens and prints a table.
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
pub(crate) fn run(sizes: &[u64]) -> anyhow::Result<()> {
    println!("    tokens  messages   read s  compress s   count s   tokens/s   of it counting   most memory MB");
    for size in sizes {
        let folder = tempfile::tempdir()?;
        let memory = Memory::open(folder.path())?;
        let (name, transcript) = made_work(*size);
        let file = folder.path().join(name);
        fs_err::write(&file, &transcript)?;
        drop(transcript);
        let id = memory.take_in_file(&file)?.head.id.clone();
        let start = Instant::now();
        let source = memory.source(&id)?;
        let read = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let outcome = memory.compress(&source, RATIO, Passes::ALL)?;
        let compressed = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let counted: u64 = source.messages.iter().map(|message| memory.count(&message.text())).sum();
        let count = start.elapsed().as_secs_f64();
        println!(
            "{:>10}  {:>8}  {read:>7.2}  {compressed:>10.2}  {count:>8.2}  {:>9.0}  {:>14.0} %  {:>15.0}",
            outcome.original_tokens,
            source.messages.len(),
            outcome.original_tokens as f64 / (read + compressed),
            100.0 * count / compressed,
            most_memory()? as f64 / 1e6,
        );
        anyhow::ensure!(counted > 0 && outcome.output_tokens <= outcome.budget, "the budget holds");
    }
    Ok(())
}
