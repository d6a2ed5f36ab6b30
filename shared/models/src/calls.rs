//! Tools, and calls that were made, as every provider takes them.

use serde_json::{Map, Value, json};

/// The input of an earlier call. What the model wrote broken is told as a text in an object: providers take nothing else.
pub(crate) fn input(written: &str) -> Map<String, Value> {
    match smartspace_domain::json::parse(written) {
        Ok(Value::Object(input)) => input,
        _ if written.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("unreadable".to_owned(), json!(written))]),
    }
}

/// A call's name is refused where it is longer.
const LONGEST_NAME: usize = 64;

/// The name of an earlier call. One that a model made up may hold what providers refuse.
pub(crate) fn name(written: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let name: String = written.chars().take(LONGEST_NAME).map(plain).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// The schema of a tool's input. Providers refuse one that is not of an object with properties; ours may be `{}`.
pub(crate) fn schema(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        let kind = fields.entry("type").or_insert_with(|| json!("object"));
        if *kind == "object" {
            fields.entry("properties").or_insert_with(|| json!({}));
        }
    }
    schema
}
