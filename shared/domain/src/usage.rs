//! The tokens and the cost of model calls.

use std::collections::BTreeMap;

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
    /// Tokens written. A picture counts as its provider says, or as a token for 750 pixels.
    pub output_tokens: u64,
    /// Pictures drawn. Absent if none.
    #[serde(default, skip_serializing_if = "is_none")]
    #[schema(required = false)]
    pub images: u64,
    /// Dollars; null if no price is known and the model runs on a server of the deployment's own.
    #[schema(required)]
    pub cost: Option<f64>,
    /// Whether a model without a price was asked. Then `cost` counts it with the highest price of
    /// its provider, or as free on a server of the deployment's own. Absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub price_unknown: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// What a remote agent says that its run has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReportedUsage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Dollars. Absent if the agent does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub cost: Option<f64>,
}

impl ReportedUsage {
    /// The same with counts that the table can store.
    #[must_use]
    pub fn believable(self) -> Self {
        let Usage { input_tokens, output_tokens, cost, .. } = Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cost: self.cost,
            ..Usage::default()
        }
        .believable();
        Self { input_tokens, output_tokens, cost }
    }
}

/// More tokens than any call has. Counts come from providers and may be wrong.
const MOST_TOKENS: u64 = 1_000_000_000_000;
/// More dollars than any run costs.
const MOST_DOLLARS: f64 = 1e6;

impl Usage {
    /// The same with counts that sums of many calls can hold.
    #[must_use]
    pub fn believable(self) -> Self {
        Self {
            input_tokens: self.input_tokens.min(MOST_TOKENS),
            cached_tokens: self.cached_tokens.min(MOST_TOKENS),
            cache_write_tokens: self.cache_write_tokens.min(MOST_TOKENS),
            output_tokens: self.output_tokens.min(MOST_TOKENS),
            images: self.images.min(MOST_TOKENS),
            cost: self.cost.map(|cost| cost.clamp(0.0, MOST_DOLLARS)),
            price_unknown: self.price_unknown,
        }
    }
}

impl std::ops::AddAssign for Usage {
    /// Saturates, because the counts come from providers and may be wrong.
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.images = self.images.saturating_add(other.images);
        self.cost = match (self.cost, other.cost) {
            (None, None) => None,
            (own, others) => Some(rounded(own.unwrap_or(0.0) + others.unwrap_or(0.0))),
        };
        self.price_unknown |= other.price_unknown;
    }
}

/// The usage of each model, by `provider/model`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsageByModel(BTreeMap<String, Usage>);

impl UsageByModel {
    /// The usage of one model.
    pub fn one(model: &str, usage: Usage) -> Self {
        let mut one = Self::default();
        one.add(model, usage);
        one
    }

    /// Adds what a call of `model` has used.
    pub fn add(&mut self, model: &str, usage: Usage) {
        *self.0.entry(model.to_owned()).or_default() += usage;
    }

    /// The usage of all models together.
    pub fn total(&self) -> Usage {
        let mut total = Usage::default();
        for usage in self.0.values() {
            total += *usage;
        }
        total
    }

    /// Whether no model was asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each model with its usage, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Usage)> {
        self.0.iter().map(|(model, usage)| (model.as_str(), usage))
    }
}

/// Dollars rounded to billionths, without the rounding errors of sums.
pub fn rounded(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}

/// Dollars as a whole number of billionths.
pub fn billionths(dollars: f64) -> u64 {
    (dollars * 1e9).round() as u64
}

/// A whole number of billionths as dollars.
pub fn dollars(billionths: u64) -> f64 {
    billionths as f64 / 1e9
}
