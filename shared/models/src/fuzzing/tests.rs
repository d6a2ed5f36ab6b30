//! Streams of providers: complete, truncated, shuffled, damaged, and random.

mod events;

use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};
use smartspace_domain::{
    runs::{FailureCode, Usage},
    steps::FinishReason,
};

use self::events::any_event;
use super::*;

/// A part of an answer. The input of a call arrives in pieces.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Call(String, Vec<String>),
}

fn any_parts() -> impl Strategy<Value = Vec<Part>> {
    let text = prop_oneof![any::<String>(), "[ -~é😀\n\r]{0,12}"];
    let part = prop_oneof![
        text.clone().prop_map(Part::Text),
        ("[a-z_]{1,8}", prop::collection::vec(text, 0..4))
            .prop_map(|(name, input)| Part::Call(name, input)),
    ];
    prop::collection::vec(part, 0..5)
}

fn any_api() -> impl Strategy<Value = Api> {
    prop::sample::select(vec![Api::OpenAi, Api::Anthropic])
}

/// The data of the events of a whole answer.
fn data(api: Api, parts: &[Part]) -> Vec<Value> {
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
    let call = |index: usize, function: Value| json!({"tool_calls": [{"index": index, "function": function}]});
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
fn written(data: &[Value], line_end: &str) -> Vec<u8> {
    let event = |data: &Value| {
        let named =
            data["type"].as_str().map(|kind| format!("event: {kind}\n")).unwrap_or_default();
        format!(": still here\n{named}data: {data}\n\n").replace('\n', line_end)
    };
    data.iter().map(event).collect::<String>().into_bytes()
}

fn cut(bytes: &[u8], cuts: &[Index]) -> Vec<Vec<u8>> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.extend([0, bytes.len()]);
    ends.sort_unstable();
    ends.windows(2).map(|range| bytes[range[0]..range[1]].to_vec()).collect()
}

fn without_signs_of_life(pieces: Vec<Result<Piece, ModelError>>) -> Vec<Result<Piece, ModelError>> {
    pieces.into_iter().filter(|piece| *piece != Ok(Piece::Text(String::new()))).collect()
}

/// The pieces of a complete answer with these parts.
fn expected(api: Api, parts: &[Part]) -> Vec<Result<Piece, ModelError>> {
    let mut pieces = Vec::new();
    let mut index = 0;
    for part in parts {
        match part {
            Part::Text(text) => pieces.push(Piece::Text(text.clone())),
            Part::Call(name, input) => {
                pieces.push(Piece::CallStarted { index, name: name.clone() });
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

/// Bytes that are replaced at a position.
#[derive(Clone, Debug)]
struct Damage {
    at: Index,
    removed: usize,
    inserted: Vec<u8>,
}

fn any_damage() -> impl Strategy<Value = Damage> {
    (any::<Index>(), 0..6_usize, prop::collection::vec(any::<u8>(), 0..4))
        .prop_map(|(at, removed, inserted)| Damage { at, removed, inserted })
}

proptest! {
    #[test]
    fn a_complete_answer_gives_the_same_pieces_however_it_is_split(
        api in any_api(),
        parts in any_parts(),
        line_end in prop::sample::select(vec!["\n", "\r\n"]),
        cuts in prop::collection::vec(any::<Index>(), 0..30),
    ) {
        let bytes = written(&data(api, &parts), line_end);
        let pieces = answer(api, cut(&bytes, &cuts));
        prop_assert_eq!(check(&pieces), Ok(()));
        prop_assert_eq!(without_signs_of_life(pieces), expected(api, &parts));
    }

    #[test]
    fn a_truncated_answer_ends_with_an_error_after_its_pieces(
        api in any_api(),
        parts in any_parts(),
        end: Index,
    ) {
        let bytes = written(&data(api, &parts), "\n");
        let pieces = answer(api, vec![bytes[..end.index(bytes.len())].to_vec()]);
        prop_assert_eq!(check(&pieces), Ok(()));
        let (last, before) = pieces.split_last().unwrap();
        let whole = expected(api, &parts);
        let before = without_signs_of_life(before.to_vec());
        prop_assert!(whole.starts_with(&before), "{:?} does not start with {:?}", whole, before);
        match last {
            Ok(Piece::Finished { reason, .. }) => {
                // A chat completion is complete once it has its finish reason, even without its
                // token counts and its `[DONE]`.
                prop_assert_eq!(api, Api::OpenAi);
                prop_assert_eq!(before.len() + 1, whole.len());
                let Some(Ok(Piece::Finished { reason: expected, .. })) = whole.last() else {
                    unreachable!("a complete answer ends with `Finished`")
                };
                prop_assert_eq!(expected, reason);
            }
            Ok(other) => prop_assert!(false, "the answer ends with {:?}", other),
            Err(error) => prop_assert_eq!(error.code, FailureCode::BrokenStream),
        }
    }

    #[test]
    fn events_in_any_order_give_valid_pieces(
        api in any_api(),
        parts in any_parts(),
        order in prop::collection::vec(any::<Index>(), 0..40),
    ) {
        let data = data(api, &parts);
        // Some events occur twice, and some are missing.
        let shuffled: Vec<Value> =
            order.iter().map(|index| data[index.index(data.len())].clone()).collect();
        prop_assert_eq!(check(&answer(api, vec![written(&shuffled, "\n")])), Ok(()));
    }

    #[test]
    fn damaged_answers_give_valid_pieces(
        api in any_api(),
        parts in any_parts(),
        damages in prop::collection::vec(any_damage(), 1..6),
    ) {
        let mut bytes = written(&data(api, &parts), "\n");
        for damage in damages {
            let start = damage.at.index(bytes.len() + 1);
            let end = (start + damage.removed).min(bytes.len());
            bytes.splice(start..end, damage.inserted);
        }
        prop_assert_eq!(check(&answer(api, vec![bytes])), Ok(()));
    }

    #[test]
    fn random_bytes_give_valid_pieces(
        api in any_api(),
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..10),
    ) {
        prop_assert_eq!(check(&answer(api, parts)), Ok(()));
    }

    #[test]
    fn events_with_known_fields_in_wrong_places_give_valid_pieces(
        api in any_api(),
        events in prop::collection::vec(any_event(), 0..12),
    ) {
        prop_assert_eq!(check(&answer(api, vec![written(&events, "\n")])), Ok(()));
    }
}
