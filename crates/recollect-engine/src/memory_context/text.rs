//! `sessions/<id>.md`: what a session decided, did and touched, then what was said.

use crate::extract::Extracted;
use crate::line;
use crate::registry::Loaded;
use crate::session::{Block, MessageKind, Role};

/// A session as Markdown, which can be read back as one.
pub(super) fn markdown(loaded: &Loaded, extracted: &Extracted) -> String {
    let session = &loaded.session;
    let title = session.user_title.as_ref().unwrap_or(&session.title);
    let mut text = format!("# {}\n\n", one_line(title));
    let mut fact = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("- {name}: {}\n", one_line(value)));
        }
    };
    fact("Session", session.session_id.as_str());
    fact("Project", &loaded.project_path);
    fact("Branch", session.git_branch.as_deref().unwrap_or(""));
    fact("First message", &session.first_timestamp.map(|time| time.to_string()).unwrap_or_default());
    fact("Last message", &session.last_timestamp.map(|time| time.to_string()).unwrap_or_default());
    fact("Messages", &loaded.messages.len().to_string());
    let lists = [
        ("Decisions", extracted.decisions.iter().map(|found| one_line(&found.text)).collect::<Vec<_>>()),
        (
            "Tasks",
            extracted
                .tasks
                .iter()
                .map(|task| {
                    let done = if task.status == "completed" { 'x' } else { ' ' };
                    format!("[{done}] {}", one_line(&task.text))
                })
                .collect(),
        ),
        (
            "Git changes",
            extracted
                .git_changes
                .iter()
                .map(|commit| format!("{} {} ({})", commit.hash, one_line(&commit.subject), commit.branch))
                .collect(),
        ),
        (
            "Files changed",
            extracted.code_changes.iter().map(|change| format!("`{}` ({} times)", change.path, change.times)).collect(),
        ),
        ("Errors", extracted.errors.iter().map(|found| one_line(&found.text)).collect()),
    ];
    for (name, entries) in lists.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        text.push_str(&format!("\n### {name}\n\n"));
        for entry in entries {
            text.push_str(&format!("- {entry}\n"));
        }
    }
    for message in loaded.messages.iter().filter(|message| message.kind == MessageKind::Turn) {
        let name = match message.role {
            Role::User => "👤 User",
            Role::Assistant => "🤖 Claude",
            Role::Tool | Role::System => continue,
        };
        let said: Vec<&str> = message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } if !text.trim().is_empty() => Some(text.trim_end()),
                _ => None,
            })
            .collect();
        if said.is_empty() {
            continue;
        }
        let time = message.timestamp.map(|time| format!(" ({time})")).unwrap_or_default();
        text.push_str(&format!("\n## {name}{time}\n\n{}\n", said.join("\n\n")));
    }
    text
}

/// A text on one line, all of it.
fn one_line(text: &str) -> String {
    line::one_line(text, usize::MAX)
}
