//! vLLM with a model of Qwen, after "`OpenAI`-compatible server"
//! (`docs.vllm.ai/en/latest/serving/openai_compatible_server`), "Reasoning outputs"
//! (`…/features/reasoning_outputs`: `reasoning`), "Tool calling" (`…/features/tool_calling`) and
//! the chat template of Qwen 3.5 (`huggingface.co/Qwen`, `chat_template.jinja`): one system
//! message, at the beginning, a user, and arguments that are an object.
//!
//! Not imitated: a server without a parser of tool calls, and fields that vLLM ignores. It has no
//! filter and refuses none of our fields.

use serde_json::json;

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{ANSWER, Abilities, Dialect, KeyPlace, PROMPT, Turn},
        received::Mark,
        rules::{Refusal, calls, content, order},
        servers::openai::{reason, write_said},
    },
    support::model::{Api, Beat},
};

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "vllm",
        api: Api::OpenAi,
        base: "/v1",
        path: "/v1/chat/completions",
        key: KeyPlace::Nowhere,
        model: "Qwen/Qwen3.5-27B",
        settings: json!({
            "sees": ["images"],
            "request": { "chat_template_kwargs": { "enable_thinking": true } },
        }),
        rules: vec![
            order::system_only_first("System message must be at the beginning."),
            order::needs_user("No user query found in messages."),
            order::never_ends_with_assistant(
                "Cannot set `add_generation_prompt` to True when \
                                              the last message is from the assistant.",
            ),
            content::arguments_are_objects("Can only get item pairs from a mapping."),
            content::known_parts(&["text", "image_url"], "Unknown part type: {}"),
            calls::tools_are_functions("1 validation error: Input should be a valid dictionary"),
            calls::results_follow_calls("No call for the result {}"),
        ],
        refuses_at_first: &[],
        refusing: None,
        refusal,
        write,
        mark,
        id: |number| format!("chatcmpl-tool-5d3e8f70a1b24c6d9e0f11223344{number:04}"),
        can: Abilities { streams_calls: true, sees: true, refuses: false, counts_cached: false },
    }
}

fn refusal(refusal: &Refusal) -> serde_json::Value {
    let error = json!({
        "message": refusal.words,
        "type": "BadRequestError",
        "param": null,
        "code": refusal.status,
    });
    json!({ "error": error })
}

/// No version refuses a message without it, but the template of a later turn reads it.
fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let thinking = turn.said.thinking.clone();
    (!thinking.is_empty()).then(|| Mark { at: "/reasoning", value: thinking.into() })
}

fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut chunks = Chunks::new(head(&format!("chatcmpl-{}", turn.number), turn.model));
    chunks.delta(json!({ "role": "assistant", "content": "", "reasoning": null }));
    chunks.pieces(&turn.said.thinking, |piece| json!({ "reasoning": piece }));
    write_said(&mut chunks, turn);
    chunks.choice(json!({
        "index": 0,
        "delta": { "content": "" },
        "logprobs": null,
        "finish_reason": reason(turn, "stop"),
        "stop_reason": null,
        "token_ids": null,
    }));
    if turn.wants_usage {
        let usage = json!({
            "prompt_tokens": PROMPT,
            "total_tokens": PROMPT + ANSWER,
            "completion_tokens": ANSWER,
            "prompt_tokens_details": null,
        });
        chunks.chunk(json!({ "choices": [], "usage": usage }));
    }
    chunks.done()
}
