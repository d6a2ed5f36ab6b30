//! A search over blocks and messages finds what a naive one finds, in the same order.

use std::collections::BTreeMap;

use super::{
    NOW, Query,
    corpus::{self, Random},
    naive::{self, NaiveMessage},
};
use crate::{
    ids::SpaceId,
    search::{Block, Entry, Filters, Matches, Ranking, Sort, block_of, numbers_of},
};

const MESSAGES: usize = 5_000;
const QUERIES: usize = 200;
/// Each block with this number has a gap in its place, so its messages are read.
const GAP: u64 = 5;

/// What a search reads of the spaces.
struct Stored {
    blocks: Vec<(SpaceId, u64, Block)>,
    pages: Vec<(SpaceId, Vec<Entry>)>,
}

impl Stored {
    /// Blocks for all but the newest messages and some gaps, as bytes and back.
    fn of(messages: &[(SpaceId, Entry)]) -> Self {
        let mut parts = BTreeMap::<(SpaceId, u64), Vec<Entry>>::new();
        for (space, entry) in messages {
            parts.entry((*space, block_of(entry.seq))).or_default().push(entry.clone());
        }
        let mut stored = Self { blocks: Vec::new(), pages: Vec::new() };
        let last: BTreeMap<_, _> = parts.keys().copied().collect();
        for ((space, number), entries) in parts {
            if number == last[&space] || number == GAP {
                stored.pages.push((space, entries));
            } else {
                let bytes = Block::of(&entries).to_bytes();
                stored.blocks.push((space, number, Block::from_bytes(&bytes).unwrap()));
            }
        }
        stored
    }

    fn search(&self, query: &Query, sort: Sort) -> Vec<(SpaceId, u64)> {
        let mut ranking = Ranking::new(query);
        for (space, number, block) in &self.blocks {
            ranking.add(*space, block.matches(query, numbers_of(*number)));
        }
        for (space, entries) in &self.pages {
            ranking.add(*space, Matches::of(entries, query));
        }
        ranking.ordered(sort, NOW).into_iter().map(|hit| (hit.space, hit.seq)).collect()
    }
}

#[test]
fn a_search_finds_what_a_naive_one_finds_in_the_same_order() {
    assert_equal_to_a_naive_search(QUERIES);
}

#[test]
#[ignore = "long: tests/run --all"]
fn two_thousand_searches_find_what_naive_ones_find_in_the_same_order() {
    assert_equal_to_a_naive_search(2_000);
}

fn assert_equal_to_a_naive_search(queries: usize) {
    let mut random = Random(1);
    let messages = corpus::messages(&mut random, MESSAGES);
    let stored = Stored::of(&messages);
    let all: Vec<_> =
        messages.iter().map(|(space, entry)| NaiveMessage::of(*space, entry)).collect();
    let mut with_hits = 0;
    for number in 0..queries {
        let naive = corpus::query(&mut random, &messages);
        let mut query = Query::parse(&naive.written(), &Filters::default()).unwrap();
        if let Some(sender) = naive.sender {
            query.set_senders([sender]);
        }
        let sort = if number % 5 == 0 { Sort::Newest } else { Sort::Relevance };
        let found = stored.search(&query, sort);
        assert_eq!(found, naive::search(&all, &naive, sort, NOW), "{}", naive.written());
        with_hits += usize::from(!found.is_empty());
        for _ in 0..5 {
            let (space, entry) = random.pick(&messages);
            let is_found = found.contains(&(*space, entry.seq));
            // A prefix stands for its most frequent words only, but one message does not show that.
            assert!(
                query.is_hit(entry) == is_found || (naive.has_prefix() && !is_found),
                "{}: {entry:?}",
                naive.written()
            );
        }
    }
    assert!(with_hits > queries / 2, "only {with_hits} queries find anything");
}

#[test]
fn what_is_read_in_parts_is_what_is_read_at_once() {
    let mut random = Random(2);
    let messages = corpus::messages(&mut random, 300);
    let (space, _) = messages[0];
    let entries: Vec<_> =
        messages.into_iter().filter(|(of, _)| *of == space).map(|(_, entry)| entry).collect();
    let block = Block::of(&entries);
    let query = super::query("task* a");
    let middle = entries[entries.len() / 2].seq;
    let mut parts = Ranking::new(&query);
    parts.add(space, block.matches(&query, 1..=middle));
    parts.add(space, block.matches(&query, middle + 1..=u64::MAX));
    let mut whole = Ranking::new(&query);
    whole.add(space, Matches::of(&entries, &query));
    assert_eq!(parts.ordered(Sort::Relevance, NOW), whole.ordered(Sort::Relevance, NOW));
}
