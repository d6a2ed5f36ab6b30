mod ends;
mod numbering;
mod odd_fields;
mod thinking;

use serde_json::json;

use super::*;

/// All pieces of a stream with these deltas, including the last piece.
fn read(deltas: &[Value], finish_reason: &str) -> Vec<Piece> {
    let mut answer = ResponseReader::new(10);
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]});
    let chunks = deltas
        .iter()
        .map(|delta| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
        .chain([last]);
    let mut pieces: Vec<Piece> = chunks
        .flat_map(|chunk| answer.chunk(serde_json::from_value(chunk).unwrap()).unwrap())
        .collect();
    pieces.push(answer.finish().unwrap());
    pieces
}

fn started(index: u32, name: &str) -> Piece {
    Piece::CallStarted { index, name: name.to_owned() }
}

fn input(index: u32, json: &str) -> Piece {
    Piece::CallInput { index, json: json.to_owned() }
}

fn finished(reason: FinishReason, output_tokens: u64) -> Piece {
    Piece::Finished { reason, usage: Usage { input_tokens: 10, output_tokens, ..Usage::default() } }
}

fn calls(calls: Value) -> Value {
    json!({ "tool_calls": calls })
}

fn call_id(index: u32, id: &str) -> Piece {
    Piece::CallId { index, id: id.to_owned() }
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn without_ids(pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.into_iter().filter(|piece| !matches!(piece, Piece::CallId { .. })).collect()
}

/// The pieces of two calls. They do not depend on how the server numbers the calls.
fn two_calls() -> Vec<Piece> {
    let reason = FinishReason::ToolCalls;
    vec![
        started(0, "f"),
        input(0, "{}"),
        started(1, "g"),
        input(1, "{\"a\""),
        input(1, ":1}"),
        finished(reason, 3),
    ]
}

#[test]
fn calls_are_recognized_in_every_known_numbering() {
    let f = json!({"name": "f", "arguments": "{}"});
    let g_start = json!({"name": "g", "arguments": "{\"a\""});
    let g_end = json!({"arguments": ":1}"});
    let g_end_with_name = json!({"name": "g", "arguments": ":1}"});
    let usual = [
        calls(json!([{"index": 0, "id": "a", "type": "function",
            "function": {"name": "f", "arguments": ""}}])),
        calls(json!([{"index": 0, "function": {"arguments": "{}"}}])),
        calls(json!([{"index": 1, "id": "b", "function": {"name": "g", "arguments": ""}}])),
        calls(json!([{"index": 1, "function": {"arguments": "{\"a\""}}])),
        calls(json!([{"index": 1, "function": g_end}])),
    ];
    let from_five_with_everything_repeated = [
        calls(json!([{"index": 5, "id": "a", "function": f}])),
        calls(json!([{"index": 7, "id": "b", "function": g_start}])),
        calls(json!([{"index": 7, "id": "b", "function": g_end_with_name}])),
    ];
    let all_zero = [
        calls(json!([{"index": 0, "id": "a", "function": f}])),
        calls(json!([{"index": 0, "id": "b", "function": g_start}])),
        calls(json!([{"index": 0, "id": null, "function": {"name": null, "arguments": ":1}"}}])),
    ];
    let only_ids = [
        calls(json!([{"id": "a", "function": f}, {"id": "b", "function": g_start}])),
        calls(json!([{"id": "b", "function": g_end}])),
    ];
    let only_names = [
        calls(json!([{"function": f}, {"function": g_start}])),
        calls(json!([{"function": {"name": "", "arguments": ":1}"}}])),
    ];
    let names_repeated_without_ids = [
        calls(json!([{"index": 0, "function": f}])),
        calls(json!([{"index": 1, "function": g_start}])),
        calls(json!([{"index": 1, "function": g_end_with_name}])),
    ];
    for deltas in [
        &usual[..],
        &from_five_with_everything_repeated,
        &all_zero,
        &only_ids,
        &only_names,
        &names_repeated_without_ids,
    ] {
        assert_eq!(without_ids(read(deltas, "tool_calls")), two_calls(), "{deltas:?}");
    }
}

#[test]
fn calls_may_interleave() {
    let deltas = [
        calls(json!([{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}])),
        calls(json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "["}}])),
        calls(json!([
            {"index": 1, "function": {"arguments": "}"}},
            {"index": 0, "function": {"arguments": "]"}},
        ])),
    ];
    let expected = [
        started(0, "g"),
        call_id(0, "b"),
        input(0, "{"),
        started(1, "f"),
        call_id(1, "a"),
        input(1, "["),
        input(0, "}"),
        input(1, "]"),
        finished(FinishReason::ToolCalls, 2),
    ];
    assert_eq!(read(&deltas, "function_call"), expected);
}

#[test]
fn input_is_held_back_until_the_call_has_a_name() {
    let deltas = [
        calls(json!([{"index": 0, "id": "a", "function": {"arguments": "{"}}])),
        calls(json!([{"index": 0, "function": {"name": "f", "arguments": "}"}}])),
    ];
    assert_eq!(
        read(&deltas, "stop"),
        [started(0, "f"), call_id(0, "a"), input(0, "{}"), finished(FinishReason::ToolCalls, 1)]
    );
    let mut answer = ResponseReader::new(0);
    let delta = calls(json!([{"index": 0, "id": "a"}]));
    let chunk = json!({"choices": [{"delta": delta, "finish_reason": "stop"}]});
    assert_eq!(answer.chunk(serde_json::from_value(chunk).unwrap()), Ok(vec![]));
    assert_eq!(answer.finish(), Err("the answer contains a tool call without a name"));
}

#[test]
fn content_and_refusals_become_text() {
    let deltas = [
        json!({"role": "assistant", "content": "", "refusal": null}),
        json!({"content": "Hm", "reasoning_content": "…"}),
        json!({"refusal": "I can't."}),
    ];
    for (reason, expected) in [
        ("stop", FinishReason::Refusal),
        ("content_filter", FinishReason::Refusal),
        ("length", FinishReason::Length),
    ] {
        assert_eq!(read(&deltas, reason), [text("Hm"), text("I can't."), finished(expected, 3)]);
    }
}

#[test]
fn the_providers_token_counts_replace_the_estimate() {
    let mut answer = ResponseReader::new(10);
    let usage = json!({
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 64},
    });
    let chunks = [
        json!({"choices": [{"delta": {"content": "Hm"}, "finish_reason": "stop"}], "usage": null}),
        json!({"choices": [], "usage": usage}),
    ];
    for chunk in chunks {
        answer.chunk(serde_json::from_value(chunk).unwrap()).unwrap();
    }
    let usage =
        Usage { input_tokens: 100, cached_tokens: 64, output_tokens: 7, ..Usage::default() };
    assert_eq!(answer.finish(), Ok(Piece::Finished { reason: FinishReason::Stop, usage }));
}

#[test]
fn other_choices_are_ignored_and_errors_are_returned() {
    let mut answer = ResponseReader::new(0);
    let chunk =
        json!({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]});
    assert_eq!(answer.chunk(serde_json::from_value(chunk).unwrap()), Ok(vec![]));
    assert_eq!(answer.finish(), Err("the answer ended before it was complete"));
    let chunk = json!({"error": {"message": "no"}});
    assert_eq!(answer.chunk(serde_json::from_value(chunk).unwrap()), Err(json!({"message": "no"})));
}

#[test]
fn an_answer_names_its_id_and_its_model() {
    let mut answer = ResponseReader::new(10);
    assert_eq!(answer.origin(), None);
    for (id, model) in [("chatcmpl-1", "m-2026"), ("chatcmpl-2", "")] {
        let chunk = json!({"id": id, "model": model, "choices": [{"delta": {"content": "a"}}]});
        answer.chunk(chunk).unwrap();
    }
    let (id, model) = (Some("chatcmpl-1".to_owned()), Some("m-2026".to_owned()));
    assert_eq!(answer.origin(), Some(Piece::Origin { id, model }));
}
