//! Groq, after "API reference: chat completions" (`console.groq.com/docs/api-reference`),
//! "`OpenAI` compatibility" (`…/docs/openai`), "Reasoning" (`…/docs/reasoning`: `reasoning`,
//! `reasoning_effort`) and "Tool use" (`…/docs/tool-use`). The words of its errors, and that a
//! message must not have `reasoning_content`, are known from reports of clients.
//!
//! Not imitated: `reasoning_format: raw`, tools that Groq runs, and `tool_use_failed`.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{Abilities, Dialect, KeyPlace, Refusing, Turn, openai_refusal},
        received::Mark,
        rules::{calls, content, fields, marks},
        said::Ending,
        servers::openai::{self, reason},
    },
    support::model::{Api, Beat},
};

const THINKING: &str = "/reasoning";

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "groq",
        api: Api::OpenAi,
        base: "/openai/v1",
        path: "/openai/v1/chat/completions",
        key: KeyPlace::Bearer,
        model: "openai/gpt-oss-120b",
        settings: json!({ "reasoning": "medium" }),
        rules: vec![
            fields::no_unknown_field(openai::FIELDS, "property '{}' is unsupported"),
            fields::fields_of_role(
                "assistant",
                &["role", "content", "name", "reasoning", "tool_calls"],
                "'messages' : for 'role:assistant' the following must be \
                 satisfied[('messages' : property '{}' is unsupported)]",
            ),
            fields::refused_for(
                "llama-",
                "reasoning_effort",
                "`reasoning_effort` is not supported with this model",
            ),
            content::plain_text_of(
                &["system", "tool"],
                "'messages' : for 'role:tool' the following must be satisfied[('messages.content' \
                 : value must be a string)]",
            ),
            content::known_parts(&["text"], "messages must be strings for this model, not {}"),
            calls::results_follow_calls("tool call id {} has no matching message"),
            marks::are_known(THINKING, &[], "reasoning is not that of this model"),
        ],
        refuses_at_first: &[],
        refusing: Some(Refusing {
            model: "llama-3.3-70b-versatile",
            settings: json!({ "reasoning": "medium" }),
            rule: "reasoning_effort",
        }),
        refusal: openai_refusal,
        write,
        mark,
        id: |number| format!("fc_0b1f7e52-6a1c-4d1e-9a77-{number:012}"),
        can: Abilities { streams_calls: false, sees: false, refuses: false, counts_cached: true },
    }
}

fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let thinking = turn.said.thinking.clone();
    (!thinking.is_empty()).then(|| Mark { at: THINKING, value: thinking.into() })
}

/// The calls come whole in one chunk, and the counts in a field of Groq's own.
fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut chunks = Chunks::new(head(&format!("chatcmpl-{}", turn.number), turn.model));
    let first = json!({ "index": 0, "delta": { "role": "assistant", "content": "" } });
    chunks.chunk(json!({ "choices": [first], "x_groq": { "id": "req_01jx" } }));
    let channel = "analysis";
    chunks.pieces(&turn.said.thinking, |piece| json!({ "reasoning": piece, "channel": channel }));
    chunks.pieces(&turn.said.text, |piece| json!({ "content": piece }));
    let calls: Vec<Value> = turn
        .calls()
        .filter(|_| turn.said.end != Ending::Cut)
        .map(|(index, id, name, input)| {
            let function = json!({ "name": name, "arguments": input });
            json!({ "id": id, "type": "function", "function": function, "index": index })
        })
        .collect();
    if !calls.is_empty() {
        chunks.delta(json!({ "tool_calls": calls }));
    }
    let last = json!({ "index": 0, "delta": {}, "finish_reason": reason(turn, "stop") });
    let mut usage = openai::usage();
    usage["queue_time"] = json!(0.02);
    let of_groq = json!({ "id": "req_01jx", "usage": usage });
    chunks.chunk(json!({ "choices": [last], "x_groq": of_groq }));
    chunks.done()
}
