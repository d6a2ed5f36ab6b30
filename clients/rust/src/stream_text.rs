//! The text of a stream, put together from its frames.

use std::{collections::BTreeMap, mem};

/// The most text that a stream carries, in UTF-16 code units.
const MOST_UNITS: usize = 32 * 1024;

/// The text of a stream. Offsets count UTF-16 code units, as frames do.
#[derive(Debug, Default)]
pub(crate) struct LiveText {
    units: Vec<u16>,
    /// Pieces that came before those in front of them, by their offsets.
    early: BTreeMap<usize, Vec<u16>>,
    /// How much of the text was taken.
    taken: usize,
}

impl LiveText {
    /// Adds a piece, which may have come before.
    pub(crate) fn add(&mut self, offset: usize, text: &str) {
        if offset > MOST_UNITS {
            return;
        }
        let piece = self.early.entry(offset).or_default();
        let units: Vec<u16> = text.encode_utf16().collect();
        if units.len() > piece.len() {
            *piece = units;
        }
        for (offset, piece) in mem::take(&mut self.early) {
            match self.units.len().checked_sub(offset) {
                Some(known) => self.units.extend(piece.get(known..).unwrap_or_default()),
                None => {
                    self.early.insert(offset, piece);
                }
            }
        }
    }

    /// The text that was not taken yet, as far as it has no gap. Empty if there is none.
    pub(crate) fn take(&mut self) -> String {
        let text = String::from_utf16_lossy(&self.units[self.taken..]);
        self.taken = self.units.len();
        text
    }

    /// What is left of the whole text `whole` after what was taken. `None` if that is another text.
    pub(crate) fn rest_of<'a>(&self, whole: &'a str) -> Option<&'a str> {
        whole.strip_prefix(&String::from_utf16_lossy(&self.units[..self.taken]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_text_in_any_order_and_doubled() {
        let pieces =
            [(0, "Gr\u{1f339}"), (4, "üße"), (7, " und"), (0, "Gr\u{1f339}üße"), (4, "üße")];
        for order in [[0, 1, 2, 3, 4], [2, 1, 4, 0, 3], [2, 3, 0, 1, 4], [4, 2, 1, 3, 0]] {
            let mut text = LiveText::default();
            let mut told = String::new();
            for index in order {
                let (offset, piece) = pieces[index];
                text.add(offset, piece);
                told += &text.take();
            }
            assert_eq!(told, "Gr\u{1f339}üße und", "{order:?}");
            assert_eq!(text.rest_of("Gr\u{1f339}üße und Rosen"), Some(" Rosen"));
            assert_eq!(text.rest_of("Grüße"), None);
        }
    }

    #[test]
    fn nothing_is_taken_behind_a_gap() {
        let mut text = LiveText::default();
        text.add(2, "c");
        assert_eq!(text.take(), "");
        text.add(0, "a");
        assert_eq!(text.take(), "a");
        text.add(0, "ab");
        assert_eq!(text.take(), "bc");
    }
}
