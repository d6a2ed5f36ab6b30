//! The table, queues, alarms and sockets on AWS, with one client per service. All are created in
//! the init phase.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use aws_config::{
    BehaviorVersion, Region, SdkConfig, environment::EnvironmentVariableCredentialsProvider,
    retry::RetryConfig, timeout::TimeoutConfig,
};
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, rustls_provider::CryptoMode},
};
use smartspace_domain::runs::FailureCode;
use smartspace_models::{
    Models, Settings,
    bedrock::Bedrock,
    http,
    limits::Limits,
    port::{Model, ModelError, Pieces, Request},
};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    alarms::SqsAndSchedulerAlarms,
    cancel_signal::NoCancelSignal,
    clock::SystemClock,
    files::{NoFiles, S3Files},
    ids::{IdSource, RandomIds},
    otlp::{self, ExportError, OtlpExporter, OtlpSettings, TraceExporter},
    queues::SqsQueue,
    sockets::{ApiGatewaySockets, Sockets},
    trace,
};
use smartspace_store::{CurrentTrace, Store};

use crate::{
    Error,
    batch::Queue,
    config::Config,
    failure::Failure,
    secret::{Built, Contents, StackSecret},
};

/// The time limit for one attempt of a call to AWS. The SDK and the store retry.
const ATTEMPT: Duration = Duration::from_secs(3);
/// The first wait before a throttled frame is sent again. Each further wait is twice as long.
const FRAME_WAITS: Duration = Duration::from_millis(40);

/// The parts that a function is built from.
#[derive(Debug)]
pub struct Aws {
    pub config: Config,
    /// The table, queues and alarms.
    pub pipeline: Pipeline,
    sdk: SdkConfig,
    sqs: aws_sdk_sqs::Client,
}

impl Aws {
    /// Reads the environment, starts the log and creates the clients. It sends no request.
    pub fn start() -> Result<Self, Error> {
        let config = Config::start()?;
        let sdk = sdk(&config);
        let sqs = aws_sdk_sqs::Client::new(&sdk);
        let store = Store::new(
            aws_sdk_dynamodb::Client::new(&sdk),
            config.table.as_str(),
            config.keep_runs,
            Arc::new(|| RandomIds.random()),
        )
        .with_budget(config.budget)
        .with_prices(Arc::clone(&config.prices))
        .with_file_limits(config.file_limits)
        .with_router_model(config.router_model.is_some())
        .with_traces(config.otlp.as_ref().map(|_| Arc::new(trace::current_or_new) as CurrentTrace));
        let clock = Arc::new(SystemClock);
        let alarms = SqsAndSchedulerAlarms {
            sqs: sqs.clone(),
            queue: config.triggers_queue.clone(),
            scheduler: aws_sdk_scheduler::Client::new(&sdk),
            schedules: config.schedules.clone(),
            clock: clock.clone(),
        };
        let pipeline = Pipeline {
            store,
            runs: Arc::new(SqsQueue::new(sqs.clone(), config.runs_queue.clone())),
            broadcasts: Arc::new(SqsQueue::new(sqs.clone(), config.broadcasts_queue.clone())),
            triggers: Arc::new(SqsQueue::new(sqs.clone(), config.triggers_queue.clone())),
            alarms: Arc::new(alarms),
            cancel_signal: Arc::new(NoCancelSignal),
            clock,
            files: Arc::new(NoFiles),
            ids: Arc::new(RandomIds),
            is_rate_limited: true,
        };
        Ok(Self { config, pipeline, sdk, sqs })
    }

    /// Also reaches the storage of files. Only functions that need it contain its client.
    #[must_use]
    pub fn with_files(mut self) -> Self {
        let config = aws_sdk_s3::config::Builder::from(&self.sdk)
            // An emulator has no host name for each bucket.
            .force_path_style(self.config.endpoint.is_some())
            .build();
        let client = aws_sdk_s3::Client::from_conf(config);
        let Config { region, endpoint, attachments_bucket: bucket, .. } = &self.config;
        let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
        let of_bucket = || format!("https://{bucket}.s3.{region}.amazonaws.com{suffix}");
        let origin = endpoint.clone().unwrap_or_else(of_bucket);
        let clock = self.pipeline.clock.clone();
        self.pipeline.files = Arc::new(S3Files::new(client, bucket.clone(), origin, clock));
        self
    }

    /// The WebSocket connections of clients.
    pub fn sockets(&self) -> Arc<dyn Sockets> {
        let config = aws_sdk_apigatewaymanagement::config::Builder::from(&self.sdk)
            .endpoint_url(&self.config.socket_endpoint);
        // A frame must be sent within a second. All APIs of an account share a rate limit, and with
        // the usual waits a throttled frame would be sent again only after that second.
        let retries = RetryConfig::standard()
            .with_max_attempts(4)
            .with_initial_backoff(FRAME_WAITS)
            .with_max_backoff(FRAME_WAITS * 8);
        Arc::new(ApiGatewaySockets::new(aws_sdk_apigatewaymanagement::Client::from_conf(
            config.retry_config(retries).build(),
        )))
    }

    /// The runs queue, for keeping deliveries from other workers.
    pub fn runs_queue(&self) -> Queue {
        Queue { client: self.sqs.clone(), url: self.config.runs_queue.clone() }
    }

    /// The secrets that this function may read.
    pub fn secret(&self) -> StackSecret {
        let client = aws_sdk_secretsmanager::Client::new(&self.sdk);
        StackSecret::new(client, self.config.secrets.clone())
    }

    /// Amazon Bedrock in this region, with this function's role.
    pub fn bedrock(&self) -> Bedrock {
        Bedrock::with(self.sdk.clone())
    }
}

/// The settings that all clients share. Lambda puts credentials into the environment. The default
/// chain, which also looks elsewhere, would make each function larger.
fn sdk(config: &Config) -> SdkConfig {
    let mut sdk = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(config.region.clone()))
        .credentials_provider(SharedCredentialsProvider::new(
            EnvironmentVariableCredentialsProvider::new(),
        ))
        .timeout_config(TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT).build())
        // One HTTP client for all services, so that root certificates are read once.
        .http_client(
            Builder::new().tls_provider(Provider::Rustls(CryptoMode::AwsLc)).build_https(),
        );
    sdk.set_endpoint_url(config.endpoint.clone());
    sdk.build()
}

/// The models, with their keys from the stack's secrets.
pub fn models(config: &Config, secret: &Contents, bedrock: Bedrock) -> Result<Models, Failure> {
    Ok(Models::new(Settings {
        providers: secret.fill_in(&config.providers),
        bedrock: Arc::new(bedrock),
        limits: Limits::default(),
        http: http::client().build().map_err(Failure::not_configured)?,
    }))
}

/// The models for the function that asks routers: the secret is read at the first question.
pub fn models_when_asked(config: Config, secret: StackSecret, bedrock: Bedrock) -> Arc<dyn Model> {
    let build = move |secret: &Contents| {
        warn_of_keyless_router(&config, secret);
        models(&config, secret, bedrock.clone())
    };
    Arc::new(WhenAsked(Built::new(secret, build)))
}

/// Says in the log if the router model of the deployment has a provider without a key. Then every
/// message that asks it triggers every agent.
fn warn_of_keyless_router(config: &Config, secret: &Contents) {
    let providers = secret.fill_in(&config.providers);
    if let Some(model) = config.router_model.as_ref().filter(|it| it.provider_lacks_key(&providers))
    {
        tracing::warn!(
            event = "router_without_key",
            model = model.full_name(),
            "routers can't be asked, so each of their messages triggers every agent: the provider \
             of ROUTER_MODEL has no key"
        );
    }
}

struct WhenAsked(Built<Models>);

#[async_trait]
impl Model for WhenAsked {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let models = self.0.get().await.map_err(|failure| {
            // The failure names resources of the account, and members read a router's error.
            tracing::error!(event = "unusable_secret", error = %failure, "no model can be asked");
            ModelError::new(FailureCode::Overloaded, "the models can't be asked at this moment")
        })?;
        models.ask(request).await
    }
}

/// The collector of traces, for a function that seldom exports one: the secret, which may hold its
/// headers, is read at the first export.
pub fn exporter_when_asked(settings: OtlpSettings, secret: StackSecret) -> Arc<dyn TraceExporter> {
    let sign = settings
        .xray_region()
        .map(|region| otlp::signer(region.to_owned(), |name| std::env::var(name).ok()));
    let build = move |secret: &Contents| {
        let headers = secret.otlp_headers.as_deref().unwrap_or_default();
        let settings = settings.clone().with_headers(otlp::HEADERS, headers);
        let settings = settings.map_err(Failure::not_configured)?;
        Ok(OtlpExporter::new(settings, sign.clone()))
    };
    Arc::new(ExporterWhenAsked(Built::new(secret, build)))
}

struct ExporterWhenAsked(Built<OtlpExporter>);

#[async_trait]
impl TraceExporter for ExporterWhenAsked {
    async fn export(&self, traces: String) -> Result<(), ExportError> {
        let exporter = self.0.get().await;
        let exporter = exporter
            .map_err(|failure| ExportError { text: failure.to_string(), may_pass: true })?;
        exporter.export(traces).await
    }
}
