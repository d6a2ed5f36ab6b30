//! Limits the outputs of tools.

use serde_json::Value;
use smartspace_domain::messages::cut;

/// The longest output of a built-in tool, in bytes.
pub(crate) const MAX_OUTPUT_BYTES: usize = 30 * 1024;

/// The longest output of a configured tool, in bytes of JSON. A longer one is cut.
pub(crate) const MAX_CONFIGURED_OUTPUT_BYTES: usize = 32 * 1024;

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

/// An output for the model. A longer one becomes the beginning of its JSON, with a note of how much
/// is missing.
pub(crate) fn bounded(output: Value) -> Value {
    bounded_to(output, MAX_CONFIGURED_OUTPUT_BYTES)
}

pub(crate) fn bounded_to(value: Value, max_bytes: usize) -> Value {
    cut(&value.to_string(), max_bytes).map_or(value, Value::String)
}
