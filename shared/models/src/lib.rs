//! The model port and its providers.
//!
//! - [`port`]: the trait [`port::Model`], its requests for texts and pictures, their files and
//!   token estimates, and the pieces of an answer
//! - [`scripted`]: plays a script that is part of the configuration
//! - [`openai`]: `OpenAI`'s chat completions, and servers with a compatible API
//! - [`anthropic`]: Anthropic's Messages API
//! - `bedrock`: all models on Amazon Bedrock, through the AWS SDK; in a build without it,
//!   [`no_bedrock`] refuses each request
//! - `turns`, `calls`: the conversation of a request as every server takes it
//! - `access`, `events`, `fields`, `reading`, `refusals`: shared by the providers over HTTP
//! - `client`: how many answers of one provider are under way, and what its server may take
//! - `adaptations`: repeats a request without a field that the model refuses
//! - `reasoning`: how much a model is asked to think
//! - `forced_tool`: an answer that must be the call of one tool
//! - `json_speech`: models that answer in JSON instead of calling tools
//! - [`file_support`]: which models take images and PDFs
//! - [`limits`]: time limits of an answer
//! - [`retry`]: which model to ask next after an error
//! - [`partial_json`]: extracts a text from JSON that is still being written
//! - [`http`]: the HTTP client for the providers
//!
//! [`Models`] holds the providers and sends each request to the provider that it names. It never
//! retries: the caller does, with [`retry::Tries`].
//!
//! `docs/internals/models.md` describes the providers.

mod access;
mod adaptations;
pub mod anthropic;
#[cfg(feature = "bedrock")]
pub mod bedrock;
mod calls;
mod client;
mod events;
mod fields;
pub mod file_support;
mod forced_tool;
pub mod http;
mod json_speech;
pub mod limits;
pub mod no_bedrock;
pub mod openai;
pub mod partial_json;
pub mod port;
#[cfg(test)]
mod properties;
mod reading;
mod reasoning;
mod refusals;
pub mod retry;
pub mod scripted;
mod turns;

#[cfg(test)]
mod provider;
#[cfg(test)]
mod samples;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use smartspace_domain::{
    agents::ModelConfig,
    providers::{ProviderApi, ProviderEntry, ProviderName, Providers},
    runs::{FailureCode, Usage},
    steps::FinishReason,
};

use crate::{
    anthropic::Anthropic,
    client::Client,
    limits::Limits,
    openai::OpenAi,
    port::{DRAWING_LIMIT, Drawing, ImageRequest, Model, ModelError, Piece, Pieces, Request},
    scripted::Scripted,
};

/// Configuration of the providers. It has no `Debug`, because it contains API keys.
#[derive(Clone)]
pub struct Settings {
    /// The providers of the deployment, with their secrets.
    pub providers: Providers,
    /// Amazon Bedrock, which uses AWS credentials instead of an API key, or
    /// [`no_bedrock::NoBedrock`].
    pub bedrock: Arc<dyn Model>,
    /// Time limits of each answer.
    pub limits: Limits,
    /// Built from [`http::client`]. Bedrock doesn't use it: the AWS SDK has its own client.
    pub http: reqwest::Client,
}

/// All providers, with the same time limits.
pub struct Models {
    limits: Limits,
    /// One client for each provider, so that each has its own connections and settings.
    clients: BTreeMap<ProviderName, Client>,
    providers: Providers,
    /// The context windows that providers have named in refusals, by the names of the models.
    windows: Mutex<BTreeMap<String, u32>>,
}

impl Models {
    /// Never fails: a provider that lacks a setting reports this at its first request.
    pub fn new(settings: Settings) -> Self {
        let client = |(name, entry): (&ProviderName, &ProviderEntry)| {
            let http = settings.http.clone();
            let model: Arc<dyn Model> = match entry.api {
                ProviderApi::Openai => Arc::new(OpenAi::new(http, name, entry)),
                ProviderApi::Anthropic => Arc::new(Anthropic::new(http, name, entry)),
                ProviderApi::Bedrock => Arc::clone(&settings.bedrock),
                ProviderApi::Scripted => Arc::new(Scripted::default()),
            };
            (name.clone(), Client::new(model, entry.max_concurrent(), entry.is_own()))
        };
        let clients = settings.providers.iter().map(client).collect();
        Self {
            limits: settings.limits,
            clients,
            providers: settings.providers,
            windows: Mutex::default(),
        }
    }

    /// The request with an answer that fits into the context window beside the prompt: some servers
    /// count both together. A window that the server has named leaves a quarter for the answer.
    fn fitting<'a>(&self, request: &'a Request) -> Cow<'a, Request> {
        let ModelConfig { max_output_tokens, context_window, .. } = request.model;
        let named = self.windows().get(&request.model.full_name()).copied();
        let window = named.unwrap_or(context_window).min(context_window);
        let quarter = (window / 4).max(1);
        let together = || u64::from(max_output_tokens) + request.estimated_tokens();
        if max_output_tokens <= quarter || named.is_none() && together() <= u64::from(window) {
            return Cow::Borrowed(request);
        }
        let model = ModelConfig { max_output_tokens: quarter, ..request.model.clone() };
        Cow::Owned(Request { model, ..request.clone() })
    }

    fn windows(&self) -> MutexGuard<'_, BTreeMap<String, u32>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request once, as its model speaks.
    async fn send(&self, request: &Request) -> Result<Pieces, ModelError> {
        let client = self.client(&request.model.provider)?;
        if json_speech::is_asked(request) {
            let rewritten = json_speech::rewritten(request);
            return client.ask(self.limits, &rewritten).await.map(json_speech::read);
        }
        let answer = client.ask(self.limits, request).await;
        match &request.forced_tool {
            Some(forced) => answer.map(|pieces| forced_tool::read(pieces, forced.name.clone())),
            None => answer,
        }
    }

    /// The client of a provider. The configuration may have lost it since an agent chose it.
    fn client(&self, name: &ProviderName) -> Result<&Client, ModelError> {
        let missing = || ModelError::new(FailureCode::NotConfigured, self.providers.missing(name));
        self.clients.get(name).ok_or_else(missing)
    }
}

#[async_trait]
impl Model for Models {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let fitting = self.fitting(request);
        let mut answer = self.send(&fitting).await;
        if let Err(ModelError { window: Some(window), .. }) = &answer {
            self.windows().insert(request.model.full_name(), *window);
            // The prompt may fit beside a shorter answer.
            let shorter = self.fitting(request);
            if shorter.model.max_output_tokens < fitting.model.max_output_tokens
                && request.estimated_tokens() < u64::from(*window)
            {
                answer = self.send(&shorter).await;
            }
        }
        match answer {
            Ok(pieces) => Ok(pieces.map(|piece| piece.or_else(refusal)).boxed()),
            Err(error) => Ok(stream::iter([Ok(refusal(error)?)]).boxed()),
        }
    }

    fn window(&self, model: &ModelConfig) -> Option<u32> {
        let windows = self.windows();
        windows.get(&model.full_name()).copied().filter(|window| *window < model.context_window)
    }

    fn must_wait(&self, model: &ModelConfig) -> bool {
        self.clients.get(&model.provider).is_some_and(Client::is_full)
    }

    fn is_on_own_server(&self, model: &ModelConfig) -> bool {
        self.providers.get(&model.provider).is_some_and(ProviderEntry::is_own)
    }

    fn server_of(&self, model: &ModelConfig) -> Option<String> {
        let address = self.providers.get(&model.provider)?.address()?;
        address.host_str().map(str::to_owned)
    }

    async fn draw(&self, request: &ImageRequest) -> Result<Drawing, ModelError> {
        let drawing = self.client(&request.provider)?.draw(request);
        let late = |_| {
            let text = format!("the picture took longer than {DRAWING_LIMIT:?}");
            ModelError::new(FailureCode::BrokenStream, text)
        };
        tokio::time::timeout(DRAWING_LIMIT, drawing).await.map_err(late)?
    }

    fn longest_answer(&self) -> std::time::Duration {
        self.limits.total
    }
}

/// Turns an error by which a provider's filter refuses into the end of an answer. Other providers
/// answer so.
fn refusal(error: ModelError) -> Result<Piece, ModelError> {
    match error.code {
        FailureCode::Refused => {
            Ok(Piece::Finished { reason: FinishReason::Refusal, usage: Usage::default() })
        }
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        provider::{Provider, Reply},
        samples,
    };

    /// Providers of which `openai` is at this address.
    fn models_at(address: &str) -> Models {
        let entry = ProviderEntry::of(ProviderApi::Openai);
        models(Providers::default().with_default(entry.with(Some("key"), Some(address))))
    }

    fn models(providers: Providers) -> Models {
        Models::new(Settings {
            providers,
            bedrock: Arc::new(no_bedrock::NoBedrock),
            limits: Limits::default(),
            http: http::client().no_proxy().build().unwrap(),
        })
    }

    async fn ask(provider: &str) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
        let models = models(Providers::default());
        let script = serde_json::from_value(json!({"rules": []})).unwrap();
        let request = Request {
            model: ModelConfig {
                provider: provider.parse().unwrap(),
                script: (provider == "scripted").then_some(script),
                ..samples::request().model
            },
            tools: [].into(),
            ..samples::request()
        };
        Ok(models.ask(&request).await?.collect().await)
    }

    #[tokio::test]
    async fn a_request_goes_to_its_provider() {
        let usage = Usage { input_tokens: 5, ..Usage::default() };
        assert_eq!(
            ask("scripted").await,
            Ok(vec![Ok(Piece::Finished { reason: FinishReason::Stop, usage })])
        );
        let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
        let no_key = "the provider openai has no API key: set OPENAI_API_KEY, \
            or set OPENAI_BASE_URL to a server that needs no key";
        assert_eq!(ask("openai").await, missing(no_key));
        let no_key = "the provider anthropic has no API key: set ANTHROPIC_API_KEY, \
            or set ANTHROPIC_BASE_URL to a server that needs no key";
        assert_eq!(ask("anthropic").await, missing(no_key));
        assert_eq!(ask("bedrock").await, missing(no_bedrock::NO_BEDROCK));
        let unknown = "expected a provider of this deployment \
            (anthropic, bedrock, openai, scripted), got groq";
        assert_eq!(ask("groq").await, missing(unknown));
    }

    /// vLLM counts the prompt and the longest answer together.
    #[tokio::test]
    async fn an_answer_is_shorter_where_the_window_is_small() {
        let words = "This model's maximum context length is 4096 tokens. However, you requested \
            5818 tokens (1722 in the messages, 4096 in the completion).";
        let refusal = json!({"error": {"message": words, "code": 400}}).to_string();
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        let provider =
            Provider::answering(move |body: &serde_json::Value| {
                match body["max_tokens"].as_u64() {
                    Some(most) if most > 2_374 => Reply::refusal(400, &refusal),
                    _ => Reply::events(&format!("data: {end}\n\ndata: [DONE]\n\n")),
                }
            })
            .await;
        let models = models_at(&provider.address);
        let asked = async |context_window, max_output_tokens| {
            let model = samples::request().model;
            let model = ModelConfig { context_window, max_output_tokens, ..model };
            models.ask(&Request { model, ..samples::request() }).await.is_ok()
        };
        assert!(asked(4_096, 4_096).await, "a window that is configured");
        assert!(asked(200_000, 100_000).await, "a window that the server names");
        assert!(asked(200_000, 4_096).await, "and that is known then");
        assert!(asked(200_000, 100).await);
        let received = provider.received();
        let sent: Vec<_> = received.iter().map(|it| it.body["max_tokens"].clone()).collect();
        assert_eq!(sent, [1_024, 100_000, 1_024, 1_024, 100]);
    }

    #[tokio::test]
    async fn a_filter_that_refuses_with_an_error_is_a_refusal_of_the_model() {
        let error = json!({"error": {"message": "The response was filtered.", "param": "prompt",
            "code": "content_filter", "status": 400}});
        let begun = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I\"}}]}\n\n";
        let cut = Reply::events(&format!("{begun}data: {error}\n\n"));
        for reply in [Reply::refusal(400, &error.to_string()), cut] {
            let provider = Provider::start(reply).await;
            let models = models_at(&provider.address);
            let pieces = models.ask(&samples::request()).await.unwrap();
            let last = pieces.collect::<Vec<_>>().await.pop();
            let usage = Usage::default();
            assert_eq!(last, Some(Ok(Piece::Finished { reason: FinishReason::Refusal, usage })));
        }
    }
}
