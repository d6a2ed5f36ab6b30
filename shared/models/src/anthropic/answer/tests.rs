mod faults;
mod odd_fields;
mod thinking;
mod token_counts;

use serde_json::json;

use super::*;

/// All pieces of a stream of these events, including the last piece.
fn read(events: &[Value]) -> Result<Vec<Piece>, Fault> {
    let mut answer = ResponseReader::new(10);
    let mut pieces = Vec::new();
    for event in events {
        match answer.take(&event.to_string())? {
            Taken::Pieces(more) => pieces.extend(more),
            Taken::End(more) => {
                pieces.extend(more);
                break;
            }
        }
    }
    let last = answer.finish().map_err(Fault::Broken)?;
    pieces.extend(answer.opaque().map(Piece::Opaque));
    pieces.push(last);
    Ok(pieces)
}

fn block_start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn call_start(index: u64, name: &str) -> Value {
    let id = format!("toolu_{index}");
    block_start(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
}

fn block_delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn input_delta(index: u64, json: &str) -> Value {
    block_delta(index, json!({"type": "input_json_delta", "partial_json": json}))
}

fn text_delta(index: u64, text: &str) -> Value {
    block_delta(index, json!({"type": "text_delta", "text": text}))
}

fn block_stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn message_delta(reason: &str) -> Value {
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}})
}

fn message_stop() -> Value {
    json!({"type": "message_stop"})
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn started(index: u32, name: &str) -> Piece {
    Piece::CallStarted { index, name: name.to_owned() }
}

fn input(index: u32, json: &str) -> Piece {
    Piece::CallInput { index, json: json.to_owned() }
}

fn call_id(index: u32, id: &str) -> Piece {
    Piece::CallId { index, id: id.to_owned() }
}

fn finished(reason: FinishReason) -> Piece {
    Piece::Finished { reason, usage: Usage { output_tokens: 7, ..Usage::default() } }
}

#[test]
fn text_and_calls_among_other_blocks() {
    let message = json!({"id": "msg_1", "role": "assistant", "content": [], "stop_reason": null});
    let server_tool =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "ping"}),
        block_start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        block_delta(0, json!({"type": "thinking_delta", "thinking": "secret"})),
        block_delta(0, json!({"type": "signature_delta", "signature": "s"})),
        block_stop(0),
        block_start(1, json!({"type": "text", "text": ""})),
        text_delta(1, "Hm"),
        text_delta(1, ""),
        block_stop(1),
        call_start(2, "f"),
        input_delta(2, ""),
        input_delta(2, "{\"a\""),
        input_delta(2, ":1}"),
        block_stop(2),
        block_start(3, server_tool),
        input_delta(3, "{}"),
        block_stop(3),
        json!({"type": "of_next_year", "index": "?"}),
        call_start(4, "g"),
        input_delta(4, ""),
        block_stop(4),
        message_delta("tool_use"),
        message_stop(),
    ];
    let thinking = json!({"type": "thinking", "thinking": "secret", "signature": "s"});
    let expected = [
        text("Hm"),
        started(0, "f"),
        call_id(0, "toolu_2"),
        input(0, "{\"a\""),
        input(0, ":1}"),
        started(1, "g"),
        call_id(1, "toolu_4"),
        input(1, "{}"),
        Piece::Opaque(json!({"blocks": [thinking]})),
        finished(FinishReason::ToolCalls),
    ];
    assert_eq!(read(&events), Ok(expected.into()));
}

#[test]
fn a_call_without_input_deltas_keeps_its_initial_input() {
    let with_input = json!({"type": "tool_use", "id": "a", "name": "f", "input": {"a": 1}});
    let whole = block_start(0, with_input);
    let bare = block_start(1, json!({"type": "tool_use", "id": "b", "name": "g"}));
    // The end of the message also ends blocks without a `content_block_stop`.
    for events in
        [vec![whole.clone(), block_stop(0), bare.clone(), block_stop(1)], vec![whole, bare]]
    {
        let expected = vec![
            started(0, "f"),
            started(1, "g"),
            call_id(0, "a"),
            call_id(1, "b"),
            input(0, "{\"a\":1}"),
            input(1, "{}"),
            finished(FinishReason::ToolCalls),
        ];
        let mut pieces =
            read(&[events, vec![message_delta("tool_use"), message_stop()]].concat()).unwrap();
        pieces.sort_by_key(|piece| match piece {
            Piece::CallStarted { .. } => 0,
            Piece::CallId { .. } => 1,
            _ => 2,
        });
        assert_eq!(pieces, expected);
    }
}

#[test]
fn a_stop_reason_maps_to_a_finish_reason() {
    let reasons = [
        ("end_turn", FinishReason::Stop, FinishReason::ToolCalls),
        ("stop_sequence", FinishReason::Stop, FinishReason::ToolCalls),
        ("refusal", FinishReason::Refusal, FinishReason::Refusal),
        ("pause_turn", FinishReason::Pause, FinishReason::ToolCalls),
        ("of_next_year", FinishReason::Stop, FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length, FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length, FinishReason::Length),
    ];
    for (reason, without_calls, with_calls) in reasons {
        assert_eq!(
            read(&[message_delta(reason), message_stop()]),
            Ok(vec![finished(without_calls)]),
            "{reason}"
        );
        let pieces =
            read(&[call_start(0, "f"), block_stop(0), message_delta(reason), message_stop()]);
        assert_eq!(
            pieces,
            Ok(vec![started(0, "f"), call_id(0, "toolu_0"), input(0, "{}"), finished(with_calls)]),
            "{reason}"
        );
    }
    for before in [vec![], vec![text_delta(0, "Hm")]] {
        let end = [message_delta("tool_use"), message_stop()];
        assert_eq!(
            read(&[&before[..], &end].concat()),
            Err(Fault::Broken("the answer ended with a tool call, but contains none"))
        );
    }
}
