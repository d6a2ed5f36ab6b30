//! The providers of models that a deployment has. The operator's configuration names their
//! servers; agents choose a provider by its name.
//!
//! - [`name`]: the names, and the APIs that providers speak
//! - [`entry`]: one provider's server and credentials
//! - [`own_servers`]: which servers are the deployment's own

mod entry;
mod name;
mod own_servers;

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;

pub use self::{
    entry::ProviderEntry,
    name::{ProviderApi, ProviderName},
};
use crate::errors::Faults;

const EXPECTED: &str =
    "expected {\"providers\": {\"name\": {\"api\": …, \"baseUrl\": …, \"key\": …}}}";

/// All providers of a deployment, by their names.
#[derive(Clone, PartialEq, Eq)]
pub struct Providers(BTreeMap<ProviderName, ProviderEntry>);

/// The document that the operator writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    providers: BTreeMap<ProviderName, ProviderEntry>,
}

impl Default for Providers {
    /// The providers that exist without an entry, without keys.
    fn default() -> Self {
        Self(BTreeMap::new()).completed()
    }
}

impl Providers {
    /// Reads the document `{"providers": {"name": {"api", "baseUrl", …}}}`; an empty text has no
    /// entries. Errors show no key.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        // Serde would also read a list as the fields of the document.
        if !text.trim_start().starts_with('{') {
            return Err(format!("{EXPECTED}: it is not an object"));
        }
        let Document { providers } = serde_json::from_str(text).map_err(|error| unread(&error))?;
        let mut faults = Faults::default();
        faults.within("providers", |faults| {
            for (name, entry) in &providers {
                faults.within(name, |faults| entry.check(name, faults));
            }
        });
        faults.done().map_err(|error| error.to_string())?;
        Ok(Self(providers).completed())
    }

    /// Adds the providers that exist without an entry.
    fn completed(self) -> Self {
        use ProviderApi::{Anthropic, Bedrock, Openai, Scripted};
        [Openai, Anthropic, Bedrock, Scripted]
            .into_iter()
            .fold(self, |all, api| all.with_default(ProviderEntry::of(api)))
    }

    /// Sets the entry of the provider that has its API's name, unless the document has one.
    #[must_use]
    pub fn with_default(mut self, entry: ProviderEntry) -> Self {
        let has_own = |before: &ProviderEntry| *before != ProviderEntry::of(before.api);
        let name = ProviderName::from(entry.api);
        if !self.0.get(&name).is_some_and(has_own) {
            self.0.insert(name, entry);
        }
        self
    }

    /// The same providers with their secrets filled in. `secret` returns the secret of a name for a
    /// host, or why it can't be used; the entry keeps the reason in [`ProviderEntry::fault`].
    #[must_use]
    pub fn resolved(&self, secret: &dyn Fn(&str, &str) -> Result<String, String>) -> Self {
        let resolved =
            |(name, entry): (&ProviderName, &ProviderEntry)| (name.clone(), entry.resolved(secret));
        Self(self.0.iter().map(resolved).collect())
    }

    /// The provider with this name.
    pub fn get(&self, name: &ProviderName) -> Option<&ProviderEntry> {
        self.0.get(name)
    }

    /// All providers, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&ProviderName, &ProviderEntry)> {
        self.0.iter()
    }

    /// The names, with commas in between.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.0.keys().map(ProviderName::as_str).collect();
        names.join(", ")
    }

    /// The provider with this name. Adds a fault at `provider` if there is none.
    pub fn find(&self, name: &ProviderName, faults: &mut Faults) -> Option<&ProviderEntry> {
        let found = self.get(name);
        faults.check(found.is_some(), "provider", self.missing(name));
        found
    }

    /// The text for a provider that does not exist here.
    pub fn missing(&self, name: &ProviderName) -> String {
        format!("expected a provider of this deployment ({}), got {name}", self.names())
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Providers({})", self.names())
    }
}

/// What is wrong with a document. The text of a type error would show the value, which may be a
/// key.
fn unread(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let shows_value = text.starts_with("invalid type") || text.starts_with("invalid value");
    let place = format!("wrong type at line {} column {}", error.line(), error.column());
    format!("{EXPECTED}: {}", if shows_value { &place } else { &text })
}

#[cfg(test)]
mod tests;
