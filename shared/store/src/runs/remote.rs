//! Runs that remote agents work on.
//!
//! A worker claims the run as usual, and then hands it on: one transaction keeps the worker's lease
//! until the time of the agent is up, and stores what the agent is sent. The webhook follows. If
//! its worker dies before the agent has answered it, another one sends it again, under the same
//! lease and so with the same token. Nobody else takes the run over. The answers of the agent check
//! the lease like the writes of a worker.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{LeaseId, RunId},
    limits,
    runs::RunStatus,
};

use crate::{
    Error, Result, Runs,
    runs::{
        RunRecord,
        claims::Claim,
        prompts::PromptRecord,
        steps::{is_zero, lease_holds, worker_keeps},
    },
    table::{WriteError, keys, read, write::Write},
};

/// After this time without an answer to its webhook, the worker that sent it counts as dead.
pub const SENT_AGAIN_AFTER: Duration = Duration::from_secs(30);

/// The part of a remote agent in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteRecord {
    /// The lease under which it answers. It stays here after the run has ended, so that a late
    /// answer differs from a forged one.
    pub lease: LeaseId,
    /// When its time is up.
    pub until: Time,
    /// When its webhook is sent again. `None` once the webhook was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<Time>,
    /// How many answers of a model the run had before, if its agent had one then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps_before: u32,
}

impl Runs<'_> {
    /// Hands a claimed run on to a remote agent, before its webhook is sent: it has the worker's
    /// lease until `until`. Returns the run as it is then.
    pub async fn hand_to_remote(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        until: Time,
        prompt: &PromptRecord,
        now: Time,
    ) -> Result<RunRecord> {
        // If a model was asked before, its prompt stays.
        let mut writes = Vec::new();
        if run.step_count == 0 {
            let holds = lease_holds(Write::check(keys::run_meta(run.id)), lease)?;
            writes.push(self.store.prompts().store_parts(run, prompt, holds, now).await?);
        }
        let remote = RemoteRecord {
            lease: lease.clone(),
            until,
            again_at: Some(now + SENT_AGAIN_AFTER),
            steps_before: run.step_count,
        };
        let also = "#remote = :remote, #marks = :marks, #leaseUntil = :until, #dueAt = :again, ";
        let meta = worker_keeps(run.id, lease, also)?
            .value(":remote", &remote)?
            .value(":marks", &prompt.marks)?
            .value(":until", until)?
            .value(":again", remote.again_at)?;
        writes.push(meta);
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(RunRecord {
                kept: run.kept + 1,
                lease_until: Some(until),
                due_at: remote.again_at,
                remote: Some(remote),
                marks: prompt.marks.clone(),
                ..run.clone()
            }),
            Err(WriteError::Refused(_)) => Err(Error::LeaseLost),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Notes that the webhook was answered. The run is due when the agent's time is up.
    pub async fn note_sent(self, run: RunId, remote: &RemoteRecord) -> Result<()> {
        let sent = RemoteRecord { again_at: None, ..remote.clone() };
        let expression = "SET #remote = :remote, #dueAt = :until REMOVE #dueCount";
        let write = lease_holds(Write::update(keys::run_meta(run), expression), &remote.lease)?
            .value(":remote", sent)?
            .value(":until", remote.until)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(()),
            // The agent has completed the run already.
            Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Claims a run that a remote agent works on, or is to. Returns `None` if it has changed since
    /// it was read as `old`.
    pub(super) async fn claim_remote(self, old: &RunRecord, now: Time) -> Result<Option<Claim>> {
        let Some(remote) = &old.remote else { return Ok(None) };
        if now >= remote.until {
            return Ok(Some(Claim::Overdue(Box::new(old.clone()))));
        }
        let Some(again_at) = remote.again_at else { return Ok(Some(Claim::Remote)) };
        if now < again_at {
            return Ok(Some(Claim::Busy { until: again_at }));
        }
        let later = RemoteRecord { again_at: Some(now + SENT_AGAIN_AFTER), ..remote.clone() };
        let expression = "SET #attempt = #attempt + :one, #remote = :later, #due = :part, \
                          #dueAt = :again REMOVE #dueCount";
        let write = Write::update(keys::run_meta(old.id), expression)
            .when("#status = :running AND #lease = :lease AND #attempt = :attempt")
            .value(":one", 1)?
            .value(":later", &later)?
            .value(":part", keys::due(old.id.part_of(keys::DUE_PARTS)))?
            .value(":again", later.again_at)?
            .value(":running", RunStatus::Running)?
            .value(":lease", &old.lease)?
            .value(":attempt", old.attempt)?;
        let run: RunRecord = match self.store.table.write(write).await {
            Ok(Some(item)) => read(item)?,
            Ok(None) => return Err(Error::Internal("an update answered without its item".into())),
            Err(WriteError::Refused(_)) => return Ok(None),
            Err(WriteError::Other(error)) => return Err(error),
        };
        Ok(Some(if run.attempt > limits::ATTEMPTS {
            Claim::TooOften(Box::new(run))
        } else {
            Claim::Unsent(Box::new(run))
        }))
    }
}
