//! Steps as they are shown, where there is more of them than one answer takes.

use serde_json::Value;

use crate::{messages::cut, steps::Step};

/// What an answer may hold of a run's steps, as JSON in bytes. A function's answer has 6 MB at most, with its body escaped once more.
pub const MOST: usize = 4 * 1024 * 1024;

/// How much of each text is shown, in bytes, until all fit.
const TEXTS: [usize; 5] = [64 * 1024, 16 * 1024, 4 * 1024, 1024, 256];

/// The steps with their longest texts cut, so that they fit into `most` bytes; as they are where they do. Each cut text says how much is missing.
pub fn shown(steps: Vec<Step>, most: usize) -> Vec<Step> {
    let fits = |steps: &[Step]| serde_json::to_string(steps).is_ok_and(|text| text.len() <= most);
    let mut cut = None;
    for longest in TEXTS {
        if fits(cut.as_deref().unwrap_or(&steps)) {
            break;
        }
        let mut shorter = steps.clone();
        for step in &mut shorter {
            cut_step(step, longest);
        }
        cut = Some(shorter);
    }
    cut.unwrap_or(steps)
}

fn cut_step(step: &mut Step, longest: usize) {
    let said = step.system_messages.iter_mut().map(|said| &mut said.text);
    for text in step.prompt.system.iter_mut().chain([&mut step.text]).chain(said) {
        cut_text(text, longest);
    }
    let calls = step.calls.iter_mut().flat_map(|call| call.output.iter_mut().chain([&mut call.input]));
    for value in step.prompt.messages.iter_mut().chain(calls) {
        cut_value(value, longest);
    }
}

fn cut_value(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) => cut_text(text, longest),
        Value::Array(values) => values.iter_mut().for_each(|value| cut_value(value, longest)),
        Value::Object(fields) => fields.values_mut().for_each(|value| cut_value(value, longest)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn cut_text(text: &mut String, longest: usize) {
    if let Some(cut) = cut(text, longest) {
        *text = cut;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        Time,
        ids::{CallId, RunId},
        runs::Usage,
    };

    fn step(text: &str, output: Value) -> Step {
        serde_json::from_value(json!({
            "index": 0, "attempt": 1, "model": "scripted/m", "systemMessages": [], "text": text, "finishReason": "stop", "usage": Usage::default(),
            "prompt": {"system": ["Be kind."], "messages": [{"role": "user", "blocks": [text, "Hello"]}]},
            "calls": [{"callId": CallId::of(RunId::new(Time::from_millis(1), 2), 0, 0), "name": "look", "input": {"at": 1}, "output": output, "status": "completed",
                "startedAt": null, "finishedAt": null}],
            "startedAt": "2026-02-18T15:07:00.000Z", "firstTokenAt": null, "finishedAt": "2026-02-18T15:07:01.000Z",
        }))
        .unwrap()
    }

    #[test]
    fn what_fits_stays_and_of_the_rest_the_longest_texts_are_cut() {
        let short = vec![step("short", json!({"rows": ["a", 1, null]}))];
        assert_eq!(shown(short.clone(), MOST), short);

        let long = |bytes: usize| "é".repeat(bytes / 2);
        let steps = vec![step("short", json!({"rows": [long(200_000), "b"]})), step(&long(50_000), json!(long(9_000)))];
        let cut = |bytes, kept| format!("{} … ({} more bytes)", long(kept), bytes - kept);
        let expected = [step("short", json!({"rows": [cut(200_000, 16 * 1024), "b"]})), step(&cut(50_000, 16 * 1024), json!(long(9_000)))];
        assert_eq!(shown(steps, 80_000), expected);
    }
}
