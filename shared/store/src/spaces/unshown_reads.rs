//! Read positions that wait to be sent to the followers of a space. One job sends all positions
//! that moved within two seconds.
//!
//! All this is soft state in one small item. The caller that creates the item sets an alarm for the
//! job, and the job deletes the item after it has sent the positions. If the job gets lost, the
//! next read position is sent together with those that waited for it.

use std::{collections::HashMap, time::Duration};

use serde::Deserialize;
use smartspace_domain::{
    Time,
    events::ReadPosition,
    ids::{EntityId, SpaceId},
};

use crate::{
    Members, Result,
    table::{WriteError, keys, read, write::Write},
};

/// How long positions are collected.
const JOINED_FOR: Duration = Duration::from_secs(2);
/// A job that is late by more than this was lost.
const LOST_AFTER: Duration = Duration::from_secs(10);
/// How long positions are stored whose job was lost.
const STORED_FOR: Duration = Duration::from_hours(1);

/// The item: the position of the entity `e` is the attribute `r_e`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UnshownItem {
    next_at_ms: i64,
    rev: u64,
    #[serde(flatten)]
    others: HashMap<String, serde_json::Value>,
}

/// The read positions that are not sent yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnshownReads {
    /// The positions, in the order of the entities' ids.
    pub reads: Vec<ReadPosition>,
    next_at: Time,
    rev: u64,
}

impl UnshownItem {
    fn next_at(&self) -> Time {
        Time::from_millis(self.next_at_ms)
    }

    fn unshown(self) -> UnshownReads {
        let next_at = self.next_at();
        let position = |(name, seq): (String, serde_json::Value)| {
            let entity_id = name.strip_prefix("r_")?.parse().ok()?;
            Some(ReadPosition { entity_id, seq: seq.as_u64()? })
        };
        let mut reads: Vec<_> = self.others.into_iter().filter_map(position).collect();
        reads.sort_unstable_by_key(|read| read.entity_id);
        UnshownReads { reads, next_at, rev: self.rev }
    }
}

impl Members<'_> {
    /// Notes a read position to be sent. Returns when the caller has to start the job that sends
    /// it, or `None` if another caller starts it.
    pub async fn note_read(
        self,
        space: SpaceId,
        entity: EntityId,
        seq: u64,
        now: Time,
    ) -> Result<Option<Time>> {
        let key = keys::unshown_reads(space);
        let next = now + JOINED_FOR;
        let write = Write::count(
            key.clone(),
            format!(
                "SET #r_{entity} = :seq, #nextAtMs = if_not_exists(#nextAtMs, :next), \
                 #expiresAt = :expires ADD #rev :one"
            ),
        )
        .when(&format!("attribute_not_exists(#r_{entity}) OR #r_{entity} < :seq"))
        .value(":seq", seq)?
        .value(":next", next.as_millis())?
        .value(":expires", (now + STORED_FOR).as_seconds())?
        .value(":one", 1)?;
        let item: Option<UnshownItem> = match self.store.table.write(write).await {
            Ok(item) => item.map(read).transpose()?,
            // A later position waits already, or the first try took effect.
            Err(WriteError::Refused(refusal)) => refusal.existing(&key),
            Err(WriteError::Other(error)) => return Err(error),
        };
        let Some(item) = item else { return Ok(None) };
        if item.next_at() == next {
            return Ok(Some(next));
        }
        // A time far ahead comes from a wrong clock.
        let is_lost = item.next_at() + LOST_AFTER <= now || item.next_at() > now + LOST_AFTER;
        if is_lost { self.postpone(space, item.next_at(), next).await } else { Ok(None) }
    }

    /// The read positions that are not sent yet.
    pub async fn unshown_reads(self, space: SpaceId) -> Result<Option<UnshownReads>> {
        let item: Option<UnshownItem> = self.store.table.get(&keys::unshown_reads(space)).await?;
        Ok(item.map(UnshownItem::unshown))
    }

    /// Deletes positions that have been sent. Returns when the caller has to start the next job, if
    /// a position has moved in between.
    pub async fn forget_shown_reads(
        self,
        space: SpaceId,
        shown: &UnshownReads,
        now: Time,
    ) -> Result<Option<Time>> {
        let key = keys::unshown_reads(space);
        let delete = Write::delete(key.clone()).when("#rev = :rev").value(":rev", shown.rev)?;
        match self.store.table.write(delete).await {
            Ok(_) => Ok(None),
            Err(WriteError::Refused(refusal)) => match refusal.existing::<UnshownItem>(&key) {
                Some(item) if item.next_at() == shown.next_at => {
                    self.postpone(space, shown.next_at, now + JOINED_FOR).await
                }
                _ => Ok(None),
            },
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Moves the time of the job. Returns `None` if another caller has done it.
    async fn postpone(self, space: SpaceId, from: Time, to: Time) -> Result<Option<Time>> {
        let write = Write::update(keys::unshown_reads(space), "SET #nextAtMs = :to")
            .when("#nextAtMs = :from")
            .value(":from", from.as_millis())?
            .value(":to", to.as_millis())?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(Some(to)),
            Err(WriteError::Refused(_)) => Ok(None),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}
