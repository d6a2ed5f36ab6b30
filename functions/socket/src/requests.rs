//! The requests that a client may send over its WebSocket.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    approvals::Decision,
    idempotency::IdempotencyKey,
    ids::{AttachmentId, CallId, EntityId, RunId, SpaceId, StreamId},
    limits,
    messages::MessageText,
    request_json,
};

/// The greatest number of spaces in each list of one ping.
const MAX_PINGED_SPACES: usize = 20;

/// The greatest length of a request's `id` as JSON.
const ID_BYTES: usize = 256;

pub const ACTIONS: [&str; 8] =
    ["subscribe", "unsubscribe", "snapshot", "send", "toolResult", "decide", "presence", "ping"];

/// An action whose key is not checked yet.
type UncheckedAction = Action<String>;

/// A request. The answer carries its `id`.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Option<Value>,
    pub(crate) action: Result<Action>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(crate) enum Action<Key = IdempotencyKey> {
    Subscribe {
        space_id: SpaceId,
        #[serde(default)]
        after_seq: Option<u64>,
        /// The client's counter of its frames about subscriptions.
        #[serde(default)]
        n: Option<u64>,
    },
    Unsubscribe {
        space_id: SpaceId,
        #[serde(default)]
        n: Option<u64>,
    },
    Snapshot {
        stream_id: StreamId,
        #[serde(default)]
        space_id: Option<SpaceId>,
    },
    Send {
        space_id: SpaceId,
        #[serde(default)]
        text: String,
        #[serde(default)]
        attachments: Vec<AttachmentId>,
        #[serde(default)]
        reply_to: Option<u64>,
        #[serde(default)]
        idempotency_key: Option<Key>,
        #[serde(default)]
        sender_id: Option<EntityId>,
    },
    ToolResult {
        run_id: RunId,
        call_id: CallId,
        output: Value,
    },
    Decide {
        run_id: RunId,
        call_id: CallId,
        decision: Decision,
        #[serde(default)]
        sender_id: Option<EntityId>,
    },
    Presence {
        space_id: SpaceId,
        #[serde(default)]
        typing: bool,
    },
    Ping {
        #[serde(default)]
        spaces: BTreeMap<SpaceId, u64>,
        /// The spaces in which the client is present for another while.
        #[serde(default)]
        present: BTreeSet<SpaceId>,
    },
}

impl Request {
    /// Reads a frame. An error goes into `action`, so that its answer can carry the `id`.
    pub(crate) fn read(frame: &str) -> Self {
        if frame.len() > limits::FRAME_BYTES {
            let text = format!(
                "expected a frame of at most {} bytes, got {}; send longer texts over HTTP",
                limits::FRAME_BYTES,
                frame.len()
            );
            return Self { id: None, action: Err(Error::TooLarge(text)) };
        }
        if frame.is_empty() {
            let text = "expected a text frame with a JSON object, got an empty or a binary frame";
            return Self { id: None, action: Err(Error::Malformed(text.into())) };
        }
        let mut object = match request_json::parse(frame.as_bytes(), "the frame") {
            Ok(Value::Object(object)) => object,
            Ok(_) => {
                return Self {
                    id: None,
                    action: Err(Error::Malformed("expected a JSON object with an action".into())),
                };
            }
            Err(error) => return Self { id: None, action: Err(error) },
        };
        let id = object.remove("id");
        if id.as_ref().is_some_and(|id| id.to_string().len() > ID_BYTES) {
            return Self {
                id: None,
                action: Err(Error::invalid(
                    "/id",
                    format!("expected at most {ID_BYTES} bytes, because the answer repeats it"),
                )),
            };
        }
        let action = match object.remove("action") {
            Some(Value::String(action)) if ACTIONS.contains(&action.as_str()) => {
                request_json::shaped_variant::<UncheckedAction>(&action, object)
            }
            Some(Value::String(action)) => Err(Error::Malformed(format!(
                "there is no action {action:?}; expected one of {}",
                ACTIONS.join(", ")
            ))),
            Some(_) | None => {
                Err(Error::Malformed(format!("expected an action, one of {}", ACTIONS.join(", "))))
            }
        };
        Self { id, action: action.and_then(UncheckedAction::checked) }
    }
}

impl UncheckedAction {
    fn checked(self) -> Result<Action> {
        Ok(match self {
            Self::Send { space_id, text, attachments, reply_to, idempotency_key, sender_id } => {
                if text.len() > limits::SOCKET_TEXT_BYTES {
                    return Err(Error::TooLarge(format!(
                        "expected a text of at most {} bytes, got {}; send longer texts over HTTP",
                        limits::SOCKET_TEXT_BYTES,
                        text.len()
                    )));
                }
                let key = idempotency_key.map(IdempotencyKey::try_from).transpose();
                let idempotency_key = key.map_err(|error| error.at("/idempotencyKey"))?;
                if !text.is_empty() || attachments.is_empty() {
                    MessageText::check(&text).map_err(|error| error.at("/text"))?;
                }
                Action::Send { space_id, text, attachments, reply_to, idempotency_key, sender_id }
            }
            Self::ToolResult { output, .. }
                if output.to_string().len() > limits::SOCKET_TEXT_BYTES =>
            {
                return Err(Error::TooLarge(format!(
                    "expected an output of at most {} bytes; send longer ones over HTTP",
                    limits::SOCKET_TEXT_BYTES
                )));
            }
            Self::Decide { decision: Decision { input: Some(input), .. }, .. }
                if input.to_string().len() > limits::SOCKET_TEXT_BYTES =>
            {
                return Err(Error::TooLarge(format!(
                    "expected an input of at most {} bytes; send longer ones over HTTP",
                    limits::SOCKET_TEXT_BYTES
                )));
            }
            Self::Subscribe { space_id, after_seq, n } => {
                Action::Subscribe { space_id, after_seq, n }
            }
            Self::Unsubscribe { space_id, n } => Action::Unsubscribe { space_id, n },
            Self::Snapshot { stream_id, space_id } => Action::Snapshot { stream_id, space_id },
            Self::ToolResult { run_id, call_id, output } => {
                Action::ToolResult { run_id, call_id, output }
            }
            Self::Decide { run_id, call_id, decision, sender_id } => {
                Action::Decide { run_id, call_id, decision, sender_id }
            }
            Self::Presence { space_id, typing } => Action::Presence { space_id, typing },
            Self::Ping { spaces, present } => {
                check_pinged("/spaces", spaces.len())?;
                check_pinged("/present", present.len())?;
                Action::Ping { spaces, present }
            }
        })
    }
}

fn check_pinged(field: &'static str, count: usize) -> Result<()> {
    if count <= MAX_PINGED_SPACES {
        return Ok(());
    }
    Err(Error::invalid(field, format!("expected at most {MAX_PINGED_SPACES} spaces, got {count}")))
}

#[cfg(test)]
mod tests;
