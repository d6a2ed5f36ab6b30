//! Streamed messages, from Anthropic and from servers with a compatible API.
//!
//! `request_body` serializes the request, and `answer` parses the response.

pub(crate) mod answer;
mod request_body;

use async_trait::async_trait;
use futures::StreamExt;
use reqwest::{
    Client, Url,
    header::{ACCEPT, HeaderValue},
};
use smartspace_domain::runs::FailureCode;

use self::{answer::ResponseReader, request_body::RequestBody};
use crate::{
    access::{Access, CredentialNames, invalid_key},
    events,
    port::{Model, ModelError, Pieces, Request, estimate},
    reading,
    refusals::Refusals,
};

const NAMES: CredentialNames = CredentialNames {
    provider: "anthropic",
    key: "ANTHROPIC_API_KEY",
    base: "ANTHROPIC_BASE_URL",
    own_base: "https://api.anthropic.com",
};
/// The version of the API, which every request must name.
const VERSION: &str = "2023-06-01";
/// A field that every event of an answer has.
pub(crate) const MARK: &str = "type";

/// Messages at one address.
pub struct Anthropic {
    http: Client,
    endpoint: Result<Endpoint, ModelError>,
}

struct Endpoint {
    address: Url,
    key: Option<Key>,
}

struct Key {
    text: String,
    header: HeaderValue,
}

impl Anthropic {
    /// Without `base` it uses Anthropic's own API, which needs a key. Any other base works without
    /// a key too, and may end with a slash or with `/v1`. The first request reports missing
    /// settings.
    pub fn new(http: Client, key: Option<String>, base: Option<&str>) -> Self {
        Self { http, endpoint: Endpoint::new(key, base) }
    }
}

impl Endpoint {
    fn new(key: Option<String>, base: Option<&str>) -> Result<Self, ModelError> {
        let access = Access::new(&NAMES, key, base)?;
        // Anthropic's own clients expect a base without `/v1`, others expect it with `/v1`.
        let versioned = access.base.path().trim_end_matches('/').ends_with("/v1");
        let address = access.address(if versioned { &["messages"] } else { &["v1", "messages"] });
        Ok(Self { address, key: access.key.map(Key::new).transpose()? })
    }
}

impl Key {
    fn new(text: String) -> Result<Self, ModelError> {
        let invalid = |_| ModelError::new(FailureCode::NotConfigured, invalid_key(&NAMES));
        let mut header = HeaderValue::from_str(&text).map_err(invalid)?;
        header.set_sensitive(true);
        Ok(Self { text, header })
    }
}

#[async_trait]
impl Model for Anthropic {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let endpoint = self.endpoint.as_ref().map_err(Clone::clone)?;
        let refusals = Refusals::new(endpoint.key.as_ref().map(|key| key.text.clone()), MARK);
        let mut post = self
            .http
            .post(endpoint.address.clone())
            .header(ACCEPT, "text/event-stream")
            .header("anthropic-version", VERSION);
        if let Some(key) = &endpoint.key {
            post = post.header("x-api-key", key.header.clone());
        }
        let response = post
            .json(&RequestBody::new(request))
            .send()
            .await
            .map_err(|error| refusals.unsent(error))?;
        if !response.status().is_success() {
            return Err(refusals.of_response(response).await);
        }
        let reader = ResponseReader::new(estimate::request_tokens(request));
        Ok(reading::pieces(events::read(response.bytes_stream()), reader, refusals).boxed())
    }
}

#[cfg(test)]
mod tests;
