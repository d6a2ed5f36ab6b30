//! The steps of a run in a response, cut if they would be too long for it.

use serde_json::Value;

use crate::{steps::Step, texts::cut};

/// The longest steps in a response, in bytes. The response of a Lambda function has at most 6 MB,
/// including its body, which is escaped once more.
pub const MOST: usize = 4 * 1024 * 1024;

/// The lengths in bytes to which each text is cut, one after the other, until the steps fit.
const TEXTS: [usize; 5] = [64 * 1024, 16 * 1024, 4 * 1024, 1024, SHORTEST];
const SHORTEST: usize = 256;

/// The steps with their longest texts cut, so that they fit into `most` bytes. Steps that fit do
/// not change. Each cut text says how much is missing. If that is not enough, lists and objects are
/// cut as JSON text too, and then the prompts are left out from the first step on.
pub fn shown(steps: Vec<Step>, most: usize) -> Vec<Step> {
    let cut = |steps: &mut Vec<Step>, longest: usize| {
        for step in steps {
            cut_step(step, longest);
        }
    };
    let mut shorter = match cut_until(steps, |steps| escaped_bytes(steps) <= most, cut) {
        Ok(fitting) => return fitting,
        Err(shortest) => shortest,
    };
    for step in &mut shorter {
        values_of(step).for_each(|value| cut_whole(value, SHORTEST));
    }
    let mut bytes = escaped_bytes(&shorter);
    for step in &mut shorter {
        if bytes <= most {
            break;
        }
        let before = escaped_bytes(std::slice::from_ref(step));
        leave_out_prompt(step);
        bytes -= before.saturating_sub(escaped_bytes(std::slice::from_ref(step)));
    }
    shorter
}

/// A value with its longest texts cut, so that its JSON fits into `most` bytes. If that is not
/// enough, a list loses its first items.
pub fn fitted(value: Value, most: usize) -> Value {
    let fits = |value: &Value| value.to_string().len() <= most;
    let mut shorter = match cut_until(value, fits, cut_value) {
        Ok(fitting) => return fitting,
        Err(shortest) => shortest,
    };
    if let Value::Array(items) = &mut shorter {
        let mut bytes: usize = items.iter().map(|item| item.to_string().len() + 1).sum();
        let leaves_out = |item: &Value| {
            let is_over = bytes + 2 > most;
            bytes -= if is_over { item.to_string().len() + 1 } else { 0 };
            is_over
        };
        let first = items.iter().map(leaves_out).take_while(|left| *left).count();
        items.drain(..first);
    }
    if !fits(&shorter) {
        cut_whole(&mut shorter, SHORTEST);
    }
    shorter
}

/// Cuts the texts of `whole` shorter and shorter until it fits. The error is the shortest form,
/// which does not fit.
fn cut_until<T: Clone>(
    whole: T,
    fits: impl Fn(&T) -> bool,
    cut: impl Fn(&mut T, usize),
) -> Result<T, T> {
    if fits(&whole) {
        return Ok(whole);
    }
    let mut shorter = whole.clone();
    for longest in TEXTS {
        shorter.clone_from(&whole);
        cut(&mut shorter, longest);
        if fits(&shorter) {
            return Ok(shorter);
        }
    }
    Err(shorter)
}

/// The length of steps in a body that is escaped once more.
fn escaped_bytes(steps: &[Step]) -> usize {
    let text = serde_json::to_string(steps).unwrap_or_default();
    text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// The values in a step that may have any size.
fn values_of(step: &mut Step) -> impl Iterator<Item = &mut Value> {
    let calls =
        step.calls.iter_mut().flat_map(|call| call.output.iter_mut().chain([&mut call.input]));
    step.prompt.messages.iter_mut().chain(calls)
}

/// Replaces a long list or object by the beginning of its JSON text.
fn cut_whole(value: &mut Value, longest: usize) {
    if let Value::Array(_) | Value::Object(_) = value
        && let Some(cut) = cut(&value.to_string(), longest)
    {
        *value = Value::String(cut);
    }
}

fn leave_out_prompt(step: &mut Step) {
    let messages = step.prompt.messages.len();
    step.prompt.messages = vec![Value::String(format!("… ({messages} messages left out)"))];
    step.prompt.system.clear();
}

fn cut_step(step: &mut Step, longest: usize) {
    let system_messages = step.system_messages.iter_mut().map(|message| &mut message.text);
    for text in step.prompt.system.iter_mut().chain([&mut step.text]).chain(system_messages) {
        cut_text(text, longest);
    }
    values_of(step).for_each(|value| cut_value(value, longest));
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
