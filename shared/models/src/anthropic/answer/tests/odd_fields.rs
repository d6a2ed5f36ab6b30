//! Fields that are missing or have unexpected types.

use super::*;

#[test]
fn a_message_without_a_reason_is_complete_with_its_last_event() {
    let no_reason = json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": {}});
    let reason = |pieces: Vec<Piece>| match pieces.last() {
        Some(Piece::Finished { reason, .. }) => Some(*reason),
        _ => None,
    };
    let words = [text_delta(0, "Hm"), no_reason.clone(), message_stop()];
    assert_eq!(read(&words).map(reason), Ok(Some(FinishReason::Stop)));
    let mut pieces = read(&[call_start(0, "f"), no_reason.clone(), message_stop()]).unwrap();
    assert_eq!(pieces.split_off(2)[..1], [input(0, "{}")]);
    let early = Err(Fault::Broken("the answer ended before it was complete"));
    assert_eq!(read(&[no_reason, message_stop()]), early);
    assert_eq!(read(&[call_start(0, "f"), message_stop()]), early);
}

#[test]
fn a_delta_without_a_known_index_belongs_to_the_open_block_of_its_kind() {
    for index in [json!(null), json!("1"), json!(7), json!({})] {
        let json = json!({"type": "input_json_delta", "partial_json": "{\"a\":1}"});
        let events = [
            block_start(0, json!({"type": "thinking", "thinking": ""})),
            json!({"type": "content_block_delta", "index": index,
                "delta": {"type": "thinking_delta", "thinking": "Hm"}}),
            call_start(1, "f"),
            json!({"type": "content_block_delta", "index": index, "delta": json}),
            json!({"type": "content_block_stop", "index": index}),
            message_delta("tool_use"),
            message_stop(),
        ];
        let thinking = json!({"blocks": [{"type": "thinking", "thinking": "Hm"}]});
        let expected = vec![
            started(0, "f"),
            call_id(0, "toolu_1"),
            input(0, "{\"a\":1}"),
            Piece::Opaque(thinking),
            finished(FinishReason::ToolCalls),
        ];
        assert_eq!(read(&events), Ok(expected), "{index}");
    }
}

#[test]
fn input_may_be_an_object_and_a_kind_is_known_by_its_field() {
    let bare = |id: Value| {
        block_start(0, json!({"type": "tool_use", "id": id, "name": "f", "input": [], "x": 1}))
    };
    for id in [json!(null), json!(5), json!("")] {
        let delta = block_delta(0, json!({"partial_json": {"a": 1}, "type": 5}));
        let events = [bare(id), delta, message_delta("tool_use"), message_stop()];
        let expected =
            vec![started(0, "f"), input(0, "{\"a\":1}"), finished(FinishReason::ToolCalls)];
        assert_eq!(read(&events), Ok(expected));
    }
    let unnamed = block_start(0, json!({"type": "tool_use", "id": "a", "input": {}}));
    assert_eq!(
        read(&[unnamed, message_delta("tool_use"), message_stop()]),
        Err(Fault::Broken("the answer contains a tool call without a name"))
    );
}
