//! Figures and days as people read them.

use crate::time::Time;

/// `12,345`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `22:1`; with one decimal below 10.
pub(super) fn ratio_in_words(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}:1").replace(".0:", ":") } else { format!("{ratio:.0}:1") }
}

/// `12 January 2026`, in UTC: the same wherever it is rendered.
pub(super) fn day(time: Time) -> Option<String> {
    let instant = jiff::Timestamp::from_millisecond(time.millis()).ok()?;
    Some(instant.strftime("%-d %B %Y").to_string())
}

/// The days from the first to the last: `12 January 2026`, `12 to 14 January 2026`, `30 December 2025 to 2 January 2026`.
pub(super) fn days(first: Option<Time>, last: Option<Time>) -> Option<String> {
    let (Some(first), Some(last)) = (first.or(last), last.or(first)) else { return None };
    let (from, to) = (day(first.min(last))?, day(first.max(last))?);
    if from == to {
        return Some(to);
    }
    let (from_words, to_words): (Vec<_>, Vec<_>) = (from.split(' ').collect(), to.split(' ').collect());
    let same = from_words.iter().rev().zip(to_words.iter().rev()).take_while(|(left, right)| left == right).count();
    // The day differs, or a larger part does: only what is the same from the year down is said once.
    let said = from_words[..from_words.len() - same.min(from_words.len() - 1)].join(" ");
    Some(format!("{said} to {to}"))
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_grouped_by_thousands() {
        for (number, words) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (100_234, "100,234"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), words);
        }
        for (ratio, words) in [(22.4, "22:1"), (9.8, "9.8:1"), (4.0, "4:1"), (9.99, "10:1"), (1.04, "1:1")] {
            assert_eq!(ratio_in_words(ratio), words);
        }
    }

    #[test]
    fn days_say_each_part_once() {
        let at = |text: &str| Time::parse(&format!("{text}T10:00:00Z"));
        assert_eq!(days(at("2026-01-12"), at("2026-01-12")).as_deref(), Some("12 January 2026"));
        assert_eq!(days(at("2026-01-12"), at("2026-01-14")).as_deref(), Some("12 to 14 January 2026"));
        assert_eq!(days(at("2025-11-30"), at("2025-12-30")).as_deref(), Some("30 November to 30 December 2025"));
        assert_eq!(days(at("2025-12-30"), at("2026-01-02")).as_deref(), Some("30 December 2025 to 2 January 2026"));
        assert_eq!(days(None, at("2026-01-02")).as_deref(), Some("2 January 2026"));
        assert_eq!(days(None, None), None);
    }
}
