//! Lists and figures of what is in memory.

use std::collections::HashSet;
use std::path::Path;

use super::Stat;
use super::follow::{Followed, behind};
use crate::api::memory::{Overview, Project, Stats, Unregistered};
use crate::api::session::{
    Agent, RecordCount, SessionDetail, SessionListRequest, SessionPage, SessionSort, SessionSummary,
    SessionUpdateRequest,
};
use crate::db::{Part, SessionOrder, SessionSums};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::SessionId;
use crate::sources::Format;
use crate::sources::claude_code::Fold;

/// A transcript that was written to within this many milliseconds is live.
const LIVE: i64 = 120_000;

/// The session that a name stands for: its id, a prefix that only one session has, or `latest`.
///
/// # Errors
/// `NotFound` when there is none, `Usage` when there are several.
pub fn resolve(engine: &Engine, name: &str) -> Result<SessionId> {
    let name = name.trim();
    if name == "latest" {
        return engine.db().read(|rows| rows.latest_session())?.ok_or_else(|| {
            Error::not_found("the memory holds no sessions").hint("ingest some first: recollect ingest --all")
        });
    }
    let not_found = || {
        Error::not_found(format!("there is no session `{name}` in memory"))
            .hint("`recollect sessions` lists them; a unique prefix is enough")
    };
    if name.is_empty() {
        return Err(not_found());
    }
    let found = engine.db().read(|rows| rows.sessions_by_prefix(&name.to_ascii_lowercase(), 5))?;
    let found = if found.is_empty() { engine.db().read(|rows| rows.sessions_by_prefix(name, 5))? } else { found };
    match found.as_slice() {
        [] => Err(not_found()),
        [only] => Ok(only.clone()),
        // An exact id stands first; its other contents begin with it too.
        [first, ..] if first.as_str().eq_ignore_ascii_case(name) => Ok(first.clone()),
        several => {
            let names: Vec<&str> = several.iter().take(4).map(SessionId::as_str).collect();
            Err(Error::usage(format!("`{name}` stands for several sessions: {}", names.join(", ")))
                .hint("give more of the id"))
        }
    }
}

/// The projects, most recent first.
pub fn projects(engine: &Engine) -> Result<Vec<Project>> {
    let projects = engine.db().read(|rows| rows.projects())?;
    Ok(projects
        .into_iter()
        .map(|sums| Project {
            project_id: sums.project.project_id,
            original_path: sums.project.original_path,
            display_name: sums.project.display_name,
            sessions: sums.sessions,
            tokens: sums.tokens,
            last_timestamp: sums.last_timestamp,
        })
        .collect())
}

/// The figures of storage and dedup.
pub fn stats(engine: &Engine) -> Result<Stats> {
    engine.db().read(|rows| rows.stats())
}

/// A part of the list of sessions.
pub fn page(engine: &Engine, request: &SessionListRequest) -> Result<SessionPage> {
    let order = match request.sort.unwrap_or_default() {
        SessionSort::Newest => SessionOrder::Newest,
        SessionSort::Oldest => SessionOrder::Oldest,
        SessionSort::Largest => SessionOrder::Largest,
        SessionSort::Title => SessionOrder::Title,
    };
    let filter = request.filter.as_deref().map(str::trim).filter(|filter| !filter.is_empty());
    let (sessions, total) = engine.db().read(|rows| {
        if let Some(project) = &request.project
            && rows.project(project)?.is_none()
        {
            return Err(Error::not_found(format!("there is no project `{project}` in memory"))
                .hint("`recollect projects` lists them"));
        }
        rows.sessions(request.project.as_ref(), filter, order, request.offset.unwrap_or(0), request.limit)
    })?;
    let now = engine.now().millis();
    Ok(SessionPage { sessions: sessions.into_iter().map(|sums| summarize(sums, now)).collect(), total })
}

/// One session as a list shows it.
pub fn summary(engine: &Engine, session: &SessionId) -> Result<SessionSummary> {
    let sums = engine.db().read(|rows| rows.session_sums(session))?;
    let sums = sums.ok_or_else(|| Error::not_found(format!("session {session} is no longer in memory")))?;
    Ok(summarize(sums, engine.now().millis()))
}

fn summarize(sums: SessionSums, now: i64) -> SessionSummary {
    let places: Vec<Stat> = sums.places.iter().filter_map(|place| Stat::of(Path::new(place)).ok()).collect();
    let session = sums.session;
    SessionSummary {
        session_id: session.session_id,
        project_id: session.project_id,
        title: session.user_title.unwrap_or(session.title),
        messages: session.messages,
        tokens: session.tokens,
        first_timestamp: session.first_timestamp,
        last_timestamp: session.last_timestamp,
        git_branch: session.git_branch,
        keepits: sums.keepits,
        versions: sums.versions,
        agents: sums.agents,
        original_present: !places.is_empty(),
        // Only the client goes on writing to a file.
        live: Format::parse(&session.format) == Format::ClaudeCode
            && places.iter().any(|stat| (0..LIVE).contains(&(now - stat.modified / 1_000_000))),
        distance: session.distance_by_hand.unwrap_or(sums.rank),
        issues: sums.issues,
        format: session.format,
        paired_with: session.paired_with,
    }
}

/// Everything about a session but its messages.
pub fn detail(engine: &Engine, session: &SessionId) -> Result<SessionDetail> {
    let gone = || Error::not_found(format!("session {session} is no longer in memory"));
    let (sums, project, files, usage, issues) = engine.db().read(|rows| {
        let sums = rows.session_sums(session)?.ok_or_else(gone)?;
        let project = rows.project(&sums.session.project_id)?;
        let files = rows.files(session)?;
        let main = files.iter().find(|file| file.part == Part::Main);
        let usage = main.map_or(Ok((0, 0)), |main| rows.usage(main.file_id))?;
        Ok((sums, project, files, usage, rows.issues(session)?))
    })?;
    let main = files.iter().find(|file| file.part == Part::Main);
    let fold: Fold = main.map_or_else(|| Ok(Fold::default()), |main| serde_json::from_str(&main.fold))?;
    let row = sums.session.clone();
    let (rank, places) = (sums.rank, sums.places.clone());
    Ok(SessionDetail {
        summary: summarize(sums, engine.now().millis()),
        project_path: project.map(|project| project.original_path).unwrap_or_default(),
        places,
        bytes: files.iter().map(|file| file.bytes).sum(),
        client_versions: row.client_versions,
        models: row.models,
        usage_input_tokens: usage.0,
        usage_output_tokens: usage.1,
        other_records: fold.other_records.into_iter().map(|(record, count)| RecordCount { record, count }).collect(),
        agents: files
            .into_iter()
            .filter(|file| file.part == Part::Agent)
            .map(|file| Agent {
                agent_id: file.agent_id.unwrap_or_default(),
                tool_use_id: file.tool_use_id,
                title: file.title.unwrap_or_default(),
                messages: file.messages,
                tokens: file.tokens,
                first_timestamp: file.first_timestamp,
                last_timestamp: file.last_timestamp,
            })
            .collect(),
        issues,
        registered_at: row.registered_at,
        distance_by_hand: row.distance_by_hand.is_some(),
        computed_distance: rank,
        exports: engine.db().read(|rows| rows.exports_of(session))?,
    })
}

/// Sets what the user may set on a session.
pub fn update(engine: &Engine, request: &SessionUpdateRequest) -> Result<SessionSummary> {
    let session = resolve(engine, &request.session)?;
    let project = engine.db().write(|rows| {
        let row = rows
            .session(&session)?
            .ok_or_else(|| Error::not_found(format!("session {session} is no longer in memory")))?;
        let title = match &request.title {
            Some(title) => Some(title.trim().to_owned()).filter(|title| !title.is_empty()),
            None => row.user_title,
        };
        let distance = match request.distance {
            Some(distance) => Some(distance).filter(|distance| *distance > 0),
            None => row.distance_by_hand,
        };
        rows.set_session_choices(&session, title.as_deref(), distance)?;
        rows.mark_dirty(&row.project_id)?;
        Ok(row.project_id)
    })?;
    engine.mirror(std::slice::from_ref(&project))?;
    summary(engine, &session)
}

/// What the frame of the window shows.
pub fn overview(engine: &Engine) -> Result<Overview> {
    let (projects, (sessions, compositions), last_archived) =
        engine.db().read(|rows| Ok((rows.projects()?.len(), rows.counts()?, rows.last_seen()?)))?;
    Ok(Overview {
        home: engine.home().root().display().to_string(),
        claude_home: engine.claude_home().display().to_string(),
        claude_home_present: engine.claude_home().is_dir(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        projects: projects as u64,
        sessions,
        compositions,
        last_archived,
        unregistered: unregistered(engine)?,
    })
}

/// Transcripts under the Claude home that are not in memory; costs one `stat` for each file there.
fn unregistered(engine: &Engine) -> Result<Unregistered> {
    let mut found = Unregistered::default();
    let mut folders = HashSet::new();
    let transcripts = engine.claude_home().join("projects");
    let followed = Followed { transcripts: transcripts.clone(), exports: Vec::new() };
    for file in behind(engine, &[transcripts], &followed)? {
        found.bytes += file.stat.bytes;
        if file.candidate.part == Part::Main {
            found.sessions += 1;
            folders.insert(file.path().parent().map(Path::to_owned));
        }
    }
    found.projects = folders.len() as u64;
    Ok(found)
}
