//! Rows of compositions.

use crate::api::composition::{Composition, CompositionRequest};

/// A composition as it is stored.
#[derive(Debug, Clone)]
pub struct CompositionRow {
    /// What came of it, with the sessions started from it.
    pub record: Composition,
    /// The request that makes it again.
    pub request: CompositionRequest,
}
