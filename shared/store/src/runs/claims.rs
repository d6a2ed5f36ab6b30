//! Claiming a run, renewing its lease, and giving it back.
//!
//! A claim writes a random lease id. Every later write of the worker checks that the run has that
//! lease and is running. It never checks a time: only a worker that takes over looks at the clock.

mod waiting;

use smartspace_domain::{
    Time,
    ids::{LeaseId, RunId},
    limits::{self, lease},
    runs::RunStatus,
};

use crate::{
    Error, Result, Runs,
    runs::{RunRecord, Tried, steps::lease_holds},
    table::{WriteError, keys, read, refusal::Refusal, write::Write},
};

/// The outcome of a claim.
#[derive(Clone, Debug)]
pub enum Claim {
    /// The claim succeeded.
    Ours {
        /// The run.
        run: Box<RunRecord>,
        /// Whether no worker had the run before.
        first: bool,
        /// Whether the run waited for people.
        resumed: bool,
    },
    /// The run waits for people: some of its calls have no result yet.
    Waiting(Box<RunRecord>),
    /// Another worker holds the lease.
    Busy {
        /// When the run may be taken over.
        until: Time,
    },
    /// The run has ended or does not exist.
    Ended,
    /// The claim succeeded, but too many workers have lost the run, so the caller fails it.
    TooOften(Box<RunRecord>),
}

impl Runs<'_> {
    /// Claims a run for the worker with this `lease`.
    pub async fn claim(self, id: RunId, lease: &LeaseId, now: Time) -> Result<Claim> {
        let expression = "SET #status = :running, #lease = :lease, #leaseUntil = :until, \
                          #due = :part, #dueAt = :due, \
                          #startedAt = if_not_exists(#startedAt, :now), \
                          #claims = if_not_exists(#claims, :none) + :one \
                          REMOVE #dueCount";
        let set = |write: Write| {
            write
                .value(":running", RunStatus::Running)?
                .value(":lease", lease)?
                .value(":until", now + lease::LASTS)?
                // The sweep may have given up the run if it was in its queue for a long time.
                .value(":part", keys::due(id.part_of(keys::DUE_PARTS)))?
                .value(":due", now + lease::RUNNING_DUE)?
                .value(":now", now)?
                .value(":none", 0)?
                .value(":one", 1)
        };
        let free = Write::update(keys::run_meta(id), expression)
            .when("#status = :queued OR (#status = :running AND attribute_not_exists(#lease))");
        let old =
            match self.store.table.write(set(free)?.value(":queued", RunStatus::Queued)?).await {
                Ok(item) => return ours(item.map(read).transpose()?, false),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => existing(&refusal, id),
            };
        let old = match old {
            Some(old) if old.status == RunStatus::Running => old,
            Some(old) if old.status == RunStatus::WaitingTool && old.open_calls != Some(0) => {
                return Ok(Claim::Waiting(Box::new(old)));
            }
            Some(old) if old.status == RunStatus::WaitingTool => {
                let waited = old.waited_ms
                    + old.paused_at.map_or(0, |since| now.since(since).as_millis() as u64);
                let expression = expression.replace(" REMOVE", ", #waitedMs = :waited REMOVE");
                let answered = Write::update(keys::run_meta(id), expression)
                    .when("#status = :waits AND #openCalls = :none")
                    .value(":waits", RunStatus::WaitingTool)?
                    .value(":waited", waited)?;
                return self.take(id, set(answered)?, lease, true).await;
            }
            _ => return Ok(Claim::Ended),
        };
        if old.lease.as_ref() == Some(lease) {
            // The first try took effect and its answer was lost.
            return ours(Some(old), false);
        }
        if old.free_at() > now {
            return Ok(Claim::Busy { until: old.free_at() });
        }
        let expression = expression.replace(" REMOVE", ", #attempt = #attempt + :one REMOVE");
        let taken = Write::update(keys::run_meta(id), expression)
            .when("#status = :running AND #lease = :dead")
            .value(":dead", &old.lease)?;
        match self.take(id, set(taken)?, lease, false).await? {
            Claim::Ours { run, .. } if run.attempt > limits::ATTEMPTS => Ok(Claim::TooOften(run)),
            claim => Ok(claim),
        }
    }

    /// Claims a run with a write that succeeds for only one of several workers.
    async fn take(self, id: RunId, write: Write, lease: &LeaseId, resumed: bool) -> Result<Claim> {
        match self.store.table.write(write).await {
            Ok(item) => ours(item.map(read).transpose()?, resumed),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => match existing(&refusal, id) {
                Some(run) if run.lease.as_ref() == Some(lease) => ours(Some(run), resumed),
                Some(run) if run.status == RunStatus::Running => {
                    Ok(Claim::Busy { until: run.free_at() })
                }
                _ => Ok(Claim::Ended),
            },
        }
    }

    /// Renews the lease of a run for another 30 s. Fails with [`Error::LeaseLost`] if the worker
    /// does not hold it.
    pub async fn renew(self, id: RunId, lease: &LeaseId, move_due: bool, now: Time) -> Result<()> {
        let expression = if move_due {
            "SET #leaseUntil = :until, #dueAt = :due"
        } else {
            "SET #leaseUntil = :until"
        };
        let write = lease_holds(Write::update(keys::run_meta(id), expression), lease)?
            .value(":until", now + lease::LASTS)?;
        let write = if move_due { write.value(":due", now + lease::RUNNING_DUE)? } else { write };
        self.held(write).await
    }

    /// Gives a run back. It is due now, and another worker resumes it in the same attempt.
    pub async fn give_back(self, id: RunId, lease: &LeaseId, now: Time) -> Result<()> {
        let write = lease_holds(
            Write::update(keys::run_meta(id), "SET #dueAt = :now REMOVE #lease, #leaseUntil"),
            lease,
        )?;
        self.given_back(write.value(":now", now)?).await
    }

    /// Gives a run back in the middle of a model answer. It is due at the time of the next try. The
    /// worker that resumes it continues after the tries in `tried`.
    pub async fn give_back_tried(self, id: RunId, lease: &LeaseId, tried: &Tried) -> Result<()> {
        let expression = "SET #dueAt = :again, #tried = :tried REMOVE #lease, #leaseUntil";
        let write = lease_holds(Write::update(keys::run_meta(id), expression), lease)?;
        self.given_back(write.value(":again", tried.again_at)?.value(":tried", tried)?).await
    }

    async fn given_back(self, write: Write) -> Result<()> {
        match self.held(write).await {
            // If the first try took effect and its answer was lost, the lease is gone already, as
            // intended.
            Ok(()) | Err(Error::LeaseLost) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends the lease of a run. Only for a host that is starting and knows that no worker is alive.
    pub async fn end_lease(self, id: RunId) -> Result<()> {
        let write = Write::update(keys::run_meta(id), "SET #leaseUntil = :never")
            .when("#status = :running AND attribute_exists(#lease)");
        self.store
            .table
            .write_where_it_holds(
                write.value(":never", Time::default())?.value(":running", RunStatus::Running)?,
            )
            .await
    }

    async fn held(self, write: Write) -> Result<()> {
        match self.store.table.write(write).await {
            Ok(_) => Ok(()),
            Err(WriteError::Refused(_)) => Err(Error::LeaseLost),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

/// The run as a refused write found it.
fn existing(refusal: &Refusal, run: RunId) -> Option<RunRecord> {
    refusal.existing(&keys::run_meta(run))
}

fn ours(run: Option<RunRecord>, resumed: bool) -> Result<Claim> {
    let run = run.ok_or_else(|| Error::Internal("an update answered without its item".into()))?;
    let first = run.claims == 1;
    Ok(Claim::Ours { run: Box::new(run), first, resumed })
}
