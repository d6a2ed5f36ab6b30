//! Models that demand thinking of their own, also in answers that another model wrote, and models
//! that do not think.

use serde_json::{Map, Value, json};

/// The value by which Gemini knows that another model has made a call.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Whether a model refuses because it cannot think, or not as much. Ollama and Cerebras name no
/// field; Groq names the values that it takes.
pub(super) fn is_refused(words: &str) -> bool {
    let words = words.to_lowercase();
    let has = |all: &[&str]| all.iter().all(|word| words.contains(word));
    has(&["does not support thinking"])
        || has(&["think value", "not supported"])
        || has(&["reasoning_effort", "must be one of"])
        || has(&["input should be", "'low'", "'high'"])
}

/// Whether a model misses its thinking beside calls, as `DeepSeek` does.
pub(super) fn is_missed(words: &str) -> bool {
    words.contains("reasoning_content") && words.contains("must be passed back")
}

/// Whether a model misses the signature of a call, as Gemini does.
pub(super) fn is_signature_missed(words: &str) -> bool {
    words.contains("missing a thought_signature")
}

pub(super) fn add_empty(body: &mut Value) {
    for answer in answers_with_calls(body) {
        answer.entry("reasoning_content").or_insert_with(|| json!(""));
    }
}

pub(super) fn add_no_signature(body: &mut Value) {
    for answer in answers_with_calls(body) {
        let first = answer.get_mut("tool_calls").and_then(|calls| calls.get_mut(0));
        if let Some(call) = first.and_then(Value::as_object_mut) {
            let google = json!({"google": {"thought_signature": NO_SIGNATURE}});
            call.entry("extra_content").or_insert(google);
        }
    }
}

fn answers_with_calls(body: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    let messages = messages.into_iter().flatten().filter_map(Value::as_object_mut);
    messages.filter(|message| message.contains_key("tool_calls"))
}
