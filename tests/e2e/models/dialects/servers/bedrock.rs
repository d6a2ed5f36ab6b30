//! Amazon Bedrock with a model of Anthropic, after "`ConverseStream`"
//! (`docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html`),
//! "`Message`" and "`ReasoningContentBlock`" of the same reference, and "Handling stop reasons"
//! and "Extended thinking" of the user guide. The events are in AWS's own encoding.
//!
//! Not imitated: guardrails as a part of the request, inference profiles, and the signature of the
//! request beyond its access key.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::pieces,
        dialect::{ANSWER, Abilities, CACHED, Dialect, KeyPlace, PROMPT, Refusing, Turn},
        received::{Mark, Received},
        rules::{Refusal, Rule, blocks, calls, fields, marks},
        said::Ending,
    },
    support::model::{Api, Beat, bedrock_event},
};

const THINKING: &str = "/content/0/reasoningContent";

/// The fields of the body, and `model`, which the fake takes from the path.
const FIELDS: &[&str] = &[
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "guardrailConfig",
    "inferenceConfig",
    "messages",
    "model",
    "performanceConfig",
    "promptVariables",
    "requestMetadata",
    "serviceTier",
    "system",
    "toolConfig",
];

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "bedrock",
        api: Api::Bedrock,
        base: "",
        path: "/model/{model}/converse-stream",
        key: KeyPlace::Signature,
        model: "eu.anthropic.claude-opus-4-7",
        settings: json!({ "reasoning": "medium" }),
        rules: rules(),
        refuses_at_first: &[],
        refusing: Some(Refusing {
            model: "eu.anthropic.claude-sonnet-5",
            settings: json!({ "temperature": 0.5 }),
            rule: "temperature",
        }),
        refusal,
        write,
        mark,
        id: |number| format!("tooluse_kZJMlvQmRJ6eAyJE{number:04}"),
        can: Abilities { streams_calls: true, sees: true, refuses: true, counts_cached: true },
    }
}

fn rules() -> Vec<Rule> {
    vec![
        fields::no_unknown_field(FIELDS, "Unexpected field: {}"),
        Rule::new(
            "temperature",
            "The model returned: `temperature` is deprecated for this model.",
            |received: &Received| {
                received.body.pointer("/inferenceConfig/temperature").map(Value::to_string)
            },
        ),
        fields::required("/inferenceConfig/maxTokens", "maxTokens is missing"),
        blocks::roles_alternate("A conversation must alternate between user and assistant roles."),
        blocks::texts_are_not_blank("The text field in the ContentBlock object is blank."),
        blocks::results_come_first("tool_result blocks must come first."),
        blocks::thinking_comes_first("Expected `thinking`, but found another block."),
        blocks::few_cache_marks("cachePoint", "A maximum of 4 blocks may be marked. Found {}."),
        calls::ids_match(
            64,
            |c| c.is_ascii_alphanumeric() || c == '_' || c == '-',
            "toolUseId must match [a-zA-Z0-9_-]+.",
        ),
        calls::ids_differ("The toolUse blocks contain duplicate Ids: {}"),
        calls::results_follow_calls(
            "Expected toolResult blocks for the following Ids: {}, but found none.",
        ),
        marks::come_back("`thinking` blocks in the latest assistant message cannot be modified."),
        marks::are_known(THINKING, &[], "Invalid `signature` in `thinking` block"),
        Rule::new("tools", "The toolConfig field must be defined.", |received| {
            let has_calls =
                received.messages().iter().any(|message| !Received::call_ids(message).is_empty());
            (has_calls && received.body["toolConfig"].is_null()).then(String::new)
        }),
    ]
}

fn refusal(refusal: &Refusal) -> Value {
    json!({ "__type": "ValidationException", "message": refusal.words })
}

fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let thinking = &turn.said.thinking;
    let text = json!({ "text": thinking, "signature": turn.signature() });
    let block = json!({ "reasoningText": text });
    (!thinking.is_empty()).then(|| Mark { at: THINKING, value: block })
}

fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut beats = vec![bedrock_event("messageStart", &json!({ "role": "assistant" }))];
    let mut index = 0;
    let mut block = |start: Option<Value>, deltas: Vec<Value>| {
        if let Some(start) = start {
            let start = json!({ "contentBlockIndex": index, "start": start });
            beats.push(bedrock_event("contentBlockStart", &start));
        }
        for delta in deltas {
            let delta = json!({ "contentBlockIndex": index, "delta": delta });
            beats.push(bedrock_event("contentBlockDelta", &delta));
        }
        beats.push(bedrock_event("contentBlockStop", &json!({ "contentBlockIndex": index })));
        index += 1;
    };
    if !turn.said.thinking.is_empty() {
        let texts = pieces(&turn.said.thinking).into_iter();
        let texts = texts.map(|piece| json!({ "reasoningContent": { "text": piece } }));
        let signature = json!({ "reasoningContent": { "signature": turn.signature() } });
        block(None, texts.chain([signature]).collect());
    }
    if !turn.said.text.is_empty() {
        let texts = pieces(&turn.said.text).into_iter();
        block(None, texts.map(|piece| json!({ "text": piece })).collect());
    }
    for (_, id, name, input) in turn.calls() {
        let start = json!({ "toolUse": { "toolUseId": id, "name": name } });
        let inputs = pieces(&input).into_iter();
        let inputs = inputs.map(|piece| json!({ "toolUse": { "input": piece } }));
        block(Some(start), inputs.collect());
    }
    beats.extend(end(turn));
    beats
}

fn end(turn: &Turn<'_>) -> [Beat; 2] {
    let reason = match turn.said.end {
        Ending::Cut => "max_tokens",
        Ending::Refused => "guardrail_intervened",
        _ if turn.said.calls.is_empty() => "end_turn",
        _ => "tool_use",
    };
    let usage = json!({
        "inputTokens": PROMPT - CACHED,
        "outputTokens": ANSWER,
        "totalTokens": PROMPT + ANSWER,
        "cacheReadInputTokens": CACHED,
        "cacheWriteInputTokens": 0,
    });
    let metadata = json!({ "usage": usage, "metrics": { "latencyMs": 751 } });
    [
        bedrock_event("messageStop", &json!({ "stopReason": reason })),
        bedrock_event("metadata", &metadata),
    ]
}
