//! The stack's secrets. They are read at the first use and again every few minutes, so that a
//! change takes effect without a deployment.
//!
//! There is one secret per need ([`Part`]), and a function reads no more than it needs: `run`,
//! which talks to models and tools, can read neither the operator's key nor the one that signs
//! tokens.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use aws_sdk_secretsmanager::{Client, error::DisplayErrorContext};
use futures::future::try_join_all;
use serde::Deserialize;
use serde_json::Value;
use smartspace_domain::{
    names::SecretName,
    providers::{ProviderApi, ProviderEntry, Providers},
};
use smartspace_ports::{
    otlp,
    secrets::{KnownSecrets, Secret, Secrets, SecretsError},
};
use tokio::{sync::Mutex, time::Instant};

use crate::{failure::Failure, log};

/// How long the contents are used before they are read again.
const FRESH: Duration = Duration::from_mins(5);
/// The delay before the next attempt after a failed read. Until then the previous contents are
/// used.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// One of the stack's secrets. Each is a JSON object with entries of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `adminKey`, the operator's key. Only `api` reads it.
    Admin,
    /// `jwtSecret`, which signs tokens. Only `api` reads it.
    Token,
    /// `callbackKey`, the keys of models, and what tools and webhooks may refer to.
    Keys,
}

impl Part {
    /// Whether the entry with this name counts in this secret. In another one it is ignored, so
    /// that each key is where only its readers find it.
    fn holds(self, name: &str) -> bool {
        match self {
            Self::Admin => name == ADMIN_KEY,
            Self::Token => name == JWT_SECRET,
            Self::Keys => name != ADMIN_KEY && name != JWT_SECRET,
        }
    }
}

const ADMIN_KEY: &str = "adminKey";
const JWT_SECRET: &str = "jwtSecret";
const CALLBACK_KEY: &str = "callbackKey";

/// The contents of the secrets that a function reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    /// The operator's key, for a function that reads [`Part::Admin`].
    #[serde(default)]
    pub admin_key: Option<String>,
    /// The key that signs tokens in a deployment without an identity provider, for a function that
    /// reads [`Part::Token`].
    #[serde(default)]
    pub jwt_secret: Option<String>,
    /// The key of the tokens with which remote agents answer.
    pub callback_key: String,
    /// The API key for models with OpenAI's protocol.
    #[serde(default, rename = "OPENAI_API_KEY")]
    pub openai_key: Option<String>,
    /// The API key for Anthropic's models.
    #[serde(default, rename = "ANTHROPIC_API_KEY")]
    pub anthropic_key: Option<String>,
    /// The headers of requests to the collector of traces.
    #[serde(default, rename = "OTEL_EXPORTER_OTLP_HEADERS")]
    pub otlp_headers: Option<String>,
    /// The secrets that tools and webhooks may refer to.
    #[serde(skip)]
    pub known: Arc<KnownSecrets>,
}

/// Entries that Smartspace itself uses. No tool may send them anywhere.
const OURS: [&str; 6] =
    [ADMIN_KEY, JWT_SECRET, CALLBACK_KEY, "OPENAI_API_KEY", "ANTHROPIC_API_KEY", otlp::HEADERS];

/// An entry that tools may refer to.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Value(String),
    Bound { value: String, hosts: Option<Vec<String>> },
}

impl Contents {
    /// The providers of models with their secrets. The keys of the providers `openai` and
    /// `anthropic` are entries of Smartspace's own, which only providers may name.
    pub fn fill_in(&self, providers: &Providers) -> Providers {
        let own = |name: &str| match name {
            "OPENAI_API_KEY" => self.openai_key.as_deref(),
            "ANTHROPIC_API_KEY" => self.anthropic_key.as_deref(),
            _ => None,
        };
        let secret = |name: &str, host: &str| match own(name).filter(|key| !key.is_empty()) {
            Some(key) => Ok(key.to_owned()),
            None => self.known.value_for(name, host).map(str::to_owned),
        };
        let entry = |api, key: &Option<String>| ProviderEntry::of(api).with(key.as_deref(), None);
        providers
            .resolved(&secret)
            .with_default(entry(ProviderApi::Openai, &self.openai_key))
            .with_default(entry(ProviderApi::Anthropic, &self.anthropic_key))
    }

    /// The operator's key, for a function that can't do without.
    pub fn needed_admin_key(&self) -> Result<&str, Failure> {
        self.admin_key.as_deref().filter(|key| key.len() >= 16).ok_or_else(|| {
            Failure::not_configured(
                "`adminKey` in the secret AdminSecret: expected at least 16 characters",
            )
        })
    }

    /// Reads the JSON of these secrets. Errors do not show any of it.
    fn read(secrets: &[(Part, String)]) -> Result<Self, Failure> {
        // The text of a JSON error could show a part of the secret.
        let wrong = |part: Part| {
            Failure::not_configured(format!(
                "the secret {part:?}Secret is not valid: expected a JSON object"
            ))
        };
        let mut all = BTreeMap::new();
        for (part, text) in secrets {
            let entries: BTreeMap<String, Value> =
                serde_json::from_str(text).map_err(|_| wrong(*part))?;
            all.extend(entries.into_iter().filter(|(name, _)| part.holds(name)));
        }
        let object = Value::Object(all.clone().into_iter().collect());
        let contents: Self = serde_json::from_value(object).map_err(|_| {
            Failure::not_configured(
                "the secrets are not valid: expected texts, and `callbackKey` in KeysSecret",
            )
        })?;
        if contents.callback_key.len() < 32 {
            return Err(Failure::not_configured(
                "`callbackKey` in the secret KeysSecret: expected at least 32 characters",
            ));
        }
        Ok(Self { known: Arc::new(known(&all)), ..contents })
    }
}

/// The entries that tools and webhooks may refer to. For an unusable entry, the log shows its name
/// only.
fn known(all: &BTreeMap<String, Value>) -> KnownSecrets {
    let secret = |(name, entry): (&String, &serde_json::Value)| {
        let (value, hosts) = match serde_json::from_value(entry.clone()).ok()? {
            Entry::Value(value) => (value, None),
            Entry::Bound { value, hosts } => (value, hosts),
        };
        // An entry that was never filled in.
        if value.is_empty() {
            return None;
        }
        match Secret::new(value, hosts) {
            Ok(secret) => Some((name.clone(), secret)),
            Err(error) => {
                tracing::warn!(
                    event = "unusable_secret",
                    name,
                    error,
                    "a secret can't be used by tools"
                );
                None
            }
        }
    };
    let (ours, theirs): (Vec<_>, Vec<_>) = all
        .iter()
        .filter(|(name, _)| OURS.contains(&name.as_str()) || SecretName::check(name).is_ok())
        .partition(|(name, _)| OURS.contains(&name.as_str()));
    KnownSecrets::with_hidden(
        theirs.into_iter().filter_map(secret).collect(),
        ours.into_iter().filter_map(secret).collect(),
    )
}

#[derive(Clone)]
pub struct StackSecret {
    client: Client,
    /// The secrets that this function reads.
    ids: Arc<[(Part, String)]>,
    held: Arc<Mutex<Option<Held>>>,
}

struct Held {
    contents: Arc<Contents>,
    /// The version of each secret. `None` if one has none.
    versions: Option<Vec<String>>,
    until: Instant,
}

impl StackSecret {
    /// The secrets with these ids. They are not read yet.
    pub fn new(client: Client, ids: Vec<(Part, String)>) -> Self {
        Self { client, ids: ids.into(), held: Arc::default() }
    }

    /// The contents: the same `Arc` as long as they have not changed. One read runs at a time. If
    /// it fails, the previous contents are used; if there are none, it is tried once more.
    pub async fn contents(&self) -> Result<Arc<Contents>, Failure> {
        let mut held = self.held.lock().await;
        if let Some(held) = held.as_ref().filter(|held| Instant::now() < held.until) {
            return Ok(Arc::clone(&held.contents));
        }
        let until = Instant::now() + FRESH;
        let mut read = self.read(held.as_ref()).await;
        if let (Err(failure), None) = (&read, &*held) {
            // Without the secret a new environment can answer nothing. A request may wait longer
            // than the SDK tries.
            tracing::warn!(event = "secret_unread", error = %failure, "the secret is read again");
            read = self.read(None).await;
        }
        match (read, held.as_mut()) {
            (Ok(Some((contents, versions))), _) => {
                log::secrets().set(Arc::clone(&contents.known));
                *held = Some(Held { contents: Arc::clone(&contents), versions, until });
                Ok(contents)
            }
            (Ok(None), Some(before)) => {
                before.until = until;
                Ok(Arc::clone(&before.contents))
            }
            (Err(failure), Some(before)) => {
                tracing::error!(
                    event = "secret_unread",
                    error = %failure,
                    "a secret could not be read; the previous contents stay in use"
                );
                before.until = Instant::now() + RETRY_AFTER;
                Ok(Arc::clone(&before.contents))
            }
            (Err(failure), None) => Err(failure),
            (Ok(None), None) => Err(Failure::not_configured("the secrets are empty")),
        }
    }

    /// Reads the secrets. Returns `None` if they have the versions of `held`.
    async fn read(
        &self,
        held: Option<&Held>,
    ) -> Result<Option<(Arc<Contents>, Option<Vec<String>>)>, Failure> {
        let answers = self.ids.iter().map(async |(part, id)| {
            let answer = self.client.get_secret_value().secret_id(id).send().await;
            let answer = answer.map_err(|error| {
                Failure::not_configured(format!(
                    "the secret {part:?}Secret could not be read: {}",
                    DisplayErrorContext(error)
                ))
            })?;
            let text = answer.secret_string().unwrap_or_default().to_owned();
            Ok::<_, Failure>(((*part, text), answer.version_id))
        });
        let (secrets, versions): (Vec<_>, Vec<_>) =
            try_join_all(answers).await?.into_iter().unzip();
        let versions: Option<Vec<String>> = versions.into_iter().collect();
        if held.is_some_and(|held| held.versions.is_some() && held.versions == versions) {
            return Ok(None);
        }
        Ok(Some((Arc::new(Contents::read(&secrets)?), versions)))
    }
}

impl fmt::Debug for StackSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StackSecret").field("ids", &self.ids).finish_non_exhaustive()
    }
}

#[async_trait]
impl Secrets for StackSecret {
    async fn known(&self) -> Result<Arc<KnownSecrets>, SecretsError> {
        Ok(Arc::clone(
            &self.contents().await.map_err(|failure| SecretsError(failure.message))?.known,
        ))
    }
}

/// Something that is built from the secret, and built again when the secret changes.
pub struct Built<T> {
    secret: StackSecret,
    build: Build<T>,
    last: Mutex<Option<(Arc<Contents>, Arc<T>)>>,
}

type Build<T> = Box<dyn Fn(&Contents) -> Result<T, Failure> + Send + Sync>;

impl<T> Built<T> {
    /// Nothing is built until the first [`Self::get`].
    pub fn new(
        secret: StackSecret,
        build: impl Fn(&Contents) -> Result<T, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { secret, build: Box::new(build), last: Mutex::default() }
    }

    /// The value that is built from the current secret. If building fails, the previous value stays
    /// in use.
    pub async fn get(&self) -> Result<Arc<T>, Failure> {
        let contents = self.secret.contents().await?;
        let mut last = self.last.lock().await;
        if let Some((source, built)) = last.as_ref()
            && Arc::ptr_eq(source, &contents)
        {
            return Ok(Arc::clone(built));
        }
        let built = match ((self.build)(&contents), last.as_ref()) {
            (Ok(built), _) => Arc::new(built),
            (Err(failure), Some((_, before))) => {
                tracing::error!(
                    event = "unusable_secret",
                    error = %failure,
                    "a secret can't be used; the previous contents stay in use"
                );
                Arc::clone(before)
            }
            (Err(failure), None) => return Err(failure),
        };
        *last = Some((contents, Arc::clone(&built)));
        Ok(built)
    }
}

impl<T> fmt::Debug for Built<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Built").field("secret", &self.secret).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
