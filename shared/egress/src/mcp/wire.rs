//! Every request of a session with a server: `rmcp` sends none but through this. [`requests`] sends them; here is what comes back.

use std::{
    fmt::Display,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use http::HeaderMap;
use reqwest::Url;
use rmcp::model::RequestId;
use serde_json::Value;
use smartspace_domain::json;
use smartspace_edges::secrets::KnownSecrets;
use tokio::sync::watch;

use super::{
    messages::{self, Heard},
    slip::{Failure, Fate, Slip},
};
use crate::{Egress, Trail};

mod requests;

/// Of what a server says of its progress, in characters.
const LONGEST_PROGRESS: usize = 500;
/// Of what is said of a server, in characters.
const LONGEST_SENTENCE: usize = 500;

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

    /// A sentence about the server, without secrets, of bounded length.
    pub(super) fn sentence(&self, predicate: impl Display) -> String {
        let sentence = format!("the server {} {predicate}", self.0.ends.server);
        messages::line(&self.secrets().redact(&sentence), LONGEST_SENTENCE)
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
        let most = self.0.ends.most;
        if before.saturating_add(bytes) > most { Err(self.unclear(format!("sent more than {} MiB", most >> 20))) } else { Ok(()) }
    }

    /// Reads a message, and says what `rmcp` is to be told of it. Its content goes to the slip of the request that it answers.
    ///
    /// # Errors
    /// Where it is no JSON.
    pub(super) fn hear(&self, json: &[u8], own: Option<&Pending>) -> Result<Told, Failure> {
        let mut message = json::parse(json).map_err(|_| self.unclear("sent what can't be read as JSON"))?;
        self.secrets().redact_json(&mut message);
        Ok(match messages::hear(message) {
            Heard::Answer { id, outcome } => match self.take(&id, own) {
                Some(pending) => {
                    let ends = own.is_none_or(|own| own.slip.is(&pending.slip));
                    Told { message: Some(self.settle(&pending, outcome)), ends }
                }
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

    fn pending(&self) -> MutexGuard<'_, Vec<Pending>> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
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
