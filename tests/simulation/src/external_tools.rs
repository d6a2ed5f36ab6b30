//! The tools of agents that make external calls.

use serde_json::{Value, json};

/// The tools that make external calls.
pub const TOOLS: [&str; 4] = ["charge", "fetch", "order", "track"];
/// The external tools that are idempotent, so their calls may be repeated.
pub const IDEMPOTENT: [&str; 2] = ["fetch", "track"];
/// The external tools whose calls have cards.
pub const VISIBLE: [&str; 2] = ["order", "track"];
/// The error if the request did not reach the server.
pub const NOT_REACHED: &str = "the server could not be reached";
/// The errors if the request may have reached the server.
pub const MAYBE_REACHED: [&str; 2] =
    ["the connection was lost before the answer", "the server did not answer in time"];

/// The tool that draws pictures.
pub const DRAWS: &str = "draw";

/// The tools with rules: people decide the calls of the first one, and the other one is refused.
pub const RULED: [&str; 2] = ["transfer", "drop"];

/// The configuration of the tools with rules.
pub(crate) fn ruled() -> [Value; 2] {
    RULED.map(|name| {
        json!({
            "name": name,
            "description": "Reaches outside.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"]
            },
            "execution": {
                "type": "http",
                "method": "POST",
                "url": format!("https://shop.example/{name}"),
                "body": {"what": "{{input.text}}"},
                "timeoutMs": 3_000,
            },
        })
    })
}

/// The rules. `expires_after` says how long calls wait. If `of_edits`, people decide the agents'
/// edits, too.
pub(crate) fn rules(quorum: u64, expires_after: &str, on_expire: &str, of_edits: bool) -> Value {
    let ruled: &[&str] =
        if of_edits { &["transfer", "drop", "edit_message"] } else { &["transfer", "drop"] };
    json!([
        {
            "tools": ruled, "quorum": quorum,
            "expiresAfter": expires_after, "onExpire": on_expire,
        },
        {"tools": ["drop"], "action": "deny"},
    ])
}

/// The configuration of the tool that draws.
pub(crate) fn drawing() -> Value {
    json!({
        "name": DRAWS,
        "description": "Draws.",
        "execution": {"type": "image", "provider": "scripted", "size": "64x64"},
    })
}

/// The configuration of these tools for an agent.
pub(crate) fn configuration() -> [Value; 4] {
    let input =
        json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    TOOLS.map(|name| {
        let is_idempotent = IDEMPOTENT.contains(&name);
        let is_visible = VISIBLE.contains(&name);
        json!({
            "name": name,
            "description": "Reaches outside.",
            "inputSchema": input,
            "visible": is_visible,
            "readOnly": is_idempotent,
            "idempotent": is_idempotent,
            "execution": {
                "type": "http",
                "method": "POST",
                "url": format!("https://shop.example/{name}"),
                "body": {"what": "{{input.text}}"},
                "timeoutMs": if is_visible { 8_000 } else { 3_000 },
            },
        })
    })
}
