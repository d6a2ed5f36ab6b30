use aws_sdk_bedrockruntime::types::{
    ContentBlockDeltaEvent, ContentBlockStartEvent, ContentBlockStopEvent, ConversationRole, ConverseStreamMetadataEvent,
    MessageStartEvent, MessageStopEvent, ReasoningContentBlockDelta, ToolUseBlockDelta, ToolUseBlockStart,
};

use super::*;

/// All pieces of a stream of these events, and its end.
fn read(events: &[Event]) -> Result<Vec<Piece>, &'static str> {
    let mut answer = Answer::new(40);
    let mut pieces = Vec::new();
    for event in events {
        pieces.extend(answer.take(event.clone())?);
        if answer.is_over() {
            break;
        }
    }
    pieces.push(answer.finish()?);
    Ok(pieces)
}

fn begins() -> Event {
    Event::MessageStart(MessageStartEvent::builder().role(ConversationRole::Assistant).build().unwrap())
}

fn calls(block: i32, name: &str) -> Event {
    let call = ToolUseBlockStart::builder().name(name).tool_use_id(format!("tooluse_{block}")).build().unwrap();
    let start = ContentBlockStart::ToolUse(call);
    Event::ContentBlockStart(ContentBlockStartEvent::builder().content_block_index(block).start(start).build().unwrap())
}

fn goes_on(block: i32, delta: ContentBlockDelta) -> Event {
    Event::ContentBlockDelta(ContentBlockDeltaEvent::builder().content_block_index(block).delta(delta).build().unwrap())
}

fn says(block: i32, text: &str) -> Event {
    goes_on(block, ContentBlockDelta::Text(text.to_owned()))
}

fn writes(block: i32, json: &str) -> Event {
    goes_on(block, ContentBlockDelta::ToolUse(ToolUseBlockDelta::builder().input(json).build().unwrap()))
}

fn stops(block: i32) -> Event {
    Event::ContentBlockStop(ContentBlockStopEvent::builder().content_block_index(block).build().unwrap())
}

fn ends(reason: &str) -> Event {
    Event::MessageStop(MessageStopEvent::builder().stop_reason(reason.into()).build().unwrap())
}

fn counts(input: i32, output: i32, read: Option<i32>, written: Option<i32>) -> Event {
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

fn finished(reason: FinishReason, usage: Usage) -> Piece {
    Piece::Finished { reason, usage }
}

fn seven() -> Usage {
    Usage { output_tokens: 7, ..Usage::default() }
}

#[test]
fn text_and_calls_among_other_blocks() {
    let thinks = ContentBlockDelta::ReasoningContent(ReasoningContentBlockDelta::Text("secret".to_owned()));
    let events = [
        begins(),
        goes_on(0, thinks),
        stops(0),
        says(1, "Hm"),
        says(1, ""),
        stops(1),
        calls(2, "f"),
        writes(2, ""),
        writes(2, "{\"a\""),
        writes(2, ":1}"),
        stops(2),
        calls(4, "g"),
        writes(4, ""),
        stops(4),
        ends("tool_use"),
        counts(0, 7, None, None),
        says(5, "and nothing behind the end"),
    ];
    let expected = [
        text("Hm"),
        started(0, "f"),
        input(0, "{\"a\""),
        input(0, ":1}"),
        started(1, "g"),
        input(1, "{}"),
        finished(FinishReason::ToolCalls, seven()),
    ];
    assert_eq!(read(&events), Ok(expected.into()));
}

#[test]
fn calls_may_interleave_and_those_that_nobody_ended_end_with_the_message() {
    let events = [calls(0, "f"), calls(1, "g"), writes(1, "[1"), writes(1, "]"), ends("tool_use"), counts(0, 7, None, None)];
    let expected =
        [started(0, "f"), started(1, "g"), input(1, "[1"), input(1, "]"), input(0, "{}"), finished(FinishReason::ToolCalls, seven())];
    assert_eq!(read(&events), Ok(expected.into()));
}

#[test]
fn a_reason_says_how_it_ended() {
    let reasons = [
        ("end_turn", FinishReason::Stop, FinishReason::ToolCalls),
        ("tool_use", FinishReason::Stop, FinishReason::ToolCalls),
        ("stop_sequence", FinishReason::Stop, FinishReason::ToolCalls),
        ("guardrail_intervened", FinishReason::Stop, FinishReason::ToolCalls),
        ("content_filtered", FinishReason::Stop, FinishReason::ToolCalls),
        ("of_next_year", FinishReason::Stop, FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length, FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length, FinishReason::Length),
    ];
    for (reason, silent, calling) in reasons {
        let end = [ends(reason), counts(0, 7, None, None)];
        assert_eq!(read(&end), Ok(vec![finished(silent, seven())]), "{reason}");
        let pieces = read(&[vec![calls(0, "f"), stops(0)], end.to_vec()].concat());
        assert_eq!(pieces, Ok(vec![started(0, "f"), input(0, "{}"), finished(calling, seven())]), "{reason}");
    }
    for reason in ["malformed_tool_use", "malformed_model_output"] {
        assert_eq!(read(&[ends(reason)]), Err("the model wrote what its provider could not read"));
    }
}

#[test]
fn what_ends_early_is_broken_and_so_is_what_does_not_fit() {
    let early = Err("the answer ended before it was complete");
    assert_eq!(read(&[]), early);
    assert_eq!(read(&[begins(), says(0, "Hm"), stops(0)]), early);
    assert_eq!(read(&[says(0, "Hm"), counts(1, 1, None, None)]), early);
    for events in [vec![writes(0, "{}")], vec![calls(0, "f"), stops(0), writes(0, "{}")]] {
        assert_eq!(read(&events), Err("the answer continued a call that it had not begun"));
    }
}

#[test]
fn what_was_cached_is_read_too_and_what_was_not_counted_is_estimated() {
    let end = |last: Event| vec![ends("end_turn"), last];
    let usage = Usage { input_tokens: 3210, cached_tokens: 3000, cache_write_tokens: 200, output_tokens: 7, ..Usage::default() };
    assert_eq!(read(&end(counts(10, 7, Some(3000), Some(200)))), Ok(vec![finished(FinishReason::Stop, usage)]));
    assert_eq!(read(&end(counts(-1, 7, Some(-5), None))), Ok(vec![finished(FinishReason::Stop, seven())]));
    // It may come before the end, too.
    assert_eq!(read(&[counts(0, 7, None, None), ends("end_turn")]), Ok(vec![finished(FinishReason::Stop, seven())]));
    let estimated = Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() };
    let uncounted = Event::Metadata(ConverseStreamMetadataEvent::builder().build());
    let events = [vec![says(0, "Hm, hm.")], end(uncounted)].concat();
    assert_eq!(read(&events), Ok(vec![text("Hm, hm."), finished(FinishReason::Stop, estimated)]));
}
