//! The steps of a run in a response, cut if they would be too long for it.

use serde_json::Value;

use crate::{steps::Step, texts::cut};

/// The longest steps in a response, in bytes of JSON. The response of a Lambda function has at most
/// 6 MB, including its body, which is escaped once more.
pub const MOST: usize = 4 * 1024 * 1024;

/// The lengths in bytes to which each text is cut, one after the other, until the steps fit.
const TEXTS: [usize; 5] = [64 * 1024, 16 * 1024, 4 * 1024, 1024, 256];

/// The steps with their longest texts cut, so that they fit into `most` bytes. Steps that fit do
/// not change. Each cut text says how much is missing.
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
    let system_messages = step.system_messages.iter_mut().map(|message| &mut message.text);
    for text in step.prompt.system.iter_mut().chain([&mut step.text]).chain(system_messages) {
        cut_text(text, longest);
    }
    let calls =
        step.calls.iter_mut().flat_map(|call| call.output.iter_mut().chain([&mut call.input]));
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
mod tests;
