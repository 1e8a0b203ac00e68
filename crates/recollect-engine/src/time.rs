//! Instants as the engine keeps them: UTC, milliseconds, RFC 3339.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ts_rs::TS;

/// An instant in UTC, cut to milliseconds; ordered; `2026-01-20T10:00:00.000Z` as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TS)]
#[ts(export, type = "string")]
pub struct Time(i64);

impl Time {
    /// From milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 instant as transcripts write it; `None` when it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        jiff::Timestamp::from_str(text).ok().map(|instant| Self(instant.as_millisecond()))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => write!(formatter, "{instant:.3}"),
            Err(_) => write!(formatter, "{}", self.0),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not an RFC 3339 instant")))
    }
}

/// Tells the time; a face passes the system's, a test a fixed one.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn text_and_instant_are_inverse() {
        let time = Time::parse("2026-01-20T10:00:00.5+01:00").expect("an RFC 3339 instant");
        assert_eq!(time.to_string(), "2026-01-20T09:00:00.500Z", "instants are shown in UTC with milliseconds");
        assert_eq!(Time::parse(&time.to_string()), Some(time));
        assert_eq!(Time::parse("yesterday"), None);
    }
}
