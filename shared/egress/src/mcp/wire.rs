//! Every request of a session with a server: `rmcp` sends none but through this.

use std::{
    collections::HashMap,
    fmt::Display,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::stream::BoxStream;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use reqwest::{Method, RequestBuilder, Response, Url};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientNotification, GetExtensions, GetMeta, RequestId},
    transport::streamable_http_client::{SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse},
};
use serde_json::Value;
use smartspace_domain::json;
use smartspace_edges::secrets::KnownSecrets;
use sse_stream::Sse;
use tokio::{sync::watch, time::timeout};

use super::{
    messages::{self, Heard},
    slip::{Failure, Fate, Slip},
    stream,
};
use crate::{Egress, Trail, request::failures};

/// Of an answer in JSON.
const LONGEST_JSON: usize = 4 * 1024 * 1024;
/// Of the body of a refusal, and of it what is told.
const LONGEST_REFUSAL: usize = 16 * 1024;
const TOLD_OF_REFUSAL: usize = 300;
/// Of what a server says of its progress, in characters.
const LONGEST_PROGRESS: usize = 500;
/// Of a session's id.
const LONGEST_SESSION: usize = 1_024;
/// How often broken streams of one session are resumed.
const RESUMPTIONS: usize = 100;
/// For the end of a session.
const FAREWELL: Duration = Duration::from_secs(1);

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Says nothing: `rmcp` logs what it is told. What was wrong stands on the request's [`Slip`].
#[derive(Debug, thiserror::Error)]
#[error("not answered")]
pub(super) struct Unanswered;

/// The way to one server. Clones are the same way.
#[derive(Clone)]
pub(super) struct Wire(Arc<Parts>);

/// What a way to a server is made of.
pub(super) struct Ends {
    /// The way out.
    pub(super) egress: Egress,
    /// The server's name.
    pub(super) server: String,
    /// Where it is.
    pub(super) url: Url,
    /// Those of its configuration, filled in.
    pub(super) headers: HeaderMap,
    /// Where the requests come from; those that belong to nobody's run have none.
    pub(super) trail: Option<Trail>,
    /// What must not come back.
    pub(super) secrets: Arc<KnownSecrets>,
    /// How many bytes are read of it at most, all answers together.
    pub(super) most: usize,
}

struct Parts {
    ends: Ends,
    handshake: Slip,
    pending: Mutex<Vec<Pending>>,
    received: AtomicUsize,
    resumed: AtomicUsize,
    farewell: AtomicBool,
    gone: watch::Sender<bool>,
}

/// A request that may still be answered.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) id: RequestId,
    token: Value,
    pub(super) slip: Slip,
}

impl Wire {
    pub(super) fn new(ends: Ends) -> Self {
        let parts = Parts {
            ends,
            handshake: Slip::of_question(),
            pending: Mutex::default(),
            received: AtomicUsize::new(0),
            resumed: AtomicUsize::new(0),
            farewell: AtomicBool::new(false),
            gone: watch::Sender::new(false),
        };
        Self(Arc::new(parts))
    }

    /// What becomes of the handshake.
    pub(super) fn handshake(&self) -> &Slip {
        &self.0.handshake
    }

    pub(super) fn secrets(&self) -> &KnownSecrets {
        &self.0.ends.secrets
    }

    /// From now on the end of the session may be told to the server.
    pub(super) fn allow_farewell(&self) {
        self.0.farewell.store(true, Ordering::Relaxed);
    }

    /// Breaks off everything, now and for ever.
    pub(super) fn cut(&self) {
        self.0.gone.send_replace(true);
    }

    /// Comes back when the wire is cut.
    pub(super) async fn is_cut(&self) {
        // It can't be closed while we hold it.
        let _ = self.0.gone.subscribe().wait_for(|gone| *gone).await;
    }

    /// Nobody waits for this request any more.
    pub(super) fn forget(&self, slip: &Slip) {
        self.pending().retain(|pending| !pending.slip.is(slip));
    }

    /// A sentence about the server, without secrets.
    pub(super) fn sentence(&self, predicate: impl Display) -> String {
        self.secrets().redact(&format!("the server {} {predicate}", self.0.ends.server)).into_owned()
    }

    pub(super) fn unclear(&self, predicate: impl Display) -> Failure {
        Failure::Unclear(self.sentence(predicate))
    }

    /// Counts bytes that came.
    ///
    /// # Errors
    /// Where they are more than this session may read.
    pub(super) fn receive(&self, bytes: usize) -> Result<(), Failure> {
        let before = self.0.received.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.0.ends.most { Err(self.unclear("says too much")) } else { Ok(()) }
    }

    /// Reads a message, and says what `rmcp` is to be told of it. Its content goes to the slip of the request that it answers.
    ///
    /// # Errors
    /// Where it is no JSON.
    pub(super) fn hear(&self, json: &[u8], own: Option<&Pending>) -> Result<Told, Failure> {
        let mut message = json::parse(json).map_err(|error| self.unclear(format!("sent what can't be read: {error}")))?;
        self.secrets().redact_json(&mut message);
        Ok(match messages::hear(message) {
            Heard::Answer { id, outcome } => match self.take(&id, own) {
                Some(pending) => Told { message: Some(self.settle(&pending, outcome)), ends: true },
                None => Told::default(),
            },
            Heard::Progress { token, text } => {
                if let Some(pending) = self.pending().iter().find(|pending| pending.token == token) {
                    pending.slip.says(messages::line(&text, LONGEST_PROGRESS));
                }
                Told::default()
            }
            Heard::Request(request) => Told { message: Some(request), ends: false },
            Heard::Nothing => Told::default(),
        })
    }

    /// Gives a request up.
    pub(super) fn fail(&self, pending: &Pending, failure: Failure) -> Value {
        pending.slip.set(Fate::Failed(failure));
        self.forget(&pending.slip);
        messages::not_answered(&pending.id)
    }

    fn take(&self, id: &Value, own: Option<&Pending>) -> Option<Pending> {
        let mut all = self.pending();
        let at = all.iter().position(|pending| match id {
            // So it is answered where the id could not be read.
            Value::Null => own.is_some_and(|own| own.slip.is(&pending.slip)),
            id => messages::is_id_of(id, &pending.id),
        })?;
        Some(all.swap_remove(at))
    }

    fn settle(&self, pending: &Pending, outcome: Result<Value, Value>) -> Value {
        if !pending.slip.is(self.handshake()) {
            pending.slip.set(Fate::Answered(outcome));
            return messages::answered(&pending.id);
        }
        let failure = match outcome {
            Ok(greeting) => match messages::greeted(&pending.id, &greeting) {
                Some(greeted) => return greeted,
                None => self.sentence("speaks no version of MCP that is known here"),
            },
            Err(error) => self.sentence(format!("refused the session: {}", messages::error_text(&error))),
        };
        self.fail(pending, Failure::Untouched(failure))
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, Vec<Pending>> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request to the server with all its headers. Later ones win over those of the configuration.
    fn request(
        &self,
        method: Method,
        slip: Option<&Slip>,
        session: Option<&str>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<RequestBuilder, Failure> {
        let ends = &self.0.ends;
        let client = ends.egress.client_for(&ends.url).map_err(|error| Failure::Untouched(error.to_string()))?;
        let mut headers = ends.headers.clone();
        let trail = ends.trail.as_ref().map(|trail| match slip.and_then(Slip::call) {
            Some(call) => trail.headers(call),
            None => trail.headers_of_run(),
        });
        headers.extend(trail.unwrap_or_default());
        for (name, value) in more {
            headers.insert(name, value);
        }
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some(session) = session.and_then(|session| HeaderValue::from_str(session).ok()) {
            headers.insert(SESSION, session);
        }
        Ok(client.request(method, ends.url.clone()).headers(headers))
    }

    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        pending: Option<&Pending>,
        slip: Option<&Slip>,
        session: Option<&str>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = serde_json::to_vec(message).map_err(|error| Failure::Untouched(format!("the input can't be sent: {error}")))?;
        let request = self.request(Method::POST, slip, session, more)?.header(header::CONTENT_TYPE, "application/json").body(body);
        if let Some(slip) = slip {
            slip.set(Fate::Sent);
        }
        let response = request.send().await.map_err(|error| {
            let cause = failures::cause(&error);
            match error.is_connect() || error.is_builder() {
                true => Failure::Untouched(self.sentence(format!("can't be reached: {cause}"))),
                false => self.unclear(format!("did not answer: {cause}")),
            }
        })?;
        let status = response.status();
        let Some(pending) = pending else {
            return match status.is_success() {
                true => Ok(StreamableHttpPostResponse::Accepted),
                false => Err(self.refusal(status, session.is_some(), "")),
            };
        };
        if !status.is_success() {
            return self.refused(response, pending, session.is_some()).await;
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Err(self.unclear("took the request and will not answer it"));
        }
        let session = self.session_of(&response)?;
        if is_of_type(&response, "text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(stream::events(response, self.clone(), Some(pending.clone())), session));
        }
        if !is_of_type(&response, "application/json") {
            return Err(self.unclear("answered with what is neither JSON nor a stream of events"));
        }
        let told = self.hear(&self.body(response, LONGEST_JSON).await?, Some(pending))?;
        match told.message.filter(|_| told.ends).map(serde_json::from_value) {
            Some(Ok(message)) => Ok(StreamableHttpPostResponse::Json(message, session)),
            _ => Err(self.unclear("answered with what is no answer to the request")),
        }
    }

    /// An answer with another status than success: it may hold a JSON-RPC error all the same.
    async fn refused(&self, response: Response, pending: &Pending, in_session: bool) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        let is_settled =
            matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) || (status == StatusCode::NOT_FOUND && in_session);
        if is_settled || status.is_redirection() {
            return Err(self.refusal(status, in_session, ""));
        }
        let is_json = is_of_type(&response, "application/json");
        // What did not come whole could end in the middle of a secret.
        let body = self.body(response, LONGEST_REFUSAL).await.unwrap_or_default();
        if is_json
            && let Ok(Told { message: Some(message), ends: true }) = self.hear(&body, Some(pending))
            && let Ok(message) = serde_json::from_value(message)
        {
            return Ok(StreamableHttpPostResponse::Json(message, None));
        }
        let text = self.secrets().redact(&String::from_utf8_lossy(&body)).into_owned();
        let is_page = text.trim_start().starts_with('<');
        Err(self.refusal(status, in_session, if is_page { "" } else { &text }))
    }

    fn refusal(&self, status: StatusCode, in_session: bool, text: &str) -> Failure {
        let text = messages::line(text, TOLD_OF_REFUSAL);
        let said = if text.is_empty() { String::new() } else { format!(": {text}") };
        let status = status.as_u16();
        match status {
            401 | 403 => Failure::Untouched(self.sentence(format!("asks for authorisation ({status}); set headers for it"))),
            404 if in_session => Failure::Expired,
            300..=399 => Failure::Refused(self.sentence(format!("answered with a redirect ({status}), which is not followed"))),
            // Someone on the way may have given up on a server that goes on.
            408 | 500.. => self.unclear(format!("answered {status}{said}")),
            _ => Failure::Refused(self.sentence(format!("answered {status}{said}"))),
        }
    }

    async fn body(&self, mut response: Response, most: usize) -> Result<Bytes, Failure> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|_| self.unclear("broke off its answer"))? {
            self.receive(piece.len())?;
            if body.len() + piece.len() > most {
                return Err(self.unclear(format!("answered with more than {} KiB", most / 1024)));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body.into())
    }

    fn session_of(&self, response: &Response) -> Result<Option<String>, Failure> {
        let Some(session) = response.headers().get(SESSION) else { return Ok(None) };
        // `rmcp` logs it.
        let usable = session.to_str().ok().filter(|session| session.len() <= LONGEST_SESSION && self.secrets().redact(session) == *session);
        usable.map(|session| Some(session.to_owned())).ok_or_else(|| self.unclear("gave its session a name that can't be used"))
    }

    /// Breaks off when the wire is cut.
    async fn while_whole<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.is_cut() => Err(self.unclear("was left")),
            done = work => done,
        }
    }
}

/// What `rmcp` is told of a message.
#[derive(Default)]
pub(super) struct Told {
    /// A message for it.
    pub(super) message: Option<Value>,
    /// Whether that is the answer that was waited for.
    pub(super) ends: bool,
}

fn is_of_type(response: &Response, media_type: &str) -> bool {
    let given = response.headers().get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    given.split(';').next().is_some_and(|given| given.trim().eq_ignore_ascii_case(media_type))
}

fn unanswered(_: Failure) -> StreamableHttpError<Unanswered> {
    StreamableHttpError::Client(Unanswered)
}

impl StreamableHttpClient for Wire {
    type Error = Unanswered;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Unanswered>> {
        let mut pending = None;
        let slip = match &message {
            ClientJsonRpcMessage::Request(request) => {
                let slip = request.request.extensions().get::<Slip>().unwrap_or(self.handshake()).clone();
                let token = serde_json::to_value(request.request.get_meta().get_progress_token()).unwrap_or_default();
                let asked = pending.insert(Pending { id: request.id.clone(), token, slip: slip.clone() });
                self.pending().push(asked.clone());
                Some(slip)
            }
            ClientJsonRpcMessage::Notification(notification) => {
                let is_handshake = matches!(notification.notification, ClientNotification::InitializedNotification(_));
                is_handshake.then(|| self.handshake().clone())
            }
            _ => None,
        };
        let posted = self.while_whole(self.post(&message, pending.as_ref(), slip.as_ref(), session.as_deref(), more)).await;
        posted.map_err(|failure| {
            if let Some(slip) = slip {
                slip.set(Fate::Failed(failure));
                self.forget(&slip);
            }
            StreamableHttpError::Client(Unanswered)
        })
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<Unanswered>> {
        if !self.0.farewell.load(Ordering::Relaxed) {
            return Err(StreamableHttpError::ServerDoesNotSupportDeleteSession);
        }
        let request = self.request(Method::DELETE, None, Some(&session), more).map_err(unanswered)?;
        let sent = self.while_whole(async { request.send().await.map_err(|error| self.unclear(error.without_url())) });
        match timeout(FAREWELL, sent).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(StreamableHttpError::Client(Unanswered)),
        }
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<Unanswered>> {
        // What a server would say of its own accord is of no use here. Only an answer that broke off is asked for again.
        let last_event = last_event.and_then(|id| HeaderValue::from_str(&id).ok()).ok_or(StreamableHttpError::ServerDoesNotSupportSse)?;
        if self.0.resumed.fetch_add(1, Ordering::Relaxed) >= RESUMPTIONS {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let request = self.request(Method::GET, None, session.as_deref(), more).map_err(unanswered)?.header(LAST_EVENT, last_event);
        let sent = self.while_whole(async { request.send().await.map_err(|error| self.unclear(error.without_url())) });
        let response = sent.await.map_err(unanswered)?;
        if response.status() != StatusCode::OK || !is_of_type(&response, "text/event-stream") {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(stream::events(response, self.clone(), None))
    }
}
