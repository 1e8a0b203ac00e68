//! Dates as people type them: `2026-01-20`, `2026-01`, `yesterday`, `7d`, `2 weeks ago`, or an instant.

use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

use crate::time::Time;

/// Which end of a day or month is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// Its first moment.
    Start,
    /// Its last.
    End,
}

/// The instant that words mean; `None` when they mean none.
pub(super) fn instant(words: &str, now: Time, zone: &TimeZone, edge: Edge) -> Option<Time> {
    let words = words.trim();
    if let Some(instant) = Time::parse(words) {
        return Some(instant);
    }
    let now = Timestamp::from_millisecond(now.millis()).ok()?.to_zoned(zone.clone());
    match words.to_ascii_lowercase().as_str() {
        "now" => return of(&now),
        "today" => return edge_of(now.date(), 1.day(), zone, edge),
        "yesterday" => return edge_of(now.date().yesterday().ok()?, 1.day(), zone, edge),
        _ => {}
    }
    if let Ok(date) = Date::from_str(words) {
        return edge_of(date, 1.day(), zone, edge);
    }
    if let Some((year, month)) = words.split_once('-')
        && let (4, Ok(year), Ok(month)) = (year.len(), year.parse(), month.parse())
        && let Ok(first) = Date::new(year, month, 1)
    {
        return edge_of(first, 1.month(), zone, edge);
    }
    if let (4, Ok(year)) = (words.len(), words.parse())
        && let Ok(first) = Date::new(year, 1, 1)
    {
        return edge_of(first, 1.year(), zone, edge);
    }
    let ago = words.strip_prefix("last ").unwrap_or(words);
    let span = Span::from_str(ago.strip_suffix("ago").unwrap_or(ago).trim())
        .or_else(|_| Span::from_str(&format!("1 {ago}")))
        .ok()?;
    let moment = now.checked_sub(span.abs()).ok()?;
    of(&moment)
}

fn edge_of(first: Date, length: Span, zone: &TimeZone, edge: Edge) -> Option<Time> {
    match edge {
        Edge::Start => of(&first.to_zoned(zone.clone()).ok()?),
        Edge::End => {
            let next = of(&first.checked_add(length).ok()?.to_zoned(zone.clone()).ok()?)?;
            Some(Time::from_millis(next.millis() - 1))
        }
    }
}

fn of(moment: &Zoned) -> Option<Time> {
    Some(Time::from_millis(moment.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(words: &str, edge: Edge) -> Option<String> {
        let now = Time::parse("2026-01-20T10:30:00Z").expect("an instant");
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        instant(words, now, &zone, edge).map(|time| time.to_string())
    }

    #[test]
    fn dates_are_days_of_the_persons_zone() {
        let cases = [
            ("2026-01-20", "2026-01-19T23:00:00.000Z", "2026-01-20T22:59:59.999Z"),
            ("today", "2026-01-19T23:00:00.000Z", "2026-01-20T22:59:59.999Z"),
            ("yesterday", "2026-01-18T23:00:00.000Z", "2026-01-19T22:59:59.999Z"),
            ("2025-12", "2025-11-30T23:00:00.000Z", "2025-12-31T22:59:59.999Z"),
            ("2025", "2024-12-31T23:00:00.000Z", "2025-12-31T22:59:59.999Z"),
            ("2026-01-20T10:00:00Z", "2026-01-20T10:00:00.000Z", "2026-01-20T10:00:00.000Z"),
        ];
        for (words, start, end) in cases {
            assert_eq!(at(words, Edge::Start).as_deref(), Some(start), "{words}");
            assert_eq!(at(words, Edge::End).as_deref(), Some(end), "{words}");
        }
    }

    #[test]
    fn spans_reach_back_from_now() {
        let cases = [
            ("7d", "2026-01-13T10:30:00.000Z"),
            ("2 weeks ago", "2026-01-06T10:30:00.000Z"),
            ("3 months", "2025-10-20T09:30:00.000Z"),
            ("90 days", "2025-10-22T09:30:00.000Z"),
            ("12h", "2026-01-19T22:30:00.000Z"),
            ("last week", "2026-01-13T10:30:00.000Z"),
        ];
        for (words, expected) in cases {
            let found = at(words, Edge::Start);
            assert_eq!(found.as_deref().map(|text| &text[..10]), Some(&expected[..10]), "{words}");
        }
        for words in ["", "soon", "32 foos", "2026-13-01"] {
            assert_eq!(at(words, Edge::Start), None, "{words}");
        }
    }
}
