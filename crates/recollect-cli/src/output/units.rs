//! Numbers as people read them.

use indicatif::{DecimalBytes, HumanCount};

/// `12,345`.
pub(crate) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// `12,345 messages`, `1 message`.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// `4.20 MB`.
pub(crate) fn bytes(number: u64) -> String {
    DecimalBytes(number).to_string()
}

/// `9.8:1`.
pub(crate) fn ratio(ratio: f64) -> String {
    format!("{ratio:.1}:1")
}

/// `38.0 %` of a share between 0 and 1.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::{bytes, count, counted, percent, ratio};

    #[test]
    fn numbers_carry_their_units() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((counted(1, "message"), counted(0, "message")), ("1 message".to_owned(), "0 messages".to_owned()));
        assert_eq!((bytes(999), bytes(4_200_000)), ("999 B".to_owned(), "4.20 MB".to_owned()));
        assert_eq!((ratio(9.84), percent(0.38)), ("9.8:1".to_owned(), "38.0 %".to_owned()));
    }
}
