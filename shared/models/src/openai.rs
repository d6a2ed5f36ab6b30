//! Streamed chat completions, from `OpenAI` and from servers with a compatible API.
//!
//! `request_body` serializes the request, and `answer` parses the response. `images` draws
//! pictures.

pub(crate) mod answer;
mod images;
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
    port::{Drawing, ImageRequest, Model, ModelError, Pieces, Request, estimate},
    reading,
    refusals::{Refusal, Refusals},
};

/// A field that every chunk of an answer has.
pub(crate) const MARK: &str = "choices";

/// Chat completions at one address.
pub struct OpenAi {
    http: Client,
    endpoint: Result<Endpoint, ModelError>,
    adaptations: Adaptations,
}

struct Endpoint {
    access: Access,
    /// Whether the server is `OpenAI`'s own. Other servers support fewer fields.
    native: bool,
}

impl OpenAi {
    /// The provider of an entry, whose base URL may end with a slash. The first request reports
    /// missing settings.
    pub fn new(http: Client, name: &ProviderName, entry: &ProviderEntry) -> Self {
        let adaptations = Adaptations::default();
        Self { http, endpoint: Endpoint::new(name, entry), adaptations }
    }
}

impl Endpoint {
    fn new(name: &ProviderName, entry: &ProviderEntry) -> Result<Self, ModelError> {
        let access = Access::new(name, entry)?;
        let native = access.base.host_str() == Some("api.openai.com");
        Ok(Self { access, native })
    }
}

impl OpenAi {
    /// Sends a request. Returns the response of a request that is not refused, and what reads the
    /// errors in it.
    pub(crate) async fn post(
        &self,
        path: &[&str],
        accept: &'static str,
        id: &str,
        body: &impl Serialize,
    ) -> Result<(Response, Refusals), Refusal> {
        let Endpoint { access, .. } = self.endpoint.as_ref().map_err(Clone::clone)?;
        let refusals = access.refusals(MARK);
        let mut post = access.post(&self.http, path).header(ACCEPT, accept);
        if !id.is_empty() {
            // OpenAI finds a request by this, so that a failed run can be followed up with it.
            post = post.header("x-client-request-id", id);
        }
        let response = post.json(body).send().await.map_err(|error| refusals.unsent(error))?;
        if !response.status().is_success() {
            return Err(refusals.of_response(response).await);
        }
        Ok((response, refusals))
    }
}

#[async_trait]
impl Model for OpenAi {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let native = self.endpoint.as_ref().map_err(Clone::clone)?.native;
        let body = RequestBody::new(request, native);
        let path = ["chat", "completions"];
        let mut adapted = self.adaptations.adapt(&request.model, &body);
        let (response, refusals) = loop {
            let body = adapted.body()?;
            match self.post(&path, "text/event-stream", &request.id, &body).await {
                Ok(answer) => break answer,
                Err(refusal) => adapted.obey(refusal)?,
            }
        };
        let reader = ResponseReader::new(estimate::request_tokens(request));
        Ok(reading::pieces(events::read(response.bytes_stream()), reader, refusals).boxed())
    }

    async fn draw(&self, request: &ImageRequest) -> Result<Drawing, ModelError> {
        images::draw(self, request).await
    }
}

#[cfg(test)]
mod tests;
