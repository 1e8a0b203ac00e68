//! Names of compositions: each becomes a folder's name, on any file system.

use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};

/// The most characters of a name.
const MOST_CHARACTERS: usize = 100;

/// The most bytes of a name: file systems allow 255 for a folder, and a temporary beside it needs some more.
const MOST_BYTES: usize = 200;

/// Names that Windows keeps for devices, with any extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "com", "lpt"];

/// The name as it is stored: NFC, so that two ways to write `é` are one name.
///
/// # Errors
/// `Usage`, with a name that would do as the hint.
pub(super) fn checked(name: &str) -> Result<String> {
    let name: String = name.nfc().collect();
    let fault = if name.is_empty() {
        "a composition needs a name".to_owned()
    } else if let Some(character) = name.chars().find(|character| !is_allowed(*character)) {
        format!("the name `{}` holds {}", shown(&name), in_words(character))
    } else if name.starts_with(['.', ' ']) || name.ends_with(['.', ' ']) {
        format!("the name `{name}` begins or ends with a dot or a space")
    } else if is_device(&name) {
        format!("`{name}` is the name of a device on Windows")
    } else if name.chars().count() > MOST_CHARACTERS || name.len() > MOST_BYTES {
        format!("the name `{}` has more than {MOST_CHARACTERS} characters", shown(&name))
    } else {
        return Ok(name);
    };
    Err(Error::usage(fault)
        .hint(format!("letters, digits, `-`, `_`, `.` and spaces make a name: try `{}`", proposed(&name))))
}

/// What makes two names the same on a file system that ignores letter case.
pub(super) fn folded(name: &str) -> String {
    name.nfc().collect::<String>().to_lowercase()
}

fn is_allowed(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | ' ') || is_mark(character)
}

/// Marks that letters of several scripts cannot be written without.
fn is_mark(character: char) -> bool {
    unicode_normalization::char::is_combining_mark(character)
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    DEVICES.iter().any(|device| match stem.strip_prefix(device) {
        Some("") => !matches!(*device, "com" | "lpt"),
        Some(digit) => {
            matches!(*device, "com" | "lpt") && digit.len() == 1 && digit.chars().all(|digit| digit.is_ascii_digit())
        }
        None => false,
    })
}

fn in_words(character: char) -> String {
    match character {
        '/' | '\\' => format!("`{character}`, which would make it a path"),
        character if character.is_control() => format!("the control character U+{:04X}", u32::from(character)),
        character => format!("`{character}`"),
    }
}

/// The beginning of a name, as an error shows it.
fn shown(name: &str) -> String {
    let mut beginning: String =
        name.chars().take(40).map(|character| if character.is_control() { '�' } else { character }).collect();
    if name.chars().count() > 40 {
        beginning.push('…');
    }
    beginning
}

/// A name that would do, as near as can be.
fn proposed(name: &str) -> String {
    let mut proposal = String::new();
    for character in name.chars().take(60) {
        if is_allowed(character) {
            proposal.push(character);
        } else if !proposal.ends_with('-') {
            proposal.push('-');
        }
    }
    while proposal.len() > MOST_BYTES {
        proposal.pop();
    }
    let proposal = proposal.trim_matches(['.', ' ', '-']);
    if proposal.is_empty() {
        "context".to_owned()
    } else if is_device(proposal) {
        format!("{proposal}-context")
    } else {
        proposal.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn names_of_letters_digits_and_some_marks_are_taken() {
        for name in
            ["feature-x-context", "Bug fix 2.1", "_a", "été", "日本語", "console", "com", "com10", "lpt", "v1..2", "कि"]
        {
            assert_eq!(checked(name).expect(name), name);
        }
        assert_eq!(checked("e\u{301}te").expect("a decomposed name"), "éte", "stored composed");
    }

    #[test]
    fn names_that_are_no_folder_are_refused_with_one_that_is() {
        for (name, proposal) in [
            ("../../x", "x"),
            ("", "context"),
            (".", "context"),
            ("..", "context"),
            (".hidden", "hidden"),
            ("a/b", "a-b"),
            ("a\\b", "a-b"),
            ("C:\\x", "C-x"),
            ("tail.", "tail"),
            (" lead", "lead"),
            ("CON", "CON-context"),
            ("nul.txt", "nul.txt-context"),
            ("com1", "com1-context"),
            ("LPT9.log", "LPT9.log-context"),
            ("a\0b", "a-b"),
            ("a\nb", "a-b"),
            ("what?", "what"),
        ] {
            let error = checked(name).expect_err(name);
            assert_eq!(error.kind, ErrorKind::Usage, "{name:?}");
            let hint = error.hint.expect("a proposal");
            assert!(hint.ends_with(&format!("`{proposal}`")), "{name:?} gave {hint}");
        }
        assert!(checked(&"x".repeat(100)).is_ok());
        assert!(checked(&"x".repeat(101)).is_err());
        assert!(checked(&"語".repeat(100)).is_err(), "300 bytes are no folder's name");
    }

    proptest! {
        #[test]
        fn a_proposal_is_always_a_name(name in "\\PC{0,120}|[./\\\\ conCON1\0-]{0,12}") {
            let proposal = proposed(&name);
            prop_assert_eq!(checked(&proposal).map_err(|error| error.message), Ok(proposal.nfc().collect::<String>()));
        }

        #[test]
        fn a_name_is_one_step_below_its_folder(name in "\\PC{0,40}|[./\\\\a]{0,6}") {
            if let Ok(name) = checked(&name) {
                let path = std::path::Path::new("/composed").join(&name);
                prop_assert_eq!(path.parent(), Some(std::path::Path::new("/composed")));
                prop_assert_eq!(path.file_name().and_then(|name| name.to_str()), Some(name.as_str()));
            }
        }
    }
}
