//! What a server's message is, and how little of it `rmcp` is told: enough to know that a request is answered, or that one came.

use rmcp::model::RequestId;
use serde_json::{Value, json};

/// Versions of MCP whose sessions begin with a handshake.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What all requests of servers but `ping` are taken for: `rmcp` refuses what it does not know, and has an answer of its own for some others.
const REFUSED: &str = "not supported";

/// What a server's message is.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// An answer to the request with this id.
    Answer { id: Value, outcome: Result<Value, Value> },
    /// How far the work with this token is.
    Progress { token: Value, text: String },
    /// A request, as it is passed on.
    Request(Value),
    /// Nothing for us.
    Nothing,
}

/// Takes a message apart.
pub(super) fn hear(mut message: Value) -> Heard {
    let id = message.get_mut("id").map(Value::take).filter(|id| !id.is_null());
    if let Some(method) = message.get("method").and_then(Value::as_str) {
        return match id {
            Some(id) => Heard::Request(json!({"jsonrpc": "2.0", "id": id, "method": if method == "ping" { "ping" } else { REFUSED }})),
            None if method == "notifications/progress" => progress(&message["params"]),
            None => Heard::Nothing,
        };
    }
    let id = id.unwrap_or_default();
    if let Some(error) = message.get_mut("error") {
        return Heard::Answer { id, outcome: Err(error.take()) };
    }
    match message.get_mut("result") {
        Some(result) => Heard::Answer { id, outcome: Ok(result.take()) },
        None => Heard::Nothing,
    }
}

fn progress(params: &Value) -> Heard {
    let text = match params.get("message").and_then(Value::as_str).filter(|message| !message.trim().is_empty()) {
        Some(message) => message.to_owned(),
        None => match (params["progress"].as_f64(), params["total"].as_f64()) {
            (Some(done), Some(total)) => format!("{done} of {total}"),
            (Some(done), None) => done.to_string(),
            (None, _) => return Heard::Nothing,
        },
    };
    Heard::Progress { token: params["progressToken"].clone(), text }
}

/// Whether an answer's id is that of a request. Some servers write numbers as text.
pub(super) fn is_id_of(id: &Value, request: &RequestId) -> bool {
    match (id, request) {
        (Value::Number(id), RequestId::Number(request)) => id.as_i64() == Some(*request),
        (Value::String(id), RequestId::Number(request)) => *id == request.to_string(),
        (Value::String(id), RequestId::String(request)) => **id == **request,
        _ => false,
    }
}

/// Tells `rmcp` that a request was answered.
pub(super) fn answered(id: &RequestId) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

/// Tells `rmcp` that a request will not be answered.
pub(super) fn not_answered(id: &RequestId) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "not answered"}})
}

/// Tells `rmcp` that the handshake is done; nothing of what the server says of itself is used. `None` where it is of no version known here.
pub(super) fn greeted(id: &RequestId, greeting: &Value) -> Option<Value> {
    let version = greeting["protocolVersion"].as_str().filter(|version| VERSIONS.contains(version))?;
    let result = json!({"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "server", "version": "0"}});
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// The text of a JSON-RPC error.
pub(super) fn error_text(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).map(str::trim).filter(|message| !message.is_empty());
    message.map_or_else(|| "the server reported an error without a text".to_owned(), str::to_owned)
}

/// On one line, without control characters, at most `longest` characters.
pub(super) fn line(text: &str, longest: usize) -> String {
    text.trim().chars().map(|char| if char.is_control() { ' ' } else { char }).take(longest).collect()
}
