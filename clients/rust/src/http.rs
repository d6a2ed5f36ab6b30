//! The HTTP API, called with the credential of one caller.

mod refusal;

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::{
    Method, RequestBuilder, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RANGE},
    redirect::Policy,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use smartspace_domain::{
    ids::{AttachmentId, EntityId, SpaceId},
    limits::BODY_BYTES,
    projects::APPLY_BYTES,
};
use tokio::time::sleep;

pub use self::refusal::Refusal;
use self::refusal::refusal_in;

/// Time limit of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// Time limit of an apply, which writes its objects one after the other.
const APPLY_TIMEOUT: Duration = Duration::from_mins(2);
/// How often an upload is tried.
const UPLOAD_TRIES: u32 = 4;
/// The pause before an upload is tried again. Each further one is twice as long.
const UPLOAD_PAUSE: Duration = Duration::from_millis(250);
/// Maximum length of a call's URL.
const URL_BYTES: usize = 16 * 1024;

/// The address of an API and the connections to it.
#[derive(Clone, Debug)]
pub struct Client {
    /// Built at the first call, because building one reads all root certificates of the system.
    http: Arc<OnceLock<reqwest::Client>>,
    url: Arc<str>,
}

/// A [`Client`] with the credential of one caller.
#[derive(Clone)]
pub struct Session {
    client: Client,
    headers: HeaderMap,
    /// The address by which the caller reaches the API, if it is not the client's.
    public_url: Option<Arc<str>>,
}

/// Why an upload has failed.
#[derive(Debug, thiserror::Error)]
enum UploadFailure {
    #[error("the storage answered {0}")]
    Answered(StatusCode),
    #[error("{0}")]
    Broken(String),
}

impl UploadFailure {
    /// Whether the same upload may succeed later. Of two uploads of a file that arrive at once,
    /// the storage refuses one with 409.
    fn is_temporary(&self) -> bool {
        match self {
            Self::Answered(status) => *status == StatusCode::CONFLICT || status.is_server_error(),
            Self::Broken(_) => true,
        }
    }
}

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items of the page, in the order of the route.
    pub items: Vec<T>,
    /// The `cursor` of the next page. `None` on the last page.
    pub next_cursor: Option<String>,
}

/// The path of a space's messages.
pub fn messages_path(space: SpaceId) -> String {
    format!("/v1/spaces/{space}/messages")
}

/// The path of a space's files.
pub fn attachments_path(space: SpaceId) -> String {
    format!("/v1/spaces/{space}/attachments")
}

/// The path of one file.
pub fn attachment_path(space: SpaceId, id: AttachmentId) -> String {
    format!("{}/{id}", attachments_path(space))
}

impl Client {
    /// A client of the API at `url`, such as `http://localhost:7700`, without a slash at the end.
    /// No connection is opened yet.
    pub fn new(url: impl Into<Arc<str>>) -> Self {
        Self { http: Arc::default(), url: url.into() }
    }

    /// A session with `token`: the token of an entity, or the admin key.
    ///
    /// Fails with status 401 if the token cannot be a header's value.
    pub fn session(&self, token: &str) -> Result<Session, Refusal> {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Refusal::new(401, "the token: expected visible ASCII characters"))?;
        value.set_sensitive(true);
        Ok(self.session_with_headers(HeaderMap::from_iter([(AUTHORIZATION, value)])))
    }

    /// A session that sends these headers with each call. One of them is `authorization`.
    pub fn session_with_headers(&self, headers: HeaderMap) -> Session {
        Session { client: self.clone(), headers, public_url: None }
    }

    fn http(&self) -> reqwest::Result<&reqwest::Client> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        // No proxy and no redirect: both could send the credential to another host.
        let http = reqwest::Client::builder().no_proxy().redirect(Policy::none());
        let http = http.timeout(CALL_TIMEOUT).build()?;
        Ok(self.http.get_or_init(|| http))
    }
}

/// Leaves out the headers, which contain the credential.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("url", &self.client.url).finish_non_exhaustive()
    }
}

/// The part of the answer to `GET /v1/me` that is used here.
#[derive(Debug, Deserialize)]
struct Me {
    /// Absent for the operator.
    entity: Option<MyEntity>,
}

#[derive(Debug, Deserialize)]
struct MyEntity {
    id: EntityId,
}

impl Session {
    /// The session of a caller that reaches the API at `url`, without a slash at the end, while
    /// the client uses another address. See [`public_address`](Self::public_address).
    #[must_use]
    pub fn with_public_url(self, url: impl Into<Arc<str>>) -> Self {
        Self { public_url: Some(url.into()), ..self }
    }

    /// The entity that the credential belongs to. `None` for the admin key.
    pub async fn entity(&self) -> Result<Option<EntityId>, Refusal> {
        let me: Me = self.get("/v1/me", &[]).await?;
        Ok(me.entity.map(|entity| entity.id))
    }

    /// Gets the JSON at `path`, such as `/v1/spaces`.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<T, Refusal> {
        self.call(path, self.request(Method::GET, path, query)?).await
    }

    /// Posts `body` to `path`. If several calls have the same `key`, the API does the work once and
    /// repeats its answer.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<T, Refusal> {
        let body = limited(body, BODY_BYTES)?;
        let mut request = self.request(Method::POST, path, &[])?;
        request = request.header(CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = key {
            let key = HeaderValue::from_str(key).map_err(|_| {
                Refusal::new(422, "idempotencyKey: expected visible ASCII characters")
            })?;
            request = request.header("idempotency-key", key);
        }
        self.call(path, request).await
    }

    /// Applies files: posts `body` to `/v1/apply`. A dry run writes nothing.
    ///
    /// It takes as long as it needs, because what was written stays if the call ends early.
    pub async fn apply<T: DeserializeOwned>(
        &self,
        body: &Value,
        is_dry_run: bool,
    ) -> Result<T, Refusal> {
        let body = limited(body, APPLY_BYTES)?;
        let path = "/v1/apply";
        let query = is_dry_run.then(|| ("dryRun", "true".to_owned()));
        let request = self.request(Method::POST, path, query.as_slice())?.timeout(APPLY_TIMEOUT);
        self.call(path, request.header(CONTENT_TYPE, "application/json").body(body)).await
    }

    /// Puts `body` at `path`. The call may be repeated.
    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Refusal> {
        let request = self.request(Method::PUT, path, &[])?;
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        self.call(path, request).await
    }

    /// Changes what is at `path` by `body`.
    pub async fn patch<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Refusal> {
        let request = self.request(Method::PATCH, path, &[])?;
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        self.call(path, request).await
    }

    /// Deletes what is at `path`. The call may be repeated.
    pub async fn delete(&self, path: &str) -> Result<(), Refusal> {
        let request = self.request(Method::DELETE, path, &[])?;
        let answer = request.send().await.map_err(|error| no_answer(path, error))?;
        if answer.status().is_success() { Ok(()) } else { Err(refusal_in(answer).await) }
    }

    /// Uploads a file to a URL from an answer of the API, with the headers from the same answer.
    /// The URL is signed, so the credential is not sent.
    pub async fn upload(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        bytes: Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut pause = UPLOAD_PAUSE;
        let mut tries = 1;
        loop {
            let failure = match self.put_file(url, headers, bytes.clone()).await {
                Ok(status) if status.is_success() => return Ok(()),
                // An earlier upload has stored the file.
                Ok(StatusCode::PRECONDITION_FAILED) => return Ok(()),
                Ok(status) => UploadFailure::Answered(status),
                Err(error) => UploadFailure::Broken(error),
            };
            if !failure.is_temporary() || tries == UPLOAD_TRIES {
                tracing::warn!(%failure, "a file was not uploaded");
                return Err(Refusal::new(503, "the file could not be uploaded; try again"));
            }
            sleep(pause).await;
            pause *= 2;
            tries += 1;
        }
    }

    async fn put_file(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        bytes: Vec<u8>,
    ) -> Result<StatusCode, String> {
        // The URL is a permission, so it must not reach the log.
        let broken = |error: reqwest::Error| error.without_url().to_string();
        let mut request =
            self.client.http().map_err(broken)?.put(self.own_address(url)).body(bytes);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        Ok(request.send().await.map_err(broken)?.status())
    }

    /// Downloads a part of a file from a URL in an answer of the API. The result is shorter than
    /// `range` if the file ends before.
    pub async fn download(&self, url: &str, range: Range<u64>) -> Result<Vec<u8>, Refusal> {
        let failed = |error: String| {
            tracing::warn!(error, "a file was not downloaded");
            Refusal::new(503, "the file could not be downloaded; try again")
        };
        // The URL is a permission, so it must not reach the log.
        let broken = |error: reqwest::Error| failed(error.without_url().to_string());
        let header = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let request =
            self.client.http().map_err(broken)?.get(self.own_address(url)).header(RANGE, header);
        let mut answer = request.send().await.map_err(broken)?;
        let mut to_skip = match answer.status() {
            StatusCode::PARTIAL_CONTENT => 0,
            // The local host ignores the header and sends the whole file.
            status if status.is_success() => range.start,
            StatusCode::NOT_FOUND | StatusCode::FORBIDDEN => {
                return Err(Refusal::new(404, "the file is no longer available"));
            }
            status => return Err(failed(format!("the storage answered {status}"))),
        };
        let length = range.end - range.start;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(broken)? {
            let begin = to_skip.min(chunk.len() as u64);
            to_skip -= begin;
            bytes.extend_from_slice(&chunk[begin as usize..]);
            if bytes.len() as u64 >= length {
                break;
            }
        }
        bytes.truncate(length as usize);
        Ok(bytes)
    }

    /// An address from an answer of the API, as the session's caller reaches it. On the local host
    /// the API's answers contain the address that the client has used, which may be another one
    /// than the caller's.
    pub fn public_address(&self, url: &str) -> String {
        match (&self.public_url, url.strip_prefix(&*self.client.url)) {
            (Some(public), Some(path)) if path.starts_with('/') => format!("{public}{path}"),
            _ => url.to_owned(),
        }
    }

    /// The address at which the caller reaches the API, without a slash at the end.
    pub fn address(&self) -> &str {
        self.public_url.as_deref().unwrap_or(&self.client.url)
    }

    /// An address from an answer of the API, as this client reaches it. A deployment with a
    /// configured address names that one in its answers, and a client inside it may not reach it.
    pub(crate) fn own_address(&self, url: &str) -> String {
        let own = |public: &str, own: &str| {
            let path = url.strip_prefix(public).filter(|path| path.starts_with('/'))?;
            Some(format!("{own}{path}"))
        };
        let socket = |url: &str| url.replacen("http", "ws", 1);
        self.public_url
            .as_deref()
            .and_then(|public| {
                own(public, &self.client.url)
                    .or_else(|| own(&socket(public), &socket(&self.client.url)))
            })
            .unwrap_or_else(|| url.to_owned())
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<RequestBuilder, Refusal> {
        let url = Url::parse_with_params(&format!("{}{path}", self.client.url), query);
        let url = url.map_err(|error| Refusal::new(400, error.to_string()))?;
        // Only a cursor can be this long, because all other values of a query are short.
        if url.as_str().len() > URL_BYTES {
            let detail = "the cursor is too long; expected nextCursor of the previous page";
            return Err(Refusal::new(400, detail));
        }
        let http = self.client.http().map_err(|error| no_answer(path, error))?;
        Ok(http.request(method, url).headers(self.headers.clone()))
    }

    async fn call<T: DeserializeOwned>(
        &self,
        path: &str,
        request: RequestBuilder,
    ) -> Result<T, Refusal> {
        let answer = request.send().await.map_err(|error| no_answer(path, error))?;
        if answer.status().is_success() {
            return answer.json().await.map_err(|error| no_answer(path, error));
        }
        Err(refusal_in(answer).await)
    }
}

fn limited(body: &Value, most: usize) -> Result<String, Refusal> {
    let body = body.to_string();
    if body.len() > most {
        return Err(Refusal::new(413, format!("expected a body of at most {most} bytes")));
    }
    Ok(body)
}

fn no_answer(path: &str, error: reqwest::Error) -> Refusal {
    // The URL may contain a cursor; the path is enough for the log.
    let error = error.without_url();
    tracing::warn!(%error, path, "the API did not answer");
    Refusal::new(503, "the API did not answer; try again")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_client_inside_a_deployment_uses_its_own_address() {
        let client = Client::new("http://127.0.0.1:7700");
        let inside = client.session("token").unwrap().with_public_url("https://team.example");
        for (answered, used) in [
            ("https://team.example/files/a", "http://127.0.0.1:7700/files/a"),
            ("wss://team.example/v1/socket", "ws://127.0.0.1:7700/v1/socket"),
            ("https://team.example.evil/files/a", "https://team.example.evil/files/a"),
            ("https://s3.example/files/a", "https://s3.example/files/a"),
        ] {
            assert_eq!(inside.own_address(answered), used);
        }
        assert_eq!(inside.address(), "https://team.example");
        let outside = client.session("token").unwrap();
        assert_eq!(outside.own_address("https://team.example/a"), "https://team.example/a");
        assert_eq!(outside.address(), "http://127.0.0.1:7700");
    }

    /// Uploads a file to a storage that gives these answers, the last one again and again. Returns
    /// whether it was stored, and how many answers the storage gave.
    async fn upload(answers: &'static [u16]) -> (bool, usize) {
        let given = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&given);
        let answer = async move || {
            let next = counter.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
            StatusCode::from_u16(answers[next]).unwrap()
        };
        let storage = axum::Router::new().route("/files/a", axum::routing::put(answer));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let served = tokio::spawn(async { axum::serve(listener, storage).await });
        let session = Client::new(address.as_str()).session("token").unwrap();
        let url = format!("{address}/files/a");
        let stored = session.upload(&url, &BTreeMap::new(), b"plan".to_vec()).await;
        served.abort();
        (stored.is_ok(), given.load(Ordering::SeqCst))
    }

    #[tokio::test]
    async fn an_upload_is_tried_again_while_another_one_of_the_file_arrives() {
        assert_eq!(upload(&[200]).await, (true, 1));
        assert_eq!(upload(&[412]).await, (true, 1));
        assert_eq!(upload(&[409, 412]).await, (true, 2));
        assert_eq!(upload(&[503, 409, 200]).await, (true, 3));
        assert_eq!(upload(&[409]).await, (false, 4));
        assert_eq!(upload(&[403, 200]).await, (false, 1));
    }
}
