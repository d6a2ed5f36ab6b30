//! The secrets of a deployment. Tools and webhooks refer to them by name, and no caller ever sees
//! one.
//!
//! - [`redaction`]: removes secrets from everything that is stored or logged
//! - [`escapes`]: undoes the escapes of a text
//! - [`spellings`]: the encodings in which a server may send a secret back

mod escapes;
mod redaction;
mod spellings;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use async_trait::async_trait;

pub use self::redaction::Watch;
use crate::resolver::host_of;

/// The least length of a secret in bytes. A shorter one may occur in other text, so it can't be
/// redacted.
pub const SHORTEST: usize = 8;
/// The greatest length of a secret in bytes. No server accepts a longer header, and redaction
/// searches for all encodings of it.
pub const LONGEST: usize = 8 * 1024;

/// The secrets could not be read. The text is for the log and shows no secret.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the secrets could not be read: {0}")]
pub struct SecretsError(pub String);

/// A source of secrets.
#[async_trait]
pub trait Secrets: Send + Sync {
    /// The current secrets.
    async fn known(&self) -> Result<Arc<KnownSecrets>, SecretsError>;
}

/// One secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    value: String,
    hosts: Option<Vec<String>>,
}

impl Secret {
    /// A secret that may be sent to `hosts` only, or to any host if `hosts` is `None`.
    ///
    /// # Errors
    /// Fails if the secret is shorter than [`SHORTEST`] or longer than [`LONGEST`], or contains
    /// control characters, which no header can carry. Fails if a host is not valid.
    pub fn new(value: String, hosts: Option<Vec<String>>) -> Result<Self, String> {
        if value.len() < SHORTEST {
            return Err(format!("expected at least {SHORTEST} bytes"));
        }
        if value.len() > LONGEST {
            return Err(format!("expected at most {LONGEST} bytes"));
        }
        if value.chars().any(char::is_control) {
            return Err("expected no control characters".into());
        }
        let wrong = |host: &String| {
            format!("expected hosts like api.example.com that it may go to, got {host:?}")
        };
        let hosts = hosts
            .map(|hosts| {
                hosts.iter().map(|host| host_of(host).ok_or_else(|| wrong(host))).collect()
            })
            .transpose()?;
        if hosts.as_ref().is_some_and(Vec::is_empty) {
            return Err("expected at least one host that it may go to".into());
        }
        Ok(Self { value, hosts })
    }

    /// The value. It must appear only in requests that are sent.
    pub fn reveal(&self) -> &str {
        &self.value
    }

    /// Whether the secret may be sent to a host.
    pub fn may_go_to(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        self.hosts
            .as_ref()
            .is_none_or(|hosts| hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host)))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The secrets of a deployment by name.
#[derive(Clone, Default)]
pub struct KnownSecrets {
    secrets: BTreeMap<String, Secret>,
    /// `None` if there are no secrets.
    watch: Option<Arc<Watch>>,
}

impl KnownSecrets {
    /// Prepares redaction of these secrets. It takes milliseconds for many or long secrets, so do
    /// it once.
    pub fn new(secrets: BTreeMap<String, Secret>) -> Self {
        Self::with_hidden(secrets, BTreeMap::new())
    }

    /// Like [`Self::new`], with `hidden` secrets that are redacted too, but that tools and webhooks
    /// can't refer to.
    pub fn with_hidden(
        secrets: BTreeMap<String, Secret>,
        hidden: BTreeMap<String, Secret>,
    ) -> Self {
        let all = secrets.iter().chain(&hidden);
        let all = all.map(|(name, secret)| (name.as_str(), secret.reveal()));
        Self { watch: Watch::new(all).map(Arc::new), secrets }
    }

    /// The same, with `hidden` secrets too.
    #[must_use]
    pub fn and_hidden(self, hidden: BTreeMap<String, Secret>) -> Self {
        Self::with_hidden(self.secrets, hidden)
    }

    /// The secret with this name.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.secrets.get(name)
    }

    /// The value of a secret, for a request to `host`.
    ///
    /// # Errors
    /// A text if the secret is missing or may not go to the host.
    pub fn value_for(&self, name: &str, host: &str) -> Result<&str, String> {
        let secret = self.get(name).ok_or_else(|| format!("the secret {name} is not set here"))?;
        if !secret.may_go_to(host) {
            return Err(format!(
                "the secret {name} may not go to {host}: the list of its hosts (locally \
                 SMARTSPACE_SECRET_{name}_HOSTS) does not have this host"
            ));
        }
        Ok(secret.reveal())
    }

    /// The secrets that can be referred to.
    pub fn all(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.values()
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: BTreeSet<&String> = self.secrets.keys().collect();
        f.debug_tuple("KnownSecrets").field(&names).finish()
    }
}

/// Secrets that do not change while the process runs.
#[derive(Clone, Debug, Default)]
pub struct FixedSecrets(pub Arc<KnownSecrets>);

#[async_trait]
impl Secrets for FixedSecrets {
    async fn known(&self) -> Result<Arc<KnownSecrets>, SecretsError> {
        Ok(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests;
