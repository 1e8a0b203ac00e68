//! Finds the project that `--project` names: by its id, its folder or the last part of its folder.

use std::path::Path;

use recollect_engine::api::memory::{Project, ProjectListRequest, projects};
use recollect_engine::ids::ProjectId;
use recollect_engine::{Error, Result, home};

use super::absolute;
use crate::face::Face;

/// A project in memory.
pub(super) fn known(face: &Face, name: &str) -> Result<ProjectId> {
    let projects = face.call(projects, ProjectListRequest::default())?;
    find(&projects, name)?.ok_or_else(|| {
        Error::not_found(format!("no project is called `{name}`")).hint("`recollect projects` lists the projects")
    })
}

/// A project in memory, or else a new one of that folder or id.
pub(super) fn known_or_new(face: &Face, name: &str) -> Result<ProjectId> {
    let projects = face.call(projects, ProjectListRequest::default())?;
    if let Some(project) = find(&projects, name)? {
        return Ok(project);
    }
    if name.is_empty() {
        return Err(Error::usage("a project needs a name"));
    }
    let is_path = name.contains('/') || name.starts_with('.');
    let path = if is_path { absolute(Path::new(name))? } else { name.to_owned() };
    Ok(ProjectId::new(home::sanitize(&path)))
}

fn find(projects: &[Project], name: &str) -> Result<Option<ProjectId>> {
    let path = absolute(Path::new(if name.is_empty() { "." } else { name }))?;
    let exact = projects.iter().find(|project| project.project_id.as_str() == name || project.original_path == path);
    if let Some(project) = exact {
        return Ok(Some(project.project_id.clone()));
    }
    let mut named = projects.iter().filter(|project| project.display_name == name);
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(Some(one.project_id.clone())),
        (Some(one), Some(other)) => Err(Error::usage(format!("several projects are called `{name}`"))
            .hint(format!("name one by its id: {}, {}", one.project_id, other.project_id))),
        _ => Ok(None),
    }
}
