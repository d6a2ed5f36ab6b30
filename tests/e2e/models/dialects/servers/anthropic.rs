//! Anthropic, after "Messages" (`docs.claude.com/en/api/messages`), "Streaming messages"
//! (`…/en/docs/build-with-claude/streaming`), "Extended thinking" and "Adaptive thinking"
//! (`…/en/docs/build-with-claude/extended-thinking` and `…/adaptive-thinking`: blocks with
//! signatures come back unchanged and first, `temperature` is refused beside them), "Implement
//! tool use" (results first) and "Handling stop reasons" (`refusal`).
//!
//! Not imitated: tools that Anthropic runs, `pause_turn`, citations, and interleaved thinking.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::pieces,
        dialect::{ANSWER, Abilities, CACHED, Dialect, KeyPlace, PROMPT, Refusing, Turn},
        received::{Mark, Received},
        rules::{Refusal, Rule, blocks, calls, fields, marks},
        said::Ending,
    },
    support::model::{Api, Beat},
};

const FIELDS: &[&str] = &[
    "cache_control",
    "container",
    "context_management",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];
const THINKING: &str = "/content/0";

pub(crate) fn dialect() -> Dialect {
    Dialect {
        name: "claude",
        api: Api::Anthropic,
        base: "",
        path: "/v1/messages",
        key: KeyPlace::XApiKey,
        model: "claude-opus-4-7",
        settings: json!({ "reasoning": "medium" }),
        rules: rules(),
        refuses_at_first: &[],
        refusing: Some(Refusing {
            model: "claude-sonnet-5",
            settings: json!({ "temperature": 0.5 }),
            rule: "temperature",
        }),
        refusal,
        write,
        mark,
        id: |number| format!("toolu_01A09q90qw90lq9178{number:04}"),
        can: Abilities { streams_calls: true, sees: true, refuses: true, counts_cached: true },
    }
}

fn rules() -> Vec<Rule> {
    vec![
        fields::no_unknown_field(FIELDS, "{}: Extra inputs are not permitted"),
        fields::required("/max_tokens", "max_tokens: Field required"),
        Rule::new("version", "anthropic-version: header is required", |received: &Received| {
            (received.header("anthropic-version") != "2023-06-01").then(String::new)
        }),
        fields::refused("temperature", "`temperature` is deprecated for this model."),
        Rule::new(
            "budget",
            "\"thinking.type.enabled\" is not supported for this model. Use \
             \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.",
            |received| {
                let is_old = received.body.pointer("/thinking/budget_tokens").is_some();
                is_old.then(|| received.body["thinking"].to_string())
            },
        ),
        blocks::roles_alternate(
            "messages: roles must alternate between \"user\" and \"assistant\"",
        ),
        blocks::texts_are_not_blank(
            "messages: text content blocks must contain non-whitespace text",
        ),
        blocks::results_come_first("messages: tool_result blocks must come first"),
        blocks::thinking_comes_first(
            "messages: `thinking` or `redacted_thinking` blocks in the latest assistant message \
             cannot be modified.",
        ),
        blocks::few_cache_marks(
            "cache_control",
            "A maximum of 4 blocks with cache_control may be provided. Found {}.",
        ),
        calls::ids_match(
            64,
            |c| c.is_ascii_alphanumeric() || c == '_' || c == '-',
            "messages: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        calls::ids_differ("messages: `tool_use` ids must be unique"),
        calls::results_follow_calls(
            "messages: `tool_use` ids were found without `tool_result` blocks immediately after: \
             {}.",
        ),
        marks::come_back(
            "messages: `thinking` or `redacted_thinking` blocks in the latest assistant message \
             cannot be modified. These blocks must remain as they were in the original response.",
        ),
        Rule::new("signature", "messages: Invalid `signature` in `thinking` block", |received| {
            let blocks = received.messages().iter().flat_map(Received::blocks);
            let mut thinking = blocks.filter(|block| block["type"] == "thinking");
            let is_known = |block: &&Value| {
                let marks = received.written.iter().filter_map(|written| written.mark.as_ref());
                marks.into_iter().any(|mark| mark.value == **block)
            };
            thinking.find(|block| !is_known(block)).map(Value::to_string)
        }),
    ]
}

fn refusal(refusal: &Refusal) -> Value {
    let error = json!({ "type": "invalid_request_error", "message": refusal.words });
    json!({ "type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy" })
}

fn mark(turn: &Turn<'_>) -> Option<Mark> {
    let thinking = &turn.said.thinking;
    let block = json!({
        "type": "thinking",
        "thinking": thinking,
        "signature": turn.signature(),
    });
    (!thinking.is_empty()).then(|| Mark { at: THINKING, value: block })
}

fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut writer = Writer { beats: Vec::new(), index: 0 };
    let usage = json!({
        "input_tokens": PROMPT - CACHED,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": CACHED,
        "cache_creation": { "ephemeral_5m_input_tokens": 0 },
        "output_tokens": 1,
        "service_tier": "standard",
    });
    let message = json!({
        "id": format!("msg_{}", turn.number),
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    });
    writer.event(&json!({ "type": "message_start", "message": message }));
    writer.event(&json!({ "type": "ping" }));
    if !turn.said.thinking.is_empty() {
        let thinking = pieces(&turn.said.thinking);
        let thinking =
            thinking.iter().map(|piece| json!({ "type": "thinking_delta", "thinking": piece }));
        let signature = json!({ "type": "signature_delta", "signature": turn.signature() });
        let start = json!({ "type": "thinking", "thinking": "", "signature": "" });
        writer.block(&start, thinking.chain([signature]));
    }
    if !turn.said.text.is_empty() {
        let text = pieces(&turn.said.text).into_iter();
        let text = text.map(|piece| json!({ "type": "text_delta", "text": piece }));
        writer.block(&json!({ "type": "text", "text": "" }), text);
    }
    for (_, id, name, input) in turn.calls() {
        let start = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
        let input = [String::new()].into_iter().chain(pieces(&input));
        let input = input.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        writer.block(&start, input);
    }
    writer.end(turn);
    writer.beats
}

struct Writer {
    beats: Vec<Beat>,
    index: usize,
}

impl Writer {
    fn event(&mut self, data: &Value) {
        let kind = data["type"].as_str().unwrap_or_default();
        self.beats.push(Beat::Event(format!("event: {kind}\ndata: {data}\n\n")));
    }

    fn block(&mut self, start: &Value, deltas: impl Iterator<Item = Value>) {
        let index = self.index;
        self.event(
            &json!({ "type": "content_block_start", "index": index, "content_block": start }),
        );
        for delta in deltas {
            self.event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        self.event(&json!({ "type": "content_block_stop", "index": index }));
        self.index += 1;
    }

    fn end(&mut self, turn: &Turn<'_>) {
        let reason = match turn.said.end {
            Ending::Cut => "max_tokens",
            Ending::Refused => "refusal",
            _ if turn.said.calls.is_empty() => "end_turn",
            _ => "tool_use",
        };
        self.event(&json!({
            "type": "message_delta",
            "delta": { "stop_reason": reason, "stop_sequence": null },
            "usage": { "output_tokens": ANSWER },
        }));
        self.event(&json!({ "type": "message_stop" }));
    }
}
