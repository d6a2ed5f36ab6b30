//! The limit of appends to one space: how many messages and bytes it accepts in a second, from
//! all senders together.
//!
//! One sender gets at most half of a second, so a member that floods a space leaves the other half
//! to everyone else. The last quarter is only for the first message of each person in that second.
//! So the agents that answer a flood do not take the room of a quiet person. Their tools wait for a
//! later second.
//!
//! The space's `HEAD` holds the counted second. The append that stores a message also counts it.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Error, Result, Time, entities::EntityType, ids::EntityId};

/// How far the counted second may be ahead of a process's own clock. A second further ahead comes
/// from a clock that was wrong, and counting in it would block the space until that time.
const MAX_AHEAD: Duration = Duration::from_secs(10);
/// How many letters of an id name its entity in the counters: its random part.
const NAME_CHARS: usize = 16;

/// How much one space accepts in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendLimit {
    /// Messages, including cards.
    pub messages: u32,
    /// Bytes of their texts, and of the inputs and outputs of cards.
    pub bytes: u32,
}

impl AppendLimit {
    /// The limit of every space.
    pub const SPACE: Self = Self { messages: 20, bytes: 64 * 1024 };

    /// The share of one sender: half, rounded up.
    #[must_use]
    pub fn of_sender(self) -> Self {
        Self { messages: self.messages.div_ceil(2), bytes: self.bytes.div_ceil(2) }
    }

    /// The part that is not reserved for first messages of people: three quarters, rounded up.
    #[must_use]
    pub fn unreserved(self) -> Self {
        Self { messages: self.messages - self.messages / 4, bytes: self.bytes - self.bytes / 4 }
    }

    fn holds(self, count: Count) -> bool {
        count.messages <= self.messages && count.bytes <= self.bytes
    }
}

/// Messages and bytes that were counted. Stored as a list of two numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct Count {
    /// Messages, including cards.
    pub messages: u32,
    /// Their bytes.
    pub bytes: u32,
}

impl From<(u32, u32)> for Count {
    fn from(pair: (u32, u32)) -> Self {
        Self { messages: pair.0, bytes: pair.1 }
    }
}

impl From<Count> for (u32, u32) {
    fn from(count: Count) -> Self {
        (count.messages, count.bytes)
    }
}

impl Count {
    fn and(self, other: Self) -> Self {
        Self {
            messages: self.messages.saturating_add(other.messages),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// The counted appends of one second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppendWindow {
    /// The second, as seconds since 1970.
    pub at: i64,
    /// The appends of all senders.
    pub all: Count,
    /// The appends of each sender, by the random part of its id. A second has at most as many
    /// senders as messages.
    #[serde(default)]
    pub by: BTreeMap<String, Count>,
}

impl AppendWindow {
    /// The second in which a message of `now` counts. A `known` second that is later than `now`
    /// stays, because another process's clock is ahead, unless it is more than ten seconds later.
    pub fn of(known: Option<&Self>, now: Time) -> Self {
        let own = now.as_seconds();
        let latest = (now + MAX_AHEAD).as_seconds();
        known
            .filter(|known| (own..=latest).contains(&known.at))
            .cloned()
            .unwrap_or(Self { at: own, ..Self::default() })
    }

    /// Counts a message of `bytes`. A message longer than its sender's share counts as that share,
    /// because it could never be stored otherwise.
    ///
    /// # Errors
    /// [`Error::TooMany`] with the time until the next second, if the message is over a limit.
    pub fn count(
        mut self,
        limit: AppendLimit,
        sender: EntityId,
        kind: EntityType,
        bytes: usize,
        now: Time,
    ) -> Result<Self> {
        let share = limit.of_sender();
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(share.bytes);
        let one = Count { messages: 1, bytes };
        let own = self.by.entry(name_of(sender)).or_default();
        let before = *own;
        *own = own.and(one);
        if !share.holds(*own) {
            return Err(self.too_many(limit, before, "this sender", now));
        }
        let is_reserved_for = kind == EntityType::Human && before.messages == 0;
        let room = if is_reserved_for { limit } else { limit.unreserved() };
        let before = self.all;
        self.all = self.all.and(one);
        if !room.holds(self.all) {
            return Err(self.too_many(limit, before, "all senders", now));
        }
        Ok(self)
    }

    /// The error of a message that is certainly over a limit. Counts only grow within a second, so
    /// counts that are out of date may refuse it, too. Returns `None` for a sender that has sent
    /// nothing in this second: it may not be a member of the space.
    pub fn refusal(
        &self,
        limit: AppendLimit,
        sender: EntityId,
        bytes: usize,
        now: Time,
    ) -> Option<Error> {
        if !self.by.contains_key(&name_of(sender)) {
            return None;
        }
        Self::of(Some(self), now).count(limit, sender, EntityType::Human, bytes, now).err()
    }

    fn too_many(&self, limit: AppendLimit, counted: Count, of: &str, now: Time) -> Error {
        let next = Time::from_millis((self.at + 1).saturating_mul(1_000));
        Error::TooMany {
            text: format!(
                "a space accepts {} messages and {} bytes a second: at most half from one sender, \
                 and the last quarter only as the first message of a person. In this second it has \
                 {} messages with {} bytes of {of}, and this message would be too much. Repeat it \
                 in the next second",
                limit.messages, limit.bytes, counted.messages, counted.bytes
            ),
            wait: next.since(now),
        }
    }
}

/// The name of a sender in the counters.
fn name_of(id: EntityId) -> String {
    let text = id.to_string();
    text[text.len().saturating_sub(NAME_CHARS)..].to_owned()
}
