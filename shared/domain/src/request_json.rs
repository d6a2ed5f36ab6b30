//! Reads JSON that callers send over HTTP or a WebSocket, and explains its errors.
//!
//! The texts of `serde_json` are about its parser ("expected ident"). Callers get what was expected
//! and where.

mod exact;
mod shape_error;

use std::iter::once;

use serde::de::{
    DeserializeOwned,
    value::{MapAccessDeserializer, MapDeserializer},
};
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use self::exact::Exact;
pub use self::shape_error::ShapeError;
use crate::{Error, Result, json};

/// Reads a JSON text. [`Error::Malformed`] names `what` was sent ("the body") and the position of
/// the first mistake.
pub fn parse(text: &[u8], what: &str) -> Result<Value> {
    if text.is_empty() {
        return Err(Error::Malformed(format!("{what} is empty; expected JSON")));
    }
    json::parse(text).map_err(|error| {
        Error::Malformed(format!("{what} is not valid JSON: {}", explained(&error)))
    })
}

/// Reads a JSON value into `T`. An error points to the value that does not fit.
pub fn shaped<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_path_to_error::deserialize(Exact(value)).map_err(|error| pointed(&error))
}

/// Reads the fields of the variant `name` of the enum `T`. An error points to the field that does
/// not fit.
pub fn shaped_variant<T: DeserializeOwned>(name: &str, fields: Map<String, Value>) -> Result<T> {
    let variant = once((name.to_owned(), Exact(Value::Object(fields))));
    let variant: MapDeserializer<'_, _, ShapeError> = MapDeserializer::new(variant);
    serde_path_to_error::deserialize(MapAccessDeserializer::new(variant))
        .map_err(|error| pointed(&error))
}

/// The document `before` after a JSON merge patch. A name that the document can't have is refused
/// even with the value null, which would leave no trace in the document.
pub fn merged<T: DeserializeOwned>(before: Value, patch: &Map<String, Value>) -> Result<T> {
    let mut after = before;
    json_patch::merge(&mut after, &Value::Object(patch.clone()));
    let document = shaped(after.clone())?;
    for path in nulls(patch) {
        let mut with_null = after.clone();
        insert_null(&mut with_null, &path);
        if let Err(Error::Invalid(faults)) = shaped::<T>(with_null)
            && faults.iter().any(|fault| fault.detail.starts_with("unknown field"))
        {
            return Err(Error::Invalid(faults));
        }
    }
    Ok(document)
}

/// The paths of the names that a merge patch removes.
fn nulls(patch: &Map<String, Value>) -> Vec<Vec<&str>> {
    let mut paths = Vec::new();
    for (name, value) in patch {
        match value {
            Value::Null => paths.push(vec![name.as_str()]),
            Value::Object(inner) => paths.extend(nulls(inner).into_iter().map(|mut path| {
                path.insert(0, name);
                path
            })),
            _ => {}
        }
    }
    paths
}

fn insert_null(value: &mut Value, path: &[&str]) {
    if let Some((name, rest)) = path.split_first()
        && let Value::Object(object) = value
    {
        insert_null(object.entry(*name).or_insert(Value::Null), rest);
    }
}

fn pointed(error: &serde_path_to_error::Error<ShapeError>) -> Error {
    Error::invalid(pointer_of(error.path()), error.inner().to_string())
}

/// A path of serde as a JSON pointer.
pub fn pointer_of(path: &serde_path_to_error::Path) -> String {
    let part = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(part).collect()
}

fn explained(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let plain = match text.strip_suffix(&position).unwrap_or(&text) {
        "expected ident" | "expected value" => {
            "expected an object, an array, a string in double quotes, a number, true, false or null"
        }
        "key must be a string" => "expected a field name in double quotes",
        "trailing comma" => "expected another item after the comma",
        "trailing characters" => "expected nothing after the end of the value",
        "recursion limit exceeded" => "it is nested deeper than 127 levels",
        text if text.starts_with("EOF") => "it ends before the value is complete",
        text => text,
    };
    format!("{plain} (line {}, column {})", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_json_is_explained_without_parser_words() {
        let refused = |text: &str| parse(text.as_bytes(), "the body").unwrap_err().to_string();
        let any_value = "expected an object, an array, a string in double quotes, a number, true, \
                         false or null";
        for (text, expected) in [
            ("hello", any_value),
            ("nope", any_value),
            (r#"{"a": 1,}"#, "expected another item after the comma"),
            ("{a: 1}", "expected a field name in double quotes"),
            ("{} x", "expected nothing after the end of the value"),
            (r#"{"a":"#, "it ends before the value is complete"),
        ] {
            let refused = refused(text);
            let start = format!("the body is not valid JSON: {expected} (line 1, column ");
            assert!(refused.starts_with(&start), "{text}: {refused}");
        }
        assert_eq!(refused(""), "the body is empty; expected JSON");
        assert!(refused(&"[".repeat(200)).contains("nested deeper than 127 levels"));
        assert!(refused(r#"{"a": 1, "a": 2}"#).contains(r#""a""#));
        assert!(parse(br#"{"a": [1, null]}"#, "the body").is_ok());
    }
}
