//! The commands, one file each: its doc comment is its help text.

mod backup;
mod checkpoints;
mod completions;
mod compose;
mod compositions;
mod compress;
mod config;
mod decay;
mod diff;
mod doctor;
mod engines;
mod export;
mod import;
mod ingest;
mod keepit;
mod man;
mod near_duplicates;
mod project;
mod projects;
mod rebuild;
mod remove;
mod restore;
mod restore_backup;
mod resume;
mod search;
mod sessions;
mod show;
mod stats;
mod suggest;
mod versions;
mod watch;
mod window;

use clap::Subcommand;
use recollect_engine::Result;

use crate::face::Face;

/// How a command that could be run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All was done.
    Done,
    /// What could be done was done; the rest was named.
    Failed,
}

/// All commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ingest(ingest::Ingest),
    Watch(watch::Watch),
    Projects(projects::Projects),
    Sessions(sessions::Sessions),
    Show(show::Show),
    Search(search::Search),
    Restore(restore::Restore),
    Remove(remove::Remove),
    Keepit(keepit::Keepit),
    Decay(decay::Decay),
    Compress(compress::Compress),
    Engines(engines::Engines),
    Versions(versions::Versions),
    Diff(diff::Diff),
    Suggest(suggest::Suggest),
    Compose(compose::Compose),
    Compositions(compositions::Compositions),
    Resume(resume::Resume),
    Import(import::Import),
    Export(export::Export),
    Stats(stats::Stats),
    NearDuplicates(near_duplicates::NearDuplicatesCommand),
    Checkpoints(checkpoints::Checkpoints),
    Doctor(doctor::Doctor),
    Rebuild(rebuild::Rebuild),
    Backup(backup::Backup),
    RestoreBackup(restore_backup::RestoreBackup),
    Config(config::Config),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Whether it takes in what clients write.
    pub(crate) const fn takes_in(&self) -> bool {
        matches!(self, Self::Ingest(_) | Self::Watch(_))
    }

    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        match self {
            Self::Ingest(command) => return command.run(face),
            Self::Resume(command) => return command.run(face),
            Self::Import(command) => return command.run(face),
            Self::Doctor(command) => return command.run(face),
            Self::Watch(command) => command.run(face),
            Self::Projects(command) => command.run(face),
            Self::Sessions(command) => command.run(face),
            Self::Show(command) => command.run(face),
            Self::Search(command) => command.run(face),
            Self::Restore(command) => command.run(face),
            Self::Remove(command) => command.run(face),
            Self::Keepit(command) => command.run(face),
            Self::Decay(command) => command.run(face),
            Self::Compress(command) => command.run(face),
            Self::Engines(command) => command.run(face),
            Self::Versions(command) => return command.run(face),
            Self::Diff(command) => command.run(face),
            Self::Suggest(command) => command.run(face),
            Self::Compose(command) => command.run(face),
            Self::Compositions(command) => command.run(face),
            Self::Export(command) => command.run(face),
            Self::Stats(command) => command.run(face),
            Self::NearDuplicates(command) => command.run(face),
            Self::Checkpoints(command) => command.run(face),
            Self::Rebuild(command) => return command.run(face),
            Self::Backup(command) => return command.run(face),
            Self::RestoreBackup(command) => return command.run(face),
            Self::Config(command) => command.run(face),
            Self::Completions(command) => command.run(face),
            Self::Man(command) => command.run(face),
        }?;
        Ok(Outcome::Done)
    }
}

/// A path as text for the engine, made absolute.
fn absolute(path: &std::path::Path) -> Result<String> {
    let absolute = std::path::absolute(path)?;
    absolute.into_os_string().into_string().map_err(|path| {
        recollect_engine::Error::usage(format!("the path `{}` is not valid Unicode", path.display()))
            .hint("name its folder instead, or rename it")
    })
}
