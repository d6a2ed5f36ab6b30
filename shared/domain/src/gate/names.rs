//! Finds the names of members in a text, with and without `@`.

use std::collections::HashMap;

use crate::gate::words::{self, Word, Words};

/// How sure it is that a text names a member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    /// It has the beginning of the name where an addressee stands.
    Partly,
    /// It has the name.
    Name,
    /// It mentions the member with `@`, or is a reply to it.
    Certain,
}

/// By what a message names a member.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// By its text.
    Text,
    /// It replies to the member's message.
    Reply,
    /// It is of a run that the member's message triggered.
    Answer,
}

/// A name in a text, or a member to which a message is linked.
#[derive(Clone, Copy)]
pub(super) struct Named {
    /// The position of the member.
    pub(super) who: usize,
    /// How sure it is.
    pub(super) sure: Sure,
    /// What names it.
    pub(super) link: Link,
    /// The position of the word.
    pub(super) at: usize,
    /// Whether a colon or a comma follows.
    pub(super) has_mark: bool,
}

/// The fewest letters of a name that may be misspelt.
const MISSPELT: usize = 5;

/// The names of the members.
#[derive(Default)]
pub(super) struct Names {
    /// The words of each name.
    words: Vec<Vec<u64>>,
    /// The letters of each name.
    letters: Vec<String>,
    /// Whose name begins with a word.
    by_word: HashMap<u64, Vec<usize>>,
}

/// The fewest letters of the beginning of a name.
const BEGINNING: usize = 3;

impl Names {
    /// Adds the name of the next member.
    pub(super) fn add(&mut self, name: &str) {
        let (who, words) = (self.words.len(), words::of_name(name));
        if let Some(first) = words.first() {
            self.by_word.entry(*first).or_default().push(who);
        }
        self.words.push(words);
        self.letters.push(words::letters(name));
    }

    /// The names in a text, in their order, each member once.
    pub(super) fn find(&self, text: &Words) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        let mut at = 0;
        while at < text.list.len() {
            let (named, length) = self.at(text, at);
            if let Some(named) = named {
                match found.iter_mut().find(|known| known.who == named.who) {
                    Some(known) => known.sure = known.sure.max(named.sure),
                    None => found.push(named),
                }
            }
            at += length;
        }
        found
    }

    /// The name at a word, and how many words it has.
    fn at(&self, text: &Words, at: usize) -> (Option<Named>, usize) {
        let rest = &text.list[at..];
        let begins = self.by_word.get(&rest[0].hash).map_or(&[][..], Vec::as_slice);
        let whole = begins.iter().copied().filter(|&who| {
            let name = &self.words[who];
            self.letters[who].len() > 1
                && name.len() <= rest.len()
                && name.iter().zip(rest).all(|(name, word)| *name == word.hash)
        });
        if let Some(who) = whole.max_by_key(|&who| self.words[who].len()) {
            let length = self.words[who].len();
            return (Some(named(who, Sure::Name, text, at, length)), length);
        }
        let is_last = at + 1 == text.list.len();
        let stands_out = at == 0 || is_last || rest[0].has_mark;
        if !stands_out || usize::from(rest[0].letters) < BEGINNING {
            return (None, 1);
        }
        let who = only(begins.iter().copied()).or_else(|| self.beginning(text, at, rest[0]));
        (who.map(|who| named(who, Sure::Partly, text, at, 1)), 1)
    }

    /// The only member whose name begins with the letters of the first word, or has one letter more
    /// or less, or another one.
    fn beginning(&self, text: &Words, at: usize, word: Word) -> Option<usize> {
        if at > 0 || !word.has_mark {
            return None;
        }
        let begins = |letters: &String| letters.starts_with(&text.first);
        let members = || 0..self.letters.len();
        only(members().filter(|&who| begins(&self.letters[who]))).or_else(|| {
            let is_long = usize::from(word.letters) >= MISSPELT;
            let is_close = |who: &usize| is_long && are_close(&self.letters[*who], &text.first);
            only(members().filter(is_close))
        })
    }
}

fn named(who: usize, sure: Sure, text: &Words, at: usize, length: usize) -> Named {
    let end = at + length;
    let has_mark = text.list[end - 1].has_mark;
    Named { who, sure, link: Link::Text, at, has_mark }
}

fn only(mut of: impl Iterator<Item = usize>) -> Option<usize> {
    of.next().filter(|_| of.next().is_none())
}

/// Whether two texts differ by one letter: by another one, or by one that only one of them has.
fn are_close(one: &str, other: &str) -> bool {
    if one.len().abs_diff(other.len()) > 4 {
        return false;
    }
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one, other) {
        ([_, one @ ..], [_, other @ ..]) if one == other => true,
        ([_, one @ ..], other) if one == other => true,
        (one, [_, other @ ..]) => one == other,
        _ => false,
    }
}
