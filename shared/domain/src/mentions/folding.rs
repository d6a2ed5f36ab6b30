//! The fold under which names and texts are compared, and the characters that end a word.

use std::ops::Range;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::{
    names::is_blank,
    quoting::{is_bidi_mark, is_invisible, joins_or_selects},
    unspaced::is_unspaced,
};

/// A character of a text with its marks.
///
/// Grapheme clusters would do, but they differ between versions of browsers.
pub(super) struct Cluster {
    /// The character without its marks.
    pub(super) base: char,
    /// Where it begins, in bytes.
    pub(super) at: usize,
    /// Where it begins, in UTF-16 code units.
    pub(super) start: u32,
    /// Where its last mark ends, in UTF-16 code units.
    pub(super) end: u32,
    folded: Range<usize>,
}

/// The clusters of a text. Invisible characters belong to none.
#[derive(Default)]
pub(super) struct Clusters {
    pub(super) list: Vec<Cluster>,
    /// The folded forms of all clusters.
    folded: Vec<char>,
}

impl Clusters {
    pub(super) fn of(text: &str) -> Self {
        let mut clusters = Self::default();
        let mut chars: Vec<char> = Vec::new();
        let mut units = 0;
        for (at, char) in text.char_indices() {
            let start = units;
            units += if u32::from(char) > 0xffff { 2 } else { 1 };
            let is_dropped = is_dropped(char);
            match clusters.list.last_mut() {
                // A selector is part of an emoji, though names are compared without it.
                Some(last) if is_mark(char) => last.end = units,
                _ if is_dropped => {}
                _ => {
                    clusters.fold_last(&mut chars);
                    let folded = 0..0;
                    clusters.list.push(Cluster { base: char, at, start, end: units, folded });
                }
            }
            if !is_dropped {
                chars.push(char);
            }
        }
        clusters.fold_last(&mut chars);
        clusters
    }

    /// Folds the characters of the last cluster.
    fn fold_last(&mut self, chars: &mut Vec<char>) {
        let Some(last) = self.list.last_mut() else { return };
        let from = self.folded.len();
        match chars[..] {
            [char] if char == ' ' || char.is_ascii_graphic() => {
                self.folded.push(char.to_ascii_lowercase());
            }
            _ => {
                let plain = chars.iter().copied().nfkc().flat_map(char::to_uppercase);
                for char in plain.flat_map(char::to_lowercase).nfkc() {
                    let char = if is_blank(char) { ' ' } else { char };
                    if char != ' ' || self.folded[from..].last() != Some(&' ') {
                        self.folded.push(char);
                    }
                }
            }
        }
        last.folded = from..self.folded.len();
        chars.clear();
    }

    /// The folded form of a cluster.
    pub(super) fn folded(&self, cluster: &Cluster) -> &[char] {
        &self.folded[cluster.folded.clone()]
    }

    /// The folded text: each row of blanks is one, and there are none at its ends.
    pub(super) fn joined(&self) -> String {
        let mut joined = String::with_capacity(self.folded.len());
        for char in &self.folded {
            if *char != ' ' || !(joined.is_empty() || joined.ends_with(' ')) {
                joined.push(*char);
            }
        }
        joined.truncate(joined.trim_end_matches(' ').len());
        joined
    }
}

/// Whether a character is a letter or a digit of a script that puts blanks between words.
pub(super) fn is_word(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_alphanumeric();
    }
    is_letter_or_digit(char) && !is_unspaced(char)
}

fn is_letter_or_digit(char: char) -> bool {
    use GeneralCategory::{
        DecimalNumber, LetterNumber, LowercaseLetter, ModifierLetter, OtherLetter, OtherNumber,
        TitlecaseLetter, UppercaseLetter,
    };
    matches!(
        get_general_category(char),
        UppercaseLetter
            | LowercaseLetter
            | TitlecaseLetter
            | ModifierLetter
            | OtherLetter
            | DecimalNumber
            | LetterNumber
            | OtherNumber
    )
}

/// Whether a character belongs to the one before it: a mark, a conjoining vowel or final of Hangul,
/// or a sound mark of halfwidth Katakana.
fn is_mark(char: char) -> bool {
    !char.is_ascii()
        && (is_combining_mark(char)
            || matches!(char, '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7fb}')
            || matches!(char, '\u{ff9e}' | '\u{ff9f}'))
}

/// Whether readers see nothing of a character, so that names that differ by it are the same.
fn is_dropped(char: char) -> bool {
    !char.is_ascii() && (is_invisible(char) || joins_or_selects(char) || is_bidi_mark(char))
}
