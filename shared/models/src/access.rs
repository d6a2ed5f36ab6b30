//! Where a provider is, and with which key it is asked.

use reqwest::Url;
use smartspace_domain::runs::FailureCode;

use crate::port::ModelError;

/// How a provider and its settings are called, and where it is unless another address is set.
pub(crate) struct Names {
    pub(crate) provider: &'static str,
    pub(crate) key: &'static str,
    pub(crate) base: &'static str,
    pub(crate) own_base: &'static str,
}

/// A provider's address and key, checked.
pub(crate) struct Access {
    /// The base of its addresses.
    pub(crate) base: Url,
    pub(crate) key: Option<String>,
}

impl Access {
    /// `base` is the provider's own where it is left out. Only another base may go without a key.
    pub(crate) fn new(names: &Names, key: Option<String>, base: Option<&str>) -> Result<Self, ModelError> {
        let missing = |text: String| Err(ModelError::new(FailureCode::NotConfigured, text));
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let base = base.map(str::trim).filter(|base| !base.is_empty());
        if key.is_none() && base.is_none() {
            let Names { provider, key, base, .. } = names;
            return missing(format!("the provider {provider} has no key here: set {key}, or {base} to a server that needs none"));
        }
        if key.as_ref().is_some_and(|key| !key.chars().all(|c| c.is_ascii_graphic())) {
            return missing(format!("{} holds characters that no key has", names.key));
        }
        match Url::parse(base.unwrap_or(names.own_base)) {
            Ok(base) if matches!(base.scheme(), "http" | "https") => Ok(Self { base, key }),
            _ => missing(format!("{} is not an http or https address", names.base)),
        }
    }

    /// An address below the base, which may end with a slash.
    pub(crate) fn address(&self, below: &[&str]) -> Url {
        let mut address = self.base.clone();
        if let Ok(mut path) = address.path_segments_mut() {
            path.pop_if_empty().extend(below);
        }
        address
    }
}
