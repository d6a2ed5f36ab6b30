//! The base URL and the credentials of a provider over HTTP, checked.

use reqwest::{
    Client, RequestBuilder, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use smartspace_domain::{
    providers::{ProviderApi, ProviderEntry, ProviderName},
    runs::FailureCode,
};

use crate::{
    port::ModelError,
    refusals::{Hidden, Refusals},
};

/// The header that carries the key of Anthropic's API.
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The shortest header's value that no error shows. A shorter one may occur in other text.
const SHORTEST_HIDDEN: usize = 8;

pub(crate) struct Access {
    pub(crate) base: Url,
    /// The credentials and the entry's other headers.
    headers: HeaderMap,
    /// Texts that no error may show.
    hidden: Hidden,
}

impl Access {
    /// Without a base URL it uses the API's own, which needs a key. Any other base works without a
    /// key too.
    pub(crate) fn new(name: &ProviderName, entry: &ProviderEntry) -> Result<Self, ModelError> {
        if let Some(fault) = &entry.fault {
            return Err(not_configured(format!("the provider {name} can't be asked: {fault}")));
        }
        let key = entry.key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        let key_setting = setting(name, entry, "API_KEY", "key");
        let base_setting = setting(name, entry, "BASE_URL", "baseUrl");
        if entry.lacks_key() {
            return Err(not_configured(format!(
                "the provider {name} has no API key: set {key_setting}, \
                 or set {base_setting} to a server that needs no key"
            )));
        }
        let base = entry.address().ok_or_else(|| {
            not_configured(format!("{base_setting} is not an http or https address"))
        })?;
        let mut headers = HeaderMap::new();
        for (header, value) in &entry.headers {
            let invalid = || not_configured(format!("the header {header} of {name} is not valid"));
            let value = sensitive(value).ok_or_else(invalid)?;
            headers.insert(HeaderName::try_from(header).map_err(|_| invalid())?, value);
        }
        if let Some(key) = key {
            let header = key_header(entry, key).ok_or_else(|| {
                not_configured(format!(
                    "{key_setting} must contain only printable ASCII characters without spaces"
                ))
            })?;
            headers.insert(header.name, header.value);
        }
        let values = entry.headers.values().filter(|value| value.len() >= SHORTEST_HIDDEN);
        let hidden = key
            .into_iter()
            .map(str::to_owned)
            .chain(entry.hidden.iter().cloned())
            .chain(values.cloned());
        Ok(Self { base, headers, hidden: Hidden::of(hidden) })
    }

    /// A request to the base URL with these path segments appended, with all headers of the entry.
    pub(crate) fn post(&self, http: &Client, segments: &[&str]) -> RequestBuilder {
        http.post(self.address(segments)).headers(self.headers.clone())
    }

    /// What turns the refusals of this provider into errors.
    pub(crate) fn refusals(&self, mark: &'static str) -> Refusals {
        Refusals::new(self.hidden.clone(), mark)
    }

    /// The base URL with these path segments appended.
    pub(crate) fn address(&self, segments: &[&str]) -> Url {
        let mut address = self.base.clone();
        if let Ok(mut path) = address.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        address
    }
}

struct KeyHeader {
    name: HeaderName,
    value: HeaderValue,
}

/// The header that carries a key. Returns `None` if no header can carry it.
fn key_header(entry: &ProviderEntry, key: &str) -> Option<KeyHeader> {
    if !key.chars().all(|char| char.is_ascii_graphic()) {
        return None;
    }
    if let Some(name) = &entry.key_header {
        return Some(KeyHeader { name: HeaderName::try_from(name).ok()?, value: sensitive(key)? });
    }
    Some(match entry.api {
        ProviderApi::Anthropic => KeyHeader { name: X_API_KEY, value: sensitive(key)? },
        _ => KeyHeader { name: AUTHORIZATION, value: sensitive(&format!("Bearer {key}"))? },
    })
}

/// The value of a header, which no log shows.
fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// What the operator sets: a variable for the provider that has its API's name, or else a field of
/// its entry.
fn setting(name: &ProviderName, entry: &ProviderEntry, variable: &str, field: &str) -> String {
    if name.is(entry.api) {
        format!("{}_{variable}", name.as_str().to_ascii_uppercase())
    } else {
        format!("`{field}` of the provider {name}")
    }
}

fn not_configured(text: String) -> ModelError {
    // The text never contains a key.
    ModelError::new(FailureCode::NotConfigured, text)
}

#[cfg(test)]
mod tests;
