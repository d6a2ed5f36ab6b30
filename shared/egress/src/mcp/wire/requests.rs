//! The requests themselves, and what their answers are before anyone looks into them.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
};

use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue, StatusCode, header};
use reqwest::{Method, RequestBuilder, Response};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientNotification, GetExtensions, GetMeta},
    transport::streamable_http_client::{SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse},
};
use smartspace_domain::json;
use sse_stream::Sse;
use tokio::time::timeout;

use super::{
    super::{
        connection::FAREWELL,
        messages,
        slip::{Failure, Fate, Slip},
        stream,
    },
    Pending, Told, Wire,
};
use crate::request::failures;

/// Of an answer in JSON.
const LONGEST_JSON: usize = 4 * 1024 * 1024;
/// Of the body of a refusal, in bytes, and of it what is told, in characters.
const LONGEST_REFUSAL: usize = 16 * 1024;
const TOLD_OF_REFUSAL: usize = 300;
/// Of a session's id.
const LONGEST_SESSION: usize = 1_024;
/// How often broken streams of one session are resumed.
const RESUMPTIONS: usize = 100;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Says nothing: `rmcp` logs what it is told. What was wrong stands on the request's [`Slip`].
#[derive(Debug, thiserror::Error)]
#[error("not answered")]
pub(in crate::mcp) struct Unanswered;

impl Wire {
    /// A request to the server with all its headers. Later ones win over those of the configuration.
    fn request(
        &self,
        method: Method,
        slip: Option<&Slip>,
        session: Option<&str>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<RequestBuilder, Failure> {
        let ends = &self.0.ends;
        let client = ends.egress.client_for(&ends.url, false).map_err(|error| Failure::Untouched(error.to_string()))?;
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
        // A server may close a kept connection just when it is used again. What only asks is asked once more then; a call is not.
        let again = request.try_clone().filter(|_| slip.is_none_or(|slip| slip.call().is_none()));
        let response = match (self.0.ends.egress.go(request).await, again) {
            (Err(error), Some(again)) if is_broken(&error) => self.0.ends.egress.go(again).await,
            (response, _) => response,
        };
        let response = response.map_err(|error| {
            let cause = failures::cause(&error);
            if is_broken(&error) {
                self.unclear(format!("did not answer: {cause}"))
            } else {
                Failure::Untouched(self.sentence(format!("can't be reached: {cause}")))
            }
        })?;
        let status = response.status();
        let Some(pending) = pending else {
            let refusal = || Err(self.refusal(status, session.is_some(), ""));
            return if status.is_success() { Ok(StreamableHttpPostResponse::Accepted) } else { refusal() };
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
        let text = match json::parse(&body) {
            // Where it is escaped, a secret would not be found in the text.
            Ok(mut json) => {
                self.secrets().redact_json(&mut json);
                json.to_string()
            }
            Err(_) => self.secrets().redact(&String::from_utf8_lossy(&body)).into_owned(),
        };
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

    async fn body(&self, mut response: Response, most: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|_| self.unclear("broke off its answer"))? {
            self.receive(piece.len())?;
            if body.len() + piece.len() > most {
                return Err(self.unclear(format!("answered with more than {} KiB", most / 1024)));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
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

/// Whether something may have reached the server.
fn is_broken(error: &reqwest::Error) -> bool {
    !error.is_connect() && !error.is_builder()
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
        let sent = self.while_whole(async { self.0.ends.egress.go(request).await.map_err(|error| self.unclear(error.without_url())) });
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
        let sent = self.while_whole(async { self.0.ends.egress.go(request).await.map_err(|error| self.unclear(error.without_url())) });
        let response = sent.await.map_err(unanswered)?;
        if response.status() != StatusCode::OK || !is_of_type(&response, "text/event-stream") {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(stream::events(response, self.clone(), None))
    }
}
