//! Compression versions: made from a session or from another version, listed, read, removed (2.1.3, 3.4, 5.2, 5.5).

mod delta;
mod diff;
mod made;
mod outline;
mod prune;
mod source;
mod store;
mod verify;

use crate::api::compression::{
    Behind, CompressionCreated, CompressionPreview, CompressionRequest, CompressionSettings, Version, VersionList,
    VersionMessagesRequest, VersionPage, VersionRemoveRequest,
};
use crate::api::engine::CompressionEstimate;
use crate::compress::{self, Outcome, Resolved};
use crate::db::{Provenance, Rows, VersionRow};
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::event::{Event, Progress};
use crate::ids::{SessionId, VersionId};
use crate::registry;
use crate::summarize::{self, Account};

pub use diff::diff;
pub use made::Made;
pub use prune::{prune, tidy};
pub use source::Source;
pub use store::reconcile;
pub use verify::verify;

use delta::Plan;
use outline::Outline;

/// What a compression would give; nothing is written.
///
/// # Errors
/// As [`make`].
pub fn preview(call: &Call<'_>, request: &CompressionRequest) -> Result<CompressionPreview> {
    // A preview asks no model: it shows what the built-in engine makes of the same settings.
    Ok(make(call, request, false)?.preview())
}

/// What a compression would ask a language model and cost; nothing is asked.
///
/// # Errors
/// As [`preview`].
pub fn estimate(call: &Call<'_>, request: &CompressionRequest) -> Result<CompressionEstimate> {
    let session = registry::resolve(call.engine, &request.session)?;
    let Some(asked) = summarize::asked(call.engine, &request.settings)? else {
        return Ok(CompressionEstimate {
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
        });
    };
    let from = request.from.as_ref().filter(|from| from.as_str() != "original");
    let sources = match from {
        Some(_) => vec![(Source::load(call.engine, &session, from)?, request.settings.clone())],
        None => {
            let (outline, plan) = planned(call.engine, &session, request)?;
            made::sources(call.engine, &outline, &plan)?
        }
    };
    let mut sum: Option<CompressionEstimate> = None;
    for (source, settings) in sources {
        let resolved = compress::resolve(&settings, source.distance)?;
        let built_in = built_in(call, &source, &resolved)?;
        let one = summarize::estimate(call, &source.input(), &resolved, &asked, &built_in)?;
        sum = Some(match sum {
            None => one,
            Some(sum) => added(sum, one),
        });
    }
    sum.ok_or_else(|| Error::internal("nothing is to be compressed"))
}

/// Two estimates as one.
fn added(left: CompressionEstimate, right: CompressionEstimate) -> CompressionEstimate {
    let cost = left.cost.zip(right.cost).map(|(left, right)| left + right);
    let is_over = left.cap.is_some_and(|cap| cost.is_none_or(|cost| cost > cap));
    let mut redactions = left.redactions;
    for redaction in right.redactions {
        match redactions.iter_mut().find(|known| known.kind == redaction.kind) {
            Some(known) => known.count += redaction.count,
            None => redactions.push(redaction),
        }
    }
    CompressionEstimate {
        calls: left.calls + right.calls,
        input_tokens: left.input_tokens + right.input_tokens,
        output_tokens: left.output_tokens + right.output_tokens,
        cost,
        over_cap: left.over_cap || right.over_cap || is_over,
        redactions,
        ..left
    }
}

/// Makes a version.
///
/// # Errors
/// As [`make`]; `Io` when it cannot be written. Nothing half-made is left.
pub fn create(call: &Call<'_>, request: &CompressionRequest) -> Result<CompressionCreated> {
    let made = make(call, request, true)?;
    let version = keep(call.engine, &made, false)?;
    Ok(CompressionCreated { preview: CompressionPreview { parts: version.parts.clone(), ..made.preview() }, version })
}

/// Compresses what a request asks for: where an earlier version with the same settings reaches up to what is new, only that.
///
/// # Errors
/// As [`compress::run`]; `NotFound` for a session, version or part that is not there; `Usage` when what is asked for
/// excludes each other. `asks` is false for a preview: no model is asked, the built-in engine shows what the settings make.
pub fn make(call: &Call<'_>, request: &CompressionRequest, asks: bool) -> Result<Made> {
    let engine = call.engine;
    let session = registry::resolve(engine, &request.session)?;
    let from = request.from.as_ref().filter(|from| from.as_str() != "original");
    if from.is_some() {
        if request.part.is_some() {
            return Err(alone());
        }
        let source = Source::load(engine, &session, from)?;
        let outcome = run(call, &source, &asked(&request.settings, asks))?;
        return Made::whole(engine, &source, &request.settings, outcome);
    }
    let (outline, plan) = planned(engine, &session, request)?;
    // However many parts are made, one cap holds for them.
    let account = Account::default();
    made::make(call, &outline, plan, asks.then_some(&account))
}

/// What to compress, and what of earlier versions stands.
fn planned(engine: &Engine, session: &SessionId, request: &CompressionRequest) -> Result<(Outline, Plan)> {
    store::reconcile(engine, session)?;
    if request.part.is_some() && request.full {
        return Err(alone());
    }
    let outline = Outline::load(engine, session)?;
    // What is wrong with the settings is said before anything is read.
    compress::resolve(&request.settings, outline.distance)?;
    let plan = match &request.part {
        Some(part) => Plan::part(engine, session, part, &request.settings)?,
        None if request.full => Plan::whole(request.settings.clone(), Vec::new()),
        None => Plan::extend(engine, session, &outline, &request.settings)?,
    };
    Ok((outline, plan))
}

fn alone() -> Error {
    Error::usage("a part of a version is compressed from the session itself, and alone")
        .hint("leave `from` and `full` out, or the part")
}

/// Settings as they are run: without its model when nothing may be asked.
fn asked(settings: &CompressionSettings, asks: bool) -> CompressionSettings {
    let engine = if asks { settings.engine.clone() } else { None };
    CompressionSettings { engine, ..settings.clone() }
}

/// Compresses what was loaded, telling the caller how far it is.
///
/// # Errors
/// As [`compress::run`]; `Cancelled` when the caller asked it to stop.
pub fn run(call: &Call<'_>, source: &Source, settings: &CompressionSettings) -> Result<Outcome> {
    run_within(call, source, settings, &Account::default())
}

/// The same, as one of several compressions that may cost together what one may.
///
/// # Errors
/// As [`run`].
pub fn run_within(
    call: &Call<'_>,
    source: &Source,
    settings: &CompressionSettings,
    account: &Account,
) -> Result<Outcome> {
    let resolved = compress::resolve(settings, source.distance)?;
    // What the built-in engine would refuse is said before anything is paid for.
    let built_in = built_in(call, source, &resolved)?;
    let mut outcome = match summarize::asked(call.engine, settings)? {
        Some(asked) => summarize::run(call, &source.input(), &resolved, &source.decay, &asked, account, &built_in)?,
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

/// Keeps one compression of all that was loaded as a version.
///
/// # Errors
/// As [`keep`].
pub fn save(
    engine: &Engine,
    source: &Source,
    settings: &CompressionSettings,
    outcome: &Outcome,
    auto_created: bool,
) -> Result<Version> {
    keep(engine, &Made::whole(engine, source, settings, outcome.clone())?, auto_created)
}

/// Writes a version: its files first, then its row, then the files that mirror the row.
///
/// # Errors
/// `Io` when it cannot be written; nothing half-made is left, at the latest once the session's versions are looked at again.
pub fn keep(engine: &Engine, made: &Made, auto_created: bool) -> Result<Version> {
    let session = &made.head.id;
    let outcome = &made.outcome;
    let store = store::Store::lock(engine, session)?;
    store.reconcile(engine)?;
    let number = engine.db().write(|rows| {
        // The number stands in the manifest too.
        rows.mark_dirty(&made.project_id)?;
        rows.take_version_number(session)
    })?;
    let version_id = VersionId::new(format!("v{number:03}"));
    let label = format!("{}{}", label(&made.settings), if auto_created { "-auto" } else { "" });
    let file = format!("{version_id}_{label}_{}k", outcome.output_tokens / 1000);
    let jsonl = compress::to_jsonl(&made.head, &outcome.messages)?;
    let written = store.write_version(&file, &outcome.markdown, &jsonl)?;
    let mut parts = made.parts.clone();
    for part in parts.iter_mut().filter(|part| part.made_in.as_str() == made::NEW) {
        part.made_in = version_id.clone();
    }
    let row = VersionRow {
        session_id: session.clone(),
        version_id: version_id.clone(),
        number,
        file,
        created_at: engine.now(),
        settings: made.settings.clone(),
        engine: made.settings.engine.clone().unwrap_or_else(|| compress::ENGINE.to_owned()),
        model_run: outcome.made_by.clone(),
        original_tokens: outcome.original_tokens,
        output_tokens: outcome.output_tokens,
        output_messages: outcome.messages.len() as u64,
        keepit_stats: made.keepit_stats(),
        left_out: outcome.left_out.clone(),
        source_version: made.source_version.clone(),
        last_used: None,
        bytes: written.bytes,
        auto_created,
        lineage: made.lineage,
        parts,
        provenance: Provenance {
            revision: compress::REVISION,
            head: Some(made.head.clone()),
            markdown_hash: written.markdown_hash,
            jsonl_hash: written.jsonl_hash,
        },
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
        rows.mark_dirty(&made.project_id)
    })?;
    store.write_records(engine)?;
    drop(store);
    engine.mirror(std::slice::from_ref(&made.project_id))?;
    engine.emit(Event::SessionsChanged {
        project_ids: vec![made.project_id.clone()],
        session_ids: vec![session.clone()],
    });
    version_of(engine, &row)
}

/// The versions of a session, oldest first.
///
/// # Errors
/// `NotFound` when the session is not in memory.
pub fn list(engine: &Engine, session: &SessionId) -> Result<VersionList> {
    store::reconcile(engine, session)?;
    let (row, versions, uses, behind) = engine.db().read(|rows| {
        let row =
            rows.session(session)?.ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
        let versions = rows.versions(session)?;
        let behind = versions.iter().map(|version| behind(rows, version)).collect::<Result<Vec<_>>>()?;
        Ok((row, versions, rows.version_uses(session)?, behind))
    })?;
    let home = engine.home().summaries(&row.project_id, session);
    Ok(VersionList {
        session_id: session.clone(),
        original_tokens: row.tokens,
        original_messages: row.messages,
        versions: versions.iter().zip(behind).map(|(version, behind)| wire(version, &home, &uses, behind)).collect(),
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

/// Versions whose files are there, but not as they were written, in words.
///
/// # Errors
/// When the database or a file cannot be read.
pub fn faults(engine: &Engine) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for session in engine.db().read(|rows| rows.sessions_with_versions())? {
        for row in engine.db().read(|rows| rows.versions(&session))? {
            if store::are_there(engine, &row)? && !store::is_as_written(engine, &row)? {
                faults
                    .push(format!("the files of {} of session {session} are not as they were written", row.version_id));
            }
        }
    }
    Ok(faults)
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

/// What the session has beyond a version.
pub(crate) fn behind(rows: &Rows<'_>, version: &VersionRow) -> Result<Option<Behind>> {
    let Some(last) = version.parts.last() else { return Ok(None) };
    let Some(file) = rows.main_file(&version.session_id)? else { return Ok(None) };
    let (messages, tokens) = rows.messages_after(file.file_id, last.last)?;
    Ok((messages > 0).then_some(Behind { messages, tokens }))
}

/// A version as faces see it.
fn version_of(engine: &Engine, row: &VersionRow) -> Result<Version> {
    let (session, uses, behind) = engine
        .db()
        .read(|rows| Ok((rows.session(&row.session_id)?, rows.version_uses(&row.session_id)?, behind(rows, row)?)))?;
    let session = session.ok_or_else(|| Error::not_found(format!("session {} is not in memory", row.session_id)))?;
    Ok(wire(row, &engine.home().summaries(&session.project_id, &row.session_id), &uses, behind))
}

fn wire(row: &VersionRow, home: &std::path::Path, uses: &[(VersionId, String)], behind: Option<Behind>) -> Version {
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
        lineage: row.lineage,
        parts: row.parts.iter().map(made::wire).collect(),
        behind,
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

#[cfg(test)]
mod tests;
