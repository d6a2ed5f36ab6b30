//! Inputs and outputs of tools as JSON: the checks of inputs, and the limits of outputs.

use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::messages::{cut, excerpt};

/// The longest output of a built-in tool, in bytes.
pub(crate) const OUTPUT_BYTES: usize = 30 * 1024;

/// The longest output of a configured tool, in bytes of JSON. A longer one is cut.
pub(crate) const CONFIGURED_OUTPUT_BYTES: usize = 32 * 1024;

/// How much of a model's own text an error repeats, in characters.
pub(crate) const SHOWN_CHARS: usize = 500;

/// How much of a schema an error repeats, in bytes.
pub(crate) const SCHEMA_BYTES: usize = 4_000;

/// How many of the first items fit an output of `max_bytes` bytes.
pub(crate) fn count_that_fit<'a>(
    items: impl IntoIterator<Item = &'a Value>,
    max_bytes: usize,
) -> usize {
    let mut bytes = 0;
    let fit = items.into_iter().take_while(|item| {
        bytes += item.to_string().len() + 1;
        bytes <= max_bytes
    });
    fit.count()
}

/// The error text for the model if the input does not fit the schema of the tool.
pub(crate) fn schema_error(
    name: &str,
    validator: Option<&Validator>,
    schema: &Value,
    input: &Value,
) -> Option<String> {
    let error = validator?.iter_errors(input).next()?;
    let position = error.instance_path().to_string();
    let position = if position.is_empty() { String::new() } else { format!(" at {position}") };
    let error = error.to_string();
    let error = excerpt(&error, SHOWN_CHARS).0;
    let position = excerpt(&position, SHOWN_CHARS).0;
    let expected = bounded_to(schema.clone(), SCHEMA_BYTES);
    Some(format!("the input of {name} does not fit{position}: {error}; expected {expected}"))
}

/// An output for the model. A longer one becomes the beginning of its JSON, with a note of how much
/// is missing.
pub(crate) fn bounded(output: Value) -> Value {
    bounded_to(output, CONFIGURED_OUTPUT_BYTES)
}

pub(crate) fn bounded_to(value: Value, max_bytes: usize) -> Value {
    cut(&value.to_string(), max_bytes).map_or(value, Value::String)
}

/// A call's input. Models send nothing at all for a tool without required input.
pub(crate) fn parse(input: &str) -> Result<Value, serde_json::Error> {
    if input.trim().is_empty() { Ok(json!({})) } else { smartspace_domain::json::parse(input) }
}

/// A text of an input that its schema requires.
pub(crate) fn text_of<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or("")
}
