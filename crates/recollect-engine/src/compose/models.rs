//! Components that a language model is to compress. All is decided with what the built-in engine makes of the same
//! settings, so that a preview costs nothing and no model is asked twice; each is asked once, when the composition is made.

use super::draft::{Draft, Seat};
use super::plan::Rendition;
use super::select::Pick;
use super::tighten::tightened;
use super::words::grouped;
use crate::api::compression::CompressionSettings;
use crate::compress;
use crate::error::Result;
use crate::summarize::Account;

/// A model is given this much less than the share: the names of the speakers come on top.
const NAMES: f64 = 1.04;

/// Asks the models that settings name. What one gives beyond its share, or what takes the whole over its budget, is made
/// by the built-in engine instead, which is said.
///
/// # Errors
/// Those of the engine; what was made before is kept by it.
pub(super) fn ask(draft: &mut Draft<'_>) -> Result<()> {
    // One composition, one cap.
    let account = Account::default();
    // What the built-in engine made, by the component that has it no more.
    let mut built_in: Vec<(usize, CompressionSettings, Rendition)> = Vec::new();
    for (at, seat) in draft.seats.iter_mut().enumerate() {
        let Some(settings) = seat.taken.settings.clone().filter(names_model) else { continue };
        if seat.taken.pick != Pick::New {
            continue;
        }
        let asked = tightened(&settings, NAMES).unwrap_or_else(|| settings.clone());
        let told = seat.material.told(&asked, &account)?;
        let over = told.tokens.saturating_sub(seat.taken.share);
        let decided = std::mem::replace(&mut seat.taken.rendition, told);
        seat.taken.settings = Some(asked);
        if over > 0 {
            fall_back(seat, settings, decided, over);
        } else {
            built_in.push((at, settings, decided));
        }
    }
    draft.join()?;
    // What a model says of messages that others have too may be longer than what was decided with.
    while draft.over() > 0 {
        let Some((at, settings, decided)) = built_in.pop() else { break };
        let over = draft.over();
        fall_back(&mut draft.seats[at], settings, decided, over);
        draft.join()?;
    }
    Ok(())
}

/// Whether settings want a language model to be asked.
pub(super) fn names_model(settings: &CompressionSettings) -> bool {
    settings.engine.as_deref().is_some_and(|engine| engine != compress::ENGINE)
}

/// Leaves a component to the built-in engine, and says so.
fn fall_back(seat: &mut Seat<'_>, settings: CompressionSettings, decided: Rendition, over: u64) {
    let engine = settings.engine.as_deref().unwrap_or_default();
    let warning = format!("what {engine} made was {} tokens too large: the built-in engine made it", grouped(over));
    seat.taken.warning = Some(warning);
    seat.taken.settings = Some(CompressionSettings { engine: None, ..settings });
    seat.taken.rendition = decided;
}
