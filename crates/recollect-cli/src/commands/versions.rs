//! `recollect versions`.

use clap::{Args, Subcommand};
use recollect_engine::api::compression::{
    CompressionMode, CompressionSettings, TierPreset, Version, VersionList, VersionRemoveRequest, remove, versions,
};
use recollect_engine::api::session::SessionRequest;
use recollect_engine::ids::VersionId;
use recollect_engine::{Error, Result};

use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{bytes, count, counted, ratio};
use crate::output::{FAINT, NAME, Terminal, paint};

/// List the compression versions of a session, or delete some
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Versions {
    /// The session: its id, a unique prefix of it, or `latest`
    session: Option<String>,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Delete versions of a session
    Rm {
        /// The session: its id, a unique prefix of it, or `latest`
        session: String,
        /// The versions, such as `v001`
        #[arg(required = true, value_name = "V")]
        versions: Vec<String>,
        /// Delete them although compositions use them
        #[arg(long)]
        force: bool,
    },
}

impl Versions {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        match (self.session, self.action) {
            (_, Some(Action::Rm { session, versions, force })) => {
                let versions = versions.into_iter().map(VersionId::from).collect::<Vec<_>>();
                let removed = counted(versions.len() as u64, "version");
                let left = face.call(remove, VersionRemoveRequest { session, versions, force })?;
                face.terminal.note(format!("Deleted {removed}."));
                face.terminal.answer(&left, |out| describe(&face.terminal, &left, out))
            }
            (Some(session), None) => {
                let list = face.call(versions, SessionRequest { session })?;
                face.terminal.answer(&list, |out| describe(&face.terminal, &list, out))
            }
            (None, None) => {
                Err(Error::usage("which session's versions?").hint("name it: `recollect versions SESSION`"))
            }
        }
    }
}

fn describe(terminal: &Terminal, list: &VersionList, out: &mut String) {
    out.push_str(&format!(
        "Original of {}: {} tokens in {}\n",
        paint(NAME, &list.session_id),
        count(list.original_tokens),
        counted(list.original_messages, "message")
    ));
    if list.versions.is_empty() {
        out.push_str("No versions yet.\n");
        return;
    }
    let columns = [
        ("VERSION", Align::Left),
        ("MADE", Align::Left),
        ("HOW", Align::Left),
        ("FROM", Align::Left),
        ("TOKENS", Align::Right),
        ("RATIO", Align::Right),
        ("MESSAGES", Align::Right),
        ("KEEPITS", Align::Right),
        ("SIZE", Align::Right),
        ("LAST USED", Align::Left),
        ("USED IN", Align::Left),
    ];
    let row = |version: &Version| {
        let stats = &version.keepit_stats;
        let source = version.source_version.as_ref().map_or("original", VersionId::as_str);
        let used_in = if version.used_in.is_empty() { paint(FAINT, "-") } else { cell(&version.used_in.join(", ")) };
        vec![
            paint(NAME, &version.version_id),
            terminal.time(Some(version.created_at)),
            how(&version.settings),
            source.to_owned(),
            count(version.output_tokens),
            ratio(version.compression_ratio),
            count(version.output_messages),
            format!("{} of {}", stats.preserved, stats.preserved + stats.summarized),
            bytes(version.bytes),
            terminal.time(version.last_used),
            used_in,
        ]
    };
    out.push('\n');
    out.push_str(&table(&columns, list.versions.iter().map(row).collect()));
}

/// The settings in a word or two.
fn how(settings: &CompressionSettings) -> String {
    match (settings.mode, settings.tier_preset) {
        (CompressionMode::Uniform, _) => {
            settings.compaction_ratio.map_or_else(|| "uniform".to_owned(), |ratio| format!("uniform {ratio}:1"))
        }
        (CompressionMode::Tiered, Some(TierPreset::Gentle)) => "tiered gentle".to_owned(),
        (CompressionMode::Tiered, Some(TierPreset::Standard)) => "tiered standard".to_owned(),
        (CompressionMode::Tiered, Some(TierPreset::Aggressive)) => "tiered aggressive".to_owned(),
        (CompressionMode::Tiered, _) => "tiered custom".to_owned(),
    }
}
