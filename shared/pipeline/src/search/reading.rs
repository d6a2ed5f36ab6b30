//! Reads the messages of a part: blocks where there are any, and the messages themselves where
//! there are none.
//!
//! Each space is read from its newest message on, without gaps, so one number says how far it was
//! read. The spaces share what a call may read, so that a large one does not hide the others.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use futures::{StreamExt, TryStreamExt, stream};
use smartspace_domain::{
    Result, Time,
    ids::SpaceId,
    messages::Message,
    search::{BLOCK_MESSAGES, Block, Entry, Matches, Query, block_of, numbers_of},
};
use smartspace_store::{
    messages::Range,
    search::{BlockBounds, BlocksRead},
};

use super::plan::SpacePart;
use crate::Pipeline;

/// How many bytes of blocks one call reads.
const BLOCK_BYTES: usize = 8 << 20;
/// Less than this is not worth another round.
const LEAST_BYTES: usize = 64 << 10;
/// How many messages without a block one call reads.
const MESSAGES_WITHOUT_BLOCK: u64 = 1_000;
/// How many of the newest messages of a space are read beside its blocks.
const NEWEST: u64 = 150;
/// How long one call reads a part, and how long if an earlier call has read it: it should come as
/// far again. The rest of its time is for the page.
const READS_FOR: Duration = Duration::from_secs(3);
const READS_AGAIN_FOR: Duration = Duration::from_millis(3_500);
/// How much the clocks of those that store messages may differ.
const CLOCKS_DIFFER: Duration = Duration::from_hours(1);
/// How many spaces are read at a time.
const SPACES_AT_ONCE: usize = 8;

/// What was read of a space.
#[derive(Debug)]
pub(super) struct SpaceReading {
    pub(super) part: SpacePart,
    /// The numbers from this one on are read.
    pub(super) read_from: u64,
    pub(super) matches: Vec<Matches>,
    /// When the oldest message that was read was posted.
    pub(super) oldest: Option<Time>,
    /// How many numbers no block covers.
    without_block: u64,
    /// Whether messages without a block follow that this call does not read.
    is_stopped: bool,
    /// Whether all older messages are older than the query wants.
    is_done: bool,
}

impl SpaceReading {
    fn new(part: SpacePart) -> Self {
        Self {
            part,
            read_from: part.before,
            matches: Vec::new(),
            oldest: None,
            without_block: 0,
            is_stopped: false,
            is_done: false,
        }
    }

    /// Whether older messages are left for later calls.
    pub(super) fn has_older(&self) -> bool {
        self.read_from > 1 && !self.is_done
    }

    /// Whether messages of the part are left that this call may still read.
    fn goes_on(&self) -> bool {
        !self.is_stopped && !self.is_done && self.read_from > self.part.first
    }

    /// How many numbers this call has read.
    pub(super) fn numbers(&self) -> u64 {
        self.part.before - self.read_from
    }

    /// Whether a job should build blocks of it.
    pub(super) fn lacks_blocks(&self) -> bool {
        self.without_block >= BLOCK_MESSAGES
    }

    /// Adds matches of messages, the oldest of which was posted at `oldest`.
    fn add(&mut self, matches: Matches, oldest: Option<Time>, query: &Query) {
        self.matches.push(matches);
        self.oldest = self.oldest.into_iter().chain(oldest).min();
        let too_old = |after: Time| oldest.is_some_and(|oldest| oldest + CLOCKS_DIFFER < after);
        self.is_done |= query.after.is_some_and(too_old);
    }
}

/// What one round has read of a space: its blocks, and its newest messages.
struct Round {
    blocks: BlocksRead,
    newest: Newest,
}

/// The newest messages of a space, by number.
#[derive(Default)]
struct Newest(BTreeMap<u64, Message>);

impl Newest {
    /// How many numbers of a gap are older than all of them.
    fn missing(&self, gap: &RangeInclusive<u64>) -> u64 {
        let below = self.0.first_key_value().map_or(u64::MAX, |(first, _)| *first);
        (gap.end() + 1).min(below).saturating_sub(*gap.start())
    }
}

/// Some numbers of a space.
struct Piece {
    numbers: RangeInclusive<u64>,
    /// The block that covers them.
    block: Option<Block>,
}

impl Round {
    /// The pieces with the numbers from `first` on and below `before`, newest first.
    fn pieces(&mut self, first: u64, before: u64) -> Vec<Piece> {
        let within = |numbers: RangeInclusive<u64>| {
            (*numbers.start()).max(first)..=(*numbers.end()).min(before.saturating_sub(1))
        };
        let blocks = std::mem::take(&mut self.blocks.blocks);
        let blocks = blocks.into_iter().map(|(number, block)| Piece {
            numbers: within(numbers_of(number)),
            block: Some(block),
        });
        let gaps = self.blocks.gaps.iter();
        let gaps = gaps.map(|gap| Piece { numbers: within(gap.clone()), block: None });
        let mut pieces: Vec<_> =
            blocks.chain(gaps).filter(|piece| !piece.numbers.is_empty()).collect();
        pieces.sort_by_key(|piece| std::cmp::Reverse(*piece.numbers.end()));
        pieces
    }

    /// How many messages without a block are among the newest ones, and how many are not.
    fn without_block(&self, first: u64) -> (u64, u64) {
        let mut count = (0, 0);
        for gap in self.blocks.gaps.iter().filter(|gap| *gap.end() >= first) {
            let gap = (*gap.start()).max(first)..=*gap.end();
            let missing = self.newest.missing(&gap);
            count.0 += numbers_in(&gap) - missing;
            count.1 += missing;
        }
        count
    }
}

fn numbers_in(range: &RangeInclusive<u64>) -> u64 {
    (range.end() + 1).saturating_sub(*range.start())
}

/// What a call may still read.
struct Budget {
    bytes: usize,
    messages: u64,
    until: Time,
}

/// What may be read of one space in a round.
struct Allowed {
    /// How many messages that have no block and are not among the newest ones.
    messages: u64,
    until: Time,
    /// Whether something is read even after `until`, so that a call always comes further.
    reads_anyway: bool,
}

impl Pipeline {
    /// Reads a part, newest messages first. What is left is below `read_from` of each space.
    pub(super) async fn read_part(
        &self,
        parts: &[SpacePart],
        query: &Query,
        is_again: bool,
    ) -> Result<Vec<SpaceReading>> {
        let mut readings: Vec<_> = parts.iter().map(|part| SpaceReading::new(*part)).collect();
        let mut budget = Budget {
            bytes: BLOCK_BYTES,
            messages: MESSAGES_WITHOUT_BLOCK,
            until: self.now() + if is_again { READS_AGAIN_FOR } else { READS_FOR },
        };
        let mut is_first = true;
        while budget.bytes >= LEAST_BYTES && (is_first || self.now() < budget.until) {
            let going_on: Vec<_> = readings.iter_mut().filter(|it| it.goes_on()).collect();
            if going_on.is_empty() {
                break;
            }
            self.read_round(going_on, query, &mut budget, is_first).await?;
            is_first = false;
        }
        if readings.iter().all(|reading| reading.read_from == reading.part.before)
            && let Some(reading) = readings.iter_mut().find(|reading| reading.goes_on())
        {
            // The blocks of every space are larger than its share. One at a time is not.
            let bytes = BLOCK_BYTES;
            self.read_round(vec![reading], query, &mut Budget { bytes, ..budget }, false).await?;
        }
        Ok(readings)
    }

    /// Reads an equal share of each of these spaces.
    async fn read_round(
        &self,
        readings: Vec<&mut SpaceReading>,
        query: &Query,
        budget: &mut Budget,
        is_first: bool,
    ) -> Result<()> {
        let bytes = budget.bytes / readings.len();
        let without_block = budget.messages.max(NEWEST);
        let rounds = readings.iter().map(|reading| {
            let (part, before) = (reading.part, reading.read_from);
            let bounds = BlockBounds { before, bytes, without_block };
            self.read_space(part, bounds, is_first && part.has_newest)
        });
        let rounds: Vec<_> = rounds.collect();
        let rounds: Vec<Round> =
            stream::iter(rounds).buffered(SPACES_AT_ONCE).try_collect().await?;
        let mut wanted = Vec::with_capacity(rounds.len());
        for (reading, round) in readings.iter().zip(&rounds) {
            // A space without blocks costs something, too, so that there is an end.
            budget.bytes = budget.bytes.saturating_sub(round.blocks.bytes.max(1));
            let (read, missing) = round.without_block(reading.part.first);
            budget.messages = budget.messages.saturating_sub(read);
            wanted.push(missing);
        }
        let shares = shares(&wanted, budget.messages);
        budget.messages -= shares.iter().sum::<u64>();
        let until = budget.until;
        let reads = readings.into_iter().zip(rounds).zip(shares).enumerate();
        let reads = reads.map(|(index, ((reading, round), messages))| {
            let allowed = Allowed { messages, until, reads_anyway: index == 0 };
            Box::pin(self.take_round(reading, round, query, allowed))
        });
        let reads: Vec<_> = reads.collect();
        stream::iter(reads).buffered(SPACES_AT_ONCE).try_collect().await
    }

    async fn read_space(
        &self,
        part: SpacePart,
        bounds: BlockBounds,
        with_newest: bool,
    ) -> Result<Round> {
        let blocks = self.store.blocks().read(part.space, bounds);
        if !with_newest {
            return Ok(Round { blocks: blocks.await?, newest: Newest::default() });
        }
        let newest = self.messages_below(part.space, bounds.before, NEWEST);
        let (blocks, newest) = futures::try_join!(blocks, newest)?;
        let newest = newest.into_iter().map(|message| (message.seq, message)).collect();
        Ok(Round { blocks, newest: Newest(newest) })
    }

    async fn messages_below(
        &self,
        space: SpaceId,
        before: u64,
        count: u64,
    ) -> Result<Vec<Message>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let limit = usize::try_from(count).unwrap_or(usize::MAX);
        self.store.messages().list(space, Range::Before(before), limit).await
    }

    /// Finds the matches of a round, from its newest numbers on, as far as it is allowed. Between
    /// two pieces it gives way to other tasks.
    async fn take_round(
        &self,
        reading: &mut SpaceReading,
        mut round: Round,
        query: &Query,
        mut allowed: Allowed,
    ) -> Result<()> {
        let pieces = round.pieces(reading.part.first, reading.read_from);
        for (index, Piece { numbers, block }) in pieces.into_iter().enumerate() {
            let reads_anyway = index == 0 && allowed.reads_anyway;
            if !reads_anyway && self.now() >= allowed.until {
                reading.is_stopped = true;
                break;
            }
            tokio::task::yield_now().await;
            if let Some(block) = block {
                self.take_block(reading, &block, numbers, query).await?;
                continue;
            }
            reading.without_block += numbers_in(&numbers);
            let missing = round.newest.missing(&numbers);
            let count = missing.min(allowed.messages);
            allowed.messages -= count;
            let newer_from = numbers.start() + missing;
            let older = self.messages_below(reading.part.space, newer_from, count).await?;
            let mut newer = round.newest.0.split_off(&newer_from);
            newer.retain(|seq, _| numbers.contains(seq));
            let messages: Vec<_> = older.into_iter().chain(newer.into_values()).collect();
            take_messages(reading, &messages, query);
            reading.read_from = newer_from - count;
            if count < missing {
                reading.is_stopped = true;
                break;
            }
        }
        Ok(())
    }

    async fn take_block(
        &self,
        reading: &mut SpaceReading,
        block: &Block,
        numbers: RangeInclusive<u64>,
        query: &Query,
    ) -> Result<()> {
        let space = reading.part.space;
        reading.read_from = *numbers.start();
        // Their cards had no result when the block was built, and a result is no edit.
        let unsettled = block.unsettled().iter().filter(|seq| numbers.contains(seq));
        let refs: Vec<_> = unsettled.map(|seq| (space, *seq)).collect();
        // Of a block that is not searched to its beginning, the first time would be too early.
        let is_whole = numbers_of(block_of(*numbers.start())).start() == numbers.start();
        let oldest = block.first_at().filter(|_| is_whole);
        reading.add(block.matches(query, numbers), oldest, query);
        if refs.is_empty() {
            return Ok(());
        }
        let records = self.store.messages().at(&refs).await?.into_iter().flatten().collect();
        let messages = self.store.messages().with_long_texts(space, records).await?;
        take_messages(reading, &messages, query);
        Ok(())
    }
}

/// Adds what is found in messages without a block.
fn take_messages(reading: &mut SpaceReading, messages: &[Message], query: &Query) {
    let entries: Vec<_> = messages.iter().filter_map(Entry::of).collect();
    let oldest = entries.first().map(|entry| entry.at);
    reading.add(Matches::of(&entries, query), oldest, query);
}

/// Shares `total` among those who want some: everybody gets what it wants, or as much as the
/// others that get less than they want.
fn shares(wanted: &[u64], total: u64) -> Vec<u64> {
    let mut order: Vec<_> = (0..wanted.len()).collect();
    order.sort_by_key(|index| wanted[*index]);
    let mut shares = vec![0; wanted.len()];
    let mut left = total;
    for (position, index) in order.into_iter().enumerate() {
        let sharing = (wanted.len() - position) as u64;
        shares[index] = wanted[index].min(left / sharing);
        left -= shares[index];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_wishes_are_met_and_large_ones_share_the_rest() {
        assert_eq!(shares(&[850, 0, 10], 1_000), [850, 0, 10]);
        assert_eq!(shares(&[5_000, 100, 5_000], 1_000), [450, 100, 450]);
        assert_eq!(shares(&[5, 5, 5], 2), [0, 1, 1]);
        assert_eq!(shares(&[], 10), [0; 0]);
    }
}
