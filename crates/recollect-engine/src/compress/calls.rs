//! What a tool was called for, in a line or two; what it changed, as lines that may follow.

use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::piece::{Class, Join, Piece, head, one_line};
use super::prose::{self, portions};

/// Characters of the line that names a call.
const CALL_CHARACTERS: usize = 240;

/// Bytes of a piece of changed lines.
const CHANGE_BYTES: usize = 240;

/// What a tool does, whatever its client calls it; known by the arguments where the name is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Runs a command.
    Shell,
    /// Reads a file.
    Read,
    /// Replaces a part of a file, or all of it.
    Change,
    /// Looks for files or text.
    Find,
    /// Runs a sub-agent.
    Agent,
    /// Keeps a list of tasks.
    Tasks,
    /// Asks the user, or shows a plan.
    Ask,
    /// Anything else.
    Other,
}

/// Which of these a call is.
pub(super) fn tool(name: &str, input: &Value) -> Tool {
    match name {
        "Bash" | "PowerShell" => Tool::Shell,
        "Read" | "NotebookRead" => Tool::Read,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => Tool::Change,
        "Grep" | "Glob" | "LS" | "WebSearch" | "ToolSearch" => Tool::Find,
        "Task" | "Agent" => Tool::Agent,
        "TodoWrite" => Tool::Tasks,
        "AskUserQuestion" | "ExitPlanMode" | "exit_plan_mode" => Tool::Ask,
        _ if input.get("command").is_some_and(Value::is_string) => Tool::Shell,
        _ if input.get("todos").is_some_and(Value::is_array) => Tool::Tasks,
        _ if input.get("subagent_type").is_some() => Tool::Agent,
        _ if path_of(input).is_some()
            && ["old_string", "content", "new_string", "edits", "new_source"]
                .iter()
                .any(|key| input.get(key).is_some()) =>
        {
            Tool::Change
        }
        _ if input.get("pattern").is_some_and(Value::is_string) => Tool::Find,
        _ => Tool::Other,
    }
}

/// The file that a call names.
pub(super) fn path_of(input: &Value) -> Option<&str> {
    ["file_path", "notebook_path", "path"]
        .iter()
        .find_map(|key| input.get(key)?.as_str())
        .filter(|path| !path.is_empty())
}

/// A path as seen from the project.
pub(super) fn near_path<'p>(path: &'p str, project: &str) -> &'p str {
    match path.strip_prefix(project) {
        Some(rest) if !project.is_empty() && rest.starts_with(['/', '\\']) && rest.len() > 1 => &rest[1..],
        _ => path,
    }
}

/// Pieces of a call. `times` is how often the same was called; earlier ones are left out.
pub(super) fn pieces(name: &str, input: &Value, project: &str, times: u32) -> Vec<Piece> {
    let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or("");
    let mut pieces = match tool(name, input) {
        Tool::Shell => shell(text("command")),
        Tool::Read => {
            let range = match (input.get("offset").and_then(Value::as_u64), input.get("limit").and_then(Value::as_u64))
            {
                (Some(from), Some(count)) => format!(":{from}-{}", from.saturating_add(count).saturating_sub(1)),
                (Some(from), None) => format!(":{from}-"),
                (None, Some(count)) => format!(":1-{count}"),
                (None, None) => String::new(),
            };
            vec![call(&format!("Read {}{range}", near_path(path_of(input).unwrap_or("a file"), project)))]
        }
        Tool::Change => change(name, input, project),
        Tool::Find => {
            let sought =
                ["pattern", "query"].iter().map(|key| text(key)).find(|sought| !sought.is_empty()).unwrap_or("");
            let place =
                path_of(input).or_else(|| input.get("glob")?.as_str()).map_or("", |path| near_path(path, project));
            let within = if place.is_empty() { "" } else { " in " };
            vec![call(&format!("{name} {sought}{within}{place}"))]
        }
        Tool::Agent => {
            let mut pieces = vec![call(&format!("{name} {}", text("description")))];
            pieces.extend(prose::pieces(text("prompt"), Class::Task, true));
            pieces
        }
        Tool::Tasks => tasks(input),
        Tool::Ask => ask(name, input),
        Tool::Other => other(name, input),
    };
    if times > 1
        && let Some(first) = pieces.first_mut()
    {
        first.text.push_str(&format!(" (×{times})"));
    }
    pieces
}

fn call(line: &str) -> Piece {
    Piece::new(one_line(line, CALL_CHARACTERS), Join::Line, Class::Call)
}

fn shell(command: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = command.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or("");
    pieces.push(call(&format!("$ {first}")));
    let commit = commit_subject(command);
    if let Some(subject) = &commit {
        if first.contains(subject.as_str()) {
            pieces[0].class = Class::Commit;
        } else {
            pieces[0].text = format!("$ {}", one_line(first.split("-m").next().unwrap_or(first), CALL_CHARACTERS));
            pieces.push(Piece::new(
                format!("Commit: {}", one_line(subject, CALL_CHARACTERS)),
                Join::Line,
                Class::Commit,
            ));
        }
    }
    let mut after = first.len() > CALL_CHARACTERS * 2;
    if after {
        pieces.extend(portions(first).skip(1).map(|part| Piece::new(part.trim(), Join::Line, Class::Content)));
    }
    for line in lines {
        after = true;
        if commit.as_deref().is_some_and(|subject| line.contains(subject)) {
            continue;
        }
        pieces.extend(portions(line).map(|part| Piece::new(part, Join::Line, Class::Content)));
    }
    if after {
        number_answers(&mut pieces);
    }
    pieces
}

/// The first line of a commit's message in a shell command.
pub(super) fn commit_subject(command: &str) -> Option<String> {
    let at = command.find("git commit").or_else(|| {
        let at = command.find(" commit ")?;
        command[..at].contains("git ").then_some(at)
    })?;
    let rest = &command[at..];
    let flag =
        [" -m", " -am", " --message="].iter().filter_map(|flag| rest.find(flag).map(|at| at + flag.len())).min()?;
    let mut message = rest[flag..].trim_start_matches([' ', '=']);
    if let Some(here) = message.strip_prefix("\"$(cat <<") {
        message = here.split_once('\n').map_or("", |(_, body)| body);
    } else {
        message = message.trim_start_matches(['"', '\'']);
    }
    let subject = message.trim_start().lines().next()?.trim().trim_end_matches(['"', '\'', ')']).trim();
    let subject = subject.split("\" &&").next().unwrap_or(subject).split("' &&").next().unwrap_or(subject);
    (!subject.is_empty()).then(|| subject.to_owned())
}

fn change(name: &str, input: &Value, project: &str) -> Vec<Piece> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let path = near_path(path_of(input).unwrap_or("a file"), project);
    let mut pieces = vec![Piece::new(format!("{name} {}", one_line(path, CALL_CHARACTERS)), Join::Line, Class::Change)];
    let whole = ["content", "new_source"].iter().find_map(|key| input.get(key)?.as_str());
    if let Some(content) = whole {
        pieces[0].text.push_str(&format!(" ({})", counted(content.lines().count() as u32, "line")));
        let mut held = String::new();
        let mut count = 0;
        for line in content.lines().filter(|line| !line.trim().is_empty()) {
            grow(&mut pieces, &mut held, &mut count, line, Class::Content);
        }
        flush(&mut pieces, &mut held, &mut count, Class::Content);
    } else {
        let single = [input.clone()];
        let edits = input.get("edits").and_then(Value::as_array).map_or(&single[..], Vec::as_slice);
        for edit in edits {
            changed_lines(&mut pieces, &text(edit, "old_string"), &text(edit, "new_string"));
        }
    }
    number_answers(&mut pieces);
    pieces
}

/// The lines that an edit took away and put in, without those that it only quotes.
fn changed_lines(pieces: &mut Vec<Piece>, old: &str, new: &str) {
    let mut held = String::new();
    let mut count = 0;
    let mut put = |tag: ChangeTag, line: &str| {
        let mark = match tag {
            ChangeTag::Insert => "+",
            ChangeTag::Delete => "-",
            ChangeTag::Equal => return,
        };
        if !line.trim().is_empty() {
            grow(pieces, &mut held, &mut count, &format!("{mark} {}", line.trim()), Class::Content);
        }
    };
    if old.len() + new.len() > 400_000 {
        // Too large to compare within the time that a preview has: what was put in says most.
        new.lines().for_each(|line| put(ChangeTag::Insert, line));
    } else {
        for line in TextDiff::from_lines(old, new).iter_all_changes() {
            put(line.tag(), line.value());
        }
    }
    flush(pieces, &mut held, &mut count, Class::Content);
}

fn grow(pieces: &mut Vec<Piece>, held: &mut String, count: &mut u32, line: &str, class: Class) {
    if !held.is_empty() && held.len() + line.len() > CHANGE_BYTES {
        flush(pieces, held, count, class);
    }
    for part in portions(line) {
        if !held.is_empty() {
            held.push('\n');
        }
        held.push_str(part.trim_end());
        if held.len() > CHANGE_BYTES {
            *count += 1;
            flush(pieces, held, count, class);
            continue;
        }
    }
    *count += 1;
}

fn flush(pieces: &mut Vec<Piece>, held: &mut String, count: &mut u32, class: Class) {
    if !held.is_empty() {
        pieces.push(Piece { lines: (*count).max(1), ..Piece::new(std::mem::take(held), Join::Line, class) });
    }
    *count = 0;
}

/// What follows the first piece is read only together with it.
fn number_answers(pieces: &mut [Piece]) {
    for piece in pieces.iter_mut().skip(1).filter(|piece| piece.class == Class::Content) {
        piece.answers = Some(0);
    }
}

fn tasks(input: &Value) -> Vec<Piece> {
    let todos = input.get("todos").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut pieces = vec![Piece::new("Tasks:", Join::Line, Class::State)];
    for todo in todos {
        let text = ["content", "subject", "title"].iter().find_map(|key| todo.get(key)?.as_str()).unwrap_or("");
        let mark = match todo.get("status").and_then(Value::as_str) {
            Some("completed") => "[x]",
            Some("in_progress") => "[>]",
            _ => "[ ]",
        };
        if !text.is_empty() {
            let mut piece = Piece::new(format!("{mark} {}", one_line(text, CALL_CHARACTERS)), Join::Line, Class::State);
            piece.answers = Some(0);
            pieces.push(piece);
        }
    }
    if pieces.len() == 1 { Vec::new() } else { pieces }
}

fn ask(name: &str, input: &Value) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if let Some(plan) = input.get("plan").and_then(Value::as_str) {
        pieces.push(call("Plan:"));
        pieces.extend(prose::pieces(plan, Class::Task, false));
    }
    for question in input.get("questions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice) {
        let options: Vec<&str> = question
            .get("options")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .filter_map(|option| option.get("label")?.as_str())
            .collect();
        let asked = question.get("question").and_then(Value::as_str).unwrap_or("");
        pieces.push(Piece::new(
            one_line(&format!("Asked: {asked} ({})", options.join(" / ")), 2 * CALL_CHARACTERS),
            Join::Line,
            Class::Task,
        ));
    }
    if pieces.is_empty() { other(name, input) } else { pieces }
}

fn other(name: &str, input: &Value) -> Vec<Piece> {
    let empty = Map::new();
    let input = input.as_object().unwrap_or(&empty);
    let mut line = name.rsplit("__").next().unwrap_or(name).to_owned();
    let mut long = Vec::new();
    for (key, value) in input {
        match value {
            Value::String(text) if text.len() > 160 => {
                line.push_str(&format!(" {key}: {}", one_line(head(text, 400), 80)));
                long.extend(portions(text).map(|part| Piece::new(part.trim_end(), Join::Line, Class::Content)));
            }
            Value::String(text) => line.push_str(&format!(" {key}: {}", one_line(text, 160))),
            Value::Null => {}
            other => line.push_str(&format!(" {key}: {}", one_line(head(&other.to_string(), 400), 80))),
        }
    }
    let mut pieces = vec![call(&line)];
    pieces.append(&mut long);
    number_answers(&mut pieces);
    pieces
}

/// `1 line`, `2 lines`.
pub(super) fn counted(count: u32, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(name: &str, input: Value) -> Vec<String> {
        pieces(name, &input, "/home/dev/app", 1).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn a_call_is_told_in_a_line() {
        assert_eq!(
            lines("Read", json!({"file_path": "/home/dev/app/src/a.rs", "offset": 10, "limit": 5})),
            ["Read src/a.rs:10-14"]
        );
        assert_eq!(lines("Grep", json!({"pattern": "fn main", "path": "/etc"})), ["Grep fn main in /etc"]);
        assert_eq!(lines("mcp__x__look", json!({"id": 3, "why": "to see"})), ["look id: 3 why: to see"]);
        let read = pieces("Read", &json!({"file_path": "a"}), "", 3);
        assert_eq!(read[0].text, "Read a (×3)");
    }

    #[test]
    fn an_edit_is_its_file_and_the_lines_that_changed() {
        let edit = json!({"file_path": "/home/dev/app/a.rs", "old_string": "fn a() {\n  1\n}", "new_string": "fn a() {\n  2\n}"});
        assert_eq!(lines("Edit", edit), ["Edit a.rs", "- 1\n+ 2"], "quoted lines are left out");
        let write = json!({"file_path": "/home/dev/app/b.rs", "content": "one\n\ntwo\n"});
        assert_eq!(lines("Write", write), ["Write b.rs (3 lines)", "one\ntwo"]);
    }

    #[test]
    fn a_commit_is_its_subject() {
        for command in [
            "git commit -m \"Add the cache\"",
            "git add -A && git commit -am 'Add the cache'",
            "git commit -m \"$(cat <<'EOF'\nAdd the cache\n\nBecause it is slow.\nEOF\n)\"",
            "git -C x commit --message='Add the cache'",
        ] {
            assert_eq!(commit_subject(command).as_deref(), Some("Add the cache"), "{command}");
        }
        assert_eq!(commit_subject("git commit --amend"), None);
        let shown =
            lines("Bash", json!({"command": "git commit -m \"$(cat <<'EOF'\nAdd the cache\n\nBecause.\nEOF\n)\""}));
        assert_eq!(shown[1], "Commit: Add the cache");
    }

    #[test]
    fn a_task_list_is_its_state() {
        let todos =
            json!({"todos": [{"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}]});
        assert_eq!(lines("TodoWrite", todos), ["Tasks:", "[x] one", "[ ] two"]);
    }
}
