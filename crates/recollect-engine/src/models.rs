//! Language models: their context windows and prices, the current ones of Claude and the user's own.
//!
//! Nothing here is asked from the network: what is not in the table, or has changed since, stands in the setting `models.own`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::error::{Error, Result};

/// A language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, optional_fields = nullable)]
pub struct Model {
    /// Its name where it is asked: `claude-opus-5-5`, `qwen3:32b`.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// `opus`, `sonnet`, … for Claude's; `own` for the user's own.
    pub family: String,
    /// Tokens that it can read and write at once.
    pub context_window: u64,
    /// US dollars for a million tokens that it reads; none when it is not known.
    pub input_price: Option<f64>,
    /// US dollars for a million tokens that it writes; none when it is not known.
    pub output_price: Option<f64>,
    /// It is from the settings.
    pub own: bool,
}

/// A model of the setting `models.own`. With the name of a known one it takes that one's place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnModel {
    id: String,
    label: Option<String>,
    context_window: u64,
    input_price: Option<f64>,
    output_price: Option<f64>,
}

impl OwnModel {
    /// Reads and checks the setting's value.
    ///
    /// # Errors
    /// Usage, in words for the user.
    pub fn list(value: &serde_json::Value) -> Result<Vec<Self>> {
        let own: Vec<Self> = serde_json::from_value(value.clone()).map_err(|error| Error::usage(error.to_string()))?;
        for model in &own {
            let price = |price: Option<f64>| price.is_none_or(|price| (0.0..=100_000.0).contains(&price));
            if model.id.trim().is_empty() {
                return Err(Error::usage("a model has no id"));
            }
            if !(1_000..=100_000_000).contains(&model.context_window) {
                return Err(Error::usage(format!("the context window of {} is not at least 1000 tokens", model.id)));
            }
            if !price(model.input_price) || !price(model.output_price) {
                return Err(Error::usage(format!("a price of {} is not a number of dollars", model.id)));
            }
        }
        Ok(own)
    }
}

/// Name, label, family, context window, and dollars for a million tokens read and written.
type Row = (&'static str, &'static str, &'static str, u64, f64, f64);

/// Claude's models as of October 2026, the newest of each family first. Prices are those of Anthropic's own API without
/// caching or batches; where long prompts cost more, those of prompts up to 100,000 tokens, and none that we send is longer.
const CLAUDE: &[Row] = &[
    ("claude-fable-5-2", "Claude Fable 5.2", "fable", 1_000_000, 8.0, 40.0),
    ("claude-opus-5-5", "Claude Opus 5.5", "opus", 1_000_000, 4.0, 20.0),
    ("claude-sonnet-5-5", "Claude Sonnet 5.5", "sonnet", 1_000_000, 2.0, 10.0),
    ("claude-haiku-5-5", "Claude Haiku 5.5", "haiku", 1_000_000, 0.1, 0.5),
    ("claude-fable-5-1", "Claude Fable 5.1", "fable", 1_000_000, 10.0, 50.0),
    ("claude-opus-5", "Claude Opus 5", "opus", 1_000_000, 5.0, 25.0),
    ("claude-sonnet-5", "Claude Sonnet 5", "sonnet", 1_000_000, 2.0, 10.0),
    ("claude-opus-4-8", "Claude Opus 4.8", "opus", 1_000_000, 5.0, 25.0),
    ("claude-opus-4-7", "Claude Opus 4.7", "opus", 1_000_000, 5.0, 25.0),
    ("claude-opus-4-6", "Claude Opus 4.6", "opus", 1_000_000, 5.0, 25.0),
    ("claude-sonnet-4-6", "Claude Sonnet 4.6", "sonnet", 1_000_000, 3.0, 15.0),
    ("claude-opus-4-5", "Claude Opus 4.5", "opus", 200_000, 5.0, 25.0),
    ("claude-sonnet-4-5", "Claude Sonnet 4.5", "sonnet", 200_000, 3.0, 15.0),
    ("claude-haiku-4-5", "Claude Haiku 4.5", "haiku", 200_000, 1.0, 5.0),
];

/// All models: the user's own first, then Claude's.
pub fn all(own: &[OwnModel]) -> Vec<Model> {
    let own_models = own.iter().map(|model| Model {
        id: model.id.clone(),
        label: model.label.clone().unwrap_or_else(|| model.id.clone()),
        family: "own".to_owned(),
        context_window: model.context_window,
        input_price: model.input_price,
        output_price: model.output_price,
        own: true,
    });
    let claude = CLAUDE.iter().filter(|(id, ..)| !own.iter().any(|model| model.id == *id));
    own_models.chain(claude.map(of_row)).collect()
}

fn of_row((id, label, family, context_window, input_price, output_price): &Row) -> Model {
    Model {
        id: (*id).to_owned(),
        label: (*label).to_owned(),
        family: (*family).to_owned(),
        context_window: *context_window,
        input_price: Some(*input_price),
        output_price: Some(*output_price),
        own: false,
    }
}

/// The model that a name means: its id, with or without a day (`claude-opus-4-5-20251101`), a provider before it
/// (`us.anthropic.claude-…`) or a window behind it (`sonnet[1m]`); or a family (`opus`), which means its newest.
pub fn find(own: &[OwnModel], name: &str) -> Option<Model> {
    let models = all(own);
    if let Some(model) = models.iter().find(|model| model.id == name) {
        return Some(model.clone());
    }
    let bare = name.split('[').next().unwrap_or_default().to_ascii_lowercase();
    let claude = || models.iter().filter(|model| model.family != "own");
    if let Some(model) = claude().find(|model| model.family == bare) {
        return Some(model.clone());
    }
    let bare = &bare[bare.find("claude-")?..];
    let is = |model: &&Model| {
        bare.strip_prefix(&model.id).is_some_and(|rest| {
            let mut parts = rest.split(['-', '@', ':']).skip(1);
            let first = parts.next().unwrap_or_default();
            // What follows is a day or a revision, not the rest of another version's number.
            rest.is_empty() || (rest.starts_with(['-', '@']) && (first.len() == 8 || first.starts_with('v')))
        })
    };
    claude().find(is).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn own() -> Vec<OwnModel> {
        OwnModel::list(&json!([
            {"id": "qwen3:32b", "label": "Qwen", "contextWindow": 32768, "inputPrice": 0, "outputPrice": 0},
            {"id": "claude-opus-5", "contextWindow": 500000}
        ]))
        .expect("good models")
    }

    #[test]
    fn own_models_come_first_and_take_the_place_of_known_ones() {
        let models = all(&own());
        assert_eq!((models[0].label.as_str(), models[1].context_window), ("Qwen", 500_000));
        assert_eq!(models.iter().filter(|model| model.id == "claude-opus-5").count(), 1, "once");
        assert_eq!(models.len(), CLAUDE.len() + 1);
    }

    #[test]
    fn a_model_is_found_by_the_names_that_people_and_providers_use() {
        let found = |name: &str| find(&[], name).map(|model| model.id);
        for (name, id) in [
            ("opus", "claude-opus-5-5"),
            ("sonnet[1m]", "claude-sonnet-5-5"),
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
            ("claude-opus-5@20260724", "claude-opus-5"),
            ("claude-opus-5-5", "claude-opus-5-5"),
        ] {
            assert_eq!(found(name).as_deref(), Some(id), "{name}");
        }
        for name in ["claude-opus-5-9", "gpt-5", "", "claude-opus-5x"] {
            assert_eq!(found(name), None, "{name} is not another model");
        }
        assert_eq!(find(&own(), "qwen3:32b").map(|model| model.context_window), Some(32768));
    }

    #[test]
    fn what_is_wrong_with_an_own_model_is_said() {
        for (wrong, word) in [
            (json!([{"id": "", "contextWindow": 32768}]), "id"),
            (json!([{"id": "a", "contextWindow": 10}]), "1000"),
            (json!([{"id": "a", "contextWindow": 32768, "inputPrice": -1}]), "price"),
            (json!([{"id": "a", "contextWindow": 32768, "price": 1}]), "price"),
            (json!("a"), "sequence"),
        ] {
            let error = OwnModel::list(&wrong).expect_err("wrong").message;
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }
}
