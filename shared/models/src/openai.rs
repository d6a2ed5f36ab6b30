//! Chat completions of `OpenAI`, and of whatever speaks like it, as a stream.
//!
//! `question` writes the request, and `answer` makes pieces of what comes back.

pub(crate) mod answer;
mod question;

use async_trait::async_trait;
use futures::StreamExt;
use reqwest::{Client, Url, header::ACCEPT};

use self::{answer::Answer, question::Question};
use crate::{
    access::{Access, Names},
    estimate, events,
    port::{Model, ModelError, Pieces, Request},
    reading,
    refusals::Refusals,
};

const NAMES: Names = Names { provider: "openai", key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL", own_base: "https://api.openai.com/v1" };
/// What every chunk of an answer has.
pub(crate) const MARK: &str = "choices";

/// Chat completions at one address.
pub struct OpenAi {
    http: Client,
    endpoint: Result<Endpoint, ModelError>,
}

struct Endpoint {
    address: Url,
    key: Option<String>,
    /// `OpenAI`'s own servers; others know less.
    native: bool,
}

impl OpenAi {
    /// `base` is `OpenAI`'s own where it is left out, and may end with a slash. Only another base may go without a key. What is missing
    /// is told when it is asked.
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
        let response = post.json(&Question::new(request, endpoint.native)).send().await.map_err(|error| refusals.unsent(error))?;
        if !response.status().is_success() {
            return Err(refusals.of_response(response).await);
        }
        let answer = Answer::new(estimate::characters(request));
        Ok(reading::pieces(events::read(response.bytes_stream()), answer, refusals).boxed())
    }
}

#[cfg(test)]
mod tests;
