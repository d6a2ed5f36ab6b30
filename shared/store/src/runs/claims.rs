//! Claiming a run, renewing its lease, and giving it back.
//!
//! A claim writes a random lease id. Every later write of the worker checks that the run has that
//! lease and is running. It never checks a time: only a worker that takes over looks at the clock.
//! The claim of a run that has not begun, or that has waited for people, also takes a slot and the
//! head of the lane ([`crate::runs::lanes`]).

mod waiting;

use serde_dynamo::string_set::StringSet;
use smartspace_domain::{
    Time,
    ids::{LeaseId, RunId},
    jobs::RunRef,
    limits::{self, due, lease},
    runs::RunStatus,
};

use crate::{
    Error, Result, Runs,
    optimistic_retry::RUNS_CHANGE,
    runs::{
        RunRecord, Tried,
        lanes::{Starting, lane_key, wait_write},
        steps::lease_holds,
    },
    table::{WriteError, keys, read, refusal::Refusal, write::Write},
};

/// The outcome of a claim.
#[derive(Clone, Debug)]
pub enum Claim {
    Ours {
        run: Box<RunRecord>,
        /// Whether no worker had the run before.
        first: bool,
        /// Whether the run waited for people.
        resumed: bool,
    },
    /// The run waits in its lane or for a slot. It is started when both are free.
    NotYet {
        run: Box<RunRecord>,
        /// Its position among those that wait; 1 is the next one.
        position: usize,
        /// Whether it waits since now.
        is_new: bool,
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
    /// A remote agent works on the run.
    Remote,
    /// A remote agent is to work on the run, but its webhook was not answered. The caller sends it
    /// again.
    Unsent(Box<RunRecord>),
    /// The time of a remote agent is up, so the caller fails the run.
    Overdue(Box<RunRecord>),
}

/// A run as the first try of a claim left it.
enum Found {
    Claimed(Box<RunRecord>),
    Other(Box<RunRecord>),
}

impl Runs<'_> {
    /// Claims a run for the worker with this `lease`, if its lane and a slot are free. `read`
    /// returns the run, as somebody reads it at the same moment, or `None`.
    pub async fn claim(
        self,
        run: &RunRef,
        lease: &LeaseId,
        now: Time,
        read: impl Future<Output = Option<RunRecord>>,
    ) -> Result<Claim> {
        let mut tries = self.store.optimistic_retry_of(run.agent_id);
        let mut found = self.claim_new(run, lease, now, read).await?;
        loop {
            let old = match found.take() {
                Some(Found::Claimed(run)) => return Ok(ours(*run, false)),
                Some(Found::Other(old)) => *old,
                None => match self.store.table.get(&keys::run_meta(run.run_id)).await? {
                    Some(old) => old,
                    None => return Ok(Claim::Ended),
                },
            };
            if let Some(claim) = self.claim_as(&old, lease, now).await? {
                return Ok(claim);
            }
            tries.after_conflict(RUNS_CHANGE).await?;
        }
    }

    /// Claims a queued run, if a slot is free, nobody waits for one, and the run is the first of
    /// its lane. Mostly this succeeds, so nothing is read before. Returns `None` if it has to be
    /// read.
    async fn claim_new(
        self,
        run: &RunRef,
        lease: &LeaseId,
        now: Time,
        read: impl Future<Output = Option<RunRecord>>,
    ) -> Result<Option<Found>> {
        let lane = lane_key(run);
        let meta = start_write(run.run_id, "", lease, now)?.value(":queued", RunStatus::Queued)?;
        let meta = if lane.is_some() {
            // A message that joins raises `kept`. What `read` returns may be older than that.
            meta.when("#status = :queued AND #kept = :unjoined").value(":unjoined", 0)?
        } else {
            meta.when("#status = :queued AND attribute_not_exists(#inLane)")
        };
        let slot = Write::update(keys::slots(run.agent_id), "ADD #changes :one, #held :run")
            .when("attribute_not_exists(#waiting)")
            .when("attribute_not_exists(#held) OR size(#held) < #maxRuns")
            .value(":one", 1)?
            .value(":run", StringSet([run.run_id]))?;
        let mut writes = vec![meta];
        writes.extend((!run.is_fork).then_some(slot));
        if let Some(lane) = lane {
            // Whoever read the lane before is refused: a message no longer joins the run, and none
            // comes before it.
            let first = Write::update(lane, "SET #runs[0].#isStarted = :yes ADD #changes :one")
                .when("#runs[0].#runId = :run")
                .value(":yes", true)?
                .value(":one", 1)?
                .value(":run", run.run_id)?;
            writes.push(first);
        }
        let (claimed, read) = futures::join!(self.store.table.transact(&writes), read);
        match claimed {
            Ok(()) => {
                // It was read before or after the claim, which changes only what is known.
                let run = match read {
                    Some(queued) if queued.status == RunStatus::Queued => {
                        queued.claimed(lease, now)
                    }
                    Some(claimed) if claimed.lease.as_ref() == Some(lease) => claimed,
                    _ => self.record(run.run_id).await?,
                };
                Ok(Some(Found::Claimed(Box::new(run))))
            }
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => {
                let found = existing(&refusal, run.run_id).map(Box::new);
                Ok(found.map(|run| match run.lease.as_ref() {
                    Some(stored) if stored == lease => Found::Claimed(run),
                    _ => Found::Other(run),
                }))
            }
        }
    }

    /// Claims a run that is in the state `old`. Returns `None` if that has changed meanwhile.
    async fn claim_as(self, old: &RunRecord, lease: &LeaseId, now: Time) -> Result<Option<Claim>> {
        match old.status {
            RunStatus::WaitingTool if old.open_calls != Some(0) => {
                Ok(Some(Claim::Waiting(Box::new(old.clone()))))
            }
            // A fork needs no slot and is in no lane.
            RunStatus::Queued if old.fork_of().is_some() => {
                let meta = start_write(old.id, "", lease, now)?
                    .when("#status = :queued")
                    .value(":queued", RunStatus::Queued)?;
                self.take(old.id, meta, lease).await.map(Some)
            }
            RunStatus::Queued | RunStatus::WaitingTool => self.claim_in_lane(old, lease, now).await,
            // The first try took effect and its answer was lost.
            RunStatus::Running if old.lease.as_ref() == Some(lease) => {
                Ok(Some(ours(old.clone(), false)))
            }
            RunStatus::Running if old.remote.is_some() => self.claim_remote(old, now).await,
            RunStatus::Running if old.lease.is_none() => {
                let free = start_write(old.id, "", lease, now)?
                    .when("#status = :running AND attribute_not_exists(#lease)");
                self.take(old.id, free, lease).await.map(Some)
            }
            RunStatus::Running if old.free_at() > now => {
                Ok(Some(Claim::Busy { until: old.free_at() }))
            }
            RunStatus::Running => {
                let taken = start_write(old.id, ", #attempt = #attempt + :one", lease, now)?
                    .when("#status = :running AND #lease = :dead")
                    .value(":dead", &old.lease)?;
                match self.take(old.id, taken, lease).await? {
                    Claim::Ours { run, .. } if run.attempt > limits::ATTEMPTS => {
                        Ok(Some(Claim::TooOften(run)))
                    }
                    claim => Ok(Some(claim)),
                }
            }
            _ => Ok(Some(Claim::Ended)),
        }
    }

    /// Claims a queued run, or one whose people have answered, or lets it wait in its lane or for a
    /// slot.
    async fn claim_in_lane(
        self,
        old: &RunRecord,
        lease: &LeaseId,
        now: Time,
    ) -> Result<Option<Claim>> {
        let Starting { lanes, waits } = self.starting(old).await?;
        let claimed = old.clone().claimed(lease, now);
        let meta = if let Some((waits_for, _)) = waits {
            wait_write(old, waits_for, now)?
        } else {
            start_write(old.id, ", #waitedMs = :waited", lease, now)?
                .when("#status = :old AND #kept = :kept")
                .value(":waited", claimed.waited_ms)?
                .value(":old", old.status)?
                .value(":kept", old.kept)?
        };
        let mut writes = vec![meta];
        writes.extend(lanes.writes(now)?);
        match self.store.table.transact(&writes).await {
            Ok(()) => {}
            Err(WriteError::Other(error)) => return Err(error),
            Err(WriteError::Refused(refusal)) => {
                // The first try may have taken effect, and its answer was lost.
                let stored = existing(&refusal, old.id);
                if stored.is_none_or(|run| run.lease.as_ref() != Some(lease)) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(match waits {
            Some((waits_for, position)) => Claim::NotYet {
                run: Box::new(RunRecord { waits_for: Some(waits_for), ..old.clone() }),
                position,
                is_new: old.waits_for != Some(waits_for),
            },
            None => ours(claimed, old.status == RunStatus::WaitingTool),
        }))
    }

    /// Claims a run with a write that succeeds for only one of several workers.
    async fn take(self, id: RunId, write: Write, lease: &LeaseId) -> Result<Claim> {
        match self.store.table.write(write).await {
            Ok(item) => {
                let run: Option<RunRecord> = item.map(read).transpose()?;
                run.map(|run| ours(run, false))
                    .ok_or_else(|| Error::Internal("an update answered without its item".into()))
            }
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => match existing(&refusal, id) {
                Some(run) if run.lease.as_ref() == Some(lease) => Ok(ours(run, false)),
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
            .value(":until", now + lease::DURATION)?;
        let write = if move_due { write.value(":due", now + due::RUNNING)? } else { write };
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

    /// Stores that the worker of a run panicked. Its lease stays until it expires.
    pub async fn note_panic(self, id: RunId, lease: &LeaseId) -> Result<()> {
        let write = Write::update(keys::run_meta(id), "SET #hasPanicked = :yes");
        self.given_back(lease_holds(write, lease)?.value(":yes", true)?).await
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
        // A remote agent goes on while the host is away.
        let write = Write::update(keys::run_meta(id), "SET #leaseUntil = :never")
            .when("#status = :running AND attribute_exists(#lease)")
            .when("attribute_not_exists(#remote)");
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

fn ours(run: RunRecord, resumed: bool) -> Claim {
    let first = run.claims == 1;
    Claim::Ours { run: Box::new(run), first, resumed }
}

/// Starts a run for the worker with this `lease`, and makes the updates in `also`.
fn start_write(id: RunId, also: &str, lease: &LeaseId, now: Time) -> Result<Write> {
    let expression = format!(
        "SET #status = :running, #lease = :lease, #leaseUntil = :until, \
         #due = :part, #dueAt = :due, \
         #startedAt = if_not_exists(#startedAt, :now), \
         #claims = if_not_exists(#claims, :none) + :one{also} \
         REMOVE #dueCount, #waitsFor"
    );
    Write::update(keys::run_meta(id), expression)
        .value(":running", RunStatus::Running)?
        .value(":lease", lease)?
        .value(":until", now + lease::DURATION)?
        // The sweep may have given up the run if it was in its queue for a long time.
        .value(":part", keys::due(id.part_of(keys::DUE_PARTS)))?
        .value(":due", now + due::RUNNING)?
        .value(":now", now)?
        .value(":none", 0)?
        .value(":one", 1)
}
