//! Token counts, whole and in parts.

use super::*;

#[test]
fn token_counts_are_merged_and_input_includes_cached_tokens() {
    let at_start = json!({
        "input_tokens": 10,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 3000,
        "output_tokens": 1,
    });
    let last = |usage: Value| {
        let delta = json!({"stop_reason": "end_turn"});
        json!({"type": "message_delta", "delta": delta, "usage": usage})
    };
    let expected = Usage {
        input_tokens: 3210,
        cached_tokens: 3000,
        cache_write_tokens: 200,
        output_tokens: 7,
        ..Usage::default()
    };
    for usage in [
        json!({"output_tokens": 7}),
        json!({"input_tokens": 0, "cache_read_input_tokens": null, "output_tokens": 7}),
    ] {
        let start = json!({"type": "message_start", "message": {"usage": at_start}});
        let events = [start, last(usage), message_stop()];
        assert_eq!(
            read(&events),
            Ok(vec![Piece::Finished { reason: FinishReason::Stop, usage: expected }])
        );
    }
    let uncounted = [
        text_delta(0, "Hm, hm."),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        message_stop(),
    ];
    let usage = Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() };
    assert_eq!(
        read(&uncounted),
        Ok(vec![text("Hm, hm."), Piece::Finished { reason: FinishReason::Stop, usage }])
    );
    let nonsense = last(
        json!({"input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX, "output_tokens": 7}),
    );
    let usage = Usage {
        input_tokens: 2 << 40,
        cached_tokens: 1 << 40,
        output_tokens: 7,
        ..Usage::default()
    };
    assert_eq!(
        read(&[nonsense, message_stop()]),
        Ok(vec![Piece::Finished { reason: FinishReason::Stop, usage }])
    );
}
