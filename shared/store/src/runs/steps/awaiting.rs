//! Stores what external calls wait for.
//!
//! A run that waits for people is claimed when it has no open call. So a call with a card does not
//! count as open while it waits: only its form does.

use smartspace_domain::{Time, ids::LeaseId, steps::CallStatus};

use crate::{
    Error, Result, Steps,
    runs::{
        RunRecord,
        steps::{CallRecord, records::OPTIONAL, worker_keeps},
    },
    table::{WriteError, keys, write::Write},
};

impl Steps<'_> {
    /// Stores what an external call that is under way waits for, or that it waits no longer.
    /// `waited` says whether it has waited before.
    pub async fn store_awaited(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        call: &CallRecord,
        waited: bool,
        now: Time,
    ) -> Result<()> {
        let call = CallRecord { expires_at: self.store.work_expiry(now), ..call.clone() };
        let waits = call.awaits.is_some();
        let counts = match (waited, waits) {
            _ if call.card.is_none() => "",
            // If the run ends, its open calls are looked for although none is counted.
            (false, true) => "#openCalls = #openCalls - :one, #hasApproved = :yes, ",
            (true, false) => "#openCalls = #openCalls + :one, ",
            _ => "",
        };
        let mut meta = worker_keeps(run.id, lease, counts)?;
        if !counts.is_empty() {
            meta = meta.value(":one", 1)?;
            if waits {
                meta = meta.value(":yes", true)?;
            }
        }
        let before =
            if waited { "attribute_exists(#awaits)" } else { "attribute_not_exists(#awaits)" };
        let write = Write::fill(call.key(run.id), &call, OPTIONAL)?
            .when(&format!("#status = :pending AND {before}"))
            .value(":pending", CallStatus::Pending)?;
        let refusal = match self.store.table.transact(&[meta, write]).await {
            Ok(()) => return Ok(()),
            Err(WriteError::Other(error)) => return Err(error),
            Err(WriteError::Refused(refusal)) => refusal,
        };
        if refusal.names(&keys::run_meta(run.id)) {
            return Err(Error::LeaseLost);
        }
        // While the lease holds, only this worker makes this call. So the first try took effect and
        // its answer was lost.
        let stored: Option<CallRecord> = refusal.existing(&call.key(run.id));
        let is_ours = stored.is_some_and(|stored| stored.awaits == call.awaits);
        if is_ours { Ok(()) } else { Err(Error::LeaseLost) }
    }
}
