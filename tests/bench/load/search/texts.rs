//! Generated messages: 12 words on average, of which the most frequent ones come as often as in a
//! natural language (Zipf).

use std::collections::BTreeSet;

/// How many different words there are.
const WORDS: f64 = 20_000.0;
/// The words of a message: from 6 to 18.
const LEAST_WORDS: usize = 6;
const MORE_WORDS: usize = 13;
/// Words are made of these. No rule about endings changes them.
const SYLLABLES: [&str; 16] = [
    "ka", "lo", "mi", "nu", "pa", "ro", "ti", "vu", "ba", "do", "fi", "gu", "ha", "jo", "li", "zu",
];

/// Random numbers that are the same each time.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A word: the one with the rank r comes about 1/r as often as the first one.
    fn word(&mut self) -> String {
        let part = self.next() as f64 / f64::from(u32::MAX >> 1);
        word_of((part.min(1.0) * WORDS.ln()).exp() as usize)
    }
}

fn word_of(rank: usize) -> String {
    let mut word = String::from("x");
    let mut rest = rank;
    loop {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
        if rest == 0 {
            return word;
        }
    }
}

/// All messages of a measurement.
pub(super) struct Texts(Vec<String>);

impl Texts {
    pub(super) fn new(count: usize) -> Self {
        let mut random = Random::new(1);
        let mut text = || {
            let words = LEAST_WORDS + random.below(MORE_WORDS);
            (0..words).map(|_| random.word()).collect::<Vec<_>>().join(" ")
        };
        Self((0..count).map(|_| text()).collect())
    }

    pub(super) fn all(&self) -> &[String] {
        &self.0
    }

    /// The query with this number: one to four words, as the parameter `q` has them.
    pub(super) fn query(number: usize) -> String {
        let mut random = Random::new(number as u64 + 1_000);
        // The first numbers of neighbouring seeds are alike.
        random.next();
        let words = 1 + random.below(4);
        (0..words).map(|_| random.word()).collect::<Vec<_>>().join("+")
    }

    /// How many messages have any of the words of a query.
    pub(super) fn hits(&self, query: &str) -> usize {
        let words: BTreeSet<&str> = query.split('+').collect();
        let has_any = |text: &&String| text.split(' ').any(|word| words.contains(word));
        self.0.iter().filter(has_any).count()
    }
}
