//! Limits the outputs of tools.

use serde_json::Value;
pub(crate) use smartspace_egress::output::{bounded, bounded_to};

/// The longest output of a built-in tool, in bytes.
pub(crate) const MAX_OUTPUT_BYTES: usize = 30 * 1024;

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
