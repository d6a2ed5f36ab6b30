//! Messages: how they are stored and read.

pub mod append;
pub mod changing;
mod gate_report;
pub mod mentions;
mod pages;
pub mod reactions;
mod threads;

use std::collections::HashMap;

use smartspace_domain::{Time, ids::SpaceId, messages::Message};

pub use self::threads::ThreadPart;
pub(crate) use self::threads::in_thread;
pub use crate::shared::message::{
    Asks, CutJson, Forget, Looked, MessageFile, MessageRecord, ToolCard,
};
use crate::{
    Messages, Result,
    messages::reactions::{ReactionsItem, reactions_key},
    shared::message::{LongDispatch, Overflow, no_such_message},
    table::{Items, Query, keys, read, write::Write},
};

/// No message ever gets a higher number.
const LAST_SEQ: u64 = 999_999_999_999;

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
        let query = Query::of(keys::space(space)).limit(limit);
        let query = match range {
            Range::After(seq) if seq >= LAST_SEQ => return Ok(Vec::new()),
            Range::After(seq) => query.between(&sort_key(seq + 1), &sort_key(LAST_SEQ)),
            Range::Before(seq) if seq <= 1 => return Ok(Vec::new()),
            Range::Before(seq) => {
                query.between(&sort_key(1), &sort_key((seq - 1).min(LAST_SEQ))).newest_first()
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

    /// One message, as the API shows it. Fails with
    /// [`Error::NotFound`](crate::Error::NotFound) if the space does not have it.
    pub async fn get(self, space: SpaceId, seq: u64) -> Result<Message> {
        let record = self.record(space, seq).await?.ok_or_else(|| no_such_message(seq))?;
        let message = self.with_long_texts(space, vec![record]).await?.pop();
        message.ok_or_else(|| no_such_message(seq))
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

    /// Messages as the API shows them. Reads the long texts, decisions and reactions, which have
    /// items of their own.
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
            let reactions = reactions_key(space, record.seq);
            wanted.extend(record.has_reactions().then_some(reactions));
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
            let reactions: Option<ReactionsItem> = items.take(&reactions_key(space, record.seq))?;
            let mut message = record.view(space, overflow.unwrap_or_default(), dispatch);
            if let Some(reactions) = reactions {
                reactions.show_in(&mut message);
            }
            messages.push(message);
        }
        Ok(messages)
    }

    /// Postpones a tombstone while runs that have read the message are at work, however long that
    /// takes. `None` for `looked` forgets how far the job has come.
    pub async fn forget_later(
        self,
        space: SpaceId,
        record: &MessageRecord,
        looked: Option<Looked>,
        then: Time,
    ) -> Result<()> {
        let forget = Forget { looked, ..record.forget.clone().unwrap_or_default() };
        let key = keys::numbered(space, keys::MSG, record.seq);
        let write = Write::update(key, "SET #forget = :forget, #dueAt = :then REMOVE #dueCount")
            .when("attribute_exists(#due) AND attribute_exists(#deleted)")
            .value(":forget", forget)?
            .value(":then", then)?;
        self.store.table.write_where_it_holds(write).await
    }

    /// Takes a tombstone off the due index, once nothing is left of the message.
    pub async fn forgotten(self, space: SpaceId, seq: u64) -> Result<()> {
        let key = keys::numbered(space, keys::MSG, seq);
        let write = Write::update(key, "REMOVE #due, #dueAt, #dueCount, #forget")
            .when("attribute_exists(#deleted)");
        self.store.table.write_where_it_holds(write).await
    }

    /// Takes a message off the due index, once all runs that it triggers are queued. One that was
    /// deleted meanwhile stays due until it is forgotten.
    pub async fn settled(self, space: SpaceId, seq: u64) -> Result<()> {
        let write =
            Write::update(keys::numbered(space, keys::MSG, seq), "REMOVE #due, #dueAt, #dueCount")
                .when("attribute_not_exists(#deleted)");
        self.store.table.write_where_it_holds(write).await
    }
}
