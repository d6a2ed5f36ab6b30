use aws_sdk_bedrockruntime::types::{
    ContentBlockDeltaEvent, ContentBlockStartEvent, ContentBlockStopEvent, ConversationRole,
    ConverseStreamMetadataEvent, MessageStartEvent, MessageStopEvent, ReasoningContentBlockDelta,
    ToolUseBlockDelta, ToolUseBlockStart,
};

use aws_smithy_types::Blob;
use serde_json::json;

use super::*;

/// All pieces of a stream of these events, including the last piece.
fn read(events: &[Event]) -> Result<Vec<Piece>, &'static str> {
    let mut answer = ResponseReader::new(10);
    let mut pieces = Vec::new();
    for event in events {
        pieces.extend(answer.take(event.clone())?);
        if answer.is_over() {
            break;
        }
    }
    let last = answer.finish()?;
    pieces.extend(answer.opaque().map(Piece::Opaque));
    pieces.push(last);
    Ok(pieces)
}

fn message_start() -> Event {
    Event::MessageStart(
        MessageStartEvent::builder().role(ConversationRole::Assistant).build().unwrap(),
    )
}

fn call_start(block: i32, name: &str) -> Event {
    let call = ToolUseBlockStart::builder()
        .name(name)
        .tool_use_id(format!("tooluse_{block}"))
        .build()
        .unwrap();
    let start = ContentBlockStart::ToolUse(call);
    Event::ContentBlockStart(
        ContentBlockStartEvent::builder().content_block_index(block).start(start).build().unwrap(),
    )
}

fn block_delta(block: i32, delta: ContentBlockDelta) -> Event {
    Event::ContentBlockDelta(
        ContentBlockDeltaEvent::builder().content_block_index(block).delta(delta).build().unwrap(),
    )
}

fn text_delta(block: i32, text: &str) -> Event {
    block_delta(block, ContentBlockDelta::Text(text.to_owned()))
}

fn input_delta(block: i32, json: &str) -> Event {
    block_delta(
        block,
        ContentBlockDelta::ToolUse(ToolUseBlockDelta::builder().input(json).build().unwrap()),
    )
}

fn block_stop(block: i32) -> Event {
    Event::ContentBlockStop(
        ContentBlockStopEvent::builder().content_block_index(block).build().unwrap(),
    )
}

fn message_stop(reason: &str) -> Event {
    Event::MessageStop(MessageStopEvent::builder().stop_reason(reason.into()).build().unwrap())
}

fn metadata(input: i32, output: i32, read: Option<i32>, written: Option<i32>) -> Event {
    let usage = TokenUsage::builder()
        .input_tokens(input)
        .output_tokens(output)
        .total_tokens(input)
        .set_cache_read_input_tokens(read)
        .set_cache_write_input_tokens(written);
    Event::Metadata(ConverseStreamMetadataEvent::builder().usage(usage.build().unwrap()).build())
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

fn thinks(block: i32, delta: ReasoningContentBlockDelta) -> Event {
    block_delta(block, ContentBlockDelta::ReasoningContent(delta))
}

fn finished(reason: FinishReason, usage: Usage) -> Piece {
    Piece::Finished { reason, usage }
}

fn seven() -> Usage {
    Usage { output_tokens: 7, ..Usage::default() }
}

#[test]
fn text_and_calls_among_other_blocks() {
    let events = [
        message_start(),
        thinks(0, ReasoningContentBlockDelta::Text("sec".to_owned())),
        thinks(0, ReasoningContentBlockDelta::Text("ret".to_owned())),
        thinks(0, ReasoningContentBlockDelta::Signature("sig".to_owned())),
        block_stop(0),
        text_delta(1, "Hm"),
        text_delta(1, ""),
        block_stop(1),
        call_start(2, "f"),
        input_delta(2, ""),
        input_delta(2, "{\"a\""),
        input_delta(2, ":1}"),
        block_stop(2),
        call_start(4, "g"),
        input_delta(4, ""),
        block_stop(4),
        message_stop("tool_use"),
        metadata(0, 7, None, None),
        text_delta(5, "after the end"),
    ];
    let thinking = json!({"reasoningText": {"text": "secret", "signature": "sig"}});
    let expected = [
        text("Hm"),
        started(0, "f"),
        call_id(0, "tooluse_2"),
        input(0, "{\"a\""),
        input(0, ":1}"),
        started(1, "g"),
        call_id(1, "tooluse_4"),
        input(1, "{}"),
        Piece::Opaque(json!({"blocks": [{"reasoningContent": thinking}]})),
        finished(FinishReason::ToolCalls, seven()),
    ];
    assert_eq!(read(&events), Ok(expected.into()));
}

#[test]
fn calls_may_interleave_and_open_calls_end_with_the_message() {
    let events = [
        call_start(0, "f"),
        call_start(1, "g"),
        input_delta(1, "[1"),
        input_delta(1, "]"),
        message_stop("tool_use"),
        metadata(0, 7, None, None),
    ];
    let expected = [
        started(0, "f"),
        call_id(0, "tooluse_0"),
        started(1, "g"),
        call_id(1, "tooluse_1"),
        input(1, "[1"),
        input(1, "]"),
        input(0, "{}"),
        finished(FinishReason::ToolCalls, seven()),
    ];
    assert_eq!(read(&events), Ok(expected.into()));
}

#[test]
fn a_stop_reason_maps_to_a_finish_reason() {
    let reasons = [
        ("end_turn", FinishReason::Stop, FinishReason::ToolCalls),
        ("stop_sequence", FinishReason::Stop, FinishReason::ToolCalls),
        ("guardrail_intervened", FinishReason::Refusal, FinishReason::ToolCalls),
        ("content_filtered", FinishReason::Refusal, FinishReason::ToolCalls),
        ("of_next_year", FinishReason::Stop, FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length, FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length, FinishReason::Length),
    ];
    for (reason, without_calls, with_calls) in reasons {
        let end = [message_stop(reason), metadata(0, 7, None, None)];
        assert_eq!(read(&end), Ok(vec![finished(without_calls, seven())]), "{reason}");
        let pieces = read(&[vec![call_start(0, "f"), block_stop(0)], end.to_vec()].concat());
        assert_eq!(
            pieces,
            Ok(vec![
                started(0, "f"),
                call_id(0, "tooluse_0"),
                input(0, "{}"),
                finished(with_calls, seven())
            ]),
            "{reason}"
        );
    }
    for reason in ["malformed_tool_use", "malformed_model_output"] {
        let error = Err("the model wrote output that its provider could not parse");
        assert_eq!(read(&[message_stop(reason)]), error);
    }
    let none = Err("the answer ended with a tool call, but contains none");
    assert_eq!(read(&[text_delta(0, "Hm"), message_stop("tool_use")]), none);
}

#[test]
fn thinking_is_kept_in_the_order_of_its_blocks() {
    let events = [
        thinks(0, ReasoningContentBlockDelta::RedactedContent(Blob::new(*b"ab"))),
        thinks(0, ReasoningContentBlockDelta::RedactedContent(Blob::new(*b"c"))),
        thinks(1, ReasoningContentBlockDelta::Text("unsigned".to_owned())),
        thinks(2, ReasoningContentBlockDelta::Text(String::new())),
        text_delta(3, "Hm"),
        message_stop("end_turn"),
        metadata(0, 7, None, None),
    ];
    let blocks = json!([
        {"reasoningContent": {"redactedContent": "YWJj"}},
        {"reasoningContent": {"reasoningText": {"text": "unsigned"}}},
    ]);
    let expected = [
        text("Hm"),
        Piece::Opaque(json!({ "blocks": blocks })),
        finished(FinishReason::Stop, seven()),
    ];
    assert_eq!(read(&events), Ok(expected.into()));
}

#[test]
fn an_incomplete_answer_or_an_unexpected_event_is_an_error() {
    let early = Err("the answer ended before it was complete");
    assert_eq!(read(&[]), early);
    assert_eq!(read(&[message_start(), text_delta(0, "Hm"), block_stop(0)]), early);
    assert_eq!(read(&[text_delta(0, "Hm"), metadata(1, 1, None, None)]), early);
    for events in
        [vec![input_delta(0, "{}")], vec![call_start(0, "f"), block_stop(0), input_delta(0, "{}")]]
    {
        assert_eq!(read(&events), Err("the answer continued a call that had not started"));
    }
}

#[test]
fn input_includes_cached_tokens_and_missing_counts_are_estimated() {
    let end = |last: Event| vec![message_stop("end_turn"), last];
    let usage = Usage {
        input_tokens: 3210,
        cached_tokens: 3000,
        cache_write_tokens: 200,
        output_tokens: 7,
        ..Usage::default()
    };
    assert_eq!(
        read(&end(metadata(10, 7, Some(3000), Some(200)))),
        Ok(vec![finished(FinishReason::Stop, usage)])
    );
    assert_eq!(
        read(&end(metadata(-1, 7, Some(-5), None))),
        Ok(vec![finished(FinishReason::Stop, seven())])
    );
    // The counts may also come before the end.
    assert_eq!(
        read(&[metadata(0, 7, None, None), message_stop("end_turn")]),
        Ok(vec![finished(FinishReason::Stop, seven())])
    );
    let estimated = Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() };
    let uncounted = Event::Metadata(ConverseStreamMetadataEvent::builder().build());
    let events = [vec![text_delta(0, "Hm, hm.")], end(uncounted)].concat();
    assert_eq!(read(&events), Ok(vec![text("Hm, hm."), finished(FinishReason::Stop, estimated)]));
}
