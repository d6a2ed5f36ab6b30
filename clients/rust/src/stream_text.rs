//! The text of a live stream, assembled from its frames.

use std::{collections::BTreeMap, mem};

/// The longest text of a stream, in UTF-16 code units. It bounds the memory that a frame with a
/// huge offset can take.
const MAX_UNITS: usize = 32 * 1024;

/// The text of a live stream.
///
/// Frames come in any order, repeat each other and can be lost. Their offsets count UTF-16 code
/// units, so the text is stored in these: an offset may split a character into two frames.
#[derive(Debug, Default)]
pub struct StreamText {
    units: Vec<u16>,
    /// Pieces after a gap, by their offsets.
    pending: BTreeMap<usize, Vec<u16>>,
    /// How many units [`take`](Self::take) has returned.
    taken: usize,
}

impl StreamText {
    /// Adds a piece at `offset`, in UTF-16 code units. Repeated pieces change nothing.
    pub fn add(&mut self, offset: usize, text: &str) {
        if offset > MAX_UNITS {
            return;
        }
        let piece = self.pending.entry(offset).or_default();
        let units: Vec<u16> = text.encode_utf16().collect();
        // A snapshot may repeat the offset of a delta and reach further.
        if units.len() > piece.len() {
            *piece = units;
        }
        // In the order of their offsets, so that one piece can close the gap of the next one.
        for (offset, piece) in mem::take(&mut self.pending) {
            match self.units.len().checked_sub(offset) {
                Some(known) => self.units.extend(piece.get(known..).unwrap_or_default()),
                None => {
                    self.pending.insert(offset, piece);
                }
            }
        }
    }

    /// Takes the new text before the first gap. Empty if there is none.
    pub fn take(&mut self) -> String {
        let text = String::from_utf16_lossy(&self.units[self.taken..]);
        self.taken = self.units.len();
        text
    }

    /// The part of `full_text` after the text that was taken. `None` if `full_text` does not start
    /// with the text that was taken.
    pub fn remainder_of<'a>(&self, full_text: &'a str) -> Option<&'a str> {
        full_text.strip_prefix(&String::from_utf16_lossy(&self.units[..self.taken]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_text_in_any_order_and_repeated() {
        let pieces =
            [(0, "Gr\u{1f339}"), (4, "üße"), (7, " und"), (0, "Gr\u{1f339}üße"), (4, "üße")];
        for order in [[0, 1, 2, 3, 4], [2, 1, 4, 0, 3], [2, 3, 0, 1, 4], [4, 2, 1, 3, 0]] {
            let mut text = StreamText::default();
            let mut taken = String::new();
            for index in order {
                let (offset, piece) = pieces[index];
                text.add(offset, piece);
                taken += &text.take();
            }
            assert_eq!(taken, "Gr\u{1f339}üße und", "{order:?}");
            assert_eq!(text.remainder_of("Gr\u{1f339}üße und Rosen"), Some(" Rosen"));
            assert_eq!(text.remainder_of("Grüße"), None);
        }
    }

    #[test]
    fn text_after_a_gap_is_not_taken() {
        let mut text = StreamText::default();
        text.add(2, "c");
        assert_eq!(text.take(), "");
        text.add(0, "a");
        assert_eq!(text.take(), "a");
        text.add(0, "ab");
        assert_eq!(text.take(), "bc");
    }
}
