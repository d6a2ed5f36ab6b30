//! `DeepSeek` in thinking mode, after "Create chat completion"
//! (`api-docs.deepseek.com/api/create-chat-completion`: the counts of cache hits), "Thinking mode"
//! (`…/guides/thinking_mode`: `reasoning_content` comes back with calls, `temperature` does
//! nothing) and "Context caching" (`…/guides/kv_cache`). That the field must come back even if it
//! is empty, and that a required call is refused, is known from reports of clients.
//!
//! Not imitated: the Anthropic format, chat prefix completion, and its keep-alive comments.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{
            ANSWER, Abilities, CACHED, Dialect, KeyPlace, PROMPT, Refusing, Turn, openai_refusal,
        },
        received::Mark,
        rules::{Rule, calls, content, fields, marks},
        servers::openai,
    },
    support::model::{Api, Beat},
};

const THINKING: &str = "/reasoning_content";

/// A model that begins to think and then has no thought.
pub(crate) const BRIEF: &str = "deepseek-v4-brief";

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "deepseek",
        api: Api::OpenAi,
        base: "",
        path: "/chat/completions",
        key: KeyPlace::Bearer,
        model: "deepseek-v4-pro",
        settings: json!({ "reasoning": "high", "temperature": 0.5 }),
        rules: vec![
            marks::beside_calls(
                THINKING,
                "The `reasoning_content` in the thinking mode must be passed back to the API.",
            ),
            content::known_parts(
                &["text"],
                "Failed to deserialize the JSON body into the target type: messages: unknown \
                 variant `{}`, expected `text`",
            ),
            fields::required("/messages", "Empty input messages"),
            calls::results_follow_calls(
                "An assistant message with 'tool_calls' must be followed by tool messages \
                 responding to each 'tool_call_id'.",
            ),
            Rule::new(
                "tool_choice",
                "Thinking mode does not support this tool_choice",
                |received| {
                    let choice = received.body.get("tool_choice")?;
                    (choice == "required" || choice.is_object()).then(|| choice.to_string())
                },
            ),
        ],
        refuses_at_first: &[],
        refusing: Some(Refusing {
            model: "deepseek-v4-flash",
            settings: json!({ "toolChoice": "required" }),
            rule: "tool_choice",
        }),
        refusal: openai_refusal,
        write,
        mark: |turn| Some(Mark { at: THINKING, value: thinking(turn).into() }),
        id: |number| format!("call_00_pT4vZq8WnLs2xYb6Kd{number:04}"),
        can: Abilities { streams_calls: true, sees: false, refuses: true, counts_cached: true },
    }
}

/// It thinks before every answer, though only a little before some, and [`BRIEF`] not before all.
fn thinking<'a>(turn: &'a Turn<'_>) -> &'a str {
    if turn.model == BRIEF {
        return &turn.said.thinking;
    }
    if turn.said.thinking.is_empty() { "Hm." } else { &turn.said.thinking }
}

/// The first chunk begins the thinking, and the counts stand in the last one.
fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut head = head(&format!("9f{}", turn.number), turn.model);
    head["system_fingerprint"] = json!("fp_eaab8d114b_prod0820_fp8_kvcache");
    let mut chunks = Chunks::new(head);
    chunks.delta(json!({ "role": "assistant", "content": null, "reasoning_content": "" }));
    chunks.pieces(thinking(turn), |piece| json!({ "content": null, "reasoning_content": piece }));
    chunks.delta(json!({ "content": "", "reasoning_content": null }));
    openai::write_said(&mut chunks, turn);
    let reason = openai::reason(turn, "content_filter");
    let last = json!({ "index": 0, "delta": { "content": "" }, "finish_reason": reason });
    chunks.chunk(json!({ "choices": [last], "usage": usage() }));
    chunks.done()
}

fn usage() -> Value {
    json!({
        "prompt_tokens": PROMPT,
        "completion_tokens": ANSWER,
        "total_tokens": PROMPT + ANSWER,
        "prompt_cache_hit_tokens": CACHED,
        "prompt_cache_miss_tokens": PROMPT - CACHED,
    })
}
