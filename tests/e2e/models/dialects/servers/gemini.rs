//! Gemini's endpoint in `OpenAI`'s format, after "`OpenAI` compatibility"
//! (`ai.google.dev/gemini-api/docs/openai`), "Thought signatures" (`…/docs/thought-signatures`:
//! the first call of each answer of a turn has one, and it has to come back) and "Function
//! calling" (`…/docs/function-calling`). That calls have no index, that an answer with calls ends
//! with `stop`, and the words of its errors are known from reports of clients.
//!
//! Not imitated: signatures of texts, summaries of thoughts, and Vertex AI's names of fields.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{ANSWER, Abilities, CACHED, Dialect, KeyPlace, PROMPT, Refusing, Turn},
        received::Mark,
        rules::{Refusal, calls, content, fields, marks},
        said::Ending,
    },
    support::model::{Api, Beat},
};

const SIGNATURE: &str = "/tool_calls/0/extra_content/google/thought_signature";
/// The signature that the page gives for calls of other models.
const NO_SIGNATURE: &[&str] =
    &["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

const FIELDS: &[&str] = &[
    "extra_body",
    "frequency_penalty",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
];

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "gemini",
        api: Api::OpenAi,
        base: "/v1beta/openai",
        path: "/v1beta/openai/chat/completions",
        key: KeyPlace::Bearer,
        model: "gemini-3-flash-preview",
        settings: json!({ "sees": ["images"], "reasoning": "low" }),
        rules: vec![
            fields::no_unknown_field(
                FIELDS,
                "Invalid JSON payload received. Unknown name \"{}\": Cannot find field.",
            ),
            fields::no_schema_word(
                "$schema",
                "Invalid JSON payload received. Unknown name \"{}\" at \
                 'tools[0].function_declarations[0].parameters': Cannot find field.",
            ),
            marks::beside_calls(
                SIGNATURE,
                "Function call is missing a thought_signature in functionCall parts. This is \
                 required for tools to work correctly, and missing thought_signature may lead to \
                 degraded model performance.",
            ),
            marks::are_known(SIGNATURE, NO_SIGNATURE, "Corrupted thought signature."),
            content::content_or_calls(
                "Unable to submit request because it must have a text \
                                       parameter.",
            ),
            calls::results_follow_calls(
                "Please ensure that the number of function response parts is equal to the number \
                 of function call parts of the function call turn.",
            ),
        ],
        refuses_at_first: &[],
        refusing: Some(Refusing {
            model: "gemini-2.5-flash",
            settings: json!({}),
            rule: "word of a schema",
        }),
        refusal,
        write,
        mark,
        id: |number| format!("function-call-{}", 8_301_774_502_933_100_000 + number),
        can: Abilities { streams_calls: false, sees: true, refuses: true, counts_cached: true },
    }
}

/// The error stands in a list.
fn refusal(refusal: &Refusal) -> Value {
    let status = "INVALID_ARGUMENT";
    json!([{ "error": { "code": refusal.status, "message": refusal.words, "status": status } }])
}

fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let has_calls = !turn.ids.is_empty();
    has_calls.then(|| Mark { at: SIGNATURE, value: turn.signature().into() })
}

/// Each call comes whole, without an index, and each chunk has the counts so far.
fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut head = head(&format!("r{}", turn.number), turn.model);
    head["usage"] = json!({
        "completion_tokens": ANSWER,
        "prompt_tokens": PROMPT,
        "total_tokens": PROMPT + ANSWER,
        "prompt_tokens_details": { "cached_tokens": CACHED },
    });
    let mut chunks = Chunks::new(head);
    chunks.delta(json!({ "role": "assistant" }));
    chunks.pieces(&turn.said.text, |piece| json!({ "role": "assistant", "content": piece }));
    for (at, id, name, input) in turn.calls().filter(|_| turn.said.end != Ending::Cut) {
        let function = json!({ "arguments": input, "name": name });
        let mut call = json!({ "function": function, "id": id, "type": "function" });
        if at == 0 {
            call["extra_content"]["google"]["thought_signature"] = turn.signature().into();
        }
        chunks.delta(json!({ "role": "assistant", "tool_calls": [call] }));
    }
    let reason = match turn.said.end {
        Ending::Cut => "length",
        Ending::Refused => "content_filter",
        _ => "stop",
    };
    chunks.finish(json!({ "role": "assistant" }), reason);
    chunks.done()
}
