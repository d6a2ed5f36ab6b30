//! Amazon Bedrock's `ConverseStream`, through the AWS SDK.
//!
//! - `request_body`: serializes the request
//! - `families`: the restrictions of each vendor's models
//! - `exchange`: replaces the body of the SDK's request and bounds the response
//! - `answer`: parses the response
//! - `faults`: maps errors to failure codes
//! - `images`: draws pictures

mod answer;
mod exchange;
mod families;
mod faults;
mod images;
pub(crate) mod request_body;

use std::{collections::VecDeque, sync::Arc};

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_bedrockruntime::{
    Client,
    config::{Builder, StalledStreamProtectionConfig, retry::RetryConfig, timeout::TimeoutConfig},
    primitives::{Blob, event_stream::EventReceiver},
    types::{ConverseStreamOutput, error::ConverseStreamOutputError},
};
use futures::{
    FutureExt, Stream, StreamExt,
    future::{BoxFuture, ready},
    stream,
};
use smartspace_domain::runs::FailureCode;
use tokio::sync::OnceCell;

use self::{answer::ResponseReader, exchange::Exchange, request_body::RequestBody};
use crate::{
    adaptations::Adaptations,
    http,
    port::{Drawing, ImageRequest, Model, ModelError, Piece, Pieces, Request, estimate},
};

pub(crate) const NO_REGION: &str = "the provider bedrock has no AWS region: \
    set AWS_REGION, or `region` in the profile that AWS_PROFILE names";

/// The models of one region. Clones share one client, which the first request creates.
#[derive(Clone)]
pub struct Bedrock(Arc<Lazy>);

struct Lazy {
    config: Box<dyn Fn() -> BoxFuture<'static, SdkConfig> + Send + Sync>,
    client: OnceCell<Client>,
    adaptations: Adaptations,
}

impl Bedrock {
    /// Uses this configuration except for its timeouts and retries. The first request reports
    /// missing settings.
    pub fn with(config: SdkConfig) -> Self {
        Self::lazily(move || ready(config.clone()).boxed())
    }

    /// Loads the configuration at the first request, because loading may take a while.
    pub fn lazily(
        config: impl Fn() -> BoxFuture<'static, SdkConfig> + Send + Sync + 'static,
    ) -> Self {
        let adaptations = Adaptations::default();
        Self(Arc::new(Lazy { config: Box::new(config), client: OnceCell::new(), adaptations }))
    }

    /// Asks a model once, without a stream.
    pub(crate) async fn invoke(&self, model: &str, body: Blob) -> Result<Blob, ModelError> {
        let json = "application/json";
        let ask = self.client().await?.invoke_model().model_id(model).body(body);
        let answer = ask.content_type(json).accept(json).send().await;
        Ok(answer.map_err(|error| faults::unanswered(&error))?.body)
    }

    async fn client(&self) -> Result<&Client, ModelError> {
        self.0.client.get_or_try_init(async || client(&(self.0.config)().await)).await
    }
}

fn client(config: &SdkConfig) -> Result<Client, ModelError> {
    if config.region().is_none() {
        return Err(ModelError::new(FailureCode::NotConfigured, NO_REGION));
    }
    // The caller retries and limits the wait. A model may take longer than any other call to AWS.
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
        let client = self.client().await?;
        let body = RequestBody::new(request);
        let mut adapted = self.0.adaptations.adapt(&request.model, &body);
        let answer = loop {
            let body = serde_json::to_vec(&adapted.body()?).map_err(|error| {
                let text = format!("the request could not be made: {error}");
                ModelError::new(FailureCode::BadRequest, text)
            })?;
            let ask = client.converse_stream().model_id(&request.model.name);
            match ask.customize().interceptor(Exchange::new(body)).send().await {
                Ok(answer) => break answer,
                Err(error) => adapted.obey(faults::refusal(&error))?,
            }
        };
        Ok(pieces(answer.stream, ResponseReader::new(estimate::request_tokens(request))).boxed())
    }

    async fn draw(&self, request: &ImageRequest) -> Result<Drawing, ModelError> {
        images::draw(self, request).await
    }
}

type Events = EventReceiver<ConverseStreamOutput, ConverseStreamOutputError>;

struct Reading {
    events: Events,
    answer: ResponseReader,
    ready: VecDeque<Piece>,
    has_ended: bool,
}

/// The pieces of an answer. The stream ends with the last piece or with an error.
fn pieces(
    events: Events,
    answer: ResponseReader,
) -> impl Stream<Item = Result<Piece, ModelError>> + Send {
    let reading = Reading { events, answer, ready: VecDeque::new(), has_ended: false };
    stream::unfold(Some(reading), |reading| async move {
        let mut reading = reading?;
        loop {
            if let Some(piece) = reading.ready.pop_front() {
                return Some((Ok(piece), Some(reading)));
            }
            if reading.has_ended {
                return None;
            }
            if let Err(error) = reading.read_event().await {
                return Some((Err(error), None));
            }
        }
    })
}

impl Reading {
    /// Makes the pieces of the next event ready, or the last ones if no event follows.
    async fn read_event(&mut self) -> Result<(), ModelError> {
        if self.answer.is_over() {
            return self.end();
        }
        match self.events.recv().await {
            Ok(Some(event)) => {
                let pieces = self.answer.take(event).map_err(faults::broken)?;
                // Hidden reasoning produces no pieces, but it is not silence.
                let alive = pieces.is_empty().then(|| Piece::Text(String::new()));
                self.ready.extend(pieces.into_iter().chain(alive));
                Ok(())
            }
            // If the connection breaks after the end of the content, only token counts are lost.
            Err(error) if !self.answer.is_complete() => Err(faults::in_stream(&error)),
            Ok(None) | Err(_) => self.end(),
        }
    }

    fn end(&mut self) -> Result<(), ModelError> {
        let last = self.answer.finish().map_err(faults::broken)?;
        self.ready.extend(self.answer.opaque().map(Piece::Opaque));
        self.ready.push_back(last);
        self.has_ended = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
