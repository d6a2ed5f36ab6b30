//! The sizes of items, as DynamoDB measures them.

use serde_json::Value;

/// The units of this many bytes, if a unit has `each` KB.
pub(super) fn kilobytes(bytes: usize, each: usize) -> f64 {
    bytes.div_ceil(each * 1024).max(1) as f64
}

/// The size of an item in bytes: its names and values.
pub(super) fn size(item: &Value) -> usize {
    item.as_object().into_iter().flatten().map(|(name, value)| name.len() + value_size(value)).sum()
}

pub(super) fn value_size(value: &Value) -> usize {
    let Some((kind, value)) = value.as_object().and_then(|value| value.iter().next()) else {
        return 0;
    };
    let chars = value.as_str().unwrap_or_default();
    match kind.as_str() {
        "S" => chars.len(),
        "N" => {
            chars.trim_matches(['-', '0', '.']).len().div_ceil(2)
                + 1
                + usize::from(chars.starts_with('-'))
        }
        "B" => chars.trim_end_matches('=').len() * 3 / 4,
        "L" => {
            3 + value
                .as_array()
                .into_iter()
                .flatten()
                .map(|value| 1 + value_size(value))
                .sum::<usize>()
        }
        "M" => {
            3 + value
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| 1 + name.len() + value_size(value))
                .sum::<usize>()
        }
        _ => 1,
    }
}
