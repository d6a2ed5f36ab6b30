//! How the calls of MCP clients are admitted.
//!
//! Most clients end their session at an HTTP error, and lose its text. So a request that is over a
//! limit gets an answer of the protocol.

use axum::{http::Method, response::Response};
use rmcp::model::ErrorData;
use serde::Deserialize;
use serde_json::{Value, to_value};
use smartspace_client::Refusal;

use crate::{
    call_limits::{CallProtocol, problem},
    json_rpc::{RpcHead, respond},
    mcp::{resources::error_of, server::answer},
};

/// The methods that call a tool, and that open a stream of changes.
const CALL: &str = "tools/call";
pub(super) const LISTEN: &str = "subscriptions/listen";

/// The field with the version of a request of revision 2026-07-28.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

pub(crate) const CALLS: CallProtocol = CallProtocol { is_wait, refuse };

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallParams {
    name: Value,
    arguments: Option<Arguments>,
    #[serde(rename = "_meta")]
    meta: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Arguments {
    wait_seconds: Value,
    timeout_seconds: Value,
}

fn is_wait(_: &Method, body: &[u8]) -> bool {
    let Some(head) = RpcHead::<CallParams>::read(body) else { return false };
    let Arguments { wait_seconds, timeout_seconds } = head.params.arguments.unwrap_or_default();
    match (head.method.as_str(), head.params.name.as_str()) {
        (LISTEN, _) => true,
        (CALL, Some("post_message")) => wait_seconds.as_u64().is_some_and(|time| time > 0),
        (CALL, Some("wait_for_messages")) => timeout_seconds.as_u64() != Some(0),
        _ => false,
    }
}

fn refuse(body: &[u8], refusal: Refusal) -> Response {
    let Some(RpcHead { id: Some(id), method, params }) = RpcHead::<CallParams>::read(body) else {
        return problem(refusal);
    };
    let outcome = if method == CALL {
        let mut result = answer(Err(refusal));
        // Earlier revisions do not have this field.
        result.result_type.take_if(|_| params.meta.get(VERSION).is_none());
        to_value(result).map_err(|_| ErrorData::internal_error("refused", None))
    } else {
        Err(error_of(refusal))
    };
    respond(id, outcome.map_err(|error| to_value(error).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::json;

    use super::*;

    fn waits(method: &str, params: Value) -> bool {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        is_wait(&Method::POST, body.to_string().as_bytes())
    }

    #[test]
    fn only_calls_that_follow_a_space_wait() {
        let call = |name: &str, arguments: Value| {
            waits("tools/call", json!({"name": name, "arguments": arguments}))
        };
        assert!(call("wait_for_messages", json!({"spaceId": "x", "afterSeq": 0})));
        assert!(!call("wait_for_messages", json!({"timeoutSeconds": 0})));
        assert!(call("post_message", json!({"waitSeconds": 5})));
        assert!(!call("post_message", json!({"text": "Hello"})));
        assert!(!call("list_spaces", json!({})));
        assert!(waits("subscriptions/listen", json!({})));
        assert!(!waits("tools/list", json!({})));
        assert!(!is_wait(&Method::POST, b"[]"));
    }

    async fn refused(body: &Value) -> (u16, Value) {
        let refusal = Refusal { retry_after: Some(5), ..Refusal::new(429, "too many") };
        let response = refuse(body.to_string().as_bytes(), refusal);
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap())
    }

    #[tokio::test]
    async fn a_refusal_is_an_answer_to_the_request() {
        let params = json!({"name": "list_spaces", "arguments": {}});
        let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params});
        let (status, answer) = refused(&call).await;
        assert_eq!((status, &answer["id"]), (200, &json!("a")));
        let problem = json!({"status": 429, "detail": "too many", "retryAfter": 5});
        assert_eq!(answer["result"]["structuredContent"], problem);
        assert_eq!(answer["result"]["isError"], true);
        assert_eq!(answer["result"].get("resultType"), None);
        let mut stateless = call;
        stateless["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "x"});
        assert_eq!(refused(&stateless).await.1["result"]["resultType"], "complete");

        let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
        let error = json!({
            "code": -32603,
            "message": "too many",
            "data": {"status": 429, "retryAfter": 5},
        });
        assert_eq!(refused(&list).await, (200, json!({"jsonrpc": "2.0", "id": 7, "error": error})));

        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(refused(&notification).await.0, 429);
    }
}
