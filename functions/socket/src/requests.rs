//! What a browser may ask over its socket.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    ids::{EntityId, SpaceId},
    limits,
};

/// How many spaces one ping may ask for.
const PINGED: usize = 20;

/// How long a request's `id` may be.
const ID_BYTES: usize = 256;

/// What can be asked for.
pub const ACTIONS: [&str; 4] = ["subscribe", "unsubscribe", "send", "ping"];

/// A request. `id` comes back with its answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Option<Value>,
    pub(crate) action: Result<Action>,
}

/// What is asked for.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "action", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
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
    Ping {
        #[serde(default)]
        spaces: BTreeMap<SpaceId, u64>,
    },
}

impl Request {
    /// Reads a frame. What is wrong with it is said in `action`, so that the answer carries the `id`.
    pub(crate) fn read(frame: &str) -> Self {
        if frame.len() > limits::FRAME_BYTES {
            let text = format!("a frame has at most {} bytes, this one {}; longer texts go by HTTP", limits::FRAME_BYTES, frame.len());
            return Self { id: None, action: Err(Error::TooLarge(text)) };
        }
        let mut object = match serde_json::from_str(frame) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Self { id: None, action: Err(Error::Malformed("expected a JSON object with an action".into())) },
            Err(error) => return Self { id: None, action: Err(Error::Malformed(format!("expected JSON: {error}"))) },
        };
        let id = object.remove("id");
        if id.as_ref().is_some_and(|id| id.to_string().len() > ID_BYTES) {
            return Self {
                id: None,
                action: Err(Error::invalid("/id", format!("expected at most {ID_BYTES} bytes; it comes back in the answer"))),
            };
        }
        let action = match object.get("action").and_then(Value::as_str) {
            Some(action) if ACTIONS.contains(&action) => {
                serde_json::from_value(Value::Object(object)).map_err(|error| Error::invalid("", error.to_string()))
            }
            Some(action) => Err(Error::Malformed(format!("there is no action {action:?}; there are {}", ACTIONS.join(", ")))),
            None => Err(Error::Malformed(format!("expected an action: one of {}", ACTIONS.join(", ")))),
        };
        Self { id, action: action.and_then(Action::checked) }
    }
}

impl Action {
    fn checked(self) -> Result<Self> {
        match &self {
            Self::Send { text, .. } if text.len() > limits::SOCKET_TEXT_BYTES => {
                Err(Error::TooLarge(format!("a text over {} bytes goes by HTTP, this one has {}", limits::SOCKET_TEXT_BYTES, text.len())))
            }
            Self::Send { text, .. } => limits::check_text(text).map(|()| self),
            Self::Ping { spaces } if spaces.len() > PINGED => {
                Err(Error::invalid("/spaces", format!("expected at most {PINGED} spaces, got {}", spaces.len())))
            }
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_frame_is_too_strange(frame: String) {
            let request = Request::read(&frame);
            prop_assert!(request.action.is_err());
        }
    }

    #[test]
    fn what_is_wrong_is_said_and_the_id_comes_back() {
        let request = Request::read(r#"{"id":7,"action":"subscribe","spaceId":"nonsense"}"#);
        assert_eq!(request.id, Some(7.into()));
        assert!(request.action.unwrap_err().to_string().contains("expected an id like spc_"));

        let texts = [
            ("[]", "expected a JSON object"),
            (r#"{"action":"fly"}"#, "there is no action \"fly\""),
            (r#"{"action":"ping","extra":1}"#, "unknown field `extra`"),
            (r#"{"action":"send","spaceId":"spc_00000000000000000000000001","text":""}"#, "got none"),
        ];
        for (frame, expected) in texts {
            let error = Request::read(frame).action.unwrap_err().to_string();
            assert!(error.contains(expected), "{frame}: {error}");
        }
        assert!(matches!(Request::read(&"x".repeat(40_000)).action, Err(Error::TooLarge(_))));
        let long = format!(r#"{{"id":"{}","action":"ping"}}"#, "x".repeat(300));
        assert_eq!(Request::read(&long).id, None);
        assert!(Request::read(&long).action.is_err());
    }
}
