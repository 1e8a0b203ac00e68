//! Headings of tool calls: `Bash(ls -la)`, `server - tool (MCP)(key: "value")`.

use serde_json::{Map, Value};

use super::wrap;

/// A call as its heading tells it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// The tool, by the name that transcripts give it.
    pub name: String,
    /// Its arguments, as far as the heading shows them.
    pub input: Value,
}

/// Whether a line can be the first of a call's heading.
pub(super) fn opens(line: &str) -> bool {
    name(line).is_some()
}

/// The name before the parenthesis: capitalised words right before it, or a tool of an MCP server.
fn name(line: &str) -> Option<(&str, &str)> {
    if let Some(at) = line.find(" (MCP)(") {
        let (name, rest) = (&line[..at], &line[at + " (MCP)(".len()..]);
        if name.contains(" - ") && !name.contains(['(', '"']) {
            return Some((name, rest));
        }
    }
    let (name, rest) = line.split_once('(')?;
    let words: Vec<&str> = name.split(' ').collect();
    let is_word = |word: &&str| {
        (word.starts_with(|first: char| first.is_ascii_uppercase()) || word.starts_with("mcp__"))
            && word.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-'))
    };
    (words.len() <= 3 && name.len() <= 64 && words.iter().all(is_word)).then_some((name, rest))
}

/// Reads a heading; its lines are without indentation. `None` when it is none, or does not end as one does.
pub(super) fn read(lines: &[&str], width: usize, has_result: bool) -> Option<Call> {
    let (shown, _) = name(lines.first()?)?;
    let joined = wrap::heading(lines, width);
    let (_, rest) = name(&joined)?;
    let arguments = rest.trim_end().strip_suffix(')');
    // Unless something came of it, what does not close its parenthesis at its very end is prose.
    let stands_below = |line: &&str| line.starts_with("  ");
    let is_hanging = lines.len() > 1 && lines[1..].iter().all(stands_below);
    let is_closed = arguments.is_some() && (is_hanging || closes_at_end(rest.trim_end()));
    if !has_result && !is_closed {
        return None;
    }
    let arguments = arguments.unwrap_or(rest).trim();
    let name = match shown.split_once(" - ") {
        Some((server, tool)) => format!("mcp__{}__{}", server.trim(), tool.trim()),
        // The one name that the client shows for another.
        None if shown == "Update" => "Edit".to_owned(),
        None => shown.replace(' ', ""),
    };
    Some(Call { input: input(&name, arguments), name })
}

/// Whether the parenthesis that is open before a text is closed by its last character and not before.
fn closes_at_end(text: &str) -> bool {
    let mut depth = 1_i64;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == text.len();
        }
    }
    false
}

fn input(name: &str, arguments: &str) -> Value {
    let pairs = pairs(arguments);
    if !pairs.is_empty() {
        return Value::Object(pairs);
    }
    let key = match name {
        "Bash" => "command",
        "Read" | "Edit" | "Write" | "Create" | "MultiEdit" => "file_path",
        "NotebookEdit" | "NotebookRead" => "notebook_path",
        "Task" | "Agent" => "description",
        "Fetch" | "WebFetch" => "url",
        "WebSearch" => "query",
        _ => "arguments",
    };
    let mut input = Map::new();
    if !arguments.is_empty() {
        input.insert(key.to_owned(), Value::String(arguments.to_owned()));
    }
    Value::Object(input)
}

/// Arguments of the form `key: "value", other: 5`; empty when they are not all of it.
fn pairs(text: &str) -> Map<String, Value> {
    let mut pairs = Map::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let Some((key, after)) = rest.split_once(": ") else { return Map::new() };
        if key.is_empty() || !key.chars().all(|one| one.is_ascii_alphanumeric() || one == '_' || one == '-') {
            return Map::new();
        }
        let after = after.trim_start();
        let (value, end) = if let Some(quoted) = after.strip_prefix('"') {
            // The client does not escape quotes within: the value ends where the next key or the end follows.
            let Some(end) = closing_quote(quoted) else { return Map::new() };
            (Value::String(quoted[..end].to_owned()), end + 2)
        } else {
            let end = after.find(", ").unwrap_or(after.len());
            let plain = after[..end].trim();
            (serde_json::from_str(plain).unwrap_or_else(|_| Value::String(plain.to_owned())), end)
        };
        pairs.insert(key.to_owned(), value);
        rest = after.get(end..).unwrap_or("").trim_start_matches(',').trim_start();
    }
    pairs
}

fn closing_quote(text: &str) -> Option<usize> {
    memchr::memchr_iter(b'"', text.as_bytes()).find(|at| {
        let after = text[at + 1..].trim_start();
        after.is_empty()
            || after.strip_prefix(',').is_some_and(|next| {
                let key: String =
                    next.trim_start().chars().take_while(|one| one.is_ascii_alphanumeric() || *one == '_').collect();
                !key.is_empty() && next.trim_start()[key.len()..].starts_with(':')
            })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(lines: &[&str], name: &str, input: Value) {
        assert_eq!(read(lines, 80, true), Some(Call { name: name.to_owned(), input }), "{lines:?}");
    }

    #[test]
    fn headings_give_the_tool_and_what_it_was_given() {
        check(&["Bash(ls -la)"], "Bash", json!({"command": "ls -la"}));
        check(&["Update(src/a.rs)"], "Edit", json!({"file_path": "src/a.rs"}));
        check(&["Kill Shell(Kill shell: 5e)"], "KillShell", json!({"arguments": "Kill shell: 5e"}));
        check(
            &["Search(pattern: \"a, b|c\", path: \"src\", head: 5)"],
            "Search",
            json!({"pattern": "a, b|c", "path": "src", "head": 5}),
        );
        check(&["files - read_many (MCP)(paths: \"a\")"], "mcp__files__read_many", json!({"paths": "a"}));
        check(
            &["Bash(python3 << 'EOF'", "print(1)", "EOF)"],
            "Bash",
            json!({"command": "python3 << 'EOF'\nprint(1)\nEOF"}),
        );
    }

    #[test]
    fn prose_is_no_call() {
        for line in [
            "This file (a.rs) is new",
            "Found it (see below)",
            "I did it(",
            "(an aside)",
            "Done.",
            "Main() calls run()",
        ] {
            assert_eq!(read(&[line], 80, false), None, "{line}");
        }
    }
}
