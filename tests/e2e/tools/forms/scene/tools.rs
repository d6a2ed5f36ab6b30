//! Tools that ask people, and a call of one.

use serde_json::{Value, json};

use crate::support::model::{Answer, answer, call};

/// A tool that asks people. The fields of `more` are added to its `execution`.
pub(crate) fn form_tool(name: &str, more: Value) -> Value {
    let mut execution = json!({"type": "space"});
    for (field, value) in more.as_object().unwrap() {
        execution[field] = value.clone();
    }
    json!({
        "name": name,
        "description": "Asks people.",
        "inputSchema": {"type": "object"},
        "execution": execution,
    })
}

pub(crate) fn approval() -> Value {
    form_tool("getApproval", json!({"ui": "buttons", "expiresAfter": "10 minutes"}))
}

pub(crate) fn amount(expires_after: &str) -> Value {
    form_tool("getAmount", json!({"resultSchema": amount_schema(), "expiresAfter": expires_after}))
}

pub(crate) fn amount_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"amount": {"type": "integer", "minimum": 1}},
        "required": ["amount"],
    })
}

pub(crate) fn approval_call() -> Answer {
    answer([call(
        "getApproval",
        json!({"message": "Deploy to prod?", "options": ["Approve", "Reject"]}),
    )])
}
