//! Sample requests and messages for the tests.

use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    ids::{CallId, RunId},
};

use crate::port::{Message, Request, ToolCall, ToolResult, ToolSpec};

/// A short request with one tool.
pub(crate) fn request() -> Request {
    Request {
        model: serde_json::from_value(json!({"provider": "openai", "name": "gpt-x"})).unwrap(),
        system: vec!["You are Ada.".to_owned()],
        messages: vec![Message::User { blocks: vec!["Hello".to_owned()] }],
        tools: [ToolSpec::new(
            "send_message",
            "Speaks.",
            &json!({"type": "object", "properties": {"text": {"type": "string"}}}),
        )]
        .into(),
        id: String::new(),
        cache_key: "key-1".to_owned(),
        forced_tool: None,
        cache_points: vec![],
    }
}

/// The id of a call of the sample run, by the call's index.
pub(crate) fn call_id(index: u32) -> CallId {
    CallId::of(RunId::new(Time::from_millis(1_771_427_220_000), 1), 0, index)
}

/// The messages of a completed step with one call.
pub(crate) fn call_and_result(tool: &str, output: Value) -> [Message; 2] {
    let call = ToolCall { call_id: call_id(0), name: tool.to_owned(), input: "{}".to_owned() };
    [
        Message::Assistant { text: String::new(), calls: vec![call] },
        Message::ToolResults { results: vec![ToolResult { call_id: call_id(0), output }] },
    ]
}
