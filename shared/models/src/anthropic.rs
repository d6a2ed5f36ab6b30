//! Anthropic's messages, and whatever speaks like them, as a stream.
//!
//! `question` writes the request, and `answer` makes pieces of what comes back.

pub(crate) mod answer;
mod question;

use async_trait::async_trait;
use futures::StreamExt;
use reqwest::{
    Client, Url,
    header::{ACCEPT, HeaderValue},
};
use smartspace_domain::runs::FailureCode;

use self::{answer::Answer, question::Question};
use crate::{
    access::{Access, Names},
    estimate, events,
    port::{Model, ModelError, Pieces, Request},
    reading,
    refusals::Refusals,
};

const NAMES: Names =
    Names { provider: "anthropic", key: "ANTHROPIC_API_KEY", base: "ANTHROPIC_BASE_URL", own_base: "https://api.anthropic.com" };
/// The API's version, which its every request names.
const VERSION: &str = "2023-06-01";
/// What every event of an answer has.
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
    /// `base` is Anthropic's own where it is left out, and may end with a slash or with `/v1`. Only another base may go without a key.
    /// What is missing is told when it is asked.
    pub fn new(http: Client, key: Option<String>, base: Option<&str>) -> Self {
        Self { http, endpoint: Endpoint::new(key, base) }
    }
}

impl Endpoint {
    fn new(key: Option<String>, base: Option<&str>) -> Result<Self, ModelError> {
        let access = Access::new(&NAMES, key, base)?;
        // Anthropic's own clients are given the base without it; those of others with it.
        let versioned = access.base.path().trim_end_matches('/').ends_with("/v1");
        let address = access.address(if versioned { &["messages"] } else { &["v1", "messages"] });
        Ok(Self { address, key: access.key.map(Key::new).transpose()? })
    }
}

impl Key {
    fn new(text: String) -> Result<Self, ModelError> {
        let odd = |_| ModelError::new(FailureCode::NotConfigured, format!("{} holds characters that no key has", NAMES.key));
        let mut header = HeaderValue::from_str(&text).map_err(odd)?;
        header.set_sensitive(true);
        Ok(Self { text, header })
    }
}

#[async_trait]
impl Model for Anthropic {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let endpoint = self.endpoint.as_ref().map_err(Clone::clone)?;
        let refusals = Refusals::new(endpoint.key.as_ref().map(|key| key.text.clone()), MARK);
        let mut post = self.http.post(endpoint.address.clone()).header(ACCEPT, "text/event-stream").header("anthropic-version", VERSION);
        if let Some(key) = &endpoint.key {
            post = post.header("x-api-key", key.header.clone());
        }
        let response = post.json(&Question::new(request)).send().await.map_err(|error| refusals.unsent(error))?;
        if !response.status().is_success() {
            return Err(refusals.of_response(response).await);
        }
        let answer = Answer::new(estimate::characters(request));
        Ok(reading::pieces(events::read(response.bytes_stream()), answer, refusals).boxed())
    }
}

#[cfg(test)]
mod tests;
