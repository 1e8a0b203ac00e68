//! Joins lines again that the terminal's width cut, where that is certain: the next word would not have fitted.

use unicode_width::UnicodeWidthStr;

/// Columns that a text takes.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// The width at which prose was wrapped; `None` when it was not.
///
/// Wrapped lines end near one width and hardly any goes beyond it: those that do hold what cannot be broken.
pub(super) fn wrapped_at(widths: impl IntoIterator<Item = usize>) -> Option<usize> {
    let mut widths: Vec<usize> = widths.into_iter().collect();
    widths.sort_unstable();
    let beyond = widths.len() / 50;
    let width = *widths.get(widths.len().checked_sub(1 + beyond)?)?;
    let near = widths.iter().filter(|one| (width.saturating_sub(12)..=width).contains(*one)).count();
    (width >= 30 && near >= 4 && near * 5 >= widths.len()).then_some(width)
}

/// Prose: lines without the common indentation.
pub(super) fn prose(lines: &[&str], width: Option<usize>) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        if at > 0 {
            let before = lines[at - 1].trim_end();
            if width.is_some_and(|width| continues(before, line, width)) {
                text.push(' ');
                text.push_str(line.trim_start());
                continue;
            }
            text.push('\n');
        }
        text.push_str(line);
    }
    text
}

/// Whether a line only goes on the one before because its first word did not fit there.
fn continues(before: &str, line: &str, width: usize) -> bool {
    if before.is_empty() || line.is_empty() || is_drawn(before) || is_drawn(line) || begins_item(line) {
        return false;
    }
    let word = line.split_whitespace().next().unwrap_or("");
    let (first, next) = (indentation(before), indentation(line));
    let hanging = marker(before.trim_start()).is_some_and(|marker| next == first + marker);
    (next == first || hanging) && columns(before) <= width && columns(before) + 1 + columns(word) > width
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|one| one.is_whitespace()).count()
}

/// Tables and drawings keep their lines.
fn is_drawn(line: &str) -> bool {
    line.trim_start().starts_with('|') || line.chars().any(|one| matches!(one, '\u{2500}'..='\u{257f}'))
}

fn begins_item(line: &str) -> bool {
    let line = line.trim_start();
    marker(line).is_some() || line.starts_with('#')
}

/// Characters of a list item's marker, the space after it included.
fn marker(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits) && (line[digits..].starts_with(". ") || line[digits..].starts_with(") ")) {
        return Some(digits + 2);
    }
    ["- ", "* ", "• ", "+ "].iter().any(|sign| line.starts_with(sign)).then_some(2)
}

/// What the user typed, whose lines the client cut without taking spaces away: `width` is that of the terminal.
pub(super) fn typed(lines: &[&str], width: Option<usize>, first_indent: usize) -> String {
    let mut text = String::new();
    let mut before: Option<(&str, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let taken = columns(line) + if at == 0 { first_indent } else { 0 };
        if let Some((earlier, earlier_taken)) = before {
            let at_space = earlier.ends_with(' ') || (line.starts_with(' ') && !line.starts_with("  "));
            let word = columns(line.split_whitespace().next().unwrap_or(""));
            let cut = !earlier.trim().is_empty()
                && !line.trim().is_empty()
                && width.is_some_and(
                    |width| {
                        if at_space { earlier_taken + word >= width } else { earlier_taken == width }
                    },
                );
            if !cut {
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
            }
        }
        text.push_str(line);
        before = Some((line, taken));
    }
    text.trim().to_owned()
}

/// What the user typed, padded with spaces by the client, its indentation taken away; the client took the space at which it
/// cut, so that no line is wider than `width`.
pub(super) fn padded(lines: &[&str], width: usize, indent: usize) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        if at > 0 {
            let before = lines[at - 1].trim_end();
            let word = line.split_whitespace().next().unwrap_or("");
            let taken = columns(before) + indent;
            let same = indentation(before) == indentation(line);
            if !before.is_empty() && !line.is_empty() && same && !begins_item(line) && taken + 1 + columns(word) > width
            {
                // Only a word that is longer than a line is cut within.
                if taken < width || before.contains(' ') {
                    text.push(' ');
                }
                text.push_str(line.trim_start());
                continue;
            }
            text.push('\n');
        }
        text.push_str(line);
    }
    text.trim().to_owned()
}

/// The heading of a tool call: cut anywhere at the terminal's width, else at a space.
pub(super) fn heading(lines: &[&str], width: usize) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = if at == 0 { *line } else { line.trim_start() };
        if at > 0 {
            let before = columns(lines[at - 1]);
            let word = columns(line.split_whitespace().next().unwrap_or(""));
            if before + 1 < width && before + 1 + word <= width {
                text.push('\n');
            } else if before + 1 < width {
                text.push(' ');
            }
        }
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_could_not_fit_is_joined() {
        let lines = ["A paragraph that was cut because", "it was too long.", "Short.", "- an item"];
        assert_eq!(
            prose(&lines, Some(33)),
            "A paragraph that was cut because it was too long.\nShort.\n- an item",
            "a line that had no room for the next word goes on there"
        );
        assert_eq!(prose(&lines, None), lines.join("\n"));
        assert_eq!(prose(&["| a | b |", "| c | d |"], Some(9)), "| a | b |\n| c | d |", "tables keep their lines");
    }

    #[test]
    fn what_was_typed_keeps_its_own_lines() {
        assert_eq!(typed(&["one two ", "three"], Some(10), 2), "one two three");
        assert_eq!(typed(&["one two", " three"], Some(10), 2), "one two three");
        assert_eq!(typed(&["one", "two"], Some(10), 2), "one\ntwo");
        assert_eq!(padded(&["one two   ", "three     ", "          ", "four      "], 12, 2), "one two three\n\nfour");
    }

    #[test]
    fn a_width_is_only_found_where_lines_end_near_one() {
        assert_eq!(wrapped_at([78, 79, 80, 77, 80, 40, 30]), Some(80));
        assert_eq!(wrapped_at([400, 20, 35, 120, 250, 80]), None);
        assert_eq!(wrapped_at([]), None);
    }
}
