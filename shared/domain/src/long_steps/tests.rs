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
