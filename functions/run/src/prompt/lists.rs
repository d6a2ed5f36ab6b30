//! Writes lists: a title, an item on each line, and the number of items that did not fit.

use smartspace_domain::Time;

use crate::prompt::{format::Thousands, placed::Placed};

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
    write_placed_list(name, "", items.into_iter().map(Placed::plain), more).text
}

/// The same for items that repeat messages, with `note` before the first one.
pub(crate) fn write_placed_list(
    name: &str,
    note: &str,
    items: impl IntoIterator<Item = Placed>,
    more: usize,
) -> Placed {
    let mut list = Placed::plain(format!("{name}:\n{note}"));
    let empty = list.len();
    for item in items {
        list.push_str("- ");
        list.append(&item);
        list.push_str("\n");
    }
    if list.len() == empty {
        return Placed::default();
    }
    if more > 0 {
        list.push_str(&format!("… {} more\n", Thousands(more as u64)));
    }
    list
}
