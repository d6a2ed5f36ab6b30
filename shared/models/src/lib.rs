//! The model port and its providers.
//!
//! - [`port`]: what is asked, and the pieces of an answer
//! - [`scripted`]: plays a script; [`openai`]: chat completions, and whatever speaks like it; [`anthropic`]: Anthropic's messages
//! - [`bedrock`]: all models on Amazon Bedrock, through the AWS SDK
//! - `access`, `events`, `reading`, `refusals`, `calls`: what those that are asked over HTTP share
//! - [`limits`]: how long a model may be silent; [`retry`]: who is asked next after an error
//! - [`partial_json`]: shows a text while a model writes it
//! - [`http`]: the client that providers are asked with
//!
//! [`Models`] holds the providers and asks the one that a request names. It asks once: whoever repeats, does it by [`retry::Tries`].

mod access;
pub mod anthropic;
pub mod bedrock;
mod calls;
mod estimate;
mod events;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod http;
pub mod limits;
pub mod openai;
pub mod partial_json;
pub mod port;
mod reading;
mod refusals;
pub mod retry;
pub mod scripted;

#[cfg(test)]
mod provider;
#[cfg(test)]
mod samples;

use async_trait::async_trait;
use smartspace_domain::agents::Provider;

use crate::{
    anthropic::Anthropic,
    bedrock::Bedrock,
    limits::Limits,
    openai::OpenAi,
    port::{Model, ModelError, Pieces, Request},
    scripted::Scripted,
};

/// What the providers need. It holds keys, so it can't be printed.
#[derive(Clone)]
pub struct Settings {
    /// `OPENAI_API_KEY`.
    pub openai_key: Option<String>,
    /// `OPENAI_BASE_URL`, with or without a slash at its end; `OpenAI`'s own where it is left out.
    pub openai_base_url: Option<String>,
    /// `ANTHROPIC_API_KEY`.
    pub anthropic_key: Option<String>,
    /// `ANTHROPIC_BASE_URL`, with or without a slash or `/v1` at its end; Anthropic's own where it is left out.
    pub anthropic_base_url: Option<String>,
    /// Amazon Bedrock, which has no key of ours.
    pub bedrock: Bedrock,
    /// Time limits of each answer.
    pub limits: Limits,
    /// Built from [`http::client`]; the AWS SDK has its own.
    pub http: reqwest::Client,
}

/// All providers, under the same limits.
pub struct Models {
    limits: Limits,
    scripted: Scripted,
    openai: OpenAi,
    anthropic: Anthropic,
    bedrock: Bedrock,
}

impl Models {
    /// A provider that lacks something tells so when it is asked.
    pub fn new(settings: Settings) -> Self {
        let Settings { openai_key, openai_base_url, anthropic_key, anthropic_base_url, bedrock, limits, http } = settings;
        Self {
            limits,
            scripted: Scripted,
            openai: OpenAi::new(http.clone(), openai_key, openai_base_url.as_deref()),
            anthropic: Anthropic::new(http, anthropic_key, anthropic_base_url.as_deref()),
            bedrock,
        }
    }
}

#[async_trait]
impl Model for Models {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let model: &dyn Model = match request.model.provider {
            Provider::Scripted => &self.scripted,
            Provider::Openai => &self.openai,
            Provider::Anthropic => &self.anthropic,
            Provider::Bedrock => &self.bedrock,
        };
        self.limits.ask(model, request).await
    }

    fn longest_answer(&self) -> std::time::Duration {
        self.limits.total
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use serde_json::json;
    use smartspace_domain::{
        agents::ModelConfig,
        runs::{FailureCode, Usage},
        steps::FinishReason,
    };

    use super::*;
    use crate::{port::Piece, samples};

    async fn ask(provider: Provider) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
        let http = http::client().no_proxy().build().unwrap();
        let models = Models::new(Settings {
            openai_key: None,
            openai_base_url: None,
            anthropic_key: None,
            anthropic_base_url: None,
            bedrock: Bedrock::with(aws_config::SdkConfig::builder().build()),
            limits: Limits::default(),
            http,
        });
        let script = serde_json::from_value(json!({"rules": []})).unwrap();
        let request = Request {
            model: ModelConfig { provider, script: (provider == Provider::Scripted).then_some(script), ..samples::request().model },
            tools: [].into(),
            ..samples::request()
        };
        Ok(models.ask(&request).await?.collect().await)
    }

    #[tokio::test]
    async fn a_request_goes_to_its_provider() {
        let usage = Usage { input_tokens: 5, ..Usage::default() };
        assert_eq!(ask(Provider::Scripted).await, Ok(vec![Ok(Piece::Finished { reason: FinishReason::Stop, usage })]));
        let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
        let no_key = "the provider openai has no key here: set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that needs none";
        assert_eq!(ask(Provider::Openai).await, missing(no_key));
        let no_key = "the provider anthropic has no key here: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL to a server that needs none";
        assert_eq!(ask(Provider::Anthropic).await, missing(no_key));
        assert_eq!(ask(Provider::Bedrock).await, missing(bedrock::NO_REGION));
    }
}
