//! Ends a run that no worker works on.

use smartspace_domain::{
    Error, Result,
    ids::LeaseId,
    runs::{EndReason, FailureCode, RunError, RunStatus},
};
use smartspace_store::runs::{RunRecord, endings::Ending};

use crate::claiming::deps::RunDeps;

/// Fails a run whose workers died too often.
pub(super) async fn fail_after_crashes(
    deps: &RunDeps,
    run: &RunRecord,
    lease: &LeaseId,
) -> Result<()> {
    let error = if run.has_panicked {
        RunError {
            code: FailureCode::Internal,
            message: "internal error in Smartspace: the work on the run panicked, and so did each \
                try after it; the server log has the details"
                .into(),
        }
    } else {
        RunError {
            code: FailureCode::Attempts,
            message:
                "the run was given up: it was started five times, and its process died each time"
                    .into(),
        }
    };
    end_run(deps, run, lease, RunStatus::Failed, Some(error)).await
}

/// Cancels a run whose agent or space was deleted, or whose agent has left the space.
pub(super) async fn cancel_removed(deps: &RunDeps, run: &RunRecord, lease: &LeaseId) -> Result<()> {
    end_run(deps, run, lease, RunStatus::Canceled, None).await
}

/// Cancels a run whose messages were all deleted before a worker had it. The deletion itself
/// cancels the others.
pub(super) async fn cancel_deleted(deps: &RunDeps, run: &RunRecord, lease: &LeaseId) -> Result<()> {
    end(deps, run, lease, RunStatus::Canceled, Err(EndReason::Deleted)).await
}

/// Ends a run that no loop ends. Nothing happens if the lease has expired.
pub(super) async fn end_run(
    deps: &RunDeps,
    run: &RunRecord,
    lease: &LeaseId,
    status: RunStatus,
    error: Option<RunError>,
) -> Result<()> {
    end(deps, run, lease, status, error.ok_or(EndReason::Removed)).await
}

/// Ends the run with an error, or for a reason.
async fn end(
    deps: &RunDeps,
    run: &RunRecord,
    lease: &LeaseId,
    status: RunStatus,
    why: Result<RunError, EndReason>,
) -> Result<()> {
    // The lease of a remote agent stays the one with which it was handed the run.
    let lease = run.remote.as_ref().map_or(lease, |remote| &remote.lease);
    let reason = why.as_ref().err().copied();
    let error = why.ok();
    let mut run = run.clone();
    loop {
        let ending =
            Ending { reason, error: error.clone(), ..Ending::new(status, run.used.clone()) };
        match deps.pipeline.end_run(&run, lease, &ending).await {
            Ok(_) => return Ok(()),
            Err(Error::LeaseLost) => {}
            Err(error) => return Err(error),
        }
        // A remote agent may have posted a message since the run was read.
        let stored = deps.pipeline.store.runs().record(run.id).await?;
        if stored.lease.as_ref() != Some(lease) || stored.step_count == run.step_count {
            return Ok(());
        }
        run = stored;
    }
}
