//! Holds the lease of a run: renews it, and notices when the worker has lost the run.

use std::time::Duration;

use smartspace_domain::{
    Error,
    events::StreamEnd,
    limits::{due, lease},
    runs::{EndReason, RunStatus},
};
use smartspace_ports::queues::ReceivedJob;
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

use crate::{agent_loop::worker::Worker, job_visibility::JOB_HIDDEN_FOR};

/// How often a worker checks whether its run was canceled, if no cancel signal comes.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// How long external calls have to finish when the process stops. The process itself has two
/// seconds.
const EXTERNAL_CALLS_END_WITHIN: Duration = Duration::from_millis(800);

/// Why a worker stops before its run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    /// Somebody else ended the run.
    Ended {
        /// How the streams of the run end.
        reason: StreamEnd,
        /// Another run answers instead, so that what this one has shown is of no use.
        is_replaced: bool,
    },
    /// Another worker has the run.
    TakenOver,
    /// The lease was not renewed for so long that another worker may take over at any moment.
    NotRenewed,
    /// The process was asked to stop.
    Stopping,
}

impl Worker {
    /// Returns when there is a reason to stop. A renewal waits neither for a check of the run nor
    /// for the queue.
    pub(super) async fn hold(&self, renewed: Instant, delivery: &dyn ReceivedJob) -> StopReason {
        tokio::select! {
            biased;
            stop = self.keep_renewing(renewed, delivery) => stop,
            stop = self.keep_checking() => stop,
            () = self.process_stops() => StopReason::Stopping,
        }
    }

    /// Returns when the process stops, after external calls under way had their time to finish.
    async fn process_stops(&self) {
        stop_requested(self.stopping.clone()).await;
        let mut external_calls = self.context.external_calls.subscribe();
        let _ =
            timeout(EXTERNAL_CALLS_END_WITHIN, external_calls.wait_for(|calls| *calls == 0)).await;
    }

    /// Renews the lease again and again, and with it the time for which the queue hides the job.
    async fn keep_renewing(&self, mut renewed: Instant, delivery: &dyn ReceivedJob) -> StopReason {
        let mut due_moved = Instant::now();
        let mut next = renewed + lease::RENEW_EVERY;
        loop {
            // If the queue does not answer, the next renewal asks it again.
            let _ = timeout_at(next, delivery.hide(JOB_HIDDEN_FOR)).await;
            sleep_until(next).await;
            let move_due = due_moved.elapsed() >= due::RUNNING / 2;
            let context = &self.context;
            let renewal = async {
                let _writing = context.writing.lock().await;
                let runs = context.store().runs();
                runs.renew(context.run.id, &context.lease, move_due, context.now()).await
            };
            // The table may also give no answer at all.
            let Ok(result) = timeout_at(renewed + lease::STOP_ACTING_AFTER, renewal).await else {
                return StopReason::NotRenewed;
            };
            match result {
                Ok(()) => {
                    renewed = Instant::now();
                    if move_due {
                        due_moved = renewed;
                    }
                }
                Err(Error::LeaseLost) => return self.why_lost().await,
                Err(error) => {
                    tracing::warn!(run = %context.run.id, %error, "a lease could not be renewed");
                    if renewed.elapsed() >= lease::STOP_ACTING_AFTER {
                        return StopReason::NotRenewed;
                    }
                }
            }
            next = Instant::now() + lease::RENEW_EVERY;
        }
    }

    /// Checks from time to time, and at each cancel signal, whether the worker still has the run.
    async fn keep_checking(&self) -> StopReason {
        let signal = &self.context.pipeline.cancel_signal;
        let mut heard = signal.heard(self.context.run.id);
        loop {
            tokio::select! {
                biased;
                () = sleep(CHECK_INTERVAL) => {}
                () = &mut heard => heard = signal.heard(self.context.run.id),
            }
            if let Some(stop) = self.stop_reason().await {
                return stop;
            }
        }
    }

    /// Returns a reason to stop if the worker no longer has the run.
    async fn stop_reason(&self) -> Option<StopReason> {
        match self.context.store().runs().record(self.context.run.id).await {
            Ok(run) if run.lease.as_ref() == Some(&self.context.lease) => None,
            Ok(run) if run.status == RunStatus::Canceled => {
                let (reason, is_replaced) = match run.end_reason {
                    Some(EndReason::Absorbed) => (StreamEnd::Absorbed, true),
                    Some(EndReason::Superseded) => (StreamEnd::Canceled, true),
                    _ => (StreamEnd::Canceled, false),
                };
                Some(StopReason::Ended { reason, is_replaced })
            }
            // This worker has just ended it itself.
            Ok(run) if run.ended_by.as_ref() == Some(&self.context.lease) => None,
            Ok(_) | Err(Error::NotFound(_)) => Some(StopReason::TakenOver),
            // If the run can't be read, the worker goes on: every write checks the lease, too.
            Err(_) => None,
        }
    }

    pub(super) async fn why_lost(&self) -> StopReason {
        self.stop_reason().await.unwrap_or(StopReason::TakenOver)
    }
}

/// Returns when the process is asked to stop.
pub(super) async fn stop_requested(mut stopping: watch::Receiver<bool>) {
    if stopping.wait_for(|stopping| *stopping).await.is_err() {
        // The sender was dropped: no request can come.
        std::future::pending::<()>().await;
    }
}
