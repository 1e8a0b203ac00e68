//! The command line's arguments: the flags that every command takes, and readers of values.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser};
use serde::de::DeserializeOwned;

use crate::commands::Command;

/// Long-term memory of people who work with Claude Code.
///
/// Keeps every session byte for byte, marks what must not be lost, compresses sessions to what still matters, and
/// composes several of them into a context from which Claude Code really starts.
#[derive(Debug, Parser)]
#[command(name = "recollect", version, max_term_width = 110, disable_help_subcommand = true)]
#[command(after_help = "A session is named by its id, a unique prefix of it, or `latest`.\n\
    Exit status: 0 done, 1 failed, 2 wrong usage.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Folder of the memory [default: ~/.claude-memory]
    #[arg(long, global = true, value_name = "DIR", env = "RECOLLECT_HOME", hide_env_values = true)]
    pub(crate) home: Option<OsString>,
    /// Folder in which Claude Code keeps its data [default: ~/.claude]
    #[arg(long, global = true, value_name = "DIR", env = "CLAUDE_CONFIG_DIR", hide_env_values = true)]
    pub(crate) claude_home: Option<OsString>,
    /// Write one JSON document to standard output and nothing else
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say nothing on standard error but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: unreadable lines, causes of errors, unshortened tool output
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// Reads one of the names of a wire type's values.
pub(crate) fn choice<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value::<T>(serde_json::Value::String(name)))
}

/// Names of levels; `minimal` is `light`.
pub(crate) const LEVELS: &[&str] = &["light", "minimal", "moderate", "aggressive"];

/// Reads a ratio: `10`, `2.5` or `10:1`. Its range is the engine's to judge.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix(":1").unwrap_or(text);
    match number.parse::<f64>() {
        Ok(ratio) if ratio.is_finite() => Ok(ratio),
        _ => Err("a ratio is a number such as `10` or `10:1`".to_owned()),
    }
}

/// Reads a weight. Its range is the engine's to judge.
pub(crate) fn weight(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(weight) if weight.is_finite() => Ok(weight),
        _ => Err("a weight is a number from 0 to 1".to_owned()),
    }
}

/// Reads a similarity.
pub(crate) fn similarity(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(similarity) if (0.5..=1.0).contains(&similarity) => Ok(similarity),
        _ => Err("a similarity is a number from 0.5 to 1".to_owned()),
    }
}

/// Reads a number of US dollars: `2`, `$0.50`.
pub(crate) fn dollars(text: &str) -> Result<f64, String> {
    match text.strip_prefix('$').unwrap_or(text).parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars >= 0.0 => Ok(dollars),
        _ => Err("a cost is a number of US dollars, such as `0.50`".to_owned()),
    }
}

/// Reads a distance: sessions ago.
pub(crate) fn distance(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a distance is a whole number from 0: how many sessions ago".to_owned())
}

/// A number of tokens, or a share of what a model can read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// So many tokens.
    Tokens(u64),
    /// This share of a model's window, above 0 to 1.
    Window(f64),
}

/// Reads a budget: `16000`, `16k` or `20%`.
pub(crate) fn budget(text: &str) -> Result<Budget, String> {
    let Some(percent) = text.strip_suffix('%') else {
        return tokens(text).map(Budget::Tokens);
    };
    match percent.trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Budget::Window(percent / 100.0)),
        _ => Err("a share of a model's window is more than 0 % and at most 100 %, such as `20%`".to_owned()),
    }
}

/// Reads a number of tokens: `16000`, `16_000` or `16k`.
pub(crate) fn tokens(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1000),
        None => (text, 1),
    };
    digits
        .replace('_', "")
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| "a number of tokens is a whole number from 0, such as `16000` or `16k`".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{Arguments, Budget, budget, distance, ratio, tokens, weight};

    #[test]
    fn the_definition_of_the_arguments_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn ratios_are_read_with_and_without_to_one() {
        assert_eq!((ratio("10"), ratio("10:1"), ratio("2.5")), (Ok(10.0), Ok(10.0), Ok(2.5)));
        for wrong in ["", "ten", "10:2", "NaN", "inf", ":1"] {
            assert!(ratio(wrong).is_err(), "`{wrong}` is no ratio");
        }
    }

    #[test]
    fn tokens_are_read_with_separators_and_thousands() {
        assert_eq!((tokens("16000"), tokens("16_000"), tokens("16k")), (Ok(16000), Ok(16000), Ok(16000)));
        for wrong in ["", "k", "-1", "1.5k", "many", "99999999999999999999"] {
            assert!(tokens(wrong).is_err(), "`{wrong}` is no number of tokens");
        }
    }

    #[test]
    fn a_budget_is_a_number_or_a_share_of_a_window() {
        assert_eq!(
            (budget("16k"), budget("20%"), budget("2.5 %")),
            (Ok(Budget::Tokens(16_000)), Ok(Budget::Window(0.2)), Ok(Budget::Window(0.025)))
        );
        for wrong in ["0%", "101%", "-1%", "%", "NaN%", "x"] {
            assert!(budget(wrong).is_err(), "`{wrong}` is no budget");
        }
    }

    #[test]
    fn weights_and_distances_are_plain_numbers() {
        assert_eq!((weight("0.8"), distance("3")), (Ok(0.8), Ok(3)));
        assert!(weight("NaN").is_err() && distance("-1").is_err() && distance("1.5").is_err());
    }
}
