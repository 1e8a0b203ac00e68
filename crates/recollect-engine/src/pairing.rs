//! Tells that an export and a transcript are one conversation: by what was said in it, in order, and not by names.
//!
//! An export is the conversation as a terminal drew it: lines are cut, Markdown is drawn, tools are shortened. What outlives
//! that are the letters and digits of what the user and the assistant said.

use sha2::{Digest, Sha256};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::session::{Block, Message, MessageKind, Role};

/// Letters that tell what was said from anything else.
const LETTERS: usize = 240;

/// What the user or the assistant said in a message, as a number; `None` when nothing was said.
pub fn spoken(message: &Message) -> Option<i64> {
    if message.kind != MessageKind::Turn || message.agent_id.is_some() {
        return None;
    }
    let mut letters = match message.role {
        Role::User => "u".to_owned(),
        Role::Assistant => "a".to_owned(),
        Role::Tool | Role::System => return None,
    };
    let mut left = LETTERS;
    for block in &message.blocks {
        let Block::Text { text } = block else { continue };
        let said = if message.role == Role::User { typed(text)? } else { text.as_str().into() };
        push_letters(&said, &mut letters, &mut left);
    }
    if left == LETTERS {
        return None;
    }
    let hash: [u8; 32] = Sha256::digest(letters.as_bytes()).into();
    let [a, b, c, d, e, f, g, h, ..] = hash;
    Some(i64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

/// What the user typed, without what the client put around it; `None` for what the client wrote in the user's name.
fn typed(text: &str) -> Option<std::borrow::Cow<'_, str>> {
    let text = text.trim();
    if let Some(command) = between(text, "<command-name>", "</command-name>") {
        let arguments = between(text, "<command-args>", "</command-args>").unwrap_or("");
        return Some(format!("{command} {arguments}").into());
    }
    if let Some(command) = between(text, "<bash-input>", "</bash-input>") {
        return Some(command.into());
    }
    let wrapped = text.starts_with('<') && text.get(1..2).is_some_and(|next| next.starts_with(char::is_alphabetic));
    (!wrapped).then(|| text.into())
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let from = text.find(open)? + open.len();
    let to = text[from..].find(close)? + from;
    Some(&text[from..to])
}

/// Letters and digits of Markdown as a terminal draws it: fences, tags and the addresses of links are not drawn.
fn push_letters(text: &str, letters: &mut String, left: &mut usize) {
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            continue;
        }
        let mut rest = line;
        while let Some(character) = rest.chars().next() {
            if *left == 0 {
                return;
            }
            rest = &rest[character.len_utf8()..];
            if character == ']' && rest.starts_with('(') {
                rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
            } else if character == '<' && rest.starts_with(|next: char| next.is_ascii_alphabetic() || next == '/') {
                rest = rest.find('>').map_or(rest, |end| &rest[end + 1..]);
            } else if character.is_alphanumeric() {
                letters.push(character);
                *left -= 1;
            }
        }
    }
}

/// How much of an export stands in a transcript, in order: turns found, of how many.
pub fn found(export: &[i64], transcript: &[i64]) -> (usize, usize) {
    // What the export does not hold cannot be found, and costs time.
    let wanted: std::collections::HashSet<i64> = export.iter().copied().collect();
    let transcript: Vec<i64> = transcript.iter().copied().filter(|said| wanted.contains(said)).collect();
    let equal = capture_diff_slices(Algorithm::Myers, export, &transcript)
        .iter()
        .filter(|part| part.tag() == DiffTag::Equal)
        .map(|part| part.old_range().len())
        .sum();
    (equal, export.len())
}

/// Whether so much makes an export and a transcript one conversation: nearly all, and more than a greeting.
pub fn is_one(found: usize, of: usize) -> bool {
    found >= 2 && found * 4 >= of * 3
}

/// Whether one conversation is the beginning of the other: `Some(true)` when `new` goes on from `known`, `Some(false)` when
/// it is as long or shorter.
pub fn goes_on(known: &[i64], new: &[i64]) -> Option<bool> {
    let shorter = known.len().min(new.len());
    // One greeting begins many conversations.
    if shorter < 2 || known[..shorter] != new[..shorter] {
        return None;
    }
    Some(new.len() > known.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{Format, claude_code, read_whole};

    fn of_transcript(lines: &[String]) -> Vec<i64> {
        let messages = lines.iter().filter_map(|line| claude_code::read(line.as_bytes(), 1).record?.message);
        messages.filter_map(|message| spoken(&message)).collect()
    }

    fn of_export(text: &str) -> Vec<i64> {
        read_whole(Format::ClaudeExport, text.as_bytes()).messages().iter().filter_map(spoken).collect()
    }

    fn record(kind: &str, text: &str) -> String {
        serde_json::json!({"type": kind, "message": {"role": kind, "content": [{"type": "text", "text": text}]}})
            .to_string()
    }

    #[test]
    fn what_a_terminal_draws_is_what_was_said() {
        let transcript = [
            record("user", "fix the login"),
            record("assistant", "Done **well**:\n\n```rust\nfn a() {}\n```\n\nSee [the docs](https://a.b)<br/>."),
            record("user", "<bash-input>ls -la</bash-input>"),
            record("user", "<bash-stdout>a b c</bash-stdout>"),
            record("user", "<command-name>/compact</command-name>\n<command-args>keep all</command-args>"),
        ];
        let export = "> fix the\nlogin\n\n● Done well:\n\n  fn a() {}\n\n  See the docs.\n\n! ls -la\n  ⎿  a b c\n\n> /compact keep all\n";
        assert_eq!(of_transcript(&transcript), of_export(export));
    }

    #[test]
    fn order_counts_and_one_greeting_is_not_enough() {
        assert_eq!(found(&[1, 2, 3], &[9, 1, 8, 2, 3, 7]), (3, 3));
        assert_eq!(found(&[1, 2, 3], &[3, 2, 1]).0, 1);
        assert!(is_one(3, 4) && !is_one(1, 1) && !is_one(2, 4));
        assert_eq!(goes_on(&[1, 2], &[1, 2, 3]), Some(true));
        assert_eq!(goes_on(&[1, 2, 3], &[1, 2]), Some(false));
        assert_eq!(goes_on(&[1, 2], &[1, 3]), None);
        assert_eq!(goes_on(&[1], &[1, 2]), None);
    }

    #[test]
    fn who_speaks_is_a_part_of_what_is_said() {
        let user = of_transcript(&[record("user", "yes")]);
        assert_ne!(user, of_transcript(&[record("assistant", "yes")]));
    }
}
