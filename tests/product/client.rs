//! The HTTP door.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, header::HeaderMap};
use serde_json::Value;

use super::waiting::patient;

/// A caller with a key.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    /// Where the product is, without a slash at the end.
    pub(crate) url: String,
    /// The operator's key, or a token.
    pub(crate) key: String,
}

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body as JSON; null where it is none.
    pub(crate) body: Value,
    /// The body as it came.
    pub(crate) text: String,
    asked: String,
}

impl Reply {
    /// The body, if the status is as expected.
    #[track_caller]
    pub(crate) fn must_be(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text);
        self.body
    }

    /// A header's text, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Client {
    /// A caller of `url` with the operator's key.
    pub(crate) fn new(url: String, key: String) -> Self {
        let http = reqwest::Client::builder().no_proxy().timeout(patient(Duration::from_secs(30))).build().unwrap();
        Self { http, url, key }
    }

    /// The same product, asked with another credential.
    pub(crate) fn with(&self, credential: &str) -> Self {
        Self { key: credential.to_owned(), ..self.clone() }
    }

    /// Asks with its key.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        let request = self.request(method, path).bearer_auth(&self.key);
        self.send(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await
    }

    /// A request without a key, to be completed and sent.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url))
    }

    /// Sends what was completed.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Reply {
        self.try_send(request).await.unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// The same, where the product may be gone before it has answered.
    pub(crate) async fn try_send(&self, request: RequestBuilder) -> Result<Reply, reqwest::Error> {
        let request = request.build().unwrap();
        let asked = format!("{} {}", request.method(), request.url());
        let answer = self.http.execute(request).await?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = answer.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Reply { status, headers, body, text, asked })
    }

    /// GET.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, None).await
    }

    /// POST.
    pub(crate) async fn create(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path, Some(body)).await
    }

    /// PUT.
    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PUT, path, Some(body)).await
    }

    /// PATCH.
    pub(crate) async fn patch(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PATCH, path, Some(body)).await
    }

    /// DELETE.
    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, None).await
    }
}
