//! Streams of providers: whole, cut, shuffled, broken, and made of nothing sensible.

use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};
use smartspace_domain::{runs::Usage, steps::FinishReason};

use super::*;

/// A part of an answer; a call's input is written in pieces.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Call(String, Vec<String>),
}

fn any_parts() -> impl Strategy<Value = Vec<Part>> {
    let text = prop_oneof![any::<String>(), "[ -~é😀\n\r]{0,12}"];
    let part = prop_oneof![
        text.clone().prop_map(Part::Text),
        ("[a-z_]{1,8}", prop::collection::vec(text, 0..4)).prop_map(|(name, input)| Part::Call(name, input)),
    ];
    prop::collection::vec(part, 0..5)
}

fn any_speaks() -> impl Strategy<Value = Speaks> {
    prop::sample::select(vec![Speaks::OpenAi, Speaks::Anthropic])
}

/// The data of the events of a whole answer.
fn data(speaks: Speaks, parts: &[Part]) -> Vec<Value> {
    match speaks {
        Speaks::OpenAi => chunks(parts),
        Speaks::Anthropic => events_of_a_message(parts),
    }
}

fn chunks(parts: &[Part]) -> Vec<Value> {
    let chunk = |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": null});
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
    deltas.into_iter().map(|delta| chunk(delta, Value::Null)).chain([chunk(json!({}), json!(reason)), usage]).collect()
}

fn events_of_a_message(parts: &[Part]) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}})];
    for (index, part) in parts.iter().enumerate() {
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let block = match part {
            Part::Text(_) => json!({"type": "text", "text": ""}),
            Part::Call(name, _) => json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {}}),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        match part {
            Part::Text(text) => events.push(delta(json!({"type": "text_delta", "text": text}))),
            Part::Call(_, input) => {
                events.extend(input.iter().map(|piece| delta(json!({"type": "input_json_delta", "partial_json": piece}))));
            }
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if parts.iter().any(|part| matches!(part, Part::Call(..))) { "tool_use" } else { "end_turn" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// As events of the wire, with lines that end so.
fn written(data: &[Value], line_end: &str) -> Vec<u8> {
    let event = |data: &Value| {
        let named = data["type"].as_str().map(|kind| format!("event: {kind}\n")).unwrap_or_default();
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

/// Without signs of life.
fn said(pieces: Vec<Result<Piece, ModelError>>) -> Vec<Result<Piece, ModelError>> {
    pieces.into_iter().filter(|piece| *piece != Ok(Piece::Text(String::new()))).collect()
}

/// What a whole answer of these parts comes to.
fn expected(speaks: Speaks, parts: &[Part]) -> Vec<Result<Piece, ModelError>> {
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
                if speaks == Speaks::Anthropic && pieces.len() == before {
                    pieces.push(Piece::CallInput { index, json: "{}".to_owned() });
                }
                index += 1;
            }
        }
    }
    let reason = if index > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
    pieces.push(Piece::Finished { reason, usage: Usage { input_tokens: 5, output_tokens: 3, ..Usage::default() } });
    said(pieces.into_iter().map(Ok).collect())
}

proptest! {
    #[test]
    fn a_whole_answer_comes_through_however_it_is_cut(
        speaks in any_speaks(),
        parts in any_parts(),
        line_end in prop::sample::select(vec!["\n", "\r\n"]),
        cuts in prop::collection::vec(any::<Index>(), 0..30),
    ) {
        let bytes = written(&data(speaks, &parts), line_end);
        let pieces = answer(speaks, cut(&bytes, &cuts));
        prop_assert_eq!(check(&pieces), Ok(()));
        prop_assert_eq!(said(pieces), expected(speaks, &parts));
    }

    #[test]
    fn an_answer_that_is_cut_off_is_broken_and_says_nothing_else(speaks in any_speaks(), parts in any_parts(), end: Index) {
        let bytes = written(&data(speaks, &parts), "\n");
        let pieces = answer(speaks, vec![bytes[..end.index(bytes.len())].to_vec()]);
        prop_assert_eq!(check(&pieces), Ok(()));
        let (last, before) = pieces.split_last().unwrap();
        let whole = expected(speaks, &parts);
        let before = said(before.to_vec());
        prop_assert!(whole.starts_with(&before), "{:?} does not begin with {:?}", whole, before);
        match last {
            Ok(Piece::Finished { reason, .. }) => {
                // A chat completion that said why it ends is whole, though its count or its `[DONE]` is missing.
                prop_assert_eq!(speaks, Speaks::OpenAi);
                prop_assert_eq!(before.len() + 1, whole.len());
                let Some(Ok(Piece::Finished { reason: meant, .. })) = whole.last() else { unreachable!("a whole answer has an end") };
                prop_assert_eq!(meant, reason);
            }
            Ok(other) => prop_assert!(false, "it ends with {:?}", other),
            Err(error) => prop_assert_eq!(error.code, smartspace_domain::runs::FailureCode::BrokenStream),
        }
    }

    #[test]
    fn events_in_any_order_make_lawful_pieces(
        speaks in any_speaks(),
        (parts, order) in any_parts().prop_flat_map(|parts| (Just(parts), prop::collection::vec(any::<Index>(), 0..40))),
    ) {
        let data = data(speaks, &parts);
        // Some twice, some not at all.
        let shuffled: Vec<Value> = order.iter().map(|index| data[index.index(data.len())].clone()).collect();
        prop_assert_eq!(check(&answer(speaks, vec![written(&shuffled, "\n")])), Ok(()));
    }

    #[test]
    fn damaged_answers_make_lawful_pieces(
        speaks in any_speaks(),
        parts in any_parts(),
        damages in prop::collection::vec((any::<Index>(), prop::collection::vec(any::<u8>(), 0..4), 0..6_usize), 1..6),
    ) {
        let mut bytes = written(&data(speaks, &parts), "\n");
        for (at, put, taken) in damages {
            let at = at.index(bytes.len() + 1);
            let end = (at + taken).min(bytes.len());
            bytes.splice(at..end, put);
        }
        prop_assert_eq!(check(&answer(speaks, vec![bytes])), Ok(()));
    }

    #[test]
    fn nonsense_makes_lawful_pieces(speaks in any_speaks(), parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..10)) {
        prop_assert_eq!(check(&answer(speaks, parts)), Ok(()));
    }

    #[test]
    fn events_of_the_right_words_in_wrong_places_make_lawful_pieces(speaks in any_speaks(), events in prop::collection::vec(any_event(), 0..12)) {
        prop_assert_eq!(check(&answer(speaks, vec![written(&events, "\n")])), Ok(()));
    }
}

/// An event with fields of both languages, each of which may hold anything.
fn any_event() -> impl Strategy<Value = Value> {
    const NAMES: &[&str] = &[
        "type",
        "index",
        "delta",
        "content_block",
        "message",
        "usage",
        "text",
        "partial_json",
        "name",
        "input",
        "stop_reason",
        "error",
        "choices",
        "finish_reason",
        "tool_calls",
        "function",
        "arguments",
        "content",
        "id",
        "output_tokens",
        "prompt_tokens",
    ];
    const WORDS: &[&str] = &[
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
        "text",
        "tool_use",
        "text_delta",
        "input_json_delta",
        "tool_calls",
        "stop",
        "end_turn",
        "",
    ];
    let leaf = prop_oneof![
        4 => prop::sample::select(WORDS).prop_map(Value::from),
        2 => (0..3_u64).prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            4 => prop::collection::vec((prop::sample::select(NAMES), inner.clone()), 0..5)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}
