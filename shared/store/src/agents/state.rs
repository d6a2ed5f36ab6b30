//! The state of an agent: its memories, goals and plans. Each change is one transaction.
//!
//! The checks of the transaction, and their reasons:
//! - the version is still at n: every change raises it, so the items that were read are still
//!   current, and their number stays below its limit
//! - the agent exists and is not retired
//! - for a change from a run: the worker still holds the lease, and the call is not finished yet
//!
//! The version stores the token of the change that raised it last. If the answer to a first try was
//! lost, its token is found there, or for a tool in its call.

mod attempt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use smartspace_domain::ids::{EntityId, LeaseId, RunId};

use self::attempt::{Attempt, Version};
use crate::{
    AgentState, Error, Result,
    entities::no_such_entity,
    projects::changed_meanwhile,
    runs::steps::CallRecord,
    table::{
        Items, Query, WriteError,
        indexes::KeyNames,
        key_of,
        keys::{self, Key},
        pages::{Page, PageRequest, bad_cursor},
        read,
        write::Write,
    },
};

/// The origin of a change to an agent's state. The change results in a list of `T`.
#[derive(Clone, Debug)]
pub enum ChangedBy<T> {
    /// A request, with a token made before its first try.
    Request(LeaseId),
    /// A request with an idempotency key, which is stored in the same transaction. Fails with
    /// [`Error::Conflict`] if the key was used meanwhile.
    Post(LeaseId, Box<Write>),
    /// Files that are applied, with what they store besides. Fails with [`Error::Conflict`] if
    /// somebody else changed that meanwhile.
    File(LeaseId, Vec<Write>),
    /// A tool of a run.
    Run(Box<ByCall<T>>),
}

/// The run and the call that change an agent's state.
#[derive(Clone, Debug)]
pub struct ByCall<T> {
    pub run: RunId,
    pub lease: LeaseId,
    /// The call, without its output. Storing it in the same transaction makes the call happen once.
    pub call: CallRecord,
    /// Makes the output of the call.
    pub output: fn(&[T]) -> Value,
}

/// How many memories and goals an agent has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) memories: usize,
    pub(crate) goals: usize,
}

/// The items that a change is based on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads<'a> {
    Items(&'a [Key]),
    /// All items of a kind.
    All(&'a str),
}

/// A change, given the items that were read.
pub(crate) struct Change<T> {
    /// Puts and deletes. Together with the checks, they must fit in one transaction.
    pub(crate) writes: Vec<Write>,
    pub(crate) counts: Counts,
    /// The result for the caller.
    pub(crate) made: Vec<T>,
}

impl AgentState<'_> {
    /// Makes a change that is based on the items of `reads`. After losing races for five seconds,
    /// it fails with [`Error::Retry`].
    pub(crate) async fn change<T>(
        self,
        agent: EntityId,
        reads: Reads<'_>,
        by: &ChangedBy<T>,
        change: impl Fn(Items, Counts) -> Result<Change<T>> + Send + Sync,
    ) -> Result<Vec<T>> {
        let mut tries = self.store.optimistic_retry_of(agent);
        loop {
            // The version is read first. A change after this read makes the condition fail.
            let version: Option<Version> =
                self.store.table.get(&keys::state_version(agent)).await?;
            let items = match reads {
                Reads::Items(item_keys) => self.store.table.get_all(item_keys).await?,
                Reads::All(kind) => Items::of(self.store.table.all(items_of(agent, kind)).await?)?,
            };
            let change =
                change(items, version.as_ref().map(|version| version.counts).unwrap_or_default())?;
            if matches!(by, ChangedBy::Request(_)) && change.writes.is_empty() {
                return Ok(change.made);
            }
            let attempt = Attempt::new(agent, version.as_ref(), by, &change)?;
            let refusal = match self.store.table.transact(&attempt.writes).await {
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
            if let ChangedBy::File(_, more) = by
                && more.iter().any(|write| refusal.names(&write.key))
            {
                return Err(changed_meanwhile());
            }
            if let ChangedBy::Post(_, key) = by
                && refusal.names(&key.key)
            {
                return Err(Error::Conflict(
                    "this Idempotency-Key was used at the same time; repeat the call".into(),
                ));
            }
            tries
                .after_conflict(
                    "too many changes of this agent's memories, goals or plans at once; \
                 repeat the call",
                )
                .await?;
        }
    }

    /// Deletes the items at `item_keys`. For each item that existed, the caller gets the result of
    /// `name`. `left` gives the counts after a number of deletions.
    pub(crate) async fn delete<T: DeserializeOwned>(
        self,
        agent: EntityId,
        item_keys: &[Key],
        by: &ChangedBy<String>,
        name: impl Fn(T) -> String + Send + Sync,
        left: impl Fn(Counts, usize) -> Counts + Send + Sync,
    ) -> Result<Vec<String>> {
        self.change(agent, Reads::Items(item_keys), by, |mut items, counts| {
            let mut writes = Vec::new();
            let mut made = Vec::new();
            for item_key in item_keys {
                if let Some(item) = items.take::<T>(item_key)? {
                    writes.push(Write::delete(item_key.clone()));
                    made.push(name(item));
                }
            }
            Ok(Change { writes, counts: left(counts, made.len()), made })
        })
        .await
    }

    /// All items of a kind (`keys::MEMORY`, `keys::GOAL` or `keys::PLAN`), in the order of their
    /// keys.
    pub(crate) async fn all<T: DeserializeOwned>(
        self,
        agent: EntityId,
        kind: &str,
    ) -> Result<Vec<T>> {
        self.store.table.all(items_of(agent, kind)).await?.into_iter().map(read).collect()
    }

    /// A page of these items.
    pub(crate) async fn page<T: DeserializeOwned + Serialize>(
        self,
        agent: EntityId,
        kind: &str,
        request: &PageRequest,
    ) -> Result<Page<T>> {
        let after = request.after(KeyNames::TABLE, &keys::entity(agent))?;
        // The table refuses a start key outside the range.
        if let Some(after) = &after
            && !key_of(after)?.sk.starts_with(kind)
        {
            return Err(bad_cursor());
        }
        let page = self
            .store
            .table
            .page(items_of(agent, kind).limit(request.limit()?).after(after))
            .await?;
        let items = page
            .items
            .into_iter()
            .map(|item| Ok((item.clone(), read(item)?)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Page::cut(items, page.next, "SK"))
    }
}

/// The write that changes an item of an agent's state, or creates it. `None` if it stays the same.
pub(super) fn set_write<T: Serialize>(
    key: Key,
    before: Option<&T>,
    after: &T,
) -> Result<Option<Write>> {
    match before {
        Some(before) => Write::change(key, before, after, &[]),
        None => Write::put(key, after).map(Some),
    }
}

/// All items of a kind. Their keys may hold any character after the `#` that ends the kind, and `$`
/// is the next character after `#`.
fn items_of(agent: EntityId, kind: &str) -> Query {
    Query::of(keys::entity(agent)).between(kind, &format!("{}$", kind.trim_end_matches('#')))
}
