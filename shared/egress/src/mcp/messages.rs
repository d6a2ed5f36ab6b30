//! Classifies the messages of a server, and builds the reduced messages for `rmcp`. They tell it
//! that a request was answered or that the server sent a request, but not the content.

use rmcp::model::RequestId;
use serde_json::{Value, json};

/// The MCP version without sessions.
const STATELESS: &str = "2026-07-28";
/// The code of an error that names the versions of a server.
const UNSUPPORTED_VERSION: i64 = -32022;
/// MCP versions whose sessions start with a handshake.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Replaces the method of all requests of servers except `ping`. `rmcp` answers some methods itself
/// and refuses only unknown ones, so this makes it refuse them all.
const REFUSED: &str = "not supported";

/// A message of a server.
#[derive(Debug, PartialEq)]
pub(super) enum ServerMessage {
    /// The answer to the request with this id.
    Answer { id: Value, outcome: Result<Value, Value> },
    /// The progress of the request with this token.
    Progress { token: Value, text: String },
    /// A request, reduced for `rmcp`.
    Request(Value),
    /// A message without a use here.
    Ignored,
}

pub(super) fn classify(mut message: Value) -> ServerMessage {
    let id = message.get_mut("id").map(Value::take).filter(|id| !id.is_null());
    if let Some(method) = message.get("method").and_then(Value::as_str) {
        let known_method = if method == "ping" { method } else { REFUSED };
        return match id {
            Some(id) => {
                ServerMessage::Request(json!({"jsonrpc": "2.0", "id": id, "method": known_method}))
            }
            None if method == "notifications/progress" => progress(&message["params"]),
            None => ServerMessage::Ignored,
        };
    }
    let id = id.unwrap_or_default();
    if let Some(error) = message.get_mut("error") {
        return ServerMessage::Answer { id, outcome: Err(error.take()) };
    }
    match message.get_mut("result") {
        Some(result) => ServerMessage::Answer { id, outcome: Ok(result.take()) },
        None => ServerMessage::Ignored,
    }
}

fn progress(params: &Value) -> ServerMessage {
    let text = match params
        .get("message")
        .and_then(Value::as_str)
        .filter(|message| !message.trim().is_empty())
    {
        Some(message) => message.to_owned(),
        None => match (params["progress"].as_f64(), params["total"].as_f64()) {
            (Some(done), Some(total)) => format!("{done} of {total}"),
            (Some(done), None) => done.to_string(),
            (None, _) => return ServerMessage::Ignored,
        },
    };
    ServerMessage::Progress { token: params["progressToken"].clone(), text }
}

/// Whether an answer has the id of a request. Some servers send numeric ids as text.
pub(super) fn is_id_of(id: &Value, request: &RequestId) -> bool {
    match (id, request) {
        (Value::Number(id), RequestId::Number(request)) => id.as_i64() == Some(*request),
        (Value::String(id), RequestId::Number(request)) => *id == request.to_string(),
        (Value::String(id), RequestId::String(request)) => **id == **request,
        _ => false,
    }
}

/// The message that tells `rmcp` that a request was answered.
pub(super) fn answered(id: &RequestId) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

/// The message that tells `rmcp` that a request will not be answered.
pub(super) fn not_answered(id: &RequestId) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "not answered"}})
}

/// The message that tells `rmcp` that the handshake is complete. It contains nothing from the
/// server except the version. Returns `None` if the version is not supported.
pub(super) fn initialized(id: &RequestId, result: &Value) -> Option<Value> {
    let version =
        result["protocolVersion"].as_str().filter(|version| VERSIONS.contains(version))?;
    let server_info = json!({"name": "server", "version": "0"});
    let result = json!({"protocolVersion": version, "capabilities": {}, "serverInfo": server_info});
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Whether the result of `server/discover` names the version without sessions.
pub(super) fn speaks_stateless(result: &Value) -> bool {
    let versions = result["supportedVersions"].as_array();
    versions.is_some_and(|versions| versions.iter().any(|version| version == STATELESS))
}

/// Whether a server refuses the version of a request, but names the version without sessions.
pub(super) fn offers_stateless(error: &Value) -> bool {
    let versions = error["data"]["supported"].as_array();
    error["code"] == UNSUPPORTED_VERSION
        && versions.is_some_and(|versions| versions.iter().any(|version| version == STATELESS))
}

/// The message that tells `rmcp` to ask once more with the version without sessions.
pub(super) fn other_version(id: &RequestId) -> Value {
    let data = json!({"supported": [STATELESS]});
    let error = json!({"code": UNSUPPORTED_VERSION, "message": "other version", "data": data});
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

/// Whether only a server of the version without sessions answers with this error: a header is
/// missing, or a capability of the client.
pub(super) fn is_of_stateless(error: &Value) -> bool {
    matches!(error["code"].as_i64(), Some(-32020 | -32021))
}

/// The message that tells `rmcp` that the server needs no session. It contains nothing from the
/// server.
pub(super) fn discovered(id: &RequestId) -> Value {
    let result = json!({
        "resultType": "complete",
        "supportedVersions": [STATELESS],
        "capabilities": {},
        "ttlMs": 0,
        "cacheScope": "private",
    });
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// The text of a JSON-RPC error.
pub(super) fn error_text(error: &Value) -> String {
    let message = error
        .get("message")
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|message| !message.is_empty());
    message
        .map_or_else(|| "the server reported an error without a message".to_owned(), str::to_owned)
}

/// Puts a text on one line without control characters, truncated to `longest` characters.
pub(super) fn line(text: &str, longest: usize) -> String {
    text.trim()
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .take(longest)
        .collect()
}
