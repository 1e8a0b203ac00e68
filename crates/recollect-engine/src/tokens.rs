//! Token counts: `o200k` pieces × a factor for the family of the model.
//!
//! The tokenizer of Claude is not public. `o200k` is embedded and exact for what it is; measured against the usage that
//! transcripts report, Claude needs ×1.16 of it for prose and ×1.30 for code. A transcript is a mixture, so one factor,
//! ×1.25, serves for it; the newer models split text finer, ×1.3 more. Ratios and budgets are counted in this way everywhere.

mod known;
mod pieces;

use std::fmt;

use bpe_openai::Tokenizer;

use known::Known;
use pieces::Pieces;

/// Factors in thousandths, by family: one row a family, the first that fits.
///
/// | family | factor |
/// | --- | --- |
/// | Claude 3 to 4.6, and any name that is not known | ×1.250 |
/// | Claude 4.7, 5 and later, and the aliases `opus`, `sonnet`, `haiku` (they mean the newest) | ×1.625 |
const OLDER: u64 = 1250;
/// Thousandths for the models whose tokenizer splits finer.
const NEWER: u64 = 1625;
/// The first version that splits finer.
const FIRST_NEWER: (u32, u32) = (4, 7);

/// Longest piece that is given to the encoder at once. Its memory grows with the piece, and a piece is as long as a run of
/// letters or of symbols: a line of 100 MB without a space would take hundreds of megabytes. Real words are far shorter.
const LONGEST_PIECE: usize = 16 * 1024;

/// Counts the tokens of a model family. Free to copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Counter {
    thousandths: u64,
}

impl fmt::Debug for Counter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Counter(×{}.{:03})", self.thousandths / 1000, self.thousandths % 1000)
    }
}

impl Counter {
    /// The counter of a model, named as transcripts, settings and providers name it: `claude-opus-4-7-20260101`, `opus`,
    /// `us.anthropic.claude-sonnet-4-20250514-v1:0`, `sonnet[1m]`.
    pub fn for_model(model: &str) -> Self {
        Self { thousandths: if is_newer(model) { NEWER } else { OLDER } }
    }

    /// The factor, in thousandths; at least 1000.
    pub const fn thousandths(self) -> u64 {
        self.thousandths
    }

    /// Tokens of a text: `ceil(raw × factor)`, so 0 only for the empty text. Time is linear, memory constant.
    ///
    /// Counts are additive to within one `o200k` token where texts are joined by line breaks and neither side of the break
    /// is white space: `count(a + "\n\n" + b) ≤ count(a) + count("\n\n") + count(b) + factor`. At any other cut a piece
    /// of text may be split differently, so a hard budget is checked on the whole, as [`Counter::fits`] does.
    pub fn count(&self, text: &str) -> u64 {
        self.scale(Known::lend(|known| pieces(text).map(|piece| known.count(piece, count_piece)).sum()))
    }

    /// The count, when it is within the budget; stops reading as soon as it is not.
    pub fn fits(&self, text: &str, budget: u64) -> Option<u64> {
        let most = self.most_raw(budget);
        let raw = Known::lend(|known| {
            pieces(text).try_fold(0, |raw, piece| {
                let raw = raw + known.count(piece, count_piece);
                (raw <= most).then_some(raw)
            })
        });
        raw.map(|raw| self.scale(raw))
    }

    /// Tokens for a number of `o200k` tokens.
    const fn scale(self, raw: u64) -> u64 {
        raw.saturating_mul(self.thousandths).div_ceil(1000)
    }

    /// The most `o200k` tokens whose count is within a budget.
    const fn most_raw(self, budget: u64) -> u64 {
        budget.saturating_mul(1000) / self.thousandths
    }
}

/// Whether a name means a model that splits finer.
fn is_newer(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    let is_claude = ["claude", "opus", "sonnet", "haiku"].iter().any(|name| model.contains(name));
    is_claude && version(&model).is_none_or(|version| version >= FIRST_NEWER)
}

/// Major and minor in a lower-case name; dates (`20250514`) and revisions (`v1:0`) are not taken for a version.
fn version(model: &str) -> Option<(u32, u32)> {
    let name = model.split('[').next().unwrap_or_default();
    let mut parts =
        name.split(|character: char| !character.is_ascii_alphanumeric()).skip_while(|part| number(part).is_none());
    let major = number(parts.next()?)?;
    Some((major, parts.next().and_then(number).unwrap_or(0)))
}

/// A part of a version: one or two digits.
fn number(part: &str) -> Option<u32> {
    (part.len() <= 2).then(|| part.parse().ok()).flatten()
}

/// What the tokenizer's own pattern splits a text into, long pieces cut.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    Pieces::of(tokenizer(), text).flat_map(cut)
}

fn tokenizer() -> &'static Tokenizer {
    bpe_openai::o200k_base()
}

fn count_piece(piece: &str) -> u64 {
    // The usize of a count always fits.
    tokenizer().bpe.count(piece.as_bytes()) as u64
}

/// Cuts a piece at character boundaries into parts of at most [`LONGEST_PIECE`].
fn cut(piece: &str) -> impl Iterator<Item = &str> {
    let mut rest = piece;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, after) = rest.split_at(rest.floor_char_boundary(LONGEST_PIECE));
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn older() -> Counter {
        Counter::for_model("claude-sonnet-4-5-20250929")
    }

    #[test]
    fn the_factor_follows_the_family() {
        for name in [
            "claude-3-5-sonnet-20241022",
            "claude-3-opus-20240229",
            "claude-sonnet-4-20250514",
            "claude-opus-4-1-20250805",
            "claude-opus-4-6",
            "claude-haiku-4-5-20251001",
            "us.anthropic.claude-sonnet-4-20250514-v1:0",
            "claude-sonnet-4@20250514",
            "claude-sonnet-4-6[1m]",
            "<synthetic>",
            "some-other-model-9",
            "",
        ] {
            assert_eq!(Counter::for_model(name).thousandths, OLDER, "{name}");
        }
        for name in [
            "opus",
            "sonnet",
            "haiku",
            "Opus",
            "opus[1m]",
            "opusplan",
            "claude-opus-4-7",
            "claude-opus-4-8-20260101",
            "claude-opus-5",
            "claude-sonnet-5-20260601",
            "claude-haiku-10-1",
            "eu.anthropic.claude-opus-5-1-v1:0",
        ] {
            assert_eq!(Counter::for_model(name).thousandths, NEWER, "{name}");
        }
    }

    #[test]
    fn counts_are_those_of_o200k_times_the_factor_rounded_up() {
        let text = "fn main() { println!(\"Hello, wörld\"); }\n\n  // 1234567\n";
        let raw = bpe_openai::o200k_base().count(text) as u64;
        assert_eq!(older().count(text), (raw * 125).div_ceil(100));
        assert_eq!(Counter::for_model("opus").count(text), (raw * 1625).div_ceil(1000));
        assert_eq!(older().count(""), 0);
        assert_eq!(older().count("a"), 2, "one token is never counted as less than it is");
    }

    #[test]
    fn a_long_line_without_spaces_is_counted_in_pieces() {
        for unit in ["a", "é", "-", " ", "漢", "A", "\n", "7", "\u{301}"] {
            let text = unit.repeat(3_000_000 / unit.len());
            let counted = older().count(&text);
            assert!(counted > 0 && counted <= 2 * text.len() as u64, "{unit:?} gave {counted}");
            assert_eq!(older().fits(&text, 10), None, "{unit:?}");
        }
    }

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof!["[a-zA-Z0-9 .,;:#`'\"/(){}=<>_\n\t-]{0,200}", "\\PC{0,60}", "([a-z]{1,9}[ ,.\n]){0,40}",]
    }

    proptest! {
        #[test]
        fn a_text_fits_exactly_when_its_count_is_within_the_budget(text in texts(), budget in 0_u64..120) {
            for counter in [older(), Counter::for_model("opus")] {
                let count = counter.count(&text);
                prop_assert_eq!(counter.fits(&text, budget), (count <= budget).then_some(count));
            }
        }

        #[test]
        fn joining_paragraphs_adds_at_most_one_token(left in texts(), right in texts(), breaks in 1_usize..4) {
            let (left, right) = (left.trim_end(), right.trim_start());
            let gap = "\n".repeat(breaks);
            let whole = bpe_openai::o200k_base().count(format!("{left}{gap}{right}").as_str());
            let parts: usize = [left, &gap, right].into_iter().map(|part| bpe_openai::o200k_base().count(part)).sum();
            prop_assert!(whole <= parts + 1, "{whole} against {parts}");
        }

        #[test]
        fn cutting_loses_nothing(text in "\\PC{0,40}", times in 1_usize..3000) {
            let text = text.repeat(times);
            let joined: String = cut(&text).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
