//! Limits what servers return to models.

use serde_json::Value;
use smartspace_domain::messages::cut;

/// The longest output of a configured tool, in bytes of JSON. A longer one is cut.
pub const MAX_CONFIGURED_OUTPUT_BYTES: usize = 32 * 1024;

/// An output for the model. A longer one becomes the beginning of its JSON, with a note of how much
/// is missing.
pub fn bounded(output: Value) -> Value {
    bounded_to(output, MAX_CONFIGURED_OUTPUT_BYTES)
}

/// The same with another limit.
pub fn bounded_to(value: Value, max_bytes: usize) -> Value {
    cut(&value.to_string(), max_bytes).map_or(value, Value::String)
}
