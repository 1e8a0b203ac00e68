//! Compression versions: made from a session or from another version, listed, read, removed (2.1.3, 3.4, 5.2, 5.5).

mod diff;
mod source;
mod store;

use std::collections::BTreeMap;

use crate::api::compression::{
    CompressionCreated, CompressionPreview, CompressionRequest, CompressionSettings, KeepitStats, Version, VersionList,
    VersionMessagesRequest, VersionPage, VersionRemoveRequest,
};
use crate::api::engine::CompressionEstimate;
use crate::compress::{self, Outcome, Resolved};
use crate::db::VersionRow;
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::event::{Event, Progress};
use crate::ids::{SessionId, VersionId};
use crate::registry;
use crate::summarize;

pub use diff::diff;
pub use source::Source;
pub use store::reconcile;

/// What a compression would give; nothing is written.
///
/// # Errors
/// As [`compress::run`]; `NotFound` for a session or version that is not there.
pub fn preview(call: &Call<'_>, request: &CompressionRequest) -> Result<CompressionPreview> {
    let session = registry::resolve(call.engine, &request.session)?;
    let source = Source::load(call.engine, &session, request.from.as_ref())?;
    // A preview asks no model: it shows what the built-in engine makes of the same settings.
    let outcome = run(call, &source, &CompressionSettings { engine: None, ..request.settings.clone() })?;
    Ok(preview_of(&source, &request.settings, &outcome))
}

/// What a compression would ask a language model and cost; nothing is asked.
///
/// # Errors
/// As [`preview`].
pub fn estimate(call: &Call<'_>, request: &CompressionRequest) -> Result<CompressionEstimate> {
    let session = registry::resolve(call.engine, &request.session)?;
    let source = Source::load(call.engine, &session, request.from.as_ref())?;
    let resolved = compress::resolve(&request.settings, source.distance)?;
    let built_in = built_in(call, &source, &resolved)?;
    match summarize::asked(call.engine, &request.settings)? {
        Some(asked) => summarize::estimate(call, &source.input(), &resolved, &asked, &built_in),
        None => Ok(CompressionEstimate {
            engine: compress::ENGINE.to_owned(),
            model: None,
            calls: 0,
            input_tokens: 0,
            output_tokens: 0,
            cost: Some(0.0),
            cap: None,
            over_cap: false,
            leaves_machine: false,
            redactions: Vec::new(),
        }),
    }
}

/// Makes a version.
///
/// # Errors
/// As [`preview`]; `Io` when it cannot be written. Nothing half-made is left.
pub fn create(call: &Call<'_>, request: &CompressionRequest) -> Result<CompressionCreated> {
    let session = registry::resolve(call.engine, &request.session)?;
    let source = Source::load(call.engine, &session, request.from.as_ref())?;
    let outcome = run(call, &source, &request.settings)?;
    let version = save(call.engine, &source, &request.settings, &outcome, false)?;
    Ok(CompressionCreated { preview: preview_of(&source, &request.settings, &outcome), version })
}

/// Compresses what was loaded, telling the caller how far it is.
///
/// # Errors
/// As [`compress::run`]; `Cancelled` when the caller asked it to stop.
pub fn run(call: &Call<'_>, source: &Source, settings: &CompressionSettings) -> Result<Outcome> {
    let resolved = compress::resolve(settings, source.distance)?;
    // What the built-in engine would refuse is said before anything is paid for.
    let built_in = built_in(call, source, &resolved)?;
    let mut outcome = match summarize::asked(call.engine, settings)? {
        Some(asked) => summarize::run(call, &source.input(), &resolved, &source.decay, &asked, &built_in)?,
        None => built_in,
    };
    outcome.keepits.extend(source.lost.iter().cloned());
    outcome.keepits.sort_by_key(|verdict| (verdict.message_index, source.place_of(&verdict.marker_id)));
    Ok(outcome)
}

fn built_in(call: &Call<'_>, source: &Source, resolved: &Resolved) -> Result<Outcome> {
    let watch = |stage: &str, done: u64, total: u64| {
        call.cancel.check()?;
        (call.progress)(Progress { done, total, unit: "messages".to_owned(), stage: stage.to_owned() });
        Ok(())
    };
    compress::run(&source.input(), resolved, &source.decay, *call.engine.counter(), &watch)
}

/// Writes a version: its files first, then its row, then the files that mirror the row.
///
/// # Errors
/// `Io` when it cannot be written; nothing half-made is left, at the latest once the session's versions are looked at again.
pub fn save(
    engine: &Engine,
    source: &Source,
    settings: &CompressionSettings,
    outcome: &Outcome,
    auto_created: bool,
) -> Result<Version> {
    let session = &source.head.id;
    let store = store::Store::lock(engine, session)?;
    store.reconcile(engine)?;
    let number = engine.db().write(|rows| {
        // The number stands in the manifest too.
        rows.mark_dirty(&source.project_id)?;
        rows.take_version_number(session)
    })?;
    let version_id = VersionId::new(format!("v{number:03}"));
    let mut settings = settings.clone();
    settings.session_distance = Some(settings.session_distance.unwrap_or(source.distance));
    settings.max_cost = None;
    let file = format!("{version_id}_{}_{}k", label(&settings), outcome.output_tokens / 1000);
    let jsonl = compress::to_jsonl(&source.head, &outcome.messages)?;
    let bytes = store.write_version(&file, &outcome.markdown, &jsonl)?;
    let row = VersionRow {
        session_id: session.clone(),
        version_id: version_id.clone(),
        number,
        file,
        created_at: engine.now(),
        engine: settings.engine.clone().unwrap_or_else(|| compress::ENGINE.to_owned()),
        settings,
        model_run: outcome.made_by.clone(),
        original_tokens: outcome.original_tokens,
        output_tokens: outcome.output_tokens,
        output_messages: outcome.messages.len() as u64,
        keepit_stats: stats_of(outcome),
        left_out: outcome.left_out.clone(),
        source_version: source.from.clone(),
        last_used: None,
        bytes,
        auto_created,
    };
    engine.db().write(|rows| {
        rows.put_version(&row)?;
        for mut keepit in rows.keepits(session)? {
            let Some(verdict) = outcome.keepits.iter().find(|verdict| verdict.marker_id == keepit.marker_id) else {
                continue;
            };
            let list = if verdict.survives { &mut keepit.survived_in } else { &mut keepit.summarized_in };
            list.push(version_id.clone());
            rows.put_keepit(&keepit)?;
        }
        rows.mark_dirty(&source.project_id)
    })?;
    store.write_records(engine)?;
    drop(store);
    changed(engine, source)?;
    version_of(engine, &row)
}

/// The versions of a session, oldest first.
///
/// # Errors
/// `NotFound` when the session is not in memory.
pub fn list(engine: &Engine, session: &SessionId) -> Result<VersionList> {
    store::reconcile(engine, session)?;
    let (row, versions, uses) = engine.db().read(|rows| {
        let row =
            rows.session(session)?.ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
        Ok((row, rows.versions(session)?, rows.version_uses(session)?))
    })?;
    let home = engine.home().summaries(&row.project_id, session);
    Ok(VersionList {
        session_id: session.clone(),
        original_tokens: row.tokens,
        original_messages: row.messages,
        versions: versions.iter().map(|version| wire(version, &home, &uses)).collect(),
    })
}

/// A window of a version's messages.
///
/// # Errors
/// `NotFound` when there is no such version; `Io` when its file is gone or damaged.
pub fn messages(engine: &Engine, request: &VersionMessagesRequest) -> Result<VersionPage> {
    let session = registry::resolve(engine, &request.session)?;
    let row = find(engine, &session, &request.version)?;
    let messages = store::read_version(engine, &row)?;
    let total = messages.len() as u64;
    let offset = usize::try_from(request.offset.unwrap_or(0)).unwrap_or(usize::MAX);
    let limit = usize::try_from(request.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    Ok(VersionPage { messages: messages.into_iter().skip(offset).take(limit).collect(), total, left_out: row.left_out })
}

/// Deletes versions; what is left.
///
/// # Errors
/// `NotFound` when one does not exist, `Conflict` when compositions use one and `force` is not set; then none is deleted.
pub fn remove(engine: &Engine, request: &VersionRemoveRequest) -> Result<VersionList> {
    let session = registry::resolve(engine, &request.session)?;
    if request.versions.is_empty() {
        return Err(Error::usage("no version was named").hint("name versions to delete, for example v001"));
    }
    let store = store::Store::lock(engine, &session)?;
    store.reconcile(engine)?;
    let mut gone = Vec::new();
    for version in &request.versions {
        gone.push(find(engine, &session, version)?);
    }
    let project = engine.db().write(|rows| {
        let uses = rows.version_uses(&session)?;
        let used: Vec<String> = uses
            .iter()
            .filter(|(version, _)| request.versions.contains(version))
            .map(|(version, name)| format!("{version} in {name}"))
            .collect();
        if !used.is_empty() && !request.force {
            return Err(Error::conflict(format!("compositions use versions of {session}: {}", used.join(", ")))
                .hint("the compositions stay readable without them; use --force to delete them all the same"));
        }
        for row in &gone {
            rows.drop_version(&session, &row.version_id)?;
        }
        for mut keepit in rows.all_keepits(&session)? {
            let before = keepit.survived_in.len() + keepit.summarized_in.len();
            keepit.survived_in.retain(|version| !request.versions.contains(version));
            keepit.summarized_in.retain(|version| !request.versions.contains(version));
            if keepit.survived_in.len() + keepit.summarized_in.len() != before {
                rows.put_keepit(&keepit)?;
            }
        }
        let row =
            rows.session(&session)?.ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
        rows.mark_dirty(&row.project_id)?;
        Ok(row.project_id)
    })?;
    store.write_records(engine)?;
    for row in &gone {
        store.delete_version(&row.file)?;
    }
    drop(store);
    engine.mirror(std::slice::from_ref(&project))?;
    engine.emit(Event::SessionsChanged { project_ids: vec![project], session_ids: vec![session.clone()] });
    list(engine, &session)
}

fn changed(engine: &Engine, source: &Source) -> Result<()> {
    engine.mirror(std::slice::from_ref(&source.project_id))?;
    engine.emit(Event::SessionsChanged {
        project_ids: vec![source.project_id.clone()],
        session_ids: vec![source.head.id.clone()],
    });
    Ok(())
}

/// A version by its id.
fn find(engine: &Engine, session: &SessionId, version: &VersionId) -> Result<VersionRow> {
    let (found, all) = engine.db().read(|rows| Ok((rows.version(session, version)?, rows.versions(session)?)))?;
    found.ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|version| version.version_id.to_string()).collect();
        let hint =
            if names.is_empty() { "it has no versions yet".to_owned() } else { format!("it has {}", names.join(", ")) };
        Error::not_found(format!("session {session} has no version {version}")).hint(hint)
    })
}

/// A version as faces see it.
fn version_of(engine: &Engine, row: &VersionRow) -> Result<Version> {
    let (session, uses) =
        engine.db().read(|rows| Ok((rows.session(&row.session_id)?, rows.version_uses(&row.session_id)?)))?;
    let session = session.ok_or_else(|| Error::not_found(format!("session {} is not in memory", row.session_id)))?;
    Ok(wire(row, &engine.home().summaries(&session.project_id, &row.session_id), &uses))
}

fn wire(row: &VersionRow, home: &std::path::Path, uses: &[(VersionId, String)]) -> Version {
    let path = |extension: &str| home.join(format!("{}.{extension}", row.file)).display().to_string();
    Version {
        version_id: row.version_id.clone(),
        session_id: row.session_id.clone(),
        file: row.file.clone(),
        paths: vec![path("md"), path("jsonl")],
        created_at: row.created_at,
        settings: row.settings.clone(),
        engine: row.engine.clone(),
        original_tokens: row.original_tokens,
        output_tokens: row.output_tokens,
        output_messages: row.output_messages,
        compression_ratio: row.ratio(),
        keepit_stats: row.keepit_stats.clone(),
        source_version: row.source_version.clone(),
        last_used: row.last_used,
        used_in: uses.iter().filter(|(version, _)| *version == row.version_id).map(|(_, name)| name.clone()).collect(),
        bytes: row.bytes,
        auto_created: row.auto_created,
        model_run: row.model_run.clone(),
    }
}

/// Mode and preset or level, as in the names of 3.2: `tiered-standard`, `uniform-aggressive`.
fn label(settings: &CompressionSettings) -> String {
    use crate::api::compression::{CompressionMode, TierPreset};
    match settings.mode {
        CompressionMode::Tiered => {
            format!("tiered-{}", compress::preset_name(settings.tier_preset.unwrap_or(TierPreset::Custom)))
        }
        CompressionMode::Uniform => {
            let level = settings
                .aggressiveness
                .or_else(|| Some(crate::keepit::Ratio::of(settings.compaction_ratio?).ok()?.level()));
            format!("uniform-{}", level.map_or("moderate", compress::level_name))
        }
    }
}

fn stats_of(outcome: &Outcome) -> KeepitStats {
    let mut weights = BTreeMap::new();
    for verdict in &outcome.keepits {
        *weights.entry(format!("{:.2}", verdict.weight)).or_insert(0) += u64::from(verdict.survives);
    }
    let preserved = outcome.keepits.iter().filter(|verdict| verdict.survives).count() as u64;
    KeepitStats { preserved, summarized: outcome.keepits.len() as u64 - preserved, weights }
}

fn preview_of(source: &Source, settings: &CompressionSettings, outcome: &Outcome) -> CompressionPreview {
    CompressionPreview {
        original_tokens: outcome.original_tokens,
        original_messages: source.messages.len() as u64,
        budget: outcome.budget,
        output_tokens: outcome.output_tokens,
        output_messages: outcome.messages.len() as u64,
        compression_ratio: outcome.original_tokens as f64 / outcome.output_tokens.max(1) as f64,
        distance: settings.session_distance.unwrap_or(source.distance),
        tiers: outcome.tiers.clone(),
        keepits: outcome.keepits.clone(),
        left_out: outcome.left_out.clone(),
        output_map: outcome.output_map.clone(),
    }
}

#[cfg(test)]
mod tests;
