//! Messages: how they are stored and read.

pub mod append;
mod gate_report;

use std::collections::HashMap;

use smartspace_domain::{ids::SpaceId, messages::Message};

pub use crate::shared::message::{Asks, CutJson, MessageFile, MessageRecord, ToolCard};
use crate::{
    Messages, Result,
    shared::message::{LongDispatch, Overflow},
    table::{Items, Query, keys, read, write::Write},
};

/// A range of a space's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Messages after this number, from the oldest on.
    After(u64),
    /// Messages before this number, from the newest on.
    Before(u64),
}

impl Messages<'_> {
    /// Up to `limit` messages of a space, as they are stored. The result is sorted, oldest first.
    pub async fn records(
        self,
        space: SpaceId,
        range: Range,
        limit: usize,
    ) -> Result<Vec<MessageRecord>> {
        let sort_key = |seq| keys::sort_key(keys::MSG, seq);
        // No message ever gets a higher number.
        let last = 999_999_999_999;
        let query = Query::of(keys::space(space)).limit(limit);
        let query = match range {
            Range::After(seq) if seq >= last => return Ok(Vec::new()),
            Range::After(seq) => query.between(&sort_key(seq + 1), &sort_key(last)),
            Range::Before(seq) if seq <= 1 => return Ok(Vec::new()),
            Range::Before(seq) => {
                query.between(&sort_key(1), &sort_key((seq - 1).min(last))).newest_first()
            }
        };
        let items = self.store.table.all(query).await?;
        let mut records = items.into_iter().map(read).collect::<Result<Vec<MessageRecord>>>()?;
        if matches!(range, Range::Before(_)) {
            records.reverse();
        }
        Ok(records)
    }

    /// The same messages with their whole texts, however long they are.
    pub async fn whole_records(
        self,
        space: SpaceId,
        range: Range,
        limit: usize,
    ) -> Result<Vec<MessageRecord>> {
        let mut records = self.records(space, range, limit).await?;
        let key = |record: &MessageRecord| keys::numbered(space, keys::TEXT, record.seq);
        let long = records.iter().filter(|record| record.has_overflow());
        let wanted: Vec<_> = long.map(key).collect();
        if wanted.is_empty() {
            return Ok(records);
        }
        let mut items = self.store.table.get_all(&wanted).await?;
        for record in &mut records {
            if let Some(overflow) = items.take(&key(record))? {
                record.complete(overflow);
            }
        }
        Ok(records)
    }

    /// The same messages, as the API shows them.
    pub async fn list(self, space: SpaceId, range: Range, limit: usize) -> Result<Vec<Message>> {
        let records = self.records(space, range, limit).await?;
        self.with_long_texts(space, records).await
    }

    /// One message, as it is stored.
    pub async fn record(self, space: SpaceId, seq: u64) -> Result<Option<MessageRecord>> {
        self.store.table.get(&keys::numbered(space, keys::MSG, seq)).await
    }

    /// Several messages, as they are stored, by space and number. The result has the order of
    /// `refs`, and `None` for each message that no longer exists.
    pub async fn at(self, refs: &[(SpaceId, u64)]) -> Result<Vec<Option<MessageRecord>>> {
        let mut wanted: Vec<_> =
            refs.iter().map(|(space, seq)| keys::numbered(*space, keys::MSG, *seq)).collect();
        let order = wanted.clone();
        // A request must not name a key twice, but several runs may have the same trigger.
        wanted.sort();
        wanted.dedup();
        let mut items = self.store.table.get_all(&wanted).await?;
        let mut found = HashMap::new();
        for key in wanted {
            if let Some(record) = items.take::<MessageRecord>(&key)? {
                found.insert(key, record);
            }
        }
        Ok(order.iter().map(|key| found.get(key).cloned()).collect())
    }

    /// Messages as the API shows them. Reads the long texts and decisions that have items of their
    /// own.
    pub async fn with_long_texts(
        self,
        space: SpaceId,
        records: Vec<MessageRecord>,
    ) -> Result<Vec<Message>> {
        let mut wanted = Vec::new();
        for record in &records {
            let text = keys::numbered(space, keys::TEXT, record.seq);
            wanted.extend(record.has_overflow().then_some(text));
            let dispatch = keys::numbered(space, keys::WOKEN, record.seq);
            wanted.extend(record.dispatch_apart.then_some(dispatch));
        }
        let mut items = if wanted.is_empty() {
            Items::default()
        } else {
            self.store.table.get_all(&wanted).await?
        };
        let mut messages = Vec::with_capacity(records.len());
        for record in records {
            let overflow: Option<Overflow> =
                items.take(&keys::numbered(space, keys::TEXT, record.seq))?;
            let dispatch: Option<LongDispatch> =
                items.take(&keys::numbered(space, keys::WOKEN, record.seq))?;
            messages.push(record.view(space, overflow.unwrap_or_default(), dispatch));
        }
        Ok(messages)
    }

    /// Takes a message off the due index, once all runs that it triggers are queued.
    pub async fn settled(self, space: SpaceId, seq: u64) -> Result<()> {
        let write =
            Write::update(keys::numbered(space, keys::MSG, seq), "REMOVE #due, #dueAt, #dueCount");
        self.store.table.write_where_it_holds(write).await
    }
}
