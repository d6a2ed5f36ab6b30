//! The quota of runs per minute, `budget.runsPerMinute` of agents and of spaces.
//!
//! Half of the runs of a minute are reserved for people's messages, and one person gets at most
//! half of them. The rest is for everyone, and in a space one sender gets at most half of it. So a
//! service, an agent or a member that floods a space or an agent leaves room for what people say.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Time, ids::EntityId};

/// How many senders are counted one by one. All further senders are counted together.
const SENDERS: usize = 100;
/// The name under which all further senders are counted.
const OTHERS: &str = "others";

/// The member, service or other source whose share of the quota a run uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaUser {
    /// The name in the counters: only letters and digits.
    pub sender: String,
    /// Whether it is a person.
    pub is_person: bool,
}

impl QuotaUser {
    /// A member of a space, for its messages.
    pub fn member(id: EntityId, is_person: bool) -> Self {
        Self { sender: id.to_string().replace('_', ""), is_person }
    }

    /// A service, for its webhooks.
    pub fn service(name: &str) -> Self {
        let letters = name
            .bytes()
            .fold("service".to_owned(), |letters, byte| letters + &format!("{byte:02x}"));
        Self { sender: letters, is_person: false }
    }

    /// The agent itself, for its plans.
    pub fn plans() -> Self {
        Self { sender: "plans".to_owned(), is_person: false }
    }

    /// The operator, for a plan that is run by hand or a delivery that is replayed.
    pub fn operator() -> Self {
        Self { sender: "operator".to_owned(), is_person: true }
    }
}

/// One of the two halves of the runs of a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// Reserved for people's messages.
    People,
    /// For everyone.
    Rest,
}

/// How many runs of a minute one sender or all senders have used, in each bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCounts {
    /// Runs of the half that is reserved for people's messages.
    #[serde(default, rename = "kept")]
    pub people: u32,
    /// Runs of the other half.
    #[serde(default)]
    pub rest: u32,
}

/// The counted runs of one minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateWindow {
    /// The number of the minute since 1970.
    pub number: i64,
    /// The runs of all senders.
    #[serde(flatten)]
    pub all: RunCounts,
    /// The runs of each sender.
    #[serde(default)]
    pub by: BTreeMap<String, RunCounts>,
}

impl RateWindow {
    /// The number of the minute that contains `at`.
    pub fn number_of(at: Time) -> i64 {
        at.as_millis().div_euclid(60_000)
    }

    /// The window of the minute that contains `now`: `known` if it is that minute's, else an empty
    /// one. The clocks of processes differ by seconds, so a process whose clock is behind continues
    /// with the next minute if another one has begun it. Otherwise both would begin their minutes
    /// again and again, and nothing would limit the runs.
    pub fn now(known: Option<&Self>, now: Time) -> Self {
        let number = Self::number_of(now);
        known
            .filter(|known| (number..=number + 1).contains(&known.number))
            .cloned()
            .unwrap_or(Self { number, ..Self::default() })
    }

    /// The bucket of a space's `limit` from which the next run is taken, or `None` if there is no
    /// room.
    pub fn room_in_space(&self, limit: u32, user: &QuotaUser) -> Option<Bucket> {
        let rest = limit - limit / 2;
        self.room(limit, user, rest.div_ceil(2))
    }

    /// The same for an agent's `limit`. One sender may use the whole other half, because apart from
    /// people mostly one service, or the agent's plans, trigger an agent.
    pub fn room_of_agent(&self, limit: u32, user: &QuotaUser) -> Option<Bucket> {
        self.room(limit, user, u32::MAX)
    }

    /// `most_of_rest` is how many runs of the other half one sender gets.
    fn room(&self, limit: u32, user: &QuotaUser, most_of_rest: u32) -> Option<Bucket> {
        let people = limit / 2;
        let rest = limit - people;
        let counts = self.by.get(self.counted_as(user)).copied().unwrap_or_default();
        if user.is_person && self.all.people < people && counts.people < people.div_ceil(2) {
            Some(Bucket::People)
        } else if self.all.rest < rest && counts.rest < most_of_rest {
            Some(Bucket::Rest)
        } else {
            None
        }
    }

    /// The name under which a sender is counted: its own, or `others` if too many senders are
    /// known.
    fn counted_as<'a>(&self, user: &'a QuotaUser) -> &'a str {
        if self.by.len() < SENDERS || self.by.contains_key(&user.sender) {
            &user.sender
        } else {
            OTHERS
        }
    }

    /// Counts a run that is taken from `bucket`.
    pub fn count(&mut self, bucket: Bucket, user: &QuotaUser) {
        let sender = self.counted_as(user).to_owned();
        let by = self.by.entry(sender).or_default();
        for counts in [&mut self.all, by] {
            match bucket {
                Bucket::People => counts.people += 1,
                Bucket::Rest => counts.rest += 1,
            }
        }
    }
}
