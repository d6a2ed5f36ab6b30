//! Earlier tool calls in a form that every provider accepts.

mod ids;

use serde_json::{Map, Value, json};

pub(crate) use self::ids::CallIds;

/// The input of an earlier call, as an object: providers refuse anything else. Input that is not a
/// JSON object is wrapped as text in the field `unreadable`.
pub(crate) fn input(written: &str) -> Map<String, Value> {
    match smartspace_domain::json::parse_written(written) {
        Ok(Value::Object(input)) => input,
        _ if written.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("unreadable".to_owned(), json!(written))]),
    }
}

/// Providers refuse calls with a longer name.
const LONGEST_NAME: usize = 64;

/// The name of an earlier call. A model may have invented a name with characters that providers
/// refuse.
pub(crate) fn name(written: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let name: String = written.chars().take(LONGEST_NAME).map(plain).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}
