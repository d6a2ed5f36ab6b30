//! Pausing a run that waits for people.

use smartspace_domain::{Time, ids::LeaseId, jobs::RunJob, runs::RunStatus};

use crate::{
    Error, Result, Runs,
    runs::{RunRecord, claims::existing, lanes::Leaving, steps::lease_holds},
    table::{WriteError, keys, write::Write},
};

impl Runs<'_> {
    /// Pauses a run until someone answers one of its forms, or until `wake`. Its worker gives up
    /// the lease, and the run its slot and its place in the lane. Returns the jobs of the runs that
    /// may start now, or `None` if all calls have a result already.
    pub async fn pause(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        wake: Time,
        now: Time,
    ) -> Result<Option<Vec<RunJob>>> {
        let expression = "SET #status = :waits, #pausedAt = :now, #pausedBy = :mine, \
                          #dueAt = :wake REMOVE #lease, #leaseUntil, #dueCount";
        let meta = lease_holds(Write::update(keys::run_meta(run.id), expression), lease)?
            .when("#openCalls > :none")
            .value(":waits", RunStatus::WaitingTool)?
            .value(":now", now)?
            .value(":wake", wake)?
            .value(":none", 0)?;
        let mut leaving = Leaving::of(run.to_ref());
        loop {
            let mut writes = vec![meta.clone()];
            writes.extend(leaving.writes(now)?);
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(Some(leaving.next_jobs())),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            match existing(&refusal, run.id) {
                Some(run)
                    if run.lease.as_ref() == Some(lease) && run.status == RunStatus::Running =>
                {
                    return Ok(None);
                }
                // The first try took effect and its answer was lost.
                Some(run)
                    if run.status == RunStatus::WaitingTool
                        && run.paused_by.as_ref() == Some(lease) =>
                {
                    return Ok(Some(leaving.next_jobs()));
                }
                None if leaving.refused(self, &refusal).await? => {}
                _ => return Err(Error::LeaseLost),
            }
        }
    }

    /// Makes a waiting run due again at `wake`, unless its due time has changed since `run` was
    /// read.
    pub async fn keep_waiting(self, run: &RunRecord, wake: Time) -> Result<()> {
        let write = Write::update(
            keys::run_meta(run.id),
            "SET #due = :part, #dueAt = :wake REMOVE #dueCount",
        )
        .value(":part", keys::due(run.id.part_of(keys::DUE_PARTS)))?
        .value(":wake", wake)?
        .value(":waits", RunStatus::WaitingTool)?
        .value(":none", 0)?;
        let write = match run.due_at {
            Some(seen) => write
                .when("#status = :waits AND #openCalls > :none AND #dueAt = :seen")
                .value(":seen", seen)?,
            // The sweep had given up the run.
            None => write
                .when("#status = :waits AND #openCalls > :none AND attribute_not_exists(#dueAt)"),
        };
        self.store.table.write_where_it_holds(write).await
    }
}
