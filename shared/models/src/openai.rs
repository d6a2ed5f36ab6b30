//! Chat completions of `OpenAI`, and of whatever speaks like it, as a stream.
//!
//! `question` writes the request, `events` reads server-sent events, `answer` makes pieces of them, and `refusals` sorts all
//! that can go wrong and keeps the key out of its texts.

mod answer;
mod events;
mod question;
mod refusals;

use std::collections::VecDeque;

use async_trait::async_trait;
use futures::{Stream, StreamExt, stream};
use reqwest::{Client, Url, header::ACCEPT};
use smartspace_domain::runs::FailureCode;

use self::{answer::Answer, events::Event, question::Question, refusals::Refusals};
use crate::{
    estimate,
    port::{Model, ModelError, Piece, Pieces, Request},
};

const OPENAI: &str = "https://api.openai.com/v1";

/// Chat completions at one address.
pub struct OpenAi {
    http: Client,
    access: Result<Access, ModelError>,
}

struct Access {
    address: Url,
    key: Option<String>,
    /// `OpenAI`'s own servers; others know less.
    native: bool,
}

impl OpenAi {
    /// `base` is `OpenAI`'s own where it is left out, and may end with a slash. Only another base may go without a key. What is missing
    /// is told when it is asked.
    pub fn new(http: Client, key: Option<String>, base: Option<&str>) -> Self {
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let base = base.map(str::trim).filter(|base| !base.is_empty());
        Self { http, access: Access::new(key, base) }
    }
}

impl Access {
    fn new(key: Option<String>, base: Option<&str>) -> Result<Self, ModelError> {
        let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
        if key.is_none() && base.is_none() {
            return missing("the provider openai has no key here: set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that needs none");
        }
        if key.as_ref().is_some_and(|key| !key.chars().all(|c| c.is_ascii_graphic())) {
            return missing("OPENAI_API_KEY holds characters that no key has");
        }
        let mut address = match Url::parse(base.unwrap_or(OPENAI)) {
            Ok(address) if matches!(address.scheme(), "http" | "https") => address,
            _ => return missing("OPENAI_BASE_URL is not an http or https address"),
        };
        if let Ok(mut path) = address.path_segments_mut() {
            path.pop_if_empty().extend(["chat", "completions"]);
        }
        let native = address.host_str() == Some("api.openai.com");
        Ok(Self { address, key, native })
    }
}

#[async_trait]
impl Model for OpenAi {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let access = self.access.as_ref().map_err(Clone::clone)?;
        let refusals = Refusals::new(access.key.clone());
        let mut post = self.http.post(access.address.clone()).header(ACCEPT, "text/event-stream");
        if let Some(key) = &access.key {
            post = post.bearer_auth(key);
        }
        let response = post.json(&Question::new(request, access.native)).send().await.map_err(|error| refusals.unsent(error))?;
        if !response.status().is_success() {
            return Err(refusals.of_response(response).await);
        }
        let answer = Answer::new(estimate::characters(request));
        Ok(pieces(events::read(response.bytes_stream()), answer, refusals).boxed())
    }
}

struct Reading<S> {
    events: S,
    answer: Answer,
    refusals: Refusals,
    ready: VecDeque<Piece>,
}

enum Outcome {
    Goes,
    Ended,
}

/// The pieces of an answer until it is complete, or until what went wrong.
fn pieces(
    events: impl Stream<Item = Result<Event, String>> + Send + Unpin,
    answer: Answer,
    refusals: Refusals,
) -> impl Stream<Item = Result<Piece, ModelError>> + Send {
    let reading = Reading { events, answer, refusals, ready: VecDeque::new() };
    stream::unfold(Some(reading), |reading| async move {
        let mut reading = reading?;
        loop {
            if let Some(piece) = reading.ready.pop_front() {
                return Some((Ok(piece), Some(reading)));
            }
            let event = reading.events.next().await;
            match reading.take(event) {
                Ok(Outcome::Goes) => {}
                Ok(Outcome::Ended) => {
                    let end = reading.answer.finish().map_err(|text| reading.refusals.broken(text));
                    return Some((end, None));
                }
                Err(error) => return Some((Err(error), None)),
            }
        }
    })
}

impl<S> Reading<S> {
    fn take(&mut self, event: Option<Result<Event, String>>) -> Result<Outcome, ModelError> {
        match event {
            Some(Ok(Event::SignOfLife)) => self.ready.push_back(Piece::Text(String::new())),
            Some(Ok(Event::Data { is_error: true, data })) => return Err(self.refusals.of_event(&data)),
            Some(Ok(Event::Data { data, .. })) if data.trim() == "[DONE]" => return Ok(Outcome::Ended),
            Some(Ok(Event::Data { data, .. })) => {
                let chunk = serde_json::from_str(&data).map_err(|_| self.refusals.of_event(&data))?;
                self.ready.extend(self.answer.take(chunk).map_err(|error| self.refusals.of_error(&error))?);
            }
            // A connection that breaks behind the answer's end has taken nothing but the count of tokens.
            None => return Ok(Outcome::Ended),
            Some(Err(_)) if self.answer.is_complete() => return Ok(Outcome::Ended),
            Some(Err(text)) => return Err(self.refusals.broken(&text)),
        }
        Ok(Outcome::Goes)
    }
}

#[cfg(test)]
mod provider;
#[cfg(test)]
mod tests;
