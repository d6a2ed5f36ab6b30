//! The interface through which `rmcp` sends its requests.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::Method;
use rmcp::{
    model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, GetMeta},
    transport::{
        StreamableHttpClientTransport,
        common::client_side_sse::SseRetryPolicy,
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
            StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};
use sse_stream::Sse;
use tokio::time::timeout;

use crate::mcp::{
    in_flight::{Failure, InFlight, RequestState},
    messages,
    revisions::Lifecycle,
    transport::{CLOSE_LIMIT, McpTransport, Pending, responses::is_of_type, stream},
};

/// How often broken streams of one session are resumed.
const MOST_RESUMPTIONS: usize = 100;

/// The wait before the first attempt to resume a broken answer. It doubles with each attempt.
const RESUME_AFTER: Duration = Duration::from_millis(500);
/// How many attempts to resume an answer follow each other.
const RESUME_TRIES: usize = 3;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The error for `rmcp`. It has no details, because `rmcp` logs it. The details are in the
/// request's [`InFlight`].
#[derive(Debug, thiserror::Error)]
#[error("not answered")]
pub(in crate::mcp) struct Unanswered;

fn unanswered(_: Failure) -> StreamableHttpError<Unanswered> {
    StreamableHttpError::Client(Unanswered)
}

impl McpTransport {
    /// The transport for `rmcp`, which may log everything that it knows. So it gets neither the URL
    /// nor the headers.
    pub(in crate::mcp) fn client(&self) -> StreamableHttpClientTransport<Self> {
        let mut config =
            StreamableHttpClientTransportConfig::with_uri("").reinit_on_expired_session(false);
        config.retry_config = Arc::new(ResumePolicy);
        StreamableHttpClientTransport::with_client(self.clone(), config)
    }

    /// The answer to `server/discover` that is known already.
    fn known_discovery(
        &self,
        message: &ClientJsonRpcMessage,
    ) -> Option<StreamableHttpPostResponse> {
        let ClientJsonRpcMessage::Request(request) = message else { return None };
        let is_asked = matches!(request.request, ClientRequest::DiscoverRequest(_));
        if !is_asked || !self.0.config.is_discovered {
            return None;
        }
        let answer = serde_json::from_value(messages::discovered(&request.id)).ok()?;
        Some(StreamableHttpPostResponse::Json(answer, None))
    }

    /// Adds a request of `rmcp` to those that wait for an answer.
    fn add_pending(&self, message: &ClientJsonRpcMessage) -> Option<Pending> {
        let ClientJsonRpcMessage::Request(request) = message else { return None };
        let in_flight = request.request.extensions().get::<InFlight>();
        let in_flight = in_flight.unwrap_or(self.handshake()).clone();
        let progress_token = serde_json::to_value(request.request.get_meta().get_progress_token())
            .unwrap_or_default();
        let id = request.id.clone();
        let sent_id = match self.lifecycle() {
            Lifecycle::Stateless => in_flight.id_without_session(&id),
            Lifecycle::Session => id.clone().into_json_value(),
        };
        let pending = Pending { id, sent_id, progress_token, in_flight };
        self.pending().push(pending.clone());
        Some(pending)
    }

    /// Fails once the transport is aborted.
    async fn unless_aborted<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.until_aborted() => Err(self.unknown("was disconnected")),
            done = work => done,
        }
    }
}

impl StreamableHttpClient for McpTransport {
    type Error = Unanswered;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Unanswered>> {
        if let Some(known) = self.known_discovery(&message) {
            return Ok(known);
        }
        let pending = self.add_pending(&message);
        let in_flight = match &pending {
            Some(pending) => Some(pending.in_flight.clone()),
            None => is_end_of_handshake(&message).then(|| self.handshake().clone()),
        };
        let posted = self
            .unless_aborted(self.post(
                &message,
                pending.as_ref(),
                in_flight.as_ref(),
                session.as_deref(),
                more,
            ))
            .await;
        posted.map_err(|failure| {
            if let Some(in_flight) = in_flight {
                in_flight.set(RequestState::Failed(failure));
                self.forget(&in_flight);
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
        if !self.0.may_delete.load(Ordering::Relaxed) {
            return Err(StreamableHttpError::ServerDoesNotSupportDeleteSession);
        }
        let request =
            self.request(Method::DELETE, None, Some(&session), more).map_err(unanswered)?;
        let sent = self.unless_aborted(async {
            let response = self.0.config.egress.go(request).await;
            response.map_err(|error| self.unknown(error.without_url()))
        });
        match timeout(CLOSE_LIMIT, sent).await {
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
        // Without an event id this would be a stream of unsolicited messages, which have no use
        // here. The transport only resumes answers that broke off.
        let last_event = last_event
            .and_then(|id| HeaderValue::from_str(&id).ok())
            .ok_or(StreamableHttpError::ServerDoesNotSupportSse)?;
        if self.0.resumed_streams.fetch_add(1, Ordering::Relaxed) >= MOST_RESUMPTIONS {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let request = self
            .request(Method::GET, None, session.as_deref(), more)
            .map_err(unanswered)?
            .header(LAST_EVENT, last_event);
        let sent = self.unless_aborted(async {
            let response = self.0.config.egress.go(request).await;
            response.map_err(|error| self.unknown(error.without_url()))
        });
        let response = sent.await.map_err(unanswered)?;
        if response.status() != StatusCode::OK || !is_of_type(&response, "text/event-stream") {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(stream::events(response, self.clone(), None))
    }
}

fn is_end_of_handshake(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Notification(notification) = message else { return false };
    matches!(notification.notification, ClientNotification::InitializedNotification(_))
}

/// Decides when to resume a broken answer.
#[derive(Debug)]
struct ResumePolicy;

impl SseRetryPolicy for ResumePolicy {
    fn retry(&self, tried: usize) -> Option<Duration> {
        (tried < RESUME_TRIES).then(|| RESUME_AFTER * 2_u32.pow(tried as u32))
    }
}
