//! JSON values as text for a model.

use serde_json::Value;

/// A string as it is, any other value as JSON. Characters that could change how a text is displayed
/// are escaped in the JSON: they can occur only inside its strings.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => as_json(value),
    }
}

/// Any value as JSON. A text in quotes stays on one line and can't look like the words after it.
pub(crate) fn as_json(value: &Value) -> String {
    smartspace_domain::quoting::escaped(&value.to_string())
}
