//! Amazon Bedrock's `ConverseStream`, through the AWS SDK.
//!
//! `question` writes the request, and `answer` makes pieces of what comes back. Besides them: `families` (what each maker's models take),
//! `exchange` (puts the question into the SDK's request and bounds the answer), `faults` (sorts what goes wrong).

mod answer;
mod exchange;
mod families;
mod faults;
mod question;

use std::{collections::VecDeque, sync::Arc};

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_bedrockruntime::{
    Client,
    config::{Builder, StalledStreamProtectionConfig, retry::RetryConfig, timeout::TimeoutConfig},
    primitives::event_stream::EventReceiver,
    types::{ConverseStreamOutput, error::ConverseStreamOutputError},
};
use futures::{
    FutureExt, Stream, StreamExt,
    future::{BoxFuture, ready},
    stream,
};
use smartspace_domain::runs::FailureCode;
use tokio::sync::OnceCell;

use self::{answer::Answer, exchange::Exchange, question::Question};
use crate::{
    estimate, http,
    port::{Model, ModelError, Piece, Pieces, Request},
};

pub(crate) const NO_REGION: &str =
    "the provider bedrock knows no AWS region: set AWS_REGION, or `region` in the profile that AWS_PROFILE names";

/// Models of one region. Clones share one client, which is made at the first question.
#[derive(Clone)]
pub struct Bedrock(Arc<Lazy>);

struct Lazy {
    config: Box<dyn Fn() -> BoxFuture<'static, SdkConfig> + Send + Sync>,
    client: OnceCell<Client>,
}

impl Bedrock {
    /// With the settings of whoever starts us, but for time limits and repeats. What is missing is told when it is asked.
    pub fn with(config: SdkConfig) -> Self {
        Self::lazily(move || ready(config.clone()).boxed())
    }

    /// With settings that are looked for at the first question, since that may take a while.
    pub fn lazily(config: impl Fn() -> BoxFuture<'static, SdkConfig> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Lazy { config: Box::new(config), client: OnceCell::new() }))
    }

    async fn client(&self) -> Result<&Client, ModelError> {
        self.0.client.get_or_try_init(async || client(&(self.0.config)().await)).await
    }
}

fn client(config: &SdkConfig) -> Result<Client, ModelError> {
    if config.region().is_none() {
        return Err(ModelError::new(FailureCode::NotConfigured, NO_REGION));
    }
    // Whoever asks repeats and bounds the wait, and a model may think for longer than any other call to AWS takes.
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(http::CONNECT_TIMEOUT)
        .disable_read_timeout()
        .disable_operation_timeout()
        .disable_operation_attempt_timeout()
        .build();
    let config = Builder::from(config)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    Ok(Client::from_conf(config.build()))
}

#[async_trait]
impl Model for Bedrock {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let question = serde_json::to_vec(&Question::new(request))
            .map_err(|error| ModelError::new(FailureCode::BadRequest, format!("the request could not be made: {error}")))?;
        let ask = self.client().await?.converse_stream().model_id(&request.model.name);
        let answer = ask.customize().interceptor(Exchange::new(question)).send().await.map_err(|error| faults::unanswered(&error))?;
        Ok(pieces(answer.stream, Answer::new(estimate::characters(request))).boxed())
    }
}

type Events = EventReceiver<ConverseStreamOutput, ConverseStreamOutputError>;

struct Reading {
    events: Events,
    answer: Answer,
    ready: VecDeque<Piece>,
}

/// The pieces of an answer until it is complete, or until what went wrong.
fn pieces(events: Events, answer: Answer) -> impl Stream<Item = Result<Piece, ModelError>> + Send {
    stream::unfold(Some(Reading { events, answer, ready: VecDeque::new() }), |reading| async move {
        let mut reading = reading?;
        loop {
            if let Some(piece) = reading.ready.pop_front() {
                return Some((Ok(piece), Some(reading)));
            }
            match reading.go_on().await {
                Ok(None) => {}
                Ok(Some(last)) => return Some((Ok(last), None)),
                Err(error) => return Some((Err(error), None)),
            }
        }
    })
}

impl Reading {
    /// Takes the next event; the last piece, where there is none to take.
    async fn go_on(&mut self) -> Result<Option<Piece>, ModelError> {
        if self.answer.is_over() {
            return self.answer.finish().map_err(faults::broken).map(Some);
        }
        match self.events.recv().await {
            Ok(Some(event)) => {
                let pieces = self.answer.take(event).map_err(faults::broken)?;
                // A model that thinks where nobody sees it is not silent.
                let alive = pieces.is_empty().then(|| Piece::Text(String::new()));
                self.ready.extend(pieces.into_iter().chain(alive));
                Ok(None)
            }
            // What breaks behind the answer's end has taken nothing but the count of tokens.
            Err(error) if !self.answer.is_complete() => Err(faults::in_stream(&error)),
            Ok(None) | Err(_) => self.answer.finish().map_err(faults::broken).map(Some),
        }
    }
}

#[cfg(test)]
mod tests;
