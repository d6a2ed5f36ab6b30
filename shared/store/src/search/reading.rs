//! Reads the blocks of a space, newest first, by ranges of keys: eight queries at a time.
//!
//! All reads are consistent: a block that an edit has just deleted must not hide the new text.

use std::{collections::BTreeMap, ops::RangeInclusive};

use futures::future::try_join_all;
use smartspace_domain::{
    ids::SpaceId,
    search::{BLOCK_MESSAGES, Block, block_of, numbers_of},
};

use crate::{
    Blocks, Result,
    search::item::{BlockItems, place_of},
    shared::stored_block::{BlockItem, StoredBlock},
    table::{Page, Query, WriteError, keys, read, write::Item},
};

/// How many queries are made at a time.
const QUERIES: usize = 8;
/// How many blocks the first query looks for. It shows how large blocks are in this space.
const FIRST_BLOCKS: u64 = 32;
/// A further query looks for at least so many blocks.
const LEAST_BLOCKS: u64 = 16;
/// How many bytes a query returns at most.
const PAGE_BYTES: usize = 1 << 20;
/// What an item has beside its bytes, about.
const ITEM_BYTES: usize = 64;

/// How much of a space is read.
#[derive(Clone, Copy, Debug)]
pub struct BlockBounds {
    /// Only the blocks of numbers below this one.
    pub before: u64,
    /// Reading stops after so many bytes, as they are stored. It may read one page of 1 MiB more.
    pub bytes: usize,
    /// Reading stops once more than about so many numbers have no block: the caller does not read
    /// all their messages, so that older blocks are of no use to it.
    pub without_block: u64,
}

/// The blocks of a space that were read.
#[derive(Debug, Default)]
pub struct BlocksRead {
    /// The blocks with their numbers, newest first. The newest may cover numbers from
    /// [`BlockBounds::before`] on, too.
    pub blocks: Vec<(u64, Block)>,
    /// The numbers that no block covers, newest first.
    pub gaps: Vec<RangeInclusive<u64>>,
    /// Each number from this one on, and below [`BlockBounds::before`], is in one of `blocks` or
    /// `gaps`. It is 1 if nothing older is left, and `before` if nothing was read.
    pub from: u64,
    /// How many bytes were read.
    pub bytes: usize,
}

impl BlocksRead {
    /// How many numbers no block covers. With 100 or more below the last message, a block is to be
    /// built.
    pub fn without_block(&self) -> u64 {
        self.gaps.iter().map(|gap| gap.end() - gap.start() + 1).sum()
    }

    fn add_gap(&mut self, first: u64, last: u64) {
        match self.gaps.last_mut() {
            Some(newer) if *newer.start() == last + 1 => *newer = first..=*newer.end(),
            _ => self.gaps.push(first..=last),
        }
    }
}

impl Blocks<'_> {
    /// The blocks of a space, newest first, within `bounds`.
    pub async fn read(self, space: SpaceId, bounds: BlockBounds) -> Result<BlocksRead> {
        let mut reading = Reading::new(space, bounds);
        loop {
            let queries = reading.next_queries();
            if queries.is_empty() {
                return Ok(Box::pin(reading.finish()).await);
            }
            let pages = queries.into_iter().map(|(range, query)| async move {
                Ok::<_, crate::Error>((range, self.store.table.page(query).await?))
            });
            for (range, page) in try_join_all(pages).await? {
                reading.take(range, page)?;
            }
        }
    }

    /// The blocks from `first` to `last` that are not stored, newest first. Those that can't be
    /// read, because another version wrote them, are deleted.
    pub async fn missing(self, space: SpaceId, first: u64, last: u64) -> Result<Vec<u64>> {
        let mut found = BTreeMap::<u64, BlockItems>::new();
        for item in self.store.table.all(query(space, first, last)).await? {
            if let Some((number, part)) = place_of(&item) {
                found.entry(number).or_default().add(part, read(item)?);
            }
        }
        let mut missing = Vec::new();
        for number in (first..=last).rev() {
            let Some(items) = found.remove(&number) else {
                missing.push(number);
                continue;
            };
            let stored = StoredBlock::of(space, number, items.head());
            tokio::task::yield_now().await;
            if items.block().is_none() {
                self.delete(stored).await?;
                missing.push(number);
            }
        }
        Ok(missing)
    }

    /// Deletes a block, unless another one is stored in its place.
    async fn delete(self, block: StoredBlock) -> Result<()> {
        match self.store.table.transact(&block.delete_writes()?).await {
            Ok(()) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

fn query(space: SpaceId, first: u64, last: u64) -> Query {
    // '~' sorts after the parts of a block.
    let end = format!("{}~", keys::block_sort_key(last));
    Query::of(keys::find(space)).between(&keys::block_sort_key(first), &end).newest_first()
}

/// Blocks that one query looks for, and others that go on where it ends.
#[derive(Debug)]
struct KeyRange {
    first: u64,
    last: u64,
    found: BTreeMap<u64, BlockItems>,
    /// The blocks from this one on are read.
    read_from: u64,
    /// Where the next page begins, after the first one.
    next: Option<Item>,
}

impl KeyRange {
    fn new(first: u64, last: u64) -> Self {
        Self { first, last, found: BTreeMap::new(), read_from: last + 1, next: None }
    }

    fn is_read(&self) -> bool {
        self.read_from == self.first && self.next.is_none()
    }

    fn query(&self, space: SpaceId) -> Query {
        query(space, self.first, self.last).after(self.next.clone())
    }

    /// How many blocks are not stored, among those that are read.
    fn missing(&self) -> u64 {
        let found = self.found.range(self.read_from..).count() as u64;
        (self.last + 1 - self.read_from).saturating_sub(found)
    }
}

/// The state of one call.
#[derive(Debug)]
struct Reading {
    space: SpaceId,
    bounds: BlockBounds,
    /// Newest first, without gaps between them.
    ranges: Vec<KeyRange>,
    bytes: usize,
    /// How many blocks were found.
    found: usize,
}

impl Reading {
    fn new(space: SpaceId, bounds: BlockBounds) -> Self {
        Self { space, bounds, ranges: Vec::new(), bytes: 0, found: 0 }
    }

    /// How many blocks are older than all ranges.
    fn older(&self) -> u64 {
        match self.ranges.last() {
            Some(range) => range.first,
            None if self.bounds.before <= 1 => 0,
            None => block_of(self.bounds.before - 1) + 1,
        }
    }

    /// The next queries, each with the index of its range. None if everything is read, or enough.
    fn next_queries(&mut self) -> Vec<(usize, Query)> {
        let left = self.bounds.bytes.saturating_sub(self.bytes);
        let missing: u64 = self.contiguous().map(KeyRange::missing).sum();
        if left == 0 || missing > self.bounds.without_block / BLOCK_MESSAGES + 1 {
            return Vec::new();
        }
        let most = left.div_ceil(PAGE_BYTES).min(QUERIES);
        // Older blocks are of no use without the newer ones.
        let unread = self.ranges.iter().filter(|range| !range.is_read()).count();
        let more = if self.ranges.is_empty() { 1 } else { most.saturating_sub(unread) };
        let size = self.blocks_of_query();
        for _ in 0..more {
            let older = self.older();
            if older == 0 {
                break;
            }
            self.ranges.push(KeyRange::new(older.saturating_sub(size), older - 1));
        }
        let ranges = self.ranges.iter().enumerate().filter(|(_, range)| !range.is_read());
        ranges.take(most).map(|(index, range)| (index, range.query(self.space))).collect()
    }

    /// How many blocks the next queries look for: as many as one page has, as far as that is known,
    /// but no more than leaves work for the other queries.
    fn blocks_of_query(&self) -> u64 {
        if self.ranges.is_empty() {
            return FIRST_BLOCKS;
        }
        let mean = (self.bytes / self.found.max(1)).max(1);
        let fit = (PAGE_BYTES / mean) as u64 * 3 / 4;
        let share = self.older().div_ceil(QUERIES as u64).max(LEAST_BLOCKS);
        fit.min(share).max(1)
    }

    fn take(&mut self, index: usize, page: Page) -> Result<()> {
        let Some(range) = self.ranges.get_mut(index) else { return Ok(()) };
        for item in page.items {
            let Some((number, part)) = place_of(&item) else { continue };
            let item: BlockItem = read(item)?;
            self.bytes += item.packed.len() + ITEM_BYTES;
            // A block comes after its parts.
            range.read_from = if part.is_none() { number } else { number + 1 };
            self.found += usize::from(part.is_none());
            range.found.entry(number).or_default().add(part, item);
        }
        range.next = page.next;
        if range.next.is_none() {
            range.read_from = range.first;
        }
        Ok(())
    }

    /// The ranges from the newest one to the first that is not read to its end.
    fn contiguous(&self) -> impl Iterator<Item = &KeyRange> {
        let whole = self.ranges.iter().take_while(|range| range.is_read()).count();
        self.ranges.iter().take(whole + 1)
    }

    /// Unpacks the blocks. Between two of them it gives way to other tasks.
    async fn finish(mut self) -> BlocksRead {
        let BlockBounds { before, .. } = self.bounds;
        let whole = self.contiguous().count();
        let mut result =
            BlocksRead { from: before.max(1), bytes: self.bytes, ..BlocksRead::default() };
        for mut range in self.ranges.drain(..whole) {
            for number in (range.read_from..=range.last).rev() {
                let numbers = numbers_of(number);
                result.from = *numbers.start();
                tokio::task::yield_now().await;
                match range.found.remove(&number).and_then(BlockItems::block) {
                    Some(block) => result.blocks.push((number, block)),
                    None => result.add_gap(*numbers.start(), *numbers.end().min(&(before - 1))),
                }
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_that_touch_are_one() {
        let mut read = BlocksRead::default();
        read.add_gap(301, 350);
        read.add_gap(201, 300);
        read.add_gap(1, 100);
        assert_eq!(read.gaps, [201..=350, 1..=100]);
        assert_eq!(read.without_block(), 250);
    }

    #[test]
    fn the_first_query_shows_how_many_blocks_the_others_look_for() {
        let space = SpaceId::new(smartspace_domain::Time::from_millis(0), 1);
        let bounds = BlockBounds { before: 100_001, bytes: 8 << 20, without_block: 1_000 };
        let mut reading = Reading::new(space, bounds);
        let first: Vec<_> = reading.next_queries();
        assert_eq!(first.len(), 1);
        assert_eq!((reading.ranges[0].first, reading.ranges[0].last), (968, 999));
        // As if all of them had been found, with 2,750 bytes each.
        reading.bytes = 32 * 2_750;
        reading.found = 32;
        let items = (968..=999).map(|number| (number, BlockItems::default()));
        reading.ranges[0].found = items.collect();
        reading.ranges[0].read_from = 968;
        let next = reading.next_queries();
        assert_eq!(next.len(), 8);
        assert_eq!(reading.older(), 0);
    }

    #[tokio::test]
    async fn older_blocks_are_not_read_behind_a_wide_gap() {
        let space = SpaceId::new(smartspace_domain::Time::from_millis(0), 1);
        let bounds = BlockBounds { before: 100_001, bytes: 8 << 20, without_block: 1_000 };
        let mut reading = Reading::new(space, bounds);
        assert_eq!(reading.next_queries().len(), 1);
        reading.take(0, Page { items: Vec::new(), next: None }).unwrap();
        assert_eq!(reading.next_queries().len(), 0);
        let read = reading.finish().await;
        assert_eq!((read.gaps, read.from), (vec![96_801..=100_000], 96_801));
    }
}
