//! The order of hits.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    matches::{Candidate, Expanded, Matches},
    query::Query,
};
use crate::{Time, ids::SpaceId};

/// How fast more of the same word counts less.
const K1: f64 = 1.2;
/// How much the length of a message counts.
const B: f64 = 0.5;
/// How much more the newest messages count.
const NEWNESS: f64 = 0.25;
/// After how long a message is half as new.
const HALF_LIFE: Duration = Duration::from_hours(30 * 24);
/// How many words a prefix stands for.
const EXPANSIONS: usize = 200;
/// How far apart hits are joined.
const JOINED: u64 = 2;

/// The order of a search's results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Messages with all words first, then by BM25, where newer messages count a little more.
    #[default]
    Relevance,
    /// The newest messages first.
    Newest,
}

/// A message that a search has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The message's space.
    pub space: SpaceId,
    /// The message's position in its space.
    pub seq: u64,
    /// When the message was posted.
    pub at: Time,
    /// Whether the message has all words of the query.
    pub has_all: bool,
    /// How well the message fits.
    pub score: f64,
}

/// A hit with the hits next to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The best one of them.
    pub hit: Hit,
    /// The positions of the others, ascending: each is at most two numbers from the best one.
    pub also: Vec<u64>,
}

/// Collects what one call of a search has read, and puts its hits in order.
#[derive(Debug)]
pub struct Ranking {
    /// How many clauses the query has.
    clauses: usize,
    /// How many messages were read.
    messages: u64,
    /// How many words they have.
    length: u64,
    found: Vec<(SpaceId, Candidate)>,
    /// The words for which prefixes stand, each with its number.
    words: HashMap<String, usize>,
}

impl Ranking {
    /// Nothing read yet.
    pub fn new(query: &Query) -> Self {
        Self {
            clauses: query.wanted.len(),
            messages: 0,
            length: 0,
            found: Vec::new(),
            words: HashMap::new(),
        }
    }

    /// Adds what was found in a block or in messages of a space. Each message is added once.
    pub fn add(&mut self, space: SpaceId, matches: Matches) {
        self.messages += matches.messages;
        self.length += matches.length;
        let mut numbers = Vec::with_capacity(matches.expansions.len());
        for word in matches.expansions {
            let next = self.words.len();
            numbers.push(*self.words.entry(word).or_insert(next));
        }
        for mut candidate in matches.candidates {
            for expanded in &mut candidate.expanded {
                expanded.word = numbers[expanded.word];
            }
            self.found.push((space, candidate));
        }
    }

    /// All hits in order. The frequencies of words are those of everything that was added, in any
    /// order.
    pub fn ordered(mut self, sort: Sort, now: Time) -> Vec<Hit> {
        self.choose_expansions();
        let scores = self.scores();
        let has_word = |found: &Candidate| {
            self.clauses == 0 || found.frequencies.iter().any(|count| *count > 0)
        };
        let hits = self.found.iter().filter(|(_, found)| found.passes && has_word(found));
        let mut hits: Vec<_> = hits
            .map(|(space, found)| Hit {
                space: *space,
                seq: found.seq,
                at: found.at,
                has_all: found.frequencies.iter().all(|count| *count > 0),
                score: scores.score(found) * newness(found.at, now),
            })
            .collect();
        hits.sort_unstable_by(|one, other| sort.compare(one, other));
        hits
    }

    /// Lets each prefix stand for those of its words that most messages have.
    fn choose_expansions(&mut self) {
        let mut counts = BTreeMap::<usize, HashMap<usize, u64>>::new();
        for Expanded { clause, word, .. } in
            self.found.iter().flat_map(|(_, found)| &found.expanded)
        {
            *counts.entry(*clause).or_default().entry(*word).or_default() += 1;
        }
        let texts: HashMap<usize, &str> =
            self.words.iter().map(|(text, word)| (*word, text.as_str())).collect();
        let mut chosen = HashSet::new();
        for (clause, words) in counts {
            let mut words: Vec<_> =
                words.iter().map(|(word, count)| (Reverse(*count), texts[word], *word)).collect();
            words.sort_unstable();
            chosen.extend(words.into_iter().take(EXPANSIONS).map(|(.., word)| (clause, word)));
        }
        for (_, found) in &mut self.found {
            for expanded in std::mem::take(&mut found.expanded) {
                if chosen.contains(&(expanded.clause, expanded.word)) {
                    found.frequencies[expanded.clause] += expanded.count;
                }
            }
        }
    }

    fn scores(&self) -> Scores {
        let messages = self.messages as f64;
        let weight = |clause: usize| {
            let having = self.found.iter().filter(|(_, found)| found.frequencies[clause] > 0);
            let having = having.count() as f64;
            (1.0 + (messages - having + 0.5) / (having + 0.5)).ln()
        };
        Scores {
            weights: (0..self.clauses).map(weight).collect(),
            average: (self.length as f64 / messages.max(1.0)).max(1.0),
        }
    }
}

/// What BM25 needs to know of all messages.
struct Scores {
    /// How much each clause counts: the fewer messages have it, the more.
    weights: Vec<f64>,
    /// The length of a message on average, in words.
    average: f64,
}

impl Scores {
    fn score(&self, found: &Candidate) -> f64 {
        // The sum of no numbers is -0.0.
        if self.weights.is_empty() {
            return 0.0;
        }
        let long = K1 * (1.0 - B + B * f64::from(found.length) / self.average);
        let scores = self.weights.iter().zip(&found.frequencies).map(|(weight, count)| {
            let count = f64::from(*count);
            weight * count * (K1 + 1.0) / (count + long)
        });
        scores.sum()
    }
}

fn newness(at: Time, now: Time) -> f64 {
    let half_lives = now.since(at).as_secs_f64() / HALF_LIFE.as_secs_f64();
    1.0 + NEWNESS * (-half_lives).exp2()
}

impl Sort {
    /// The order of two hits: the one that comes first is less.
    pub(crate) fn compare(self, one: &Hit, other: &Hit) -> Ordering {
        let time = |hit: &Hit| (hit.at, hit.seq, hit.space);
        let by_time = || time(other).cmp(&time(one));
        match self {
            Self::Relevance => {
                let by_words = other.has_all.cmp(&one.has_all);
                by_words.then(other.score.total_cmp(&one.score)).then_with(by_time)
            }
            Self::Newest => by_time(),
        }
    }
}

/// Joins hits of a space that are at most two numbers apart into one, at the place of the best one.
pub fn join(ordered: &[Hit]) -> Vec<Joined> {
    let mut joined: Vec<Joined> = Vec::new();
    let mut places = HashMap::<(SpaceId, u64), usize>::new();
    for hit in ordered {
        let near = hit.seq.saturating_sub(JOINED)..=hit.seq.saturating_add(JOINED);
        let best = near.filter_map(|seq| places.get(&(hit.space, seq)).copied()).min();
        if let Some(place) = best {
            joined[place].also.push(hit.seq);
        } else {
            places.insert((hit.space, hit.seq), joined.len());
            joined.push(Joined { hit: *hit, also: Vec::new() });
        }
    }
    for joined in &mut joined {
        joined.also.sort_unstable();
    }
    joined
}
