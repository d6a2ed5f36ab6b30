//! Runs that share a job, and with it an invocation.
//!
//! An error or a panic concerns one run only, and a run that has to be repeated gets a job of its
//! own. So does each of them if the process died with the job, or the invocation ended: one of them
//! may be the reason.

use std::{
    panic::AssertUnwindSafe,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures::{FutureExt, future::join_all};
use smartspace_domain::jobs::{RunJob, RunRef};
use smartspace_ports::queues::ReceivedJob;
use tokio::time::{Instant, sleep};
use tracing::Instrument;

use crate::claiming::{claim, deps::RunDeps};

/// How long a run that failed waits for its job. If its worker lost the lease, another one may take
/// over soon after.
const RETRIED_AFTER: Duration = Duration::from_secs(8);

/// The queue hides a job for up to this much less than one of its runs asks. So runs that ask in
/// the same second need one request to the queue.
const HIDDEN_TOLERANCE: Duration = Duration::from_secs(1);

/// Claims runs and works on them side by side.
pub(super) async fn handle(deps: &RunDeps, runs: Vec<RunRef>, delivery: &dyn ReceivedJob) {
    if delivery.is_repeated() {
        for run in &runs {
            tracing::warn!(run = %run.run_id, agent = %run.agent_id, "a shared job came again; \
                each of its runs gets a job of its own");
        }
        deps.pipeline.queue_runs(runs.into_iter().map(RunJob::of).collect()).await;
        return;
    }
    let delivery = SharedDelivery { delivery, hidden_until: Mutex::new(Instant::now()) };
    join_all(runs.into_iter().map(|run| {
        let span = tracing::info_span!("run", run = %run.run_id, agent = %run.agent_id);
        handle_one(deps, run, &delivery).instrument(span)
    }))
    .await;
}

/// Claims a run and works on it. If that fails, it gets a job of its own. If the invocation
/// ends before, the shared job comes again.
async fn handle_one(deps: &RunDeps, run: RunRef, delivery: &SharedDelivery<'_>) {
    let handling = Box::pin(claim::handle(deps, run, delivery));
    match AssertUnwindSafe(handling).catch_unwind().await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => {
            tracing::warn!(event = "job_failed", %error, "a run failed and is retried");
        }
        Err(_) => {
            tracing::error!(event = "job_panicked", "a run panicked and is retried");
        }
    }
    sleep(RETRIED_AFTER).await;
    deps.pipeline.queue_runs(vec![RunJob::of(run)]).await;
}

/// The delivery of a job that several runs share.
struct SharedDelivery<'a> {
    delivery: &'a dyn ReceivedJob,
    /// Until when the queue hides the job at least, once one of the runs has asked for it.
    hidden_until: Mutex<Instant>,
}

#[async_trait]
impl ReceivedJob for SharedDelivery<'_> {
    async fn hide(&self, time: Duration) {
        let until = Instant::now() + time;
        {
            let mut hidden = self.hidden_until.lock().unwrap_or_else(PoisonError::into_inner);
            if *hidden + HIDDEN_TOLERANCE >= until {
                return;
            }
            *hidden = until;
        }
        self.delivery.hide(time).await;
    }

    fn ends_at(&self) -> Option<Instant> {
        self.delivery.ends_at()
    }
}
