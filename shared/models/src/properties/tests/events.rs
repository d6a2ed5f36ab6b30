//! Random events that contain the field names and values of both APIs.

use proptest::prelude::*;
use serde_json::Value;

/// An event with fields of both APIs, each with any value.
pub(super) fn any_event() -> impl Strategy<Value = Value> {
    const NAMES: &[&str] = &[
        "type",
        "index",
        "delta",
        "content_block",
        "message",
        "usage",
        "text",
        "partial_json",
        "name",
        "input",
        "stop_reason",
        "error",
        "choices",
        "finish_reason",
        "tool_calls",
        "function",
        "arguments",
        "content",
        "id",
        "output_tokens",
        "prompt_tokens",
    ];
    const WORDS: &[&str] = &[
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
        "text",
        "tool_use",
        "text_delta",
        "input_json_delta",
        "tool_calls",
        "stop",
        "end_turn",
        "",
    ];
    let leaf = prop_oneof![
        4 => prop::sample::select(WORDS).prop_map(Value::from),
        2 => (0..3_u64).prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            4 => prop::collection::vec((prop::sample::select(NAMES), inner.clone()), 0..5).prop_map(
                |fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            ),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}
