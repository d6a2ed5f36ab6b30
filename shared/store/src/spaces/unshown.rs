//! What waits to be sent to the followers of a space: one job sends all that changed within two
//! seconds.
//!
//! All this is soft state in one small item. The caller that creates the item sets an alarm for the
//! job, and the job deletes the item after it has sent what waited. If the job gets lost, the next
//! change is sent together with those that waited for it.

use std::{collections::HashMap, time::Duration};

use serde::Deserialize;
use smartspace_domain::Time;

use crate::{
    Result, Store,
    table::{WriteError, keys::Key, read, write::Write},
};

/// How long changes are collected.
const JOINED_FOR: Duration = Duration::from_secs(2);
/// A job that is late by more than this was lost.
const LOST_AFTER: Duration = Duration::from_secs(10);
/// How long changes are stored whose job was lost.
const STORED_FOR: Duration = Duration::from_hours(1);

/// The item. Each change is an attribute of its own, with a number that only grows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UnshownItem {
    next_at_ms: i64,
    rev: u64,
    #[serde(flatten)]
    others: HashMap<String, serde_json::Value>,
}

/// Which state of the item was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShownItem {
    next_at: Time,
    rev: u64,
}

impl UnshownItem {
    fn next_at(&self) -> Time {
        Time::from_millis(self.next_at_ms)
    }

    /// The state of the item.
    pub(super) fn shown(&self) -> ShownItem {
        ShownItem { next_at: self.next_at(), rev: self.rev }
    }

    /// The attributes that begin with `prefix`, without it, and their numbers.
    pub(super) fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&str, u64)> {
        let all = self.others.iter();
        all.filter_map(move |(name, number)| Some((name.strip_prefix(prefix)?, number.as_u64()?)))
    }
}

impl Store {
    /// Notes a change to be sent, unless one with this number or a higher one waits already.
    /// Returns when the caller has to start the job that sends it, or `None` if another caller
    /// starts it.
    pub(super) async fn note_unshown(
        &self,
        key: Key,
        attribute: &str,
        number: u64,
        now: Time,
    ) -> Result<Option<Time>> {
        let next = now + JOINED_FOR;
        let write = Write::count(
            key.clone(),
            format!(
                "SET #{attribute} = :number, #nextAtMs = if_not_exists(#nextAtMs, :next), \
                 #expiresAt = :expires ADD #rev :one"
            ),
        )
        .when(&format!("attribute_not_exists(#{attribute}) OR #{attribute} < :number"))
        .value(":number", number)?
        .value(":next", next.as_millis())?
        .value(":expires", (now + STORED_FOR).as_seconds())?
        .value(":one", 1)?;
        let item: Option<UnshownItem> = match self.table.write(write).await {
            Ok(item) => item.map(read).transpose()?,
            // A later change waits already, or the first try took effect.
            Err(WriteError::Refused(refusal)) => refusal.existing(&key),
            Err(WriteError::Other(error)) => return Err(error),
        };
        let Some(item) = item else { return Ok(None) };
        if item.next_at() == next {
            return Ok(Some(next));
        }
        // A time far ahead comes from a wrong clock.
        let is_lost = item.next_at() + LOST_AFTER <= now || item.next_at() > now + LOST_AFTER;
        if is_lost { self.postpone_unshown(key, item.next_at(), next).await } else { Ok(None) }
    }

    /// What is not sent yet.
    pub(super) async fn unshown(&self, key: &Key) -> Result<Option<UnshownItem>> {
        self.table.get(key).await
    }

    /// Deletes what has been sent. Returns when the caller has to start the next job, if something
    /// has changed in between.
    pub(super) async fn forget_shown(
        &self,
        key: Key,
        shown: ShownItem,
        now: Time,
    ) -> Result<Option<Time>> {
        let delete = Write::delete(key.clone()).when("#rev = :rev").value(":rev", shown.rev)?;
        match self.table.write(delete).await {
            Ok(_) => Ok(None),
            Err(WriteError::Refused(refusal)) => match refusal.existing::<UnshownItem>(&key) {
                Some(item) if item.next_at() == shown.next_at => {
                    self.postpone_unshown(key, shown.next_at, now + JOINED_FOR).await
                }
                _ => Ok(None),
            },
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Moves the time of the job. Returns `None` if another caller has done it.
    async fn postpone_unshown(&self, key: Key, from: Time, to: Time) -> Result<Option<Time>> {
        let write = Write::update(key, "SET #nextAtMs = :to")
            .when("#nextAtMs = :from")
            .value(":from", from.as_millis())?
            .value(":to", to.as_millis())?;
        match self.table.write(write).await {
            Ok(_) => Ok(Some(to)),
            Err(WriteError::Refused(_)) => Ok(None),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}
