//! How an answer ends: with a reason, without one, as a refusal, or in contradiction to itself.

use super::*;

/// The pieces of the events with these data, with the end of the answer.
pub(super) fn read_data(data: &[String]) -> Result<Vec<Piece>, Fault> {
    let mut answer = ResponseReader::new(10);
    let mut pieces = Vec::new();
    for data in data {
        match answer.take(data)? {
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

fn chunk(delta: Value) -> String {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string()
}

fn call(arguments: &str) -> String {
    chunk(calls(json!([{"index": 0, "function": {"name": "f", "arguments": arguments}}])))
}

#[test]
fn done_ends_an_answer_without_a_reason_if_its_calls_are_complete() {
    let done = || "[DONE]".to_owned();
    let early = Err(Fault::Broken("the answer ended before it was complete"));
    let expected = vec![started(0, "f"), input(0, "{}"), finished(FinishReason::ToolCalls, 1)];
    assert_eq!(read_data(&[call("{}"), done()]), Ok(expected));
    let no_input = vec![started(0, "f"), finished(FinishReason::ToolCalls, 1)];
    assert_eq!(read_data(&[call(""), done()]), Ok(no_input));
    let words = chunk(json!({"content": "Hm"}));
    let expected = vec![text("Hm"), finished(FinishReason::Stop, 1)];
    assert_eq!(read_data(&[words.clone(), done()]), Ok(expected));
    let thinks = chunk(json!({"reasoning_content": "Hm"}));
    for data in [
        vec![call("{}")],
        vec![words],
        vec![call("{\"a\":"), done()],
        vec![thinks, done()],
        vec![done()],
    ] {
        assert_eq!(read_data(&data), early, "{data:?}");
    }
}

#[test]
fn nothing_after_its_end_costs_an_answer() {
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).to_string();
    let error = json!({"error": {"message": "closing"}}).to_string();
    let counts = json!({"choices": [], "usage": {"completion_tokens": 7}}).to_string();
    let data = [
        chunk(json!({"content": "Hm"})),
        end,
        "bye".to_owned(),
        error,
        counts,
        "[done]".to_owned(),
    ];
    let Some(Piece::Finished { reason, usage }) = read_data(&data).unwrap().pop() else { panic!() };
    assert_eq!((reason, usage.output_tokens), (FinishReason::Stop, 7));
}

#[test]
fn a_filter_that_cuts_a_call_refuses() {
    let end = |reason: &str| {
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string()
    };
    let reason_of = |data: &[String]| match read_data(data).unwrap().pop() {
        Some(Piece::Finished { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let refused = chunk(json!({"refusal": "I can't."}));
    let cut = || call("{\"text\": \"I wi");
    assert_eq!(reason_of(&[cut(), end("content_filter")]), FinishReason::Refusal);
    assert_eq!(reason_of(&[cut(), refused, end("stop")]), FinishReason::Refusal);
    assert_eq!(reason_of(&[call("{}"), end("content_filter")]), FinishReason::ToolCalls);
}

#[test]
fn a_reason_maps_to_a_finish_reason() {
    let call = calls(json!([{"function": {"name": "f", "arguments": "{}"}}]));
    for (reason, without_calls, with_calls) in [
        ("stop", FinishReason::Stop, FinishReason::ToolCalls),
        ("end_turn", FinishReason::Stop, FinishReason::ToolCalls),
        ("of_next_year", FinishReason::Stop, FinishReason::ToolCalls),
        ("content_filter", FinishReason::Refusal, FinishReason::ToolCalls),
        ("refusal", FinishReason::Refusal, FinishReason::ToolCalls),
        ("length", FinishReason::Length, FinishReason::Length),
        ("MAX_TOKENS", FinishReason::Length, FinishReason::Length),
    ] {
        assert_eq!(read(&[], reason), [finished(without_calls, 0)], "{reason}");
        let pieces = [started(0, "f"), input(0, "{}"), finished(with_calls, 1)];
        assert_eq!(read(std::slice::from_ref(&call), reason), pieces, "{reason}");
    }
}

#[test]
fn a_reason_that_the_answer_contradicts_breaks_it() {
    let end = |reason: &str| {
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string()
    };
    for reason in ["tool_calls", "function_call", "tool_use"] {
        let none = Err(Fault::Broken("the answer ended with a tool call, but contains none"));
        assert_eq!(read_data(&[chunk(json!({"content": "Hm"})), end(reason)]), none, "{reason}");
    }
    for reason in ["error", "abort", "insufficient_system_resource"] {
        let aborted = Err(Fault::Broken("the provider aborted the answer"));
        assert_eq!(read_data(&[call("{}"), end(reason)]), aborted, "{reason}");
    }
}
