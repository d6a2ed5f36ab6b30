//! Incomplete answers, and events that do not belong to an answer.

use super::*;

#[test]
fn an_incomplete_answer_is_an_error() {
    let early = Err(Fault::Broken("the answer ended before it was complete"));
    assert_eq!(read(&[]), early);
    assert_eq!(read(&[message_stop()]), early);
    assert_eq!(
        read(&[
            block_start(0, json!({"type": "text", "text": ""})),
            text_delta(0, "Hm"),
            block_stop(0),
            message_delta("end_turn")
        ]),
        early
    );
}

#[test]
fn unexpected_events_are_faults() {
    assert_eq!(
        read(&[input_delta(0, "{}")]),
        Err(Fault::Broken("the answer continued a call that had not started"))
    );
    assert_eq!(
        read(&[call_start(0, "f"), block_stop(0), input_delta(0, "{}")]),
        Err(Fault::Broken("the answer continued a call that had not started"))
    );
    assert_eq!(
        read(&[text_delta(0, "Hm"), message_delta("end_turn"), message_stop()]),
        Ok(vec![text("Hm"), finished(FinishReason::Stop)])
    );
    let end = [text_delta(0, "Hm"), message_delta("end_turn"), message_stop()];
    for odd in [
        json!(5),
        json!({}),
        json!({"type": 5}),
        json!({"type": "content_block_start", "index": 0}),
        json!([]),
        json!({"type": "content_block_delta", "index": 0}),
        json!({"type": "message_start"}),
        json!({"type": "message_delta", "usage": 5}),
        json!({"error": ""}),
    ] {
        let events = [std::slice::from_ref(&odd), &end[..]].concat();
        assert_eq!(read(&events), Ok(vec![text("Hm"), finished(FinishReason::Stop)]), "{odd}");
    }
    assert_eq!(read(&[json!({"message": "no"})]), Err(Fault::Foreign));
    assert_eq!(ResponseReader::new(10).take("{\"typ"), Err(Fault::Foreign));
    assert_eq!(read(&[json!({"error": {"a": 1}})]), Err(Fault::Reported(json!({"a": 1}))));
    let error = json!({"type": "overloaded_error", "message": "Overloaded"});
    assert_eq!(read(&[json!({"type": "error", "error": error})]), Err(Fault::Reported(error)));
}
