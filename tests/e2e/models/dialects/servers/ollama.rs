//! Ollama, after "`OpenAI` compatibility" (`docs.ollama.com/api/openai-compatibility`: the
//! supported fields), "Tool calling" (`…/capabilities/tool-calling`) and "Thinking"
//! (`…/capabilities/thinking`). That a call comes whole in one chunk and all calls at the index 0,
//! and the words of its errors, are known from its issues and its source.
//!
//! Not imitated: its own API, loading a model, and a prompt that it cuts without an error. It has
//! no filter.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{ANSWER, Abilities, Dialect, KeyPlace, PROMPT, Refusing, Turn, openai_refusal},
        received::Mark,
        rules::{calls, content, fields},
        said::Ending,
        servers::openai::reason,
    },
    support::model::{Api, Beat},
};

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "ollama",
        api: Api::OpenAi,
        base: "/v1",
        path: "/v1/chat/completions",
        key: KeyPlace::Nowhere,
        model: "qwen3:8b",
        settings: json!({ "sees": ["images"], "reasoning": "medium" }),
        rules: vec![
            content::content_or_calls("invalid message content type: <nil>"),
            content::known_parts(&["text", "image_url"], "invalid message format"),
            content::arguments_are_objects("invalid tool call arguments"),
            fields::refused_for(
                "llama3",
                "reasoning_effort",
                "\"llama3.2\" does not support thinking",
            ),
            calls::results_follow_calls("No call for the result {}"),
        ],
        refuses_at_first: &[],
        refusing: Some(Refusing {
            model: "llama3.2",
            settings: json!({ "reasoning": "medium" }),
            rule: "reasoning_effort",
        }),
        refusal: openai_refusal,
        write,
        mark,
        id: |number| format!("call_{:08x}", 0x3f9a_0000 + number),
        can: Abilities { streams_calls: false, sees: true, refuses: false, counts_cached: false },
    }
}

fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let thinking = turn.said.thinking.clone();
    (!thinking.is_empty()).then(|| Mark { at: "/reasoning", value: thinking.into() })
}

/// Each call comes whole in a chunk of its own, and every one at the index 0.
fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut head = head(&format!("chatcmpl-{}", turn.number), turn.model);
    head["system_fingerprint"] = json!("fp_ollama");
    let mut chunks = Chunks::new(head);
    let empty = |field: &str, text: String| {
        let mut delta = json!({ "role": "assistant", "content": "" });
        delta[field] = Value::from(text);
        delta
    };
    chunks.delta(empty("content", String::new()));
    chunks.pieces(&turn.said.thinking, |piece| empty("reasoning", piece));
    chunks.pieces(&turn.said.text, |piece| empty("content", piece));
    for (_, id, name, input) in turn.calls().filter(|_| turn.said.end != Ending::Cut) {
        let function = json!({ "name": name, "arguments": input });
        let call = json!({ "id": id, "index": 0, "type": "function", "function": function });
        let delta = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
        chunks.delta(delta);
    }
    chunks.finish(empty("content", String::new()), reason(turn, "stop"));
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
