//! Reads what decides about the admission of a JSON-RPC call, and nothing else of it.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The beginning of a JSON-RPC request, with these parameters.
#[derive(Debug, Deserialize)]
pub(crate) struct RpcHead<P> {
    /// Absent in a notification, which is not answered.
    #[serde(default)]
    pub(crate) id: Option<RpcId>,
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) params: P,
}

/// The id of a request.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum RpcId {
    Number(serde_json::Number),
    Text(String),
}

impl<P: DeserializeOwned + Default> RpcHead<P> {
    /// `None` if the body is not one request. The protocol then refuses it in its own way.
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }
}

impl From<RpcId> for Value {
    fn from(id: RpcId) -> Self {
        match id {
            RpcId::Number(number) => Self::Number(number),
            RpcId::Text(text) => Self::String(text),
        }
    }
}

/// The response to the request with this id. `outcome` is its result or its error.
pub(crate) fn respond(id: RpcId, outcome: Result<Value, Value>) -> Response {
    let id = Value::from(id);
    let answer = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    };
    Json(answer).into_response()
}
