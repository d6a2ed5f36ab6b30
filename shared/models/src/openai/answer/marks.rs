//! What a server writes for itself: its thinking, and signatures. The next requests of the run have
//! to repeat it.
//!
//! The form is that of the message to which it goes back. Fields that are empty are left out, but
//! for `reasoning_content`:
//!
//! ```json
//! {
//!   "reasoning_content": "…", "reasoning": "…", "reasoning_details": [{}], "extra_content": {},
//!   "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "…"}]}],
//!   "calls": {"0": {"extra_content": {"google": {"thought_signature": "…"}}}}
//! }
//! ```
//!
//! - `content` has the parts of the content that are thinking. They stand before the text.
//! - `calls` has fields of the calls, by their numbers from 0.
//! - All others are fields of the message itself.

use serde_json::{Map, Value};

use crate::fields::{pick, text};

/// Fields of a message that go back as they came.
const FIELDS: &[&str] = &["reasoning_content", "reasoning", "reasoning_details", "extra_content"];

/// The marks of a message so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    fields: Map<String, Value>,
    /// The parts of the content that are thinking.
    thinking: Vec<Value>,
}

impl Marks {
    /// Adds the fields of a delta to those of the deltas before it.
    pub(super) fn add(&mut self, delta: &Value) {
        for (name, more) in pick(delta, FIELDS) {
            join(self.fields.entry(name).or_insert(Value::Null), more);
        }
    }

    /// Adds a part of the content. A part of the same type as the one before continues it.
    pub(super) fn add_thinking(&mut self, part: &Value) {
        match self.thinking.last_mut() {
            Some(last) if text(last, "type") == text(part, "type") => join_part(last, part),
            _ => self.thinking.push(part.clone()),
        }
    }

    /// All marks, with those of the calls. `None` if there is nothing to repeat.
    pub(super) fn take(&mut self, calls: Map<String, Value>) -> Option<Value> {
        let mut marks = std::mem::take(&mut self.fields);
        marks.insert("content".to_owned(), std::mem::take(&mut self.thinking).into());
        marks.insert("calls".to_owned(), calls.into());
        // `DeepSeek` requires its thinking beside calls, also an empty one.
        marks.retain(|name, value| {
            !is_empty(value) || name == "reasoning_content" && value.is_string()
        });
        (!marks.is_empty()).then_some(Value::Object(marks))
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => true,
    }
}

/// Joins texts and lists. Of other values, the last one that says something counts.
fn join(known: &mut Value, more: Value) {
    match (known, more) {
        (known @ Value::Null, more) => *known = more,
        (Value::String(known), Value::String(more)) => known.push_str(&more),
        (Value::Array(known), Value::Array(more)) => known.extend(more),
        (Value::Object(known), Value::Object(more)) => {
            for (name, more) in more {
                match known.get_mut(&name) {
                    Some(known @ Value::Object(_)) if more.is_object() => join(known, more),
                    _ => drop(known.insert(name, more)),
                }
            }
        }
        (known, more) if !is_empty(&more) => *known = more,
        _ => {}
    }
}

/// Joins two parts of the content: texts and lists field by field. Other fields are those of the
/// last part.
fn join_part(known: &mut Value, part: &Value) {
    let Some((known, part)) = known.as_object_mut().zip(part.as_object()) else { return };
    for (name, more) in part.iter().filter(|(name, _)| *name != "type") {
        match (known.get_mut(name), more) {
            (Some(Value::String(known)), Value::String(more)) => known.push_str(more),
            (Some(Value::Array(known)), Value::Array(more)) => {
                for more in more {
                    match known.last_mut() {
                        Some(last) if is_text(last) && is_text(more) => join_part(last, more),
                        _ => known.push(more.clone()),
                    }
                }
            }
            (_, Value::Null) => {}
            _ => drop(known.insert(name.clone(), more.clone())),
        }
    }
}

fn is_text(part: &Value) -> bool {
    text(part, "type") == Some("text") && part.get("text").is_some_and(Value::is_string)
}
