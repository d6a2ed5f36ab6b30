//! The state of one request. It accompanies the request through `rmcp` and is never sent.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use http::HeaderMap;
use rmcp::model::RequestId;
use serde_json::Value;
use smartspace_domain::ids::CallId;
use tokio::sync::watch;

/// A request of a session. Clones share the state.
#[derive(Clone)]
pub(super) struct InFlight(Arc<Inner>);

struct Inner {
    call: Option<CallId>,
    round: u32,
    headers: HeaderMap,
    progress: Option<watch::Sender<String>>,
    state: Mutex<RequestState>,
}

/// The state of a request.
#[derive(Debug, PartialEq)]
pub(super) enum RequestState {
    /// Nothing was sent yet.
    Unsent,
    /// The request was sent and may have been processed.
    Sent,
    /// The server answered with a result or with an error.
    Answered(Result<Value, Value>),
    /// No answer will follow.
    Failed(Failure),
}

/// Why a request has no answer. The texts are redacted sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The server did not process the request.
    NotProcessed(String),
    /// The server did not process the request, because the session has expired.
    Expired,
    /// The server refused the request with an HTTP status.
    Refused(String),
    /// The server may have processed the request.
    Unknown(String),
}

impl InFlight {
    /// For a request other than a tool call.
    pub(super) fn without_call() -> Self {
        Self::new(None, 0, HeaderMap::new(), None)
    }

    /// For a tool call with headers of its own. `round` differs if the call is repeated with
    /// answers. `progress` receives the progress messages of the server.
    pub(super) fn of_call(
        call: CallId,
        round: u32,
        headers: HeaderMap,
        progress: watch::Sender<String>,
    ) -> Self {
        Self::new(Some(call), round, headers, Some(progress))
    }

    fn new(
        call: Option<CallId>,
        round: u32,
        headers: HeaderMap,
        progress: Option<watch::Sender<String>>,
    ) -> Self {
        Self(Arc::new(Inner {
            call,
            round,
            headers,
            progress,
            state: Mutex::new(RequestState::Unsent),
        }))
    }

    pub(super) fn call(&self) -> Option<CallId> {
        self.0.call
    }

    /// The id of the request in a protocol without sessions. Those of `rmcp` begin anew with each
    /// connection, but a repeated call must not have the id of an earlier one.
    pub(super) fn id_without_session(&self, id: &RequestId) -> Value {
        let id = id.clone().into_json_value();
        match self.0.call {
            Some(call) => format!("{call}-{}-{id}", self.0.round).into(),
            None => id,
        }
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the state and resets it, so that the request can be sent again.
    pub(super) fn take(&self) -> RequestState {
        mem::replace(
            &mut *self.0.state.lock().unwrap_or_else(PoisonError::into_inner),
            RequestState::Unsent,
        )
    }

    pub(super) fn set(&self, state: RequestState) {
        *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    pub(super) fn report_progress(&self, text: String) {
        if let Some(progress) = &self.0.progress {
            // Works without a receiver too.
            progress.send_replace(text);
        }
    }
}
