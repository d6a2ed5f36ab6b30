//! Answers of any parts: the events that a provider sends for them, and the pieces that they give.

use proptest::prelude::*;
use serde_json::{Value, json};
use smartspace_domain::{runs::Usage, steps::FinishReason};

use super::without_signs_of_life;
use crate::{
    port::{ModelError, Piece},
    properties::Api,
};

/// A part of an answer. The input of a call arrives in pieces.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(String),
    Call(String, Vec<String>),
}

pub(super) fn any_parts() -> impl Strategy<Value = Vec<Part>> {
    let text = prop_oneof![any::<String>(), "[ -~é😀\n\r]{0,12}"];
    // Nobody can say to which of two calls the words after a complete input belong.
    let open = text.clone().prop_map(|text| text.replace(['}', ']'], ""));
    let part = prop_oneof![
        text.prop_map(Part::Text),
        ("[a-z_]{1,8}", prop::collection::vec(open, 0..4))
            .prop_map(|(name, input)| Part::Call(name, input)),
    ];
    prop::collection::vec(part, 0..5)
}

/// The data of the events of a whole answer.
pub(super) fn data(api: Api, parts: &[Part]) -> Vec<Value> {
    match api {
        Api::OpenAi => chunks(parts),
        Api::Anthropic => events_of_a_message(parts),
    }
}

fn chunks(parts: &[Part]) -> Vec<Value> {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        json!({"choices": [choice], "usage": null})
    };
    let call = |index: usize, function: Value| {
        let call = json!({"index": index, "function": function});
        json!({"tool_calls": [call]})
    };
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    let mut calls = 0;
    for part in parts {
        match part {
            Part::Text(text) => deltas.push(json!({"content": text})),
            Part::Call(name, input) => {
                deltas.push(call(calls, json!({"name": name, "arguments": ""})));
                deltas.extend(input.iter().map(|piece| call(calls, json!({"arguments": piece}))));
                calls += 1;
            }
        }
    }
    let reason = if calls > 0 { "tool_calls" } else { "stop" };
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 3}});
    deltas
        .into_iter()
        .map(|delta| chunk(delta, Value::Null))
        .chain([chunk(json!({}), json!(reason)), usage])
        .collect()
}

fn events_of_a_message(parts: &[Part]) -> Vec<Value> {
    let usage = json!({"input_tokens": 5, "output_tokens": 1});
    let mut events = vec![json!({"type": "message_start", "message": {"usage": usage}})];
    for (index, part) in parts.iter().enumerate() {
        let delta =
            |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let block = match part {
            Part::Text(_) => json!({"type": "text", "text": ""}),
            Part::Call(name, _) => {
                let id = format!("toolu_{index}");
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        match part {
            Part::Text(text) => events.push(delta(json!({"type": "text_delta", "text": text}))),
            Part::Call(_, input) => {
                events.extend(input.iter().map(|piece| {
                    delta(json!({"type": "input_json_delta", "partial_json": piece}))
                }));
            }
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if parts.iter().any(|part| matches!(part, Part::Call(..))) {
        "tool_use"
    } else {
        "end_turn"
    };
    let usage = json!({"output_tokens": 3});
    let delta = json!({"stop_reason": reason});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// The bytes of the events, with this line end.
pub(super) fn written(data: &[Value], line_end: &str) -> Vec<u8> {
    let event = |data: &Value| {
        let named =
            data["type"].as_str().map(|kind| format!("event: {kind}\n")).unwrap_or_default();
        format!(": still here\n{named}data: {data}\n\n").replace('\n', line_end)
    };
    data.iter().map(event).collect::<String>().into_bytes()
}

/// The pieces of a complete answer with these parts.
pub(super) fn expected(api: Api, parts: &[Part]) -> Vec<Result<Piece, ModelError>> {
    let mut pieces = Vec::new();
    let mut index = 0;
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Text(text) => pieces.push(Piece::Text(text.clone())),
            Part::Call(name, input) => {
                pieces.push(Piece::CallStarted { index, name: name.clone() });
                // The blocks of the samples are numbered as their parts.
                let id = (api == Api::Anthropic).then(|| format!("toolu_{at}"));
                pieces.extend(id.map(|id| Piece::CallId { index, id }));
                let input = input.iter().filter(|piece| !piece.is_empty()).cloned();
                let before = pieces.len();
                pieces.extend(input.map(|json| Piece::CallInput { index, json }));
                if api == Api::Anthropic && pieces.len() == before {
                    pieces.push(Piece::CallInput { index, json: "{}".to_owned() });
                }
                index += 1;
            }
        }
    }
    let reason = if index > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
    pieces.push(Piece::Finished {
        reason,
        usage: Usage { input_tokens: 5, output_tokens: 3, ..Usage::default() },
    });
    without_signs_of_life(pieces.into_iter().map(Ok).collect())
}
