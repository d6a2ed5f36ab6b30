//! Parses the JSON-RPC 2.0 requests of A2A, and writes its answers and errors.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Value, json};
use smartspace_client::Refusal;
use smartspace_domain::messages::excerpt;

use crate::body::{from_value, parse_object};

/// The maximum lengths of what an error quotes, in characters.
const MAX_METHOD_CHARS: usize = 100;
const MAX_VERSION_CHARS: usize = 20;

/// A call of a method.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    jsonrpc: String,
    /// Absent in a notification. Null is the id of a request, too.
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    pub(super) method: String,
    #[serde(default)]
    params: Value,
}

/// An error of the protocol.
#[derive(Debug)]
pub(super) struct RpcError {
    kind: ErrorKind,
    message: String,
    /// After how many seconds the call may be repeated.
    retry_after: Option<u64>,
}

/// The code of an error, and the reason by which clients recognize it.
#[derive(Clone, Copy, Debug)]
struct ErrorKind {
    code: i32,
    reason: &'static str,
}

const fn kind(code: i32, reason: &'static str) -> ErrorKind {
    ErrorKind { code, reason }
}

const NOT_JSON: ErrorKind = kind(-32700, "PARSE_ERROR");
const NO_REQUEST: ErrorKind = kind(-32600, "INVALID_REQUEST");
const NO_METHOD: ErrorKind = kind(-32601, "METHOD_NOT_FOUND");
const INVALID_PARAMS: ErrorKind = kind(-32602, "INVALID_PARAMS");
const INTERNAL: ErrorKind = kind(-32603, "INTERNAL_ERROR");
const TOO_MANY: ErrorKind = kind(-32603, "RATE_LIMIT_EXCEEDED");
const NO_TASK: ErrorKind = kind(-32001, "TASK_NOT_FOUND");
const NOT_CANCELABLE: ErrorKind = kind(-32002, "TASK_NOT_CANCELABLE");
const NO_PUSH: ErrorKind = kind(-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED");
const UNSUPPORTED: ErrorKind = kind(-32004, "UNSUPPORTED_OPERATION");
const CONTENT_TYPE: ErrorKind = kind(-32005, "CONTENT_TYPE_NOT_SUPPORTED");
const OTHER_VERSION: ErrorKind = kind(-32009, "VERSION_NOT_SUPPORTED");

/// The domain of the reasons.
const DOMAIN: &str = "a2a-protocol.org";

impl RpcError {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(super) fn no_task() -> Self {
        Self::new(NO_TASK, "there is no such task of this agent")
    }

    pub(super) fn not_cancelable() -> Self {
        Self::new(NOT_CANCELABLE, "the task has ended")
    }

    pub(super) fn no_push() -> Self {
        let text = "push notifications are not supported; use SubscribeToTask or GetTask";
        Self::new(NO_PUSH, text)
    }

    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(UNSUPPORTED, message)
    }

    pub(super) fn content(message: impl Into<String>) -> Self {
        Self::new(CONTENT_TYPE, message)
    }

    pub(super) fn no_extended_card() -> Self {
        Self::unsupported("the agent has no extended card")
    }

    /// The client speaks the version `got`, or does not say which one.
    pub(super) fn version(got: Option<&str>) -> Self {
        let expected = "expected version 1.0 of A2A: send the header A2A-Version: 1.0";
        let got = match got {
            Some(got) => format!("got {:?}", excerpt(got, MAX_VERSION_CHARS).0),
            None => "a request without a version is one of 0.3".to_owned(),
        };
        Self::new(OTHER_VERSION, format!("{expected}; {got}"))
    }

    pub(super) fn no_method(method: &str) -> Self {
        let method = excerpt(method, MAX_METHOD_CHARS).0;
        Self::new(NO_METHOD, format!("there is no method {method:?}"))
    }

    pub(super) fn json(&self) -> Value {
        let Self { kind: ErrorKind { code, reason }, message, retry_after } = self;
        let mut data = vec![json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": DOMAIN,
        })];
        if let Some(seconds) = retry_after {
            // The values of this map are texts.
            data[0]["metadata"] = json!({"retryAfter": seconds.to_string()});
            data.push(json!({
                "@type": "type.googleapis.com/google.rpc.RetryInfo",
                "retryDelay": format!("{seconds}s"),
            }));
        }
        json!({"code": code, "message": message, "data": data})
    }
}

impl From<Refusal> for RpcError {
    fn from(Refusal { status, detail, retry_after, .. }: Refusal) -> Self {
        let message = match retry_after {
            Some(seconds) => format!("{detail}; try again after {seconds} seconds"),
            None => detail,
        };
        let error = match status {
            400 | 404 | 413 | 422 => Self::invalid(message),
            403 | 409 => Self::unsupported(message),
            429 => Self::new(TOO_MANY, message),
            _ => Self::new(INTERNAL, message),
        };
        Self { retry_after, ..error }
    }
}

impl Request {
    pub(super) fn parse(body: &[u8]) -> Result<Self, RpcError> {
        let request: Self = parse_object(body).map_err(|refusal| match refusal.status {
            400 => RpcError::new(NOT_JSON, refusal.detail),
            _ => RpcError::new(NO_REQUEST, at("the body", &refusal.detail)),
        })?;
        if request.jsonrpc != "2.0" {
            return Err(RpcError::new(NO_REQUEST, "jsonrpc: expected \"2.0\""));
        }
        if !matches!(request.id(), Value::Null | Value::Number(_) | Value::String(_)) {
            return Err(RpcError::new(NO_REQUEST, "id: expected a text or a number"));
        }
        Ok(request)
    }

    pub(super) fn id(&self) -> &Value {
        self.id.as_ref().unwrap_or(&Value::Null)
    }

    /// Whether the client wants no answer.
    pub(super) fn is_notification(&self) -> bool {
        self.id.is_none()
    }

    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        let params = match &self.params {
            Value::Null => json!({}),
            params @ Value::Object(_) => params.clone(),
            // Types with fields could be read from a list as well.
            _ => return Err(RpcError::invalid("params: expected an object")),
        };
        from_value(params).map_err(|refusal| RpcError::invalid(at("params", &refusal.detail)))
    }
}

/// Reads a field that is there, be it null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The text of an error that is at `root`, unless it names a field.
fn at(root: &str, detail: &str) -> String {
    detail.strip_prefix(".:").map_or_else(|| detail.to_owned(), |rest| format!("{root}:{rest}"))
}

/// The response with the result of a call.
pub(super) fn answer(id: &Value, result: Value) -> Response {
    Json(result_of(id, result)).into_response()
}

/// The response of a call that failed.
pub(super) fn refuse(id: &Value, error: RpcError) -> Response {
    Json(error_of(id, &error)).into_response()
}

pub(super) fn result_of(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(super) fn error_of(id: &Value, error: &RpcError) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": error.json()})
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    fn refused(body: &Value) -> Value {
        Request::parse(body.to_string().as_bytes()).unwrap_err().json()
    }

    #[test]
    fn an_error_says_its_reason_and_when_to_try_again() {
        let info = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "TASK_NOT_FOUND",
            "domain": "a2a-protocol.org",
        });
        let text = "there is no such task of this agent";
        let expected = json!({"code": -32001, "message": text, "data": [info]});
        assert_eq!(RpcError::no_task().json(), expected);

        let refusal = Refusal { retry_after: Some(5), ..Refusal::new(429, "too many") };
        let error = RpcError::from(refusal).json();
        assert_eq!(error["message"], "too many; try again after 5 seconds");
        assert_eq!(error["data"][0]["reason"], "RATE_LIMIT_EXCEEDED");
        assert_eq!(error["data"][0]["metadata"], json!({"retryAfter": "5"}));
        assert_eq!(error["data"][1]["retryDelay"], "5s");
    }

    #[test]
    fn a_request_has_the_shape_of_json_rpc() {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {}});
        let changed = |name: &str, value: Value| {
            let mut changed = call.clone();
            changed[name] = value;
            refused(&changed)["message"].clone()
        };
        assert_eq!(changed("id", json!(["x"])), "id: expected a text or a number");
        assert_eq!(changed("jsonrpc", json!("1.0")), "jsonrpc: expected \"2.0\"");
        let error = refused(&json!({"jsonrpc": "2.0"}));
        assert_eq!(error["message"], "the body: missing field `method`");
        assert_eq!(error["code"], -32600);
    }

    #[test]
    fn only_a_call_without_an_id_is_a_notification() {
        for (id, expected) in [
            ("", true),
            (r#""id": null,"#, false),
            (r#""id": 1,"#, false),
            (r#""id": "a","#, false),
        ] {
            let body = format!(r#"{{{id} "jsonrpc": "2.0", "method": "GetTask"}}"#);
            let request = Request::parse(body.as_bytes()).unwrap();
            assert_eq!(request.is_notification(), expected, "{body}");
        }
    }

    #[test]
    fn parameters_are_an_object() {
        #[derive(Debug, Deserialize)]
        struct Named {
            #[serde(rename = "id")]
            _id: String,
        }
        for (params, expected) in [
            (json!(["x"]), Some("params: expected an object")),
            (json!("x"), Some("params: expected an object")),
            (json!({}), Some("params: missing field `id`")),
            (Value::Null, Some("params: missing field `id`")),
            (json!({"id": 1}), Some("id: invalid type: integer `1`, expected a string")),
            (json!({"id": "x"}), None),
        ] {
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": params});
            let request = Request::parse(call.to_string().as_bytes()).unwrap();
            let error = request.params::<Named>().err().map(|error| error.message);
            assert_eq!(error.as_deref(), expected, "{params}");
        }
    }
}
