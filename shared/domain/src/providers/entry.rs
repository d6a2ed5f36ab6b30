//! One provider's server and credentials, as the operator writes them.

use std::{cell::RefCell, collections::BTreeMap, fmt};

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{ProviderApi, ProviderName, own_servers};
use crate::{
    errors::Faults,
    headers::{check_headers, check_text},
    templates::{self, PlaceholderValues, TemplatePosition},
};

/// Headers of every request to a model. An entry may not set them.
const OUR_HEADERS: [&str; 2] = ["accept", "content-type"];

/// The server of a provider, and how requests to it are authenticated.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderEntry {
    /// What the server speaks.
    pub api: ProviderApi,
    /// The address of the API. The default is the API's own, which needs a key.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The key; it may be `${secret.NAME}`.
    #[serde(default)]
    pub key: Option<String>,
    /// The header that carries the key alone. The default is the API's own way.
    #[serde(default)]
    pub key_header: Option<String>,
    /// More headers of each request. Their values may hold `${secret.NAME}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether the server is the deployment's own. The default depends on its address.
    #[serde(default)]
    own: Option<bool>,
    /// How many answers the server writes at once: 2 for a server of the deployment's own, else 64,
    /// in each process.
    #[serde(default)]
    max_concurrent: Option<u32>,
    /// Texts that no error may show: filled by [`Self::resolved`].
    #[serde(skip)]
    pub hidden: Vec<String>,
    /// Why a secret of the entry can't be used: filled by [`Self::resolved`].
    #[serde(skip)]
    pub fault: Option<String>,
}

impl ProviderEntry {
    /// The entry of a provider that exists without one: the API's own server, without a key.
    pub fn of(api: ProviderApi) -> Self {
        Self {
            api,
            base_url: None,
            key: None,
            key_header: None,
            headers: BTreeMap::new(),
            own: None,
            max_concurrent: None,
            hidden: Vec::new(),
            fault: None,
        }
    }

    /// The same entry with another key and base URL. An empty text counts as not set.
    #[must_use]
    pub fn with(self, key: Option<&str>, base_url: Option<&str>) -> Self {
        let set = |text: Option<&str>| {
            text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        Self { key: set(key), base_url: set(base_url), ..self }
    }

    /// The address of the API. Providers that are not called over HTTP have none, and neither has
    /// an entry whose `baseUrl` is no http or https address.
    pub fn address(&self) -> Option<Url> {
        let own = match self.api {
            ProviderApi::Openai => "https://api.openai.com/v1",
            ProviderApi::Anthropic => "https://api.anthropic.com",
            ProviderApi::Bedrock | ProviderApi::Scripted => return None,
        };
        let address = Url::parse(self.base_url.as_deref().unwrap_or(own)).ok()?;
        (matches!(address.scheme(), "http" | "https") && address.has_host()).then_some(address)
    }

    /// Whether the server is the deployment's own.
    pub fn is_own(&self) -> bool {
        let is_local = || self.address().is_some_and(|address| own_servers::is_local(&address));
        self.own.unwrap_or_else(is_local)
    }

    /// How many answers the server writes at once. Further requests wait in this process. A script
    /// is played without a server.
    pub fn max_concurrent(&self) -> u32 {
        let default = match self.api {
            ProviderApi::Scripted => u32::MAX,
            _ if self.is_own() => 2,
            _ => 64,
        };
        self.max_concurrent.unwrap_or(default)
    }

    /// Whether every request fails for want of a key. Only a server that `baseUrl` names may need
    /// none, and `bedrock` and scripts have no key of their own.
    pub fn lacks_key(&self) -> bool {
        let has_server = matches!(self.api, ProviderApi::Openai | ProviderApi::Anthropic);
        let has_key = self.key.as_deref().is_some_and(|key| !key.trim().is_empty());
        has_server && (self.fault.is_some() || !has_key && self.base_url.is_none())
    }

    pub(super) fn check(&self, name: &ProviderName, faults: &mut Faults) {
        let has_server = matches!(self.api, ProviderApi::Openai | ProviderApi::Anthropic);
        faults.check(has_server, "api", "expected openai or anthropic");
        for api in [ProviderApi::Bedrock, ProviderApi::Scripted] {
            faults.check(!name.is(api), "", "expected another name: this provider has no server");
        }
        for api in [ProviderApi::Openai, ProviderApi::Anthropic] {
            let fits = !name.is(api) || self.api == api;
            faults.check(fits, "api", format!("expected {name}, as this provider's name says"));
        }
        let is_plain = self.base_url.as_ref().is_none_or(|base| !base.contains("${"));
        faults.check(
            !has_server || is_plain && self.address().is_some(),
            "baseUrl",
            "expected an http or https address like https://models.example.com/v1",
        );
        if let Some(key) = &self.key {
            check_text(key, TemplatePosition::WithoutInput, "key", faults);
        }
        if let Some(header) = &self.key_header {
            faults.check(self.key.is_some(), "keyHeader", "expected a key besides");
            let alone = BTreeMap::from([(header.clone(), String::new())]);
            check_headers(&alone, TemplatePosition::WithoutInput, faults);
        }
        if let Some(most) = &self.max_concurrent {
            faults.check_range(most, 1..=1_000, "maxConcurrent");
        }
        check_headers(&self.headers, TemplatePosition::WithoutInput, faults);
        for header in self.headers.keys().chain(&self.key_header) {
            let is_ours = OUR_HEADERS.iter().any(|ours| ours.eq_ignore_ascii_case(header));
            let text = "expected another header: Smartspace sets this one";
            faults.within("headers", |faults| faults.check(!is_ours, header, text));
        }
    }

    /// The same entry with its secrets filled in.
    pub(super) fn resolved(&self, secret: &dyn Fn(&str, &str) -> Result<String, String>) -> Self {
        let Some(address) = self.address() else { return self.clone() };
        let host = address.host_str().unwrap_or_default();
        let hidden = RefCell::new(Vec::new());
        let noted = |name: &str| {
            let value = secret(name, host)?;
            hidden.borrow_mut().push(value.clone());
            Ok(value)
        };
        let values = PlaceholderValues { input: &Value::Null, secret: &noted };
        let filled = |text: &String| Ok(templates::header(text, &values)?.unwrap_or_default());
        let key = self.key.as_ref().map(filled).transpose();
        let headers = self
            .headers
            .iter()
            .map(|(name, text)| Ok((name.clone(), filled(text)?)))
            .collect::<Result<BTreeMap<_, _>, String>>();
        match (key, headers) {
            (Ok(key), Ok(headers)) => {
                Self { key, headers, hidden: hidden.into_inner(), ..self.clone() }
            }
            (Err(fault), _) | (_, Err(fault)) => {
                let headers = BTreeMap::new();
                Self { key: None, headers, fault: Some(fault), ..self.clone() }
            }
        }
    }
}

/// Shows no credentials.
impl fmt::Debug for ProviderEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.address().and_then(|address| address.host_str().map(str::to_owned));
        f.debug_struct("ProviderEntry")
            .field("api", &self.api)
            .field("host", &host)
            .finish_non_exhaustive()
    }
}
