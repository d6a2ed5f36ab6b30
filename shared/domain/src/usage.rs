//! The tokens and the cost of model calls.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The tokens and the cost of one or more model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read, including cached ones.
    pub input_tokens: u64,
    /// Of the tokens read, those read from the provider's cache.
    pub cached_tokens: u64,
    /// Of the tokens read, those written to the provider's cache.
    pub cache_write_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Dollars; null if the model has no price.
    #[schema(required)]
    pub cost: Option<f64>,
}

impl std::ops::AddAssign for Usage {
    /// Saturates, because the counts come from providers and may be wrong.
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost = match (self.cost, other.cost) {
            (None, None) => None,
            (own, others) => Some(rounded(own.unwrap_or(0.0) + others.unwrap_or(0.0))),
        };
    }
}

/// Dollars rounded to billionths, without the rounding errors of sums.
pub(crate) fn rounded(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}
