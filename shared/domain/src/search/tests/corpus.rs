//! Messages in twelve scripts, and queries about them. The same seed gives the same ones.

use std::time::Duration;

use super::{NOW, sender, space};
use crate::{
    ids::SpaceId,
    search::{
        entry::{Entry, Has},
        tests::naive::{NaiveQuery, Wanted},
        words::tokens,
    },
    unspaced::is_unspaced,
};

/// The alphabets of scripts, with blanks between words or without.
const SCRIPTS: [(&str, bool); 12] = [
    ("abdefgilnoprst", true),
    ("αβγδεζηθικλμνό", true),
    ("абвгдежзийклмн", true),
    ("ابتثجحخدذرزسشص", true),
    ("אבגדהוזחטיכלמנ", true),
    ("कखगघचछजझटठडढतन", true),
    ("აბგდევზთიკლმნო", true),
    ("աբգդեզէըթժիլխծ", true),
    ("กขคงจฉชซญดตถทน", false),
    ("日月火水木金土山川田人口手目", false),
    ("あいうえおかきくけこさしすせ", false),
    ("가나다라마바사아자차카타파하", true),
];
const ENDINGS: [&str; 6] = ["", "", "s", "ed", "ing", "'s"];
const VOCABULARY: usize = 60;

/// Numbers that look random: splitmix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// A number that is small more often than not.
    fn small(&mut self, end: usize) -> usize {
        let most = self.below(end) + 1;
        self.below(most)
    }

    pub(super) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// The words of each script.
fn vocabularies(random: &mut Random) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (alphabet, _) in SCRIPTS {
        let letters: Vec<char> = alphabet.chars().collect();
        let mut word = || -> String {
            let length = 2 + random.below(5);
            (0..length).map(|_| *random.pick(&letters)).collect()
        };
        all.push((0..VOCABULARY).map(|_| word()).collect());
    }
    all
}

fn text(random: &mut Random, vocabularies: &[Vec<String>]) -> String {
    let script = random.below(SCRIPTS.len());
    let words = &vocabularies[script];
    let (_, has_blanks) = SCRIPTS[script];
    let mut text = String::new();
    for _ in 0..=random.below(24) {
        if has_blanks || random.below(6) == 0 {
            let separator: &&str = random.pick(&[" ", " ", " ", ", ", "-", "_"]);
            text.push_str(separator);
        }
        text.push_str(&words[random.small(VOCABULARY)]);
        if script == 0 {
            let ending: &&str = random.pick(&ENDINGS);
            text.push_str(ending);
        }
        if random.below(40) == 0 {
            text.push_str(" task");
            text.push_str(&random.below(400).to_string());
        }
    }
    text
}

/// Messages of three spaces, in the order of their numbers. Some numbers have none.
pub(super) fn messages(random: &mut Random, count: usize) -> Vec<(SpaceId, Entry)> {
    let vocabularies = vocabularies(random);
    let mut all = Vec::new();
    let mut seqs = [0_u64; 3];
    for number in 0..count {
        let of_space = random.below(3);
        seqs[of_space] += if random.below(20) == 0 { 2 } else { 1 };
        let mut texts = vec![text(random, &vocabularies)];
        let mut has = Vec::new();
        if random.below(8) == 0 {
            texts.push(format!("{}.pdf", text(random, &vocabularies)));
            has.push(Has::File);
        }
        has.extend((random.below(5) == 0).then_some(Has::Reply));
        let age = Duration::from_mins(10) * (count - number) as u32;
        let entry = Entry {
            seq: seqs[of_space],
            at: NOW - age,
            sender: sender(random.below(4) as u8),
            unsettled: false,
            has: has.into_iter().collect(),
            texts,
        };
        all.push((space(of_space as u8), entry));
    }
    all
}

/// A query about words of these messages.
pub(super) fn query(random: &mut Random, messages: &[(SpaceId, Entry)]) -> NaiveQuery {
    let mut query = NaiveQuery::default();
    for _ in 0..=random.below(3) {
        let (_, entry) = random.pick(messages);
        let text = random.pick(&entry.texts);
        let words: Vec<_> = tokens(text).into_iter().map(|token| token.word).collect();
        let at = random.below(words.len());
        let is_pair = words[at].chars().any(is_unspaced);
        let letters = words[at].chars().take_while(|char| char.is_alphanumeric());
        let prefix: String = letters.take(2 + random.below(2)).collect();
        let wanted = match random.below(4) {
            0 if prefix.chars().count() >= 2 && !is_pair => Wanted::Prefix(prefix),
            1 => phrase(&words[at..words.len().min(at + 2 + random.below(2))]),
            _ if is_pair => phrase(&words[at..=at]),
            _ => Wanted::Word(words[at].clone()),
        };
        if random.below(6) == 0 && !query.wanted.is_empty() {
            query.excluded.push(wanted);
        } else {
            query.wanted.push(wanted);
        }
    }
    if random.below(5) == 0 {
        query.sender = Some(sender(random.below(4) as u8));
    }
    if random.below(6) == 0 {
        query.has = Some(*random.pick(&[Has::File, Has::Reply]));
    }
    let ages = Duration::from_mins(10) * random.below(messages.len()) as u32;
    match random.below(8) {
        0 => query.after = Some(NOW - ages),
        1 => query.before = Some(NOW - ages),
        _ => {}
    }
    query
}

/// The phrase of these words, or of the first ones. Pairs that overlap are written as one.
fn phrase(words: &[String]) -> Wanted {
    let has_pairs = |word: &String| word.chars().any(is_unspaced);
    if !words.iter().any(has_pairs) {
        return Wanted::Phrase { written: words.join(" "), words: words.to_vec() };
    }
    let mut written = words[0].clone();
    let mut used = vec![words[0].clone()];
    for word in &words[1..] {
        let mut chars = word.chars();
        let overlaps = has_pairs(word) && chars.next() == written.chars().next_back();
        let Some(second) = chars.next().filter(|_| overlaps) else { break };
        written.push(second);
        used.push(word.clone());
    }
    Wanted::Phrase { written, words: used }
}
