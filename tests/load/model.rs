//! A model without latency: one `send_message`, streamed in a few pieces, then nothing more.

use axum::{
    Json, Router,
    http::header,
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Starts it. Its base URL.
pub(crate) async fn start() -> Result<String, String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/v1/chat/completions", post(complete))).await });
    Ok(format!("http://{address}/v1"))
}

async fn complete(Json(request): Json<Value>) -> Response {
    let answered = request["messages"].as_array().is_some_and(|messages| messages.iter().any(|message| message["role"] == "assistant"));
    let chunk = |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    let call = |arguments: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]});
    let mut chunks = Vec::new();
    if answered {
        chunks.push(chunk(json!({}), json!("stop")));
    } else {
        let begun = json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "send_message", "arguments": ""}}]});
        chunks.push(chunk(begun, Value::Null));
        for piece in ["{\"text\":\"Here is ", "a reply ", "of ordinary length, ", "as people write them all day.\"}"] {
            chunks.push(chunk(call(piece), Value::Null));
        }
        chunks.push(chunk(json!({}), json!("tool_calls")));
    }
    chunks.push(json!({"choices": [], "usage": {"prompt_tokens": 1_000, "completion_tokens": 20}}));
    let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).chain(["data: [DONE]\n\n".to_owned()]).collect();
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}
