//! Errors for inputs of the wrong shape, in words that a caller understands.
//!
//! Serde's own texts name Rust types ("u64", "struct `EntitySettings`") and parser terms ("unknown
//! variant"). These name JSON types and the accepted values.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

/// How many characters of a received string an error quotes.
const SHOWN_CHARS: usize = 64;

/// Why an input does not have the expected shape.
#[derive(Debug)]
pub struct ShapeError(String);

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ShapeError {}

impl Error for ShapeError {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self(text.to_string())
    }

    fn invalid_type(got: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(format!("expected {}, got {}", expected_words(expected), got_words(&got)))
    }

    fn invalid_value(got: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(got, expected)
    }

    fn unknown_variant(got: &str, accepted: &'static [&'static str]) -> Self {
        let accepted: Vec<_> = accepted.iter().map(|name| format!("`{name}`")).collect();
        let any_of = if accepted.len() > 1 { "one of " } else { "" };
        Self(format!("expected {any_of}{}, got {}", accepted.join(", "), quoted(got)))
    }
}

/// The JSON type of a Rust type. A text of one of our own types is returned unchanged.
fn expected_words(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    let words = match text.as_str() {
        "a borrowed string" | "string" | "string or map" => "a string",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "a map" => "an object",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        rust if rust.starts_with("enum ") => "a string",
        rust if rust.starts_with("struct ") || rust.starts_with("internally tagged enum ") => {
            "an object"
        }
        other => other,
    };
    words.to_owned()
}

fn got_words(got: &Unexpected<'_>) -> String {
    match got {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Float(number) => format!("{number:?}"),
        Unexpected::Str(text) => quoted(text),
        Unexpected::Unit | Unexpected::Option => "null".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        Unexpected::Map => "an object".to_owned(),
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, de::DeserializeOwned};
    use serde_json::{Value, json};

    use crate::request_json::exact::Exact;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Human,
        Agent,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors matter")]
    struct Input {
        kind: Kind,
        count: u64,
    }

    fn refused<T: DeserializeOwned + std::fmt::Debug>(value: Value) -> String {
        T::deserialize(Exact(value)).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_json_types_and_accepted_values() {
        assert_eq!(
            refused::<Kind>(json!("robot")),
            "expected one of `human`, `agent`, got \"robot\""
        );
        assert_eq!(refused::<Kind>(json!(5)), "expected a string, got 5");
        assert_eq!(refused::<String>(json!(null)), "expected a string, got null");
        assert_eq!(refused::<bool>(json!("yes")), "expected true or false, got \"yes\"");
        assert_eq!(refused::<u64>(json!(-1)), "expected a whole number, 0 or more, got -1");
        assert_eq!(refused::<u64>(json!(1.5)), "expected a whole number, 0 or more, got 1.5");
        assert_eq!(refused::<u8>(json!(256)), "expected a whole number from 0 to 255, got 256");
        assert_eq!(refused::<Vec<String>>(json!({})), "expected an array, got an object");
        assert_eq!(refused::<Input>(json!("x")), "expected an object, got \"x\"");
        assert_eq!(refused::<Input>(json!({"kind": "human"})), "missing field `count`");
        assert_eq!(
            refused::<Input>(json!({"colour": "red"})),
            "unknown field `colour`, expected `kind` or `count`"
        );
        let long = refused::<bool>(json!("x".repeat(65)));
        assert_eq!(long, format!("expected true or false, got \"{}\"…", "x".repeat(64)));
    }
}
