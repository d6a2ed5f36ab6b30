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

/// Takes the nulls out of an input that stand for absent fields: models write them for what they
/// leave out. A field that its schema requires, or that may be null, keeps its null.
pub(crate) fn without_nulls(schema: &Value, input: &mut Value) {
    match input {
        Value::Object(fields) => {
            let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
            fields.retain(|name, value| {
                let known = schema["properties"].get(name);
                let may_be_absent = required.iter().all(|required| required != name.as_str());
                !(value.is_null() && may_be_absent && known.is_some_and(refuses_null))
            });
            for (name, value) in fields {
                if let Some(schema) = schema["properties"].get(name) {
                    without_nulls(schema, value);
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                without_nulls(&schema["items"], value);
            }
        }
        _ => {}
    }
}

/// Whether the type that a schema names leaves out null.
fn refuses_null(schema: &Value) -> bool {
    match &schema["type"] {
        Value::String(only) => only != "null",
        Value::Array(types) => types.iter().all(|each| each != "null"),
        _ => false,
    }
}

/// A text of an input that its schema requires.
pub(crate) fn text_of<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_of_an_optional_field_is_absent() {
        let schema = json!({
            "properties": {
                "text": {"type": "string"},
                "more": {"type": "boolean"},
                "dueAt": {"type": ["string", "null"]},
                "value": {},
                "plans": {"items": {
                    "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
                    "required": ["name"],
                }},
            },
            "required": ["text"],
        });
        let mut input = json!({
            "text": null, "more": null, "dueAt": null, "value": null, "unknown": null,
            "plans": [{"id": null, "name": null}],
        });
        without_nulls(&schema, &mut input);
        let expected = json!({
            "text": null, "dueAt": null, "value": null, "unknown": null,
            "plans": [{"name": null}],
        });
        assert_eq!(input, expected);
    }
}
