//! The prices of models. A deployment can replace the built-in table (`prices.json`).
//!
//! A model that the table does not list counts with the highest built-in prices of its provider, so
//! that no budget in dollars can be passed with a model that nobody has priced. On a server of the
//! deployment's own it is free.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    dispatch::WakeLimits,
    providers::{ProviderApi, Providers},
    usage::{Usage, rounded},
};

/// Prices by `provider/model`. A name that ends with `*` matches every model name with that prefix,
/// and the longest match counts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct PriceTable(BTreeMap<String, Price>);

/// The prices of one model, in dollars per million tokens, and per picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
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

/// What counts for the models of a provider that the table does not list.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unlisted {
    /// Nothing, because they are scripts.
    Scripted,
    /// Nothing, because the server is the deployment's own.
    Own,
    /// The highest prices of the provider's API.
    Highest(Price),
}

/// The prices of all models that a deployment can ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    table: PriceTable,
    /// By the names of the providers.
    unlisted: BTreeMap<String, Unlisted>,
}

const MILLION: f64 = 1_000_000.0;

impl PriceTable {
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

    /// The highest prices of the models whose names begin with `prefix`, each kind by itself.
    fn highest(&self, prefix: &str) -> Price {
        let listed = self.0.iter().filter(|(name, _)| name.starts_with(prefix));
        listed.fold(Price::default(), |most, (_, price)| {
            let read = price.cached_input.into_iter().chain(price.cache_write);
            let read = read.fold(price.input, f64::max);
            Price {
                input: most.input.max(read),
                output: most.output.max(price.output),
                image: most.image.max(price.image),
                ..most
            }
        })
    }
}

impl Price {
    fn is_free(&self) -> bool {
        let read = [Some(self.input), self.cached_input, self.cache_write];
        read.into_iter().flatten().chain([self.output, self.image]).all(|price| price == 0.0)
    }
}

impl Prices {
    /// The prices of a deployment with these providers.
    pub fn new(table: PriceTable, providers: &Providers) -> Self {
        let built_in = PriceTable::built_in();
        let unlisted = providers.iter().map(|(name, entry)| {
            let own_api = ProviderApi::as_str(entry.api);
            let unlisted = match entry.api {
                ProviderApi::Scripted => Unlisted::Scripted,
                _ if entry.is_own() => Unlisted::Own,
                _ => Unlisted::Highest(built_in.highest(&format!("{own_api}/"))),
            };
            (name.to_string(), unlisted)
        });
        Self { table, unlisted: unlisted.collect() }
    }

    /// The price of `model` (`provider/model`), and whether it is known. `None` if the deployment
    /// has no such provider, and so can't ask the model.
    fn of(&self, model: &str) -> Option<(Price, bool)> {
        if let Some(price) = self.table.of(model) {
            return Some((*price, true));
        }
        let (provider, _) = model.split_once('/')?;
        Some(match self.unlisted.get(provider)? {
            Unlisted::Scripted => (Price::default(), true),
            Unlisted::Own => (Price::default(), false),
            Unlisted::Highest(price) => (*price, false),
        })
    }

    /// The most that a call of `model` may cost, in dollars, if it reads `input` tokens, writes
    /// `output` and draws `images`.
    pub fn most(&self, model: &str, input: u64, output: u64, images: u64) -> f64 {
        let Some((price, _)) = self.of(model) else { return 0.0 };
        let read = [Some(price.input), price.cached_input, price.cache_write];
        let read = read.into_iter().flatten().fold(0.0, f64::max);
        let written = output as f64 / MILLION * price.output;
        input as f64 / MILLION * read + written + images as f64 * price.image
    }

    /// The usage of a call of `model` (`provider/model`) with its cost.
    #[must_use]
    pub fn priced(&self, model: &str, usage: Usage) -> Usage {
        let Some((price, is_known)) = self.of(model) else { return usage };
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
        let cost = rounded(tokens + usage.images as f64 * price.image);
        // That a model is free on an own server is an assumption, not a price.
        let cost = (is_known || !price.is_free()).then_some(cost);
        Usage { cost, price_unknown: !is_known, ..usage }
    }

    /// Whether the runs of an agent cost nothing, as far as its first model says. A remote agent
    /// asks no model of ours.
    pub fn is_free(&self, agent: &WakeLimits) -> bool {
        let Some(model) = &agent.model else { return true };
        self.of(model).is_some_and(|(price, _)| price.is_free())
    }
}

#[cfg(test)]
mod tests;
