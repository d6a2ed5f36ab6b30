//! `OpenAI`, after "Create chat completion" (`platform.openai.com/docs/api-reference/chat`),
//! "Streaming events" (`…/docs/api-reference/chat-streaming`), "Reasoning models"
//! (`…/docs/guides/reasoning`: `max_tokens`, `temperature`) and "Function calling"
//! (`…/docs/guides/function-calling`).
//!
//! Not imitated: the Responses API, hidden thinking (chat completions show none), and what depends
//! on the host `api.openai.com`, such as `prompt_cache_key`.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{
            ANSWER, Abilities, CACHED, Dialect, KeyPlace, PROMPT, Refusing, Turn, no_mark,
            openai_refusal,
        },
        rules::{Rule, calls, content, fields, order},
        said::Ending,
    },
    support::model::{Api, Beat},
};

/// The fields of a request that the API reference lists, as far as they are not deprecated.
pub(crate) const FIELDS: &[&str] = &[
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "verbosity",
];

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "openai",
        api: Api::OpenAi,
        base: "/v1",
        path: "/v1/chat/completions",
        key: KeyPlace::Bearer,
        model: "gpt-5-mini",
        settings: json!({ "reasoning": "low" }),
        rules: rules(),
        refuses_at_first: &["max_tokens"],
        refusing: Some(Refusing {
            model: "gpt-5",
            settings: json!({ "temperature": 0.5 }),
            rule: "temperature",
        }),
        refusal: openai_refusal,
        write,
        mark: no_mark,
        id,
        can: Abilities { streams_calls: true, sees: true, refuses: true, counts_cached: true },
    }
}

/// The rules of the API, and those of its reasoning models.
pub(crate) fn rules() -> Vec<Rule> {
    vec![
        fields::no_unknown_field(FIELDS, "Unknown parameter: '{}'."),
        fields::refused(
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
             'max_completion_tokens' instead.",
        )
        .param("max_tokens"),
        fields::refused(
            "temperature",
            "Unsupported value: 'temperature' does not support {} with this model. Only the \
             default (1) value is supported.",
        )
        .param("temperature"),
        calls::tools_are_functions("Invalid type for 'tools'."),
        content::content_or_calls("Invalid value for 'content': expected a string, got null."),
        content::known_parts(&["text", "image_url", "file"], "Invalid value: '{}'."),
        calls::ids_match(40, |_| true, "Invalid 'messages': string too long: '{}'."),
        calls::results_follow_calls(
            "An assistant message with 'tool_calls' must be followed by tool messages responding \
             to each 'tool_call_id'. The following tool_call_ids did not have response messages: \
             {}",
        ),
        order::needs_user("Invalid 'messages'."),
    ]
}

/// 24 letters and digits after `call_`.
pub(crate) fn id(number: u64) -> String {
    format!("call_Xq7Lr2pVtN9mKc4HsJ0b{number:04}")
}

fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut head = head(&format!("chatcmpl-{}", turn.number), turn.model);
    head["service_tier"] = json!("default");
    head["system_fingerprint"] = Value::Null;
    head["usage"] = Value::Null;
    head["obfuscation"] = json!("x7Qd9");
    let mut chunks = Chunks::new(head);
    chunks.delta(json!({ "role": "assistant", "content": null, "refusal": null }));
    if turn.said.end == Ending::Refused {
        chunks.pieces("I can't help with that.", |piece| json!({ "refusal": piece }));
    }
    write_said(&mut chunks, turn);
    chunks.finish(json!({}), reason(turn, "stop"));
    if turn.wants_usage {
        chunks.chunk(json!({ "choices": [], "usage": usage() }));
    }
    chunks.done()
}

/// The text in pieces, and each call: first its id and name, then its input in pieces.
pub(crate) fn write_said(chunks: &mut Chunks, turn: &Turn<'_>) {
    chunks.pieces(&turn.said.text, |piece| json!({ "content": piece }));
    for (index, id, name, input) in turn.calls() {
        let function = json!({ "name": name, "arguments": "" });
        let call = json!({ "index": index, "id": id, "type": "function", "function": function });
        chunks.delta(json!({ "tool_calls": [call] }));
        chunks.pieces(&input, |piece| {
            json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] })
        });
    }
}

/// The reason of the last chunk. `refused` is that of a refusal.
pub(crate) fn reason<'a>(turn: &Turn<'_>, refused: &'a str) -> &'a str {
    match turn.said.end {
        Ending::Cut => "length",
        Ending::Refused => refused,
        _ if turn.said.calls.is_empty() => "stop",
        _ => "tool_calls",
    }
}

/// The counts, with those of cached and hidden tokens.
pub(crate) fn usage() -> Value {
    json!({
        "prompt_tokens": PROMPT,
        "completion_tokens": ANSWER,
        "total_tokens": PROMPT + ANSWER,
        "prompt_tokens_details": { "cached_tokens": CACHED, "audio_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0 },
    })
}
