//! Keeps other workers from a summary while a model writes it: renews the claim, and the time for
//! which the queue hides the job.

use smartspace_domain::{
    ids::{LeaseId, SpaceId},
    limits::lease,
};
use smartspace_ports::queues::ReceivedJob;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::{job_visibility::JOB_HIDDEN_FOR, summaries::Summarizer};

impl Summarizer<'_> {
    /// Renews the claim on a summary and hides its job, until another worker has the claim or may
    /// soon take it. The caller has just hidden the job.
    pub(super) async fn hold(&self, space: SpaceId, token: &LeaseId, delivery: &dyn ReceivedJob) {
        let mut renewed = Instant::now();
        let mut next = renewed + lease::RENEW_EVERY;
        loop {
            sleep_until(next).await;
            let claimed = self.models.longest_answer();
            let until = self.pipeline.now() + claimed;
            let renewal = self.pipeline.store.summaries().renew(space, token, until);
            match timeout_at(next + lease::STOP_ACTING_AFTER, renewal).await {
                Ok(Ok(true)) => renewed = next,
                Ok(Ok(false)) => return,
                Ok(Err(error)) => {
                    tracing::warn!(%space, %error, "the claim on a summary could not be renewed");
                }
                Err(_) => {
                    tracing::warn!(%space, "the claim on a summary could not be renewed in time");
                }
            }
            if renewed.elapsed() + lease::STOP_ACTING_AFTER >= claimed {
                return;
            }
            next = Instant::now() + lease::RENEW_EVERY;
            hide_until(next, delivery).await;
        }
    }
}

/// Hides a job. If the queue does not answer in time, the next renewal asks it again.
pub(super) async fn hide_until(limit: Instant, delivery: &dyn ReceivedJob) {
    let _ = timeout_at(limit, delivery.hide(JOB_HIDDEN_FOR)).await;
}
