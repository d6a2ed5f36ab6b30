//! Blocks: the words of up to 100 messages of a space.

use std::{collections::BTreeMap, ops::RangeInclusive};

use super::{
    entry::{Entry, HasFlags},
    varint::{self, Reader},
    words::tokens,
};
use crate::{Time, ids::EntityId};

/// How many numbers a block covers.
pub const BLOCK_MESSAGES: u64 = 100;
/// Ends each word of a block.
pub(super) const WORD_END: char = '\n';
/// How far the last word of a text is from the first one of the next, so that no phrase has both.
const BETWEEN_TEXTS: u32 = 2;

/// The block that covers a number: 0 for the numbers 1 to 100.
pub fn block_of(seq: u64) -> u64 {
    seq.saturating_sub(1) / BLOCK_MESSAGES
}

/// The numbers that a block covers.
pub fn numbers_of(block: u64) -> RangeInclusive<u64> {
    block * BLOCK_MESSAGES + 1..=(block + 1) * BLOCK_MESSAGES
}

/// The words of up to 100 messages with their places, and of each message its length, sender, time
/// and flags. It holds no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The messages whose words it holds, ascending.
    pub(super) messages: Vec<BlockMessage>,
    pub(super) unsettled: Vec<u64>,
    /// The different words one after the other, sorted, each with [`WORD_END`] behind it.
    pub(super) words: String,
    /// Where each word ends.
    pub(super) word_ends: Vec<u32>,
    /// For each word the messages that have it, with its places in them.
    pub(super) postings: Vec<u8>,
    /// Where the postings of each word end.
    pub(super) posting_ends: Vec<u32>,
}

/// What a block holds of a message besides its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockMessage {
    pub(super) seq: u64,
    pub(super) at: Time,
    pub(super) sender: EntityId,
    pub(super) has: HasFlags,
    /// How many words it has.
    pub(super) length: u32,
}

impl Block {
    /// The block of these messages, which are in the order of their numbers. Deleted messages have
    /// no entry, so a block may have fewer messages than numbers, or none.
    pub fn of(entries: &[Entry]) -> Self {
        let settled: Vec<_> = entries.iter().filter(|entry| !entry.unsettled).collect();
        let unsettled = entries.iter().filter(|entry| entry.unsettled);
        Self { unsettled: unsettled.map(|entry| entry.seq).collect(), ..Self::with(&settled) }
    }

    /// A block with the words of all these messages, for one search only.
    pub(super) fn with(entries: &[&Entry]) -> Self {
        let mut words = BTreeMap::<String, Postings>::new();
        let mut block = Self::default();
        for (index, entry) in entries.iter().enumerate() {
            let (places, length) = places(entry);
            for (word, places) in places {
                words.entry(word).or_default().add(index as u64, &places);
            }
            block.messages.push(BlockMessage {
                seq: entry.seq,
                at: entry.at,
                sender: entry.sender,
                has: entry.has,
                length,
            });
        }
        for (word, postings) in words {
            block.words.push_str(&word);
            block.word_ends.push(block.words.len() as u32);
            block.words.push(WORD_END);
            block.postings.extend(postings.bytes);
            block.posting_ends.push(block.postings.len() as u32);
        }
        block
    }

    /// The messages whose words it does not hold, since their cards waited for a result when it was
    /// built. A search reads these messages, as if no block covered them.
    pub fn unsettled(&self) -> &[u64] {
        &self.unsettled
    }

    /// When its first message was posted, except those of [`Self::unsettled`]. `None` if it has no
    /// messages.
    pub fn first_at(&self) -> Option<Time> {
        self.messages.first().map(|message| message.at)
    }

    /// Whether a message of it has this word, as it is folded.
    pub fn has_word(&self, word: &str) -> bool {
        let index = self.first_from(word);
        index < self.word_ends.len() && self.word(index) == word
    }

    /// How many different words it has.
    pub(super) fn word_count(&self) -> usize {
        self.word_ends.len()
    }

    /// The word with this index.
    pub(super) fn word(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.word_ends[before] as usize + 1);
        &self.words[start..self.word_ends[index] as usize]
    }

    /// The index of the first word that is not before this one.
    pub(super) fn first_from(&self, word: &str) -> usize {
        let mut low = 0;
        let mut high = self.word_ends.len();
        while low < high {
            let middle = low.midpoint(high);
            if self.word(middle) < word {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The messages that have the word with this index.
    pub(super) fn postings(&self, index: usize) -> PostingsIter<'_> {
        let start = index.checked_sub(1).map_or(0, |before| self.posting_ends[before] as usize);
        let bytes = &self.postings[start..self.posting_ends[index] as usize];
        PostingsIter { reader: Reader::new(bytes), next: 0, messages: self.messages.len() }
    }
}

/// The places of each word of a message, and the number of all its words.
fn places(entry: &Entry) -> (BTreeMap<String, Vec<u32>>, u32) {
    let mut places = BTreeMap::<String, Vec<u32>>::new();
    let mut length = 0;
    let mut place = 0;
    for text in &entry.texts {
        for token in tokens(text) {
            places.entry(token.word).or_default().push(place);
            place += 1;
            length += 1;
        }
        place += BETWEEN_TEXTS;
    }
    (places, length)
}

/// The messages that have a word, as they are stored.
#[derive(Default)]
struct Postings {
    /// The index of the message after the last one.
    next: u64,
    bytes: Vec<u8>,
}

impl Postings {
    fn add(&mut self, message: u64, places: &[u32]) {
        varint::write(&mut self.bytes, message - self.next);
        varint::write(&mut self.bytes, places.len() as u64);
        let mut next = 0;
        for place in places {
            varint::write(&mut self.bytes, u64::from(place - next));
            next = place + 1;
        }
        self.next = message + 1;
    }
}

/// A message that has a word.
pub(super) struct Posting<'a> {
    /// The message's index in the block.
    pub(super) message: usize,
    /// How often it has the word.
    pub(super) count: u32,
    places: Reader<'a>,
}

impl Posting<'_> {
    /// The places of the word, ascending.
    pub(super) fn places(mut self) -> Vec<u32> {
        let mut next = 0;
        let mut places = Vec::with_capacity(self.count as usize);
        for _ in 0..self.count {
            let Some(gap) = self.places.read() else { break };
            let place = gap.saturating_add(next);
            places.push(place as u32);
            next = place.saturating_add(1);
        }
        places
    }
}

/// Reads the messages that have a word.
pub(super) struct PostingsIter<'a> {
    reader: Reader<'a>,
    next: u64,
    messages: usize,
}

impl<'a> Iterator for PostingsIter<'a> {
    type Item = Posting<'a>;

    fn next(&mut self) -> Option<Posting<'a>> {
        let index = self.reader.read()?.checked_add(self.next)?;
        self.next = index.saturating_add(1);
        let message = usize::try_from(index).ok().filter(|index| *index < self.messages)?;
        let count = self.reader.read_count()?;
        let places = self.reader;
        for _ in 0..count {
            self.reader.read()?;
        }
        Some(Posting { message, count: count as u32, places })
    }
}
