//! Texts in one line, for titles and lists.

/// A text on one line, without control characters, cut to a number of characters with an ellipsis.
pub(crate) fn one_line(text: &str, characters: usize) -> String {
    let mut line = String::new();
    for word in text
        .split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > characters.saturating_mul(4) {
            break;
        }
    }
    match line.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_text_becomes_one_line_that_is_cut_where_it_is_long() {
        assert_eq!(one_line(" a\n\tb\u{1b}[31m c ", 20), "a b [31m c");
        assert_eq!(one_line("one two three", 7), "one two…");
        assert_eq!(one_line("ééééé", 3), "ééé…");
        assert_eq!(one_line("", 3), "");
    }
}
