//! Thinking, which goes back unchanged.

use super::*;

fn opaque(blocks: &[Value]) -> Option<Value> {
    let end = [text_delta(9, "Hm"), message_delta("end_turn"), message_stop()];
    let pieces = read(&[blocks, &end].concat()).unwrap();
    pieces.into_iter().find_map(|piece| match piece {
        Piece::Opaque(value) => Some(value),
        _ => None,
    })
}

#[test]
fn blocks_of_thinking_are_kept_whole_and_in_order() {
    let redacted = json!({"type": "redacted_thinking", "data": "abc", "of_next_year": [1]});
    let signature = |part: &str| json!({"type": "signature_delta", "signature": part});
    let blocks = [
        block_start(0, json!({"type": "thinking", "thinking": "", "signature": "", "x": 1})),
        block_delta(0, json!({"type": "thinking_delta", "thinking": "I gr"})),
        block_delta(0, json!({"type": "thinking_delta", "thinking": "eet."})),
        block_delta(0, signature("si")),
        block_delta(0, signature("g")),
        block_stop(0),
        block_start(1, redacted.clone()),
        block_stop(1),
        // The model may leave out the words.
        block_start(2, json!({"type": "thinking", "thinking": "", "signature": ""})),
        block_delta(2, signature("only")),
        block_stop(2),
    ];
    let expected = json!({"blocks": [
        {"type": "thinking", "thinking": "I greet.", "signature": "sig", "x": 1},
        redacted,
        {"type": "thinking", "thinking": "", "signature": "only"},
    ]});
    assert_eq!(opaque(&blocks), Some(expected));
    let empty = block_start(0, json!({"type": "thinking", "thinking": "", "signature": ""}));
    assert_eq!(opaque(&[empty, block_stop(0)]), None);
}
