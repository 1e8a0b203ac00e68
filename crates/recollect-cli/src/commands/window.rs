//! Budgets that are a share of what a model can read.

use recollect_engine::api::model::{ModelListRequest, list};
use recollect_engine::{Error, Result};

use crate::arguments::Budget;
use crate::face::Face;
use crate::output::units::count;

/// A budget in tokens. Of a model, it may not be more than its window.
pub(super) fn tokens(face: &Face, budget: Budget, model: Option<&str>) -> Result<u64> {
    let Some(model) = model else {
        return match budget {
            Budget::Tokens(tokens) => Ok(tokens),
            Budget::Window(_) => {
                Err(Error::usage("a budget in percent is a share of a model's window, and no model is named")
                    .hint("name it with --for-model ID, or give a number of tokens"))
            }
        };
    };
    let models = face.call(list, ModelListRequest::default())?;
    let Some(known) = models.iter().find(|known| known.id.eq_ignore_ascii_case(model)) else {
        let ids: Vec<&str> = models.iter().map(|known| known.id.as_str()).collect();
        return Err(Error::usage(format!("there is no model `{model}`"))
            .hint(format!("known are {}; others can be added to the setting models.own", ids.join(", "))));
    };
    let window = known.context_window;
    match budget {
        Budget::Window(share) => Ok((window as f64 * share) as u64),
        Budget::Tokens(tokens) if tokens > window => {
            Err(Error::usage(format!("the window of {} has {} tokens", known.label, count(window)))
                .hint(format!("give a budget of at most {}", count(window))))
        }
        Budget::Tokens(tokens) => Ok(tokens),
    }
}
