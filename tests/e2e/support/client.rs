//! A client for the HTTP API.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, header::HeaderMap};
use serde_json::Value;

use crate::support::waiting::patient;

/// A caller with a credential.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    /// The base URL, without a slash at the end.
    pub(crate) url: String,
    /// The admin key, or a token.
    pub(crate) key: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// The body as JSON, or null if it is not JSON.
    pub(crate) body: Value,
    pub(crate) text: String,
    request: String,
}

impl Reply {
    /// Returns the body. Panics if the status is not `status`.
    #[track_caller]
    pub(crate) fn must_be(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.request, self.text);
        self.body
    }

    /// A header's text, or an empty text if the header is absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Client {
    pub(crate) fn new(url: String, key: String) -> Self {
        Self { http: connections().build().unwrap(), url, key }
    }

    /// The same caller, who gets bodies as they are sent: nothing is decompressed.
    pub(crate) fn undecoded(&self) -> Self {
        Self { http: connections().no_gzip().build().unwrap(), ..self.clone() }
    }

    /// A caller of the same product with another credential.
    pub(crate) fn with(&self, credential: &str) -> Self {
        Self { key: credential.to_owned(), ..self.clone() }
    }

    /// Sends a request with its key.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        let request = self.request(method, path).bearer_auth(&self.key);
        self.send(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await
    }

    /// Whether the credential is the admin key. Tokens have dots.
    pub(crate) fn is_operator(&self) -> bool {
        !self.key.contains('.')
    }

    /// A request without a credential, to complete and pass to [`Self::send`].
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url))
    }

    /// Sends a request. Panics if no response arrives.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Reply {
        self.try_send(request).await.unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// Like [`Self::send`], for tests that kill the product.
    pub(crate) async fn try_send(&self, request: RequestBuilder) -> Result<Reply, reqwest::Error> {
        let request = request.build().unwrap();
        let shown = format!("{} {}", request.method(), request.url());
        let response = self.http.execute(request).await?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Reply { status, headers, body, text, request: shown })
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn create(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PUT, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PATCH, path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, None).await
    }
}

fn connections() -> reqwest::ClientBuilder {
    reqwest::Client::builder().no_proxy().timeout(patient(Duration::from_secs(30)))
}
