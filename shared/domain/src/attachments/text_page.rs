//! Text files are read in pages of whole characters.

use serde_json::json;

/// How many bytes of a text file a page has at most.
pub const TEXT_PAGE_BYTES: u64 = 24 * 1024;
/// How long the text of a page may be, written as JSON.
const JSON_BYTES: usize = 28 * 1024;

/// A page of a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPage {
    /// The text.
    pub text: String,
    /// The byte at which the next page begins. `None` after the last page.
    pub next_offset: Option<u64>,
}

impl TextPage {
    /// The page that begins with `bytes`, which are at `offset` of a file of `file_bytes`. Some of
    /// them may be left to the next page, as a character that is cut at the end.
    pub fn of(file_bytes: u64, offset: u64, bytes: &[u8]) -> Self {
        let mut shown = bytes;
        let is_last = |shown: &[u8]| offset.saturating_add(shown.len() as u64) >= file_bytes;
        let mut text = String::from_utf8_lossy(shown);
        // JSON writes some characters in six.
        while json!(text).to_string().len() > JSON_BYTES {
            shown = &shown[..shown.len() / 2];
            text = String::from_utf8_lossy(shown);
        }
        if !is_last(shown) {
            shown = whole_characters(shown);
            text = String::from_utf8_lossy(shown);
        }
        let next_offset = (!is_last(shown)).then(|| offset + shown.len() as u64);
        Self { text: text.into_owned(), next_offset }
    }
}

/// The bytes without a character in UTF-8 that is cut at their end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let is_first = |byte: &u8| *byte & 0b1100_0000 != 0b1000_0000;
    let Some(back) = bytes.iter().rev().take(4).position(is_first) else { return bytes };
    let (before, last) = bytes.split_at(bytes.len() - back - 1);
    let length = match last[0].leading_ones() {
        0 => 1,
        ones => ones as usize,
    };
    if last.len() < length { before } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_in_whole_characters() {
        let text = "aäb".as_bytes();
        let read = |range: std::ops::Range<usize>| {
            let page = TextPage::of(text.len() as u64, range.start as u64, &text[range]);
            (page.text, page.next_offset)
        };
        assert_eq!(read(0..2), ("a".into(), Some(1)));
        assert_eq!(read(1..3), ("ä".into(), Some(3)));
        assert_eq!(read(3..4), ("b".into(), None));
        assert_eq!(read(0..4), ("aäb".into(), None));
        assert_eq!(read(4..4), (String::new(), None));
        // A model that chose an offset within a character gets the rest.
        assert_eq!(read(2..4), ("\u{fffd}b".into(), None));
        let text = "äää€🌹".as_bytes();
        for (range, expected) in
            [(1..4, "\u{fffd}ä"), (1..3, "\u{fffd}"), (4..8, "ä"), (6..11, "€"), (6..12, "€")]
        {
            let page = TextPage::of(text.len() as u64, range.start as u64, &text[range.clone()]);
            assert_eq!(page.text, expected, "{range:?}");
        }
    }

    #[test]
    fn what_json_writes_longer_is_read_in_smaller_pieces() {
        let bytes = vec![1; TEXT_PAGE_BYTES as usize];
        let page = TextPage::of(bytes.len() as u64, 0, &bytes);
        assert!(json!(page.text).to_string().len() <= JSON_BYTES);
        assert_eq!(page.next_offset, Some(page.text.len() as u64));
        assert!(page.text.len() > 3_000, "{}", page.text.len());
    }
}
