//! The table, the queues and the sockets on AWS, and what secrets hold.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use aws_config::{BehaviorVersion, SdkConfig, timeout::TimeoutConfig};
use serde::Deserialize;
use smartspace_domain::agents::is_secret_name;
use smartspace_edges::{
    bell::NoBell,
    clock::SystemClock,
    ids::{Ids, RandomIds},
    queues::SqsQueue,
    secrets::{KnownSecrets, Secret},
    sockets::{ApiGatewaySockets, Sockets},
};
use smartspace_models::{Models, Settings, http, limits::Limits};
use smartspace_pipeline::Pipeline;
use smartspace_store::Store;

use crate::{Error, config::Config};

/// One try of a call to AWS; the SDK and the store repeat.
const ATTEMPT: Duration = Duration::from_secs(3);

/// What a function is built from.
#[derive(Debug)]
pub struct Aws {
    /// Its environment.
    pub config: Config,
    /// The table and the queues.
    pub pipeline: Pipeline,
    sdk: SdkConfig,
}

/// The stack's secret.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Secrets {
    /// The operator's key.
    pub admin_key: String,
    /// What signs the tokens of a deployment without an identity provider.
    #[serde(default)]
    pub jwt_secret: Option<String>,
    /// A key for models that speak like OpenAI's.
    #[serde(default, rename = "OPENAI_API_KEY")]
    pub openai_key: Option<String>,
    /// A key for Anthropic's models.
    #[serde(default, rename = "ANTHROPIC_API_KEY")]
    pub anthropic_key: Option<String>,
    /// All that tools and webhooks may name.
    #[serde(skip)]
    pub known: KnownSecrets,
}

/// A secret as the stack's secret holds it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Held {
    Value(String),
    Bound { value: String, hosts: Option<Vec<String>> },
}

/// What of the stack's secret tools and webhooks may name. Names only are told of what can't be used.
fn known(all: &BTreeMap<String, serde_json::Value>) -> KnownSecrets {
    let secret = |(name, held): (&String, &serde_json::Value)| {
        let (value, hosts) = match serde_json::from_value(held.clone()).ok()? {
            Held::Value(value) => (value, None),
            Held::Bound { value, hosts } => (value, hosts),
        };
        match Secret::new(value, hosts) {
            Ok(secret) => Some((name.clone(), secret)),
            Err(error) => {
                tracing::warn!(name, error, "a secret can't be used by tools");
                None
            }
        }
    };
    KnownSecrets::new(all.iter().filter(|(name, _)| is_secret_name(name)).filter_map(secret).collect())
}

impl Aws {
    /// Reads the environment and makes the clients.
    pub async fn new() -> Result<Self, Error> {
        let config = Config::from_env()?;
        let timeouts = TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT).build();
        let sdk = aws_config::defaults(BehaviorVersion::latest()).timeout_config(timeouts).load().await;
        let sqs = aws_sdk_sqs::Client::new(&sdk);
        let store =
            Store::new(aws_sdk_dynamodb::Client::new(&sdk), config.table.as_str(), config.keep_runs, Arc::new(|| RandomIds.random()));
        let pipeline = Pipeline {
            store,
            runs: Arc::new(SqsQueue::new(sqs.clone(), config.runs_queue.clone())),
            broadcasts: Arc::new(SqsQueue::new(sqs.clone(), config.broadcasts_queue.clone())),
            triggers: Arc::new(SqsQueue::new(sqs, config.triggers_queue.clone())),
            bell: Arc::new(NoBell),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        };
        Ok(Self { config, pipeline, sdk })
    }

    /// The connections of browsers.
    pub fn sockets(&self) -> Arc<dyn Sockets> {
        let config = aws_sdk_apigatewaymanagement::config::Builder::from(&self.sdk).endpoint_url(&self.config.socket_endpoint).build();
        Arc::new(ApiGatewaySockets::new(aws_sdk_apigatewaymanagement::Client::from_conf(config)))
    }

    /// A client for deliveries of the runs queue.
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        aws_sdk_sqs::Client::new(&self.sdk)
    }

    /// Reads the stack's secret.
    pub async fn secrets(&self) -> Result<Secrets, Error> {
        let client = aws_sdk_secretsmanager::Client::new(&self.sdk);
        let secret = client.get_secret_value().secret_id(&self.config.secret).send().await?;
        // The text of a JSON error would show the secret.
        let wrong = |_| Error::from("the stack's secret is not the JSON that is expected");
        let text = secret.secret_string().unwrap_or_default();
        let secrets: Secrets = serde_json::from_str(text).map_err(wrong)?;
        Ok(Secrets { known: known(&serde_json::from_str(text).map_err(wrong)?), ..secrets })
    }

    /// The models, with the keys of the secret.
    pub fn models(&self, secrets: &Secrets) -> Result<Models, Error> {
        Ok(Models::new(Settings {
            openai_key: secrets.openai_key.clone().filter(|key| !key.is_empty()),
            openai_base_url: self.config.openai_base_url.clone(),
            anthropic_key: secrets.anthropic_key.clone().filter(|key| !key.is_empty()),
            anthropic_base_url: self.config.anthropic_base_url.clone(),
            limits: Limits::default(),
            http: http::client().build()?,
        }))
    }
}
