//! Threads: a message and the chain of replies to it. Each reply has an item that names the first
//! message of its thread, so a thread is read without the messages between.

use serde::{Deserialize, Serialize};
use smartspace_domain::ids::SpaceId;

use crate::{
    Error, Messages, Result,
    messages::{LAST_SEQ, MessageRecord, Range},
    table::{Query, keys, read, write::Write},
};

/// A reply, in the list of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ThreadRecord {
    /// Its number in the space.
    seq: u64,
}

/// Messages of a thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadPart {
    /// They are sorted, oldest first.
    pub records: Vec<MessageRecord>,
    /// How many were asked for and exist or existed: some may have expired.
    pub count: usize,
}

/// Adds a reply to its thread, which begins with the message `first`.
pub(crate) fn in_thread(space: SpaceId, first: u64, seq: u64) -> Result<Write> {
    Write::put(keys::numbered(space, &keys::thread(first), seq), &ThreadRecord { seq })
}

/// The error for a number that no message of a space has or had. Its last message has the number
/// `last`.
pub(super) fn no_such_number(pointer: &str, last: u64, got: u64) -> Error {
    let numbers = if last > 0 { format!("1 to {last}") } else { "which has none yet".into() };
    let detail = format!("expected the number of a message of this space, {numbers}, got {got}");
    Error::invalid(pointer, detail)
}

impl Messages<'_> {
    /// Up to `limit` messages of the thread of the message `seq`: the first message and the chain
    /// of replies to it.
    ///
    /// # Errors
    /// `invalid` at `/thread` if the space never had the message.
    pub async fn thread(
        self,
        space: SpaceId,
        seq: u64,
        range: Range,
        limit: usize,
    ) -> Result<ThreadPart> {
        let seqs = self.thread_seqs(space, seq, range, limit).await?;
        let part = self.part_of(space, &seqs).await?;
        // A message with replies in its list is the first one of its thread.
        if seqs.iter().any(|listed| *listed != seq) {
            return Ok(part);
        }
        let thread = match part.records.first() {
            Some(record) => record.thread,
            None => self.thread_with(space, seq).await?,
        };
        let Some(first) = thread else { return Ok(part) };
        let seqs = self.thread_seqs(space, first, range, limit).await?;
        self.part_of(space, &seqs).await
    }

    /// The first message of the thread of a reply. `None` if the message is no reply, or has
    /// expired.
    async fn thread_with(self, space: SpaceId, seq: u64) -> Result<Option<u64>> {
        if let Some(record) = self.record(space, seq).await? {
            return Ok(record.thread);
        }
        let last = self.store.members().head(space).await?.map_or(0, |head| head.seq);
        if (1..=last).contains(&seq) {
            return Ok(None);
        }
        Err(no_such_number("/thread", last, seq))
    }

    /// The messages with these numbers, which are ascending.
    async fn part_of(self, space: SpaceId, seqs: &[u64]) -> Result<ThreadPart> {
        if seqs.is_empty() {
            return Ok(ThreadPart::default());
        }
        let refs: Vec<_> = seqs.iter().map(|seq| (space, *seq)).collect();
        let records = self.at(&refs).await?.into_iter().flatten().collect();
        Ok(ThreadPart { records, count: seqs.len() })
    }

    /// The numbers of these messages, ascending.
    async fn thread_seqs(
        self,
        space: SpaceId,
        first: u64,
        range: Range,
        limit: usize,
    ) -> Result<Vec<u64>> {
        let (from, to) = match range {
            Range::After(seq) => (seq.saturating_add(1), LAST_SEQ),
            Range::Before(seq) => (1, seq.saturating_sub(1).min(LAST_SEQ)),
        };
        let begins = (from..=to).contains(&first).then_some(first);
        let replies =
            self.replies(space, first, range, from.max(first.saturating_add(1)), to, limit).await?;
        let mut seqs: Vec<u64> = match range {
            Range::After(_) => begins.into_iter().chain(replies).take(limit).collect(),
            Range::Before(_) => replies.into_iter().chain(begins).take(limit).collect(),
        };
        seqs.sort_unstable();
        Ok(seqs)
    }

    /// The numbers of the replies of a thread between two numbers, in the order of the range.
    async fn replies(
        self,
        space: SpaceId,
        first: u64,
        range: Range,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<u64>> {
        if from > to {
            return Ok(Vec::new());
        }
        let key = |seq| keys::sort_key(&keys::thread(first), seq);
        let query = Query::of(keys::space(space)).between(&key(from), &key(to)).limit(limit);
        let query = if matches!(range, Range::Before(_)) { query.newest_first() } else { query };
        let items = self.store.table.all(query).await?;
        items.into_iter().map(|item| Ok(read::<ThreadRecord>(item)?.seq)).collect()
    }
}
