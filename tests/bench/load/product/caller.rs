//! A client of the HTTP API with headers of its own.

use reqwest::{Client, RequestBuilder};
use serde_json::Value;

use crate::product::text;

/// A client without the operator's key.
pub(crate) struct Caller {
    pub(super) http: Client,
    pub(super) url: String,
}

impl Caller {
    /// Sends a POST request with these headers. Returns the status, and the answer as JSON.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Result<(u16, Value), String> {
        let mut request = self
            .http
            .post(format!("{}{path}", self.url))
            .header("content-type", "application/json")
            .body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answered(request).await
    }

    /// Sends a GET request with these headers. Returns the status, and the answer as JSON.
    pub(crate) async fn get(
        &self,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<(u16, Value), String> {
        let mut request = self.http.get(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answered(request).await
    }
}

async fn answered(request: RequestBuilder) -> Result<(u16, Value), String> {
    let answer = request.send().await.map_err(text)?;
    let status = answer.status().as_u16();
    let body = answer.bytes().await.map_err(text)?;
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}
