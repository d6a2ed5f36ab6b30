//! The runs of agents in a minute, wherever they are woken: counted beside what wakes them, so that two spaces never wait for each other. A decision
//! counts with what its process has seen; of several at the same moment each may let one run too many through.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use serde::Deserialize;
use smartspace_domain::{
    Time,
    dispatch::Gate,
    ids::EntityId,
    shares::{Cause, Caused, Half, Minute},
};

use crate::{
    Result, Store, keys,
    table::{Items, read},
    write::Write,
};

/// Agents that a process remembers.
const AGENTS: usize = 10_000;
/// How long a minute is kept.
const KEPT: Duration = Duration::from_mins(5);

/// Counters of a minute: `kept`, `rest`, and for each sender the same behind `k` and `r`.
#[derive(Debug, Deserialize)]
struct MinuteItem {
    #[serde(default)]
    kept: u32,
    #[serde(default)]
    rest: u32,
    #[serde(flatten)]
    others: HashMap<String, serde_json::Value>,
}

impl MinuteItem {
    fn minute(self, number: i64) -> Minute {
        let mut by: BTreeMap<String, Caused> = BTreeMap::new();
        for (name, count) in self.others {
            let count = count.as_u64().unwrap_or(0) as u32;
            if let Some(sender) = name.strip_prefix("k_") {
                by.entry(sender.to_owned()).or_default().kept = count;
            } else if let Some(sender) = name.strip_prefix("r_") {
                by.entry(sender.to_owned()).or_default().rest = count;
            }
        }
        Minute { number, all: Caused { kept: self.kept, rest: self.rest }, by }
    }
}

/// The minutes of agents, as this process last saw them.
#[derive(Debug, Default)]
pub(crate) struct MinutesSeen(Mutex<HashMap<EntityId, Minute>>);

impl MinutesSeen {
    /// That of an agent, if it is the one that `now` lies in.
    pub(crate) fn of(&self, agent: EntityId, now: Time) -> Option<Minute> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&agent).filter(|minute| minute.number == Minute::number_of(now)).cloned()
    }

    fn saw(&self, agent: EntityId, minute: Minute) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= AGENTS {
            seen.clear();
        }
        seen.insert(agent, minute);
    }
}

impl Store {
    /// Where the minute of an agent is kept that `now` lies in; none where this process knows it.
    pub(crate) fn unseen_minute(&self, agent: EntityId, now: Time) -> Option<keys::Key> {
        self.minutes.of(agent, now).is_none().then(|| keys::minute(agent, Minute::number_of(now)))
    }

    /// The minute of an agent, as this process knows it, or as it was read just now.
    pub(crate) fn minute_of(&self, agent: EntityId, read: &mut Items, now: Time) -> Result<Minute> {
        let number = Minute::number_of(now);
        if let Some(seen) = self.minutes.of(agent, now) {
            return Ok(seen);
        }
        let item: Option<MinuteItem> = read.take(&keys::minute(agent, number))?;
        let minute = item.map_or(Minute { number, ..Minute::default() }, |item| item.minute(number));
        self.minutes.saw(agent, minute.clone());
        Ok(minute)
    }

    /// An agent's gate, none where it is retired, and its runs of this minute.
    pub(crate) async fn gate_and_minute(&self, agent: EntityId, now: Time) -> Result<(Option<Gate>, Minute)> {
        let gate = keys::gate(agent);
        let wanted: Vec<_> = [gate.clone()].into_iter().chain(self.unseen_minute(agent, now)).collect();
        let mut items = self.table.get_all(&wanted).await?;
        Ok((items.take(&gate)?, self.minute_of(agent, &mut items, now)?))
    }

    /// Counts runs that agents were woken for, each in its half. What can't be counted is only said in the log: the runs are kept.
    pub async fn count_runs(&self, taken: &[(EntityId, Half)], cause: &Cause, now: Time) {
        join_all(taken.iter().map(|(agent, half)| self.count_run(*agent, *half, cause, now))).await;
    }

    pub(crate) async fn count_run(&self, agent: EntityId, half: Half, cause: &Cause, now: Time) {
        let number = Minute::number_of(now);
        let (all, by) = match half {
            Half::Kept => ("kept", format!("k_{}", cause.sender)),
            Half::Rest => ("rest", format!("r_{}", cause.sender)),
        };
        let counted = async {
            let expression = format!("ADD #{all} :one, #{by} :one SET #expiresAt = if_not_exists(#expiresAt, :expires)");
            let write = Write::count(keys::minute(agent, number), expression);
            let write = write.value(":one", 1)?.value(":expires", (now + KEPT).as_seconds())?;
            self.table.write(write).await.map_err(|error| match error {
                crate::table::WriteError::Other(error) => error,
                crate::table::WriteError::Refused(_) => crate::Error::Internal("a count has no condition".into()),
            })
        };
        match counted.await.and_then(|item| item.map(read::<MinuteItem>).transpose()) {
            Ok(Some(item)) => self.minutes.saw(agent, item.minute(number)),
            Ok(None) => {}
            Err(error) => tracing::warn!(%agent, %error, "a run could not be counted"),
        }
    }
}
