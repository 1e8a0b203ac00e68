//! Keepit: passages that a user marked, their weights, and how long they last (4.1, 4.2).

pub mod decay;
pub mod marker;
pub mod verdict;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::session::{Block, Message, MessageKind, Role};

pub use decay::{Decay, Ratio};
pub use marker::{Marker, Span};
pub use verdict::Verdict;

/// How much a passage matters: hundredths, 0 to 100. A number from 0 to 1 where it is serialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u8);

impl Weight {
    /// The greatest weight.
    pub const MAX: Self = Self(100);

    /// From hundredths; clamped to 100.
    pub const fn from_hundredths(hundredths: u8) -> Self {
        Self(if hundredths > 100 { 100 } else { hundredths })
    }

    /// Hundredths, 0 to 100.
    pub const fn hundredths(self) -> u8 {
        self.0
    }

    /// From a number: clamped to 0–1 and rounded to two decimals, half up, on its shortest decimal digits (4.2.2).
    ///
    /// # Errors
    /// Usage, when it is not a number.
    pub fn of(number: f64) -> Result<Self> {
        Self::parse(&number.to_string()).ok_or_else(|| {
            Error::usage(format!("the weight {number} is not a number")).hint("give a number from 0 to 1, such as 0.8")
        })
    }

    /// From the digits of a decimal number (`0.80`, `1`, `.8`, `-0.5`): clamped and rounded as in [`Weight::of`].
    pub fn parse(digits: &str) -> Option<Self> {
        let (negative, digits) = digits.strip_prefix('-').map_or((false, digits), |digits| (true, digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if fraction.is_empty() || !all_digits(whole) || !all_digits(fraction) || (whole.is_empty() && digits == whole) {
            return None;
        }
        if negative {
            return Some(Self(0));
        }
        if whole.bytes().any(|byte| byte != b'0') {
            return Some(Self::MAX);
        }
        let digit = |at: usize| fraction.as_bytes().get(at).map_or(0, |byte| byte - b'0');
        Some(Self(digit(0) * 10 + digit(1) + u8::from(digit(2) >= 5)))
    }

    /// As a number: 0.8 for 80 hundredths, exactly the number that `0.80` is read as.
    pub fn number(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.number())
    }
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(f64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// The markers of a message, placed in [`Message::text`]. They count in what a user or the assistant wrote: not in tool
/// results or thinking, nor in text that the client put in or summarised (product decision 4).
pub fn of_message(message: &Message) -> Vec<Marker> {
    let written = matches!(message.role, Role::User | Role::Assistant) && message.kind == MessageKind::Turn;
    let mut markers = Vec::new();
    if !written {
        return markers;
    }
    let mut characters = None;
    for (start, block) in message.placed_blocks() {
        let Block::Text { text } = block else { continue };
        let found = marker::find(text);
        if found.is_empty() {
            continue;
        }
        let whole = message.text();
        let before = characters
            .map_or_else(|| whole[..start].chars().count(), |(at, count)| count + whole[at..start].chars().count());
        characters = Some((start, before));
        markers.extend(found.into_iter().map(|marker| marker.moved(start, before)));
    }
    markers
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn weights_are_clamped_and_rounded_on_their_decimal_digits() {
        let cases = [
            ("0.80", 80),
            (".8", 80),
            ("0.8", 80),
            ("1", 100),
            ("1.00", 100),
            ("0", 0),
            ("00.5", 50),
            ("7", 100),
            ("1.01", 100),
            ("-0.5", 0),
            ("-3", 0),
            ("0.005", 1),
            ("0.0049999", 0),
            ("0.145", 15),
            ("0.285", 29),
            ("0.994", 99),
            ("0.995", 100),
            ("0.57500000000000000000000000000001", 58),
            ("1.005", 100),
        ];
        for (digits, hundredths) in cases {
            assert_eq!(Weight::parse(digits), Some(Weight(hundredths)), "{digits}");
        }
        for digits in ["", ".", "-", "1.", "X", "0,8", "+1", "1e0", "0.8.0", "--1", " 1", "-."] {
            assert_eq!(Weight::parse(digits), None, "{digits:?} is no weight");
        }
    }

    #[test]
    fn weights_cross_as_numbers() {
        assert_eq!(serde_json::to_string(&Weight(80)).unwrap(), "0.8");
        assert_eq!(
            serde_json::from_str::<Weight>("0.285").unwrap(),
            Weight(29),
            "on the digits, not on the binary number below"
        );
        assert_eq!(serde_json::from_str::<Weight>("1").unwrap(), Weight::MAX);
        assert_eq!(Weight::of(1e300).unwrap(), Weight::MAX);
        assert!(Weight::of(f64::NAN).is_err());
        assert_eq!(Weight(5).to_string(), "0.05");
    }

    #[test]
    fn markers_count_in_what_was_written_and_stand_in_the_text_of_the_message() {
        let marked = "é ##keepit0.9## decided";
        let mut message = crate::testing::message(vec![
            Block::Thinking { text: "ü ##keepit0.1## thought".into() },
            Block::Text { text: marked.into() },
            Block::ToolResult { tool_use_id: "t".into(), text: "##keepit0.2## documented".into(), is_error: false },
            Block::Text { text: marked.into() },
        ]);
        let text = message.text();
        let markers = of_message(&message);
        assert_eq!(markers.len(), 2, "only the text blocks hold markers");
        for marker in &markers {
            assert_eq!(&text[marker.content.bytes.clone()], "decided");
            let characters = marker.content.characters.clone();
            assert_eq!(text.chars().skip(characters.start).take(characters.len()).collect::<String>(), "decided");
        }
        for (role, kind) in [
            (Role::Tool, MessageKind::Turn),
            (Role::User, MessageKind::Meta),
            (Role::User, MessageKind::CompactSummary),
        ] {
            (message.role, message.kind) = (role, kind);
            assert_eq!(of_message(&message), [], "{role:?} {kind:?} was not written by a user or the assistant");
        }
    }

    proptest! {
        #[test]
        fn every_weight_survives_its_number(hundredths in 0_u8..=100) {
            let weight = Weight(hundredths);
            prop_assert_eq!(Weight::of(weight.number()).unwrap(), weight);
            prop_assert_eq!(Weight::parse(&weight.to_string()), Some(weight));
        }
    }
}
