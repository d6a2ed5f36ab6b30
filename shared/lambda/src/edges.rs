//! The table, the queues, the alarms and the sockets on AWS: one client for each service, made at init.

use std::{sync::Arc, time::Duration};

use aws_config::{
    BehaviorVersion, Region, SdkConfig, environment::EnvironmentVariableCredentialsProvider, retry::RetryConfig, timeout::TimeoutConfig,
};
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, rustls_provider::CryptoMode},
};
use smartspace_edges::{
    alarms::SqsAndSchedulerAlarms,
    bell::NoBell,
    clock::SystemClock,
    ids::{Ids, RandomIds},
    queues::SqsQueue,
    sockets::{ApiGatewaySockets, Sockets},
};
use smartspace_models::{Models, Settings, bedrock::Bedrock, http, limits::Limits};
use smartspace_pipeline::Pipeline;
use smartspace_store::Store;

use crate::{
    Error,
    batch::Queue,
    config::Config,
    failure::Failure,
    log,
    secret::{Contents, StackSecret},
};

/// One try of a call to AWS; the SDK and the store repeat.
const ATTEMPT: Duration = Duration::from_secs(3);
/// How long a frame that found no room waits at first, and then twice as long each time.
const FRAME_WAITS: Duration = Duration::from_millis(40);

/// What a function is built from.
#[derive(Debug)]
pub struct Aws {
    /// Its environment.
    pub config: Config,
    /// The table, the queues and the alarms.
    pub pipeline: Pipeline,
    sdk: SdkConfig,
    sqs: aws_sdk_sqs::Client,
}

impl Aws {
    /// Reads the environment, begins to log, and makes the clients. Nothing is asked of anybody yet.
    pub fn start() -> Result<Self, Error> {
        let config = match Config::from_env() {
            Ok(config) => config,
            Err(error) => {
                log::start("info", None);
                tracing::error!(event = "not_configured", %error, "the function can't start");
                return Err(error.into());
            }
        };
        log::start(&config.log, config.stack.clone());
        let sdk = sdk(&config);
        let sqs = aws_sdk_sqs::Client::new(&sdk);
        let store =
            Store::new(aws_sdk_dynamodb::Client::new(&sdk), config.table.as_str(), config.keep_runs, Arc::new(|| RandomIds.random()));
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
            bell: Arc::new(NoBell),
            clock,
            ids: Arc::new(RandomIds),
            is_rate_limited: true,
        };
        Ok(Self { config, pipeline, sdk, sqs })
    }

    /// The connections of browsers.
    pub fn sockets(&self) -> Arc<dyn Sockets> {
        let config = aws_sdk_apigatewaymanagement::config::Builder::from(&self.sdk).endpoint_url(&self.config.socket_endpoint);
        // A frame has a second. What is refused for want of room, which all APIs of an account share, would else be tried again only after it.
        let tries = RetryConfig::standard().with_max_attempts(4).with_initial_backoff(FRAME_WAITS).with_max_backoff(FRAME_WAITS * 8);
        Arc::new(ApiGatewaySockets::new(aws_sdk_apigatewaymanagement::Client::from_conf(config.retry_config(tries).build())))
    }

    /// The runs queue, as its worker holds deliveries of it.
    pub fn runs_queue(&self) -> Queue {
        Queue { client: self.sqs.clone(), url: self.config.runs_queue.clone() }
    }

    /// The stack's secret.
    pub fn secret(&self) -> StackSecret {
        StackSecret::new(aws_sdk_secretsmanager::Client::new(&self.sdk), self.config.secret.clone())
    }

    /// Amazon Bedrock, in this region and with this function's role.
    pub fn bedrock(&self) -> Bedrock {
        Bedrock::with(self.sdk.clone())
    }
}

/// What all clients share. Lambda's credentials stand in the environment: the chain that looks for them elsewhere would make each function larger.
fn sdk(config: &Config) -> SdkConfig {
    let mut sdk = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(config.region.clone()))
        .credentials_provider(SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new()))
        .timeout_config(TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT).build())
        // One for all: root certificates are read once.
        .http_client(Builder::new().tls_provider(Provider::Rustls(CryptoMode::AwsLc)).build_https());
    sdk.set_endpoint_url(config.endpoint.clone());
    sdk.build()
}

/// The models, with the keys that the secret holds.
pub fn models(config: &Config, secret: &Contents, bedrock: Bedrock) -> Result<Models, Failure> {
    Ok(Models::new(Settings {
        openai_key: secret.openai_key.clone().filter(|key| !key.is_empty()),
        openai_base_url: config.openai_base_url.clone(),
        anthropic_key: secret.anthropic_key.clone().filter(|key| !key.is_empty()),
        anthropic_base_url: config.anthropic_base_url.clone(),
        bedrock,
        limits: Limits::default(),
        http: http::client().build().map_err(Failure::not_configured)?,
    }))
}
