//! `recollect versions`.

use clap::{Args, Subcommand};
use recollect_engine::api::compression::{
    CompressionMode, CompressionSettings, Lineage, TierPreset, Version, VersionList, VersionRemoveRequest, remove,
    versions,
};
use recollect_engine::api::session::SessionRequest;
use recollect_engine::api::version::{
    PrunedVersion, VerifiedBy, VersionPruneRequest, VersionVerified, VersionVerifyRequest, VersionsPruned, prune,
    verify,
};
use recollect_engine::ids::VersionId;
use recollect_engine::{Error, Result};

use serde::Serialize;

use super::Outcome;
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{bytes, count, counted, ratio};
use crate::output::{BAD, FAINT, GOOD, NAME, Terminal, paint, text};

/// List the compression versions of a session, prove them, or delete some
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
    /// Make versions again and compare them byte for byte; what differs is said with the reason, and the status is 1
    Verify {
        /// The session: its id, a unique prefix of it, or `latest`
        session: String,
        /// The versions, such as `v001`; all if none is named
        #[arg(value_name = "V")]
        versions: Vec<String>,
    },
    /// Delete versions that are not worth keeping; what compositions use, or what another version was made from, stays
    Prune {
        /// Only of this session: its id, a unique prefix of it, or `latest`; of all sessions if not given
        session: Option<String>,
        /// What is kept: `all`, `used`, `last:N` (the newest N of each session) or `days:N` (made or used within so many days);
        /// by the setting storage.compressionRetention if not given
        #[arg(long, value_name = "RULE")]
        keep: Option<String>,
        /// Only show what would be deleted
        #[arg(long)]
        dry_run: bool,
    },
}

/// Several versions, proven or not.
#[derive(Serialize)]
struct Verified {
    identical: bool,
    versions: Vec<VersionVerified>,
}

impl Versions {
    pub(crate) fn run(self, face: &Face) -> Result<Outcome> {
        match (self.session, self.action) {
            (_, Some(Action::Rm { session, versions, force })) => {
                let versions = versions.into_iter().map(VersionId::from).collect::<Vec<_>>();
                let removed = counted(versions.len() as u64, "version");
                let left = face.call(remove, VersionRemoveRequest { session, versions, force })?;
                face.terminal.note(format!("Deleted {removed}."));
                face.terminal.answer(&left, |out| describe(&face.terminal, &left, out))?;
            }
            (_, Some(Action::Verify { session, versions: named })) => {
                let verified = verify_all(face, &session, named)?;
                face.terminal.answer(&verified, |out| verified.versions.iter().for_each(|one| tell(one, out)))?;
                return Ok(if verified.identical { Outcome::Done } else { Outcome::Failed });
            }
            (_, Some(Action::Prune { session, keep, dry_run })) => {
                let pruned = face.call(prune, VersionPruneRequest { session, keep, dry_run })?;
                face.terminal.answer(&pruned, |out| describe_pruned(&face.terminal, &pruned, out))?;
            }
            (Some(session), None) => {
                let list = face.call(versions, SessionRequest { session })?;
                face.terminal.answer(&list, |out| describe(&face.terminal, &list, out))?;
            }
            (None, None) => {
                return Err(Error::usage("which session's versions?").hint("name it: `recollect versions SESSION`"));
            }
        }
        Ok(Outcome::Done)
    }
}

fn verify_all(face: &Face, session: &str, named: Vec<String>) -> Result<Verified> {
    let mut ids: Vec<VersionId> = named.into_iter().map(VersionId::from).collect();
    if ids.is_empty() {
        let list = face.call(versions, SessionRequest { session: session.to_owned() })?;
        ids = list.versions.into_iter().map(|version| version.version_id).collect();
    }
    let mut verified = Verified { identical: true, versions: Vec::new() };
    for version in ids {
        let one = face.call(verify, VersionVerifyRequest { session: session.to_owned(), version })?;
        verified.identical &= one.identical;
        verified.versions.push(one);
    }
    Ok(verified)
}

fn tell(verified: &VersionVerified, out: &mut String) {
    let verdict = match (verified.identical, verified.by) {
        (true, VerifiedBy::Text) => paint(GOOD, "made again, it is the same byte for byte"),
        (true, VerifiedBy::Input) => paint(
            GOOD,
            "its files are as they were written, and what the language model made it from is the same as it was",
        ),
        (false, VerifiedBy::Text) => paint(BAD, "made again, it is not the same"),
        (false, VerifiedBy::Input) => paint(BAD, "it is not what it was made as"),
    };
    out.push_str(&format!("{}: {verdict}\n", paint(NAME, &verified.version_id)));
    if let (Some((_, last)), Some(behind)) = (verified.covers, verified.behind) {
        out.push_str(&format!(
            "    up to message #{last}; the session has {} more\n",
            counted(behind.messages, "message")
        ));
    }
    for reason in &verified.reasons {
        out.push_str(&format!("    {}\n", text::line(reason)));
    }
    if let Some(difference) = &verified.difference {
        let line = |line: &Option<String>| line.as_deref().map_or("nothing".into(), text::line).into_owned();
        out.push_str(&format!(
            "    line {}: {} {}\n    made again: {} {}\n",
            difference.line,
            paint(BAD, "-"),
            line(&difference.stored),
            paint(GOOD, "+"),
            line(&difference.made_again)
        ));
    }
}

fn describe_pruned(terminal: &Terminal, pruned: &VersionsPruned, out: &mut String) {
    let kept = counted(pruned.kept.len() as u64, "version");
    if pruned.removed.is_empty() {
        out.push_str(&format!("Nothing to delete: by the rule {}, {kept} stay.\n", pruned.keep));
        return;
    }
    let columns = [
        ("SESSION", Align::Left),
        ("VERSION", Align::Left),
        ("MADE", Align::Left),
        ("LAST USED", Align::Left),
        ("TOKENS", Align::Right),
        ("SIZE", Align::Right),
        ("WHY", Align::Left),
    ];
    let row = |version: &PrunedVersion| {
        let costs = if version.by_model { "made by a language model; " } else { "" };
        vec![
            cell(&version.title.chars().take(32).collect::<String>()),
            version.file.clone(),
            terminal.time(Some(version.created_at)),
            terminal.time(version.last_used),
            count(version.output_tokens),
            bytes(version.bytes),
            cell(&format!("{costs}{}", version.why)),
        ]
    };
    out.push_str(&table(&columns, pruned.removed.iter().map(row).collect()));
    let what = counted(pruned.removed.len() as u64, "version");
    let size = bytes(pruned.bytes);
    out.push_str(&match pruned.dry_run {
        true => format!("\nWould delete {what}, {size}; {kept} stay. Nothing is written.\n"),
        false => format!("\nDeleted {what}, {size}; {kept} stay.\n"),
    });
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
        ("BEHIND", Align::Right),
        ("LAST USED", Align::Left),
        ("USED IN", Align::Left),
    ];
    let row = |(depth, version): (usize, &Version)| {
        let stats = &version.keepit_stats;
        let branch = if depth == 0 { String::new() } else { format!("{}└ ", "  ".repeat(depth - 1)) };
        let behind = version.behind.map_or_else(|| paint(FAINT, "-"), |behind| count(behind.messages));
        let auto = if version.auto_created { " (auto)" } else { "" };
        let used_in = if version.used_in.is_empty() { paint(FAINT, "-") } else { cell(&version.used_in.join(", ")) };
        vec![
            format!("{}{}", paint(FAINT, branch), paint(NAME, &version.version_id)),
            terminal.time(Some(version.created_at)),
            format!("{}{auto}", how(&version.settings)),
            lineage(version, list),
            count(version.output_tokens),
            ratio(version.compression_ratio),
            count(version.output_messages),
            format!("{} of {}", stats.preserved, stats.preserved + stats.summarized),
            bytes(version.bytes),
            behind,
            terminal.time(version.last_used),
            used_in,
        ]
    };
    out.push('\n');
    out.push_str(&table(&columns, tree(&list.versions).into_iter().map(row).collect()));
}

/// The versions in the order of what came from what, with how far each stands from the original.
fn tree(versions: &[Version]) -> Vec<(usize, &Version)> {
    let is_there = |id: &VersionId| versions.iter().any(|version| version.version_id == *id);
    let mut ordered = Vec::with_capacity(versions.len());
    let mut waiting: Vec<(usize, &Version)> = versions
        .iter()
        .rev()
        .filter(|version| !version.source_version.as_ref().is_some_and(is_there))
        .map(|version| (0, version))
        .collect();
    while let Some((depth, version)) = waiting.pop() {
        ordered.push((depth, version));
        let made_from_it = versions.iter().rev().filter(|other| {
            other.source_version.as_ref() == Some(&version.version_id) && other.version_id != version.version_id
        });
        waiting.extend(made_from_it.map(|other| (depth + 1, other)));
    }
    ordered
}

/// What a version was made from, in a word or two.
fn lineage(version: &Version, list: &VersionList) -> String {
    let Some(source) = &version.source_version else { return "original".to_owned() };
    let gone = if list.versions.iter().any(|other| other.version_id == *source) { "" } else { " (deleted)" };
    let own = || version.parts.iter().zip(1_u32..).filter(|(part, _)| part.made_in == version.version_id);
    match version.lineage {
        Lineage::Original | Lineage::From => format!("{source}{gone}"),
        Lineage::Extended => match own().last() {
            Some((part, _)) => format!("{source}{gone} + #{} to #{}", part.first, part.last),
            None => format!("{source}{gone}, extended"),
        },
        Lineage::Part => {
            let numbers: Vec<String> = own().map(|(_, number)| number.to_string()).collect();
            format!("{source}{gone}, part {} anew", numbers.join(", "))
        }
    }
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
