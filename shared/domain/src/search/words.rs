//! The words of a text.

use unicode_segmentation::UnicodeSegmentation;

use super::folding::{Folded, is_of_word};
use crate::unspaced::is_unspaced;

/// The longest word, in characters. The rest of it is cut.
pub(super) const WORD_CHARS: usize = 64;
/// How many letters after an apostrophe are a word of their own, as in `l'avion`.
const OWN_WORD: usize = 3;

/// A folded word and its place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) word: String,
    /// Whether it is one character or a pair of characters of a script without blanks.
    pub(super) is_pair: bool,
    /// Where it begins in the text, in bytes.
    pub(super) start: usize,
    /// Where its second character begins if it is a pair. Otherwise its end.
    pub(super) middle: usize,
    /// Where it ends in the text, in bytes.
    pub(super) end: usize,
}

/// The words of a text in order. The place of a word in this list is its position.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Tokens { folded: Folded::of(text), list: Vec::new(), run: Vec::new() };
    let folded = std::mem::take(&mut tokens.folded.text);
    for (at, segment) in folded.split_word_bound_indices() {
        tokens.add_segment(at, segment);
    }
    tokens.end_run();
    tokens.list
}

/// The folded text with its words so far.
struct Tokens {
    folded: Folded,
    list: Vec<Token>,
    /// The last characters of a script without blanks, with their places in the folded text.
    run: Vec<(usize, char)>,
}

impl Tokens {
    /// Adds the words of a segment of the text, which begins at `at`.
    fn add_segment(&mut self, at: usize, segment: &str) {
        if !segment.chars().any(is_of_word) {
            self.end_run();
            if !segment.is_ascii() && emojis::get(segment).is_some() {
                self.push(at, segment);
            }
            return;
        }
        let mut from = None;
        for (offset, char) in segment.char_indices() {
            if is_unspaced(char) {
                self.end_word(at, segment, from.take(), offset);
                self.run.push((at + offset, char));
            } else if is_of_word(char) || is_inside(segment, offset, char) {
                self.end_run();
                from.get_or_insert(offset);
            } else {
                self.end_run();
                self.end_word(at, segment, from.take(), offset);
            }
        }
        self.end_word(at, segment, from, segment.len());
    }

    /// Adds the word from `from` to `to`, if one has begun.
    fn end_word(&mut self, at: usize, segment: &str, from: Option<usize>, to: usize) {
        if let Some(from) = from {
            self.push(at + from, &segment[from..to]);
        }
    }

    fn push(&mut self, at: usize, word: &str) {
        let (start, end) = self.folded.source(at, at + word.len());
        let word = word.chars().take(WORD_CHARS).collect();
        self.list.push(Token { word, is_pair: false, start, middle: end, end });
    }

    /// Adds the pairs of a run of characters, or its only one.
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let source = |(at, char): (usize, char)| self.folded.source(at, at + char.len_utf8());
        if let [only] = run[..] {
            let (start, end) = source(only);
            let word = only.1.to_string();
            self.list.push(Token { word, is_pair: true, start, middle: end, end });
        }
        for pair in run.windows(2) {
            let (start, _) = source(pair[0]);
            let (middle, end) = source(pair[1]);
            let word = pair.iter().map(|(_, char)| char).collect();
            self.list.push(Token { word, is_pair: true, start, middle, end });
        }
    }
}

/// Whether a character that is no letter stands inside of a word: an apostrophe before a short
/// ending, as in `sara's` and `don't`.
fn is_inside(segment: &str, offset: usize, char: char) -> bool {
    let is_letter = |char: &char| is_of_word(*char) && !is_unspaced(*char);
    let letters = || segment[offset + 1..].chars().take_while(is_letter).count();
    char == '\''
        && segment[..offset].chars().next_back().is_some_and(|before| is_letter(&before))
        && (1..OWN_WORD).contains(&letters())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.word).collect()
    }

    #[test]
    fn texts_have_words_and_parts_of_words() {
        let cases: [(&str, &[&str]); 13] = [
            ("Where is the Plan?", &["where", "is", "the", "plan"]),
            ("foo_bar v2.1 a-b", &["foo", "bar", "v2", "1", "a", "b"]),
            ("https://ex.com/a?b=c", &["https", "ex", "com", "a", "b", "c"]),
            ("Sara's don't l’avion", &["sara's", "don't", "l", "avion"]),
            ("ein Überfall", &["ein", "uberfall"]),
            ("漢字検索 A字", &["漢字", "字検", "検索", "a", "字"]),
            ("東京で会う", &["東京", "京で", "で会", "会う"]),
            ("한글 검색기", &["한글", "검색", "색기"]),
            ("ok 👍🏽 👩\u{200d}💻!", &["ok", "👍", "👩", "💻"]),
            ("Привет, мир", &["привет", "мир"]),
            ("हिन्दी में", &["हिन्दी", "में"]),
            ("in\u{200b}visible", &["invisible"]),
            ("...", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text:?}");
        }
        assert_eq!(words(&"x".repeat(100)), ["x".repeat(WORD_CHARS)]);
    }

    #[test]
    fn words_know_their_places() {
        let text = "Ée \u{200b}漢字";
        let places: Vec<_> = tokens(text)
            .iter()
            .map(|token| (&text[token.start..token.middle], &text[token.middle..token.end]))
            .collect();
        assert_eq!(places, [("Ée", ""), ("漢", "字")]);
    }
}
