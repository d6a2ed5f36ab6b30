//! The messages of a block, or of a page of messages, that have words of a query.

use std::{collections::HashMap, ops::RangeInclusive};

use smallvec::SmallVec;

use super::{
    block::Block,
    clauses::{Clause, Term},
    entry::Entry,
    query::Query,
};
use crate::Time;

/// What a query finds in some messages, and what ranking needs to know of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// How many messages were looked at.
    pub messages: u64,
    /// How many words all of them have.
    pub(super) length: u64,
    /// The messages that have a word of the query, ascending. If the query has no words: all that
    /// pass its filters.
    pub candidates: Vec<Candidate>,
    /// The words that prefixes of the query stand for.
    pub(super) expansions: Vec<String>,
}

/// A message that has a word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The message's position in its space.
    pub seq: u64,
    /// When the message was posted.
    pub at: Time,
    /// Whether the message passes the filters and has nothing that is excluded. Others count for
    /// the frequencies of words only.
    pub passes: bool,
    /// How many words the message has.
    pub(super) length: u32,
    /// How often the message has each clause of the query, except for the prefixes. A frequent word
    /// has many candidates, so most of them need no memory of their own for that.
    pub(super) frequencies: SmallVec<[u32; 4]>,
    /// How often the message has the words of prefixes.
    pub(super) expanded: Vec<Expanded>,
}

/// How often a message has a word that begins with a prefix of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expanded {
    /// The index of the clause with the prefix.
    pub(super) clause: usize,
    /// The index of the word in [`Matches::expansions`].
    pub(super) word: usize,
    pub(super) count: u32,
}

impl Matches {
    /// What the query finds in messages that no block covers, in the order of their numbers.
    pub fn of(entries: &[Entry], query: &Query) -> Self {
        let all: Vec<_> = entries.iter().collect();
        Block::with(&all).matches(query, 0..=u64::MAX)
    }
}

impl Query {
    /// Whether the query finds a message, as it is now.
    pub fn is_hit(&self, entry: &Entry) -> bool {
        let found = Matches::of(std::slice::from_ref(entry), self);
        found.candidates.iter().any(|candidate| candidate.passes)
    }
}

impl Block {
    /// What a query finds among those messages whose numbers are in `numbers`.
    pub fn matches(&self, query: &Query, numbers: RangeInclusive<u64>) -> Matches {
        let mut found = Matches::default();
        let mut frequencies = Vec::with_capacity(query.wanted.len());
        let mut expanded = HashMap::<usize, Vec<Expanded>>::new();
        for (index, clause) in query.wanted.iter().enumerate() {
            if clause.is_prefix() {
                frequencies.push(Vec::new());
                self.expand(index, &clause.terms[0], &mut found.expansions, &mut expanded);
            } else {
                frequencies.push(self.frequencies(clause));
            }
        }
        let excluded: Vec<_> =
            query.excluded.iter().map(|clause| self.frequencies(clause)).collect();
        for (index, message) in self.messages.iter().enumerate() {
            if !numbers.contains(&message.seq) {
                continue;
            }
            found.messages += 1;
            found.length += u64::from(message.length);
            let of_clause = |counts: &Vec<u32>| counts.get(index).copied().unwrap_or_default();
            let has_word =
                expanded.contains_key(&index) || frequencies.iter().any(|it| of_clause(it) > 0);
            let passes = query.passes(message.sender, message.at, message.has)
                && excluded.iter().all(|counts| of_clause(counts) == 0);
            if has_word || (passes && query.wanted.is_empty()) {
                found.candidates.push(Candidate {
                    seq: message.seq,
                    at: message.at,
                    passes,
                    length: message.length,
                    frequencies: frequencies.iter().map(of_clause).collect(),
                    expanded: expanded.remove(&index).unwrap_or_default(),
                });
            }
        }
        found
    }

    /// Adds the words that begin with a prefix, and for each message how often it has them.
    fn expand(
        &self,
        clause: usize,
        prefix: &Term,
        words: &mut Vec<String>,
        expanded: &mut HashMap<usize, Vec<Expanded>>,
    ) {
        for index in self.words_of(prefix) {
            for posting in self.postings(index) {
                let found = Expanded { clause, word: words.len(), count: posting.count };
                expanded.entry(posting.message).or_default().push(found);
            }
            words.push(self.word(index).to_owned());
        }
    }

    /// How often each message has a clause. Empty if none has it.
    fn frequencies(&self, clause: &Clause) -> Vec<u32> {
        let mut frequencies: Vec<u32> = Vec::new();
        let mut add = |message: usize, count: u32| {
            frequencies.resize(self.messages.len(), 0);
            frequencies[message] += count;
        };
        for terms in clause.alternatives() {
            if let [term] = terms {
                for posting in self.words_of(term).flat_map(|index| self.postings(index)) {
                    add(posting.message, posting.count);
                }
            } else {
                for (message, count) in self.phrases(terms) {
                    add(message, count);
                }
            }
        }
        frequencies
    }

    /// The messages that have these terms next to each other, and how often.
    fn phrases(&self, terms: &[Term]) -> Vec<(usize, u32)> {
        let mut places = Vec::with_capacity(terms.len());
        for term in terms {
            let of_term = self.places_of(term);
            // Most blocks lack a word of a phrase, and need no look at the others.
            if of_term.is_empty() {
                return Vec::new();
            }
            places.push(of_term);
        }
        let Some((first, others)) = places.split_first() else { return Vec::new() };
        let mut found = Vec::new();
        for (message, starts) in first {
            let is_start = |start: &&u32| {
                others.iter().zip(1_u32..).all(|(other, offset)| {
                    let places = other.get(message);
                    places.is_some_and(|places| {
                        places.binary_search(&start.wrapping_add(offset)).is_ok()
                    })
                })
            };
            let count = starts.iter().filter(is_start).count();
            if count > 0 {
                found.push((*message, count as u32));
            }
        }
        found
    }

    /// The places of a term in each message that has it, ascending.
    fn places_of(&self, term: &Term) -> HashMap<usize, Vec<u32>> {
        let mut all = HashMap::<usize, Vec<u32>>::new();
        for posting in self.words_of(term).flat_map(|index| self.postings(index)) {
            all.entry(posting.message).or_default().extend(posting.places());
        }
        // A prefix has several words, each with its own places.
        for places in all.values_mut() {
            places.sort_unstable();
        }
        all
    }

    /// The indices of the words for which a term stands.
    fn words_of<'a>(&'a self, term: &'a Term) -> impl Iterator<Item = usize> + 'a {
        let start = term.start();
        (self.first_from(start)..self.word_count())
            .take_while(move |index| self.word(*index).starts_with(start))
            .filter(move |index| term.is_for(self.word(*index)))
    }
}
