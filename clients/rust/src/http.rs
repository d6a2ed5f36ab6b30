//! Our own HTTP API, as an entity calls it.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use reqwest::{
    Client, Method, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RANGE},
    redirect::Policy,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use smartspace_domain::{
    ids::{AttachmentId, EntityId, SpaceId},
    limits::BODY_BYTES,
    problems::Problem,
};
use smartspace_web::{host_address, respond};
use tokio::time::sleep;

/// How long a call of our own API may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// How often a read is repeated that was refused for a moment.
const TRIES: u32 = 5;
/// The longest address of a call.
const ADDRESS_BYTES: usize = 16 * 1024;

/// Our own HTTP API.
#[derive(Clone, Debug)]
pub(crate) struct OurApi {
    /// Made at the first call, because a client reads all root certificates of the system.
    http: Arc<OnceLock<Client>>,
    url: Arc<str>,
}

/// A refusal of the API, or the reason why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The HTTP status; 503 if there was no answer.
    pub(crate) status: u16,
    /// The problem's `detail`: what is wrong, and what was expected instead.
    pub(crate) detail: String,
    /// After how many seconds the call may be repeated, with 429.
    pub(crate) retry_after: Option<u64>,
}

impl Refusal {
    /// Whether the same call may succeed a moment later.
    pub(crate) fn is_passing(&self) -> bool {
        [429, 503].contains(&self.status)
    }

    /// How long to wait before the call is repeated.
    pub(crate) fn wait(&self) -> Duration {
        Duration::from_secs(self.retry_after.unwrap_or(1).clamp(1, 10))
    }

    /// Waits until a read that was refused may be repeated. Fails if that is no use, or was tried
    /// often.
    pub(crate) async fn wait_out(self, tries: &mut u32) -> Result<(), Self> {
        if !self.is_passing() || *tries >= TRIES {
            return Err(self);
        }
        *tries += 1;
        sleep(self.wait()).await;
        Ok(())
    }

    pub(crate) fn new(status: u16, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), retry_after: None }
    }
}

/// As problem details (RFC 9457).
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let title = status.canonical_reason().unwrap_or_default();
        let mut response = respond(&Problem::new(status.as_u16(), title, self.detail));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// The headers of a request that a door passes on: the credential of its caller, how deep in a chain
/// of agents that is, and the trace.
const PASSED_ON: [HeaderName; 3] = [
    AUTHORIZATION,
    HeaderName::from_static("smartspace-chain-depth"),
    HeaderName::from_static("traceparent"),
];

/// Whoever came through a door, with its credential.
#[derive(Clone)]
pub(crate) struct Visitor {
    api: OurApi,
    passed_on: HeaderMap,
    /// The address at which it has reached us.
    address: String,
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visitor")
    }
}

/// The part of the API's answer to `GET /v1/me` that matters here.
#[derive(Debug, Deserialize)]
struct Me {
    /// Absent for the operator.
    entity: Option<EntityOfMe>,
}

#[derive(Debug, Deserialize)]
struct EntityOfMe {
    id: EntityId,
}

/// The path of a space's messages.
pub(crate) fn messages_path(space: SpaceId) -> String {
    format!("/v1/spaces/{space}/messages")
}

/// The path of a space's files.
pub(crate) fn attachments_path(space: SpaceId) -> String {
    format!("/v1/spaces/{space}/attachments")
}

/// The path of a file.
pub(crate) fn attachment_path(space: SpaceId, id: AttachmentId) -> String {
    format!("{}/{id}", attachments_path(space))
}

impl OurApi {
    pub(crate) fn new(url: String) -> Self {
        Self { http: Arc::default(), url: url.into() }
    }

    /// The caller whose request has these headers.
    pub(crate) fn visitor(&self, headers: &HeaderMap) -> Visitor {
        let mut passed_on = HeaderMap::new();
        for name in PASSED_ON {
            for value in headers.get_all(&name) {
                passed_on.append(&name, value.clone());
            }
        }
        Visitor { api: self.clone(), passed_on, address: host_address("http", headers) }
    }

    fn http(&self) -> reqwest::Result<&Client> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let http = Client::builder().no_proxy().redirect(Policy::none()).timeout(ANSWER_LIMIT);
        let http = http.build()?;
        Ok(self.http.get_or_init(|| http))
    }
}

impl Visitor {
    /// The entity whose token the credential is. `None` if it is the operator's key.
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

    /// Uploads a file to an address that the API has given. The address is the permission.
    pub(crate) async fn upload(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        bytes: Vec<u8>,
    ) -> Result<(), Refusal> {
        let failed = |error: String| {
            tracing::warn!(error, "a door could not upload a file");
            Refusal::new(503, "the file could not be uploaded; try again")
        };
        let http = self.api.http().map_err(|error| failed(error.without_url().to_string()))?;
        let mut request = http.put(url).body(bytes);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        // The address is signed, so no log may have it.
        let sent = request.send().await;
        let answer = sent.map_err(|error| failed(error.without_url().to_string()))?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            // An earlier try has stored it.
            StatusCode::PRECONDITION_FAILED => Ok(()),
            status => Err(failed(format!("the storage answered {status}"))),
        }
    }

    /// An address from an answer of the API, as the visitor reaches it: the API may have another
    /// name for us than for the outside.
    pub(crate) fn as_seen_outside(&self, url: &str) -> String {
        match url.strip_prefix(&*self.api.url) {
            Some(path) if path.starts_with('/') => format!("{}{path}", self.address),
            _ => url.to_owned(),
        }
    }

    /// Downloads a part of a file from an address that the API has given.
    pub(crate) async fn download(&self, url: &str, range: Range<u64>) -> Result<Vec<u8>, Refusal> {
        let failed = |error: String| {
            tracing::warn!(error, "a door could not download a file");
            Refusal::new(503, "the file could not be downloaded; try again")
        };
        let broken = |error: reqwest::Error| failed(error.without_url().to_string());
        let http = self.api.http().map_err(broken)?;
        let asked = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let mut answer = http.get(url).header(RANGE, asked).send().await.map_err(broken)?;
        let mut skipped = match answer.status() {
            StatusCode::PARTIAL_CONTENT => 0,
            // The local host sends the whole file.
            status if status.is_success() => range.start,
            StatusCode::NOT_FOUND | StatusCode::FORBIDDEN => {
                return Err(Refusal::new(404, "the file is no longer available"));
            }
            status => return Err(failed(format!("the storage answered {status}"))),
        };
        let wanted = range.end - range.start;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(broken)? {
            let begin = skipped.min(chunk.len() as u64);
            skipped -= begin;
            bytes.extend_from_slice(&chunk[begin as usize..]);
            if bytes.len() as u64 >= wanted {
                break;
            }
        }
        bytes.truncate(wanted as usize);
        Ok(bytes)
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
            let error = error.without_url();
            tracing::warn!(%error, path, "the API did not answer a door");
            Refusal::new(503, "the API did not answer; try again")
        };
        let url = Url::parse_with_params(&format!("{}{path}", self.api.url), query);
        let url = url.map_err(|error| Refusal::new(400, error.to_string()))?;
        if url.as_str().len() > ADDRESS_BYTES {
            return Err(Refusal::new(
                400,
                "the cursor is too long; expected nextCursor of the page before",
            ));
        }
        let http = self.api.http().map_err(silent)?;
        let mut request = http.request(method, url).headers(self.passed_on.clone());
        if let Some(body) = body {
            let body = body.to_string();
            if body.len() > BODY_BYTES {
                let detail = format!("expected a body of at most {BODY_BYTES} bytes");
                return Err(Refusal::new(413, detail));
            }
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        if let Some(key) = key {
            let key = HeaderValue::from_str(key).map_err(|_| {
                Refusal::new(422, "idempotencyKey: expected visible ASCII characters")
            })?;
            request = request.header("idempotency-key", key);
        }
        let answer = request.send().await.map_err(silent)?;
        let status = answer.status().as_u16();
        if answer.status().is_success() {
            return answer.json().await.map_err(silent);
        }
        let retry_after = answer.headers().get("retry-after");
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let problem: Option<Problem> = answer.json().await.ok();
        let detail = problem.map_or_else(|| "the API refused".into(), |problem| problem.detail);
        Err(Refusal { status, detail, retry_after })
    }
}
