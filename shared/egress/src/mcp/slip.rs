//! What goes along with a request through `rmcp`, never to the server, and what became of it.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use smartspace_domain::ids::CallId;
use tokio::sync::watch;

/// Goes along with one request; clones are the same slip.
#[derive(Clone)]
pub(super) struct Slip(Arc<Inner>);

struct Inner {
    call: Option<CallId>,
    progress: Option<watch::Sender<String>>,
    fate: Mutex<Fate>,
}

/// What became of a request.
#[derive(Debug, PartialEq)]
pub(super) enum Fate {
    /// Nothing of it has left.
    Unsent,
    /// It is on its way, or was processed.
    Sent,
    /// Its result, or the error that it came to.
    Answered(Result<Value, Value>),
    /// There is no answer to wait for.
    Failed(Failure),
}

/// Why a request was not answered. The texts are sentences, free of secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It was not processed.
    Untouched(String),
    /// It was not processed, since the server knows the session no more.
    Expired,
    /// The server refused it as a whole.
    Refused(String),
    /// It may have been processed.
    Unclear(String),
}

impl Slip {
    /// For a request that is no tool call.
    pub(super) fn of_question() -> Self {
        Self::new(None, None)
    }

    /// For a tool call; what the server says of it meanwhile is put into `progress`.
    pub(super) fn of_call(call: CallId, progress: watch::Sender<String>) -> Self {
        Self::new(Some(call), Some(progress))
    }

    fn new(call: Option<CallId>, progress: Option<watch::Sender<String>>) -> Self {
        Self(Arc::new(Inner { call, progress, fate: Mutex::new(Fate::Unsent) }))
    }

    pub(super) fn call(&self) -> Option<CallId> {
        self.0.call
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What became of the request until now. It can be sent anew then.
    pub(super) fn take(&self) -> Fate {
        mem::replace(&mut *self.0.fate.lock().unwrap_or_else(PoisonError::into_inner), Fate::Unsent)
    }

    pub(super) fn set(&self, fate: Fate) {
        *self.0.fate.lock().unwrap_or_else(PoisonError::into_inner) = fate;
    }

    pub(super) fn says(&self, text: String) {
        if let Some(progress) = &self.0.progress {
            // Nobody may be listening, and that is fine.
            progress.send_replace(text);
        }
    }
}
