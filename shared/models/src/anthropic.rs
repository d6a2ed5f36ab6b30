//! Streamed messages, from Anthropic and from servers with a compatible API.
//!
//! `request_body` serializes the request, and `answer` parses the response.

pub(crate) mod answer;
pub(crate) mod request_body;

use async_trait::async_trait;
use futures::StreamExt;
use reqwest::{Client, Response, header::ACCEPT};
use serde::Serialize;
use smartspace_domain::providers::{ProviderEntry, ProviderName};

use self::{answer::ResponseReader, request_body::RequestBody};
use crate::{
    access::Access,
    adaptations::Adaptations,
    events,
    port::{Model, ModelError, Pieces, Request, estimate},
    reading,
    refusals::{Refusal, Refusals},
};

/// The version of the API, which every request must name.
const VERSION: &str = "2023-06-01";
/// A field that every event of an answer has.
pub(crate) const MARK: &str = "type";

/// Messages at one address.
pub struct Anthropic {
    http: Client,
    access: Result<Access, ModelError>,
    adaptations: Adaptations,
}

impl Anthropic {
    /// The provider of an entry, whose base URL may end with a slash or with `/v1`. The first
    /// request reports missing settings.
    pub fn new(http: Client, name: &ProviderName, entry: &ProviderEntry) -> Self {
        Self { http, access: Access::new(name, entry), adaptations: Adaptations::default() }
    }
}

/// Anthropic's own clients expect a base without `/v1`, others expect it with `/v1`.
fn path(access: &Access) -> &'static [&'static str] {
    let is_versioned = access.base.path().trim_end_matches('/').ends_with("/v1");
    if is_versioned { &["messages"] } else { &["v1", "messages"] }
}

impl Anthropic {
    /// Sends a request. Returns the response of a request that is not refused, and what reads the
    /// errors in it.
    async fn post(
        &self,
        access: &Access,
        body: &impl Serialize,
    ) -> Result<(Response, Refusals), Refusal> {
        let refusals = access.refusals(MARK);
        let post = access
            .post(&self.http, path(access))
            .header(ACCEPT, "text/event-stream")
            .header("anthropic-version", VERSION);
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
        let access = self.access.as_ref().map_err(Clone::clone)?;
        let body = RequestBody::new(request);
        let mut adapted = self.adaptations.adapt(&request.model, &body);
        let (response, refusals) = loop {
            match self.post(access, &adapted.body()?).await {
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
