//! What the client writes above a conversation: its name and version, the model, the working directory.

/// What a banner says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Banner {
    pub client_version: Option<String>,
    pub model: Option<String>,
    pub cwd: Option<String>,
}

/// Block elements that the client's logo is drawn with.
fn is_logo(character: char) -> bool {
    matches!(character, '\u{2580}'..='\u{259f}')
}

/// Whether a line of a banner names the client.
pub(super) fn names_client(line: &str) -> bool {
    line.contains("Claude Code")
}

/// How many lines from the beginning are the banner; `None` when there is none.
pub(super) fn length(lines: &[&str]) -> Option<usize> {
    let first = lines.iter().position(|line| !super::segment::is_blank(line))?;
    let opening = lines[first].trim_start_matches([' ', '*', '\u{a0}']);
    let drawn = opening.starts_with(is_logo) || opening.starts_with('╭') || opening.starts_with('✻');
    if !drawn || !lines[first..].iter().take(4).any(|line| names_client(line)) {
        return None;
    }
    let end = lines[first..].iter().position(|line| is_conversation(line)).map_or(lines.len(), |at| first + at);
    Some(end)
}

/// Whether the conversation begins with a line.
fn is_conversation(line: &str) -> bool {
    let spoken = ["> ", "❯ ", "❯\u{a0}", ">\u{a0}", "●", "⏺", "═══", "! "].iter().any(|sign| line.starts_with(sign));
    let trimmed = line.trim_start_matches([' ', '\u{a0}']);
    spoken || trimmed.starts_with('⎿') || (line.starts_with(['✻', '∴', '※']) && !names_client(line))
}

/// Reads the lines of a banner: cells of a frame, or what stands right of the logo.
pub(super) fn read(lines: &[&str]) -> Banner {
    let cells: Vec<&str> = lines.iter().flat_map(|line| line.split(['│', '╭', '╮'])).map(cell).collect();
    let mut banner = Banner::default();
    for (at, cell) in cells.iter().enumerate() {
        if banner.client_version.is_none()
            && let Some(version) = version(cell)
        {
            banner.client_version = Some(version.to_owned());
            continue;
        }
        let path = cell.strip_prefix("cwd:").map(str::trim).or_else(|| is_path(cell).then_some(*cell));
        if banner.cwd.is_none()
            && let Some(path) = path.filter(|path| !path.is_empty())
        {
            banner.cwd = Some(path.to_owned());
            // The model stands above the directory, before the plan that pays for it.
            banner.model = cells[..at]
                .iter()
                .rev()
                .filter(|cell| !cell.is_empty())
                .find_map(|cell| cell.split_once(" · "))
                .map(|(model, _)| model.trim().to_owned());
        }
    }
    banner
}

/// A cell without the logo and the frame around it.
fn cell(text: &str) -> &str {
    text.trim_matches(|one: char| one.is_whitespace() || one == '*' || one == '─' || is_logo(one))
}

fn version(cell: &str) -> Option<&str> {
    let after = &cell[cell.find("Claude Code")? + "Claude Code".len()..];
    let version = after.trim_start().trim_start_matches('v').split_whitespace().next()?;
    version.starts_with(|first: char| first.is_ascii_digit()).then_some(version)
}

/// Whether a cell is a folder's path, perhaps shortened.
fn is_path(cell: &str) -> bool {
    let drive = |text: &str| {
        let mut bytes = text.bytes();
        bytes.next().is_some_and(|letter| letter.is_ascii_alphabetic())
            && bytes.next() == Some(b':')
            && matches!(bytes.next(), Some(b'\\' | b'/'))
    };
    // `/help for help` is a hint: a command, then words.
    let command = cell.starts_with('/') && cell[1..].split('/').next().is_some_and(|name| name.contains(' '));
    (cell.starts_with('/') && !command)
        || cell == "~"
        || cell.starts_with("~/")
        || cell.starts_with("~\\")
        || drive(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: (Option<&str>, Option<&str>, Option<&str>)) {
        let lines: Vec<&str> = text.lines().collect();
        let length = length(&lines).expect("a banner");
        assert_eq!(lines.get(length).copied(), Some("> hello"), "the banner ends where the conversation begins");
        let banner = read(&lines[..length]);
        assert_eq!((banner.client_version.as_deref(), banner.model.as_deref(), banner.cwd.as_deref()), expected);
    }

    #[test]
    fn banners_of_all_versions_tell_version_model_and_folder() {
        check(
            "╭───────────────────╮\n│ ✻ Welcome to Claude Code!  │\n│   /help for help, /status for your setup │\n│   cwd: /home/ada/app │\n╰────╯\n\n> hello",
            (None, None, Some("/home/ada/app")),
        );
        check(
            "\n * ▐▛███▜▌ *   Claude Code v2.0.76\n* ▝▜█████▛▘ *  Sonnet 4.5 · API Usage Billing\n *  ▘▘ ▝▝  *   /home/ada/app\n\n  /model to try Opus\n\n> hello",
            (Some("2.0.76"), Some("Sonnet 4.5"), Some("/home/ada/app")),
        );
        check(
            "╭─── Claude Code v2.0.55 ───╮\n│            │ Tips          │\n│  Welcome back Ada!  │ Run /init to start │\n│   Opus 4.5 · Claude Max    │   │\n│   ~/Code/app   │    │\n╰────╯\n> hello",
            (Some("2.0.55"), Some("Opus 4.5"), Some("~/Code/app")),
        );
        check(
            " ▐▛███▜▌   Claude Code v2.1.5\n▝▜█████▛▘  Opus 4.5 · Claude Max\n  ▘▘ ▝▝    C:\\Users\\Ada\\my app\n> hello",
            (Some("2.1.5"), Some("Opus 4.5"), Some("C:\\Users\\Ada\\my app")),
        );
    }

    #[test]
    fn a_text_that_only_names_the_client_has_no_banner() {
        assert_eq!(length(&["Claude Code is a program", "> hello"]), None);
        assert_eq!(length(&[]), None);
    }
}
