//! `recollect projects`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::memory::{Project, ProjectListRequest, projects};
use serde::Serialize;

use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::count;
use crate::output::{NAME, paint};

/// List the projects in memory, most recent first
#[derive(Debug, Args)]
pub(crate) struct Projects {}

#[derive(Serialize)]
struct Document<'a> {
    projects: &'a [Project],
}

impl Projects {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let projects = face.call(projects, ProjectListRequest::default())?;
        face.terminal.answer(&Document { projects: &projects }, |out| {
            if projects.is_empty() {
                out.push_str("No projects in memory yet: `recollect ingest --all` takes all that Claude Code has.\n");
                return;
            }
            let columns = [
                ("PROJECT", Align::Left),
                ("SESSIONS", Align::Right),
                ("TOKENS", Align::Right),
                ("LAST MESSAGE", Align::Left),
                ("FOLDER", Align::Left),
            ];
            let row = |project: &Project| {
                let folder = match project.original_path.as_str() {
                    "" => project.project_id.as_str(),
                    path => path,
                };
                vec![
                    paint(NAME, cell(&project.display_name)),
                    count(project.sessions),
                    count(project.tokens),
                    face.terminal.time(project.last_timestamp),
                    cell(folder),
                ]
            };
            out.push_str(&table(&columns, projects.iter().map(row).collect()));
        })
    }
}
