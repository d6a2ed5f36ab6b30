//! How the calls of A2A clients are admitted. A call that is over a limit gets an error of
//! JSON-RPC: clients take an HTTP error for a broken agent.

use axum::{http::Method, response::Response};
use serde::Deserialize;
use smartspace_client::Refusal;

use crate::{
    a2a::{
        request::{Configuration, or_default},
        rpc::RpcError,
    },
    call_limits::{CallProtocol, problem},
    json_rpc::{RpcHead, respond},
};

pub(crate) const CALLS: CallProtocol = CallProtocol { is_wait, refuse };

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallParams {
    #[serde(deserialize_with = "or_default")]
    configuration: Configuration,
}

fn is_wait(_: &Method, body: &[u8]) -> bool {
    let Some(RpcHead { method, params, .. }) = RpcHead::<CallParams>::read(body) else {
        return false;
    };
    let CallParams { configuration } = params;
    match method.as_str() {
        "SendMessage" => !configuration.return_immediately,
        "SendStreamingMessage" | "SubscribeToTask" => true,
        _ => false,
    }
}

fn refuse(body: &[u8], refusal: Refusal) -> Response {
    match RpcHead::<CallParams>::read(body) {
        Some(RpcHead { id: Some(id), .. }) => respond(id, Err(RpcError::from(refusal).json())),
        _ => problem(refusal),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_calls_that_follow_a_space_wait() {
        let waits = |method: &str, params: Value| {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            is_wait(&Method::POST, body.to_string().as_bytes())
        };
        assert!(waits("SendMessage", json!({"message": {}})));
        assert!(waits("SendMessage", json!({"configuration": null})));
        assert!(!waits("SendMessage", json!({"configuration": {"returnImmediately": true}})));
        assert!(waits("SubscribeToTask", json!({"id": "x"})));
        assert!(!waits("GetTask", json!({"id": "x"})));
    }

    #[tokio::test]
    async fn a_refusal_is_an_error_of_json_rpc() {
        let refusal = Refusal { retry_after: Some(5), ..Refusal::new(429, "too many") };
        let body = json!({"jsonrpc": "2.0", "id": "a", "method": "GetTask", "params": {"id": "x"}});
        let response = refuse(body.to_string().as_bytes(), refusal);
        assert_eq!(response.status(), 200);
        let bytes = to_bytes(response.into_body(), 10_000).await.unwrap();
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32603)));
        assert_eq!(answer["error"]["data"][1]["retryDelay"], "5s");
    }
}
