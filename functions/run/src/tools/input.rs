//! Parses the inputs of calls, and checks them by the schemas of their tools.

use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::messages::excerpt;

use crate::tools::output::bounded_to;

/// How much of a model's own text an error repeats, in characters.
pub(crate) const MAX_QUOTED_CHARS: usize = 500;

/// How much of a schema an error repeats, in bytes.
pub(crate) const MAX_SCHEMA_BYTES: usize = 4_000;

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
    let error = excerpt(&error, MAX_QUOTED_CHARS).0;
    let position = excerpt(&position, MAX_QUOTED_CHARS).0;
    let expected = bounded_to(schema.clone(), MAX_SCHEMA_BYTES);
    Some(format!("the input of {name} does not fit{position}: {error}; expected {expected}"))
}

/// A call's input. Models send nothing at all for a tool without required input.
pub(crate) fn parse(input: &str) -> Result<Value, serde_json::Error> {
    if input.trim().is_empty() {
        Ok(json!({}))
    } else {
        smartspace_domain::json::parse_written(input)
    }
}

/// A text of an input that its schema requires.
pub(crate) fn text_of<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or("")
}
