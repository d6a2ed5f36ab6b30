//! The fold under which words are compared: compatible forms are one, case and marks do not count,
//! and characters that nobody sees are left out.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::quoting::{is_bidi_mark, is_invisible, joins_or_selects};

/// A folded text that knows where its characters come from.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) text: String,
    /// The characters of the text with their marks, in order.
    clusters: Vec<Cluster>,
    /// The characters of the last cluster, before they are folded.
    pending: Vec<char>,
}

/// A character with its marks.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    /// Where its fold begins in the folded text, in bytes.
    folded: u32,
    /// Where it begins in the text, in bytes.
    start: u32,
    /// Where it ends in the text, in bytes.
    end: u32,
}

impl Folded {
    pub(super) fn of(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), ..Self::default() };
        for (at, char) in text.char_indices() {
            // A mark after an invisible character still belongs to the character before both.
            if is_dropped(char) {
                continue;
            }
            let end = (at + char.len_utf8()) as u32;
            match folded.clusters.last_mut() {
                Some(last) if is_mark(char) => last.end = end,
                _ => {
                    folded.fold_pending();
                    folded.begin(at as u32, end);
                }
            }
            folded.pending.push(char);
        }
        folded.fold_pending();
        folded
    }

    fn begin(&mut self, start: u32, end: u32) {
        self.clusters.push(Cluster { folded: self.text.len() as u32, start, end });
    }

    fn fold_pending(&mut self) {
        match self.pending[..] {
            [] => {}
            [char] if char.is_ascii() => self.text.push(char.to_ascii_lowercase()),
            _ => fold_into(&mut self.text, &self.pending),
        }
        self.pending.clear();
    }

    /// Where a piece of the folded text, given in bytes, stands in the text.
    pub(super) fn source(&self, from: usize, to: usize) -> (usize, usize) {
        let cluster = |at: usize| {
            let after = self.clusters.partition_point(|cluster| cluster.folded as usize <= at);
            after.checked_sub(1).and_then(|index| self.clusters.get(index))
        };
        let start = cluster(from).map_or(0, |cluster| cluster.start as usize);
        let end = cluster(to.saturating_sub(1)).map_or(start, |cluster| cluster.end as usize);
        (start, end)
    }
}

/// Appends the fold of a character with its marks.
fn fold_into(text: &mut String, chars: &[char]) {
    let plain = chars.iter().copied().nfkd().filter(|char| !is_left_out(*char));
    // `ß` and `ss`, and both forms of sigma, have only the upper case in common. `ẞ` has none.
    let upper = plain.flat_map(char::to_lowercase).flat_map(char::to_uppercase);
    let lower = upper.flat_map(char::to_lowercase);
    // Compatible forms may decompose into apostrophes, and syllables of Hangul have to be composed.
    text.extend(lower.filter(|char| !is_left_out(*char)).map(plain_apostrophe).nfc());
}

fn plain_apostrophe(char: char) -> char {
    if matches!(char, '\u{2019}' | '\u{2bc}') { '\'' } else { char }
}

/// Whether a mark is left out: those of Latin, Greek and Cyrillic letters, the vowels of Hebrew and
/// Arabic, and the skin tones of emoji.
///
/// The marks of other scripts are vowels or change a sound, so words differ by them.
fn is_left_out(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
        || matches!(char, '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
        || matches!(char, '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}')
        || matches!(char, '\u{5c4}' | '\u{5c5}' | '\u{5c7}' | '\u{640}')
        || matches!(char, '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}')
        || matches!(char, '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}')
        || matches!(char, '\u{6ea}'..='\u{6ed}' | '\u{1f3fb}'..='\u{1f3ff}')
        || is_dropped(char)
}

/// Whether readers see nothing of a character.
fn is_dropped(char: char) -> bool {
    !char.is_ascii() && (is_invisible(char) || joins_or_selects(char) || is_bidi_mark(char))
}

/// Whether a character belongs to the one before it: a mark, a conjoining vowel or final of Hangul,
/// a sound mark of halfwidth Katakana, or the skin tone of an emoji.
fn is_mark(char: char) -> bool {
    if char.is_ascii() {
        return false;
    }
    is_combining_mark(char)
        || matches!(char, '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7fb}')
        || matches!(char, '\u{ff9e}' | '\u{ff9f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// Whether a character is part of a word.
pub(super) fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || (!char.is_ascii() && is_combining_mark(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(text: &str) -> String {
        Folded::of(text).text
    }

    #[test]
    fn forms_of_the_same_letter_have_one_fold() {
        for (text, folded) in [
            ("Éclair e\u{301}", "eclair e"),
            ("Straße STRASSE ẞ", "strasse strasse ss"),
            ("İstanbul ISTANBUL ıs", "istanbul istanbul is"),
            ("ΟΔΟΣ οδός", "οδοσ οδοσ"),
            ("ﬁle ＡＢＣ", "file abc"),
            ("مُحَمَّد محـمد", "محمد محمد"),
            ("שָׁלוֹם", "שלום"),
            ("ёлка", "елка"),
            ("한글 \u{1112}\u{1161}\u{11ab}", "한글 한"),
            ("ｶﾞ が か\u{3099}", "ガ が が"),
            ("sara’s", "sara's"),
            ("in\u{200b}vi\u{202e}sible\u{feff}", "invisible"),
            ("👍🏽", "👍"),
        ] {
            assert_eq!(fold(text), folded, "{text:?}");
        }
    }

    #[test]
    fn marks_that_make_another_word_stay() {
        for text in ["हिन्दी", "ก็", "が"] {
            assert_eq!(fold(text), text);
        }
    }

    #[test]
    fn a_piece_of_the_fold_knows_its_source() {
        let text = "xE\u{301}\u{200b}ßy";
        let folded = Folded::of(text);
        assert_eq!(folded.text, "xessy");
        let source = |from, to| {
            let (start, end) = folded.source(from, to);
            &text[start..end]
        };
        assert_eq!(source(0, 1), "x");
        assert_eq!(source(1, 2), "E\u{301}");
        assert_eq!(source(2, 4), "ß");
        assert_eq!(source(3, 4), "ß");
        assert_eq!(source(4, 5), "y");
        assert_eq!(source(0, 5), text);
    }
}
