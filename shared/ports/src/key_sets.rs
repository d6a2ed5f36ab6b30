//! The published keys of an identity provider (RFC 7517), which its tokens are signed with.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, Url, redirect::Policy};

/// The time limit for the provider's whole answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// The greatest size of a key set in bytes. A provider publishes a handful of keys of some hundred
/// bytes each.
const BYTES: usize = 256 * 1024;

/// A key set could not be read. The text is for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the key set could not be read: {0}")]
pub struct KeySetError(pub String);

/// The keys that a provider publishes.
#[async_trait]
pub trait KeySet: Send + Sync {
    /// Reads the current set, a JSON text. Returns or fails within a few seconds.
    async fn read(&self) -> Result<String, KeySetError>;
}

/// A key set at a URL.
#[derive(Clone, Debug)]
pub struct HttpKeySet {
    client: Client,
    url: Url,
}

impl HttpKeySet {
    /// The set at `url`, which starts with `https://` or `http://`. Redirects are not followed.
    pub fn new(url: &str) -> Result<Self, KeySetError> {
        let url: Url = url.parse().map_err(|_| {
            KeySetError("expected an address like https://login.example.com/jwks.json".into())
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(KeySetError(
                "expected an address that starts with https:// or http://".into(),
            ));
        }
        let client = Client::builder().redirect(Policy::none()).timeout(ANSWER_LIMIT).build();
        Ok(Self { client: client.map_err(failed)?, url })
    }
}

#[async_trait]
impl KeySet for HttpKeySet {
    async fn read(&self) -> Result<String, KeySetError> {
        let mut answer = self.client.get(self.url.clone()).send().await.map_err(failed)?;
        if !answer.status().is_success() {
            return Err(KeySetError(format!("the provider answered {}", answer.status())));
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > BYTES {
                return Err(KeySetError(format!("the answer is longer than {BYTES} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        String::from_utf8(body).map_err(|_| KeySetError("the answer is not UTF-8 text".into()))
    }
}

/// The error with all of its causes, but without the URL, which may contain a password.
fn failed(error: reqwest::Error) -> KeySetError {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    KeySetError(text)
}
