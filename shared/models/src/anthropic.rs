//! Streamed messages, from Anthropic and from servers with a compatible API.
//!
//! `request_body` serializes the request, and `answer` parses the response.

pub(crate) mod answer;
pub(crate) mod request_body;

use async_trait::async_trait;
use futures::StreamExt;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, HeaderValue},
};
use serde::Serialize;
use smartspace_domain::runs::FailureCode;

use self::{answer::ResponseReader, request_body::RequestBody};
use crate::{
    access::{Access, CredentialNames, invalid_key},
    adaptations::Adaptations,
    events,
    port::{Model, ModelError, Pieces, Request, estimate},
    reading,
    refusals::{Refusal, Refusals},
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
    adaptations: Adaptations,
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
        let adaptations = Adaptations::default();
        Self { http, endpoint: Endpoint::new(key, base), adaptations }
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

impl Endpoint {
    /// Sends a request. Returns the response of a request that is not refused, and what reads the
    /// errors in it.
    async fn post(
        &self,
        http: &Client,
        body: &impl Serialize,
    ) -> Result<(Response, Refusals), Refusal> {
        let refusals = Refusals::new(self.key.as_ref().map(|key| key.text.clone()), MARK);
        let mut post = http
            .post(self.address.clone())
            .header(ACCEPT, "text/event-stream")
            .header("anthropic-version", VERSION);
        if let Some(key) = &self.key {
            post = post.header("x-api-key", key.header.clone());
        }
        let response = post.json(body).send().await.map_err(|error| refusals.unsent(error))?;
        if !response.status().is_success() {
            return Err(refusals.of_response(response).await);
        }
        Ok((response, refusals))
    }
}

#[async_trait]
impl Model for Anthropic {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let endpoint = self.endpoint.as_ref().map_err(Clone::clone)?;
        let body = RequestBody::new(request);
        let mut adapted = self.adaptations.adapt(&request.model, &body);
        let (response, refusals) = loop {
            match endpoint.post(&self.http, &adapted.body()?).await {
                Ok(answer) => break answer,
                Err(refusal) => adapted.obey(refusal)?,
            }
        };
        let reader = ResponseReader::new(estimate::request_tokens(request));
        Ok(reading::pieces(events::read(response.bytes_stream()), reader, refusals).boxed())
    }
}

#[cfg(test)]
mod tests;
