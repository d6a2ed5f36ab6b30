//! LM Studio, after "`OpenAI` compatibility endpoints"
//! (`lmstudio.ai/docs/developer/openai-compat`), "Tool use" (`…/openai-compat/tools`: how the
//! parts of a call are streamed) and "Chat completions" (`…/openai-compat/chat-completions`). That
//! it refuses `content: null` and a `tool_choice` that is an object, that later parts of a call
//! have an empty name, and the form of its errors, are known from its bug tracker.
//!
//! Not imitated: loading a model, and models without a parser of tool calls. It has no filter and
//! refuses none of our fields.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{ANSWER, Abilities, Dialect, KeyPlace, PROMPT, Turn},
        received::Mark,
        rules::{Refusal, calls, content, order},
        servers::openai::reason,
    },
    support::model::{Api, Beat},
};

pub(crate) fn dialect() -> Dialect {
    let null = "Invalid 'content': 'content' field must be a string or an array of objects.";
    Dialect {
        name: "lm-studio",
        api: Api::OpenAi,
        base: "/v1",
        path: "/v1/chat/completions",
        key: KeyPlace::Nowhere,
        model: "qwen/qwen3-vl-8b",
        settings: json!({ "sees": ["images"] }),
        rules: vec![
            content::no_null_content(null),
            content::content_or_calls(null),
            content::known_parts(&["text", "image_url"], "Invalid 'content': unknown type {}."),
            calls::tool_choice_is_text(
                "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
            ),
            calls::tools_are_functions("Invalid 'tools'."),
            calls::results_follow_calls("No call for the result {}"),
            order::system_only_first(
                "Error rendering prompt with jinja template: \"System message must be at the \
                 beginning.\".",
            ),
            content::arguments_are_objects(
                "Error rendering prompt with jinja template: \"Cannot apply filter items\".",
            ),
        ],
        refuses_at_first: &[],
        refusing: None,
        refusal: |refusal: &Refusal| json!({ "error": refusal.words }),
        write,
        mark,
        id: |number| format!("{}", 365_174_485 + number),
        can: Abilities { streams_calls: true, sees: true, refuses: false, counts_cached: false },
    }
}

fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let thinking = turn.said.thinking.clone();
    (!thinking.is_empty()).then(|| Mark { at: "/reasoning_content", value: thinking.into() })
}

/// Later parts of a call have an empty name and no id.
fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut head = head(&format!("chatcmpl-{}", turn.number), turn.model);
    head["system_fingerprint"] = json!(turn.model);
    let mut chunks = Chunks::new(head);
    chunks.pieces(
        &turn.said.thinking,
        |piece| json!({ "role": "assistant", "reasoning_content": piece }),
    );
    chunks.pieces(&turn.said.text, |piece| json!({ "role": "assistant", "content": piece }));
    for (index, id, name, input) in turn.calls() {
        let part = |id: Option<&str>, name: &str, arguments: String| {
            let function = json!({ "name": name, "arguments": arguments });
            let mut call = json!({ "index": index, "type": "function", "function": function });
            if let Some(id) = id {
                call["id"] = Value::from(id);
            }
            json!({ "tool_calls": [call] })
        };
        chunks.delta(part(Some(id), name, String::new()));
        chunks.pieces(&input, |piece| part(None, "", piece));
    }
    chunks.finish(json!({}), reason(turn, "stop"));
    if turn.wants_usage {
        let usage = json!({
            "prompt_tokens": PROMPT,
            "completion_tokens": ANSWER,
            "total_tokens": PROMPT + ANSWER,
        });
        chunks.chunk(json!({ "choices": [], "usage": usage }));
    }
    chunks.done()
}
