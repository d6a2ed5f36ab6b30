//! The base URL and the API key of a provider over HTTP, checked.

use reqwest::Url;
use smartspace_domain::runs::FailureCode;

use crate::port::ModelError;

/// The names of a provider and of its settings, for error texts.
pub(crate) struct CredentialNames {
    pub(crate) provider: &'static str,
    /// Name of the setting that holds the key.
    pub(crate) key: &'static str,
    /// Name of the setting that holds the base URL.
    pub(crate) base: &'static str,
    /// The base URL if none is set.
    pub(crate) own_base: &'static str,
}

pub(crate) struct Access {
    pub(crate) base: Url,
    pub(crate) key: Option<String>,
}

impl Access {
    /// Without `base` it uses the provider's own base URL, which needs a key. Any other base works
    /// without a key too.
    pub(crate) fn new(
        names: &CredentialNames,
        key: Option<String>,
        base: Option<&str>,
    ) -> Result<Self, ModelError> {
        let missing = |text: String| Err(ModelError::new(FailureCode::NotConfigured, text));
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let base = base.map(str::trim).filter(|base| !base.is_empty());
        if key.is_none() && base.is_none() {
            let CredentialNames { provider, key, base, .. } = names;
            return missing(format!(
                "the provider {provider} has no API key: set {key}, \
                 or set {base} to a server that needs no key"
            ));
        }
        if key.as_ref().is_some_and(|key| !key.chars().all(|c| c.is_ascii_graphic())) {
            return missing(invalid_key(names));
        }
        match Url::parse(base.unwrap_or(names.own_base)) {
            Ok(base) if matches!(base.scheme(), "http" | "https") => Ok(Self { base, key }),
            _ => missing(format!("{} is not an http or https address", names.base)),
        }
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

/// The text never contains the key itself.
pub(crate) fn invalid_key(names: &CredentialNames) -> String {
    format!("{} must contain only printable ASCII characters without spaces", names.key)
}
