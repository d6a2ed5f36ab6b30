//! Inputs and outputs of tools as JSON: their checks, and the bounds of what a model reads back.

use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::messages::{cut, excerpt};

/// An output for the model, in bytes.
pub(crate) const OUTPUT_BYTES: usize = 30 * 1024;

/// An output of a configured tool, in bytes of JSON; a longer one is cut.
pub(crate) const OUTPUT_MOST: usize = 32 * 1024;

/// How much of a model's own text an error repeats, in characters.
pub(crate) const SHOWN_CHARS: usize = 500;

/// How much of a schema an error repeats, in bytes.
pub(crate) const SCHEMA_BYTES: usize = 4_000;

/// How many of the first items fit an output of `most` bytes.
pub(crate) fn count_that_fit<'a>(items: impl IntoIterator<Item = &'a Value>, most: usize) -> usize {
    let mut bytes = 0;
    let fit = items.into_iter().take_while(|item| {
        bytes += item.to_string().len() + 1;
        bytes <= most
    });
    fit.count()
}

/// The error text for the model if its input does not fit the schema of the tool.
pub(crate) fn misfit(
    name: &str,
    validator: Option<&Validator>,
    schema: &Value,
    input: &Value,
) -> Option<String> {
    let error = validator?.iter_errors(input).next()?;
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
    let error = error.to_string();
    let error = excerpt(&error, SHOWN_CHARS).0;
    let place = excerpt(&place, SHOWN_CHARS).0;
    let expected = bounded_to(schema.clone(), SCHEMA_BYTES);
    Some(format!("the input of {name} does not fit{place}: {error}; expected {expected}"))
}

/// An output for the model: the whole, or the beginning of its JSON with a note of how much is
/// missing.
pub(crate) fn bounded(output: Value) -> Value {
    bounded_to(output, OUTPUT_MOST)
}

pub(crate) fn bounded_to(value: Value, most: usize) -> Value {
    cut(&value.to_string(), most).map_or(value, Value::String)
}

/// A call's input. Models send nothing at all for a tool without required input.
pub(crate) fn parse(input: &str) -> Result<Value, serde_json::Error> {
    if input.trim().is_empty() { Ok(json!({})) } else { smartspace_domain::json::parse(input) }
}

/// A text of an input that its schema requires.
pub(crate) fn text_of<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or("")
}
