//! Fills blanks such as `{{sender}}` in a script's texts.

use serde_json::Value;

use crate::port::{ScriptCause, text::as_text};

/// The values of the blanks.
pub(super) struct Blanks<'a> {
    pub(super) cause: &'a ScriptCause,
    /// The result of the last tool call.
    pub(super) result: Option<&'a Value>,
}

impl Blanks<'_> {
    /// Replaces each known blank. Unknown blanks stay as they are, and so do blanks in the values:
    /// values are data.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, opened)) = rest.split_once("{{") {
            filled += before;
            let found = opened
                .split_once("}}")
                .and_then(|(name, after)| Some((self.value(name.trim())?, after)));
            rest = if let Some((value, after)) = found {
                filled += &value;
                after
            } else {
                filled += "{{";
                opened
            };
        }
        filled + rest
    }

    /// Replaces the blanks in every string of the value.
    pub(super) fn fill_all(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_all(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, field)| (key.clone(), self.fill_all(field))).collect()
            }
            other => other.clone(),
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        let cause = self.cause;
        let value = match name {
            "message" => &cause.message,
            "sender" => &cause.sender,
            "space" => &cause.space,
            "now" => &cause.now,
            "instruction" => &cause.instruction,
            "payload" => &cause.payload,
            _ => return self.part_of_result(name.strip_prefix("result")?),
        };
        Some(value.clone())
    }

    /// `path` is empty or has the form `.days.0.weather`. The value of a missing part is empty.
    fn part_of_result(&self, path: &str) -> Option<String> {
        if !path.is_empty() && !path.starts_with('.') {
            return None;
        }
        let part = self.result.and_then(|result| result.pointer(&path.replace('.', "/")));
        Some(part.map(as_text).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
