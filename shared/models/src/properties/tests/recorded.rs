//! Answers of several servers, in the form in which their documentation or their logs show them.

use serde_json::Value;

use crate::properties::Api;

/// The events of an answer. One that is not JSON ends a chat completion.
pub(super) struct Recording {
    pub(super) name: &'static str,
    pub(super) api: Api,
    pub(super) events: Vec<Value>,
}

pub(super) fn all() -> Vec<Recording> {
    let of = |api, name, text: &str| {
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let events = data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into()));
        Recording { name, api, events: events.collect() }
    };
    vec![
        of(Api::OpenAi, "openai", include_str!("recorded/openai.sse")),
        of(Api::OpenAi, "azure", include_str!("recorded/azure.sse")),
        of(Api::OpenAi, "deepseek", include_str!("recorded/deepseek.sse")),
        of(Api::OpenAi, "mistral", include_str!("recorded/mistral.sse")),
        of(Api::OpenAi, "gemini", include_str!("recorded/gemini.sse")),
        of(Api::OpenAi, "vllm", include_str!("recorded/vllm.sse")),
        of(Api::OpenAi, "groq", include_str!("recorded/groq.sse")),
        of(Api::OpenAi, "llama_cpp", include_str!("recorded/llama_cpp.sse")),
        of(Api::OpenAi, "openrouter", include_str!("recorded/openrouter.sse")),
        of(Api::OpenAi, "no_reason", include_str!("recorded/no_reason.sse")),
        of(Api::Anthropic, "anthropic", include_str!("recorded/anthropic.sse")),
        of(Api::Anthropic, "anthropic_thinking", include_str!("recorded/anthropic_thinking.sse")),
        of(Api::Anthropic, "anthropic_text", include_str!("recorded/anthropic_text.sse")),
    ]
}

/// The bytes of the events.
pub(super) fn bytes(events: &[Value]) -> Vec<u8> {
    let event = |event: &Value| match event {
        Value::String(end) if end == "[DONE]" => format!("data: {end}\n\n"),
        event => format!("data: {event}\n\n"),
    };
    events.iter().map(event).collect::<String>().into_bytes()
}
