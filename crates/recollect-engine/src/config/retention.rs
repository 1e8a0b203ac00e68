//! Which compression versions are worth keeping: the setting `storage.compressionRetention`.

use std::fmt;

/// A rule. What compositions use is kept by each of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retention {
    /// Everything.
    #[default]
    All,
    /// What compositions use.
    Used,
    /// The newest of each session, so many.
    Last(u32),
    /// What was made or used within so many days.
    Days(u32),
}

impl Retention {
    /// What the setting may be, for messages.
    pub const IN_WORDS: &'static str =
        "\"all\", \"used\", \"last:N\" (the newest N of each session) or \"days:N\" (made or used within N days)";

    /// Reads it as it is written; N is at least 1.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        match text.split_once(':') {
            None if text == "all" => Some(Self::All),
            None if text == "used" => Some(Self::Used),
            Some(("last", count)) => number(count).map(Self::Last),
            Some(("days", days)) => number(days).map(Self::Days),
            _ => None,
        }
    }
}

impl fmt::Display for Retention {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => formatter.write_str("all"),
            Self::Used => formatter.write_str("used"),
            Self::Last(count) => write!(formatter, "last:{count}"),
            Self::Days(days) => write!(formatter, "days:{days}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["all", "used", "last:1", "last:30", "days:365"] {
            assert_eq!(Retention::parse(text).map(|rule| rule.to_string()).as_deref(), Some(text));
        }
        for text in ["", "none", "last", "last:", "last:0", "last:-1", "days:x", "All", "used:2", "days:0"] {
            assert_eq!(Retention::parse(text), None, "{text}");
        }
    }
}
