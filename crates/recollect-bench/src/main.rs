//! Measures Recollect beside the tools that its work can be compared to, in one run on one machine: only the ratios mean
//! something elsewhere. Build it with `--release`.

mod append;
mod clock;
mod compress;
mod quality;
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
    /// Compressing sessions of growing length, beside counting their tokens
    Compress {
        /// Tokens of the sessions, about
        #[arg(long, value_delimiter = ',', default_values_t = [100_000, 1_000_000, 10_000_000])]
        tokens: Vec<u64>,
    },
    /// What compressions keep of what is asked for later: of talk, by questions whose evidence is known, and of work, by the facts
    /// of each session; beside chance, both ends, LexRank and TextRank, and with each pass left out
    Quality {
        /// Conversations with questions, as JSON; made ones when it is left out
        #[arg(long)]
        talk: Option<PathBuf>,
        /// A folder of transcripts; made ones when it is left out
        #[arg(long)]
        work: Option<PathBuf>,
        /// Transcripts at most
        #[arg(long, default_value_t = 40)]
        limit: usize,
        /// Ratios for talk
        #[arg(long, value_delimiter = ',', default_values_t = [2.0, 4.0, 10.0, 20.0, 50.0])]
        talk_ratios: Vec<f64>,
        /// Ratios for work
        #[arg(long, value_delimiter = ',', default_values_t = [4.0, 10.0, 30.0])]
        work_ratios: Vec<f64>,
        /// Leave out each pass once
        #[arg(long)]
        passes: bool,
        /// Only Recollect, nothing beside it
        #[arg(long)]
        alone: bool,
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
    /// All that is measured in time and bytes, one after the other: a folder of transcripts and a gigabyte of made ones, appended
    /// lines, and searches and compressions at growing size
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
        What::Compress { tokens } => compress::run(&tokens),
        What::Quality { talk, work, limit, talk_ratios, work_ratios, passes, alone } => {
            quality::run(&quality::Judged {
                talk: talk.as_deref(),
                work: work.as_deref(),
                limit,
                talk_ratios: &talk_ratios,
                work_ratios: &work_ratios,
                passes,
                peers: !alone,
            })
        }
        What::Register { folder, times } => register::run(&folder, times),
        What::Search { sizes, recollect, folder } => search::run(&sizes, recollect.as_deref(), folder),
        What::Storage { folder: Some(folder), .. } => storage::run(&folder, 3),
        What::Storage { folder: None, made } => storage::run_made(made),
        What::All { folder, recollect } => {
            register::run(&folder, 3)?;
            storage::run(&folder, 3)?;
            storage::run_made(1000)?;
            append::run(&[1, 100, 1000], 20)?;
            compress::run(&[100_000, 1_000_000, 10_000_000])?;
            search::run(&[10_000, 100_000, 1_000_000], recollect.as_deref(), None)
        }
    }
}
