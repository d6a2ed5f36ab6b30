//! A text as the gate reads it: words without a language.

/// How many words of a text count.
pub(super) const WORDS: usize = 200;

/// The question marks of the world.
const QUESTION_MARKS: [char; 5] = ['?', '？', '؟', '՞', '\u{37e}'];

/// A word of a text, in lower case.
#[derive(Clone, Copy)]
pub(super) struct Word {
    /// The hash of its letters.
    pub(super) hash: u64,
    /// How many letters it has.
    pub(super) letters: u8,
    /// Whether a colon or a comma follows, as after the name of an addressee.
    pub(super) has_mark: bool,
    /// Whether it is a colon, and not that of a link.
    pub(super) has_colon: bool,
}

impl Word {
    const EMPTY: Self =
        Self { hash: 0xcbf2_9ce4_8422_2325, letters: 0, has_mark: false, has_colon: false };

    /// Adds a letter to the hash, which is FNV-1a over characters.
    fn add(&mut self, char: char) {
        self.letters = self.letters.saturating_add(1);
        if char.is_ascii() {
            self.hash_in(char.to_ascii_lowercase());
        } else {
            char.to_lowercase().for_each(|folded| self.hash_in(folded));
        }
    }

    fn hash_in(&mut self, folded: char) {
        self.hash = (self.hash ^ u64::from(folded)).wrapping_mul(0x0100_0000_01b3);
    }
}

/// What the gate reads in a text.
pub(super) struct Words {
    /// The first words.
    pub(super) list: Vec<Word>,
    /// The letters of the first word.
    pub(super) first: String,
    /// Whether a question mark stands outside of links and code.
    pub(super) asks: bool,
    /// Whether it ends with one.
    pub(super) ends_asking: bool,
    /// How it ends: 0 with a letter, else by the sign.
    pub(super) end: u8,
    /// Whether it has a link.
    pub(super) has_link: bool,
    /// Whether it has code.
    pub(super) has_code: bool,
}

impl Words {
    pub(super) fn new(text: &str) -> Self {
        let (words, first, end) = split(text);
        let text = &text[..end];
        let has_link = text.contains("://");
        let has_code = text.contains('`');
        let asks = text.contains(QUESTION_MARKS) && (!has_link && !has_code || asks_plainly(text));
        Self {
            list: words,
            first,
            asks,
            ends_asking: asks && text.trim_end().ends_with(QUESTION_MARKS),
            end: end_of(text),
            has_link,
            has_code,
        }
    }

    /// Its words without repetition, sorted.
    pub(super) fn distinct(&self) -> Vec<u64> {
        distinct(&self.list)
    }
}

/// Whether a question mark stands outside of links and code.
fn asks_plainly(text: &str) -> bool {
    let mut is_code = false;
    for part in text.split_whitespace() {
        let ticks = part.matches('`').count();
        let is_plain = !is_code && ticks == 0 && !part.contains("://");
        if is_plain && part.contains(QUESTION_MARKS) {
            return true;
        }
        is_code ^= ticks % 2 == 1;
    }
    false
}

fn distinct(words: &[Word]) -> Vec<u64> {
    let mut hashes: Vec<u64> = words.iter().map(|word| word.hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The words of a description without repetition, sorted.
pub(super) fn of_description(text: &str) -> Vec<u64> {
    distinct(&split(text).0)
}

/// The kind of the last character.
fn end_of(text: &str) -> u8 {
    match text.trim_end().chars().next_back() {
        Some('.' | '。' | '…') => 1,
        Some('!' | '！') => 2,
        Some(')' | '(' | 'D' | 'P') => 3,
        Some(':' | '：') => 4,
        Some(char) if QUESTION_MARKS.contains(&char) => 5,
        Some(char) if !is_letter(char) => 6,
        _ => 0,
    }
}

/// The hashes of the words of a name.
pub(super) fn of_name(name: &str) -> Vec<u64> {
    split(name).0.iter().map(|word| word.hash).collect()
}

/// The letters of a text in lower case, without what stands between them.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|char| is_letter(*char)).flat_map(char::to_lowercase).collect()
}

/// The words, the letters of the first one, and where in the text the last counted word ends.
fn split(text: &str) -> (Vec<Word>, String, usize) {
    let mut words: Vec<Word> = Vec::new();
    let mut first = String::new();
    let mut is_open = false;
    let mut can_mark = false;
    for (at, char) in text.char_indices() {
        if !is_letter(char) {
            let marked = matches!(char, ':' | ',' | '：' | '，' | '、');
            if let Some(last) = words.last_mut().filter(|_| marked && can_mark) {
                last.has_mark = true;
                last.has_colon = matches!(char, ':' | '：') && !text[at..].starts_with("://");
            }
            is_open = false;
            can_mark &= !char.is_whitespace();
            continue;
        }
        if !is_open || stands_alone(char) {
            if words.len() == WORDS {
                return (words, first, at);
            }
            words.push(Word::EMPTY);
        }
        is_open = !stands_alone(char);
        can_mark = true;
        let is_first = words.len() == 1;
        if let Some(word) = words.last_mut() {
            word.add(char);
        }
        if is_first {
            first.extend(char.to_lowercase());
        }
    }
    (words, first, text.len())
}

fn is_letter(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Whether a letter is a word of its own, because its script has no blanks between words: those of
/// South-east Asia, China and Japan.
fn stands_alone(char: char) -> bool {
    matches!(
        u32::from(char),
        0x0e00..=0x0eff
            | 0x1000..=0x109f
            | 0x1780..=0x17ff
            | 0x2e80..=0x9fff
            | 0xf900..=0xfaff
            | 0x2_0000..=0x3_ffff
    )
}
