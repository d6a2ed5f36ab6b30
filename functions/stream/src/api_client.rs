//! Our own HTTP API, as an entity calls it.

use std::{fmt, sync::Arc, time::Duration};

use reqwest::{Client, Method, Url, redirect::Policy};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use smartspace_domain::ids::EntityId;

/// How long a call of our own API may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Our own HTTP API.
#[derive(Clone, Debug)]
pub(crate) struct OurApi {
    http: Client,
    url: Arc<str>,
}

/// A refusal of the API, or the reason why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The HTTP status; 503 if there was no answer.
    pub(crate) status: u16,
    /// The problem's `detail`: what is wrong, and what was expected instead.
    pub(crate) detail: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.detail, self.status)
    }
}

/// An entity that came through a door, with its token.
#[derive(Clone)]
pub(crate) struct Visitor {
    api: OurApi,
    token: Arc<str>,
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visitor")
    }
}

/// The part of the API's answer to `GET /v1/me` that matters here.
#[derive(Debug, Deserialize)]
struct Me {
    entity: Option<MyEntity>,
}

#[derive(Debug, Deserialize)]
struct MyEntity {
    id: EntityId,
}

/// The part of a problem that matters here.
#[derive(Debug, Deserialize)]
struct Problem {
    detail: String,
}

impl OurApi {
    pub(crate) fn new(url: String) -> Result<Self, String> {
        let http =
            Client::builder().no_proxy().redirect(Policy::none()).timeout(ANSWER_LIMIT).build();
        Ok(Self { http: http.map_err(|error| error.to_string())?, url: url.into() })
    }

    /// The caller with this token.
    pub(crate) fn visitor(&self, token: &str) -> Visitor {
        Visitor { api: self.clone(), token: token.into() }
    }
}

impl Visitor {
    /// The entity of the token; `None` for the operator's key.
    pub(crate) async fn entity(&self) -> Result<Option<EntityId>, Refusal> {
        let me: Me = self.get("/v1/me", &[]).await?;
        Ok(me.entity.map(|entity| entity.id))
    }

    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<T, Refusal> {
        self.call(Method::GET, path, query, None, None).await
    }

    /// Posts `body`. With `key` the API does it once, however often it is repeated.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<T, Refusal> {
        self.call(Method::POST, path, &[], Some(body), key).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<T, Refusal> {
        let silent = |error: reqwest::Error| {
            tracing::warn!(%error, path, "the API did not answer a door");
            Refusal { status: 503, detail: "the API did not answer; try again".into() }
        };
        let url = Url::parse_with_params(&format!("{}{path}", self.api.url), query);
        let url = url.map_err(|error| Refusal { status: 400, detail: error.to_string() })?;
        let mut request = self.api.http.request(method, url).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let answer = request.send().await.map_err(silent)?;
        let status = answer.status().as_u16();
        if answer.status().is_success() {
            return answer.json().await.map_err(silent);
        }
        let problem: Option<Problem> = answer.json().await.ok();
        let detail = problem.map_or_else(|| "the API refused".into(), |problem| problem.detail);
        Err(Refusal { status, detail })
    }
}
