//! Writes lists: a title, an item on each line, and the number of items that did not fit.

use std::fmt::Write;

use smartspace_domain::Time;

use crate::prompt::format::Thousands;

/// Writes a time to the minute: `2026-02-18 15:07`.
pub(crate) fn minute(time: Time) -> String {
    format!("{} {}", time.to_date(), time.to_minutes())
}

/// Writes a list. Without items the result is empty.
pub(crate) fn block(name: &str, items: impl IntoIterator<Item = String>, more: usize) -> String {
    let mut block = format!("{name}:\n");
    let empty = block.len();
    for item in items {
        // Writing to a String can't fail.
        let _ = writeln!(block, "- {item}");
    }
    if block.len() == empty {
        return String::new();
    }
    if more > 0 {
        let _ = writeln!(block, "… {} more", Thousands(more as u64));
    }
    block
}
