//! Fields of unexpected types, and contents in other forms.

use super::{ends::read_data, *};

#[test]
fn arguments_may_be_an_object() {
    let call = |arguments: Value| {
        let function = json!({"name": "f", "arguments": arguments});
        calls(json!([{"index": 0, "function": function}]))
    };
    for (arguments, json) in [(json!({"text": "Hi"}), "{\"text\":\"Hi\"}"), (json!({}), "{}")] {
        assert_eq!(read(&[call(arguments)], "tool_calls")[..2], [started(0, "f"), input(0, json)]);
    }
    for none in [json!(null), json!([]), json!(5), json!(false)] {
        assert_eq!(read(&[call(none)], "tool_calls")[..1], [started(0, "f")]);
    }
    // A single call may stand without its list.
    let alone = json!({"tool_calls": {"function": {"name": "f", "arguments": "{}"}}});
    assert_eq!(read(&[alone], "stop")[..2], [started(0, "f"), input(0, "{}")]);
}

#[test]
fn content_may_be_a_list_of_parts() {
    let thinking =
        |words: &str| json!({"type": "thinking", "thinking": [{"type": "text", "text": words}]});
    let deltas = [
        json!({"content": [thinking("I gr"), {"type": "image_url", "image_url": {}}, 5]}),
        json!({"content": [thinking("eet.")]}),
        json!({"content": [{"type": "text", "text": "Hi"}, " you"]}),
        json!({"content": {"type": "text", "text": "!"}}),
    ];
    let mut answer = ResponseReader::new(10);
    let pieces: Vec<_> = deltas
        .iter()
        .flat_map(|delta| answer.chunk(json!({"choices": [{"delta": delta}]})).unwrap())
        .collect();
    assert_eq!(pieces, [text("Hi"), text(" you"), text("!")]);
    assert_eq!(answer.opaque(), Some(json!({"content": [thinking("I greet.")]})));
}

#[test]
fn a_refusal_may_be_a_part_of_the_content() {
    let delta = json!({"content": [{"type": "refusal", "refusal": "No."}]});
    assert_eq!(read(&[delta], "stop"), [text("No."), finished(FinishReason::Refusal, 1)]);
}

#[test]
fn events_that_are_no_chunks_are_skipped_and_nonsense_is_not() {
    let words = json!({"choices": [{"delta": {"content": "Hm"}, "finish_reason": "stop"}]});
    for odd in ["5", "null", "[]", "\"ping\"", "{}", "{\"choices\": 5}", "{\"error\": \"\"}"] {
        let expected = vec![text("Hm"), finished(FinishReason::Stop, 1)];
        assert_eq!(read_data(&[odd.to_owned(), words.to_string()]), Ok(expected), "{odd}");
    }
    assert_eq!(read_data(&["{\"cho".to_owned()]), Err(Fault::Foreign));
    let listed = "[{\"error\": {\"code\": 429}}]".to_owned();
    assert_eq!(read_data(&[listed]), Err(Fault::Reported(json!({"code": 429}))));
}

#[test]
fn a_lone_surrogate_is_replaced_and_a_name_may_come_twice() {
    let data = r#"{"choices": [{"delta": {"content": "a\ud83db \ud83d\ude00", "x": 1, "x": 2},
        "finish_reason": "stop"}]}"#;
    let expected = vec![text("a\u{fffd}b 😀"), finished(FinishReason::Stop, 2)];
    assert_eq!(read_data(&[data.to_owned()]), Ok(expected));
}

#[test]
fn the_last_token_counts_hold() {
    let counted = |prompt: u64, more: Value| {
        let mut usage = json!({"prompt_tokens": prompt, "completion_tokens": 5});
        usage.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}], "usage": usage})
            .to_string()
    };
    let hits = json!({"prompt_cache_hit_tokens": 80, "prompt_cache_miss_tokens": 20});
    let odd = json!({"choices": [], "usage": {"prompt_tokens": "?"}, "timings": 5}).to_string();
    let data = [counted(90, json!({})), counted(100, hits), odd];
    let usage =
        Usage { input_tokens: 100, cached_tokens: 80, output_tokens: 5, ..Usage::default() };
    assert_eq!(
        read_data(&data).unwrap().pop(),
        Some(Piece::Finished { reason: FinishReason::Stop, usage })
    );
}
