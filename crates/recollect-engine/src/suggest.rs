//! Suggests sessions for what somebody is about to do (7.1): those that touched the same files, that are about the topics,
//! that say most of the task, that ran in the folder, on its branch, lately; each with its reasons, all within a budget.
//!
//! `score` is pure and holds everything that decides. All facts come from the index of search and the database: no
//! session is read.

mod score;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::api::suggest::{SuggestRequest, Suggestion, Suggestions};
use crate::compose::{self, Wish};
use crate::db::{ProjectRow, SessionRow};
use crate::engine::Call;
use crate::error::{Error, Result};
use crate::ids::{ProjectId, SessionId};
use crate::resume::WorkingFolder;
use crate::search::{self, FileTouches, TaskFit};
use crate::time::Time;
use score::{AskedAbout, ago, branch, is_weak, nearness, rarity, recency, relevance, touch};

pub use score::Parts;

/// Sessions when no limit is given.
const USUAL: u32 = 8;

/// Sessions at most.
const MOST: u32 = 100;

/// Suggests sessions, the best first.
///
/// # Errors
/// `Usage` for a budget or a limit that means nothing; `Io` when the memory cannot be read.
pub fn suggest(call: &Call<'_>, request: &SuggestRequest) -> Result<Suggestions> {
    let limit = request.limit.unwrap_or(USUAL);
    if request.budget == 0 {
        return Err(
            Error::usage("a budget of 0 tokens has no room for anything").hint("give a budget, for example 16000")
        );
    }
    if !(1..=MOST).contains(&limit) {
        return Err(Error::usage(format!("a limit of {limit} is not between 1 and {MOST}")));
    }
    let known = Known::load(call, request)?;
    let mut rated: Vec<Rated<'_>> = known.sessions.iter().map(|session| known.rate(session)).collect();
    let considered = rated.len() as u64;
    rated.retain(|rated| rated.parts.has_evidence(known.asked));
    rated.sort_by(|left, right| {
        right.score.total_cmp(&left.score).then_with(|| {
            (right.session.last_timestamp, &right.session.session_id)
                .cmp(&(left.session.last_timestamp, &left.session.session_id))
        })
    });
    let best = rated.first().map_or(0.0, |rated| rated.score);
    // Several contents under one id have most of their words in common: the one that fits best stands for them.
    let mut ids = BTreeSet::new();
    rated.retain(|rated| !is_weak(rated.score, best) && ids.insert(base(&rated.session.session_id).to_owned()));
    let fitting = rated.len();
    rated.truncate(limit as usize);
    let wishes: Vec<Wish> =
        rated.iter().map(|rated| Wish { session: rated.session.session_id.clone(), weight: rated.score }).collect();
    let portions = compose::portions(call.engine, request.budget, &wishes)?;
    rated.truncate(portions.portions.len());
    let suggestions: Vec<Suggestion> = rated
        .into_iter()
        .zip(portions.portions)
        .map(|(rated, portion)| {
            let project = known.projects.get(&rated.session.project_id);
            Suggestion {
                session_id: rated.session.session_id.clone(),
                title: rated.session.user_title.clone().unwrap_or_else(|| rated.session.title.clone()),
                project_id: rated.session.project_id.clone(),
                project: project.map(|project| project.display_name.clone()).unwrap_or_default(),
                last_timestamp: rated.session.last_timestamp,
                original_tokens: rated.session.tokens,
                version_id: portion.version_id,
                version_reason: portion.reason,
                score: rated.score,
                reasons: known.reasons(&rated),
                parts: rated.parts,
                matched_topics: rated.topics,
                matched_files: rated.files,
                suggested_tokens: portion.tokens,
            }
        })
        .collect();
    Ok(Suggestions {
        more: (fitting - suggestions.len()) as u64,
        suggestions,
        total_tokens: portions.total_tokens,
        budget: request.budget,
        considered,
    })
}

/// The id without what tells several contents under it apart.
fn base(session: &SessionId) -> &str {
    let id = session.as_str();
    id.split_once('~').map_or(id, |(base, _)| base)
}

/// All that is known for a request.
struct Known<'r> {
    request: &'r SuggestRequest,
    asked: AskedAbout,
    now: Time,
    folder: Option<PathBuf>,
    branch: String,
    sessions: Vec<SessionRow>,
    projects: BTreeMap<ProjectId, ProjectRow>,
    /// Sessions of a project, and those on the branch.
    branches: HashMap<ProjectId, (u64, u64)>,
    fits: BTreeMap<SessionId, TaskFit>,
    best_fit: f64,
    /// Of each file: how sessions touched it by its whole path, and by the end of it.
    touched: Vec<(BTreeMap<SessionId, FileTouches>, BTreeMap<SessionId, FileTouches>)>,
    about: Vec<BTreeSet<SessionId>>,
}

/// A session with its score.
struct Rated<'k> {
    session: &'k SessionRow,
    parts: Parts,
    score: f64,
    files: Vec<String>,
    topics: Vec<String>,
}

impl<'r> Known<'r> {
    fn load(call: &Call<'_>, request: &'r SuggestRequest) -> Result<Self> {
        let engine = call.engine;
        let given = request.folder.as_deref().filter(|folder| !folder.trim().is_empty()).map(Path::new);
        // A folder that is gone, or is of another machine, names its sessions all the same.
        let (folder, branch) = match given.map(|folder| (folder, WorkingFolder::resolve(folder))) {
            Some((_, Ok(resolved))) => (Some(PathBuf::from(resolved.path)), resolved.git_branch),
            Some((folder, Err(_))) => (Some(folder.to_owned()), String::new()),
            None => (None, String::new()),
        };
        let (sessions, projects) = engine.db().read(|rows| {
            let sessions: Vec<SessionRow> = rows
                .all_sessions()?
                .into_iter()
                // What is shown as the copy of a transcript is suggested as that one.
                .filter(|session| session.paired_with.is_none() && session.tokens > 0)
                .collect();
            let mut projects = BTreeMap::new();
            for session in &sessions {
                if !projects.contains_key(&session.project_id)
                    && let Some(project) = rows.project(&session.project_id)?
                {
                    projects.insert(session.project_id.clone(), project);
                }
            }
            Ok((sessions, projects))
        })?;
        let mut branches: HashMap<ProjectId, (u64, u64)> = HashMap::new();
        for session in &sessions {
            let (all, on_it) = branches.entry(session.project_id.clone()).or_default();
            *all += 1;
            *on_it += u64::from(session.git_branch.as_deref() == Some(branch.as_str()));
        }
        let task = request.task.as_deref().map(str::trim).filter(|task| !task.is_empty());
        let fits = match task {
            Some(task) => search::task_fits(call, task, None)?,
            None => BTreeMap::new(),
        };
        let mut touched = Vec::new();
        for file in &request.files {
            call.cancel.check()?;
            touched.push(touches(call, folder.as_deref(), file)?);
        }
        let about = request.topics.iter().map(|topic| search::about_topic(call, topic)).collect::<Result<_>>()?;
        Ok(Self {
            asked: AskedAbout {
                task: task.is_some(),
                files: !request.files.is_empty(),
                folder: folder.is_some(),
                topics: !request.topics.is_empty(),
                branch: !branch.is_empty(),
            },
            request,
            now: engine.now(),
            folder,
            branch,
            sessions,
            projects,
            branches,
            best_fit: fits.values().map(|fit| fit.relevance).fold(0.0, f64::max),
            fits,
            touched,
            about,
        })
    }

    fn rate<'k>(&'k self, session: &'k SessionRow) -> Rated<'k> {
        let id = &session.session_id;
        let held = self.fits.get(id).map_or(0.0, |fit| fit.relevance);
        let (mut files, mut touched, mut all) = (Vec::new(), 0.0, 0.0);
        for (file, (here, anywhere)) in self.request.files.iter().zip(&self.touched) {
            let weight = rarity(anywhere.len().max(here.len()));
            all += weight;
            let found = here
                .get(id)
                .map(|touches| (touches, true))
                .or_else(|| anywhere.get(id).map(|touches| (touches, false)));
            if let Some((touches, is_here)) = found {
                files.push(file.clone());
                touched += weight * touch(touches.calls > 0, is_here);
            }
        }
        let topics: Vec<String> = self
            .request
            .topics
            .iter()
            .zip(&self.about)
            .filter(|(_, sessions)| sessions.contains(id))
            .map(|(topic, _)| topic.clone())
            .collect();
        let place = self.projects.get(&session.project_id).map(|project| Path::new(&project.original_path));
        let near = self.folder.as_deref().zip(place).map_or(0.0, |(folder, place)| nearness(folder, place));
        let is_on_branch = !self.branch.is_empty() && session.git_branch.as_deref() == Some(self.branch.as_str());
        let (of_all, on_it) = self.branches.get(&session.project_id).copied().unwrap_or_default();
        let parts = Parts {
            relevance: relevance(held, self.best_fit),
            files: if all > 0.0 { touched / all } else { 0.0 },
            folder: near,
            topics: topics.len() as f64 / self.request.topics.len().max(1) as f64,
            recency: session.last_timestamp.map_or(0.0, |last| recency(self.now.millis() - last.millis())),
            // Another project's branch of the same name is another branch.
            branch: if is_on_branch && near > 0.0 { branch(on_it, of_all) } else { 0.0 },
        };
        Rated { session, score: parts.score(self.asked), parts, files, topics }
    }

    fn reasons(&self, rated: &Rated<'_>) -> Vec<String> {
        let parts = &rated.parts;
        let task = if self.fits.get(&rated.session.session_id).is_some_and(|fit| fit.relevance >= self.best_fit) {
            "says most of the task".to_owned()
        } else {
            let held = self.fits.get(&rated.session.session_id).map_or(0.0, |fit| fit.relevance);
            format!("says {:.0} % as much of the task as the best", held / self.best_fit.max(f64::MIN_POSITIVE) * 100.0)
        };
        let files = match rated.files.as_slice() {
            [] => None,
            [only] => Some(format!("touched {only}")),
            [first, rest @ ..] => Some(format!("touched {first} and {} more of the files", rest.len())),
        };
        let folder = if parts.folder >= 1.0 { "ran in this folder" } else { "ran around this folder" };
        let topics = (!rated.topics.is_empty()).then(|| format!("about {}", rated.topics.join(", ")));
        let last = rated.session.last_timestamp.map(|last| ago(self.now.millis() - last.millis()));
        let branch = format!("on branch {}", self.branch);
        parts.in_order(self.asked, [Some(task), files, Some(folder.to_owned()), topics, last, Some(branch)])
    }
}

/// The sessions that touched a file: by its whole path, and by the end of it.
fn touches(
    call: &Call<'_>,
    folder: Option<&Path>,
    file: &str,
) -> Result<(BTreeMap<SessionId, FileTouches>, BTreeMap<SessionId, FileTouches>)> {
    let path = Path::new(file);
    let whole = folder.filter(|_| path.is_relative()).map_or_else(|| path.to_owned(), |folder| folder.join(path));
    let end = folder.and_then(|folder| whole.strip_prefix(folder).ok()).unwrap_or(path);
    let here =
        if whole.is_absolute() { search::file_touches(call, &whole.to_string_lossy())? } else { BTreeMap::new() };
    Ok((here, search::file_touches(call, &end.to_string_lossy())?))
}
