//! A model that speaks OpenAI's chat completions and answers at once: one `send_message`, streamed in a few pieces, and then nothing more. Who offers it no
//! tools wants a text, and is given one.

use std::time::Duration;

use axum::{
    Json,
    http::header,
    response::{IntoResponse, Response},
    routing::{MethodRouter, post},
};
use serde_json::{Value, json};

/// Where it answers, behind the base URL.
pub const PATH: &str = "/chat/completions";

/// The model, which takes so long for each answer.
pub fn answering<S: Clone + Send + Sync + 'static>(takes: Duration) -> MethodRouter<S> {
    post(async move |Json(request): Json<Value>| {
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        complete(&request)
    })
}

fn complete(request: &Value) -> Response {
    let answered = request["messages"].as_array().is_some_and(|messages| messages.iter().any(|message| message["role"] == "assistant"));
    let chunk = |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    let call = |arguments: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]});
    let mut chunks = Vec::new();
    if request["tools"].as_array().is_none_or(Vec::is_empty) {
        chunks.push(chunk(json!({"content": "Nothing was decided, and nothing is open."}), Value::Null));
        chunks.push(chunk(json!({}), json!("stop")));
    } else if answered {
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
