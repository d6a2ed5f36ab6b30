//! Messages: how they are stored and read.

mod apart;
pub mod append;
mod card;
mod record;

use std::collections::HashMap;

use smartspace_domain::{ids::SpaceId, messages::Message};

pub(crate) use self::apart::{Apart, LongDispatch};
pub use self::{
    card::{Asks, CutJson, ToolCard},
    record::{MessageFile, MessageRecord},
};
use crate::{
    Messages, Result,
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
        let place = |seq| keys::place(keys::MSG, seq);
        // No message ever gets a higher number.
        let last = 999_999_999_999;
        let query = Query::of(keys::space(space)).limit(limit);
        let query = match range {
            Range::After(seq) if seq >= last => return Ok(Vec::new()),
            Range::After(seq) => query.between(&place(seq + 1), &place(last)),
            Range::Before(seq) if seq <= 1 => return Ok(Vec::new()),
            Range::Before(seq) => {
                query.between(&place(1), &place((seq - 1).min(last))).newest_first()
            }
        };
        let items = self.store.table.all(query).await?;
        let mut records = items.into_iter().map(read).collect::<Result<Vec<MessageRecord>>>()?;
        if matches!(range, Range::Before(_)) {
            records.reverse();
        }
        Ok(records)
    }

    /// The same messages, as the API shows them.
    pub async fn list(self, space: SpaceId, range: Range, limit: usize) -> Result<Vec<Message>> {
        let records = self.records(space, range, limit).await?;
        self.whole(space, records).await
    }

    /// One message, as it is stored.
    pub async fn record(self, space: SpaceId, seq: u64) -> Result<Option<MessageRecord>> {
        self.store.table.get(&keys::numbered(space, keys::MSG, seq)).await
    }

    /// Several messages, as they are stored, by space and number. The result has the order of
    /// `places`, and `None` for each message that no longer exists.
    pub async fn at(self, places: &[(SpaceId, u64)]) -> Result<Vec<Option<MessageRecord>>> {
        let mut wanted: Vec<_> =
            places.iter().map(|(space, seq)| keys::numbered(*space, keys::MSG, *seq)).collect();
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

    /// Reads the parts of messages that have items of their own, and returns the messages as the
    /// API shows them.
    pub async fn whole(self, space: SpaceId, records: Vec<MessageRecord>) -> Result<Vec<Message>> {
        let mut apart = Vec::new();
        for record in &records {
            apart.extend(record.is_apart().then(|| keys::numbered(space, keys::TEXT, record.seq)));
            apart.extend(
                record.dispatch_apart.then(|| keys::numbered(space, keys::WOKEN, record.seq)),
            );
        }
        let mut items = if apart.is_empty() {
            Items::default()
        } else {
            self.store.table.get_all(&apart).await?
        };
        let mut messages = Vec::with_capacity(records.len());
        for record in records {
            let apart: Option<Apart> =
                items.take(&keys::numbered(space, keys::TEXT, record.seq))?;
            let dispatch: Option<LongDispatch> =
                items.take(&keys::numbered(space, keys::WOKEN, record.seq))?;
            messages.push(record.view(
                space,
                apart.unwrap_or_default(),
                dispatch.map(|long| long.dispatch),
            ));
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
