//! The texts of a run, as the conventions write them: messages that consist of parts.

use serde_json::{Value, json};
use smartspace_domain::{
    long_steps::fitted,
    steps::{FinishReason, Prompt, Step},
};

/// The longest text in a span, in bytes. X-Ray takes 200 KB for a whole span, and that has up to
/// three of them.
const LONGEST: usize = 48 * 1024;

/// A value as the text of an attribute. Long texts in it are cut, so that it stays JSON.
pub(super) fn text_of(value: &Value) -> String {
    match fitted(value.clone(), LONGEST) {
        Value::String(text) => text,
        value => value.to_string(),
    }
}

/// The system message of a prompt. `None` if it has none.
pub(super) fn instructions(prompt: &Prompt) -> Option<String> {
    let parts: Vec<_> = prompt.system.iter().map(|text| part(text)).collect();
    (!parts.is_empty()).then(|| text_of(&json!(parts)))
}

/// What a model received besides its system message: the first time all, later what was added.
pub(super) fn input(prompt: &Prompt) -> String {
    let messages: Vec<_> = prompt.messages.iter().map(message).collect();
    text_of(&json!(messages))
}

pub(super) fn output(step: &Step) -> String {
    let calls = step.calls.iter().map(|call| {
        let (id, name, arguments) = (call.call_id, &call.name, &call.input);
        json!({"type": "tool_call", "id": id, "name": name, "arguments": arguments})
    });
    let text = Some(part(&step.text)).filter(|_| !step.text.is_empty());
    let parts: Vec<_> = text.into_iter().chain(calls).collect();
    let finish_reason = step.finish_reason.map(finish_reason);
    text_of(&json!([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}]))
}

/// Why a model stopped, as providers write it.
pub(super) fn finish_reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::Refusal => "content_filter",
        FinishReason::Pause => "pause",
        FinishReason::Error => "error",
    }
}

/// A message of a stored prompt.
fn message(message: &Value) -> Value {
    let texts = message["blocks"].as_array().into_iter().flatten().chain([&message["text"]]);
    let texts = texts.filter_map(Value::as_str).filter(|text| !text.is_empty()).map(part);
    let calls = message["calls"].as_array().into_iter().flatten().map(|call| {
        let arguments = call["input"].as_str().and_then(|text| serde_json::from_str(text).ok());
        let arguments: Value = arguments.unwrap_or_else(|| call["input"].clone());
        let (id, name) = (&call["callId"], &call["name"]);
        json!({"type": "tool_call", "id": id, "name": name, "arguments": arguments})
    });
    let results = message["results"].as_array().into_iter().flatten().map(|result| {
        json!({"type": "tool_call_response", "id": result["callId"], "response": result["output"]})
    });
    let parts: Vec<_> = texts.chain(calls).chain(results).collect();
    let role =
        if message["role"] == "tool_results" { json!("tool") } else { message["role"].clone() };
    json!({"role": role, "parts": parts})
}

fn part(text: &str) -> Value {
    json!({"type": "text", "content": text})
}
