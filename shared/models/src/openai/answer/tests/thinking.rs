//! What a server writes for itself.

use super::*;

fn opaque(deltas: &[Value]) -> Option<Value> {
    let mut answer = ResponseReader::new(10);
    for delta in deltas {
        answer.chunk(json!({"choices": [{"index": 0, "delta": delta}]})).unwrap();
    }
    answer.opaque()
}

#[test]
fn thinking_is_joined_over_the_chunks() {
    let deltas = [
        json!({"role": "assistant", "content": null, "reasoning_content": ""}),
        json!({"reasoning_content": "I greet", "reasoning": "I"}),
        json!({"reasoning_content": " back.", "reasoning": null,
            "reasoning_details": [{"type": "reasoning.text", "text": "I", "index": 0}]}),
        json!({"reasoning": " greet", "reasoning_content": 5,
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 1}]}),
    ];
    let expected = json!({
        "reasoning_content": "I greet back.",
        "reasoning": "I greet",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "I", "index": 0},
            {"type": "reasoning.encrypted", "data": "x", "index": 1},
        ],
    });
    assert_eq!(opaque(&deltas), Some(expected));
}

#[test]
fn the_signatures_of_calls_are_kept_by_the_number_of_the_call() {
    let signed = |signature: &str| json!({"google": {"thought_signature": signature}});
    let deltas = [
        calls(json!([{"index": 0, "id": "a", "extra_content": signed("s1"),
            "function": {"name": "f", "arguments": "{}"}}])),
        calls(json!([{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}])),
        calls(json!([{"index": 1, "extra_content": signed("s2")}])),
    ];
    let expected = json!({"calls": {
        "0": {"extra_content": signed("s1")},
        "1": {"extra_content": signed("s2")},
    }});
    assert_eq!(opaque(&deltas), Some(expected));
    assert_eq!(
        without_ids(read(&deltas, "tool_calls"))[..4],
        [started(0, "f"), input(0, "{}"), started(1, "g"), input(1, "{}")]
    );
}

#[test]
fn nothing_is_kept_of_an_answer_without_marks() {
    for delta in [
        json!({"content": "Hm", "reasoning_content": null}),
        json!({"reasoning": null, "reasoning_details": [], "extra_content": {}}),
        json!({"reasoning": 5}),
        calls(json!([{"function": {"name": "f", "arguments": "{}"}, "extra_content": null}])),
    ] {
        assert_eq!(opaque(std::slice::from_ref(&delta)), None, "{delta}");
    }
}
