//! Sends all requests of a session, and stores the requests that wait for an answer.
//!
//! - [`client`]: the interface for `rmcp`, which can send requests only through it
//! - [`requests`]: sends requests
//! - [`responses`]: reads the responses
//! - [`stream`]: reads responses that are event streams

use std::{
    fmt::Display,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::HeaderMap;
use reqwest::Url;
use rmcp::model::RequestId;
use serde_json::Value;
use smartspace_domain::json;
use smartspace_ports::secrets::KnownSecrets;
use tokio::sync::watch;

use crate::mcp::{
    in_flight::{Failure, InFlight, RequestState},
    messages::{self, ServerMessage},
    revisions::Lifecycle,
};
use crate::{Egress, TraceContext};

mod client;
mod requests;
mod responses;
mod stream;

/// How long the end of a session may take.
pub(super) const CLOSE_LIMIT: Duration = Duration::from_secs(1);
/// Size limit for an answer, in bytes, as JSON or as an event. A picture that is stored fits as
/// base64.
const LONGEST_ANSWER: usize = 5 * 1024 * 1024;
/// Limit for a progress message, in characters.
const LONGEST_PROGRESS: usize = 500;
/// Limit for a sentence about a server, in characters.
const LONGEST_SENTENCE: usize = 500;

/// The transport of one session. Clones share it.
#[derive(Clone)]
pub(super) struct McpTransport(Arc<Shared>);

#[derive(Clone)]
pub(super) struct TransportConfig {
    pub(super) egress: Egress,
    pub(super) server: String,
    pub(super) url: Url,
    /// The configured headers, with their secrets filled in.
    pub(super) headers: HeaderMap,
    /// The run that sends the requests. `None` for requests outside a run.
    pub(super) trace: Option<TraceContext>,
    /// Redacted in everything that the server sends.
    pub(super) secrets: Arc<KnownSecrets>,
    /// Size limit for all responses together, in bytes.
    pub(super) most_bytes: usize,
    /// How the server is spoken to.
    pub(super) lifecycle: Lifecycle,
    /// Whether it is known that the server needs no session. It is not asked again then.
    pub(super) is_discovered: bool,
}

struct Shared {
    config: TransportConfig,
    handshake: InFlight,
    pending: Mutex<Vec<Pending>>,
    received_bytes: AtomicUsize,
    resumed_streams: AtomicUsize,
    may_delete: AtomicBool,
    aborted: watch::Sender<bool>,
}

/// A request that may still be answered.
#[derive(Clone)]
pub(super) struct Pending {
    /// `rmcp` numbers the requests of each connection.
    pub(super) id: RequestId,
    /// The server gets another id without a session.
    pub(super) sent_id: Value,
    progress_token: Value,
    pub(super) in_flight: InFlight,
}

impl McpTransport {
    pub(super) fn new(config: TransportConfig) -> Self {
        Self(Arc::new(Shared {
            config,
            handshake: InFlight::without_call(),
            pending: Mutex::default(),
            received_bytes: AtomicUsize::new(0),
            resumed_streams: AtomicUsize::new(0),
            may_delete: AtomicBool::new(false),
            aborted: watch::Sender::new(false),
        }))
    }

    pub(super) fn lifecycle(&self) -> Lifecycle {
        self.0.config.lifecycle
    }

    /// The state of the handshake, or of the question for the server's revisions.
    pub(super) fn handshake(&self) -> &InFlight {
        &self.0.handshake
    }

    pub(super) fn secrets(&self) -> &KnownSecrets {
        &self.0.config.secrets
    }

    /// From now on the transport may tell the server that the session ends.
    pub(super) fn allow_delete(&self) {
        self.0.may_delete.store(true, Ordering::Relaxed);
    }

    /// Aborts all current and future requests.
    pub(super) fn abort(&self) {
        self.0.aborted.send_replace(true);
    }

    /// Returns once the transport is aborted.
    async fn until_aborted(&self) {
        // The error can't occur: it means that the sender was dropped, and `self` owns it.
        let _ = self.0.aborted.subscribe().wait_for(|aborted| *aborted).await;
    }

    /// Removes a request whose answer is no longer awaited.
    pub(super) fn forget(&self, in_flight: &InFlight) {
        self.pending().retain(|pending| !pending.in_flight.is_same(in_flight));
    }

    /// A redacted sentence about the server, of limited length.
    pub(super) fn sentence(&self, predicate: impl Display) -> String {
        let sentence = format!("the server {} {predicate}", self.0.config.server);
        messages::line(&self.secrets().redact(&sentence), LONGEST_SENTENCE)
    }

    fn unknown(&self, predicate: impl Display) -> Failure {
        Failure::Unknown(self.sentence(predicate))
    }

    /// Counts received bytes.
    ///
    /// # Errors
    /// If the session has received more than its limit.
    fn count_received(&self, bytes: usize) -> Result<(), Failure> {
        let before = self.0.received_bytes.fetch_add(bytes, Ordering::Relaxed);
        let most = self.0.config.most_bytes;
        if before.saturating_add(bytes) > most {
            Err(self.unknown(format!("sent more than {} MiB", most >> 20)))
        } else {
            Ok(())
        }
    }

    /// Reads a message of the server and returns the notice for `rmcp`. If the message answers a
    /// request, its content goes to that request. `own` is the request whose response contains the
    /// message.
    ///
    /// # Errors
    /// If the message is not plain JSON.
    fn read_message(&self, json: &[u8], own: Option<&Pending>) -> Result<ServerNotice, Failure> {
        let mut message =
            json::parse(json).map_err(|_| self.unknown("sent data that can't be read as JSON"))?;
        self.secrets().redact_json(&mut message);
        Ok(match messages::classify(message) {
            ServerMessage::Answer { id, outcome } => match self.take(&id, own) {
                Some(pending) => {
                    let is_awaited_answer =
                        own.is_none_or(|own| own.in_flight.is_same(&pending.in_flight));
                    let message = Some(self.settle(&pending, outcome));
                    ServerNotice { message, is_awaited_answer }
                }
                None => ServerNotice::default(),
            },
            ServerMessage::Progress { token, text } => {
                let all = self.pending();
                if let Some(pending) = all.iter().find(|pending| pending.progress_token == token) {
                    pending.in_flight.report_progress(messages::line(&text, LONGEST_PROGRESS));
                }
                ServerNotice::default()
            }
            // Without a session, a server has no requests. It could not get the refusals.
            ServerMessage::Request(_) if self.lifecycle() == Lifecycle::Stateless => {
                ServerNotice::default()
            }
            ServerMessage::Request(request) => {
                ServerNotice { message: Some(request), is_awaited_answer: false }
            }
            ServerMessage::Ignored => ServerNotice::default(),
        })
    }

    /// Marks a request as failed and returns the message for `rmcp`.
    fn fail(&self, pending: &Pending, failure: Failure) -> Value {
        pending.in_flight.set(RequestState::Failed(failure));
        self.forget(&pending.in_flight);
        messages::not_answered(&pending.id)
    }

    fn take(&self, id: &Value, own: Option<&Pending>) -> Option<Pending> {
        let mut all = self.pending();
        let at = all.iter().position(|pending| match id {
            // A server answers without an id if it could not read the id of the request.
            Value::Null => own.is_some_and(|own| own.in_flight.is_same(&pending.in_flight)),
            id => *id == pending.sent_id || messages::is_id_of(id, &pending.id),
        })?;
        Some(all.swap_remove(at))
    }

    fn settle(&self, pending: &Pending, outcome: Result<Value, Value>) -> Value {
        if !pending.in_flight.is_same(self.handshake()) {
            pending.in_flight.set(RequestState::Answered(outcome));
            return messages::answered(&pending.id);
        }
        if self.lifecycle() == Lifecycle::Stateless {
            let message = match &outcome {
                Ok(result) if messages::speaks_stateless(result) => {
                    messages::discovered(&pending.id)
                }
                Err(error) if messages::offers_stateless(error) => {
                    messages::other_version(&pending.id)
                }
                _ => messages::not_answered(&pending.id),
            };
            pending.in_flight.set(RequestState::Answered(outcome));
            return message;
        }
        let failure = match outcome {
            Ok(result) => match messages::initialized(&pending.id, &result) {
                Some(initialized) => return initialized,
                None => self.sentence("supports no known version of MCP"),
            },
            Err(error) => {
                self.sentence(format!("refused the session: {}", messages::error_text(&error)))
            }
        };
        self.fail(pending, Failure::NotProcessed(failure))
    }

    fn pending(&self) -> MutexGuard<'_, Vec<Pending>> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a server's message that `rmcp` gets.
#[derive(Default)]
struct ServerNotice {
    /// The reduced message for `rmcp`.
    message: Option<Value>,
    /// Whether it is the answer to the request that was sent.
    is_awaited_answer: bool,
}
