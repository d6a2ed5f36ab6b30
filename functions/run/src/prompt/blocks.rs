//! Writes lists: a title, an item on each line, and the number of items that did not fit.

use std::fmt::Write;

use smartspace_domain::Time;

use crate::prompt::quoted::Thousands;

/// How the lines of a prompt are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As in format 1: items are indented, and times have seconds.
    Indented,
    /// As in format 2: nothing is indented, and times have minutes.
    Flat,
}

impl Layout {
    /// Writes a time: `2026-02-18T15:07:00Z` or `2026-02-18 15:07`.
    pub(crate) fn time(self, time: Time) -> String {
        match self {
            Self::Indented => time.to_whole_seconds(),
            Self::Flat => format!("{} {}", time.to_date(), time.to_minutes()),
        }
    }

    /// What precedes an id in brackets.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Indented => "id: ",
            Self::Flat => "",
        }
    }
}

/// Writes a list. Without items the result is empty.
pub(crate) fn block(
    name: &str,
    items: impl IntoIterator<Item = String>,
    more: usize,
    layout: Layout,
) -> String {
    let indent = if layout == Layout::Indented { "  " } else { "" };
    let mut block = format!("{name}:\n");
    let empty = block.len();
    for item in items {
        // Writing to a String can't fail.
        let _ = writeln!(block, "{indent}- {item}");
    }
    if block.len() == empty {
        return String::new();
    }
    if more > 0 {
        let _ = writeln!(block, "{indent}… {} more", Thousands(more as u64));
    }
    block
}
