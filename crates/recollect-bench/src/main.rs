//! Measures Recollect beside the tools that its work can be compared to, in one run on one machine: only the ratios mean
//! something elsewhere. Build it with `--release`.

mod append;
mod clock;
mod register;
mod search;
mod storage;
mod talk;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Measures Recollect beside other tools
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Appending a line to a session that is followed, in sessions of growing size
    Append {
        /// Megabytes of the sessions
        #[arg(long, value_delimiter = ',', default_values_t = [1, 100, 1000])]
        sizes: Vec<u64>,
        /// How many lines
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        lines: u32,
    },
    /// Registering every transcript under a folder, whole and step by step, beside `cat` and `wc -l`
    Register {
        /// The folder
        folder: PathBuf,
        /// How often each is run; the best time counts
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        times: u32,
    },
    /// Searching made conversations of growing size, in a running engine and as a whole program
    Search {
        /// Messages at each step
        #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
        sizes: Vec<u64>,
        /// The program `recollect`, to be measured as a whole
        #[arg(long)]
        recollect: Option<PathBuf>,
        /// Keep conversations and memory in this folder
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Bytes that the archive takes for every transcript under a folder, and how fast it takes and gives them, beside zstd
    /// over a tar, and borg and restic where they are installed
    Storage {
        /// The folder; made conversations when it is left out
        folder: Option<PathBuf>,
        /// Megabytes of made conversations
        #[arg(long, default_value_t = 1000, conflicts_with = "folder")]
        made: u64,
    },
    /// All of it, one after the other: the bytes and the speed of a folder of transcripts and of a gigabyte of made ones, and
    /// searches at growing size
    All {
        /// The folder
        folder: PathBuf,
        /// The program `recollect`, to be measured as a whole
        #[arg(long)]
        recollect: Option<PathBuf>,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().what {
        What::Append { sizes, lines } => append::run(&sizes, lines),
        What::Register { folder, times } => register::run(&folder, times),
        What::Search { sizes, recollect, folder } => search::run(&sizes, recollect.as_deref(), folder),
        What::Storage { folder: Some(folder), .. } => storage::run(&folder, 3),
        What::Storage { folder: None, made } => storage::run_made(made),
        What::All { folder, recollect } => {
            register::run(&folder, 3)?;
            storage::run(&folder, 3)?;
            storage::run_made(1000)?;
            search::run(&[10_000, 100_000, 1_000_000], recollect.as_deref(), None)
        }
    }
}
