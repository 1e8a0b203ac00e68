//! Content of messages: a text, or a list of blocks.

use serde_json::{Map, Value};

use crate::session::Block;

/// Blocks of a message's content, whatever its shape; empty texts are left out.
pub(in crate::sources) fn blocks(content: &Value) -> Vec<Block> {
    let mut blocks = Vec::new();
    match content {
        Value::String(text) => push_text(&mut blocks, text),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::Object(item) => push_block(&mut blocks, item),
                    Value::String(text) => push_text(&mut blocks, text),
                    _ => {}
                }
            }
        }
        Value::Object(item) => push_block(&mut blocks, item),
        _ => {}
    }
    blocks
}

fn push_text(blocks: &mut Vec<Block>, text: &str) {
    if !text.is_empty() {
        blocks.push(Block::Text { text: text.to_owned() });
    }
}

fn push_block(blocks: &mut Vec<Block>, item: &Map<String, Value>) {
    let kind = text_of(item, "type");
    match kind {
        "text" => push_text(blocks, text_of(item, "text")),
        "thinking" => blocks.push(Block::Thinking { text: text_of(item, "thinking").to_owned() }),
        "redacted_thinking" => blocks.push(Block::Thinking { text: String::new() }),
        "image" | "document" => blocks.push(attachment(item)),
        // Tools of the client, of the server and of MCP servers alike.
        _ if kind.ends_with("tool_use") => blocks.push(Block::ToolUse {
            id: text_of(item, "id").to_owned(),
            name: text_of(item, "name").to_owned(),
            input: match item.get("input") {
                Some(input @ Value::Object(_)) => input.clone(),
                Some(Value::Null) | None => Value::Object(Map::new()),
                Some(other) => Value::Object(Map::from_iter([("input".to_owned(), other.clone())])),
            },
        }),
        _ if kind.ends_with("tool_result") => push_result(blocks, item),
        // A kind that is not known yet: its text is shown if it has one, and that it is there in any case.
        _ => match text_of(item, "text") {
            "" => blocks.push(Block::Attachment { media_type: kind.to_owned(), bytes: 0 }),
            text => push_text(blocks, text),
        },
    }
}

fn push_result(blocks: &mut Vec<Block>, item: &Map<String, Value>) {
    let mut text = String::new();
    let mut attachments = Vec::new();
    match item.get("content") {
        Some(Value::String(content)) => text.push_str(content),
        Some(Value::Array(parts)) => {
            for part in parts {
                let Value::Object(part) = part else { continue };
                let piece = match text_of(part, "type") {
                    "image" | "document" => {
                        attachments.push(attachment(part));
                        continue;
                    }
                    "tool_reference" => text_of(part, "tool_name"),
                    "web_search_result" => text_of(part, "url"),
                    _ => text_of(part, "text"),
                };
                if !text.is_empty() && !piece.is_empty() {
                    text.push('\n');
                }
                text.push_str(piece);
            }
        }
        Some(Value::Object(content)) => text.push_str(text_of(content, "text")),
        _ => {}
    }
    blocks.push(Block::ToolResult {
        tool_use_id: text_of(item, "tool_use_id").to_owned(),
        text,
        is_error: item.get("is_error").and_then(Value::as_bool).unwrap_or(false),
    });
    blocks.append(&mut attachments);
}

fn attachment(item: &Map<String, Value>) -> Block {
    let source = item.get("source").and_then(Value::as_object);
    let media_type = source.map_or("", |source| text_of(source, "media_type"));
    let encoded = source.map_or("", |source| text_of(source, "data")).len() as u64;
    Block::Attachment {
        media_type: if media_type.is_empty() { text_of(item, "type").to_owned() } else { media_type.to_owned() },
        bytes: encoded / 4 * 3,
    }
}

/// A member that is a text; empty when there is none.
pub(super) fn text_of<'v>(object: &'v Map<String, Value>, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or("")
}
