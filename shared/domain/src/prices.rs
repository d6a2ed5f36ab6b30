//! The prices of models. A deployment can replace the built-in table (`prices.json`).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    Error,
    usage::{Usage, rounded},
};

/// Prices by `provider/model`. A name that ends with `*` matches every model name with that prefix,
/// and the longest match counts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

/// The prices of one model, in dollars per million tokens, and per picture.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens read from the provider's cache. The default is `input`.
    #[serde(default)]
    pub cached_input: Option<f64>,
    /// Tokens read and written to the provider's cache. The default is `input`.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// Tokens written.
    pub output: f64,
    /// One picture, in dollars, for models that are paid by the picture. The default is 0.
    #[serde(default)]
    pub image: f64,
}

const MILLION: f64 = 1_000_000.0;

impl Prices {
    /// Parses a table of prices. The error says what was expected.
    pub fn read(json: &str) -> Result<Self, String> {
        let expected = "expected {\"provider/model\": {\"input\": …, \"cachedInput\": …, \
                        \"cacheWrite\": …, \"output\": …, \"image\": …}}, \
                        in dollars per million tokens and per picture";
        let prices: Self =
            serde_json::from_str(json).map_err(|error| format!("{expected}: {error}"))?;
        for (model, price) in &prices.0 {
            let given = [
                Some(price.input),
                price.cached_input,
                price.cache_write,
                Some(price.output),
                Some(price.image),
            ];
            let fine = given.iter().flatten().all(|price| (0.0..=1e6).contains(price));
            if !fine {
                return Err(format!("{expected}, each from 0 to 1000000; wrong for {model:?}"));
            }
        }
        Ok(prices)
    }

    /// The built-in table: list prices at the time of the release.
    pub fn built_in() -> Self {
        // A test parses the built-in table, so the default is never used.
        Self::read(include_str!("../prices.json")).unwrap_or_default()
    }

    /// The price of `model` (`provider/model`), if it has one.
    fn of(&self, model: &str) -> Option<&Price> {
        let fits = |name: &str| {
            name == model || name.strip_suffix('*').is_some_and(|prefix| model.starts_with(prefix))
        };
        let fitting = self.0.iter().filter(|(name, _)| fits(name));
        fitting.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
    }

    /// Refuses models (`provider/model`) without a price, for a budget in dollars at `pointer`.
    ///
    /// # Errors
    /// `invalid`, with the names of these models.
    pub fn must_have(
        &self,
        pointer: &str,
        models: impl IntoIterator<Item = String>,
    ) -> Result<(), Error> {
        let missing: Vec<_> = models.into_iter().filter(|model| self.of(model).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let text = format!(
            "expected a price for each model; these have none: {}. Add them to the table of \
             prices, or use tokensPerDay",
            missing.join(", ")
        );
        Err(Error::invalid(pointer, text))
    }

    /// The most that a call of `model` may cost, in dollars, if it reads `input` tokens, writes
    /// `output` and draws `images`. `None` if the model has no price.
    pub fn most(&self, model: &str, input: u64, output: u64, images: u64) -> Option<f64> {
        let price = self.of(model)?;
        let read = [Some(price.input), price.cached_input, price.cache_write];
        let read = read.into_iter().flatten().fold(0.0, f64::max);
        let written = output as f64 / MILLION * price.output;
        Some(input as f64 / MILLION * read + written + images as f64 * price.image)
    }

    /// The cost of `usage` of `model` (`provider/model`), in dollars. `None` if the model has no
    /// price.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.of(model)?;
        let plain = usage
            .input_tokens
            .saturating_sub(usage.cached_tokens)
            .saturating_sub(usage.cache_write_tokens);
        let parts = [
            (plain, price.input),
            (usage.cached_tokens, price.cached_input.unwrap_or(price.input)),
            (usage.cache_write_tokens, price.cache_write.unwrap_or(price.input)),
            (usage.output_tokens, price.output),
        ];
        let tokens: f64 =
            parts.into_iter().map(|(tokens, price)| tokens as f64 / MILLION * price).sum();
        Some(rounded(tokens + usage.images as f64 * price.image))
    }
}

#[cfg(test)]
mod tests;
