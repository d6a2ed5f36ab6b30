//! Parses the JSON-RPC 2.0 requests of A2A, and writes its answers and errors.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use smartspace_client::Refusal;

use crate::body::{from_value, parse_object};

/// A call of a method.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    jsonrpc: String,
    #[serde(default)]
    pub(super) id: Value,
    pub(super) method: String,
    #[serde(default)]
    params: Value,
}

/// An error of the protocol.
#[derive(Debug)]
pub(super) struct RpcError {
    code: i32,
    message: String,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    pub(super) fn no_task() -> Self {
        Self::new(-32001, "there is no such task of this agent")
    }

    pub(super) fn not_cancelable() -> Self {
        Self::new(-32002, "the task has ended")
    }

    pub(super) fn no_push() -> Self {
        Self::new(-32003, "push notifications are not supported; use SubscribeToTask or GetTask")
    }

    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(-32004, message)
    }

    pub(super) fn content(message: impl Into<String>) -> Self {
        Self::new(-32005, message)
    }

    pub(super) fn no_extended_card() -> Self {
        Self::new(-32007, "there is no extended card")
    }

    pub(super) fn version() -> Self {
        Self::new(-32009, "expected version 1.0 of A2A")
    }

    pub(super) fn no_method(method: &str) -> Self {
        Self::new(-32601, format!("there is no method {method:?}"))
    }

    fn json(&self) -> Value {
        json!({"code": self.code, "message": self.message})
    }
}

impl From<Refusal> for RpcError {
    fn from(Refusal { status, detail, retry_after }: Refusal) -> Self {
        let message = match retry_after {
            Some(seconds) => format!("{detail}; try again after {seconds} seconds"),
            None => detail,
        };
        match status {
            400 | 404 | 413 | 422 => Self::invalid(message),
            403 | 409 => Self::unsupported(message),
            _ => Self::new(-32603, message),
        }
    }
}

impl Request {
    pub(super) fn parse(body: &[u8]) -> Result<Self, RpcError> {
        let request: Self = parse_object(body).map_err(|refusal| match refusal.status {
            400 => RpcError::new(-32700, refusal.detail),
            _ => RpcError::new(-32600, refusal.detail),
        })?;
        if request.jsonrpc != "2.0" {
            return Err(RpcError::new(-32600, "jsonrpc: expected \"2.0\""));
        }
        Ok(request)
    }

    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        Ok(from_value(self.params.clone())?)
    }
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
