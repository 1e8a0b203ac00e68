//! Brings a session's row up to date from its files, at a cost that does not grow with how many there are.

use std::path::Path;

use super::base_of;
use super::identity::project_of;
use crate::db::{FileRow, Part, Rows};
use crate::error::Result;
use crate::ids::{ProjectId, SessionId};
use crate::sources::claude_code::Fold;
use crate::time::Time;

/// Which sub-agents of a session may belong to other calls than before.
pub(super) enum Join {
    /// All: the transcript is new, or names calls.
    AllOf(SessionId),
    /// One, whose file was written.
    One(SessionId, i64),
}

/// Brings a session's row up to date from its files, and joins its sub-agents to the calls that started them.
pub(super) fn refresh(
    rows: &Rows<'_>,
    session: &SessionId,
    joins: &[Join],
    wished: Option<&ProjectId>,
    now: Time,
) -> Result<ProjectId> {
    let main = rows.main_file(session)?;
    let fold: Fold = main.as_ref().map_or_else(|| Ok(Fold::default()), |main| serde_json::from_str(&main.fold))?;
    let main_id = main.as_ref().map(|main| main.file_id);
    if joins.iter().any(|join| matches!(join, Join::AllOf(of) if of == session)) {
        for agent in rows.files(session)?.into_iter().filter(|file| file.part == Part::Agent) {
            join_agent(rows, main_id, agent)?;
        }
    } else {
        for join in joins {
            if let Join::One(of, file_id) = join
                && of == session
                && let Some(agent) = rows.file(*file_id)?
            {
                join_agent(rows, main_id, agent)?;
            }
        }
    }
    let Some(mut row) = rows.session(session)? else { return Ok(ProjectId::new("")) };
    let agents_title = || {
        Ok::<_, crate::Error>(
            rows.files(session)?.into_iter().filter(|file| file.part == Part::Agent).find_map(|file| file.title),
        )
    };
    row.title = match fold.title() {
        Some(title) => title,
        None => agents_title()?
            .unwrap_or_else(|| format!("Session {}", &base_of(session).as_str().chars().take(8).collect::<String>())),
    };
    row.client_versions.clone_from(&fold.client_versions);
    row.models.clone_from(&fold.models);
    row.git_branch.clone_from(&fold.git_branch);
    if let Some(main) = &main {
        let place = rows.places(main.file_id)?.into_iter().next().map(|place| place.path).unwrap_or_default();
        let project = project_of(&fold, Path::new(&place), wished, now);
        rows.put_project(&project)?;
        row.project_id = project.project_id;
        (row.messages, row.tokens) = (main.messages, main.tokens);
        (row.first_timestamp, row.last_timestamp) = (main.first_timestamp, main.last_timestamp);
    } else {
        let files = rows.files(session)?;
        row.first_timestamp = files.iter().filter_map(|file| file.first_timestamp).min();
        row.last_timestamp = files.iter().filter_map(|file| file.last_timestamp).max();
    }
    rows.put_session(&row)?;
    rows.mark_dirty(&row.project_id)?;
    Ok(row.project_id)
}

/// Joins a sub-agent to the call whose result names it, else to one with its task.
fn join_agent(rows: &Rows<'_>, main: Option<i64>, agent: FileRow) -> Result<()> {
    let own: Fold = serde_json::from_str(&agent.fold)?;
    let call = match main {
        Some(main) => rows.call_of(main, agent.agent_id.as_deref().unwrap_or_default(), own.task.as_deref())?,
        None => None,
    };
    let (tool_use_id, description) = call.unzip();
    let title = description.filter(|title| !title.is_empty()).or_else(|| own.title());
    if tool_use_id != agent.tool_use_id || title != agent.title {
        rows.put_file(&FileRow { tool_use_id, title, ..agent })?;
    }
    Ok(())
}
