//! The keys with which an identity provider signs tokens, as it publishes them (RFC 7517).

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, Url, redirect::Policy};

/// How long the provider may take for its whole answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// How long a key set may be, in bytes. A provider publishes a handful of keys of some hundred bytes each.
const BYTES: usize = 256 * 1024;

/// A key set could not be read; the text is for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the key set could not be read: {0}")]
pub struct KeySetError(pub String);

/// Where a provider publishes its keys.
#[async_trait]
pub trait KeySet: Send + Sync {
    /// The set as it is published now, a JSON text. Answers within a few seconds, one way or the other.
    async fn read(&self) -> Result<String, KeySetError>;
}

/// A key set at an address.
#[derive(Clone, Debug)]
pub struct HttpKeySet {
    client: Client,
    url: Url,
}

impl HttpKeySet {
    /// The set at `url`, which is `https://…` or `http://…`. It is read from there only: redirects are not followed.
    pub fn new(url: &str) -> Result<Self, KeySetError> {
        let url: Url = url.parse().map_err(|_| KeySetError("expected an address like https://login.example.com/jwks.json".into()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(KeySetError("expected an address that begins with https:// or http://".into()));
        }
        let client = Client::builder().redirect(Policy::none()).timeout(ANSWER_LIMIT).build();
        Ok(Self { client: client.map_err(told)?, url })
    }
}

#[async_trait]
impl KeySet for HttpKeySet {
    async fn read(&self) -> Result<String, KeySetError> {
        let mut answer = self.client.get(self.url.clone()).send().await.map_err(told)?;
        if !answer.status().is_success() {
            return Err(KeySetError(format!("the provider answered {}", answer.status())));
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(told)? {
            if body.len() + piece.len() > BYTES {
                return Err(KeySetError(format!("it is longer than {BYTES} bytes")));
            }
            body.extend_from_slice(&piece);
        }
        String::from_utf8(body).map_err(|_| KeySetError("it is no text".into()))
    }
}

/// What went wrong, down to its cause; an address may carry a password in it.
fn told(error: reqwest::Error) -> KeySetError {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    KeySetError(text)
}
