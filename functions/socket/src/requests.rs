//! The requests that a client may send over its WebSocket.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    ids::{CallId, EntityId, RunId, SpaceId},
    limits,
};
use smartspace_pipeline::request_json;

/// The greatest number of spaces in one ping.
const MAX_PINGED_SPACES: usize = 20;

/// The greatest length of a request's `id` as JSON.
const ID_BYTES: usize = 256;

/// The actions of requests.
pub const ACTIONS: [&str; 5] = ["subscribe", "unsubscribe", "send", "toolResult", "ping"];

/// A request. The answer carries its `id`.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Option<Value>,
    pub(crate) action: Result<Action>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(
    tag = "action",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub(crate) enum Action {
    Subscribe {
        space_id: SpaceId,
        #[serde(default)]
        after_seq: Option<u64>,
    },
    Unsubscribe {
        space_id: SpaceId,
    },
    Send {
        space_id: SpaceId,
        text: String,
        #[serde(default)]
        idempotency_key: Option<String>,
        #[serde(default)]
        sender_id: Option<EntityId>,
    },
    ToolResult {
        run_id: RunId,
        call_id: CallId,
        output: Value,
    },
    Ping {
        #[serde(default)]
        spaces: BTreeMap<SpaceId, u64>,
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
        let action = match object.get("action").and_then(Value::as_str) {
            Some(action) if ACTIONS.contains(&action) => {
                serde_json::from_value(Value::Object(object))
                    .map_err(|error| Error::invalid("", error.to_string()))
            }
            Some(action) => Err(Error::Malformed(format!(
                "there is no action {action:?}; expected one of {}",
                ACTIONS.join(", ")
            ))),
            None => {
                Err(Error::Malformed(format!("expected an action, one of {}", ACTIONS.join(", "))))
            }
        };
        Self { id, action: action.and_then(Action::checked) }
    }
}

impl Action {
    fn checked(self) -> Result<Self> {
        match &self {
            Self::Send { text, .. } if text.len() > limits::SOCKET_TEXT_BYTES => {
                Err(Error::TooLarge(format!(
                    "expected a text of at most {} bytes, got {}; send longer texts over HTTP",
                    limits::SOCKET_TEXT_BYTES,
                    text.len()
                )))
            }
            Self::Send { idempotency_key: Some(key), .. } if !limits::is_key(key) => {
                Err(Error::invalid(
                    "/idempotencyKey",
                    format!("expected 1 to {} printable ASCII characters", limits::KEY_CHARS),
                ))
            }
            Self::Send { text, .. } => limits::check_text(text).map(|()| self),
            Self::ToolResult { output, .. }
                if output.to_string().len() > limits::SOCKET_TEXT_BYTES =>
            {
                Err(Error::TooLarge(format!(
                    "expected an output of at most {} bytes; send longer ones over HTTP",
                    limits::SOCKET_TEXT_BYTES
                )))
            }
            Self::Ping { spaces } if spaces.len() > MAX_PINGED_SPACES => Err(Error::invalid(
                "/spaces",
                format!("expected at most {MAX_PINGED_SPACES} spaces, got {}", spaces.len()),
            )),
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests;
