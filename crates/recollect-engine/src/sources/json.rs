//! Reads a line of JSON as leniently as can be done without guessing: what is mended is said.

use std::borrow::Cow;

use serde_json::Value;

/// A line as JSON, with what had to be mended to read it.
pub struct LineValue {
    /// The value.
    pub value: Value,
    /// What was mended, in words.
    pub mended: Option<&'static str>,
}

/// Reads a line; the failure says in words what is wrong with it.
pub fn read_line(line: &[u8]) -> Result<LineValue, String> {
    if line.contains(&0) {
        return Err("holds zero bytes: not text; kept as it is".to_owned());
    }
    let (text, mut mended) = match std::str::from_utf8(line) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(_) => {
            (String::from_utf8_lossy(line), Some("is not valid UTF-8; unreadable characters are shown as \u{fffd}"))
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match serde_json::from_str(text) {
        Ok(value) => Ok(LineValue { value, mended }),
        Err(error) => {
            if let Some(repaired) = replace_lone_surrogates(text)
                && let Ok(value) = serde_json::from_str(&repaired)
            {
                mended = mended.or(Some("holds half of a surrogate pair; it is shown as \u{fffd}"));
                return Ok(LineValue { value, mended });
            }
            Err(in_words(text, &error))
        }
    }
}

fn in_words(text: &str, error: &serde_json::Error) -> String {
    let head = text.trim_start().as_bytes().first().copied();
    match (head, error.is_eof()) {
        (Some(b'{'), true) => "is cut off; kept as it is".to_owned(),
        (Some(b'{'), false) => format!("is not JSON at column {}; kept as it is", error.column()),
        _ => "is not a record: its beginning is missing; kept as it is".to_owned(),
    }
}

/// Replaces `\uD800`–`\uDFFF` escapes that have no partner; `None` when there are none. JavaScript writes them when it cuts a
/// text inside a character.
fn replace_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..]) {
        let start = at + offset;
        match surrogate(bytes, start) {
            Some(0xD800..=0xDBFF) if matches!(surrogate(bytes, start + 6), Some(0xDC00..=0xDFFF)) => at = start + 12,
            Some(_) => {
                repaired.push_str(&text[copied..start]);
                repaired.push_str("\\uFFFD");
                at = start + 6;
                copied = at;
            }
            // Another escape, the escaped backslash among them: pass over both its characters.
            None => at = (start + 2).min(bytes.len()),
        }
    }
    if copied == 0 {
        return None;
    }
    repaired.push_str(&text[copied..]);
    Some(repaired)
}

/// The surrogate that the escape at `start` stands for.
fn surrogate(bytes: &[u8], start: usize) -> Option<u16> {
    let escape = bytes.get(start..start + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &[u8], expected: Result<(&str, bool), &str>) {
        match (read_line(line), expected) {
            (Ok(read), Ok((value, mended))) => {
                assert_eq!(read.value.to_string(), value);
                assert_eq!(read.mended.is_some(), mended, "what was mended must be said, and nothing else");
            }
            (Err(message), Err(part)) => assert!(message.contains(part), "`{message}` should say `{part}`"),
            (Ok(read), Err(part)) => panic!("{} was read; expected `{part}`", read.value),
            (Err(message), Ok(_)) => panic!("not read: {message}"),
        }
    }

    #[test]
    fn lines_are_read_or_their_fault_is_named() {
        check(br#"{"a":1}"#, Ok((r#"{"a":1}"#, false)));
        check("\u{feff}{\"a\":1}".as_bytes(), Ok((r#"{"a":1}"#, false)));
        check(b"{\"a\":\"\xff\"}", Ok(("{\"a\":\"\u{fffd}\"}", true)));
        check(br#"{"a":"x\ud83d"}"#, Ok(("{\"a\":\"x\u{fffd}\"}", true)));
        check(br#"{"a":"\ud83d\ude00"}"#, Ok(("{\"a\":\"\u{1f600}\"}", false)));
        check(br#"{"a":"\\ud83d"}"#, Ok((r#"{"a":"\\ud83d"}"#, false)));
        check(br#"{"a":"x"#, Err("cut off"));
        check(br#"{"a" 1}"#, Err("not JSON at column"));
        check(br#"tail of a record"}"#, Err("beginning is missing"));
        check(b"\x00\x01", Err("zero bytes"));
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        check(deep.as_bytes(), Err("is not a record"));
    }
}
