//! Cuts texts that are too long.

/// A text cut to at most `most` bytes, followed by how many bytes are missing. `None` if the text
/// is not longer than that.
pub fn cut(text: &str, most: usize) -> Option<String> {
    let start = &text[..text.floor_char_boundary(most)];
    let missing = text.len() - start.len();
    (missing > 0).then(|| format!("{start} … ({missing} more bytes)"))
}

/// The first `chars` characters of a text, and how many characters are missing.
pub fn excerpt(text: &str, chars: usize) -> (&str, usize) {
    match text.char_indices().nth(chars) {
        Some((end, _)) => (&text[..end], text[end..].chars().count()),
        None => (text, 0),
    }
}
