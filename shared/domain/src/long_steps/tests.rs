use serde_json::json;

use super::*;
use crate::{
    Time,
    ids::{CallId, RunId},
    runs::Usage,
};

fn step(text: &str, output: Value) -> Step {
    let call = json!({
        "callId": CallId::of(RunId::new(Time::from_millis(1), 2), 0, 0),
        "name": "look",
        "input": {"at": 1},
        "output": output,
        "status": "completed",
        "startedAt": null,
        "finishedAt": null,
    });
    serde_json::from_value(json!({
        "index": 0,
        "attempt": 1,
        "model": "scripted/m",
        "prompt": {
            "system": ["Be kind."],
            "messages": [{"role": "user", "blocks": [text, "Hello"]}],
        },
        "systemMessages": [],
        "text": text,
        "calls": [call],
        "finishReason": "stop",
        "usage": Usage::default(),
        "startedAt": "2026-02-18T15:07:00.000Z",
        "firstTokenAt": null,
        "finishedAt": "2026-02-18T15:07:01.000Z",
    }))
    .unwrap()
}

#[test]
fn only_the_longest_texts_of_too_long_steps_are_cut() {
    let short = vec![step("short", json!({"rows": ["a", 1, null]}))];
    assert_eq!(shown(short.clone(), MOST), short);

    let long = |bytes: usize| "é".repeat(bytes / 2);
    let steps = vec![
        step("short", json!({"rows": [long(200_000), "b"]})),
        step(&long(50_000), json!(long(9_000))),
    ];
    let cut = |bytes, kept| format!("{} … ({} more bytes)", long(kept), bytes - kept);
    let expected = [
        step("short", json!({"rows": [cut(200_000, 16 * 1024), "b"]})),
        step(&cut(50_000, 16 * 1024), json!(long(9_000))),
    ];
    assert_eq!(shown(steps, 80_000), expected);
}

/// The length of steps in the response of a Lambda function.
fn sent(steps: &[Step]) -> usize {
    serde_json::to_string(&serde_json::to_string(steps).unwrap()).unwrap().len()
}

#[test]
fn a_body_that_is_escaped_once_more_fits_too() {
    // Each of these characters is two in the body, and four in the body within a response.
    let quotes = step(&"\"".repeat(500 * 1024), json!(null));
    let shown = shown(vec![quotes.clone(), quotes], MOST);
    assert!(sent(&shown) <= MOST + 2 && sent(&shown) > MOST / 100, "{}", sent(&shown));
}

#[test]
fn numbers_and_many_small_messages_are_cut_as_well() {
    let numbers: Value = std::iter::repeat_n(1, 16 * 1024).collect();
    let mut many = step("t", numbers);
    many.prompt.messages = vec![json!({"role": "user", "blocks": ["a", "b"]}); 2_000];
    let last = step("t", json!([1]));
    let shown = shown([vec![many; 60], vec![last.clone()]].concat(), MOST);
    assert!(sent(&shown) <= MOST + 2, "{}", sent(&shown));
    let output = shown[0].calls[0].output.as_ref().unwrap().as_str().unwrap();
    assert!(output.ends_with(" … (32513 more bytes)"), "{output}");
    assert_eq!(shown[0].prompt.messages, [json!("… (2000 messages left out)")]);
    assert_eq!(shown[60].prompt, last.prompt);
}

#[test]
fn a_long_value_is_cut_and_stays_json() {
    let value = json!([{"text": "a \"quoted\" word ".repeat(5_000)}, {"text": "short"}]);
    let cut = fitted(value.clone(), 48 * 1024);
    assert!(cut.to_string().len() <= 48 * 1024);
    let text = cut[0]["text"].as_str().unwrap();
    assert!(text.starts_with("a \"quoted\"") && text.contains("more bytes"), "{text}");
    assert_eq!(cut[1], value[1]);
    let many: Value = (0..10_000).map(|number| json!({"number": number})).collect();
    let last = fitted(many, 1_000);
    assert!(last.to_string().len() <= 1_000);
    assert_eq!(last.as_array().unwrap().last(), Some(&json!({"number": 9_999})));
    assert_eq!(fitted(value.clone(), 1_000_000), value);
}
