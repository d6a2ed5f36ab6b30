//! One try of a change: the transaction, and whether an earlier try took effect.

use serde::{Deserialize, Serialize};
use smartspace_domain::ids::EntityId;

use crate::{
    Error, Result,
    agents::state::{Change, ChangedBy, Counts},
    entities::not_retired,
    runs::steps::{CallRecord, worker_keeps},
    table::{keys, refusal::Refusal, write::Write},
};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Version {
    rev: u64,
    /// The token of the change that raised it last.
    by: String,
    #[serde(flatten)]
    pub(super) counts: Counts,
}

pub(super) struct Attempt {
    pub(super) writes: Vec<Write>,
    /// The token that it stores with the version.
    token: String,
}

impl Attempt {
    pub(super) fn new<T>(
        agent: EntityId,
        before: Option<&Version>,
        by: &ChangedBy<T>,
        change: &Change<T>,
    ) -> Result<Self> {
        let token = match by {
            ChangedBy::Request(token) | ChangedBy::Post(token, _) | ChangedBy::File(token, _) => {
                token.0.clone()
            }
            ChangedBy::Run(by) => by.call.call_id.to_string(),
        };
        let next = Version {
            rev: before.map_or(0, |version| version.rev) + 1,
            by: token.clone(),
            counts: change.counts,
        };
        let item_key = keys::state_version(agent);
        let version = match before {
            Some(before) => {
                let version = Write::fill(item_key, &next, &[])?;
                version.when("#rev = :rev").value(":rev", before.rev)?
            }
            None => Write::put(item_key, &next)?.if_absent(),
        };
        let alive = not_retired(agent);
        let mut writes = vec![version, alive];
        if let ChangedBy::Post(_, key) = by {
            writes.push((**key).clone());
        }
        if let ChangedBy::File(_, more) = by {
            writes.extend(more.iter().cloned());
        }
        if let ChangedBy::Run(by) = by {
            let call = CallRecord { output: (by.output)(&change.made), ..by.call.clone() };
            writes.push(worker_keeps(by.run, &by.lease, "")?);
            writes.push(call.write(by.run)?);
            writes.extend(call.card_writes()?);
        }
        writes.extend(change.writes.iter().cloned());
        Ok(Self { writes, token })
    }

    /// Whether the first try took effect and its answer was lost.
    pub(super) fn is_lost_answer<T>(
        &self,
        agent: EntityId,
        by: &ChangedBy<T>,
        refusal: &Refusal,
    ) -> Result<bool> {
        match by {
            ChangedBy::Request(_) | ChangedBy::Post(..) | ChangedBy::File(..) => {
                let version: Option<Version> = refusal.existing(&keys::state_version(agent));
                Ok(version.is_some_and(|version| version.by == self.token))
            }
            ChangedBy::Run(by) if refusal.names(&keys::run_meta(by.run)) => Err(Error::LeaseLost),
            ChangedBy::Run(by) if !refusal.names(&by.call.key(by.run)) => Ok(false),
            // While the lease holds, only this worker makes this call.
            ChangedBy::Run(by) => match refusal.existing::<CallRecord>(&by.call.key(by.run)) {
                Some(stored) if stored.call_id == by.call.call_id => Ok(true),
                _ => Err(Error::LeaseLost),
            },
        }
    }
}
