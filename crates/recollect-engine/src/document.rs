//! Names of members: camelCase in the memory's documents (2.1), snake_case on the wire.

use serde_json::Value;

/// The members of a document of the memory.
pub fn camel(wire: Value) -> Value {
    renamed(wire, &|name| {
        let mut camel = String::with_capacity(name.len());
        let mut raise = false;
        for character in name.chars() {
            match character {
                '_' if !camel.is_empty() => raise = true,
                character if raise => {
                    camel.extend(character.to_uppercase());
                    raise = false;
                }
                character => camel.push(character),
            }
        }
        camel
    })
}

/// The members of the wire.
pub fn snake(document: Value) -> Value {
    renamed(document, &|name| {
        let mut snake = String::with_capacity(name.len() + 4);
        for character in name.chars() {
            if character.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(character.to_ascii_lowercase());
        }
        snake
    })
}

fn renamed(value: Value, rename: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (rename(&name), renamed(value, rename))).collect()
        }
        Value::Array(items) => items.into_iter().map(|item| renamed(item, rename)).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_go_to_documents_and_back() {
        let wire = json!({ "total_tokens": 3, "components": [{ "session_id": "a_b", "used_in": ["some_name"] }], "weights": { "0.80": 1 } });
        let document = camel(wire.clone());
        assert_eq!(
            document,
            json!({ "totalTokens": 3, "components": [{ "sessionId": "a_b", "usedIn": ["some_name"] }], "weights": { "0.80": 1 } })
        );
        assert_eq!(snake(document), wire);
    }
}
