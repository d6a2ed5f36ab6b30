//! Mistral's API, after "Chat completion" (`docs.mistral.ai/api`: fields, the roles and their
//! fields), "Reasoning" (`…/capabilities/reasoning`: parts of the type `thinking`) and "Tool
//! calling and messages" (`mistralai.github.io/mistral-common/usage/tools`: ids of nine letters
//! and digits). That `user` is refused after `tool` (code 3230), and the form of its errors, is
//! known from reports of clients.
//!
//! Not imitated: the agents API, `prefix`, and its filter (`safe_prompt` only changes the prompt).

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head, pieces},
        dialect::{ANSWER, Abilities, Dialect, KeyPlace, PROMPT, Refusing, Turn},
        received::Mark,
        rules::{Refusal, calls, content, fields, marks, order},
        said::Ending,
        servers::openai::reason,
    },
    support::model::{Api, Beat},
};

const FIELDS: &[&str] = &[
    "frequency_penalty",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_mode",
    "random_seed",
    "reasoning_effort",
    "response_format",
    "safe_prompt",
    "stop",
    "stream",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
];
const EXTRA: &str = "Extra inputs are not permitted";

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "mistral",
        api: Api::OpenAi,
        base: "/v1",
        path: "/v1/chat/completions",
        key: KeyPlace::Bearer,
        model: "magistral-medium-latest",
        settings: json!({ "sees": ["images"] }),
        rules: vec![
            fields::no_unknown_field(FIELDS, EXTRA).status(422),
            fields::fields_of_role(
                "assistant",
                &["role", "content", "tool_calls", "prefix"],
                EXTRA,
            )
            .status(422),
            fields::fields_of_role("tool", &["role", "content", "tool_call_id", "name"], EXTRA)
                .status(422),
            calls::ids_have(
                9,
                "Tool call id was {} but must be a-z, A-Z, 0-9, with a length of 9.",
            ),
            order::never_follows("tool", "user", "Unexpected role 'user' after role 'tool'"),
            order::never_follows("tool", "system", "Unexpected role 'system' after role 'tool'"),
            order::never_ends_with_assistant(
                "Expected last role User or Tool (or Assistant with prefix True) for serving but \
                 got assistant",
            ),
            content::content_or_calls(
                "Assistant message must have either content or tool_calls, but not none.",
            ),
            calls::results_follow_calls("Not the same number of function calls and responses"),
            marks::are_known("/content/0", &[], "Invalid thinking"),
        ],
        refuses_at_first: &["unknown field"],
        refusing: Some(Refusing {
            model: "mistral-small-latest",
            settings: json!({}),
            rule: "unknown field",
        }),
        refusal,
        write,
        mark,
        id: |number| format!("b9mgI{number:04}"),
        can: Abilities { streams_calls: false, sees: true, refuses: false, counts_cached: false },
    }
}

/// Errors of the schema have the details of Pydantic, others a code.
fn refusal(refusal: &Refusal) -> Value {
    let message = if refusal.status == 422 {
        let place = json!(["body", refusal.found]);
        let detail = json!({
            "type": "extra_forbidden",
            "loc": place,
            "msg": refusal.words,
            "input": { "include_usage": true },
        });
        json!({ "detail": [detail] })
    } else {
        json!(refusal.words)
    };
    json!({
        "object": "error",
        "message": message,
        "type": "invalid_request_error",
        "param": null,
        "code": if refusal.status == 422 { Value::Null } else { json!("3230") },
    })
}

/// The part that stands before the calls of a message.
fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let thinking = &turn.said.thinking;
    let part = json!({
        "type": "thinking",
        "thinking": [{ "type": "text", "text": thinking }],
        "closed": true,
    });
    (!thinking.is_empty()).then(|| Mark { at: "/content/0", value: part })
}

/// The calls come whole in the last chunk, together with the counts.
fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut chunks = Chunks::new(head(&format!("c{}", turn.number), turn.model));
    chunks.delta(json!({ "role": "assistant", "content": "" }));
    let thoughts = pieces(&turn.said.thinking);
    for (at, piece) in thoughts.iter().enumerate() {
        let text = json!([{ "type": "text", "text": piece }]);
        let mut part = json!({ "type": "thinking", "thinking": text });
        if at + 1 == thoughts.len() {
            part["closed"] = json!(true);
        }
        chunks.delta(json!({ "content": [part] }));
    }
    chunks.pieces(&turn.said.text, |piece| json!({ "content": piece }));
    let calls: Vec<Value> = turn
        .calls()
        .filter(|_| turn.said.end != Ending::Cut)
        .map(|(index, id, name, input)| {
            let function = json!({ "name": name, "arguments": input });
            json!({ "id": id, "function": function, "index": index })
        })
        .collect();
    let mut delta = json!({ "content": "" });
    if !calls.is_empty() {
        delta["tool_calls"] = calls.into();
    }
    let last = json!({ "index": 0, "delta": delta, "finish_reason": reason(turn, "error") });
    let usage = json!({
        "prompt_tokens": PROMPT,
        "total_tokens": PROMPT + ANSWER,
        "completion_tokens": ANSWER,
    });
    chunks.chunk(json!({ "choices": [last], "usage": usage, "p": "abcdefgh" }));
    chunks.done()
}
