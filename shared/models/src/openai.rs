//! Streamed chat completions, from `OpenAI` and from servers with a compatible API.
//!
//! `request_body` serializes the request, and `answer` parses the response.

pub(crate) mod answer;
mod request_body;

use async_trait::async_trait;
use futures::StreamExt;
use reqwest::{Client, Url, header::ACCEPT};

use self::{answer::ResponseReader, request_body::RequestBody};
use crate::{
    access::{Access, CredentialNames},
    estimate, events,
    port::{Model, ModelError, Pieces, Request},
    reading,
    refusals::Refusals,
};

const NAMES: CredentialNames = CredentialNames {
    provider: "openai",
    key: "OPENAI_API_KEY",
    base: "OPENAI_BASE_URL",
    own_base: "https://api.openai.com/v1",
};
/// A field that every chunk of an answer has.
pub(crate) const MARK: &str = "choices";

/// Chat completions at one address.
pub struct OpenAi {
    http: Client,
    endpoint: Result<Endpoint, ModelError>,
}

struct Endpoint {
    address: Url,
    key: Option<String>,
    /// Whether the server is `OpenAI`'s own. Other servers support fewer fields.
    native: bool,
}

impl OpenAi {
    /// Without `base` it uses `OpenAI`'s own API, which needs a key. Any other base works without a
    /// key too, and may end with a slash. The first request reports missing settings.
    pub fn new(http: Client, key: Option<String>, base: Option<&str>) -> Self {
        Self { http, endpoint: Endpoint::new(key, base) }
    }
}

impl Endpoint {
    fn new(key: Option<String>, base: Option<&str>) -> Result<Self, ModelError> {
        let access = Access::new(&NAMES, key, base)?;
        let address = access.address(&["chat", "completions"]);
        let native = address.host_str() == Some("api.openai.com");
        Ok(Self { address, key: access.key, native })
    }
}

#[async_trait]
impl Model for OpenAi {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let endpoint = self.endpoint.as_ref().map_err(Clone::clone)?;
        let refusals = Refusals::new(endpoint.key.clone(), MARK);
        let mut post = self.http.post(endpoint.address.clone()).header(ACCEPT, "text/event-stream");
        if let Some(key) = &endpoint.key {
            post = post.bearer_auth(key);
        }
        if !request.id.is_empty() {
            // OpenAI finds a request by this, so that a failed run can be followed up with it.
            post = post.header("x-client-request-id", &request.id);
        }
        let response = post
            .json(&RequestBody::new(request, endpoint.native))
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
