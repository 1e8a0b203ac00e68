//! A message without its secrets: whole texts are looked at, before anything is chosen or shortened.

use serde_json::Value;

use super::Marked;
use crate::redact::redact;
use crate::session::{Block, Message};

/// The message without secrets, and the passages marked in it where they then stand; `None` when it holds none.
pub(super) fn without_secrets(message: &Message, marked: &[&Marked]) -> Option<(Message, Vec<Marked>)> {
    let whole = message.text();
    let mut safe = message.clone();
    let mut moved: Vec<Marked> = marked.iter().map(|keepit| (*keepit).clone()).collect();
    let starts: Vec<usize> =
        message.placed_blocks().map(|(byte, _)| whole.get(..byte).map_or(0, |text| text.chars().count())).collect();
    let placed = safe.blocks.iter_mut().filter(|block| !block.text().is_empty());
    let mut shift = 0_i64;
    for (start, block) in starts.into_iter().zip(placed) {
        let was = block.text().chars().count();
        // Where something begins or ends, and by how much it is moved.
        let mut steps: Vec<(usize, i64)> = vec![(start, shift)];
        match block {
            Block::Text { text } => {
                let places = marked.iter().flat_map(|keepit| [keepit.start as usize, keepit.end as usize]);
                let mut places: Vec<usize> = places.filter(|place| (start..start + was).contains(place)).collect();
                places.extend([start, start + was]);
                places.sort_unstable();
                places.dedup();
                let characters: Vec<char> = text.chars().collect();
                text.clear();
                for (from, to) in places.iter().zip(places.iter().skip(1)) {
                    let piece: String = characters[from - start..to - start].iter().collect();
                    let (clean, _) = redact(&piece);
                    shift += clean.chars().count() as i64 - (to - from) as i64;
                    steps.push((*to, shift));
                    text.push_str(&clean);
                }
            }
            Block::Thinking { text } | Block::ToolResult { text, .. } => *text = redact(text).0,
            Block::ToolUse { input, .. } => clean(input, None),
            Block::Attachment { .. } => {}
        }
        let is = block.text().chars().count() as i64;
        shift = steps[0].1 + is - was as i64;
        let now = |place: u64| {
            let step = steps.iter().rev().find(|(at, _)| *at as u64 <= place).map_or(0, |(_, by)| *by);
            place.saturating_add_signed(step)
        };
        for (keepit, moved) in marked.iter().zip(&mut moved) {
            if (start as u64..(start + was) as u64).contains(&keepit.start) {
                (moved.start, moved.end) = (now(keepit.start), now(keepit.end));
            }
        }
    }
    (safe.blocks != message.blocks).then_some((safe, moved))
}

/// Takes secrets out of a tool's arguments; their names tell what has no shape of its own.
fn clean(value: &mut Value, name: Option<&str>) {
    match value {
        Value::String(text) => {
            *text = redact(text).0;
            if let Some(name) = name.filter(|_| !text.contains(['"', '\n', '\\'])) {
                let begin = format!("\"{name}\": \"");
                let (named, _) = redact(&format!("{begin}{text}\""));
                if let Some(inner) = named.strip_prefix(&begin).and_then(|rest| rest.strip_suffix('"')) {
                    *text = inner.to_owned();
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| clean(value, name)),
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| clean(value, Some(name))),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::{MessageKind, Role};

    fn message(blocks: Vec<Block>) -> Message {
        Message {
            index: 0,
            uuid: "m".to_owned(),
            role: Role::User,
            kind: MessageKind::Turn,
            timestamp: None,
            reply_id: None,
            model: None,
            agent_id: None,
            cut_lines: None,
            blocks,
        }
    }

    #[test]
    fn marked_passages_are_where_they_were_said_when_secrets_before_them_are_gone() {
        let secret = ["sk-", "ant-api03-", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"].concat();
        let passage = "##keepit1.00## Keep ü this.";
        let text = |text: String| Block::Text { text };
        let message = message(vec![
            text(format!("The key is {secret}.")),
            Block::ToolUse {
                id: "t".to_owned(),
                name: "Login".to_owned(),
                input: json!({"password": "hunter2", "env": [{"note": format!("ü {secret}")}]}),
            },
            text(format!("Again {secret}. {passage} And {secret}.")),
        ]);
        let whole = message.text();
        let start = whole[..whole.find(passage).expect("it is there")].chars().count() as u64;
        let keepit = Marked {
            marker_id: "k".into(),
            message: 0,
            start,
            end: start + passage.chars().count() as u64,
            content: "Keep ü this.".to_owned(),
            weight: 1.0,
        };
        let (safe, moved) = without_secrets(&message, &[&keepit]).expect("there are secrets");
        let whole = safe.text();
        assert!(!whole.contains(&secret) && !whole.contains("hunter2"), "{whole}");
        let at = |keepit: &Marked| -> String {
            whole.chars().skip(keepit.start as usize).take((keepit.end - keepit.start) as usize).collect()
        };
        assert_eq!(at(&moved[0]), passage);
    }

    #[test]
    fn what_holds_no_secret_is_not_copied() {
        let message = message(vec![Block::Text { text: "Nothing to hide.".to_owned() }]);
        assert!(without_secrets(&message, &[]).is_none());
    }
}
