//! What an agent keeps, its memories, goals and plans: a change of them is one transaction.
//!
//! What the transaction checks, and why:
//! - the version is still at n: whoever changes something raises it, so their number is bounded, and what was read is still so
//! - the agent is there, and not retired
//! - from a run: the lease is still the worker's, and the call is not done yet
//!
//! The version names who raised it last: the token of a first try whose answer was lost is found there, and that of a tool in its call.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use smartspace_domain::ids::{EntityId, LeaseId, RunId};
use tokio::time::Instant;

use crate::{
    Error, Result, Store,
    append::RACED_FOR,
    entities::no_such_entity,
    keys::{self, Key},
    pages::{Ask, Page},
    refusal::Refusal,
    steps::{CallRecord, worker_keeps},
    table::{Items, Query, WriteError, key_of, read},
    write::Write,
};

/// Who changes what an agent keeps; what comes of it is a list of `T`.
#[derive(Clone, Debug)]
pub enum By<T> {
    /// A request, by a token made before its first try.
    Request(LeaseId),
    /// The same with the caller's idempotency key, kept in the same transaction. [`Error::Conflict`] where that has made something by then.
    Post(LeaseId, Box<Write>),
    /// A tool of a run.
    Run(Box<ByCall<T>>),
}

/// What a run's change brings along.
#[derive(Clone, Debug)]
pub struct ByCall<T> {
    /// The run.
    pub run: RunId,
    /// The worker's lease.
    pub lease: LeaseId,
    /// The call, without its output: kept in the same transaction, so that it happens once.
    pub call: CallRecord,
    /// Its output.
    pub output: fn(&[T]) -> Value,
}

/// How many an agent has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) memories: usize,
    pub(crate) goals: usize,
}

/// What a change is decided from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads<'a> {
    /// The items at these places.
    Places(&'a [Key]),
    /// All of a kind.
    All(&'a str),
}

/// The version of all that an agent keeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Version {
    rev: u64,
    /// Who raised it last.
    by: String,
    #[serde(flatten)]
    counts: Counts,
}

/// What is to be done, given what was read.
pub(crate) struct Change<T> {
    /// Puts and deletes; not more than fit a transaction beside what it checks.
    pub(crate) writes: Vec<Write>,
    /// How many there are then.
    pub(crate) counts: Counts,
    /// What comes of it.
    pub(crate) made: Vec<T>,
}

impl Store {
    /// Changes what is decided from `reads`. Loses races for up to five seconds, then [`Error::Retry`].
    pub(crate) async fn change_kept<T>(
        &self,
        agent: EntityId,
        reads: Reads<'_>,
        by: &By<T>,
        change: impl Fn(Items, Counts) -> Result<Change<T>> + Send + Sync,
    ) -> Result<Vec<T>> {
        let until = Instant::now() + RACED_FOR;
        let mut tries = 0;
        loop {
            // First the version: who changes an item behind it makes the condition fail.
            let version: Option<Version> = self.table.get(&keys::kept_version(agent)).await?;
            let items = match reads {
                Reads::Places(places) => self.table.get_all(places).await?,
                Reads::All(kind) => Items::of(self.table.all(kept(agent, kind)).await?)?,
            };
            let change = change(items, version.as_ref().map(|version| version.counts).unwrap_or_default())?;
            if matches!(by, By::Request(_)) && change.writes.is_empty() {
                return Ok(change.made);
            }
            let attempt = Attempt::new(agent, version.as_ref(), by, &change)?;
            let refusal = match self.table.transact(&attempt.writes).await {
                Ok(()) => return Ok(change.made),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if attempt.is_lost_answer(agent, by, &refusal)? {
                return Ok(change.made);
            }
            if refusal.names(&keys::entity_meta(agent)) {
                return Err(no_such_entity());
            }
            if let By::Post(_, key) = by
                && refusal.names(&key.key)
            {
                return Err(Error::Conflict("this Idempotency-Key was used at the same time; repeat the call".into()));
            }
            if Instant::now() >= until {
                return Err(Error::Retry("what the agent keeps is being changed by many at once; repeat the call".into()));
            }
            self.table.pause(tries).await;
            tries += 1;
        }
    }

    /// All that an agent keeps of a kind (`keys::MEMORY` or `keys::GOAL`), in the order of keys.
    pub(crate) async fn all_kept<T: DeserializeOwned>(&self, agent: EntityId, kind: &str) -> Result<Vec<T>> {
        self.table.all(kept(agent, kind)).await?.into_iter().map(read).collect()
    }

    /// A page of it.
    pub(crate) async fn kept_page<T: DeserializeOwned + Serialize>(&self, agent: EntityId, kind: &str, ask: &Ask) -> Result<Page<T>> {
        let after = ask.after(("PK", "SK"), &keys::entity(agent))?;
        // The table refuses to begin outside of the range.
        if let Some(after) = &after
            && !key_of(after)?.sk.starts_with(kind)
        {
            return Err(Error::Malformed("cursor: expected what nextCursor said".into()));
        }
        let page = self.table.page(kept(agent, kind).limit(ask.limit()?).after(after)).await?;
        let items = page.items.into_iter().map(|item| Ok((item.clone(), read(item)?))).collect::<Result<Vec<_>>>()?;
        Ok(Page::cut(items, page.next, "SK"))
    }
}

/// All of a kind, whatever its keys are made of: what sorts behind `#`, the kind's last character, is `$`.
fn kept(agent: EntityId, kind: &str) -> Query {
    Query::of(keys::entity(agent)).between(kind, &format!("{}$", kind.trim_end_matches('#')))
}

/// One try.
struct Attempt {
    writes: Vec<Write>,
    /// Who raises the version by it.
    token: String,
}

impl Attempt {
    fn new<T>(agent: EntityId, before: Option<&Version>, by: &By<T>, change: &Change<T>) -> Result<Self> {
        let token = match by {
            By::Request(token) | By::Post(token, _) => token.0.clone(),
            By::Run(by) => by.call.call_id.to_string(),
        };
        let next = Version { rev: before.map_or(0, |version| version.rev) + 1, by: token.clone(), counts: change.counts };
        let version = Write::put(keys::kept_version(agent), &next)?;
        let version = match before {
            Some(before) => version.when("#rev = :rev").value(":rev", before.rev)?,
            None => version.if_absent(),
        };
        let alive = Write::check(keys::entity_meta(agent)).when("attribute_exists(PK) AND attribute_not_exists(#retiredAt)");
        let mut writes = vec![version, alive];
        if let By::Post(_, key) = by {
            writes.push((**key).clone());
        }
        if let By::Run(by) = by {
            let call = CallRecord { output: (by.output)(&change.made), ..by.call.clone() };
            writes.push(worker_keeps(by.run, &by.lease, "")?);
            writes.push(call.write(by.run)?);
        }
        writes.extend(change.writes.iter().cloned());
        Ok(Self { writes, token })
    }

    /// Whether the first try took effect and its answer was lost.
    fn is_lost_answer<T>(&self, agent: EntityId, by: &By<T>, refusal: &Refusal) -> Result<bool> {
        match by {
            By::Request(_) | By::Post(..) => {
                let there: Option<Version> = refusal.there(&keys::kept_version(agent));
                Ok(there.is_some_and(|there| there.by == self.token))
            }
            By::Run(by) if refusal.names(&keys::run_meta(by.run)) => Err(Error::LeaseLost),
            By::Run(by) if !refusal.names(&by.call.key(by.run)) => Ok(false),
            // Only this worker makes this call while its lease holds.
            By::Run(by) => match refusal.there::<CallRecord>(&by.call.key(by.run)) {
                Some(kept) if kept.call_id == by.call.call_id => Ok(true),
                _ => Err(Error::LeaseLost),
            },
        }
    }
}
