//! How many runs each agent has per minute, over all spaces. Runs are counted after the transaction
//! that queues them, so that two spaces never wait for each other. A decision uses the counts that
//! its process has seen. Of several decisions at the same moment, each may let one run too many
//! through.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use serde::Deserialize;
use smartspace_domain::{
    Time,
    budgets::BudgetScope,
    days::Day,
    dispatch::{Reason, WakeLimits},
    ids::EntityId,
    quota::{Bucket, QuotaUser, RateWindow, RunCounts},
};

use crate::{
    Budgets, Error, Quota, Result,
    entities::no_such_entity,
    table::{Items, WriteError, keys, read, write::Write},
};

/// How many agents a process remembers.
const AGENTS: usize = 10_000;
/// How long a minute's item is stored.
const STORED_FOR: Duration = Duration::from_mins(5);

/// The counters of a minute: `kept` for people and `rest`, and for each sender the same with the
/// prefixes `k_` and `r_`.
#[derive(Debug, Deserialize)]
struct MinuteItem {
    #[serde(default, rename = "kept")]
    people: u32,
    #[serde(default)]
    rest: u32,
    #[serde(flatten)]
    others: HashMap<String, serde_json::Value>,
}

impl MinuteItem {
    fn minute(self, number: i64) -> RateWindow {
        let mut by: BTreeMap<String, RunCounts> = BTreeMap::new();
        for (name, count) in self.others {
            let count = count.as_u64().unwrap_or(0) as u32;
            if let Some(sender) = name.strip_prefix("k_") {
                by.entry(sender.to_owned()).or_default().people = count;
            } else if let Some(sender) = name.strip_prefix("r_") {
                by.entry(sender.to_owned()).or_default().rest = count;
            }
        }
        RateWindow { number, all: RunCounts { people: self.people, rest: self.rest }, by }
    }
}

/// The minutes of agents, as last seen by this process.
#[derive(Debug, Default)]
pub(crate) struct MinutesSeen(Mutex<HashMap<EntityId, RateWindow>>);

impl MinutesSeen {
    /// The minute of an agent, if it is the current one.
    pub(crate) fn of(&self, agent: EntityId, now: Time) -> Option<RateWindow> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&agent).filter(|minute| minute.number == RateWindow::number_of(now)).cloned()
    }

    fn saw(&self, agent: EntityId, minute: RateWindow) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= AGENTS {
            seen.clear();
        }
        seen.insert(agent, minute);
    }
}

impl Quota<'_> {
    /// The key of an agent's current minute, unless this process has seen it.
    pub(crate) fn unseen_minute(self, agent: EntityId, now: Time) -> Option<keys::Key> {
        self.store
            .minutes
            .of(agent, now)
            .is_none()
            .then(|| keys::minute(agent, RateWindow::number_of(now)))
    }

    /// The current minute of an agent, as this process has seen it, or from the items just read.
    pub(crate) fn minute_of(
        self,
        agent: EntityId,
        read: &mut Items,
        now: Time,
    ) -> Result<RateWindow> {
        let number = RateWindow::number_of(now);
        if let Some(seen) = self.store.minutes.of(agent, now) {
            return Ok(seen);
        }
        let item: Option<MinuteItem> = read.take(&keys::minute(agent, number))?;
        let minute =
            item.map_or(RateWindow { number, ..RateWindow::default() }, |item| item.minute(number));
        self.store.minutes.saw(agent, minute.clone());
        Ok(minute)
    }

    /// The wake limits of an agent and its runs of this minute. The limits are `None` if the agent
    /// is retired.
    pub(crate) async fn gate_and_minute(
        self,
        agent: EntityId,
        now: Time,
    ) -> Result<(Option<WakeLimits>, RateWindow)> {
        let (limits, minute, _) = self.gate_minute_and(agent, Vec::new(), now).await?;
        Ok((limits, minute))
    }

    /// The same, with more items of the same read.
    async fn gate_minute_and(
        self,
        agent: EntityId,
        more: Vec<keys::Key>,
        now: Time,
    ) -> Result<(Option<WakeLimits>, RateWindow, Items)> {
        let gate = keys::gate(agent);
        let wanted: Vec<_> =
            [gate.clone()].into_iter().chain(self.unseen_minute(agent, now)).chain(more).collect();
        let mut items = self.store.table.get_all(&wanted).await?;
        Ok((items.take(&gate)?, self.minute_of(agent, &mut items, now)?, items))
    }

    /// Decides whether a plan or a delivery may trigger an agent. Returns the reason against it, or
    /// the bucket of the agent's quota that the run is taken from.
    pub(crate) async fn may_wake(
        self,
        agent: EntityId,
        chain_depth: u32,
        user: &QuotaUser,
        now: Time,
    ) -> Result<(Option<Reason>, Option<Bucket>)> {
        // The counters are read before it is known which of them count, which saves a call.
        let day = Day::of(now);
        let counters: Vec<_> = [BudgetScope::Agent(agent), BudgetScope::Deployment]
            .map(|scope| keys::budget(scope, day))
            .into();
        let (gate, minute, mut items) = self.gate_minute_and(agent, counters, now).await?;
        let limits = gate.ok_or_else(no_such_entity)?;
        let mut is_used = false;
        for budget in self.store.budgets_of(agent, &limits, None) {
            is_used |= Budgets::spent(&budget, &mut items, now)?.is_used(budget.limit);
        }
        let WakeLimits { paused, max_chain_depth, runs_per_minute, .. } = limits;
        let bucket = minute.room_of_agent(runs_per_minute, user);
        let reason = if paused {
            Some(Reason::Paused)
        } else if chain_depth >= max_chain_depth {
            Some(Reason::ChainDepth)
        } else if bucket.is_none() {
            Some(Reason::Rate)
        } else {
            is_used.then_some(Reason::Budget)
        };
        Ok((reason, bucket.filter(|_| reason.is_none())))
    }

    /// Counts the runs of agents, each in its bucket. A failure to count is only logged, since the
    /// runs are stored already.
    pub async fn count_runs(self, taken: &[(EntityId, Bucket)], user: &QuotaUser, now: Time) {
        join_all(taken.iter().map(|(agent, bucket)| self.count_run(*agent, *bucket, user, now)))
            .await;
    }

    pub(crate) async fn count_run(
        self,
        agent: EntityId,
        bucket: Bucket,
        user: &QuotaUser,
        now: Time,
    ) {
        let number = RateWindow::number_of(now);
        let (all, by_sender) = match bucket {
            Bucket::People => ("kept", format!("k_{}", user.sender)),
            Bucket::Rest => ("rest", format!("r_{}", user.sender)),
        };
        let counted = async {
            let expression = format!(
                "ADD #{all} :one, #{by_sender} :one \
                 SET #expiresAt = if_not_exists(#expiresAt, :expires)"
            );
            let write = Write::count(keys::minute(agent, number), expression);
            let write =
                write.value(":one", 1)?.value(":expires", (now + STORED_FOR).as_seconds())?;
            self.store.table.write(write).await.map_err(|error| match error {
                WriteError::Other(error) => error,
                WriteError::Refused(_) => {
                    Error::Internal("a count without a condition was refused".into())
                }
            })
        };
        match counted.await.and_then(|item| item.map(read::<MinuteItem>).transpose()) {
            Ok(Some(item)) => self.store.minutes.saw(agent, item.minute(number)),
            Ok(None) => {}
            Err(error) => tracing::warn!(%agent, %error, "a run could not be counted"),
        }
    }
}

/// The beginning of the next minute, which has runs again.
pub(crate) fn next_minute(now: Time) -> Time {
    Time::from_millis((RateWindow::number_of(now) + 1) * 60_000)
}

/// The error if somebody asks for a run by hand and `of`, the agent or the space, does not let it
/// start for this reason.
pub(crate) fn refused_by_hand(reason: Reason, of: &str, chain_depth: u32, now: Time) -> Error {
    match reason {
        Reason::Rate => Error::TooMany {
            text: format!("{of} has used up its runs of this minute (budget.runsPerMinute)"),
            wait: next_minute(now).since(now),
        },
        Reason::Budget => Error::TooMany {
            text: format!("the budget of {of} or of the deployment for today is used up"),
            wait: Day::of(now).next().begin().since(now),
        },
        Reason::Paused => Error::Conflict(format!("{of} is paused")),
        Reason::Busy => Error::Conflict("the agent is busy: too many of its runs wait".into()),
        _ => Error::Conflict(format!(
            "chain depth {chain_depth} is too deep for {of} (maxChainDepth)"
        )),
    }
}

/// Lets a write of the space's head succeed only if the runs of its minute are as they were read.
pub(crate) fn minute_stays(head: Write, before: Option<&RateWindow>) -> Result<Write> {
    match before {
        Some(before) => head.when("#minute = :before").value(":before", before),
        None => Ok(head.when("attribute_not_exists(#minute)")),
    }
}
