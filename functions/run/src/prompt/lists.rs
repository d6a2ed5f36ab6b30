//! Writes lists: a title, an item on each line, and the number of items that did not fit.

use std::fmt::Write;

use smartspace_domain::Time;

use crate::prompt::format::Thousands;

/// Writes a time to the minute: `2026-02-18 15:07`.
pub(crate) fn minute(time: Time) -> String {
    format!("{} {}", time.to_date(), time.to_minutes())
}

/// Writes a list. Without items the result is empty.
pub(crate) fn write_list(
    name: &str,
    items: impl IntoIterator<Item = String>,
    more: usize,
) -> String {
    let mut list = format!("{name}:\n");
    let empty = list.len();
    for item in items {
        // Writing to a String can't fail.
        let _ = writeln!(list, "- {item}");
    }
    if list.len() == empty {
        return String::new();
    }
    if more > 0 {
        let _ = writeln!(list, "… {} more", Thousands(more as u64));
    }
    list
}
