use serde_json::json;

use super::*;

/// All pieces of a stream of these events, and its end.
fn read(events: &[Value]) -> Result<Vec<Piece>, Fault> {
    let mut answer = Answer::new(40);
    let mut pieces = Vec::new();
    for event in events {
        match answer.take(&event.to_string())? {
            Taken::Pieces(more) => pieces.extend(more),
            Taken::End => break,
        }
    }
    pieces.push(answer.finish().map_err(Fault::Broken)?);
    Ok(pieces)
}

fn begins(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn calls(index: u64, name: &str) -> Value {
    begins(index, json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {}}))
}

fn goes_on(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn writes(index: u64, json: &str) -> Value {
    goes_on(index, json!({"type": "input_json_delta", "partial_json": json}))
}

fn says(index: u64, text: &str) -> Value {
    goes_on(index, json!({"type": "text_delta", "text": text}))
}

fn stops(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn ends(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 7}})
}

fn over() -> Value {
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

fn finished(reason: FinishReason) -> Piece {
    Piece::Finished { reason, usage: Usage { output_tokens: 7, ..Usage::default() } }
}

#[test]
fn text_and_calls_among_other_blocks() {
    let events = [
        json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [], "stop_reason": null}}),
        json!({"type": "ping"}),
        begins(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        goes_on(0, json!({"type": "thinking_delta", "thinking": "secret"})),
        goes_on(0, json!({"type": "signature_delta", "signature": "s"})),
        stops(0),
        begins(1, json!({"type": "text", "text": ""})),
        says(1, "Hm"),
        says(1, ""),
        stops(1),
        calls(2, "f"),
        writes(2, ""),
        writes(2, "{\"a\""),
        writes(2, ":1}"),
        stops(2),
        begins(3, json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})),
        writes(3, "{}"),
        stops(3),
        json!({"type": "of_next_year", "index": "?"}),
        calls(4, "g"),
        writes(4, ""),
        stops(4),
        ends("tool_use"),
        over(),
    ];
    let expected = [
        text("Hm"),
        started(0, "f"),
        input(0, "{\"a\""),
        input(0, ":1}"),
        started(1, "g"),
        input(1, "{}"),
        finished(FinishReason::ToolCalls),
    ];
    assert_eq!(read(&events), Ok(expected.into()));
}

#[test]
fn an_input_that_is_not_written_is_the_one_that_the_call_began_with() {
    let whole = begins(0, json!({"type": "tool_use", "id": "a", "name": "f", "input": {"a": 1}}));
    let bare = begins(1, json!({"type": "tool_use", "id": "b", "name": "g"}));
    // Blocks that nobody ended end with the message.
    for events in [vec![whole.clone(), stops(0), bare.clone(), stops(1)], vec![whole, bare]] {
        let expected = vec![started(0, "f"), started(1, "g"), input(0, "{\"a\":1}"), input(1, "{}"), finished(FinishReason::ToolCalls)];
        let mut pieces = read(&[events, vec![ends("tool_use"), over()]].concat()).unwrap();
        pieces.sort_by_key(|piece| !matches!(piece, Piece::CallStarted { .. }));
        assert_eq!(pieces, expected);
    }
}

#[test]
fn a_reason_says_how_it_ended() {
    let reasons = [
        ("end_turn", FinishReason::Stop, FinishReason::ToolCalls),
        ("tool_use", FinishReason::Stop, FinishReason::ToolCalls),
        ("stop_sequence", FinishReason::Stop, FinishReason::ToolCalls),
        ("refusal", FinishReason::Stop, FinishReason::ToolCalls),
        ("pause_turn", FinishReason::Stop, FinishReason::ToolCalls),
        ("of_next_year", FinishReason::Stop, FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length, FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length, FinishReason::Length),
    ];
    for (reason, silent, calling) in reasons {
        assert_eq!(read(&[ends(reason), over()]), Ok(vec![finished(silent)]), "{reason}");
        let pieces = read(&[calls(0, "f"), stops(0), ends(reason), over()]);
        assert_eq!(pieces, Ok(vec![started(0, "f"), input(0, "{}"), finished(calling)]), "{reason}");
    }
}

#[test]
fn what_ends_early_is_broken() {
    let early = Err(Fault::Broken("the answer ended before it was complete"));
    assert_eq!(read(&[]), early);
    assert_eq!(read(&[over()]), early);
    assert_eq!(read(&[begins(0, json!({"type": "text", "text": ""})), says(0, "Hm"), stops(0), ends("end_turn")]), early);
}

#[test]
fn what_does_not_fit_is_a_fault() {
    assert_eq!(read(&[writes(0, "{}")]), Err(Fault::Broken("the answer continued a call that it had not begun")));
    assert_eq!(read(&[calls(0, "f"), stops(0), writes(0, "{}")]), Err(Fault::Broken("the answer continued a call that it had not begun")));
    assert_eq!(read(&[says(0, "Hm"), ends("end_turn"), over()]), Ok(vec![text("Hm"), finished(FinishReason::Stop)]));
    for foreign in [json!(5), json!({}), json!({"type": 5}), json!({"type": "content_block_start", "index": 0}), json!([])] {
        assert_eq!(read(std::slice::from_ref(&foreign)), Err(Fault::Foreign), "{foreign}");
    }
    let error = json!({"type": "overloaded_error", "message": "Overloaded"});
    assert_eq!(read(&[json!({"type": "error", "error": error})]), Err(Fault::Told(error)));
}

#[test]
fn counts_grow_and_what_was_cached_is_read_too() {
    let begun = json!({"input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000, "output_tokens": 1});
    let last = |usage: Value| json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
    let expected = Usage { input_tokens: 3210, cached_tokens: 3000, cache_write_tokens: 200, output_tokens: 7, ..Usage::default() };
    for usage in [json!({"output_tokens": 7}), json!({"input_tokens": 0, "cache_read_input_tokens": null, "output_tokens": 7})] {
        let events = [json!({"type": "message_start", "message": {"usage": begun}}), last(usage), over()];
        assert_eq!(read(&events), Ok(vec![Piece::Finished { reason: FinishReason::Stop, usage: expected }]));
    }
    let uncounted = [says(0, "Hm, hm."), json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}), over()];
    let usage = Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() };
    assert_eq!(read(&uncounted), Ok(vec![text("Hm, hm."), Piece::Finished { reason: FinishReason::Stop, usage }]));
    let nonsense = last(json!({"input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX, "output_tokens": 7}));
    let usage = Usage { input_tokens: u64::MAX, cached_tokens: u64::MAX, output_tokens: 7, ..Usage::default() };
    assert_eq!(read(&[nonsense, over()]), Ok(vec![Piece::Finished { reason: FinishReason::Stop, usage }]));
}
