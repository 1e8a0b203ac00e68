//! The one table of commands: name, request, response, function.
//!
//! Every face goes through it: the window and later hosts by [`dispatch`], the terminal by the same functions with
//! their types. The TypeScript of the user interface is generated from it, so a wrong name or shape is a compile error there.

pub mod backup;
pub mod checkpoint;
pub mod composition;
pub mod compression;
pub mod config;
pub mod context;
pub mod engine;
pub mod health;
pub mod ingest;
pub mod job;
pub mod keepit;
pub mod memory;
pub mod model;
pub mod near_duplicates;
pub mod rebuild;
pub mod search;
pub mod session;
pub mod storage;
pub mod suggest;
pub mod version;
pub mod watch;

use serde_json::Value;

use crate::engine::Call;
use crate::error::{Error, Result};

/// Declares the commands once; gives [`dispatch`], [`NAMES`] and the type `Commands` of the user interface.
macro_rules! commands {
    ($( $name:ident: $module:ident :: $function:ident ($request:ty) -> $response:ty; )*) => {
        /// Names of all commands.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Runs the command `name` with a request as JSON and returns its response as JSON.
        pub fn dispatch(call: &Call<'_>, name: &str, request: Value) -> Result<Value> {
            match name {
                $(stringify!($name) => {
                    let request: $request = serde_json::from_value(request)
                        .map_err(|error| Error::usage(format!("{name}: {error}")))?;
                    let response: $response = $module::$function(call, request)?;
                    Ok(serde_json::to_value(response)?)
                })*
                _ => Err(Error::usage(format!("there is no command `{name}`"))),
            }
        }

        /// Request and response of each command, for the generated TypeScript.
        #[derive(ts_rs::TS)]
        #[ts(export)]
        #[expect(dead_code, reason = "only its TypeScript is used")]
        pub struct Commands {
            $( $name: ($request, $response), )*
        }
    };
}

commands! {
    memory_overview: memory::overview(memory::OverviewRequest) -> memory::Overview;
    stats_get: memory::stats(memory::StatsRequest) -> memory::Stats;
    storage_report: storage::report(storage::StorageReportRequest) -> storage::StorageReport;
    health_check: health::check(health::HealthCheckRequest) -> health::Health;
    health_repair: health::repair(health::HealthRepairRequest) -> health::Health;
    memory_rebuild: rebuild::rebuild(rebuild::RebuildRequest) -> rebuild::Rebuilt;
    backup_create: backup::create(backup::BackupCreateRequest) -> backup::BackupCreated;
    backup_status: backup::status(backup::BackupStatusRequest) -> backup::BackupStatus;
    near_duplicates_find: near_duplicates::find(near_duplicates::NearDuplicatesRequest) -> near_duplicates::NearDuplicates;
    project_list: memory::projects(memory::ProjectListRequest) -> Vec<memory::Project>;
    config_get: config::read(config::ConfigGetRequest) -> config::ConfigState;
    config_set: config::set(config::ConfigSetRequest) -> config::ConfigState;
    engine_list: engine::list(engine::EngineListRequest) -> Vec<engine::CompressionEngine>;
    engine_key_set: engine::set_key(engine::EngineKeySetRequest) -> Vec<engine::CompressionEngine>;
    engine_key_remove: engine::remove_key(engine::EngineKeyRemoveRequest) -> Vec<engine::CompressionEngine>;
    model_list: model::list(model::ModelListRequest) -> Vec<crate::models::Model>;

    session_ingest: ingest::ingest(ingest::IngestRequest) -> ingest::IngestReport;
    session_list: session::list(session::SessionListRequest) -> session::SessionPage;
    session_get: session::detail(session::SessionRequest) -> session::SessionDetail;
    session_map: session::map(session::SessionMapRequest) -> session::SessionMap;
    session_update: session::update(session::SessionUpdateRequest) -> session::SessionSummary;
    session_remove: session::remove(session::SessionRemoveRequest) -> session::SessionRemoved;
    session_restore: session::restore(session::SessionRestoreRequest) -> session::RestoreReport;
    session_expiring: session::expiring(session::ExpiringRequest) -> session::Expiring;
    watch_get: watch::read(watch::WatchGetRequest) -> watch::WatchStatus;
    watch_set: watch::set(watch::WatchSetRequest) -> watch::WatchStatus;
    message_list: session::messages(session::MessageListRequest) -> session::MessagePage;

    search_query: search::query(search::SearchRequest) -> search::SearchAnswer;

    keepit_list: keepit::list(session::SessionRequest) -> Vec<keepit::KeepitMarker>;
    keepit_add: keepit::add(keepit::KeepitAddRequest) -> keepit::KeepitMarker;
    keepit_set: keepit::set(keepit::KeepitSetRequest) -> keepit::KeepitMarker;
    keepit_remove: keepit::remove(keepit::KeepitRemoveRequest) -> keepit::KeepitMarker;
    decay_preview: keepit::decay(keepit::DecayRequest) -> keepit::DecayPreview;
    decay_table: keepit::table(keepit::DecayTableRequest) -> keepit::DecayTable;

    compression_preview: compression::preview(compression::CompressionRequest) -> compression::CompressionPreview;
    compression_create: compression::create(compression::CompressionRequest) -> compression::CompressionCreated;
    compression_estimate: engine::estimate(compression::CompressionRequest) -> engine::CompressionEstimate;
    version_list: compression::versions(session::SessionRequest) -> compression::VersionList;
    version_messages: compression::messages(compression::VersionMessagesRequest) -> compression::VersionPage;
    version_remove: compression::remove(compression::VersionRemoveRequest) -> compression::VersionList;
    version_verify: version::verify(version::VersionVerifyRequest) -> version::VersionVerified;
    version_prune: version::prune(version::VersionPruneRequest) -> version::VersionsPruned;
    version_diff: version::diff(version::VersionDiffRequest) -> version::VersionDiff;

    composition_preview: composition::preview(composition::CompositionRequest) -> composition::CompositionPreview;
    composition_create: composition::create(composition::CompositionRequest) -> composition::Composition;
    composition_list: composition::list(composition::CompositionListRequest) -> Vec<composition::Composition>;
    composition_get: composition::detail(composition::CompositionNameRequest) -> composition::CompositionDetail;
    composition_remove: composition::remove(composition::CompositionNameRequest) -> composition::Composition;
    composition_refresh: composition::refresh(composition::CompositionRefreshRequest) -> composition::CompositionRefreshed;
    composition_duplicate: composition::duplicate(composition::CompositionDuplicateRequest) -> composition::Composition;
    composition_export: composition::export(composition::CompositionExportRequest) -> composition::CompositionExported;
    context_suggest: suggest::context(suggest::SuggestRequest) -> suggest::Suggestions;
    resume_create: composition::resume(composition::ResumeRequest) -> composition::Resumed;

    context_import: context::import(context::ContextImportRequest) -> context::ContextImported;
    context_export: context::export(context::ContextExportRequest) -> context::ContextExported;

    checkpoint_create: checkpoint::create(checkpoint::CheckpointRequest) -> checkpoint::Checkpoint;
    checkpoint_list: checkpoint::list(checkpoint::CheckpointListRequest) -> Vec<checkpoint::Checkpoint>;
    checkpoint_diff: checkpoint::diff(checkpoint::CheckpointDiffRequest) -> checkpoint::CheckpointDiff;
    checkpoint_remove: checkpoint::remove(checkpoint::CheckpointRequest) -> checkpoint::Checkpoint;

    job_start: job::start(job::JobStartRequest) -> job::JobStarted;
    job_cancel: job::cancel(job::JobCancelRequest) -> job::JobCancelled;
}
