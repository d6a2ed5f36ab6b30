//! llama.cpp's server, after the README of its server (`github.com/ggml-org/llama.cpp`,
//! `tools/server/README.md`: `/v1/chat/completions`, timings, errors) and "Function calling"
//! (`docs/function-calling.md`), with a template that has one system message, at the beginning.
//! Its source says which contents and which `tool_choice` it takes, and that an error of a
//! template has the status 500.
//!
//! Not imitated: slots, `/props`, and grammars. It has no filter and refuses none of our fields.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{ANSWER, Abilities, CACHED, Dialect, KeyPlace, PROMPT, Turn},
        received::{Mark, Received},
        rules::{Refusal, Rule, calls, content, order},
        servers::openai::{reason, write_said},
    },
    support::model::{Api, Beat},
};

/// The model that refuses long prompts, and its context window.
pub(crate) const SMALL: &str = "small";
pub(crate) const SMALL_WINDOW: usize = 10_000;

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "llama-cpp",
        api: Api::OpenAi,
        base: "/v1",
        path: "/v1/chat/completions",
        key: KeyPlace::Nowhere,
        model: "qwen3-8b-q4_k_m",
        settings: json!({ "sees": ["images"] }),
        rules: vec![
            window(),
            order::system_only_first("Jinja Exception: System message must be at the beginning.")
                .status(500),
            content::no_null_content("Expected 'content' to be a string or an array"),
            content::content_or_calls("All non-assistant messages must contain 'content'"),
            content::known_parts(&["text", "image_url"], "unsupported content[].type"),
            content::arguments_are_objects("Failed to parse tool call arguments as JSON")
                .status(500),
            calls::tool_choice_is_text("Invalid tool_choice: {}"),
            calls::results_follow_calls("No call for the result {}"),
            order::never_ends_with_assistant(
                "Assistant response prefill is incompatible with enable_thinking.",
            ),
        ],
        refuses_at_first: &[],
        refusing: None,
        refusal,
        write,
        mark,
        id: |number| format!("Zk3TqW8vYpLr5NsXb1Dg7Hc2Jf9M{number:04}"),
        can: Abilities { streams_calls: true, sees: true, refuses: false, counts_cached: true },
    }
}

/// A token counts as four characters.
fn window() -> Rule {
    Rule::new(
        "window",
        "the request exceeds the available context size, try increasing it",
        |received: &Received| {
            let tokens = received.body.to_string().chars().count() / 4;
            let is_long = received.model.starts_with(SMALL) && tokens > SMALL_WINDOW;
            is_long.then(|| tokens.to_string())
        },
    )
}

fn refusal(refusal: &Refusal) -> Value {
    let is_server = refusal.status == 500;
    let kind = if is_server { "server_error" } else { "invalid_request_error" };
    let mut error = json!({ "code": refusal.status, "message": refusal.words, "type": kind });
    if refusal.rule == "window" {
        error["type"] = json!("exceed_context_size_error");
        error["n_prompt_tokens"] = json!(refusal.found.parse::<u64>().unwrap());
        error["n_ctx"] = json!(SMALL_WINDOW);
    }
    json!({ "error": error })
}

fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let thinking = turn.said.thinking.clone();
    (!thinking.is_empty()).then(|| Mark { at: "/reasoning_content", value: thinking.into() })
}

fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut head = head(&format!("chatcmpl-{}", turn.number), turn.model);
    head["system_fingerprint"] = json!("b6850-3d4e5f6a");
    let mut chunks = Chunks::new(head);
    chunks.delta(json!({ "role": "assistant", "content": null }));
    chunks.pieces(&turn.said.thinking, |piece| json!({ "reasoning_content": piece }));
    write_said(&mut chunks, turn);
    chunks.finish(json!({}), reason(turn, "stop"));
    if turn.wants_usage {
        let usage = json!({
            "completion_tokens": ANSWER,
            "prompt_tokens": PROMPT,
            "total_tokens": PROMPT + ANSWER,
            "prompt_tokens_details": { "cached_tokens": CACHED },
        });
        let timings = json!({ "cache_n": CACHED, "prompt_n": 232, "predicted_per_second": 41.7 });
        chunks.chunk(json!({ "choices": [], "usage": usage, "timings": timings }));
    }
    chunks.done()
}
