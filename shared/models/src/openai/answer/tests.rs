use serde_json::json;

use super::*;

/// All pieces of a stream whose chunks have these deltas, and its end.
fn read(deltas: &[Value], finish_reason: &str) -> Vec<Piece> {
    let mut answer = Answer::new(40);
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]});
    let chunks = deltas.iter().map(|delta| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})).chain([last]);
    let mut pieces: Vec<Piece> = chunks.flat_map(|chunk| answer.chunk(serde_json::from_value(chunk).unwrap()).unwrap()).collect();
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

/// What two calls look like, whoever numbers them.
fn two_calls() -> Vec<Piece> {
    let reason = FinishReason::ToolCalls;
    vec![started(0, "f"), input(0, "{}"), started(1, "g"), input(1, "{\"a\""), input(1, ":1}"), finished(reason, 3)]
}

#[test]
fn calls_come_in_many_numberings() {
    let usual = [
        json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": ""}}]}),
        json!({"tool_calls": [{"index": 1, "function": {"arguments": "{\"a\""}}]}),
        json!({"tool_calls": [{"index": 1, "function": {"arguments": ":1}"}}]}),
    ];
    let from_five_with_everything_repeated = [
        json!({"tool_calls": [{"index": 5, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}),
        json!({"tool_calls": [{"index": 7, "id": "b", "function": {"name": "g", "arguments": "{\"a\""}}]}),
        json!({"tool_calls": [{"index": 7, "id": "b", "function": {"name": "g", "arguments": ":1}"}}]}),
    ];
    let all_zero = [
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}),
        json!({"tool_calls": [{"index": 0, "id": "b", "function": {"name": "g", "arguments": "{\"a\""}}]}),
        json!({"tool_calls": [{"index": 0, "id": null, "function": {"name": null, "arguments": ":1}"}}]}),
    ];
    let ids_alone = [
        json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}},
            {"id": "b", "function": {"name": "g", "arguments": "{\"a\""}}]}),
        json!({"tool_calls": [{"id": "b", "function": {"arguments": ":1}"}}]}),
    ];
    let names_alone = [
        json!({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "g", "arguments": "{\"a\""}}]}),
        json!({"tool_calls": [{"function": {"name": "", "arguments": ":1}"}}]}),
    ];
    let names_repeated_without_ids = [
        json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}),
        json!({"tool_calls": [{"index": 1, "function": {"name": "g", "arguments": "{\"a\""}}]}),
        json!({"tool_calls": [{"index": 1, "function": {"name": "g", "arguments": ":1}"}}]}),
    ];
    for deltas in [&usual[..], &from_five_with_everything_repeated, &all_zero, &ids_alone, &names_alone, &names_repeated_without_ids] {
        assert_eq!(read(deltas, "tool_calls"), two_calls(), "{deltas:?}");
    }
}

#[test]
fn calls_interleave() {
    let deltas = [
        json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}]}),
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "["}}]}),
        json!({"tool_calls": [{"index": 1, "function": {"arguments": "}"}}, {"index": 0, "function": {"arguments": "]"}}]}),
    ];
    let expected = [
        started(0, "g"),
        input(0, "{"),
        started(1, "f"),
        input(1, "["),
        input(0, "}"),
        input(1, "]"),
        finished(FinishReason::ToolCalls, 2),
    ];
    assert_eq!(read(&deltas, "function_call"), expected);
}

#[test]
fn input_waits_for_its_name() {
    let deltas = [
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"arguments": "{"}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "}"}}]}),
    ];
    assert_eq!(read(&deltas, "stop"), [started(0, "f"), input(0, "{}"), finished(FinishReason::ToolCalls, 1)]);
    let mut answer = Answer::new(0);
    let chunk = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a"}]}, "finish_reason": "stop"}]});
    assert_eq!(answer.chunk(serde_json::from_value(chunk).unwrap()), Ok(vec![]));
    assert_eq!(answer.finish(), Err("the answer holds a call without a name"));
}

#[test]
fn text_and_refusals_are_text() {
    let deltas = [
        json!({"role": "assistant", "content": "", "refusal": null}),
        json!({"content": "Hm", "reasoning_content": "…"}),
        json!({"refusal": "I can't."}),
    ];
    let text = |text: &str| Piece::Text(text.to_owned());
    for (reason, meant) in [("stop", FinishReason::Stop), ("content_filter", FinishReason::Stop), ("length", FinishReason::Length)] {
        assert_eq!(read(&deltas, reason), [text("Hm"), text("I can't."), finished(meant, 3)]);
    }
}

#[test]
fn the_providers_count_counts() {
    let mut answer = Answer::new(40);
    let chunks = [
        json!({"choices": [{"delta": {"content": "Hm"}, "finish_reason": "stop"}], "usage": null}),
        json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}}}),
    ];
    for chunk in chunks {
        answer.chunk(serde_json::from_value(chunk).unwrap()).unwrap();
    }
    let usage = Usage { input_tokens: 100, cached_tokens: 64, output_tokens: 7, ..Usage::default() };
    assert_eq!(answer.finish(), Ok(Piece::Finished { reason: FinishReason::Stop, usage }));
}

#[test]
fn other_choices_are_ignored_and_errors_are_handed_on() {
    let mut answer = Answer::new(0);
    let chunk = json!({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]});
    assert_eq!(answer.chunk(serde_json::from_value(chunk).unwrap()), Ok(vec![]));
    assert_eq!(answer.finish(), Err("the answer ended before it was complete"));
    let chunk = json!({"error": {"message": "no"}});
    assert_eq!(answer.chunk(serde_json::from_value(chunk).unwrap()), Err(json!({"message": "no"})));
}
